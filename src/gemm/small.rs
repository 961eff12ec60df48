//! Small products on the operands where they are: no packing, no scratch memory, no lock, no system call, no thread.
//!
//! k fits in one pass, so the operations are those of the packed way, in the same order: the same bits.

use super::driver::Product;
use super::pack::{Kernel, Operand};
use crate::kernels::tile::Source;
use crate::scalar::Scalar;

/// Products m*n*k that go this way. Larger ones may be read in place too, but look at threads and memory first.
const MOST: usize = 48 * 48 * 48;
/// Columns of A further apart than this touch a page each: packing pays sooner.
const FAR: usize = 4096;

/// Computes the product if it is small and its operands lie right; says whether it did.
#[inline]
pub fn run<T: Scalar>(product: &Product<T>, kernel: &Kernel<T>) -> bool {
    let (Operand::General(a), Operand::General(b)) = (product.a, product.b) else { return false };
    let c = &product.c;
    let (m, n, k) = (c.rows(), c.cols(), a.cols());
    let small = m.saturating_mul(n).saturating_mul(k) <= MOST;
    let fits = product.part.is_none() && c.rs() == 1 && (a.rs() == 1 || m == 1) && !a.is_conj() && !b.is_conj();
    if !small || !fits || a.cs().unsigned_abs().saturating_mul(size_of::<T>()) > FAR && k > 16 || k > kernel.kc() {
        return false;
    }
    let (from_a, from_b) = (Source::in_place(a.ptr(), 1, a.cs()), Source::in_place(b.ptr(), b.cs(), b.rs()));
    // SAFETY: views of m x k, k x n and m x n; A and C have unit row stride (or one row).
    unsafe { kernel.block(m, n, k, product.alpha, from_a, from_b, product.beta, c.ptr(), c.cs()) };
    true
}
