//! Many independent products in one call: threads share the batch, each product stays on one thread.

use super::gemm_on;
use crate::gemm::Threads;
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

/// Computes `problem(0) … problem(count-1)`. Their results share no memory.
pub fn gemm_batch<T: Scalar>(count: usize, problem: &(dyn Fn(usize) -> GemmProblem<'static, T> + Sync)) {
    let flops = |p: &GemmProblem<T>| {
        let unit = if T::IS_COMPLEX { 8.0 } else { 2.0 };
        unit * p.c.rows() as f64 * p.c.cols() as f64 * p.a.cols() as f64
    };
    let work: f64 = (0..count).map(|i| flops(&problem(i))).sum();
    let threads = pool::threads_for(work);
    // A batch with fewer products than threads: each product uses them all, one after the other.
    if threads > 1 && count < threads {
        for i in 0..count {
            let p = problem(i);
            gemm_on(Threads::Shared, p.alpha, p.a, p.b, p.beta, p.c);
        }
        return;
    }
    // Small products are taken several at a time, so that the shared counter is not what limits them.
    let piece = count.div_ceil(8 * threads).max(1);
    pool::run(count.div_ceil(piece), threads, &|task| {
        for i in task * piece..((task + 1) * piece).min(count) {
            let p = problem(i);
            gemm_on(Threads::Caller, p.alpha, p.a, p.b, p.beta, p.c);
        }
    });
}
