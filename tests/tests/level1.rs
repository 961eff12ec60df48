//! Level 1: every routine, every combination of options, every entry point,
//! against the reference, between guard pages. The generators are in
//! `src/routines/level1.rs`.

use corten_tests::draw::Size;
use corten_tests::for_types;
use corten_tests::routines::level1::table;
use corten_tests::scalar::Scalar;
use corten_tests::suite::{cases, check_table};

fn usual<T: Scalar>() {
    check_table(&table::<T>(), Size::Usual, cases())
}

fn large<T: Scalar>() {
    check_table(&table::<T>(), Size::Large, 1)
}

for_types!(usual_sizes => usual, large_sizes => large);

/// The routines whose form fits no table: rotations to be made, mixed
/// precision, the size of one complex number.
mod apart {
    use corten_tests::draw::{Draw, Size};
    use corten_tests::for_types;
    use corten_tests::library::{Api, invoke, lib};
    use corten_tests::problem::Order;
    use corten_tests::problem::{Layout, Problem, RetWant, Returns, SLACK};
    use corten_tests::rng::Rng;
    use corten_tests::scalar::{Cplx, Scalar, Z};

    /// dsdot and sdsdot: f32 vectors, the sum in f64.
    #[test]
    fn dot_in_double() {
        for case in 0..200 {
            for single in [false, true] {
                let mut g = Draw::new(case, Order::Col, Size::Usual, 0);
                let (n, incx, incy) = (g.length(), g.any_inc(), g.any_inc());
                let mut p = Problem::<f32>::new(if single { "sdsdot" } else { "dsdot" }, None);
                let x = p.vector(&mut g, n, incx);
                let y = p.vector(&mut g, n, incy);
                let sb = g.rng.value::<f32>().re;
                let terms: Vec<f64> = (0..n).map(|i| x.at(i, 0).re * y.at(i, 0).re).collect();
                let size: f64 = terms.iter().map(|t| t.abs()).sum();
                let sum: f64 = terms.iter().sum();
                p.int(n);
                if single {
                    p.scalar(Z::real(sb));
                }
                p.buf(x.buf).inc(incx).buf(y.buf).inc(incy);
                let double = (n as f64 + SLACK) * f64::EPSILON * (size + sb.abs());
                (p.returns, p.ret_want) = if single {
                    let v = sum + sb;
                    (Returns::Real, RetWant::Near(Z::real(v), double + f32::EPSILON as f64 * v.abs()))
                } else {
                    (Returns::Double, RetWant::Near(Z::real(sum), double))
                };
                for api in p.apis() {
                    let out = p.run(api, Layout::Guards(case));
                    p.check(api, &out).unwrap_or_else(|e| panic!("{} {api:?}: {e}", p.describe()));
                }
            }
        }
    }

    #[test]
    fn cabs1() {
        for (re, im) in [(3.0f32, -4.0f32), (0.0, 0.0), (-1.5, 0.25), (f32::INFINITY, 1.0)] {
            let want = re.abs() + im.abs();
            let s = Cplx { re, im };
            let d = Cplx { re: re as f64, im: im as f64 };
            // SAFETY: one pointer to a complex number; a real number comes back.
            unsafe {
                let f = lib().symbol("scabs1_");
                assert_eq!(invoke::<f32>(f, &[&raw const s as usize], &[]), want);
                let f = lib().symbol("dcabs1_");
                assert_eq!(invoke::<f64>(f, &[&raw const d as usize], &[]), want as f64);
            }
        }
    }

    fn real_rotg<T: Scalar>(api: Api, a: f64, b: f64) -> [f64; 4] {
        let r = |x: f64| T::new(Z::real(x));
        let mut v = [r(a), r(b), T::poison(), T::poison()];
        let base = v.as_mut_ptr() as usize;
        let at = |i: usize| base + i * size_of::<T>();
        let f = lib().symbol(&api.name(&format!("{}rotg", T::LETTER)));
        // SAFETY: four pointers, in both forms.
        unsafe { invoke::<()>(f, &[at(0), at(1), at(2), at(3)], &[]) };
        std::hint::black_box(v).map(|x| x.z().re)
    }

    fn rotg<T: Scalar>() {
        if T::COMPLEX {
            return complex_rotg::<T>();
        }
        let eps = T::EPS;
        for &api in Api::tested() {
            // a, b -> r, z, c, s as published (r takes the sign of the larger).
            for (a, b, want) in [
                (3.0, 4.0, [5.0, 1.0 / 0.6, 0.6, 0.8]),
                (4.0, 3.0, [5.0, 0.6, 0.8, 0.6]),
                (-3.0, 4.0, [5.0, -1.0 / 0.6, -0.6, 0.8]),
                (3.0, -4.0, [-5.0, -1.0 / 0.6, -0.6, 0.8]),
                (-4.0, -3.0, [-5.0, 0.6, 0.8, 0.6]),
                (0.0, 0.0, [0.0, 0.0, 1.0, 0.0]),
                (2.0, 0.0, [2.0, 0.0, 1.0, 0.0]),
                (0.0, 2.0, [2.0, 1.0, 0.0, 1.0]),
            ] {
                let got = real_rotg::<T>(api, a, b);
                for i in 0..4 {
                    let tol = 4.0 * eps * f64::abs(want[i]);
                    assert!((got[i] - want[i]).abs() <= tol, "{api:?} rotg({a}, {b}) = {got:?}, want {want:?}");
                }
            }
            // No overflow and no underflow on the way.
            for scale in [T::HUGE, 1.0 / T::HUGE] {
                let got = real_rotg::<T>(api, 3.0 * scale, 4.0 * scale);
                assert!((got[0] / scale - 5.0).abs() < 20.0 * eps, "{api:?} r at scale {scale}: {got:?}");
                assert!((got[2] - 0.6).abs() < 4.0 * eps && (got[3] - 0.8).abs() < 4.0 * eps, "{got:?}");
            }
            let mut rng = Rng::new(5);
            for _ in 0..500 {
                let (a, b) = (rng.value::<T>().re, rng.value::<T>().re);
                let [r, z, c, s] = real_rotg::<T>(api, a, b);
                assert!((c * a + s * b - r).abs() < 8.0 * eps, "r of ({a}, {b})");
                assert!((c * b - s * a).abs() < 8.0 * eps, "zero of ({a}, {b})");
                assert!((c * c + s * s - 1.0).abs() < 8.0 * eps, "norm of ({a}, {b})");
                let want = if a.abs() > b.abs() { s } else { 1.0 / c };
                assert!((z - want).abs() <= 8.0 * eps * want.abs(), "z of ({a}, {b}): {z}, {want}");
            }
        }
    }

    fn complex_rotg<T: Scalar>() {
        let eps = T::EPS;
        let mut rng = Rng::new(6);
        for &api in Api::tested() {
            for case in 0..300 {
                let zero = |z: Z, yes: bool| if yes { Z::ZERO } else { z };
                let a = zero(rng.value::<T>(), case % 7 == 3 || case % 11 == 5);
                let b = zero(rng.value::<T>(), case % 5 == 2 || case % 11 == 5);
                let scale = [1.0, T::HUGE, 1.0 / T::HUGE][case % 3];
                let round = |z: Z| T::new(Z::new(z.re * scale, z.im * scale));
                let (ra, rb) = (round(a), round(b));
                let mut v = [ra, rb, T::poison()];
                let mut c = T::Real::poison();
                let base = v.as_mut_ptr() as usize;
                let size = size_of::<T>();
                let f = lib().symbol(&api.name(&format!("{}rotg", T::LETTER)));
                // SAFETY: a, b, c (real), s by pointer, in both forms.
                unsafe { invoke::<()>(f, &[base, base + size, &raw mut c as usize, base + 2 * size], &[]) };
                let (v, c) = (std::hint::black_box(v), std::hint::black_box(c).z().re);
                let back = |z: Z| Z::new(z.re / scale, z.im / scale);
                let (a, b, r, s) = (back(ra.z()), back(rb.z()), back(v[0].z()), v[2].z());
                let at = format!("{api:?} rotg({a:?}, {b:?}) at scale {scale}: r {r:?} c {c} s {s:?}");
                let tol = 16.0 * eps;
                assert!((Z::real(c) * a + s * b - r).abs() <= tol, "r: {at}");
                assert!((Z::real(c) * b - s.conj() * a).abs() <= tol, "zero: {at}");
                assert!((c * c + s.abs() * s.abs() - 1.0).abs() <= tol, "norm: {at}");
                assert!(v[1].z() == rb.z(), "b must stay: {at}");
            }
        }
    }

    /// rotmg is judged by what defines it: H^T D' H = D, and H (x, y) = (x', 0).
    fn rotmg<T: Scalar>() {
        if T::COMPLEX {
            return;
        }
        let mut rng = Rng::new(7);
        let eps = T::EPS;
        let r = |x: f64| T::round(Z::real(x)).re;
        for &api in Api::tested() {
            for case in 0..600 {
                // Weights far from 1 drive the scaling loops, both ways.
                let power = |rng: &mut Rng| 2f64.powi(rng.range(0, 80) as i32 - 40);
                let wide = case % 2 == 1;
                let mut d = [rng.real().abs(), rng.real().abs()];
                let mut xy = [rng.real(), rng.real()];
                if wide {
                    d = [d[0] * power(&mut rng), d[1] * power(&mut rng)];
                }
                match case % 12 {
                    4 => d[0] = -d[0],
                    6 => d[1] = -d[1],
                    8 => xy[1] = 0.0,
                    10 => d[0] = 0.0,
                    11 => xy[0] = 0.0,
                    _ => {}
                }
                let (d, xy) = (d.map(r), xy.map(r));
                let mut p = Problem::<T>::new(format!("{}rotmg", T::LETTER), None);
                let bufs: Vec<usize> = [1, 1, 1, 5].iter().map(|&n| p.alloc(n)).collect();
                for (i, v) in [d[0], d[1], xy[0]].into_iter().enumerate() {
                    p.bufs[bufs[i]].data[0] = T::new(Z::real(v));
                }
                p.buf(bufs[0]).buf(bufs[1]).buf(bufs[2]).real(xy[1]).buf(bufs[3]);
                let out = p.run(api, Layout::Guards(case));
                let at = format!("{api:?} rotmg(d {d:?}, x {xy:?}): {:?}", out.bufs);
                let got = |b: usize, i: usize| out.bufs[b][i].z().re;
                let untouched = |i: usize| corten_tests::scalar::same_bits(&out.bufs[3][i..=i], &[T::poison()]);
                let (d1, d2, x1, flag) = (got(0, 0), got(1, 0), got(2, 0), got(3, 0));
                if d[1] * xy[1] == 0.0 && d[0] >= 0.0 {
                    assert!(flag == -2.0 && (1..5).all(untouched), "{at}");
                    assert!(d1 == d[0] && d2 == d[1] && x1 == xy[0], "{at}");
                    continue;
                }
                let h = match flag {
                    -1.0 => [got(3, 1), got(3, 2), got(3, 3), got(3, 4)],
                    0.0 => {
                        assert!(untouched(1) && untouched(4), "{at}");
                        [1.0, got(3, 2), got(3, 3), 1.0]
                    }
                    1.0 => {
                        assert!(untouched(2) && untouched(3), "{at}");
                        [got(3, 1), -1.0, 1.0, got(3, 4)]
                    }
                    _ => panic!("flag: {at}"),
                };
                let total = d[0] * xy[0] * xy[0] + d[1] * xy[1] * xy[1];
                if d[0] < 0.0 || (d[1] < 0.0 && (d[0] * xy[0] * xy[0]) <= -(d[1] * xy[1] * xy[1])) {
                    // No such rotation: everything is zero.
                    assert!(flag == -1.0 && h == [0.0; 4] && d1 == 0.0 && d2 == 0.0 && x1 == 0.0, "{at}");
                    continue;
                }
                assert!(total > 0.0);
                let [h11, h21, h12, h22] = h;
                let close = |g: f64, w: f64, size: f64| (g - w).abs() <= 40.0 * eps * size.abs();
                assert!(
                    close(h11 * xy[0] + h12 * xy[1], x1, h11.abs() * xy[0].abs() + h12.abs() * xy[1].abs()),
                    "x: {at}"
                );
                let (u, v) = (h21 * xy[0], h22 * xy[1]);
                assert!(close(u + v, 0.0, u.abs() + v.abs()), "zero: {at}");
                for (i, (a, b)) in [(h11, h21), (h12, h22)].into_iter().enumerate() {
                    let (u, v) = (d1 * a * a, d2 * b * b);
                    assert!(close(u + v, d[i], u.abs() + v.abs()), "weight {i}: {at}");
                }
                let (u, v) = (d1 * h11 * h12, d2 * h21 * h22);
                assert!(close(u + v, 0.0, u.abs() + v.abs()), "orthogonal: {at}");
                // Weights come out near 1 if they had to be rescaled.
                let near_one = |w: f64| w == 0.0 || (w.abs() > 1.0 / 16777216.0 && w.abs() < 16777216.0);
                assert!(near_one(d1) && near_one(d2), "scaling: {at}");
            }
        }
    }

    for_types!(make_rotation => rotg, make_modified_rotation => rotmg);
}

/// Vectors so long that threads share them: the first of the largest counts, in whatever piece it stands, and NaN is not
/// larger than anything unless it stands first.
#[test]
fn iamax_of_long_vectors() {
    use corten_tests::func;
    let threads = func!(corten_set_num_threads_local: fn(i32) -> i32);
    let idamax = func!(idamax_: fn(*const i32, *const f64, *const i32) -> i32);
    let find = |x: &[f64]| -> i32 {
        let answers = [1, 4].map(|count| {
            // SAFETY: a vector of the length said.
            unsafe {
                threads(count);
                let at = idamax(&(x.len() as i32), x.as_ptr(), &1);
                threads(0);
                at
            }
        });
        assert_eq!(answers[0], answers[1], "one thread and four");
        answers[0]
    };
    let n = 300_001;
    for at in [0, 1, 32_767, 32_768, 65_535, 150_000, n - 1] {
        let mut x: Vec<f64> = (0..n).map(|i| ((i * 7919) % 1000) as f64 - 500.0).collect();
        (x[at], x[n - 1]) = (-9999.0, 9999.0);
        assert_eq!(find(&x), at as i32 + 1);
        // Pieces that begin with NaN, or have nothing else.
        for i in (32_768..98_304).filter(|&i| i != at) {
            x[i] = f64::NAN;
        }
        let first = x.iter().position(|v| v.abs() == 9999.0).unwrap() as i32 + 1;
        assert_eq!(find(&x), first);
        x[0] = f64::NAN;
        assert_eq!(find(&x), 1);
    }
}
