//! syrk, herk, syr2k, her2k and gemmt: one triangle of a sum of products.
//!
//! Where the caches near by hold the operands, they are read where they are, strip by strip: a few columns, and the rows of
//! C from the diagonal to its end. Only the first rows of a strip meet the diagonal; they are computed in full, aside, and
//! the wanted part is added. An operand that lies across is packed once for all strips, a conjugated one is copied. Very small
//! triangles are part of a product that is computed aside, and so are those of two terms that L2 holds: each term is the other's mirror
//! image, so one product is folded. Large ones are products with a `part` (`gemm/driver.rs`).

use super::dense::{conjugated, with_room};
use super::gemm;
use crate::gemm::driver::scale;
use crate::gemm::{Operand, Product, Threads, blocking, run};
use crate::kernels::tile::Source;
use crate::matrix::{MatMut, MatRef, Symmetry, Uplo};
use crate::runtime::{cpu, pool};
use crate::scalar::Scalar;
use core::mem::MaybeUninit;

/// A product to be added: alpha, A, B.
type Term<'a, T> = (T, MatRef<'a, T>, MatRef<'a, T>);
/// Of two terms: the second is the first one's mirror image, in this sense.
type Mirror = Option<Symmetry>;

/// One triangle of C := alpha A B + beta C.
pub fn gemmt<T: Scalar>(alpha: T, a: MatRef<T>, b: MatRef<T>, beta: T, c: MatMut<T>, uplo: Uplo) {
    triangle(&[(alpha, a, b)], None, beta, c, uplo);
}

/// One triangle of C := alpha A A^T + beta C, or with A^H and real alpha and beta, C Hermitian.
pub fn syrk<T: Scalar>(symmetry: Symmetry, alpha: T, a: MatRef<T>, beta: T, c: MatMut<T>, uplo: Uplo) {
    rank_k(symmetry, &[(alpha, a, a)], None, beta, c, uplo);
}

/// One triangle of C := alpha A B^T + alpha B A^T + beta C, or alpha A B^H + conj(alpha) B A^H + beta C, C Hermitian.
pub fn syr2k<T: Scalar>(symmetry: Symmetry, alpha: T, a: MatRef<T>, b: MatRef<T>, beta: T, c: MatMut<T>, uplo: Uplo) {
    let mirrored = alpha.conj_if(symmetry.is_hermitian());
    rank_k(symmetry, &[(alpha, a, b), (mirrored, b, a)], Some(symmetry), beta, c, uplo);
}

/// One triangle of C := sum of alpha A B^T + beta C over the terms.
fn rank_k<T: Scalar, const N: usize>(
    symmetry: Symmetry,
    terms: &[Term<T>; N],
    mirror: Mirror,
    beta: T,
    c: MatMut<T>,
    uplo: Uplo,
) {
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
        triangle(&terms.map(|(alpha, a, b)| (alpha, a, b.t().conj_if(hermitian))), mirror, beta, c.alias(), uplo);
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
fn triangle<T: Scalar, const N: usize>(terms: &[Term<T>; N], mirror: Mirror, beta: T, c: MatMut<T>, uplo: Uplo) {
    if c.rs() != 1 && c.cs() == 1 {
        return triangle(&terms.map(|(alpha, a, b)| (alpha, b.t(), a.t())), mirror, beta, c.t(), uplo.t());
    }
    if c.rs() == 1 && (aside(terms[0], mirror, beta, &c, uplo) || by_strips(terms, beta, &c, uplo)) {
        return;
    }
    let mut beta = beta;
    for &(alpha, a, b) in terms {
        let (a, b) = (Operand::General(a), Operand::General(b));
        run(Product { alpha, a, b, beta, c: c.alias(), part: Some(uplo) }, Threads::Shared);
        beta = T::ONE;
    }
}

/// Bytes of the part of a strip that is computed aside.
const ASIDE: usize = 12 << 10;
/// Elements up to which all of a triangle is computed aside.
const SINGLE: usize = 512;

#[repr(align(64))]
struct Aside(MaybeUninit<[u8; ASIDE]>);

/// Computes a triangle as part of a product, which is kept apart: a very small one, or one that two terms add up to, of which the second
/// is the mirror image of the first and costs an addition. Says whether it was small enough.
fn aside<T: Scalar>((alpha, a, b): Term<T>, mirror: Mirror, beta: T, c: &MatMut<T>, uplo: Uplo) -> bool {
    let (n, k) = (c.cols(), a.cols());
    let elements = n.saturating_mul(n);
    let is_single = elements <= SINGLE;
    // The pass that folds needs steps to be worth it, and a product that stays near. (Zen 4, GFLOPS in strips and folded: dsyr2k UT 64 38
    // and 44, csyr2k LN 64 83 and 103, dsyr2k LN 100 48 and 52, zher2k LN 20 17 and 29; ssyr2k LT 128 x 32 75 and 73, LN 200 105 and
    // 103, zher2k UC 100 46 and 34.)
    let near = cpu::caches().l2 / 12;
    let is_folded = mirror.is_some() && 2 * k >= n && elements.saturating_mul(size_of::<T>()) <= near;
    if !is_single && !is_folded {
        return false;
    }
    with_room(if is_single { elements } else { 2 * elements }, |room: Option<*mut T>| {
        let Some(room) = room else { return false };
        // SAFETY: room for n x n elements, which are written before they are read, and where it is needed for their transpose.
        unsafe {
            gemm(alpha, a, b, T::ZERO, MatMut::new(room, n, n, 1, n as isize));
            if let Some(symmetry) = mirror {
                let (image, rs, cs) = if is_single { (room, n, 1) } else { (room.add(elements), 1, n) };
                if !is_single {
                    T::kernels().gemm.turn(n, n, room, n as isize, image, n as isize);
                }
                for j in 0..n {
                    for i in wanted(uplo, j, n) {
                        *room.add(i + j * n) += (*image.add(i * rs + j * cs)).conj_if(symmetry.is_hermitian());
                    }
                }
            }
            put(room, c, 0, 0, beta, uplo);
        }
        true
    })
}

/// Of n rows, those of column j that are in the triangle.
fn wanted(uplo: Uplo, j: usize, n: usize) -> core::ops::Range<usize> {
    if uplo == Uplo::Lower { j..n } else { 0..j + 1 }
}

/// Adds those elements of a product of which C, whose first one is at (i, j) of a matrix, is a part, that are in a triangle of the
/// matrix: `C := product + beta C`.
///
/// # Safety
/// The product has as many rows, at consecutive addresses, and columns as C, whose row stride is 1.
unsafe fn put<T: Scalar>(product: *const T, c: &MatMut<T>, i: usize, j: usize, beta: T, uplo: Uplo) {
    let m = c.rows();
    for l in 0..c.cols() {
        // Rows of column j + l, counted from i, that are wanted.
        let rows = wanted(uplo, j + l - i, m);
        // SAFETY: column l of both.
        unsafe {
            let (to, from) = (c.ptr().wrapping_offset(l as isize * c.cs()), product.add(l * m));
            if beta == T::ZERO {
                for row in rows.clone() {
                    *to.add(row) = *from.add(row);
                }
            } else {
                for row in rows.clone() {
                    *to.add(row) = *from.add(row) + beta * *to.add(row);
                }
            }
        }
    }
}

/// How a triangle is cut into strips.
#[derive(Clone, Copy)]
struct Strips {
    /// Columns of a strip, and at most so many rows of its part that meets the diagonal.
    width: usize,
    height: usize,
    /// Which operands of each term are packed; then columns or rows begin at a panel.
    pack_a: bool,
    pack_b: bool,
    /// Whether a B that is not packed is copied: it is conjugated.
    copy_b: bool,
}

impl Strips {
    /// None if the operands are large, or empty.
    fn of<T: Scalar>(terms: &[Term<T>], n: usize) -> Option<Strips> {
        /// Bytes from which columns touch a page each.
        const FAR: usize = 4096;
        let kernel = T::kernels().gemm;
        let caches = cpu::caches();
        let most = caches.l2 / 4 / size_of::<T>();
        let (mut pack_a, mut pack_b, mut copy_b) = (false, false, false);
        for (alpha, a, b) in terms {
            // An alpha of zero reads nothing, and no steps add nothing.
            if *alpha == T::ZERO || a.cols() == 0 || n.saturating_mul(a.cols()) > most {
                return None;
            }
            let far = a.cs().unsigned_abs().saturating_mul(size_of::<T>()) > FAR;
            pack_a |= a.rs() != 1 || a.is_conj() || far;
            pack_b |= b.rs() != 1 && (b.cs() != 1 || !blocking::stays_near::<T>(b.rs(), b.rows(), &caches));
            copy_b |= b.is_conj();
        }
        let (mr, nr) = (kernel.mr(), kernel.nr());
        let (width, height) = match 2 * nr {
            _ if pack_a && pack_b => (nr, nr.next_multiple_of(mr) + mr),
            _ if pack_a => (nr.next_multiple_of(mr), nr.next_multiple_of(mr)),
            two => (two, two.next_multiple_of(mr)),
        };
        let fits = width * height * size_of::<T>() <= ASIDE;
        fits.then_some(Strips { width, height, pack_a, pack_b, copy_b: copy_b && !pack_b })
    }
}

/// Computes the triangle in strips, if its operands are small and there is room for what must be packed; says whether.
fn by_strips<T: Scalar, const N: usize>(terms: &[Term<T>; N], beta: T, c: &MatMut<T>, uplo: Uplo) -> bool {
    let n = c.cols();
    let Some(strips) = Strips::of(terms, n) else { return false };
    let kernel = T::kernels().gemm;
    let (a_lanes, b_lanes) = (n.next_multiple_of(kernel.mr()), n.next_multiple_of(kernel.nr()));
    let lanes = if strips.pack_a { a_lanes } else { 0 }
        + match strips {
            Strips { pack_b: true, .. } => b_lanes,
            Strips { copy_b: true, .. } => n,
            _ => 0,
        };
    let steps: usize = terms.iter().map(|(_, a, _)| a.cols()).sum();
    with_room(lanes * steps, |to: Option<*mut T>| {
        let Some(mut to) = to else { return false };
        let mut work = 0.0;
        let terms = terms.map(|(alpha, a, b)| {
            let k = a.cols();
            work += n as f64 * n as f64 * k as f64 * if T::IS_COMPLEX { 4.0 } else { 1.0 };
            let mut from_a = Source::in_place(a.ptr(), 1, a.cs());
            let mut from_b = Source::in_place(b.ptr(), b.cs(), b.rs());
            // SAFETY: panels of all lanes of the operands, with the room that was asked for.
            unsafe {
                if strips.pack_a {
                    kernel.pack_a(n, k, a.ptr(), a.rs(), a.cs(), a.is_conj(), to);
                    from_a = Source::panels(to, k, kernel.mr());
                    to = to.add(a_lanes * k);
                }
                if strips.pack_b {
                    kernel.pack_b(n, k, b.ptr(), b.cs(), b.rs(), b.is_conj(), to);
                    from_b = Source::panels(to, k, kernel.nr());
                    to = to.add(b_lanes * k);
                } else if b.is_conj() {
                    let b = conjugated(b, to);
                    from_b = Source::in_place(b.ptr(), b.cs(), b.rs());
                    to = to.add(n * k);
                }
            }
            Shared((alpha, k, from_a, from_b))
        });
        // Panels go from the core that packed them to the others, and back for the next call: they must be worth it.
        let threads = pool::threads_for(if lanes > 0 { work / 5.0 } else { work });
        pool::run(n.div_ceil(strips.width), threads, &|s| strip(&terms, strips, beta, c, uplo, s * strips.width));
        true
    })
}

/// A term as the kernel reads it: alpha, k, A, B.
struct Shared<T>((T, usize, Source<T>, Source<T>));
// SAFETY: the operands are only read while threads share them.
unsafe impl<T: Sync> Sync for Shared<T> {}

/// The wanted rows of the strip of C, which has unit row stride, from column j on.
fn strip<T: Scalar>(terms: &[Shared<T>], strips: Strips, beta: T, c: &MatMut<T>, uplo: Uplo, j: usize) {
    let n = c.cols();
    let width = strips.width.min(n - j);
    let kernel = T::kernels().gemm;
    // The rows that meet the diagonal and a few more, and all others.
    let rows = match uplo {
        _ if strips.pack_a => j / kernel.mr() * kernel.mr()..(j + width).next_multiple_of(kernel.mr()).min(n),
        Uplo::Lower => j..(j + strips.height).min(n),
        Uplo::Upper => (j + strips.width).saturating_sub(strips.height)..j + width,
    };
    let (i, m) = (rows.start, rows.len());
    let clear = if uplo == Uplo::Lower { rows.end..n } else { 0..i };
    // SAFETY: rows and columns of C and of the operands; strips begin where panels do, and so do their other rows.
    let add = |i: usize, m: usize, beta: T, c: *mut T, cs: isize| unsafe {
        let mut beta = beta;
        for Shared((alpha, k, a, b)) in terms {
            let kc = blocking::kc(*k, kernel.kc()).max(1);
            for p in (0..*k).step_by(kc) {
                kernel.block(m, width, kc.min(k - p), *alpha, a.from(i, p), b.from(j, p), beta, c, cs);
                beta = T::ONE;
            }
        }
    };
    let mut tile = Aside(MaybeUninit::uninit());
    let tile = tile.0.as_mut_ptr().cast::<T>();
    assert!(m * width * size_of::<T>() <= ASIDE);
    add(i, m, T::ZERO, tile, m as isize);
    // SAFETY: the tile has m x width elements; rows i.. of columns j.. of C.
    unsafe { put(tile, &c.sub(i, j, m, width), i, j, beta, uplo) };
    let rows_from = |i: usize| c.ptr().wrapping_offset(i as isize + j as isize * c.cs());
    if !clear.is_empty() {
        add(clear.start, clear.len(), beta, rows_from(clear.start), c.cs());
    }
}
