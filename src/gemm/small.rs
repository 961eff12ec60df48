//! Small products on the operands where they are: no packing, no scratch memory, no lock, no system call, no thread.
//!
//! k fits in one pass, so the operations are those of the packed way, in the same order: the same bits.

use super::pack::Kernel;
use crate::kernels::tile::Source;
use crate::matrix::{MatMut, MatRef};
use crate::scalar::Scalar;

/// Products m*n*k that go this way. Larger ones may be read in place too, but look at threads and memory first.
const MOST: usize = 48 * 48 * 48;
/// Columns of A further apart than this touch a page each: packing pays sooner.
const FAR: usize = 4096;

/// Computes C := alpha A B + beta C if it is small and its operands lie right; says whether it did. Compiled into its
/// callers: the views of a small call become arguments of the kernel without passing through memory.
#[inline(always)]
pub fn run<T: Scalar>(alpha: T, a: MatRef<T>, b: MatRef<T>, beta: T, c: &MatMut<T>, kernel: &Kernel<T>) -> bool {
    let (m, n, k) = (c.rows(), c.cols(), a.cols());
    let small = m.saturating_mul(n).saturating_mul(k) <= MOST && k > 0 && alpha != T::ZERO;
    let fits = c.rs() == 1 && (a.rs() == 1 || m == 1) && !a.is_conj() && !b.is_conj();
    let far = a.cs().unsigned_abs().saturating_mul(size_of::<T>()) > FAR && k > 16;
    if !small || !fits || far || k > kernel.kc() {
        return false;
    }
    let (from_a, from_b) = (Source::in_place(a.ptr(), 1, a.cs()), Source::in_place(b.ptr(), b.cs(), b.rs()));
    // SAFETY: views of m x k, k x n and m x n; A and C have unit row stride (or one row).
    unsafe { kernel.block(m, n, k, alpha, from_a, from_b, beta, c.ptr(), c.cs()) };
    true
}
