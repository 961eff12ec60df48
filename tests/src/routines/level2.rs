//! Level 2: products with one column, updates with inner length one or two.

use super::{Routine, named, routines};
use crate::draw::{Draw, Kind, Operand, Shape};
use crate::problem::Problem;
use crate::scalar::{Scalar, Z};

pub fn table<T: Scalar>() -> Vec<Routine<T>> {
    routines!(T:
        both { gemv, gbmv, trmv, tbmv, tpmv, trsv, tbsv, tpsv }
        real { symv, sbmv, spmv, ger, syr, spr, syr2, spr2 }
        complex { hemv, hbmv, hpmv, geru, gerc, her, hpr, her2, hpr2 })
}

/// A dimension of a band: also wider than the matrix.
fn width(g: &mut Draw) -> usize {
    g.rng.pick(&[0, 1, 2, 3, 5, 8, 13, 40])
}

fn gemv_like<T: Scalar>(g: &mut Draw, band: bool) -> Problem<T> {
    let trans = g.trans();
    let (m, n) = (g.dim(), g.dim());
    let (kl, ku) = (width(g), width(g));
    let (alpha, beta) = (g.coef::<T>(), g.coef::<T>());
    let incs = (g.inc(), g.inc());
    mv_of(g, band.then_some((kl, ku)), trans, (m, n), (alpha, beta), incs)
}

/// A product of a matrix of that size with a vector.
pub fn gemv_of<T: Scalar>(g: &mut Draw, trans: u8, size: (usize, usize), factors: (Z, Z)) -> Problem<T> {
    mv_of(g, None, trans, size, factors, (1, 1))
}

fn mv_of<T: Scalar>(
    g: &mut Draw,
    band: Option<(usize, usize)>,
    trans: u8,
    (m, n): (usize, usize),
    (alpha, beta): (Z, Z),
    (incx, incy): (i64, i64),
) -> Problem<T> {
    let mut p = Problem::new(named::<T>(if band.is_some() { "gbmv" } else { "gemv" }), Some(g.order));
    let shape = band.map_or(Shape::Full, |(kl, ku)| Shape::Band { kl, ku });
    let a = p.operand(g, m, n, Kind::General, shape);
    let (lx, ly) = if trans == b'N' { (n, m) } else { (m, n) };
    let x = p.vector(g, lx, incx);
    let y = p.vector(g, ly, incy);
    // An empty matrix leaves y alone, whatever beta is.
    if m > 0 && n > 0 {
        p.expect_product(&y, lx, alpha, &a.op(trans), &x.full, beta, 1.0);
    }
    if alpha.is_zero() || m == 0 || n == 0 {
        p.forbid(a.buf);
        p.forbid(x.buf);
    }
    p.trans(trans).int(m).int(n);
    if let Some((kl, ku)) = band {
        p.int(kl).int(ku);
    }
    p.scalar(alpha).buf(a.buf).ld(&a).buf(x.buf).inc(incx);
    p.scalar(beta).buf(y.buf).inc(incy);
    p
}

fn gemv<T: Scalar>(g: &mut Draw) -> Problem<T> {
    gemv_like(g, false)
}

fn gbmv<T: Scalar>(g: &mut Draw) -> Problem<T> {
    gemv_like(g, true)
}

#[derive(Clone, Copy, PartialEq)]
enum Store {
    Full,
    Band,
    Packed,
}

/// The shape of a triangle's storage and its band width.
fn triangle(g: &mut Draw, store: Store, uplo: u8) -> (Shape, usize) {
    let k = width(g);
    let shape = match store {
        Store::Full => Shape::Full,
        Store::Packed => Shape::Packed(uplo),
        Store::Band if uplo == b'U' => Shape::Band { kl: 0, ku: k },
        Store::Band => Shape::Band { kl: k, ku: 0 },
    };
    (shape, k)
}

/// Appends the matrix argument: packed storage has no leading dimension.
fn matrix_args<T: Scalar>(p: &mut Problem<T>, a: &Operand, store: Store) {
    p.buf(a.buf);
    if store != Store::Packed {
        p.ld(a);
    }
}

pub(super) fn symv_like<T: Scalar>(g: &mut Draw, base: &str, kind: fn(u8) -> Kind, store: u8) -> Problem<T> {
    let store = match store {
        b'F' => Store::Full,
        b'B' => Store::Band,
        _ => Store::Packed,
    };
    let uplo = g.uplo();
    let n = g.dim();
    let (alpha, beta) = (g.coef::<T>(), g.coef::<T>());
    let (incx, incy) = (g.inc(), g.inc());
    let (shape, k) = triangle(g, store, uplo);
    let mut p = Problem::new(named::<T>(base), Some(g.order));
    let a = p.operand(g, n, n, kind(uplo), shape);
    let x = p.vector(g, n, incx);
    let y = p.vector(g, n, incy);
    p.expect_product(&y, n, alpha, &a.full, &x.full, beta, 1.0);
    if alpha.is_zero() || n == 0 {
        p.forbid(a.buf);
        p.forbid(x.buf);
    }
    p.uplo(uplo).int(n);
    if store == Store::Band {
        p.int(k);
    }
    p.scalar(alpha);
    matrix_args(&mut p, &a, store);
    p.buf(x.buf).inc(incx).scalar(beta).buf(y.buf).inc(incy);
    p
}

fn symv<T: Scalar>(g: &mut Draw) -> Problem<T> {
    symv_like(g, "symv", Kind::Symmetric, b'F')
}
fn sbmv<T: Scalar>(g: &mut Draw) -> Problem<T> {
    symv_like(g, "sbmv", Kind::Symmetric, b'B')
}
fn spmv<T: Scalar>(g: &mut Draw) -> Problem<T> {
    symv_like(g, "spmv", Kind::Symmetric, b'P')
}
fn hemv<T: Scalar>(g: &mut Draw) -> Problem<T> {
    symv_like(g, "hemv", Kind::Hermitian, b'F')
}
fn hbmv<T: Scalar>(g: &mut Draw) -> Problem<T> {
    symv_like(g, "hbmv", Kind::Hermitian, b'B')
}
fn hpmv<T: Scalar>(g: &mut Draw) -> Problem<T> {
    symv_like(g, "hpmv", Kind::Hermitian, b'P')
}

fn tri_like<T: Scalar>(g: &mut Draw, base: &str, store: Store, solve: bool) -> Problem<T> {
    let (uplo, trans, diag) = (g.uplo(), g.trans(), g.diag());
    let n = g.dim();
    let incx = g.inc();
    let (shape, k) = triangle(g, store, uplo);
    let kind = if solve { Kind::Solvable } else { Kind::Triangular };
    let mut p = Problem::new(named::<T>(base), Some(g.order));
    let a = p.operand(g, n, n, kind(uplo, diag), shape);
    let x = p.vector(g, n, incx);
    if solve {
        p.expect_solution(&a, trans, true, Z::ONE, &x);
    } else {
        p.expect_product(&x, n, Z::ONE, &a.op(trans), &x.full.clone(), Z::ZERO, 1.0);
        for i in 0..n {
            let at = x.index(i, 0).unwrap();
            p.bufs[x.buf].data[at] = T::new(x.at(i, 0));
        }
    }
    p.uplo(uplo).trans(trans).diag(diag).int(n);
    if store == Store::Band {
        p.int(k);
    }
    matrix_args(&mut p, &a, store);
    p.buf(x.buf).inc(incx);
    p
}

fn trmv<T: Scalar>(g: &mut Draw) -> Problem<T> {
    tri_like(g, "trmv", Store::Full, false)
}
fn tbmv<T: Scalar>(g: &mut Draw) -> Problem<T> {
    tri_like(g, "tbmv", Store::Band, false)
}
fn tpmv<T: Scalar>(g: &mut Draw) -> Problem<T> {
    tri_like(g, "tpmv", Store::Packed, false)
}
fn trsv<T: Scalar>(g: &mut Draw) -> Problem<T> {
    tri_like(g, "trsv", Store::Full, true)
}
fn tbsv<T: Scalar>(g: &mut Draw) -> Problem<T> {
    tri_like(g, "tbsv", Store::Band, true)
}
fn tpsv<T: Scalar>(g: &mut Draw) -> Problem<T> {
    tri_like(g, "tpsv", Store::Packed, true)
}

fn ger_like<T: Scalar>(g: &mut Draw, base: &str, trans: u8) -> Problem<T> {
    let (m, n) = (g.dim(), g.dim());
    let alpha = g.coef::<T>();
    let (incx, incy) = (g.inc(), g.inc());
    let mut p = Problem::new(named::<T>(base), Some(g.order));
    let x = p.vector(g, m, incx);
    let y = p.vector(g, n, incy);
    let a = p.general(g, m, n);
    if alpha.is_zero() || m == 0 || n == 0 {
        p.forbid(x.buf);
        p.forbid(y.buf);
    } else {
        p.expect_product(&a, 1, alpha, &x.full, &y.op(trans), Z::ONE, 1.0);
    }
    p.int(m).int(n).scalar(alpha).buf(x.buf).inc(incx).buf(y.buf).inc(incy);
    p.buf(a.buf).ld(&a);
    p
}

fn ger<T: Scalar>(g: &mut Draw) -> Problem<T> {
    ger_like(g, "ger", b'T')
}
fn geru<T: Scalar>(g: &mut Draw) -> Problem<T> {
    ger_like(g, "geru", b'T')
}
fn gerc<T: Scalar>(g: &mut Draw) -> Problem<T> {
    ger_like(g, "gerc", b'C')
}

fn rank_1<T: Scalar>(g: &mut Draw, base: &str, store: Store, hermitian: bool) -> Problem<T> {
    let uplo = g.uplo();
    let n = g.dim();
    let alpha = if hermitian { Z::real(g.real_coef::<T>()) } else { g.coef::<T>() };
    let incx = g.inc();
    let (shape, _) = triangle(g, store, uplo);
    let mut p = Problem::new(named::<T>(base), Some(g.order));
    let x = p.vector(g, n, incx);
    let kind = if hermitian { Kind::Hermitian } else { Kind::Symmetric };
    let a = p.operand(g, n, n, kind(uplo), shape);
    let t = if hermitian { b'C' } else { b'T' };
    if alpha.is_zero() || n == 0 {
        p.forbid(x.buf);
    } else {
        p.expect_product(&a, 1, alpha, &x.full, &x.op(t), Z::ONE, 1.0);
    }
    p.uplo(uplo).int(n);
    if hermitian {
        p.real(alpha.re);
    } else {
        p.scalar(alpha);
    }
    p.buf(x.buf).inc(incx);
    matrix_args(&mut p, &a, store);
    p
}

fn syr<T: Scalar>(g: &mut Draw) -> Problem<T> {
    rank_1(g, "syr", Store::Full, false)
}
fn spr<T: Scalar>(g: &mut Draw) -> Problem<T> {
    rank_1(g, "spr", Store::Packed, false)
}
fn her<T: Scalar>(g: &mut Draw) -> Problem<T> {
    rank_1(g, "her", Store::Full, true)
}
fn hpr<T: Scalar>(g: &mut Draw) -> Problem<T> {
    rank_1(g, "hpr", Store::Packed, true)
}

fn rank_2<T: Scalar>(g: &mut Draw, base: &str, store: Store, hermitian: bool) -> Problem<T> {
    let uplo = g.uplo();
    let n = g.dim();
    let alpha = g.coef::<T>();
    let (incx, incy) = (g.inc(), g.inc());
    let (shape, _) = triangle(g, store, uplo);
    let mut p = Problem::new(named::<T>(base), Some(g.order));
    let x = p.vector(g, n, incx);
    let y = p.vector(g, n, incy);
    let kind = if hermitian { Kind::Hermitian } else { Kind::Symmetric };
    let a = p.operand(g, n, n, kind(uplo), shape);
    let t = if hermitian { b'C' } else { b'T' };
    if alpha.is_zero() || n == 0 {
        p.forbid(x.buf);
        p.forbid(y.buf);
    } else {
        // alpha x y' + alpha' y x': an inner length of two.
        let alpha2 = if hermitian { alpha.conj() } else { alpha };
        let left: Vec<Z> = (0..n).flat_map(|i| [alpha * x.at(i, 0), alpha2 * y.at(i, 0)]).collect();
        let right = [y.op(t), x.op(t)].concat();
        p.expect_product(&a, 2, Z::ONE, &left, &right, Z::ONE, 1.0);
    }
    p.uplo(uplo).int(n).scalar(alpha);
    p.buf(x.buf).inc(incx).buf(y.buf).inc(incy);
    matrix_args(&mut p, &a, store);
    p
}

fn syr2<T: Scalar>(g: &mut Draw) -> Problem<T> {
    rank_2(g, "syr2", Store::Full, false)
}
fn spr2<T: Scalar>(g: &mut Draw) -> Problem<T> {
    rank_2(g, "spr2", Store::Packed, false)
}
fn her2<T: Scalar>(g: &mut Draw) -> Problem<T> {
    rank_2(g, "her2", Store::Full, true)
}
fn hpr2<T: Scalar>(g: &mut Draw) -> Problem<T> {
    rank_2(g, "hpr2", Store::Packed, true)
}
