//! Level 3: every routine as products (`gemm`) of general, symmetric and triangular operands.
//!
//! gemm, gemmt, symm, hemm, syrk, herk, syr2k, her2k are one or two products (one triangle: `rank_k.rs`). trmm and trsm
//! (`triangular.rs`) halve the triangle until it is small; all the work between the halves is products.

mod batch;
mod copy;
mod dense;
mod rank_k;
mod triangular;

pub use batch::{GemmProblem, gemm_batch};
pub use copy::{geadd, imatcopy, omatcopy};
pub use rank_k::{gemmt, syr2k, syrk};
pub use triangular::{trmm, trsm};

use crate::gemm::{Operand, Product, Threads, run, small};
use crate::level2;
use crate::matrix::{MatMut, MatRef, Side, Symmetry, Uplo};
use crate::runtime::cpu;
use crate::scalar::Scalar;
use dense::{conjugated, whole, with_room};

/// C := alpha A B + beta C. What is small is compiled into the caller: views become arguments of the kernel without
/// passing through memory.
#[inline(always)]
pub fn gemm<T: Scalar>(alpha: T, a: MatRef<T>, b: MatRef<T>, beta: T, c: MatMut<T>) {
    let (a, b, c) = if c.rs() == 1 { (a, b, c) } else { (b.t(), a.t(), c.t()) };
    let line = (c.rows() == 1 || c.cols() == 1) && a.rows().max(b.cols()).saturating_mul(a.cols()) >= GEMV_FROM;
    if line || !small::run(alpha, a, b, beta, &c, T::kernels(), true) {
        gemm_large(alpha, a.anew(), b.anew(), beta, c.alias());
    }
}

#[inline(never)]
fn gemm_large<T: Scalar>(alpha: T, a: MatRef<T>, b: MatRef<T>, beta: T, c: MatMut<T>) {
    if as_gemv(alpha, a, b, beta, &c) {
        return;
    }
    let on = |b: MatRef<T>| gemm_on(Threads::Shared, alpha, a, b, beta, c.alias());
    let elements = b.rows().saturating_mul(b.cols());
    // No rows, or an alpha of zero: B is not read.
    let is_read = c.rows() > 0 && alpha != T::ZERO;
    if !b.is_conj() || b.rs() != 1 && b.cs() != 1 || elements > near::<T>() || !is_read {
        return on(b);
    }
    // Near by and without conjugation it may be taken in place. (cgemm NC 33: 60 packed, 94 so.)
    with_room(elements, |to| match to {
        // SAFETY: the room for the copy.
        Some(to) => on(unsafe { conjugated(b, to) }),
        None => on(b),
    });
}

/// Elements of an operand that is near enough to be taken in place.
fn near<T>() -> usize {
    cpu::caches().l2 / 8 / size_of::<T>()
}

fn gemm_on<T: Scalar>(threads: Threads, alpha: T, a: MatRef<T>, b: MatRef<T>, beta: T, c: MatMut<T>) {
    let (a, b) = (Operand::General(a), Operand::General(b));
    run(Product { alpha, a, b, beta, c, part: None }, threads);
}

/// Elements of the matrix from which a product with one column is a matrix-vector product; below, a small product.
const GEMV_FROM: usize = 64;
/// The same if a vector has to be copied first.
const GATHERED_FROM: usize = 256;

/// Computes a product with one column (or row) of C at the speed of a matrix-vector product; says whether it did.
fn as_gemv<T: Scalar>(alpha: T, a: MatRef<T>, b: MatRef<T>, beta: T, c: &MatMut<T>) -> bool {
    let (matrix, x, y) = match (c.rows(), c.cols()) {
        (_, 1) => (a, b, c.alias()),
        (1, _) => (b.t(), a.t(), c.alias().t()),
        _ => return false,
    };
    let (column, result) = (x.col(0), y.col(0));
    let from = if column.inc() == 1 && result.inc() == 1 { GEMV_FROM } else { GATHERED_FROM };
    if x.is_conj() || matrix.rows().saturating_mul(matrix.cols()) < from {
        return false;
    }
    let Some(lines) = matrix.lines() else { return false };
    level2::mv(alpha, lines, column, beta, result);
    true
}

/// Bytes up to which symmetric matrices are copied in full. (Zen 4, packed as they are and copied: ssymm LL 64 49 and 98, 128 84
/// and 108, 256 106 and 113, dsymm LL 200 53 and 53.)
const SYMMETRIC_COPIED: usize = 256 << 10;

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
    let on = |special: Operand<T>| {
        let (a, b) = if side == Side::Left { (special, general) } else { (general, special) };
        run(Product { alpha, a, b, beta, c: c.alias(), part: None }, Threads::Shared);
    };
    let n = a.rows();
    if alpha == T::ZERO || n.saturating_mul(n).saturating_mul(size_of::<T>()) > SYMMETRIC_COPIED {
        return on(special);
    }
    // Small, as a general matrix, it may be taken in place.
    with_room(n * n, |to| match to {
        Some(to) => {
            // SAFETY: the room for the copy.
            let a = unsafe { whole(a, uplo, symmetry, to) };
            let (a, b) = if side == Side::Left { (a, b) } else { (b, a) };
            gemm(alpha, a, b, beta, c.alias());
        }
        None => on(special),
    });
}
