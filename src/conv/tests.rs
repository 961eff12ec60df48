//! Random problems on every instruction set of the machine against a reference in f64 that scatters where the library
//! gathers. (The C ABI, guard pages and larger numbers of problems are in `tests/`.)

use super::memory::MOST_BYTES;
use super::problem::{Description, Math, Pass, Problem};
use super::{Inputs, Kit, Plan};
use crate::runtime::cpu::{self, Isa};
use crate::runtime::set_num_threads_local;

struct Rng(u64);
impl Rng {
    fn next(&mut self) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0.wrapping_mul(0x2545_f491_4f6c_dd1d) >> 20
    }
    fn below(&mut self, n: u64) -> i64 {
        (self.next() % n) as i64
    }
    fn pick<T: Copy>(&mut self, from: &[T]) -> T {
        from[self.below(from.len() as u64) as usize]
    }
    fn integers(&mut self, n: usize) -> Vec<f32> {
        (0..n).map(|_| (self.below(9) - 4) as f32).collect()
    }
    fn reals(&mut self, n: usize) -> Vec<f32> {
        (0..n).map(|_| self.below(1 << 20) as f32 / (1 << 19) as f32 - 1.0).collect()
    }
}

/// All (input element, weight, output element) triples, as offsets.
fn triples(p: &Problem, mut f: impl FnMut(usize, usize, usize)) {
    let (xs, ys, ws) = (p.input_strides(), p.output_strides(), p.filter_strides());
    let at = |s: [isize; 3], i: [usize; 3]| (0..3).map(|d| i[d] as isize * s[d]).sum::<isize>();
    for n in 0..p.batch as isize {
        for o in 0..p.oc {
            for i in 0..p.icg() {
                let channel = (o / p.ocg() * p.icg() + i) as isize;
                for k in 0..p.taps() {
                    let k = [k / (p.kernel[1] * p.kernel[2]), k / p.kernel[2] % p.kernel[1], k % p.kernel[2]];
                    for q in 0..p.output.iter().product() {
                        let q = [q / (p.output[1] * p.output[2]), q / p.output[2] % p.output[1], q % p.output[2]];
                        let x = [0, 1, 2].map(|d| (q[d] * p.stride[d] + k[d] * p.dilation[d]).wrapping_sub(p.pad[d]));
                        if (0..3).any(|d| x[d] >= p.input[d]) {
                            continue;
                        }
                        f(
                            (n * xs.n + channel * xs.c + at(xs.s, x)) as usize,
                            (o as isize * ws.o + i as isize * ws.i + at(ws.s, k)) as usize,
                            (n * ys.n + o as isize * ys.c + at(ys.s, q)) as usize,
                        );
                    }
                }
            }
        }
    }
}

fn draw(rng: &mut Rng, winograd: bool) -> Description {
    let dims = rng.pick(&[1, 2, 2, 2, 3]);
    let mut d = Description::new(if winograd { rng.pick(&[2, 2, 3]) } else { dims });
    d.layout = rng.below(2) as i32;
    d.weights_layout = rng.below(3) as i32;
    d.transposed = (rng.below(4) == 0) as i32;
    d.groups = if winograd { rng.pick(&[1, 1, 2]) } else { rng.pick(&[1, 1, 1, 2, 3, 5]) };
    d.batch = if winograd { rng.below(3) + 2 } else { rng.below(4) };
    let stride = if winograd { rng.pick(&[1, 2]) } else { 0 };
    if winograd {
        let more = 24 * (stride - 1);
        d.in_channels = d.groups * (more + rng.pick(&[24, 25, 32, 33]));
        d.out_channels = d.groups * (more + rng.pick(&[24, 27, 32, 40]));
    } else if rng.below(5) == 0 {
        d.groups = rng.pick(&[2, 3, 8, 17, 40]);
        (d.in_channels, d.out_channels) = (d.groups, d.groups * rng.pick(&[1, 1, 2]));
    } else {
        d.in_channels = d.groups * rng.pick(&[1, 2, 3, 4, 8, 17, 20]);
        d.out_channels = d.groups * rng.pick(&[1, 2, 3, 6, 8, 16, 19, 33]);
    }
    for i in 0..d.dims as usize {
        if winograd {
            let flat = d.dims == 3 && i == 0;
            d.kernel[i] = if flat { rng.pick(&[1, 2, 3]) } else { rng.pick(&[2, 3, 3, 4, 5, 6]) };
            d.stride[i] = if flat { 1 } else { stride };
            d.input[i] = if flat { 3 } else { 6 + rng.below(12) };
            (d.pad_before[i], d.pad_after[i]) = (rng.below(d.kernel[i] as u64), rng.below(d.kernel[i] as u64));
            continue;
        }
        d.kernel[i] = rng.pick(&[1, 1, 2, 3, 3, 4, 5]);
        d.stride[i] = rng.pick(&[1, 1, 2, 3]);
        d.dilation[i] = rng.pick(&[1, 1, 1, 2, 3]);
        (d.pad_before[i], d.pad_after[i]) = (rng.below(4), rng.below(4));
        let reach = (d.kernel[i] - 1) * d.dilation[i] + 1;
        let least = (reach - d.pad_before[i] - d.pad_after[i]).max(1);
        d.input[i] = least + rng.below(if d.dims == 1 { 40 } else { 8 });
        if d.transposed == 1 {
            d.input[i] = 1 + rng.below(6);
            let all = (d.input[i] - 1) * d.stride[i] + reach;
            d.pad_before[i] = d.pad_before[i].min(reach - 1);
            d.pad_after[i] = d.pad_after[i].min(reach - 1);
            if all - d.pad_before[i] - d.pad_after[i] < 1 {
                (d.pad_before[i], d.pad_after[i]) = (0, 0);
            }
            if rng.below(2) == 0 {
                d.output[i] = all - d.pad_before[i] - d.pad_after[i] + rng.below(d.stride[i] as u64);
            }
        }
    }
    d.beta = rng.pick(&[0.0, 0.0, 1.0, -0.5]);
    d.activation = rng.below(3) as i32;
    d.slope = 0.25;
    d
}

fn same_bits(a: &[f32], b: &[f32]) -> bool {
    a.iter().zip(b).all(|(a, b)| a.to_bits() == b.to_bits())
}

fn check(number: u64, d: &Description, rng: &mut Rng, exact: bool) {
    let p = Problem::new(d, if exact { Math::Strict } else { Math::Default })
        .unwrap_or_else(|e| panic!("{number}: {d:?}: {e:?}"));
    let mut draw = |n: usize| if exact { rng.integers(n) } else { rng.reals(n) };
    let (x, y, w) = (draw(p.input_elements()), draw(p.output_elements()), draw(p.weight_elements()));
    let channels = d.out_channels as usize;
    let bias = draw(channels);
    let isas: Vec<Isa> = Isa::ALL.into_iter().filter(|&isa| isa <= cpu::detected()).collect();
    for pass in [Pass::Forward, Pass::BackwardData, Pass::BackwardWeights] {
        let inner = pass.of(p.transposed);
        let old = match inner {
            Pass::Forward => &y,
            Pass::BackwardData => &x,
            Pass::BackwardWeights => &w,
        };
        let (mut sum, mut size) = (vec![0.0f64; old.len()], vec![0.0f64; old.len()]);
        triples(&p, |i, k, o| {
            let (at, a, b) = match inner {
                Pass::Forward => (o, x[i], w[k]),
                Pass::BackwardData => (i, y[o], w[k]),
                Pass::BackwardWeights => (k, x[i], y[o]),
            };
            sum[at] += a as f64 * b as f64;
            size[at] += (a as f64 * b as f64).abs();
        });
        let (cs, count) = match inner {
            Pass::BackwardData => (p.input_strides().c as usize, p.ic),
            _ => (p.output_strides().c as usize, p.oc),
        };
        for (at, sum) in sum.iter_mut().enumerate() {
            *sum += d.beta as f64 * old[at] as f64;
            if pass == Pass::Forward {
                *sum += bias[at / cs % count] as f64;
                let slope = [1.0, 0.0, 0.25][d.activation as usize];
                *sum *= if *sum < 0.0 { slope } else { 1.0 };
            }
        }
        // The gradient of the bias: of the call's result, which is the image of the convolution inside if it is transposed.
        let (tensor, cs) = match p.transposed {
            true => (&x, p.input_strides().c as usize),
            false => (&y, p.output_strides().c as usize),
        };
        let mut bias_sum: Vec<(f64, f64)> = bias.iter().map(|&old| (f64::from(d.beta) * f64::from(old), 0.0)).collect();
        for (at, &value) in tensor.iter().enumerate() {
            let (sum, size) = &mut bias_sum[at / cs % channels];
            (*sum, *size) = (*sum + f64::from(value), *size + f64::from(value.abs()));
        }
        for &isa in &isas {
            // Everything is far in two of three problems, and in one of them the results begin with a cache line: they are stored past the
            // caches.
            let kit = Kit::of(isa);
            let kit = match number % 6 {
                0 => kit,
                // The sums of a gradient are in no cache, its transforms a few hundred tiles at a time.
                3 => Kit { far: 2 << 20, near: 0, ..kit },
                _ => Kit { far: 0, ..kit },
            };
            let plan = Plan::with(p, pass, kit);
            let mut before: Option<(Vec<f32>, Vec<f32>)> = None;
            let mut kept = vec![f32::NAN; plan.prepared() + 16];
            let kept = kept.as_mut_ptr().wrapping_add(kept.as_ptr().align_offset(64));
            if plan.prepared() > 0 {
                // SAFETY: weights of the problem, and room for as many elements as the plan asks for.
                unsafe { plan.prepare(w.as_ptr(), kept) };
            }
            for (threads, prepared) in [(1, false), (3, false), (1, true), (3, true)] {
                if prepared && plan.prepared() == 0 {
                    continue;
                }
                set_num_threads_local(threads);
                let mut room = vec![f32::NAN; old.len() + 16];
                let start = if number % 3 == 1 { room.as_ptr().align_offset(64) } else { 1 };
                let result = &mut room[start..][..old.len()];
                if d.beta != 0.0 {
                    result.copy_from_slice(old);
                }
                let inputs = Inputs {
                    x: if p.transposed { y.as_ptr() } else { x.as_ptr() },
                    y: if p.transposed { x.as_ptr() } else { y.as_ptr() },
                    weights: w.as_ptr(),
                    bias: if pass == Pass::Forward { bias.as_ptr() } else { core::ptr::null() },
                    prepared: if prepared { kept } else { core::ptr::null() },
                    workspace: None,
                };
                let mut new_bias = if d.beta == 0.0 { vec![f32::NAN; channels] } else { bias.clone() };
                let of_bias = if pass == Pass::BackwardWeights { new_bias.as_mut_ptr() } else { core::ptr::null_mut() };
                // SAFETY: tensors of the problem's sizes.
                unsafe { plan.run(&inputs, result.as_mut_ptr(), of_bias) }.unwrap();
                for (c, (&got, &(want, size))) in new_bias.iter().zip(&bias_sum).enumerate() {
                    let bound = if exact { 0.0 } else { 1e-5 * (size + 1.0) };
                    assert!(
                        of_bias.is_null() || (f64::from(got) - want).abs() <= bound,
                        "{number}: {isa:?} {plan}: bias {c} is {got}, expected {want}\n{d:?}"
                    );
                }
                for (at, (&got, &want)) in result.iter().zip(&sum).enumerate() {
                    let bound = if exact { 0.0 } else { 3e-5 * (size[at] + 1.0) };
                    assert!(
                        (got as f64 - want).abs() <= bound,
                        "{number}: {pass:?} {isa:?} {plan}: element {at} is {got}, expected {want}\n{d:?}"
                    );
                }
                if let Some(before) = &before {
                    let same = same_bits(&before.0, result) && (of_bias.is_null() || same_bits(&before.1, &new_bias));
                    assert!(same, "{number}: {pass:?} {plan}: other bits with {threads} threads, prepared: {prepared}");
                }
                before = Some((result.to_vec(), new_bias));
            }
            set_num_threads_local(0);
        }
    }
}

#[test]
fn direct_sums_are_exact_on_small_integers() {
    let mut rng = Rng(0x1234_5678_9abc_def1);
    for number in 0..150 {
        let d = draw(&mut rng, false);
        check(number, &d, &mut rng, true);
    }
}

#[test]
fn winograd_is_within_its_bound() {
    let mut rng = Rng(0x0fed_cba9_8765_4321);
    for number in 0..30 {
        let d = draw(&mut rng, true);
        check(number, &d, &mut rng, false);
    }
}

/// Weights that are prepared as they are used, in several pieces and panels: transformed, and packed for direct sums of one tap and of
/// several.
#[test]
fn weights_in_turn() {
    let mut rng = Rng(0x5851_f42d_4c95_7f2d);
    for number in 0..3 {
        let mut d = Description::new(2);
        (d.layout, d.weights_layout) = (number as i32 % 2, number as i32);
        (d.in_channels, d.out_channels, d.input) = (150, 136, [5, 7, 0]);
        (d.kernel, d.pad_before, d.pad_after) = ([3; 3], [1; 3], [1; 3]);
        check(number, &d, &mut rng, false);
        // Two strands a side, of which fewer steps are put in order together.
        (d.kernel, d.pad_before, d.pad_after) = ([5; 3], [2; 3], [2; 3]);
        check(number, &d, &mut rng, false);
        // More than half of L2.
        (d.in_channels, d.out_channels, d.input) = (1030, 300, [2, 3, 0]);
        (d.kernel, d.pad_before, d.pad_after) = ([1; 3], [0; 3], [0; 3]);
        check(number, &d, &mut rng, true);
        (d.in_channels, d.out_channels, d.input) = (260, 250, [3, 4, 0]);
        (d.kernel, d.pad_before, d.pad_after, d.stride) = ([3; 3], [1; 3], [1; 3], [2; 3]);
        check(number, &d, &mut rng, true);
    }
}

/// Whole panels and tiles of any instruction set, what is left over of them, and images of several blocks.
#[test]
fn large_pointwise_problems_are_exact() {
    let mut rng = Rng(0x1618_0339_8874_9895);
    for number in 0..8 {
        let mut d = Description::new(2);
        (d.layout, d.weights_layout, d.batch) = (number as i32 % 2, rng.below(3) as i32, 2);
        d.groups = rng.pick(&[1, 1, 2]);
        d.in_channels = d.groups * rng.pick(&[20, 64, 70]);
        d.out_channels = d.groups * rng.pick(&[19, 64, 75, 131]);
        d.input = [rng.pick(&[24, 33]), rng.pick(&[27, 32]), 0];
        (d.beta, d.activation, d.slope) = (rng.pick(&[0.0, 1.0]), rng.below(3) as i32, 0.25);
        check(number, &d, &mut rng, true);
    }
}

/// Every number of results that the last tiles of a row and a column can have, and blocks that have no tile but those. A few
/// of these images fill their tiles so badly that another algorithm is taken; most must not.
#[test]
fn winograd_of_every_size() {
    let mut rng = Rng(0x1618_0339_8874_9895);
    // Of two to six taps a side, of one or two strands.
    for (stride, kernel) in [(1, [3, 3]), (2, [3, 3]), (1, [2, 2]), (1, [5, 5]), (1, [6, 4]), (2, [5, 6])] {
        let mut taken = 0;
        for size in 1..8 {
            let mut d = Description::new(2);
            (d.batch, d.in_channels, d.out_channels) = (24, 48, 48);
            d.input = [stride * (size + 1) - size % 2, stride * (9 - size), 0];
            (d.kernel, d.stride) = ([kernel[0], kernel[1], 1], [stride; 3]);
            (d.pad_before, d.pad_after) =
                ([kernel[0] / 2, (kernel[1] - 1) / 2, 0], [(kernel[0] - 1) / 2, kernel[1] / 2, 0]);
            (d.layout, d.weights_layout) = ((size % 2) as i32, (size % 3) as i32);
            let p = Problem::new(&d, Math::Default).unwrap();
            for pass in [Pass::Forward, Pass::BackwardData, Pass::BackwardWeights] {
                taken += Plan::with(p, pass, Kit::get()).to_string().contains("winograd") as usize;
            }
            check(size as u64, &d, &mut rng, false);
        }
        assert!(taken >= 12, "{kernel:?} stride {stride}: only {taken} of 21 by Winograd's algorithm");
    }
}

/// Depthwise of stride 2 on numbers whose sums are rounded, enough of them for threads: where these cut the channels decides about nothing.
#[test]
fn threads_do_not_change_depthwise_sums() {
    let mut rng = Rng(0x2718_2818_2845_9045);
    for (number, (channels, kernel)) in [(96, 3), (144, 5), (200, 3)].into_iter().enumerate() {
        let mut d = Description::new(2);
        (d.groups, d.in_channels, d.out_channels) = (channels, channels, channels);
        (d.layout, d.batch, d.input, d.stride) = (1, 8, [28, 28, 0], [2; 3]);
        (d.kernel, d.pad_before, d.pad_after) = ([kernel; 3], [kernel / 2; 3], [kernel / 2; 3]);
        check(number as u64, &d, &mut rng, false);
    }
}

/// Sums that are made a square of channels at a time, from several blocks of tiles, on the way to weights in every order.
#[test]
fn gradient_in_squares() {
    let mut rng = Rng(0x2236_0679_7749_9789);
    for weights_layout in 0..3 {
        let mut d = Description::new(2);
        (d.layout, d.weights_layout) = (weights_layout % 2, weights_layout);
        (d.batch, d.in_channels, d.out_channels, d.input) = (24, 37, 70, [9, 13, 0]);
        (d.kernel, d.pad_before, d.pad_after) = ([3; 3], [1; 3], [1; 3]);
        d.beta = [0.0, 1.0, -0.5][weights_layout as usize];
        check(3, &d, &mut rng, false);
    }
}

/// Enough pixels for sums in several chunks, of every kind, whose reference costs little: every pixel of the image is one, so the weight of a tap
/// that meets no padding is the sum of the result's gradient, and so is the bias.
#[test]
fn gradients_of_many_pixels() {
    let mut rng = Rng(0x2645_7513_1106_4590);
    // Layouts of images and weights, groups, channels of a group, size, kernel, stride, dilation.
    let problems = [
        (1, 1, 1, [64, 64], 56, 1, 1, 1),
        (1, 2, 1, [64, 64], 56, 1, 1, 1),
        (0, 0, 1, [64, 64], 56, 1, 1, 1),
        (0, 1, 1, [64, 64], 56, 1, 1, 1),
        (1, 1, 1, [64, 80], 56, 3, 1, 1),
        (0, 0, 1, [80, 64], 56, 3, 1, 1),
        (1, 1, 1, [3, 64], 112, 3, 1, 1),
        (1, 0, 4, [20, 24], 40, 3, 1, 2),
        (1, 1, 80, [1, 1], 40, 3, 1, 1),
        (1, 1, 8, [16, 16], 40, 3, 1, 1),
    ];
    let isas: Vec<Isa> = Isa::ALL.into_iter().filter(|&isa| isa <= cpu::detected()).collect();
    let mut chunks = 0;
    for (layout, weights_layout, groups, [i, o], size, kernel, stride, dilation) in problems {
        let mut d = Description::new(2);
        (d.layout, d.weights_layout, d.groups, d.batch) = (layout, weights_layout, groups, 16);
        (d.in_channels, d.out_channels, d.input) = (groups * i, groups * o, [size, size, 0]);
        let pad = (kernel - 1) / 2 * dilation;
        (d.kernel, d.stride, d.dilation) = ([kernel; 3], [stride; 3], [dilation; 3]);
        (d.pad_before, d.pad_after) = ([pad; 3], [pad; 3]);
        let p = Problem::new(&d, Math::Default).unwrap();
        let (x, y) = (vec![1.0f32; p.input_elements()], rng.integers(p.output_elements()));
        let (cs, f) = (p.output_strides().c as usize, p.filter_strides());
        let mut want = vec![0.0f64; p.oc];
        for (at, &value) in y.iter().enumerate() {
            want[at / cs % p.oc] += f64::from(value);
        }
        for &isa in &isas {
            let plan = Plan::with(p, Pass::BackwardWeights, Kit::of(isa));
            chunks += plan.to_string().contains("partial sums") as usize;
            let mut before: Option<(Vec<f32>, Vec<f32>)> = None;
            for threads in [1, 2, 3] {
                set_num_threads_local(threads);
                let (mut dw, mut db) = (vec![f32::NAN; p.weight_elements()], vec![f32::NAN; p.oc]);
                let inputs = Inputs {
                    x: x.as_ptr(),
                    y: y.as_ptr(),
                    weights: core::ptr::null(),
                    bias: core::ptr::null(),
                    prepared: core::ptr::null(),
                    workspace: None,
                };
                // SAFETY: tensors of the problem's sizes.
                unsafe { plan.run(&inputs, dw.as_mut_ptr(), db.as_mut_ptr()) }.unwrap();
                let middle = (kernel / 2) as isize * (f.s[1] + f.s[2]);
                for (c, &want) in want.iter().enumerate() {
                    assert_eq!(f64::from(db[c]), want, "{isa:?} {plan}: bias {c}");
                    for i in 0..p.icg() {
                        let got = dw[(c as isize * f.o + i as isize * f.i + middle) as usize];
                        // Winograd's transforms round.
                        assert!((f64::from(got) - want).abs() < 2.0, "{isa:?} {plan}: {c} {i} is {got}, not {want}");
                    }
                }
                if let Some(before) = &before {
                    let same = same_bits(&before.0, &dw) && same_bits(&before.1, &db);
                    assert!(same, "{isa:?} {plan}: other bits with {threads} threads");
                }
                before = Some((dw, db));
            }
            set_num_threads_local(0);
        }
    }
    assert!(chunks >= 7 * isas.len(), "only {chunks} of these gradients are made in chunks");
}

/// Kernels that reach beyond the padded image: three of four taps a row meet pixels, or three of five a column.
#[test]
fn taps_that_meet_padding_only() {
    let mut rng = Rng(0x1414_2135_6237_3095);
    for number in 0..12 {
        let mut d = Description::new(2);
        let group = [1, 4, 20][number % 3];
        (d.layout, d.weights_layout, d.batch) = (number as i32 % 2, number as i32 / 2 % 3, 2);
        (d.groups, d.in_channels, d.out_channels) = (40 / group, 40, 40);
        (d.kernel, d.input) = if number < 6 { ([3, 4, 1], [7, 2, 0]) } else { ([5, 3, 1], [3, 9, 0]) };
        (d.pad_before, d.pad_after) = ([1, 1, 0], [if number < 6 { 1 } else { 3 }, if number < 6 { 3 } else { 1 }, 0]);
        check(number as u64, &d, &mut rng, true);
        check(number as u64, &d, &mut rng, false);
    }
}

/// Depthwise, and groups that share vectors: pixels a page apart, more channels than a pass takes, vectors that are not full, phases
/// that some pixels of a block do not have, more columns than a register tile.
#[test]
fn small_groups_are_exact() {
    let mut rng = Rng(0x3141_5926_5358_9793);
    for number in 0..72 {
        let mut d = Description::new(2);
        let each = if number < 24 { 1 } else { rng.pick(&[2, 4, 8, 16]) };
        d.groups = if each == 1 { rng.pick(&[1024, 130, 2048]) } else { rng.pick(&[2, 3, 9, 12]) };
        (d.in_channels, d.out_channels) = (d.groups * each, d.groups * each);
        (d.layout, d.weights_layout, d.batch) = ((number % 4 != 3) as i32, number as i32 % 3, 2);
        d.transposed = (rng.below(4) == 0) as i32;
        for i in 0..2 {
            (d.input[i], d.kernel[i]) = (3 + rng.below(3), rng.pick(&[2, 3]));
            if each > 1 {
                (d.input[i], d.kernel[i]) = (3 + rng.below(18), rng.pick(&[1, 2, 3, 3, 5, 7]));
            }
            (d.stride[i], d.dilation[i]) = (rng.pick(&[1, 2, 3]), rng.pick(&[1, 1, 2]));
            (d.pad_before[i], d.pad_after[i]) = if d.transposed == 1 { (0, 0) } else { (rng.below(4), rng.below(4)) };
        }
        (d.beta, d.activation, d.slope) = (rng.pick(&[0.0, 1.0]), rng.below(3) as i32, 0.25);
        let reach = |i: usize| (d.kernel[i] - 1) * d.dilation[i] + 1;
        if (0..2).all(|i| d.transposed == 1 || d.input[i] + d.pad_before[i] + d.pad_after[i] >= reach(i)) {
            check(number, &d, &mut rng, true);
        }
    }
}

/// Windows of three rows of three taps, which slide: tiles of few and of many rows, blocks of an image, widths that fill no tile,
/// padding that leaves rows and columns out, all spreads of groups, results that are collected.
#[test]
fn sliding_windows_are_exact() {
    let mut rng = Rng(0x2718_2818_2845_9045);
    for number in 0..60 {
        let mut d = Description::new(2);
        let each = [1, 1, 2, 4, 8, 16][number as usize % 6];
        d.groups = if each == 1 { rng.pick(&[16, 37, 130]) } else { rng.pick(&[2, 5, 9]) };
        (d.in_channels, d.out_channels) = (d.groups * each, d.groups * each);
        (d.layout, d.weights_layout, d.batch) = (1, number as i32 % 3, 2);
        let stride = 1 + number as i64 / 6 % 2;
        for i in 0..2 {
            (d.input[i], d.kernel[i], d.stride[i]) = (2 + rng.below(20), 3, stride);
            (d.pad_before[i], d.pad_after[i]) = (rng.below(3), 1 + rng.below(2));
        }
        if number % 10 == 0 {
            (d.groups, d.in_channels, d.out_channels, d.batch) = (130, 130, 130, 1);
            d.input = [66, 15, 0];
        }
        if number % 10 == 5 {
            // Results a page apart, of more rows than are collected at a time.
            (d.groups, d.in_channels, d.out_channels, d.batch) = (1024, 1024, 1024, 1);
            d.input = [8 + rng.below(9), 8, 0];
        }
        (d.beta, d.activation, d.slope) = (rng.pick(&[0.0, 1.0]), rng.below(3) as i32, 0.25);
        check(number, &d, &mut rng, true);
    }
}

/// First layers, and depthwise windows that do not slide, with as many channels as the widest tiles want: all widths of a tile of
/// pixels, parts of vectors, results that are stored past the caches and some that cannot be.
#[test]
fn wide_tiles_are_exact() {
    let mut rng = Rng(0x3141_5926_5358_9793);
    for number in 0..72 {
        let mut d = Description::new(2);
        (d.layout, d.weights_layout, d.batch) = (1, number as i32 % 2, 2);
        if number % 2 == 0 {
            (d.in_channels, d.out_channels) = (3, rng.pick(&[16, 32, 32, 48, 64, 20, 27]));
        } else {
            d.groups = rng.pick(&[64, 112, 150, 512, 560]);
            (d.in_channels, d.out_channels) = (d.groups, d.groups);
        }
        let stride = rng.pick(&[1, 2, 2, 3]);
        for i in 0..2 {
            let kernel = rng.pick(&[2, 3, 3, 4, 5]);
            (d.input[i], d.kernel[i], d.stride[i]) =
                (kernel + rng.below(if d.groups > 1 { 18 } else { 30 }), kernel, stride);
            (d.pad_before[i], d.pad_after[i]) = (rng.below(3), rng.below(3));
        }
        (d.beta, d.activation, d.slope) = (rng.pick(&[0.0, 0.0, 1.0]), rng.below(3) as i32, 0.25);
        check(number, &d, &mut rng, true);
    }
}

/// Few channels on one side, windows of several taps: backward-data with its pixels in vectors, and sums of windows that are read by address.
/// All phases, some without a tap, dilation, depth, groups; parts of vectors; then several blocks of rows and pieces of channels.
#[test]
fn few_channels_are_exact() {
    let mut rng = Rng(0x1618_0339_8874_9895);
    let mut taken = 0;
    for number in 0..48 {
        let mut d = Description::new(rng.pick(&[2, 2, 3]));
        (d.layout, d.weights_layout) = ((number % 4 == 3) as i32, number as i32 % 3);
        (d.groups, d.batch) = (rng.pick(&[1, 1, 1, 2]), 2);
        d.in_channels = d.groups * (1 + rng.below(4));
        d.out_channels = d.groups * rng.pick(&[16, 20, 32, 50, 64, 70]);
        for i in 0..d.dims as usize {
            let flat = d.dims == 3 && i == 0;
            d.kernel[i] = rng.pick(if flat { &[1, 2, 3] } else { &[2, 3, 3, 4, 5] });
            (d.stride[i], d.dilation[i]) = (rng.pick(&[1, 2, 2, 3, 4]), rng.pick(&[1, 1, 1, 2]));
            (d.pad_before[i], d.pad_after[i]) = (rng.below(3), rng.below(3));
            let reach = (d.kernel[i] - 1) * d.dilation[i] + 1;
            d.input[i] = reach + rng.below(if flat { 4 } else { 25 });
        }
        if number == 0 {
            (d.dims, d.groups, d.batch, d.layout) = (2, 1, 1, 0);
            (d.in_channels, d.out_channels, d.input) = (3, 40, [171, 210, 0]);
            (d.kernel, d.stride, d.dilation) = ([3; 3], [2; 3], [1; 3]);
            (d.pad_before, d.pad_after) = ([1; 3], [1; 3]);
        }
        (d.beta, d.activation, d.slope) = (rng.pick(&[0.0, 0.0, 1.0]), rng.below(3) as i32, 0.25);
        let p = Problem::new(&d, Math::Strict).unwrap();
        taken += Plan::with(p, Pass::BackwardData, Kit::get()).to_string().contains("planar") as usize;
        check(number, &d, &mut rng, true);
    }
    assert!(taken >= 30, "only {taken} of 48 with their pixels in vectors");
}

/// A pixel that is not a number reaches the results and the weights of the taps that meet it, and no other: the last column of an image
/// meets the last tap of a row of three only once padding is left out.
#[test]
fn what_is_not_a_number_stays_with_its_taps() {
    for isa in Isa::ALL.into_iter().filter(|&isa| isa <= cpu::detected()) {
        for width in 1..17 {
            for (group, stride, height) in [(1, 1, 3), (4, 1, 3), (1, 1, 9), (4, 1, 9), (1, 2, 9), (4, 2, 9)] {
                let mut d = Description::new(2);
                (d.layout, d.groups, d.in_channels, d.out_channels) = (1, 8 / group, 8, 8);
                (d.input, d.kernel, d.pad_before, d.pad_after) = ([height, width, 0], [3; 3], [1; 3], [1; 3]);
                d.stride = [stride; 3];
                let p = Problem::new(&d, Math::Strict).unwrap();
                let (mut x, y) = (vec![1.0; p.input_elements()], vec![1.0; p.output_elements()]);
                // Row 1, the last column, channel 5.
                x[((width + width - 1) * 8 + 5) as usize] = f32::NAN;
                let (mut met, mut reached) = (vec![false; p.weight_elements()], vec![false; p.output_elements()]);
                triples(&p, |x, w, y| {
                    met[w] |= x == ((width + width - 1) * 8 + 5) as usize;
                    reached[y] |= x == ((width + width - 1) * 8 + 5) as usize;
                });
                let weights = vec![1.0f32; p.weight_elements()];
                let mut results = vec![0.0f32; p.output_elements()];
                let mut dw = vec![0.0f32; p.weight_elements()];
                let none = core::ptr::null();
                let (x, weights) = (x.as_ptr(), weights.as_ptr());
                let inputs = Inputs { x, weights, bias: none, y: y.as_ptr(), prepared: none, workspace: None };
                // SAFETY: tensors of the problem.
                unsafe {
                    let run = |pass, to| Plan::with(p, pass, Kit::of(isa)).run(&inputs, to, core::ptr::null_mut());
                    run(Pass::BackwardWeights, dw.as_mut_ptr()).unwrap();
                    run(Pass::Forward, results.as_mut_ptr()).unwrap();
                }
                for (i, (sum, reached)) in results.iter().zip(reached).enumerate() {
                    assert_eq!(sum.is_nan(), reached, "{} {width} columns, groups of {group}, result {i}", isa.name());
                }
                for (i, (sum, met)) in dw.iter().zip(met).enumerate() {
                    assert_eq!(sum.is_nan(), met, "{} {width} columns, groups of {group}, weight {i}", isa.name());
                }
            }
        }
    }
}

/// The promise of docs/convolution.md: 64 MiB beyond the weights, whatever the problem and the number of threads.
#[test]
fn memory_is_bounded_for_any_number_of_threads() {
    let mut rng = Rng(0x2718_2818_2845_9045);
    let isas: Vec<Isa> = Isa::ALL.into_iter().filter(|&isa| isa <= cpu::detected()).collect();
    for _ in 0..1500 {
        let mut d = Description::new(rng.pick(&[1, 2, 2, 2, 3]));
        (d.layout, d.weights_layout) = (rng.below(2) as i32, rng.below(3) as i32);
        d.math = rng.pick(&[1, 1, 2]);
        d.batch = rng.pick(&[1, 2, 16, 64, 256]);
        d.transposed = (rng.below(5) == 0) as i32;
        d.groups = rng.pick(&[1, 1, 1, 4, 32]);
        d.in_channels = d.groups * rng.pick(&[1, 3, 4, 16, 64, 256, 512, 2048]);
        d.out_channels = d.groups * rng.pick(&[1, 3, 4, 16, 64, 256, 512, 2048]);
        if rng.below(6) == 0 {
            d.groups = rng.pick(&[32, 130, 1024]);
            (d.in_channels, d.out_channels) = (d.groups, d.groups);
        }
        for i in 0..d.dims as usize {
            d.kernel[i] = rng.pick(&[1, 1, 3, 3, 3, 5, 7]);
            d.stride[i] = rng.pick(&[1, 1, 2, 4]);
            d.dilation[i] = rng.pick(&[1, 1, 1, 2]);
            (d.pad_before[i], d.pad_after[i]) = (d.kernel[i] / 2, d.kernel[i] / 2);
            d.input[i] = 13 + rng.pick(&[0, 1, 15, 43, 100, 211, 1000]) / d.dims as i64;
        }
        let Ok(p) = Problem::new(&d, Math::Default) else { continue };
        for pass in [Pass::Forward, Pass::BackwardData, Pass::BackwardWeights] {
            let plan = Plan::with(p, pass, Kit::of(isas[rng.below(isas.len() as u64) as usize]));
            for wanted in [1, 2, 3, 8, 16, 64] {
                let threads = plan.within_bounds(wanted);
                assert!(threads >= 1 && threads <= wanted);
                let (got, most) = (plan.room(threads, true).bytes(threads), MOST_BYTES + plan.in_proportion());
                assert!(got <= most, "{wanted} threads: {got} bytes, not {most}: {plan}");
                // A few threads are never turned away.
                assert!(threads == wanted || wanted > 2, "{threads} threads of {wanted}: {plan}");
            }
        }
    }
}

/// The reason that is given is one of the problem at hand.
#[test]
fn reasons_are_those_of_the_problem() {
    let kit = Kit::get();
    type Change = fn(&mut Description);
    let why = |change: Change| {
        let mut d = Description::new(2);
        (d.batch, d.in_channels, d.out_channels, d.input) = (8, 64, 64, [32, 32, 0]);
        change(&mut d);
        Plan::with(Problem::new(&d, Math::Default).unwrap(), Pass::Forward, kit).to_string()
    };
    let cases: &[(&str, Change)] = &[
        ("pointwise, pixels in vectors", |_| ()),
        ("one tap, but strided or padded", |d| d.pad_before = [1; 3]),
        ("one tap, but strided or padded", |d| d.stride = [2; 3]),
        ("one tap, and the channels of a pixel", |d| d.layout = 1),
        ("one tap, but few pixels", |d| d.input = [5, 5, 0]),
        ("because: the kernel has one tap, or more than six a side", |d| d.kernel = [7; 3]),
        ("because: the kernel has one tap a side, and a stride", |d| (d.kernel, d.stride) = ([1, 3, 1], [2; 3])),
        ("because: tiles would save few products", |d| (d.kernel, d.stride) = ([2; 3], [2; 3])),
        ("because: kernel of up to 6x6 taps, stride 1 or 2", |d| d.kernel = [3; 3]),
        ("because: math is strict", |d| (d.kernel, d.math) = ([3; 3], 2)),
        ("because: every channel is a group", |d| (d.kernel, d.groups) = ([3; 3], 64)),
        ("because: groups share vectors", |d| (d.kernel, d.groups, d.layout) = ([3; 3], 16, 1)),
        ("because: few channels in a group", |d| (d.kernel, d.groups) = ([3; 3], 16)),
    ];
    for &(expected, change) in cases {
        let got = why(change);
        assert!(got.contains(expected), "{got}: expected {expected:?}");
    }
}
