//! Small products on the operands where they are: no packing, no scratch memory, no lock, no system call, no thread.
//!
//! k fits in one pass, so the operations are those of the packed way, in the same order: the same bits.

use crate::matrix::{MatMut, MatRef};
use crate::scalar::Scalar;

/// Products m*n*k up to which reading A in place beats packing it.
const MOST: usize = 48 * 48 * 48;
/// Columns of A further apart than this touch a page each: packing pays sooner.
const FAR: usize = 4096;

/// Computes C := alpha A B + beta C if it is small and its operands lie right; says whether it did.
#[inline(always)]
pub fn run<T: Scalar>(alpha: T, a: MatRef<T>, b: MatRef<T>, beta: T, c: &MatMut<T>) -> bool {
    let (m, n, k) = (c.rows(), c.cols(), a.cols());
    let small = m.saturating_mul(n).saturating_mul(k) <= MOST && k > 0 && alpha != T::ZERO;
    let fits = c.rs() == 1 && (a.rs() == 1 || m == 1) && !a.is_conj() && !b.is_conj();
    if !small || !fits || a.cs().unsigned_abs().saturating_mul(size_of::<T>()) > FAR && k > 16 {
        return false;
    }
    let kernel = T::kernels().gemm;
    if k > kernel.kc() {
        return false;
    }
    let (mr, nr) = (kernel.mr(), kernel.nr());
    let mut j = 0;
    while j < n {
        let mut i = 0;
        while i < m {
            let (tm, tn) = (mr.min(m - i), nr.min(n - j));
            let (a, b, c) = (a.sub(i, 0, tm, k), b.sub(0, j, k, tn), c.sub(i, j, tm, tn));
            // SAFETY: views of tm x k, k x tn and tm x tn; A and C have unit row stride (or one row).
            unsafe {
                kernel.tile_in_place(k, alpha, a.ptr(), a.cs(), b.ptr(), b.rs(), b.cs(), beta, c.ptr(), c.cs(), tm, tn)
            };
            i += mr;
        }
        j += nr;
    }
    true
}
