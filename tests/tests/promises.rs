//! The promises of the design, one test each (or more), by their numbers.
//! Others of them have files of their own: threads.rs (1), errors.rs (4),
//! abi.rs (5); the level tests are promise 7 for every routine.

use corten_tests::draw::{Draw, Size};
use corten_tests::for_types;
use corten_tests::library::{Api, invoke, lib};
use corten_tests::problem::{Arg, Layout, Order, Problem, Want};
use corten_tests::process::while_in;
use corten_tests::rng::Rng;
use corten_tests::routines;
use corten_tests::scalar::{Cplx, Scalar, Z};
use corten_tests::suite::{check_one, combos, make_bits, make_plain};

/// Promise 1: the same bits at every alignment (by element) of all operands.
fn p1<T: Scalar>() {
    for r in routines::all::<T>() {
        for (case, size) in [Size::Usual, Size::Usual, Size::Usual, Size::Large].into_iter().enumerate() {
            let p = make_bits(&r, 77 + case as u64, size, 5 * case as u64 + 1);
            let api = p.apis()[0];
            let what = p.describe();
            while_in(&what, || {
                let first = p.run(api, Layout::Offset(0));
                let offsets: &[usize] = if size == Size::Large { &[1, 7] } else { &[1, 2, 3, 4, 5, 7, 8, 13, 16] };
                for &o in offsets {
                    let out = p.run(api, Layout::Offset(o));
                    assert!(first.same_bits(&out), "{what}: other bits at offset {o}");
                }
                let out = p.run(api, Layout::Guards(9));
                assert!(first.same_bits(&out), "{what}: other bits at the end of a page");
            });
        }
    }
}

/// Promise 2: beta = 0 overwrites NaN; alpha = 0 touches neither A nor B
/// (they have no memory here).
fn p2<T: Scalar>() {
    let nan = Z::real(f64::NAN);
    let (zero, one, half) = (Z::ZERO, Z::ONE, Z::real(0.5));
    for r in routines::all::<T>() {
        let pairs = [(zero, zero), (zero, one), (zero, half), (one, zero), (half, zero), (zero, nan), (nan, zero)];
        for (i, (alpha, beta)) in pairs.into_iter().enumerate() {
            for size in [Size::Usual, Size::Usual, Size::Few] {
                for order in [Order::Col, Order::Row] {
                    let seed = 1000 * i as u64 + size as u64;
                    let mut d = Draw::new(seed, order, size, 3 * i as u64);
                    d.preset = [alpha, beta].into();
                    let p = (r.make)(&mut d);
                    let apis = p.apis();
                    check_one(&p, apis[i % apis.len()], seed);
                }
            }
        }
    }
}

/// Promise 2: Inf and NaN go where arithmetic takes them, and nowhere else.
fn p2_gemm_inf<T: Scalar>() {
    let gemm = &routines::level3::table::<T>()[0];
    assert_eq!(gemm.name, "gemm");
    for size in [Size::Tiny, Size::Few, Size::Usual, Size::Large] {
        for combo in 0..9 {
            for seed in 0..4 {
                let mut p = make_plain(gemm, seed, size, combo);
                // Which row of op(A) an element of A's buffer belongs to.
                let (ta, ints): (u8, Vec<usize>) = match (&p.args[0], &p.args[2..5]) {
                    (Arg::Trans(t), [Arg::Int(m), Arg::Int(n), Arg::Int(k)]) => {
                        (*t, vec![*m as usize, *n as usize, *k as usize])
                    }
                    _ => unreachable!(),
                };
                let (m, n, k) = (ints[0], ints[1], ints[2]);
                let (Arg::Ld(lda, _), Arg::Ld(ldc, _)) = (&p.args[7], &p.args[12]) else { unreachable!() };
                let (lda, ldc) = (*lda as usize, *ldc as usize);
                if m == 0 || n == 0 || k == 0 {
                    continue;
                }
                let mut rng = Rng::new(seed);
                let (i0, i1) = (rng.below(m), rng.below(m));
                let at = |i: usize, l: usize| if ta == b'N' { i + l * lda } else { l + i * lda };
                p.bufs[0].data[at(i0, rng.below(k))] = T::new(Z::real(f64::INFINITY));
                p.bufs[0].data[at(i1, rng.below(k))] = T::new(Z::real(f64::NAN));
                for x in 0..p.bufs[2].want.len() {
                    let (e, want) = p.bufs[2].want[x];
                    let i = e % ldc;
                    if i == i0 || i == i1 {
                        p.bufs[2].want[x].1 = Want::Any;
                    } else {
                        assert!(matches!(want, Want::Near(..)));
                    }
                }
                let out = p.run(Api::Fortran, Layout::Guards(seed));
                let what = p.describe();
                p.check(Api::Fortran, &out).unwrap_or_else(|e| panic!("{what}: other rows: {e}"));
                for j in 0..n {
                    let nan = out.bufs[2][i1 + j * ldc].z();
                    assert!(nan.is_nan(), "{what}: NaN in row {i1} of A is lost in column {j}");
                    let inf = out.bufs[2][i0 + j * ldc].z();
                    let lost = inf.re.is_finite() && inf.im.is_finite();
                    assert!(!lost, "{what}: Inf in row {i0} of A is lost in column {j}");
                    if !T::COMPLEX && i0 != i1 {
                        assert!(inf.re.is_infinite(), "{what}: Inf times a number is {}", inf.re);
                    }
                }
            }
        }
    }
}

/// A call of a level 1 routine on contiguous vectors of f64 values.
fn level1<T: Scalar>(
    name: &str,
    returns: corten_tests::problem::Returns,
    alpha: Option<Z>,
    vectors: &[&[Z]],
) -> (Vec<Vec<Z>>, Z, i64) {
    let mut p = Problem::<T>::new(name, None);
    p.int(vectors[0].len());
    if let Some(a) = alpha {
        p.scalar(a);
    }
    for v in vectors {
        let b = p.alloc(v.len());
        p.bufs[b].data = v.iter().map(|z| T::new(*z)).collect();
        p.buf(b).inc(1);
    }
    p.returns = returns;
    let out = p.run(Api::Fortran, Layout::Guards(1));
    (out.bufs.iter().map(|b| b.iter().map(|x| x.z()).collect()).collect(), out.value, out.index)
}

/// An element's bits do not depend on how many elements a vector has: LAPACK's drivers compare eigenvalues that were
/// computed with and without vectors.
fn lengths<T: Scalar>() {
    use corten_tests::problem::Returns;
    const MOST: usize = 70;
    let mut rng = Rng::new(5);
    let mut draw = || -> Vec<Z> { (0..MOST).map(|_| rng.value::<T>()).collect() };
    let (x, y) = (draw(), draw());
    let rot = |n: usize| -> Vec<Vec<Z>> {
        let mut p = Problem::<T>::new(format!("{}rot", T::mixed_prefix()), None);
        p.int(n);
        for v in [&x, &y] {
            let b = p.alloc(n);
            p.bufs[b].data = v[..n].iter().map(|z| T::new(*z)).collect();
            p.buf(b).inc(1);
        }
        p.real(0.8).real(0.6);
        let out = p.run(Api::Fortran, Layout::Guards(1));
        out.bufs.iter().map(|b| b.iter().map(|x| x.z()).collect()).collect()
    };
    let alpha = Z { re: 0.3, im: if T::COMPLEX { -0.7 } else { 0.0 } };
    let other = |name: &str, n: usize, vectors: &[&[Z]]| {
        let vectors: Vec<&[Z]> = vectors.iter().map(|v| &v[..n]).collect();
        level1::<T>(&format!("{}{name}", T::LETTER), Returns::Nothing, Some(alpha), &vectors).0
    };
    let all = |n: usize| [rot(n), other("axpy", n, &[&x, &y]), other("scal", n, &[&x])];
    let longest = all(MOST);
    for n in 1..MOST {
        for (few, many) in all(n).into_iter().flatten().zip(longest.iter().flatten()) {
            for (i, (a, b)) in few.iter().zip(many).enumerate() {
                assert!(a == b, "element {i} of {n}: {a:?}, of {MOST}: {b:?}");
            }
        }
    }
}

/// Promise 2: the special values of level 1, as Reference BLAS has them.
fn p2_level1<T: Scalar>() {
    use corten_tests::problem::Returns;
    let r = Z::real;
    let (nan, inf) = (r(f64::NAN), r(f64::INFINITY));
    let l = T::LETTER;
    // Lengths that reach vector loops, their tails and the scalar rest.
    for n in [1usize, 2, 3, 7, 8, 9, 16, 31, 33, 64, 100, 257] {
        for at in [0, n / 2, n - 1] {
            let mut x = vec![r(0.5); n];
            // 0 * NaN and 0 * Inf are NaN: scal does not shortcut zero.
            for bad in [nan, inf] {
                x[at] = bad;
                let (b, _, _) = level1::<T>(&format!("{l}scal"), Returns::Nothing, Some(Z::ZERO), &[&x]);
                for (i, v) in b[0].iter().enumerate() {
                    assert_eq!(v.is_nan(), i == at, "{l}scal by 0, n {n}, {bad:?} at {at}: element {i} is {v:?}");
                }
                let (b, _, _) = level1::<T>(&format!("{l}scal"), Returns::Nothing, Some(Z::ONE), &[&x]);
                let kept = if bad.is_nan() { b[0][at].is_nan() } else { b[0][at].re == f64::INFINITY || T::COMPLEX };
                assert!(kept, "{l}scal by 1 of {bad:?}: {:?}", b[0][at]);
            }
            let pre = T::real_prefix();
            x[at] = nan;
            assert!(level1::<T>(&format!("{pre}asum"), Returns::Real, None, &[&x]).1.is_nan(), "asum of NaN");
            assert!(
                level1::<T>(&format!("{pre}nrm2"), Returns::Real, None, &[&x]).1.is_nan(),
                "nrm2 of NaN, n {n} at {at}"
            );
            // A NaN is the largest only if it comes first: nothing beats it.
            let best = if at == 0 { 1 } else { 2 - (at != 0) as i64 };
            let (_, _, i) = level1::<T>(&format!("i{l}amax"), Returns::Index, None, &[&x]);
            assert_eq!(i, best, "i{l}amax, n {n}, NaN at {at}");
            if at > 0 {
                // ... and one before the largest does not hide it.
                let mut y = x.clone();
                y.push(r(9.0));
                let (_, _, i) = level1::<T>(&format!("i{l}amax"), Returns::Index, None, &[&y]);
                assert_eq!(i, n as i64 + 1, "i{l}amax, n {}, NaN at {at}, largest last", n + 1);
            }
            x[at] = inf;
            let v = level1::<T>(&format!("{pre}asum"), Returns::Real, None, &[&x]).1;
            assert!(v.re == f64::INFINITY, "asum of Inf");
            let v = level1::<T>(&format!("{pre}nrm2"), Returns::Real, None, &[&x]).1;
            assert!(v.re == f64::INFINITY, "nrm2 of Inf is {}, n {n} at {at}", v.re);
            let (_, _, i) = level1::<T>(&format!("i{l}amax"), Returns::Index, None, &[&x]);
            assert_eq!(i, at as i64 + 1, "i{l}amax of Inf");
            // Inf * 0 in a dot product is NaN.
            let mut y = vec![r(1.0); n];
            y[at] = Z::ZERO;
            let dot = if T::COMPLEX { "dotu" } else { "dot" };
            let kind = if T::COMPLEX { Returns::Complex } else { Returns::Real };
            assert!(level1::<T>(&format!("{l}{dot}"), kind, None, &[&x, &y]).1.is_nan(), "dot Inf * 0");
            // axpy with alpha 0 leaves y, whatever x is.
            let (b, _, _) = level1::<T>(&format!("{l}axpy"), Returns::Nothing, Some(Z::ZERO), &[&x, &y]);
            assert!(b[1] == y, "{l}axpy with alpha 0");
        }
    }
}

/// nrm2 neither overflows nor underflows on the way, at mixed scales too.
fn nrm2_scales<T: Scalar>() {
    use corten_tests::problem::Returns;
    let name = format!("{}nrm2", T::real_prefix());
    let (big, small) = (T::HUGE, 1.0 / T::HUGE);
    let denormal = if T::EPS > 1e-10 { 1e-44 } else { 1e-320 };
    for n in [1usize, 5, 16, 100, 1000] {
        for (v, rest, want) in [
            (3.0 * big, 4.0 * big, None),
            (big, small, Some(big)),
            (big, 1.0, Some(big)),
            (denormal, 0.0, Some(T::round(Z::real(denormal)).re)),
            (0.0, 0.0, Some(0.0)),
        ] {
            let mut x = vec![Z::real(rest); n];
            x[n / 2] = Z::real(v);
            let x: Vec<Z> = x.into_iter().map(T::round).collect();
            let got = level1::<T>(&name, Returns::Real, None, &[&x]).1.re;
            let want = want.unwrap_or_else(|| {
                let s: f64 = x.iter().map(|z| (z.re / big).powi(2)).sum();
                s.sqrt() * big
            });
            let tol = (n as f64 + 8.0) * T::EPS * want;
            assert!((got - want).abs() <= tol, "{name}, n {n}, {v:e} among {rest:e}: {got:e}, want {want:e}");
        }
    }
}

/// Promise 3: strides of either sign, guards on both sides, zero sizes: a
/// short run over every routine and entry point at once.
fn p3<T: Scalar>() {
    for r in routines::all::<T>() {
        let all = combos(&r);
        for seed in 0..6u64 {
            for order in [Order::Col, Order::Row] {
                let p = (r.make)(&mut Draw::new(seed, order, Size::Usual, (7 * seed + 1) % all));
                for api in p.apis() {
                    // Two seeds: each buffer gets to lie at either guard.
                    check_one(&p, api, 2 * seed);
                    check_one(&p, api, 2 * seed + 1);
                }
            }
        }
    }
}

/// Promise 3: all nine names of a routine are one routine: the same bits.
fn aliases<T: Scalar>() {
    for r in routines::all::<T>() {
        for seed in 0..3 {
            let p = make_bits(&r, seed, Size::Usual, seed);
            let first = p.run(Api::Fortran, Layout::Guards(seed));
            for api in p.apis() {
                let mut out = p.run(api, Layout::Guards(seed));
                if api.is_cblas() && p.returns == corten_tests::problem::Returns::Index && first.index > 0 {
                    out.index += 1;
                }
                assert!(first.same_bits(&out), "{}: {api:?} gives other bits", p.describe());
            }
        }
    }
}

/// Promise 3: offsets beyond 2^31 elements, by leading dimension or increment.
fn p3_far<T: Scalar>() {
    for r in routines::all::<T>() {
        let skip = ["imatcopy", "gemm_batch", "gemm_batch_strided"];
        if skip.contains(&r.name) {
            continue; // in place, or with strides that are not in one argument
        }
        for (seed, order) in [(1, Order::Col), (2, Order::Row)] {
            let mut d = Draw::new(seed, order, Size::Few, seed);
            d.plain = true;
            let p = (r.make)(&mut d);
            for &api in p.apis().iter().take(3) {
                let what = format!("{} through {api:?}, far", p.describe());
                let out = while_in(&what, || p.run(api, Layout::Far));
                p.check(api, &out).unwrap_or_else(|e| panic!("{what}: {e}"));
            }
        }
    }
}

/// Promise 7 at its sharpest: on small integers every sum is exact, so the
/// product must be exact, whatever the order of the operations.
fn p7_exact<T: Scalar>() {
    let mut rng = Rng::new(3);
    for (m, n, k) in [(1, 1, 1), (3, 5, 7), (16, 16, 16), (31, 33, 65), (130, 67, 301), (5, 260, 513), (257, 3, 90)] {
        let mut draw = |len: usize| -> Vec<Z> {
            (0..len)
                .map(|_| {
                    let mut part = || rng.below(9) as f64 - 4.0;
                    T::round(Z::new(part(), part()))
                })
                .collect()
        };
        let (a, b, c) = (draw(m * k), draw(k * n), draw(m * n));
        let mut p = Problem::<T>::new(format!("{}gemm", T::LETTER), Some(Order::Col));
        for v in [&a, &b, &c] {
            let x = p.alloc(v.len());
            p.bufs[x].data = v.iter().map(|z| T::new(*z)).collect();
        }
        let (alpha, beta) = (Z::real(2.0), Z::real(-3.0));
        for j in 0..n {
            for i in 0..m {
                let s = (0..k).fold(Z::ZERO, |s, l| s + a[i + l * m] * b[l + j * k]);
                let want = alpha * s + beta * c[i + j * m];
                p.bufs[2].want.push((i + j * m, Want::Near(want, 0.0)));
            }
        }
        p.trans(b'N').trans(b'N').int(m).int(n).int(k).scalar(alpha);
        p.buf(0).int(m).buf(1).int(k).scalar(beta).buf(2).int(m);
        check_one(&p, Api::Fortran, 1);
        check_one(&p, Api::Cblas, 2);
    }
}

for_types!(
    p1_same_bits_at_any_alignment => p1,
    p1_same_bits_at_any_length => lengths,
    p2_zero_coefficients_read_nothing => p2,
    p2_inf_and_nan_in_gemm => p2_gemm_inf,
    p2_inf_and_nan_in_level_1 => p2_level1,
    p2_nrm2_at_all_scales => nrm2_scales,
    p3_no_access_outside_buffers => p3,
    p3_all_names_give_the_same_bits => aliases,
    p3_offsets_beyond_two_to_the_31 => p3_far,
    p7_integers_are_exact => p7_exact,
);

/// What Julia's libblastrampoline does to find out the width of integers and
/// the way complex numbers are returned.
#[test]
fn probes_of_libblastrampoline() {
    let n: u64 = 0xffff_ffff_0000_0003;
    let x = [1.0f32, 2.0, 1.0, 0.0];
    let one = 1i64;
    // SAFETY: pointers as the probes pass them; n <= 0 reads no vector.
    unsafe {
        let args = [&raw const n as usize, x.as_ptr() as usize, &raw const one as usize];
        assert_eq!(invoke::<i32>(lib().symbol("isamax_"), &args, &[]), 2, "LP64 sees 3 elements");
        assert_eq!(invoke::<i64>(lib().symbol("isamax_64_"), &args, &[]), 0, "ILP64 sees a negative length");
        let zero = 0i64;
        let z = Cplx { re: 1.0f64, im: 2.0 };
        let args = [&raw const zero as usize, &raw const z as usize, &raw const zero as usize, 8, 8];
        let r = invoke::<Cplx<f64>>(lib().symbol("zdotc_"), &args, &[]);
        assert!(r.re == 0.0 && r.im == 0.0, "zdotc_ of nothing is {r:?}");
    }
}
