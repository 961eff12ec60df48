//! Convolution through the C ABI: random problems against the definition, exact
//! on integers, within a bound on reals; memory between guard pages; same bits
//! for any number of threads; plans, workspaces, bad arguments, large tensors.

use corten_tests::conv::{self, Conv, Data, PASSES, Pass, Ptr, STRICT, Sizes, expected, expected_bias};
use corten_tests::func;
use corten_tests::guard::Sparse;
use corten_tests::rng::Rng;
use std::ffi::{c_char, c_int};
use std::sync::Once;

/// Calls of this process share any work among threads: the variable is read at the first one.
fn any_work() {
    static ONCE: Once = Once::new();
    ONCE.call_once(|| {
        if std::env::var_os("CORTEN_THREAD_MIN_WORK").is_none() {
            // SAFETY: tests get here before any of them calls the library.
            unsafe { std::env::set_var("CORTEN_THREAD_MIN_WORK", "1") };
        }
    });
}

fn threads(n: c_int) {
    let set = func!(corten_set_num_threads_local: fn(c_int) -> c_int);
    // SAFETY: no preconditions.
    unsafe { set(n) };
}

/// 3,000 problems unless told otherwise; shared by the tests below, which run at once.
fn problems() -> usize {
    150 * std::env::var("CORTEN_TEST_CASES").ok().and_then(|n| n.parse().ok()).unwrap_or(20)
}

/// Unit roundoff of f32.
const EPS: f64 = 6.0e-8;

fn check(number: usize, c: &Conv, exact: bool, rng: &mut Rng) {
    let s = Sizes::new(c, c.output_size().unwrap());
    let mut values = rng.clone();
    rng.bits();
    let data = Data::new(&s, c, || if exact { values.below(9) as f32 - 4.0 } else { values.real() as f32 });
    for pass in PASSES {
        let (want, size) = expected(c, &s, &data, pass);
        let label = c.explain(pass as c_int);
        let mut first: Option<conv::Outcome> = None;
        for count in [1, 4] {
            threads(count);
            let got = conv::run(c, &data, pass, number.is_multiple_of(2), None);
            threads(0);
            assert_eq!(got.status, 0, "{number}: {label}");
            for (at, (&got, &want)) in got.result.iter().zip(&want).enumerate() {
                // Direct sums: a few roundings of each product. Winograd: its growth on top (docs/convolution.md).
                let growth = if label.contains("winograd") { 60.0 } else { 4.0 };
                let bound = if exact { 0.0 } else { growth * EPS * size[at] * (s.products() as f64).ln().max(1.0) };
                let error = (f64::from(got) - want).abs();
                assert!(error <= bound, "{number}: {pass:?} {label}: element {at} is {got}, not {want}\n{c:?}");
            }
            if pass == Pass::BackwardWeights {
                for (at, (&got, want)) in got.bias.iter().zip(expected_bias(c, &s, &data)).enumerate() {
                    let bound = if exact { 0.0 } else { 1e-5 * (want.abs() + (s.x() + s.y()) as f64).max(1.0) };
                    assert!((f64::from(got) - want).abs() <= bound, "{number}: dbias {at} is {got}, not {want}\n{c:?}");
                }
            }
            if let Some(first) = &first {
                let same = |a: &[f32], b: &[f32]| a.iter().zip(b).all(|(a, b)| a.to_bits() == b.to_bits());
                assert!(same(&first.result, &got.result), "{number}: {label}: other bits with {count} threads\n{c:?}");
                let bias = pass != Pass::BackwardWeights || same(&first.bias, &got.bias);
                assert!(bias, "{number}: {label}: other bits of dbias with {count} threads");
            }
            first = Some(got);
        }
    }
}

#[test]
fn integers_are_exact() {
    any_work();
    let mut rng = Rng::new(1);
    for number in 0..problems() {
        let mut c = conv::draw(&mut rng);
        // Halves and quarters are exact too; what Winograd computes is not.
        (c.math, c.slope) = (STRICT, 0.5);
        check(number, &c, true, &mut rng);
    }
}

#[test]
fn reals_are_within_the_bound() {
    any_work();
    let mut rng = Rng::new(2);
    for number in 0..problems() / 3 {
        let c = conv::draw(&mut rng);
        check(number, &c, false, &mut rng);
    }
}

/// Problems that get Winograd's algorithm, larger than the reference of all the others allows.
#[test]
fn winograd_is_within_its_bound_and_is_taken() {
    any_work();
    let mut rng = Rng::new(3);
    let mut taken = 0;
    for number in 0..30 {
        let mut c = Conv::new(if number % 5 == 4 { 3 } else { 2 });
        (c.layout, c.weights_layout) = (number as i32 % 2, number as i32 % 3);
        c.batch = rng.pick(&[2, 3]);
        c.in_channels = rng.pick(&[24, 29, 37]);
        // Some beyond what one pass over the tiles takes, whatever the kernel's width.
        c.out_channels = rng.pick(&[24, 33, 40, 130]);
        c.transposed = (number % 7 == 6) as i32;
        (c.activation, c.beta) = (number as i32 % 3, rng.pick(&[0.0, 1.0]));
        (c.kernel, c.pad_before, c.pad_after) = ([3; 3], [1; 3], [1; 3]);
        if c.dims == 2 && number % 4 == 3 {
            // Taps in two strands.
            (c.kernel, c.pad_before, c.pad_after) = ([5, 5 - number as i64 % 2, 0], [2; 3], [2; 3]);
        }
        c.input = [0; 3].map(|_| 8 + rng.below(10) as i64);
        if number % 3 == 2 {
            // Stride 2, which wants more channels, and results enough for some tiles.
            (c.stride, c.batch) = ([2; 3], 6);
            (c.in_channels, c.out_channels) = (c.in_channels + 24, c.out_channels + 24);
        }
        if c.dims == 3 {
            (c.input[0], c.stride[0]) = (4, 1);
        }
        taken += PASSES.iter().filter(|&&pass| c.explain(pass as c_int).contains("winograd")).count();
        check(number, &c, false, &mut rng);
    }
    assert!(taken >= 60, "only {taken} of 90 passes");
}

/// The difference of a loss when one number changes is that number's gradient: convolution is linear, so on integers finite
/// differences are exact.
#[test]
fn gradients_are_finite_differences() {
    any_work();
    let mut rng = Rng::new(4);
    for _ in 0..60 {
        let mut c = conv::draw(&mut rng);
        (c.math, c.beta, c.activation) = (STRICT, 0.0, 0);
        let s = Sizes::new(&c, c.output_size().unwrap());
        let mut data = Data::new(&s, &c, || rng.below(5) as f32 - 2.0);
        let transposed = c.transposed == 1;
        let loss = |data: &Data| -> f64 {
            let y = conv::run(&c, data, Pass::Forward, true, None).result;
            let dy = if transposed { &data.x } else { &data.y };
            y.iter().zip(dy).map(|(a, b)| f64::from(*a) * f64::from(*b)).sum()
        };
        let before = loss(&data);
        let dx = conv::run(&c, &data, Pass::BackwardData, true, None).result;
        let weights = conv::run(&c, &data, Pass::BackwardWeights, true, None);
        let (dw, db) = (weights.result, weights.bias);
        for _ in 0..8 {
            for which in 0..3 {
                let gradient = [&dx, &dw, &db][which];
                if gradient.is_empty() {
                    continue;
                }
                let at = rng.below(gradient.len());
                let mut change = |by: f32| match which {
                    0 if transposed => data.y[at] += by,
                    0 => data.x[at] += by,
                    1 => data.w[at] += by,
                    _ => data.bias[at] += by,
                };
                change(1.0);
                let after = loss(&data);
                match which {
                    0 if transposed => data.y[at] -= 1.0,
                    0 => data.x[at] -= 1.0,
                    1 => data.w[at] -= 1.0,
                    _ => data.bias[at] -= 1.0,
                }
                assert_eq!(after - before, f64::from(gradient[at]), "{which} {at} of {c:?}");
            }
        }
    }
}

/// NaN and infinity reach exactly the results whose windows hold them.
#[test]
fn nan_spreads_over_its_window_only() {
    any_work();
    let mut rng = Rng::new(5);
    for _ in 0..200 {
        let mut c = conv::draw(&mut rng);
        (c.math, c.activation, c.beta, c.transposed) = (STRICT, 0, 0.0, 0);
        let Ok(output) = c.output_size() else { continue };
        let s = Sizes::new(&c, output);
        let mut data = Data::new(&s, &c, || 1.0);
        if data.x.is_empty() {
            continue;
        }
        let at = rng.below(data.x.len());
        data.x[at] = f32::NAN;
        let mut reached = vec![false; s.y()];
        s.triples(|x, _, y| reached[y] |= x == at);
        let y = conv::run(&c, &data, Pass::Forward, false, None).result;
        for (y, reached) in y.iter().zip(&reached) {
            assert_eq!(y.is_nan(), *reached, "{c:?}");
        }
    }
}

type Plan = *mut std::ffi::c_void;

#[test]
fn a_plan_gives_the_same_bits_and_keeps_weights() {
    any_work();
    let mut rng = Rng::new(6);
    let create = func!(corten_conv_plan_create: fn(*const Conv, c_int, Ptr, *mut Plan) -> c_int);
    let set = func!(corten_conv_plan_set_weights: fn(Plan, Ptr) -> c_int);
    let memory = func!(corten_conv_plan_memory: fn(Plan) -> usize);
    let forward = func!(corten_conv_plan_forward: fn(Plan, Ptr, Ptr, Ptr, Ptr, Ptr, usize) -> c_int);
    let data_pass = func!(corten_conv_plan_backward_data: fn(Plan, Ptr, Ptr, Ptr, Ptr, usize) -> c_int);
    let weights_pass = func!(corten_conv_plan_backward_weights: fn(Plan, Ptr, Ptr, Ptr, Ptr, Ptr, usize) -> c_int);
    let destroy = func!(corten_conv_plan_destroy: fn(Plan));
    let size = func!(corten_conv_workspace_size: fn(*const Conv, c_int, *mut usize) -> c_int);
    let null = std::ptr::null_mut();
    for number in 0..200 {
        let mut c = conv::draw(&mut rng);
        (c.transposed, c.beta, c.output) = (0, 0.0, [0; 3]);
        let Ok(output) = c.output_size() else { continue };
        let s = Sizes::new(&c, output);
        let mut d = Data::new(&s, &c, || rng.real() as f32);
        for pass in PASSES {
            let want = conv::run(&c, &d, pass, true, None).result;
            let mut got = vec![f32::NAN; want.len()];
            let mut bias = vec![f32::NAN; d.bias.len()];
            let mut plan: Plan = null;
            let at = |v: &mut Vec<f32>| v.as_mut_ptr().cast();
            let kept = pass != Pass::BackwardWeights && number % 2 == 0;
            // SAFETY: tensors of the problem.
            unsafe {
                let other: Vec<f32> = d.w.iter().map(|w| w + 1.0).collect();
                let first = if kept { other.as_ptr().cast_mut().cast() } else { null };
                assert_eq!(create(&c, pass as c_int, first, &mut plan), 0, "{}", conv::last_error());
                if kept {
                    assert_eq!(set(plan, at(&mut d.w)), 0);
                    assert!(memory(plan) >= 4 * d.w.len() || c.explain(pass as c_int).contains("direct"), "{c:?}");
                }
                let w = if kept { null } else { at(&mut d.w) };
                // A workspace of the size that is asked for is enough for kept weights, too.
                let mut bytes = 0;
                if kept && number % 4 == 0 {
                    assert_eq!(size(&c, pass as c_int, &mut bytes), 0);
                }
                let mut room = vec![0u8; bytes];
                let space = if bytes > 0 { room.as_mut_ptr().cast() } else { null };
                let status = match pass {
                    Pass::Forward => forward(plan, at(&mut d.x), w, at(&mut d.bias), at(&mut got), space, bytes),
                    Pass::BackwardData => data_pass(plan, w, at(&mut d.y), at(&mut got), space, bytes),
                    Pass::BackwardWeights => {
                        weights_pass(plan, at(&mut d.x), at(&mut d.y), at(&mut got), at(&mut bias), null, 0)
                    }
                };
                let scratch = std::env::var_os("CORTEN_SCRATCH_LIMIT").is_some();
                assert!(status == 0 || kept && scratch, "{}", conv::last_error());
                destroy(plan);
                if status != 0 {
                    continue;
                }
            }
            // With little memory a call whose weights are kept may have room where one that prepares them has none, and goes by
            // the definition: another order of the same sum.
            let other_way = kept && std::env::var_os("CORTEN_SCRATCH_LIMIT").is_some();
            let same = want.iter().zip(&got).all(|(a, b)| {
                a.to_bits() == b.to_bits() || other_way && (a - b).abs() <= 1e-4 * (1.0 + a.abs().max(b.abs()))
            });
            assert!(same, "{number}: {}", c.explain(pass as c_int));
        }
    }
}

#[test]
fn a_workspace_of_the_size_asked_for_is_enough() {
    any_work();
    let mut rng = Rng::new(7);
    let size = func!(corten_conv_workspace_size: fn(*const Conv, c_int, *mut usize) -> c_int);
    for _ in 0..300 {
        let c = conv::draw(&mut rng);
        let s = Sizes::new(&c, c.output_size().unwrap());
        let data = Data::new(&s, &c, || rng.real() as f32);
        for pass in PASSES {
            let want = conv::run(&c, &data, pass, false, None);
            for count in [1, 3] {
                threads(count);
                let mut bytes = 0;
                // SAFETY: a struct and a number.
                assert_eq!(unsafe { size(&c, pass as c_int, &mut bytes) }, 0);
                let got = conv::run(&c, &data, pass, false, Some(bytes));
                threads(0);
                assert_eq!(got.status, 0, "{}", conv::last_error());
                // With no scratch memory the other call computes by the definition.
                if std::env::var_os("CORTEN_SCRATCH_LIMIT").is_none() {
                    let same = want.result.iter().zip(&got.result).all(|(a, b)| a.to_bits() == b.to_bits());
                    assert!(same, "{c:?}");
                }
            }
            if want.result.is_empty() {
                continue;
            }
            let got = conv::run(&c, &data, pass, false, Some(8));
            assert_eq!(got.status, 1, "{c:?}");
            assert!(conv::last_error().contains("workspace_bytes is 8"), "{}", conv::last_error());
        }
    }
}

/// A line says what a call does, also where there is no memory for its algorithm; one that is too long for the caller's
/// room says so.
#[test]
fn an_explanation_says_what_happens_and_where_it_was_cut() {
    let mut rng = Rng::new(8);
    let explain = func!(corten_conv_explain: fn(*const Conv, c_int, *mut c_char, usize) -> c_int);
    let limit = std::env::var("CORTEN_SCRATCH_LIMIT").ok().map(|limit| limit.parse::<u64>().unwrap());
    for _ in 0..100 {
        let c = conv::draw(&mut rng);
        for pass in PASSES {
            let whole = c.explain(pass as c_int);
            // By the definition if, and only if, the limit is below what it says was wanted.
            let wanted = whole
                .split_once(": by the definition; because: no memory of ")
                .map(|(_, rest)| rest.split(' ').next().unwrap().parse::<u64>().unwrap());
            match (wanted, limit) {
                (Some(bytes), Some(limit)) => assert!(bytes > limit, "{whole}"),
                (wanted, _) => assert!(wanted.is_none() && limit != Some(0), "{whole}"),
            }
            assert!(whole.contains("because: ") && !whole.contains("1 partial"), "{whole}");
            for room in [1, 2, 4, 5, 40, whole.len(), whole.len() + 1] {
                let mut text = vec![b'?' as c_char; room + 1];
                // SAFETY: a struct and a buffer of at least the length said.
                assert_eq!(unsafe { explain(&c, pass as c_int, text.as_mut_ptr(), room) }, 0);
                assert_eq!(text[room], b'?' as c_char);
                // SAFETY: terminated, which is asserted by what it is compared with.
                let got = unsafe { std::ffi::CStr::from_ptr(text.as_ptr()) }.to_str().unwrap();
                let want = match room {
                    room if room > whole.len() => whole.clone(),
                    room if room >= 4 => format!("{}...", &whole[..room - 4]),
                    room => "..."[..room - 1].to_string(),
                };
                assert_eq!(got, want);
            }
        }
    }
}

/// Every field, one bad value each: status 1, a message that names it, nothing written.
#[test]
fn bad_fields_are_named_and_nothing_is_written() {
    any_work();
    let mut plain = Conv::new(2);
    (plain.batch, plain.in_channels, plain.out_channels) = (2, 6, 4);
    (plain.input, plain.kernel, plain.pad_before) = ([9, 7, 0], [3, 3, 0], [1, 1, 0]);
    type Change = fn(&mut Conv);
    let cases: &[(&str, Change)] = &[
        ("struct_size", |c| c.struct_size = 0),
        ("dims", |c| c.dims = 4),
        ("layout", |c| c.layout = -1),
        ("weights_layout", |c| c.weights_layout = 3),
        ("transposed", |c| c.transposed = 7),
        ("math", |c| c.math = 9),
        ("activation", |c| c.activation = 3),
        ("slope", |c| (c.activation, c.slope) = (2, f32::NAN)),
        ("beta", |c| c.beta = f32::NAN),
        ("reserved", |c| c.reserved = 1),
        ("batch", |c| c.batch = -1),
        ("groups", |c| c.groups = 0),
        ("in_channels", |c| c.in_channels = 0),
        ("in_channels", |c| c.groups = 4),
        ("out_channels", |c| c.out_channels = i64::MIN),
        ("input[1]", |c| c.input[1] = -1),
        ("output[0]", |c| c.output[0] = 5),
        ("kernel[0]", |c| c.kernel[0] = 0),
        ("kernel[1]", |c| c.kernel[1] = 11),
        ("stride[1]", |c| c.stride[1] = 0),
        ("dilation[0]", |c| c.dilation[0] = i64::MAX),
        ("pad_before[1]", |c| c.pad_before[1] = -1),
        ("pad_after[0]", |c| c.pad_after[0] = -2),
        ("2^60", |c| (c.batch, c.in_channels) = (1 << 39, 6 << 30)),
    ];
    let s = Sizes::new(&plain, plain.output_size().unwrap());
    let data = Data::new(&s, &plain, || 1.0);
    for (name, change) in cases {
        let mut c = plain;
        change(&mut c);
        for pass in PASSES {
            let mut probe = c;
            probe.beta = if c.beta.is_nan() { c.beta } else { 1.0 };
            let got = conv::run(&probe, &data, pass, true, None);
            assert_eq!(got.status, 1, "{name} {pass:?}");
            let message = conv::last_error();
            assert!(message.contains(name), "{name}: {message}");
            assert!(got.result.iter().all(|&x| x == 1.0), "{name}: something was written");
        }
    }
    let mut c = plain;
    c.data_type = 5;
    assert_eq!(conv::run(&c, &data, Pass::Forward, true, None).status, 7);
    assert!(conv::last_error().contains("data_type is 5"), "{}", conv::last_error());
}

#[test]
fn null_and_misaligned_pointers_are_named() {
    any_work();
    let forward = func!(corten_conv_forward: fn(*const Conv, Ptr, Ptr, Ptr, Ptr, Ptr, usize) -> c_int);
    let c = Conv::new(2);
    let mut one = [1.0f32; 4];
    let (null, at) = (std::ptr::null_mut(), one.as_mut_ptr().cast::<std::ffi::c_void>());
    let odd = at.wrapping_byte_add(2);
    for (name, [x, w, b, y]) in [
        ("x is NULL", [null, at, null, at]),
        ("weights is NULL", [at, null, null, at]),
        ("y is NULL", [at, at, null, null]),
        ("x is at", [odd, at, null, at]),
        ("bias is at", [at, at, odd, at]),
    ] {
        // SAFETY: refused before anything is followed.
        assert_eq!(unsafe { forward(&c, x, w, b, y, null, 0) }, 1);
        assert!(conv::last_error().contains(name), "{name}: {}", conv::last_error());
        let has_place = conv::last_error().contains(&format!("{odd:p}"));
        assert_eq!(has_place, name.ends_with("is at"), "{name}: {}", conv::last_error());
    }
    // SAFETY: as above.
    assert_eq!(unsafe { forward(std::ptr::null(), at, at, null, at, null, 0) }, 1);
    assert!(conv::last_error().contains("conv is NULL"));
    let mut empty = c;
    empty.batch = 0;
    // SAFETY: an empty batch has no element to follow a pointer to.
    assert_eq!(unsafe { forward(&empty, null, at, null, null, null, 0) }, 0);
}

/// What is written must overlap nothing else, by a single element either; neighbours do not overlap.
#[test]
fn overlapping_tensors_are_refused() {
    any_work();
    let forward = func!(corten_conv_forward: fn(*const Conv, Ptr, Ptr, Ptr, Ptr, Ptr, usize) -> c_int);
    let data = func!(corten_conv_backward_data: fn(*const Conv, Ptr, Ptr, Ptr, Ptr, usize) -> c_int);
    let weights = func!(corten_conv_backward_weights: fn(*const Conv, Ptr, Ptr, Ptr, Ptr, Ptr, usize) -> c_int);
    for transposed in [0, 1] {
        let mut c = Conv::new(1);
        (c.input[0], c.in_channels, c.out_channels, c.transposed) = (8, 2, 3, transposed);
        // x 16, weights 6, bias 3, y 24, side by side; then room for a workspace.
        let start = vec![1.0f32; 1 << 20];
        let mut all = start.clone();
        let base = all.as_mut_ptr();
        let at = |i: usize| -> Ptr { base.wrapping_add(i).cast() };
        let (x, w, b, y, space, null) = (at(0), at(16), at(22), at(25), at(49), std::ptr::null_mut());
        let bytes = 4 * (start.len() - 49);
        // SAFETY: refused before anything is followed, or tensors of the problem.
        unsafe {
            let refused: [(&str, &str, &dyn Fn() -> c_int); 17] = [
                ("y (", "x (", &|| forward(&c, x, w, b, x, null, 0)),
                ("y (", "x (", &|| forward(&c, x, w, b, at(15), null, 0)),
                ("y (", "x (", &|| forward(&c, at(48), w, b, y, null, 0)),
                ("y (", "weights (", &|| forward(&c, x, at(48), b, y, null, 0)),
                ("y (", "bias (", &|| forward(&c, x, w, y, y, null, 0)),
                ("y (", "workspace (", &|| forward(&c, x, w, b, y, at(48), bytes)),
                ("workspace (", "x (", &|| forward(&c, space, w, b, y, space, bytes)),
                ("dx (", "dy (", &|| data(&c, w, y, y, null, 0)),
                ("dx (", "dy (", &|| data(&c, w, at(15), x, null, 0)),
                ("dx (", "weights (", &|| data(&c, at(15), y, x, null, 0)),
                ("dx (", "workspace (", &|| data(&c, w, y, x, at(12), 4 * 4)),
                ("dweights (", "x (", &|| weights(&c, x, y, at(15), b, null, 0)),
                ("dweights (", "dy (", &|| weights(&c, x, y, at(48), b, null, 0)),
                ("dweights (", "dbias (", &|| weights(&c, x, y, w, at(21), null, 0)),
                ("dbias (", "x (", &|| weights(&c, x, y, w, at(13), null, 0)),
                ("dbias (", "dy (", &|| weights(&c, x, y, w, at(24), null, 0)),
                ("workspace (", "dy (", &|| weights(&c, x, y, w, b, at(48), bytes)),
            ];
            for (written, other, call) in refused {
                assert_eq!(call(), 1, "{written} {other}, transposed {transposed}");
                let message = conv::last_error();
                assert!(message.contains(written) && message.contains(other), "{written} {other}: {message}");
                assert!(message.contains("overlaps"), "{message}");
            }
            assert_eq!(all, start, "something was written");
            assert_eq!(forward(&c, x, w, b, y, space, bytes), 0, "{}", conv::last_error());
            assert_eq!(data(&c, w, y, x, space, bytes), 0, "{}", conv::last_error());
            assert_eq!(weights(&c, x, y, w, b, space, bytes), 0, "{}", conv::last_error());
        }
    }
}

/// More than 2^31 elements between the first and the last, and more than 4 GiB.
#[test]
fn tensors_beyond_2_gib() {
    any_work();
    let mut c = Conv::new(1);
    let (count, stride) = (1025i64, 2_200_000i64);
    (c.layout, c.stride[0], c.in_channels) = (1, stride, 2);
    c.input[0] = (count - 1) * stride + 1;
    let x = Sparse::new((c.input[0] as usize) * 2 * 4);
    let mut weights = [3.0f32, -2.0];
    let mut y = vec![0.0f32; count as usize];
    for i in 0..count as usize {
        // SAFETY: inside the mapping.
        unsafe { *x.at::<f32>(i * stride as usize * 2) = i as f32 };
    }
    let null = std::ptr::null_mut();
    let at: Ptr = x.at::<f32>(0).cast();
    let forward = func!(corten_conv_forward: fn(*const Conv, Ptr, Ptr, Ptr, Ptr, Ptr, usize) -> c_int);
    let back = func!(corten_conv_backward_weights: fn(*const Conv, Ptr, Ptr, Ptr, Ptr, Ptr, usize) -> c_int);
    // SAFETY: tensors of the problem.
    unsafe {
        let w: Ptr = weights.as_mut_ptr().cast();
        assert_eq!(forward(&c, at, w, null, y.as_mut_ptr().cast(), null, 0), 0, "{}", conv::last_error());
        assert!(y.iter().enumerate().all(|(i, &y)| y == 3.0 * i as f32));
        y.fill(1.0);
        assert_eq!(back(&c, at, y.as_mut_ptr().cast(), w, null, null, 0), 0, "{}", conv::last_error());
    }
    assert_eq!(weights, [(count * (count - 1) / 2) as f32, 0.0]);
}
