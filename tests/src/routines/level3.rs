//! Level 3. Every product is brought to `C := alpha A B + beta C` on dense
//! matrices of the reference; solves are judged by their residual.

use super::{Routine, named, routines};
use crate::draw::{Draw, Kind, Operand, Shape};
use crate::problem::{Problem, Want};
use crate::scalar::{Scalar, Z};

pub fn table<T: Scalar>() -> Vec<Routine<T>> {
    routines!(T:
        both { gemm, symm, syrk, syr2k, trmm, trsm }
        real {}
        complex { hemm, herk, her2k })
}

/// gemm and those with its signature.
pub(super) fn gemm_like<T: Scalar>(g: &mut Draw, base: &str, widen: f64) -> Problem<T> {
    let (ta, tb) = (g.trans(), g.trans());
    let (m, n, k) = (g.dim(), g.dim(), g.dim());
    let factors = (g.coef::<T>(), g.coef::<T>());
    gemm_of(g, base, (ta, tb), (m, n, k), factors, widen)
}

/// The same with these letters, sizes and factors (alpha and beta).
pub fn gemm_of<T: Scalar>(
    g: &mut Draw,
    base: &str,
    (ta, tb): (u8, u8),
    (m, n, k): (usize, usize, usize),
    (alpha, beta): (Z, Z),
    widen: f64,
) -> Problem<T> {
    let mut p = Problem::new(named::<T>(base), Some(g.order));
    let (a, b, c) = gemm_operands(g, &mut p, ta, tb, m, n, k);
    p.expect_product(&c, k, alpha, &a.op(ta), &b.op(tb), beta, widen);
    if alpha.is_zero() || k == 0 || m == 0 || n == 0 {
        p.forbid(a.buf);
        p.forbid(b.buf);
    }
    p.trans(ta).trans(tb).int(m).int(n).int(k).scalar(alpha);
    p.buf(a.buf).ld(&a).buf(b.buf).ld(&b);
    p.scalar(beta).buf(c.buf).ld(&c);
    p
}

pub(super) fn gemm_operands<T: Scalar>(
    g: &mut Draw,
    p: &mut Problem<T>,
    ta: u8,
    tb: u8,
    m: usize,
    n: usize,
    k: usize,
) -> (Operand, Operand, Operand) {
    let (ar, ac) = if ta == b'N' { (m, k) } else { (k, m) };
    let (br, bc) = if tb == b'N' { (k, n) } else { (n, k) };
    (p.general(g, ar, ac), p.general(g, br, bc), p.general(g, m, n))
}

fn gemm<T: Scalar>(g: &mut Draw) -> Problem<T> {
    gemm_like(g, "gemm", 1.0)
}

fn symm_like<T: Scalar>(g: &mut Draw, base: &str, kind: fn(u8) -> Kind) -> Problem<T> {
    let (side, uplo) = (g.option(b"LR"), g.uplo());
    let (m, n) = (g.dim(), g.dim());
    let (alpha, beta) = (g.coef::<T>(), g.coef::<T>());
    let mut p = Problem::new(named::<T>(base), Some(g.order));
    let k = if side == b'L' { m } else { n };
    let a = p.operand(g, k, k, kind(uplo), Shape::Full);
    let b = p.general(g, m, n);
    let c = p.general(g, m, n);
    let (x, y) = if side == b'L' { (&a, &b) } else { (&b, &a) };
    p.expect_product(&c, k, alpha, &x.full, &y.full, beta, 1.0);
    if alpha.is_zero() || m == 0 || n == 0 {
        p.forbid(a.buf);
        p.forbid(b.buf);
    }
    p.side(side).uplo(uplo).int(m).int(n).scalar(alpha);
    p.buf(a.buf).ld(&a).buf(b.buf).ld(&b);
    p.scalar(beta).buf(c.buf).ld(&c);
    p
}

fn symm<T: Scalar>(g: &mut Draw) -> Problem<T> {
    symm_like(g, "symm", Kind::Symmetric)
}

fn hemm<T: Scalar>(g: &mut Draw) -> Problem<T> {
    symm_like(g, "hemm", Kind::Hermitian)
}

fn rank_k<T: Scalar>(g: &mut Draw, base: &str, hermitian: bool) -> Problem<T> {
    let uplo = g.uplo();
    let trans = match (hermitian, T::COMPLEX) {
        (true, _) => g.option(b"NC"),
        (false, true) => g.option(b"NT"),
        (false, false) => g.trans(),
    };
    let (n, k) = (g.dim(), g.dim());
    let mut coef = |real: bool| {
        if real { Z::real(g.real_coef::<T>()) } else { g.coef::<T>() }
    };
    let (alpha, beta) = (coef(hermitian), coef(hermitian));
    let mut p = Problem::new(named::<T>(base), Some(g.order));
    let a = if trans == b'N' { p.general(g, n, k) } else { p.general(g, k, n) };
    let kind = if hermitian { Kind::Hermitian } else { Kind::Symmetric };
    let c = p.operand(g, n, n, kind(uplo), Shape::Full);
    let t = if hermitian { b'C' } else { b'T' };
    let (x, y) = if trans == b'N' { (a.op(b'N'), a.op(t)) } else { (a.op(t), a.op(b'N')) };
    let nothing = (alpha.is_zero() || k == 0) && beta == Z::ONE;
    if !nothing {
        p.expect_product(&c, k, alpha, &x, &y, beta, 1.0);
    }
    if alpha.is_zero() || k == 0 || n == 0 {
        p.forbid(a.buf);
    }
    p.uplo(uplo).trans(trans).int(n).int(k);
    if hermitian {
        p.real(alpha.re).buf(a.buf).ld(&a).real(beta.re);
    } else {
        p.scalar(alpha).buf(a.buf).ld(&a).scalar(beta);
    }
    p.buf(c.buf).ld(&c);
    p
}

fn syrk<T: Scalar>(g: &mut Draw) -> Problem<T> {
    rank_k(g, "syrk", false)
}

fn herk<T: Scalar>(g: &mut Draw) -> Problem<T> {
    rank_k(g, "herk", true)
}

fn rank_2k<T: Scalar>(g: &mut Draw, base: &str, hermitian: bool) -> Problem<T> {
    let uplo = g.uplo();
    let trans = match (hermitian, T::COMPLEX) {
        (true, _) => g.option(b"NC"),
        (false, true) => g.option(b"NT"),
        (false, false) => g.trans(),
    };
    let (n, k) = (g.dim(), g.dim());
    let alpha = g.coef::<T>();
    let beta = if hermitian { Z::real(g.real_coef::<T>()) } else { g.coef::<T>() };
    let mut p = Problem::new(named::<T>(base), Some(g.order));
    let (r, c) = if trans == b'N' { (n, k) } else { (k, n) };
    let (a, b) = (p.general(g, r, c), p.general(g, r, c));
    let kind = if hermitian { Kind::Hermitian } else { Kind::Symmetric };
    let c = p.operand(g, n, n, kind(uplo), Shape::Full);
    let t = if hermitian { b'C' } else { b'T' };
    let (left, right) = if trans == b'N' { (b'N', t) } else { (t, b'N') };
    // [alpha A, alpha' B] times [B'; A']: one product of length 2k.
    let alpha2 = if hermitian { alpha.conj() } else { alpha };
    let (xa, xb) = (a.op(left), b.op(left));
    let (ya, yb) = (a.op(right), b.op(right));
    let mut x = Vec::with_capacity(2 * n * k);
    for i in 0..n {
        x.extend(xa[i * k..][..k].iter().map(|&v| alpha * v));
        x.extend(xb[i * k..][..k].iter().map(|&v| alpha2 * v));
    }
    let y = [yb, ya].concat();
    let length = if alpha.is_zero() { 0 } else { 2 * k };
    let nothing = length == 0 && beta == Z::ONE;
    if !nothing {
        p.expect_product(&c, length, Z::ONE, &x, &y, beta, 1.0);
    }
    if length == 0 || n == 0 {
        p.forbid(a.buf);
        p.forbid(b.buf);
    }
    p.uplo(uplo).trans(trans).int(n).int(k).scalar(alpha);
    p.buf(a.buf).ld(&a).buf(b.buf).ld(&b);
    if hermitian {
        p.real(beta.re);
    } else {
        p.scalar(beta);
    }
    p.buf(c.buf).ld(&c);
    p
}

fn syr2k<T: Scalar>(g: &mut Draw) -> Problem<T> {
    rank_2k(g, "syr2k", false)
}

fn her2k<T: Scalar>(g: &mut Draw) -> Problem<T> {
    rank_2k(g, "her2k", true)
}

fn tri_like<T: Scalar>(g: &mut Draw, base: &str, solve: bool) -> Problem<T> {
    let (side, uplo, trans, diag) = (g.option(b"LR"), g.uplo(), g.trans(), g.diag());
    let (m, n) = (g.dim(), g.dim());
    let alpha = g.coef::<T>();
    let mut p = Problem::new(named::<T>(base), Some(g.order));
    let left = side == b'L';
    let k = if left { m } else { n };
    let kind = if solve { Kind::Solvable } else { Kind::Triangular };
    let a = p.operand(g, k, k, kind(uplo, diag), Shape::Full);
    let b = p.general(g, m, n);
    if alpha.is_zero() || m == 0 || n == 0 {
        p.forbid(a.buf);
    }
    if alpha.is_zero() {
        for i in 0..m {
            for j in 0..n {
                p.want(&b, i, j, Want::Near(Z::ZERO, 0.0));
            }
        }
        p.clobber(&b);
    } else if solve {
        p.expect_solution(&a, trans, left, alpha, &b);
    } else {
        let op = a.op(trans);
        let (x, y) = if left { (&op, &b.full) } else { (&b.full, &op) };
        let (x, y) = (x.clone(), y.clone());
        p.expect_product(&b, k, alpha, &x, &y, Z::ZERO, 1.0);
        // expect_product poisons an operand whose beta is 0; this one is read.
        for i in 0..m {
            for j in 0..n {
                let x = b.index(i, j).unwrap();
                p.bufs[b.buf].data[x] = T::new(b.at(i, j));
            }
        }
    }
    p.side(side).uplo(uplo).trans(trans).diag(diag).int(m).int(n).scalar(alpha);
    p.buf(a.buf).ld(&a).buf(b.buf).ld(&b);
    p
}

fn trmm<T: Scalar>(g: &mut Draw) -> Problem<T> {
    tri_like(g, "trmm", false)
}

fn trsm<T: Scalar>(g: &mut Draw) -> Problem<T> {
    tri_like(g, "trsm", true)
}
