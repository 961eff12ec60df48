//! Level 1, on vectors whose increments may be of either sign or zero.
//!
//! Where an output has increment zero the routine works on one element again
//! and again; the reference then walks through the same steps in order.

use super::{Routine, named, routines};
use crate::draw::{Draw, Operand};
use crate::problem::{Problem, RetWant, Returns, SLACK, Want};
use crate::scalar::{Scalar, Z, product};

pub fn table<T: Scalar>() -> Vec<Routine<T>> {
    routines!(T:
        both { swap, copy, scal, axpy, nrm2, asum, iamax, rot }
        real { dot, rotm }
        complex { dotu, dotc, real_scal })
}

/// n, x, y: increments of any kind; few elements when one is zero.
fn pair<T: Scalar>(g: &mut Draw, p: &mut Problem<T>) -> (usize, Operand, Operand) {
    let (incx, incy) = (g.any_inc(), g.any_inc());
    let n = if incx == 0 || incy == 0 { g.rng.range(0, 5) } else { g.length() };
    let x = p.vector(g, n, incx);
    let y = p.vector(g, n, incy);
    (n, x, y)
}

/// A buffer of the reference: values and accumulated error bounds.
struct Walk {
    value: Vec<Z>,
    tol: Vec<f64>,
}

impl Walk {
    fn new<T: Scalar>(p: &Problem<T>, a: &Operand) -> Walk {
        let value: Vec<Z> = p.bufs[a.buf].data.iter().map(|v| v.z()).collect();
        let tol = vec![0.0; value.len()];
        Walk { value, tol }
    }

    fn expect<T: Scalar>(self, p: &mut Problem<T>, a: &Operand) {
        let mut seen = vec![false; self.value.len()];
        for i in 0..a.rows {
            let x = a.index(i, 0).unwrap();
            if !std::mem::replace(&mut seen[x], true) {
                p.bufs[a.buf].want.push((x, Want::Near(self.value[x], self.tol[x])));
            }
        }
    }
}

fn swap<T: Scalar>(g: &mut Draw) -> Problem<T> {
    let mut p = Problem::new(named::<T>("swap"), None);
    let (n, x, y) = pair(g, &mut p);
    let (mut wx, mut wy) = (Walk::new(&p, &x), Walk::new(&p, &y));
    for i in 0..n {
        let (a, b) = (x.index(i, 0).unwrap(), y.index(i, 0).unwrap());
        std::mem::swap(&mut wx.value[a], &mut wy.value[b]);
    }
    wx.expect(&mut p, &x);
    wy.expect(&mut p, &y);
    p.int(n).buf(x.buf).inc(x.inc()).buf(y.buf).inc(y.inc());
    p
}

fn copy<T: Scalar>(g: &mut Draw) -> Problem<T> {
    let mut p = Problem::new(named::<T>("copy"), None);
    let (n, x, y) = pair(g, &mut p);
    let mut wy = Walk::new(&p, &y);
    for i in 0..n {
        wy.value[y.index(i, 0).unwrap()] = x.at(i, 0);
    }
    wy.expect(&mut p, &y);
    p.clobber(&y);
    p.int(n).buf(x.buf).inc(x.inc()).buf(y.buf).inc(y.inc());
    p
}

fn scal_by<T: Scalar>(g: &mut Draw, routine: String, real: bool) -> Problem<T> {
    let mut p = Problem::new(routine, None);
    let n = g.length();
    let incx = g.any_inc();
    let alpha = if real { Z::real(g.real_coef::<T>()) } else { g.coef::<T>() };
    let x = p.vector(g, n, incx);
    // An increment that is not positive means: do nothing.
    if incx > 0 {
        for i in 0..n {
            let v = alpha * x.at(i, 0);
            let tol = 4.0 * T::EPS * alpha.abs() * x.at(i, 0).abs();
            p.want(&x, i, 0, Want::Near(v, tol));
        }
    }
    p.int(n);
    if real {
        p.real(alpha.re);
    } else {
        p.scalar(alpha);
    }
    p.buf(x.buf).inc(incx);
    p
}

fn scal<T: Scalar>(g: &mut Draw) -> Problem<T> {
    scal_by(g, named::<T>("scal"), false)
}

fn real_scal<T: Scalar>(g: &mut Draw) -> Problem<T> {
    scal_by(g, format!("{}scal", T::mixed_prefix()), true)
}

pub(super) fn axpy_like<T: Scalar>(g: &mut Draw, base: &str, conj: bool) -> Problem<T> {
    let mut p = Problem::new(named::<T>(base), None);
    let (n, x, y) = pair(g, &mut p);
    let alpha = g.coef::<T>();
    if alpha.is_zero() || n == 0 {
        p.forbid(x.buf);
    } else {
        let mut w = Walk::new(&p, &y);
        for i in 0..n {
            let at = y.index(i, 0).unwrap();
            let v = if conj { x.at(i, 0).conj() } else { x.at(i, 0) };
            let old = w.value[at];
            w.value[at] = old + alpha * v;
            w.tol[at] += 4.0 * T::EPS * (alpha.abs() * v.abs() + old.abs());
        }
        w.expect(&mut p, &y);
    }
    p.int(n).scalar(alpha).buf(x.buf).inc(x.inc()).buf(y.buf).inc(y.inc());
    p
}

fn axpy<T: Scalar>(g: &mut Draw) -> Problem<T> {
    axpy_like(g, "axpy", false)
}

fn dot_like<T: Scalar>(g: &mut Draw, base: &str, trans: u8) -> Problem<T> {
    let mut p = Problem::new(named::<T>(base), None);
    let (n, x, y) = pair(g, &mut p);
    let d = product::<T>(1, 1, n, &x.op(trans), &y.full);
    let tol = (n as f64 * (1.0 + d.own) + SLACK) * T::EPS * d.size[0];
    p.returns = if T::COMPLEX { Returns::Complex } else { Returns::Real };
    p.ret_want = RetWant::Near(d.value[0], tol);
    p.int(n).buf(x.buf).inc(x.inc()).buf(y.buf).inc(y.inc());
    p
}

fn dot<T: Scalar>(g: &mut Draw) -> Problem<T> {
    dot_like(g, "dot", b'T')
}
fn dotu<T: Scalar>(g: &mut Draw) -> Problem<T> {
    dot_like(g, "dotu", b'T')
}
fn dotc<T: Scalar>(g: &mut Draw) -> Problem<T> {
    dot_like(g, "dotc", b'C')
}

/// A routine of one vector that returns something.
pub(super) fn reduce<T: Scalar>(
    g: &mut Draw,
    routine: String,
    returns: Returns,
    f: fn(&[Z], f64) -> RetWant,
) -> Problem<T> {
    let mut p = Problem::new(routine, None);
    let n = g.length();
    let incx = g.any_inc();
    let x = p.vector(g, n, incx);
    p.returns = returns;
    // An increment that is not positive means: an empty vector.
    let empty: &[Z] = &[];
    p.ret_want = f(if incx > 0 { &x.full } else { empty }, T::EPS);
    p.int(n).buf(x.buf).inc(incx);
    p
}

pub(super) fn asum_want(x: &[Z], eps: f64) -> RetWant {
    let s: f64 = x.iter().map(|z| z.abs1()).sum();
    RetWant::Near(Z::real(s), (2.0 * x.len() as f64 + SLACK) * eps * s)
}

fn asum<T: Scalar>(g: &mut Draw) -> Problem<T> {
    let name = format!("{}asum", T::real_prefix());
    reduce(g, name, Returns::Real, asum_want)
}

/// nrm2 takes any increment (Reference BLAS from 3.10 on), and values whose
/// squares overflow or underflow.
fn nrm2<T: Scalar>(g: &mut Draw) -> Problem<T> {
    let mut p = Problem::<T>::new(format!("{}nrm2", T::real_prefix()), None);
    let n = g.length();
    let incx = g.any_inc();
    let mut x = p.vector(g, n, incx);
    let scale = g.rng.pick(&[1.0, 1.0, T::HUGE, 1.0 / T::HUGE]);
    for v in &mut p.bufs[x.buf].data {
        *v = T::new(Z::new(v.z().re * scale, v.z().im * scale));
    }
    for i in 0..n {
        x.full[i] = p.bufs[x.buf].data[x.index(i, 0).unwrap()].z();
    }
    let s: f64 = x.full.iter().map(|z| (z.re / scale).powi(2) + (z.im / scale).powi(2)).sum();
    let norm = s.sqrt() * scale;
    p.returns = Returns::Real;
    p.ret_want = RetWant::Near(Z::real(norm), (n as f64 + SLACK) * T::EPS * norm);
    p.int(n).buf(x.buf).inc(incx);
    p
}

/// The first element whose size beats all before it (1-based, 0 = none).
pub(super) fn first_best(sizes: &[f64], better: fn(f64, f64) -> bool) -> RetWant {
    let mut best = 0;
    for i in 1..sizes.len() {
        if better(sizes[i], sizes[best]) {
            best = i;
        }
    }
    RetWant::Index(if sizes.is_empty() { 0 } else { best as i64 + 1 })
}

/// Values with many ties, so that "the first" means something.
pub(super) fn with_ties<T: Scalar>(
    g: &mut Draw,
    routine: String,
    returns: Returns,
    f: impl Fn(&[Z]) -> RetWant,
) -> Problem<T> {
    let mut p = Problem::new(routine, None);
    let n = g.length();
    let incx = g.any_inc();
    let mut x = p.vector(g, n, incx);
    if g.rng.below(2) == 0 {
        for i in 0..n {
            let part = |g: &mut Draw| g.rng.below(9) as f64 - 4.0;
            let v = T::round(Z::new(part(g), part(g)));
            p.bufs[x.buf].data[x.index(i, 0).unwrap()] = T::new(v);
            x.full[i] = v;
        }
    }
    p.returns = returns;
    p.ret_want = f(if incx > 0 { &x.full } else { &[] });
    p.int(n).buf(x.buf).inc(incx);
    p
}

/// |re| + |im| as the type itself rounds it: decides between near ties.
pub(super) fn sizes<T: Scalar>(x: &[Z]) -> Vec<f64> {
    x.iter().map(|z| <T::Real as Scalar>::round(Z::real(z.abs1())).re).collect()
}

fn iamax<T: Scalar>(g: &mut Draw) -> Problem<T> {
    with_ties(g, format!("i{}amax", T::LETTER), Returns::Index, |x| first_best(&sizes::<T>(x), |a, b| a > b))
}

/// Plane rotation with real cosine and sine.
fn rot<T: Scalar>(g: &mut Draw) -> Problem<T> {
    let mut p = Problem::new(format!("{}rot", T::mixed_prefix()), None);
    let (n, x, y) = pair(g, &mut p);
    let (c, s) = match g.rng.below(6) {
        0 => (1.0, 0.0),
        1 => (0.0, 1.0),
        2 => (0.0, 0.0),
        _ => {
            let t = g.rng.real() * 3.0;
            let r = |v: f64| <T::Real as Scalar>::round(Z::real(v)).re;
            (r(t.cos()), r(t.sin()))
        }
    };
    let (mut wx, mut wy) = (Walk::new(&p, &x), Walk::new(&p, &y));
    for i in 0..n {
        let (a, b) = (x.index(i, 0).unwrap(), y.index(i, 0).unwrap());
        let (u, v) = (wx.value[a], wy.value[b]);
        let (zc, zs) = (Z::real(c), Z::real(s));
        wx.value[a] = zc * u + zs * v;
        wy.value[b] = zc * v - zs * u;
        let carried = wx.tol[a] + wy.tol[b];
        let tol = 4.0 * T::EPS * (u.abs() + v.abs()) + carried;
        wx.tol[a] = tol;
        wy.tol[b] = tol;
    }
    wx.expect(&mut p, &x);
    wy.expect(&mut p, &y);
    p.int(n).buf(x.buf).inc(x.inc()).buf(y.buf).inc(y.inc()).real(c).real(s);
    p
}

/// Modified rotation in each of its four forms.
fn rotm<T: Scalar>(g: &mut Draw) -> Problem<T> {
    let flag = [-2.0, -1.0, 0.0, 1.0][g.option(&[0, 1, 2, 3]) as usize];
    let mut p = Problem::new(named::<T>("rotm"), None);
    let (n, x, y) = pair(g, &mut p);
    let h: Vec<f64> = (0..4).map(|_| g.rng.value::<T>().re).collect();
    // h11 h21 h12 h22; what the flag implies is not read: NaN in memory.
    let (read, h) = match flag {
        -1.0 => ([true; 4], [h[0], h[1], h[2], h[3]]),
        0.0 => ([false, true, true, false], [1.0, h[1], h[2], 1.0]),
        1.0 => ([true, false, false, true], [h[0], -1.0, 1.0, h[3]]),
        _ => ([false; 4], [1.0, 0.0, 0.0, 1.0]),
    };
    let param = p.alloc(5);
    p.bufs[param].data[0] = T::new(Z::real(flag));
    for i in 0..4 {
        if read[i] {
            p.bufs[param].data[i + 1] = T::new(Z::real(h[i]));
        }
    }
    if flag != -2.0 {
        let (mut wx, mut wy) = (Walk::new(&p, &x), Walk::new(&p, &y));
        for i in 0..n {
            let (a, b) = (x.index(i, 0).unwrap(), y.index(i, 0).unwrap());
            let (u, v) = (wx.value[a].re, wy.value[b].re);
            let carried = 2.0 * (wx.tol[a] + wy.tol[b]);
            wx.value[a] = Z::real(h[0] * u + h[2] * v);
            wy.value[b] = Z::real(h[1] * u + h[3] * v);
            let tol = 4.0 * T::EPS * (u.abs() + v.abs()) + carried;
            wx.tol[a] = tol;
            wy.tol[b] = tol;
        }
        wx.expect(&mut p, &x);
        wy.expect(&mut p, &y);
    }
    p.int(n).buf(x.buf).inc(x.inc()).buf(y.buf).inc(y.inc()).buf(param);
    p
}
