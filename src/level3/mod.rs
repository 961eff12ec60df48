//! Level 3: every routine as products (`gemm`) of general, symmetric and triangular operands.
//!
//! gemm, gemmt, symm, hemm, syrk, herk, syr2k, her2k are one or two products. trmm and trsm (`triangular.rs`) halve the
//! triangle until it is small; all the work between the halves is products.

mod batch;
mod copy;
mod triangular;

pub use batch::{GemmProblem, gemm_batch};
pub use copy::{geadd, imatcopy, omatcopy};
pub use triangular::{trmm, trsm};

use crate::gemm::driver::scale;
use crate::gemm::{Operand, Product, Threads, run, small};
use crate::level2;
use crate::matrix::{MatMut, MatRef, Side, Symmetry, Uplo};
use crate::scalar::Scalar;

/// C := alpha A B + beta C. What is small is compiled into the caller: views become arguments of the kernel without
/// passing through memory.
#[inline(always)]
pub fn gemm<T: Scalar>(alpha: T, a: MatRef<T>, b: MatRef<T>, beta: T, c: MatMut<T>) {
    let (a, b, c) = if c.rs() == 1 { (a, b, c) } else { (b.t(), a.t(), c.t()) };
    let line = (c.rows() == 1 || c.cols() == 1) && a.rows().max(b.cols()).saturating_mul(a.cols()) >= GEMV_FROM;
    if line || !small::run(alpha, a, b, beta, &c, T::kernels().gemm) {
        gemm_large(alpha, a, b, beta, c);
    }
}

#[inline(never)]
fn gemm_large<T: Scalar>(alpha: T, a: MatRef<T>, b: MatRef<T>, beta: T, c: MatMut<T>) {
    if !as_gemv(alpha, a, b, beta, &c) {
        gemm_on(Threads::Shared, alpha, a, b, beta, c);
    }
}

fn gemm_on<T: Scalar>(threads: Threads, alpha: T, a: MatRef<T>, b: MatRef<T>, beta: T, c: MatMut<T>) {
    let (a, b) = (Operand::General(a), Operand::General(b));
    run(Product { alpha, a, b, beta, c, part: None }, threads);
}

/// Elements of the matrix from which a product with one column is a matrix-vector product; below, a small product.
const GEMV_FROM: usize = 1024;

/// Computes a product with one column (or row) of C at the speed of a matrix-vector product; says whether it did.
fn as_gemv<T: Scalar>(alpha: T, a: MatRef<T>, b: MatRef<T>, beta: T, c: &MatMut<T>) -> bool {
    let (matrix, x, y) = match (c.rows(), c.cols()) {
        (_, 1) => (a, b, c.alias()),
        (1, _) => (b.t(), a.t(), c.alias().t()),
        _ => return false,
    };
    if x.is_conj() || matrix.rows().saturating_mul(matrix.cols()) < GEMV_FROM {
        return false;
    }
    let Some(lines) = matrix.lines() else { return false };
    level2::mv(alpha, lines, x.col(0), beta, y.col(0));
    true
}

/// One triangle of C := alpha A B + beta C.
pub fn gemmt<T: Scalar>(alpha: T, a: MatRef<T>, b: MatRef<T>, beta: T, c: MatMut<T>, uplo: Uplo) {
    let (a, b) = (Operand::General(a), Operand::General(b));
    run(Product { alpha, a, b, beta, c, part: Some(uplo) }, Threads::Shared);
}

/// C := alpha A B + beta C (left) or alpha B A + beta C (right), A symmetric or Hermitian with one triangle stored.
pub fn symm<T: Scalar>(
    side: Side,
    symmetry: Symmetry,
    alpha: T,
    a: MatRef<T>,
    uplo: Uplo,
    b: MatRef<T>,
    beta: T,
    c: MatMut<T>,
) {
    let (special, general) = (Operand::Symmetric(a, uplo, symmetry), Operand::General(b));
    let (a, b) = if side == Side::Left { (special, general) } else { (general, special) };
    run(Product { alpha, a, b, beta, c, part: None }, Threads::Shared);
}

/// One triangle of C := alpha A A^T + beta C, or with A^H and real alpha and beta, C Hermitian.
pub fn syrk<T: Scalar>(symmetry: Symmetry, alpha: T, a: MatRef<T>, beta: T, c: MatMut<T>, uplo: Uplo) {
    rank_k(symmetry, &[(alpha, a, a)], beta, c, uplo);
}

/// One triangle of C := alpha A B^T + alpha B A^T + beta C, or alpha A B^H + conj(alpha) B A^H + beta C, C Hermitian.
pub fn syr2k<T: Scalar>(symmetry: Symmetry, alpha: T, a: MatRef<T>, b: MatRef<T>, beta: T, c: MatMut<T>, uplo: Uplo) {
    let mirrored = alpha.conj_if(symmetry.is_hermitian());
    rank_k(symmetry, &[(alpha, a, b), (mirrored, b, a)], beta, c, uplo);
}

/// One triangle of C := sum of alpha A B^T + beta C over the terms.
fn rank_k<T: Scalar>(symmetry: Symmetry, terms: &[(T, MatRef<T>, MatRef<T>)], beta: T, c: MatMut<T>, uplo: Uplo) {
    let hermitian = symmetry.is_hermitian();
    let adds_nothing = terms.iter().all(|(alpha, a, _)| *alpha == T::ZERO || a.cols() == 0);
    if adds_nothing && beta == T::ONE {
        return;
    }
    if hermitian {
        // Neither the stored imaginary parts of the diagonal nor rounding in them may count.
        real_diagonal(&c, beta != T::ZERO);
    }
    if adds_nothing {
        scale(beta, &c, Some(uplo));
    } else {
        let mut beta = beta;
        for &(alpha, a, b) in terms {
            let (a, b) = (Operand::General(a), Operand::General(b.t().conj_if(hermitian)));
            run(Product { alpha, a, b, beta, c: c.alias(), part: Some(uplo) }, Threads::Shared);
            beta = T::ONE;
        }
    }
    if hermitian {
        real_diagonal(&c, true);
    }
}

fn real_diagonal<T: Scalar>(c: &MatMut<T>, read: bool) {
    let mut c = c.alias();
    for i in 0..if read { c.rows() } else { 0 } {
        let d = T::from_real(c.get(i, i).re());
        c.set(i, i, d);
    }
}
