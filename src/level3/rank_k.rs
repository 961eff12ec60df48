//! syrk, herk, syr2k, her2k and gemmt: one triangle of a sum of products.
//!
//! Small ones run strip by strip on the operands where they are: a few columns, and the rows of C from the diagonal to its
//! end. Only the first rows of a strip meet the diagonal; they are computed in full, aside, and the wanted part is added.
//! Very small ones are a single strip. Large ones are products with a `part` (`gemm/driver.rs`).

use super::dense::{dense, room, with_room};
use crate::gemm::driver::scale;
use crate::gemm::{Operand, Product, Threads, run};
use crate::matrix::{MatMut, MatRef, Symmetry, Uplo};
use crate::scalar::Scalar;
use core::mem::MaybeUninit;

/// A product to be added: alpha, A, B.
type Term<'a, T> = (T, MatRef<'a, T>, MatRef<'a, T>);

/// One triangle of C := alpha A B + beta C.
pub fn gemmt<T: Scalar>(alpha: T, a: MatRef<T>, b: MatRef<T>, beta: T, c: MatMut<T>, uplo: Uplo) {
    triangle(&[(alpha, a, b)], beta, c, uplo);
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
fn rank_k<T: Scalar, const N: usize>(symmetry: Symmetry, terms: &[Term<T>; N], beta: T, c: MatMut<T>, uplo: Uplo) {
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
        triangle(&terms.map(|(alpha, a, b)| (alpha, a, b.t().conj_if(hermitian))), beta, c.alias(), uplo);
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

/// One triangle of C := sum of alpha A B + beta C over the terms.
fn triangle<T: Scalar, const N: usize>(terms: &[Term<T>; N], beta: T, c: MatMut<T>, uplo: Uplo) {
    if c.rs() != 1 && c.cs() == 1 {
        return triangle(&terms.map(|(alpha, a, b)| (alpha, b.t(), a.t())), beta, c.t(), uplo.t());
    }
    if c.rs() == 1 && is_small(terms) && by_strips(terms, beta, &c, uplo) {
        return;
    }
    let mut beta = beta;
    for &(alpha, a, b) in terms {
        let (a, b) = (Operand::General(a), Operand::General(b));
        run(Product { alpha, a, b, beta, c: c.alias(), part: Some(uplo) }, Threads::Shared);
        beta = T::ONE;
    }
}

/// Elements of an operand up to which reading it again for each strip beats packing it.
const MOST: usize = 96 * 96;

/// Whether all operands are small (and wanted: an alpha of zero reads none).
fn is_small<T: Scalar>(terms: &[Term<T>]) -> bool {
    terms.iter().all(|(alpha, a, b)| *alpha != T::ZERO && a.rows().max(b.cols()).saturating_mul(a.cols()) <= MOST)
}

/// Elements of the part of a strip that is computed aside.
const ASIDE: usize = 512;

/// Columns of a strip of an n x n triangle, and rows of its part that meets the diagonal: all if that fits, else two
/// register tiles wide, else one.
fn strip_size<T: Scalar>(n: usize) -> (usize, usize) {
    let kernel = T::kernels().gemm;
    let high = |wide: usize| wide.next_multiple_of(kernel.mr());
    match 2 * kernel.nr() {
        _ if n * n <= ASIDE => (n, n),
        wide if wide * high(wide) <= ASIDE => (wide, high(wide)),
        _ => (kernel.nr(), high(kernel.nr())),
    }
}

/// What has to be copied of A and of B transposed, so that a small product finds them as it wants them.
fn copies<'a, T: Scalar>(&(_, a, b): &Term<'a, T>) -> [Option<Operand<'a, T>>; 2] {
    /// Bytes from which columns touch a page each.
    const FAR: usize = 4096;
    let far = a.cs().unsigned_abs().saturating_mul(size_of::<T>()) > FAR;
    let copy_a = a.rs() != 1 || a.is_conj() || far;
    [copy_a.then_some(Operand::General(a)), b.is_conj().then_some(Operand::General(b.t()))]
}

/// Computes the triangle in strips on operands in place, or copies of them; says whether there was room for those.
fn by_strips<T: Scalar, const N: usize>(terms: &[Term<T>; N], beta: T, c: &MatMut<T>, uplo: Uplo) -> bool {
    let need = terms.iter().flat_map(copies).flatten().map(|operand| room(&operand)).sum();
    with_room(need, |to: Option<*mut T>| {
        let Some(mut to) = to else { return false };
        let mut place = |copy: Option<Operand<T>>| {
            copy.map(|operand| {
                let at = to;
                to = to.wrapping_add(room(&operand));
                // SAFETY: each copy has the room that was asked for.
                unsafe { dense(&operand, at) }
            })
        };
        let terms = terms.map(|(alpha, a, b)| {
            let [copy_a, copy_b] = copies(&(alpha, a, b)).map(&mut place);
            (alpha, copy_a.unwrap_or(a), copy_b.map_or(b, MatRef::t))
        });
        let (width, height) = strip_size::<T>(c.cols());
        for j in (0..c.cols()).step_by(width) {
            strip(&terms, beta, c, uplo, j, width.min(c.cols() - j), height);
        }
        true
    })
}

/// The wanted rows of columns j..j+width of C, which has unit row stride.
fn strip<T: Scalar>(terms: &[Term<T>], beta: T, c: &MatMut<T>, uplo: Uplo, j: usize, width: usize, height: usize) {
    assert!(width <= height && height * width <= ASIDE);
    // The rows that meet the diagonal and some more, and all others.
    let (i, m, clear) = match uplo {
        Uplo::Lower => {
            let m = height.min(c.rows() - j);
            (j, m, (j + m)..c.rows())
        }
        Uplo::Upper => {
            let i = (j + width).saturating_sub(height);
            (i, j + width - i, 0..i)
        }
    };
    let add = |i: usize, m: usize, beta: T, c: MatMut<T>| {
        let mut beta = beta;
        for &(alpha, a, b) in terms {
            let k = a.cols();
            let (a, b) = (Operand::General(a.sub(i, 0, m, k)), Operand::General(b.sub(0, j, k, width)));
            run(Product { alpha, a, b, beta, c: c.alias(), part: None }, Threads::Caller);
            beta = T::ONE;
        }
    };
    let mut tile = [const { MaybeUninit::<T>::uninit() }; ASIDE];
    let tile = tile.as_mut_ptr().cast::<T>();
    // SAFETY: the tile has height x width elements; rows i..i+m of columns j.. of C have unit stride.
    unsafe {
        add(i, m, T::ZERO, MatMut::new(tile, m, width, 1, height as isize));
        for l in 0..width {
            let (to, from) = (c.ptr().wrapping_offset(i as isize + (j + l) as isize * c.cs()), tile.add(l * height));
            // Rows of column j + l, counted from i, that are wanted.
            let rows = if uplo == Uplo::Lower { l..m } else { 0..j + l - i + 1 };
            for row in rows {
                let old = if beta == T::ZERO { T::ZERO } else { beta * *to.add(row) };
                *to.add(row) = *from.add(row) + old;
            }
        }
    }
    if !clear.is_empty() {
        add(clear.start, clear.len(), beta, c.sub(clear.start, j, clear.len(), width));
    }
}
