//! Routines beyond Reference BLAS 3.11: signatures and meaning as in OpenBLAS
//! (axpby, omatcopy, geadd, gemm3m, amin, ...) and oneMKL (gemmt, batches).

use super::level1::{axpy_like, first_best, sizes, with_ties};
use super::level3::{gemm_like, gemm_operands};
use super::{Routine, named, routines};
use crate::draw::{Draw, Kind, Shape};
use crate::problem::{Arg, Order, Problem, RetWant, Returns, SLACK, Want};
use crate::scalar::{Scalar, Z};

pub fn table<T: Scalar>() -> Vec<Routine<T>> {
    let mut v = older::<T>();
    v.extend(routines!(T:
        both { gemmt, gemmtr, gemm_batch, gemm_batch_strided }
        real {}
        complex {}));
    v
}

/// Those that OpenBLAS 0.3.21 (Debian 12) already has.
pub fn older<T: Scalar>() -> Vec<Routine<T>> {
    routines!(T:
        both { axpby, iamin, sum, geadd, omatcopy, imatcopy }
        real { imax, imin }
        complex { gemm3m })
}

/// Those with a Fortran name only: run apart from the table.
pub fn fortran_only<T: Scalar>() -> Vec<Routine<T>> {
    routines!(T: both { amax, amin } real { max, min } complex { axpyc })
}

fn axpby<T: Scalar>(g: &mut Draw) -> Problem<T> {
    let mut p = Problem::new(named::<T>("axpby"), None);
    let n = g.length();
    let (incx, incy) = (g.inc(), g.inc());
    let (alpha, beta) = (g.coef::<T>(), g.coef::<T>());
    let x = p.vector(g, n, incx);
    let y = p.vector(g, n, incy);
    for i in 0..n {
        let (mut v, mut size) = (Z::ZERO, 0.0);
        for (c, w) in [(alpha, x.at(i, 0)), (beta, y.at(i, 0))] {
            if !c.is_zero() {
                v = v + c * w;
                size += c.abs() * w.abs();
            }
        }
        p.want(&y, i, 0, Want::Near(v, SLACK * T::EPS * size));
    }
    if beta.is_zero() {
        p.clobber(&y);
    }
    if alpha.is_zero() || n == 0 {
        p.forbid(x.buf);
    }
    p.int(n).scalar(alpha).buf(x.buf).inc(incx).scalar(beta).buf(y.buf).inc(incy);
    p
}

fn axpyc<T: Scalar>(g: &mut Draw) -> Problem<T> {
    axpy_like(g, "axpyc", true)
}

fn iamin<T: Scalar>(g: &mut Draw) -> Problem<T> {
    with_ties(g, format!("i{}amin", T::LETTER), Returns::Index, |x| first_best(&sizes::<T>(x), |a, b| a < b))
}

fn reals(x: &[Z]) -> Vec<f64> {
    x.iter().map(|z| z.re).collect()
}

fn imax<T: Scalar>(g: &mut Draw) -> Problem<T> {
    with_ties(g, format!("i{}max", T::LETTER), Returns::Index, |x| first_best(&reals(x), |a, b| a > b))
}

fn imin<T: Scalar>(g: &mut Draw) -> Problem<T> {
    with_ties(g, format!("i{}min", T::LETTER), Returns::Index, |x| first_best(&reals(x), |a, b| a < b))
}

/// A largest or smallest value; 0 for an empty vector.
fn extreme(v: &[f64], pick: fn(f64, f64) -> f64) -> RetWant {
    let v = v.iter().copied().reduce(pick).unwrap_or(0.0);
    RetWant::Near(Z::real(v), 0.0)
}

fn amax<T: Scalar>(g: &mut Draw) -> Problem<T> {
    let name = format!("{}amax", T::real_prefix());
    with_ties(g, name, Returns::Real, |x| extreme(&sizes::<T>(x), f64::max))
}

fn amin<T: Scalar>(g: &mut Draw) -> Problem<T> {
    let name = format!("{}amin", T::real_prefix());
    with_ties(g, name, Returns::Real, |x| extreme(&sizes::<T>(x), f64::min))
}

fn max<T: Scalar>(g: &mut Draw) -> Problem<T> {
    with_ties(g, named::<T>("max"), Returns::Real, |x| extreme(&reals(x), f64::max))
}

fn min<T: Scalar>(g: &mut Draw) -> Problem<T> {
    with_ties(g, named::<T>("min"), Returns::Real, |x| extreme(&reals(x), f64::min))
}

/// The plain sum of all parts.
fn sum<T: Scalar>(g: &mut Draw) -> Problem<T> {
    let name = format!("{}sum", T::real_prefix());
    with_ties(g, name, Returns::Real, |x| {
        let s: f64 = x.iter().map(|z| z.re + z.im).sum();
        let size: f64 = x.iter().map(|z| z.abs1()).sum();
        RetWant::Near(Z::real(s), (2.0 * x.len() as f64 + SLACK) * T::EPS * size)
    })
}

/// C := alpha A + beta C.
fn geadd<T: Scalar>(g: &mut Draw) -> Problem<T> {
    let (m, n) = (g.dim(), g.dim());
    let (alpha, beta) = (g.coef::<T>(), g.coef::<T>());
    let mut p = Problem::new(named::<T>("geadd"), Some(g.order));
    let a = p.general(g, m, n);
    let c = p.general(g, m, n);
    for i in 0..m {
        for j in 0..n {
            let (mut v, mut size) = (Z::ZERO, 0.0);
            for (k, w) in [(alpha, a.at(i, j)), (beta, c.at(i, j))] {
                if !k.is_zero() {
                    v = v + k * w;
                    size += k.abs() * w.abs();
                }
            }
            p.want(&c, i, j, Want::Near(v, SLACK * T::EPS * size));
        }
    }
    if beta.is_zero() {
        p.clobber(&c);
    }
    if alpha.is_zero() || m == 0 || n == 0 {
        p.forbid(a.buf);
    }
    p.int(m).int(n).scalar(alpha).buf(a.buf).ld(&a);
    p.scalar(beta).buf(c.buf).ld(&c);
    p
}

/// B := alpha op(A); R is "conjugate, do not transpose".
fn omatcopy<T: Scalar>(g: &mut Draw) -> Problem<T> {
    let trans = g.option(b"NTCR");
    let (m, n) = (g.dim().max(1), g.dim().max(1));
    let alpha = g.coef::<T>();
    let mut p = Problem::new(named::<T>("omatcopy"), Some(g.order));
    p.fortran_order = true;
    let a = p.general(g, m, n);
    let (r, c) = if matches!(trans, b'N' | b'R') { (m, n) } else { (n, m) };
    let b = p.general(g, r, c);
    let op = a.op(trans);
    for i in 0..r {
        for j in 0..c {
            p.want(&b, i, j, scaled::<T>(alpha, op[i * c + j]));
        }
    }
    p.clobber(&b);
    if alpha.is_zero() {
        p.forbid(a.buf);
    }
    p.trans(trans).int(m).int(n).scalar(alpha);
    p.buf(a.buf).ld(&a).buf(b.buf).ld(&b);
    p
}

fn scaled<T: Scalar>(alpha: Z, v: Z) -> Want {
    if alpha.is_zero() {
        return Want::Near(Z::ZERO, 0.0);
    }
    Want::Near(alpha * v, 4.0 * T::EPS * alpha.abs() * v.abs())
}

/// The same in place: the buffer holds first A (lda), then op(A) (ldb).
fn imatcopy<T: Scalar>(g: &mut Draw) -> Problem<T> {
    let trans = g.option(b"NTCR");
    let (m, n) = (g.dim().max(1), g.dim().max(1));
    let (m, n) = if g.rng.below(2) == 0 { (m, m) } else { (m, n) };
    let alpha = g.coef::<T>();
    let mut p = Problem::new(named::<T>("imatcopy"), Some(g.order));
    p.fortran_order = true;
    let (r, c) = if matches!(trans, b'N' | b'R') { (m, n) } else { (n, m) };
    // Shapes first, in a problem that is thrown away; then one common buffer.
    let mut shapes = Problem::<T>::new("", Some(g.order));
    let mut a = shapes.general(g, m, n);
    let mut b = shapes.general(g, r, c);
    if g.rng.below(2) == 0 && r == m {
        b.ld = a.ld;
    }
    let len = |o: &crate::draw::Operand| o.index(o.rows - 1, o.cols - 1).unwrap() + 1;
    a.buf = p.alloc(len(&a).max(len(&b)));
    b.buf = a.buf;
    let op = a.op(trans);
    let mut out = vec![None; p.bufs[a.buf].data.len()];
    for i in 0..m {
        for j in 0..n {
            let x = a.index(i, j).unwrap();
            p.bufs[a.buf].data[x] = T::new(a.at(i, j));
            out[x] = Some(Want::Any);
        }
    }
    for i in 0..r {
        for j in 0..c {
            out[b.index(i, j).unwrap()] = Some(scaled::<T>(alpha, op[i * c + j]));
        }
    }
    let want = out.iter().enumerate().filter_map(|(x, w)| w.map(|w| (x, w)));
    p.bufs[a.buf].want = want.collect();
    p.trans(trans).int(m).int(n).scalar(alpha);
    p.buf(a.buf).ld(&a).ld(&b);
    p
}

/// Three real products instead of four: the bound holds for the modulus, not
/// for each part, with a somewhat larger constant.
fn gemm3m<T: Scalar>(g: &mut Draw) -> Problem<T> {
    gemm_like(g, "gemm3m", 6.0)
}

/// One triangle of a product.
fn gemmt_like<T: Scalar>(g: &mut Draw, base: &str) -> Problem<T> {
    let (uplo, ta, tb) = (g.uplo(), g.trans(), g.trans());
    let (n, k) = (g.dim(), g.dim());
    let (alpha, beta) = (g.coef::<T>(), g.coef::<T>());
    let mut p = Problem::new(named::<T>(base), Some(g.order));
    let (ar, ac) = if ta == b'N' { (n, k) } else { (k, n) };
    let (br, bc) = if tb == b'N' { (k, n) } else { (n, k) };
    let a = p.general(g, ar, ac);
    let b = p.general(g, br, bc);
    let c = p.operand(g, n, n, Kind::Triangular(uplo, b'N'), Shape::Full);
    p.expect_product(&c, k, alpha, &a.op(ta), &b.op(tb), beta, 1.0);
    if alpha.is_zero() || k == 0 || n == 0 {
        p.forbid(a.buf);
        p.forbid(b.buf);
    }
    p.uplo(uplo).trans(ta).trans(tb).int(n).int(k).scalar(alpha);
    p.buf(a.buf).ld(&a).buf(b.buf).ld(&b);
    p.scalar(beta).buf(c.buf).ld(&c);
    p
}

fn gemmt<T: Scalar>(g: &mut Draw) -> Problem<T> {
    gemmt_like(g, "gemmt")
}

fn gemmtr<T: Scalar>(g: &mut Draw) -> Problem<T> {
    gemmt_like(g, "gemmtr")
}

/// Groups of equal products, with an empty group among them.
fn gemm_batch<T: Scalar>(g: &mut Draw) -> Problem<T> {
    let mut p = Problem::new(named::<T>("gemm_batch"), Some(g.order));
    let groups = g.rng.range(1, 3);
    let (mut tas, mut tbs) = (Vec::new(), Vec::new());
    let mut ints: [Vec<i64>; 7] = Default::default();
    let (mut alphas, mut betas) = (Vec::new(), Vec::new());
    let mut bufs: [Vec<usize>; 3] = Default::default();
    for _ in 0..groups {
        let (ta, tb) = (g.rng.pick(b"NTC"), g.rng.pick(b"NTC"));
        let (m, n, k) = (g.dim(), g.dim(), g.dim());
        let (alpha, beta) = (g.coef::<T>(), g.coef::<T>());
        let count = g.rng.range(0, 3);
        let mut lds = [0; 3];
        for i in 0..count.max(1) {
            let (mut a, mut b, mut c) = gemm_operands(g, &mut p, ta, tb, m, n, k);
            if i == 0 {
                lds = [a.ld, b.ld, c.ld];
            }
            if i > 0 {
                // A group shares its leading dimensions: lay out again.
                for (o, ld) in [(&mut a, lds[0]), (&mut b, lds[1]), (&mut c, lds[2])] {
                    p.relay(o, ld);
                }
            }
            if count == 0 {
                continue;
            }
            p.expect_product(&c, k, alpha, &a.op(ta), &b.op(tb), beta, 1.0);
            if alpha.is_zero() || k == 0 || m == 0 || n == 0 {
                p.forbid(a.buf);
                p.forbid(b.buf);
            }
            for (v, o) in bufs.iter_mut().zip([&a, &b, &c]) {
                v.push(o.buf);
            }
        }
        tas.push(ta);
        tbs.push(tb);
        alphas.push(alpha);
        betas.push(beta);
        let row = [m, n, k, lds[0], lds[1], lds[2], count];
        for (v, x) in ints.iter_mut().zip(row) {
            v.push(x as i64);
        }
    }
    let [m, n, k, lda, ldb, ldc, count] = ints;
    let [a, b, c] = bufs;
    p.args = vec![
        Arg::TransArray(tas),
        Arg::TransArray(tbs),
        Arg::IntArray(m),
        Arg::IntArray(n),
        Arg::IntArray(k),
        Arg::ScalarArray(alphas),
        Arg::BufArray(a),
        Arg::IntArray(lda),
        Arg::BufArray(b),
        Arg::IntArray(ldb),
        Arg::ScalarArray(betas),
        Arg::BufArray(c),
        Arg::IntArray(ldc),
        Arg::Int(groups as i64),
        Arg::IntArray(count),
    ];
    p
}

/// Equal products at equal distances.
fn gemm_batch_strided<T: Scalar>(g: &mut Draw) -> Problem<T> {
    let (ta, tb) = (g.trans(), g.trans());
    let (m, n, k) = (g.dim(), g.dim(), g.dim());
    let (alpha, beta) = (g.coef::<T>(), g.coef::<T>());
    let count = g.rng.range(0, 4);
    let mut p = Problem::new(named::<T>("gemm_batch_strided"), Some(g.order));
    // Each product is drawn on its own, then all are put into three buffers.
    let mut single = Problem::<T>::new("", Some(g.order));
    let mut strides = [0; 3];
    let mut lds = [0; 3];
    let ids = [p.alloc(0), p.alloc(0), p.alloc(0)];
    for i in 0..count {
        let (mut a, mut b, mut c) = gemm_operands(g, &mut single, ta, tb, m, n, k);
        if i == 0 {
            lds = [a.ld, b.ld, c.ld];
            for (s, o) in strides.iter_mut().zip([&a, &b, &c]) {
                let outer = if g.order == Order::Col { o.cols } else { o.rows };
                *s = o.ld * outer + g.rng.below(5);
            }
        }
        for (o, ld) in [(&mut a, lds[0]), (&mut b, lds[1]), (&mut c, lds[2])] {
            single.relay(o, ld);
        }
        single.expect_product(&c, k, alpha, &a.op(ta), &b.op(tb), beta, 1.0);
        for x in 0..3 {
            let from = &single.bufs[[a.buf, b.buf, c.buf][x]];
            let at = i * strides[x];
            let to = &mut p.bufs[ids[x]];
            if !from.data.is_empty() {
                to.data.resize(at, T::poison());
                to.data.extend(&from.data);
            }
            to.want.extend(from.want.iter().map(|&(e, w)| (at + e, w)));
        }
    }
    if count == 0 {
        lds = [m.max(n).max(k).max(1); 3];
    }
    // The least leading dimension that is legal.
    let col = g.order == Order::Col;
    let least = |rows: usize, cols: usize| (if col { rows } else { cols }).max(1) as i64;
    let (la, lb) =
        (if ta == b'N' { least(m, k) } else { least(k, m) }, if tb == b'N' { least(k, n) } else { least(n, k) });
    let ld = |x: usize, min: i64| Arg::Ld(lds[x] as i64, min);
    if alpha.is_zero() || m == 0 || n == 0 || k == 0 || count == 0 {
        p.forbid(ids[0]);
        p.forbid(ids[1]);
    }
    p.trans(ta).trans(tb).int(m).int(n).int(k).scalar(alpha);
    p.buf(ids[0]).args.push(ld(0, la));
    p.int(strides[0]).buf(ids[1]).args.push(ld(1, lb));
    p.int(strides[1]).scalar(beta).buf(ids[2]).args.push(ld(2, least(m, n)));
    p.int(strides[2]).int(count);
    p
}
