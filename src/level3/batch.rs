//! Many independent products in one call: threads share the batch, each product stays on one thread.
//!
//! Products come in groups of one shape. What is known of a group is looked at once; a product of it is three pointers
//! and the inlined way to the kernel, without the checks, the tracing and the thread policy of a call of its own.

use super::gemm;
use crate::matrix::{MatMut, MatRef};
use crate::runtime::pool;
use crate::scalar::Scalar;

/// One product of a batch.
pub struct GemmProblem<'a, T> {
    pub alpha: T,
    pub a: MatRef<'a, T>,
    pub b: MatRef<'a, T>,
    pub beta: T,
    pub c: MatMut<'a, T>,
}

/// Pieces of the batch for each thread: enough for products of different sizes to even out.
const PIECES: usize = 8;

/// Computes `total` products with `work` floating-point operations in all. `group(g)` is the size of group g and a
/// function that makes the product with a given number; numbers run through all groups. Results share no memory.
pub fn gemm_batch<T, G, P>(total: usize, work: f64, group: G)
where
    T: Scalar,
    G: Fn(usize) -> (usize, P) + Sync,
    P: Fn(usize) -> GemmProblem<'static, T>,
{
    let threads = pool::threads_for(work);
    // With fewer products than threads each product uses them all, one after the other. Else products are taken several
    // at a time, so that the shared counter is not what limits small ones.
    let alone = threads <= 1 || total < threads;
    let piece = if alone { total } else { total.div_ceil(PIECES * threads) };
    if piece == 0 {
        return;
    }
    pool::run(total.div_ceil(piece), threads, &|task| {
        let (mut next, to) = (task * piece, ((task + 1) * piece).min(total));
        let (mut g, mut end) = (0, 0usize);
        while next < to {
            let (count, problem) = group(g);
            (g, end) = (g + 1, end.saturating_add(count));
            while next < end.min(to) {
                let p = problem(next);
                gemm(p.alpha, p.a, p.b, p.beta, p.c);
                next += 1;
            }
        }
    });
}
