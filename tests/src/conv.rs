//! Convolution: the struct of `corten.h`, problems at random, and a reference.
//!
//! The reference knows nothing of the library: it lists every (input, weight,
//! output) triple of a convolution by its definition, as offsets that it counts
//! from the layouts' names, and each pass is a sum over these triples in f64.

use crate::func;
use crate::guard::{Guarded, Place};
use crate::rng::Rng;
use std::ffi::{CStr, c_char, c_int, c_void};

/// `corten_conv` as the header has it.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct Conv {
    pub struct_size: usize,
    pub data_type: i32,
    pub dims: i32,
    pub layout: i32,
    pub weights_layout: i32,
    pub transposed: i32,
    pub math: i32,
    pub activation: i32,
    pub slope: f32,
    pub beta: f32,
    pub reserved: i32,
    pub batch: i64,
    pub groups: i64,
    pub in_channels: i64,
    pub out_channels: i64,
    pub input: [i64; 3],
    pub output: [i64; 3],
    pub kernel: [i64; 3],
    pub stride: [i64; 3],
    pub dilation: [i64; 3],
    pub pad_before: [i64; 3],
    pub pad_after: [i64; 3],
}

pub const STRICT: i32 = 2;

impl Conv {
    pub fn new(dims: i32) -> Conv {
        let mut conv = std::mem::MaybeUninit::<Conv>::uninit();
        let init = func!(corten_conv_init: fn(*mut Conv, c_int));
        // SAFETY: fills in the struct.
        unsafe {
            init(conv.as_mut_ptr(), dims);
            conv.assume_init()
        }
    }

    /// The output's size, or the library's message.
    pub fn output_size(&self) -> Result<[i64; 3], String> {
        let mut size = [0; 3];
        let output_size = func!(corten_conv_output_size: fn(*const Conv, *mut i64) -> c_int);
        // SAFETY: a struct and room for three numbers.
        let status = unsafe { output_size(self, size.as_mut_ptr()) };
        if status == 0 { Ok(size) } else { Err(last_error()) }
    }

    /// What `corten_conv_explain` says of a pass.
    pub fn explain(&self, pass: c_int) -> String {
        let mut text = [0 as c_char; 400];
        let explain = func!(corten_conv_explain: fn(*const Conv, c_int, *mut c_char, usize) -> c_int);
        // SAFETY: a struct and a buffer of the length said.
        unsafe {
            assert_eq!(explain(self, pass, text.as_mut_ptr(), text.len()), 0, "{}", last_error());
            CStr::from_ptr(text.as_ptr()).to_string_lossy().into_owned()
        }
    }
}

pub fn last_error() -> String {
    let last_error = func!(corten_last_error: fn() -> *const c_char);
    // SAFETY: a C string.
    unsafe { CStr::from_ptr(last_error()) }.to_string_lossy().into_owned()
}

#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Pass {
    Forward,
    BackwardData,
    BackwardWeights,
}

pub const PASSES: [Pass; 3] = [Pass::Forward, Pass::BackwardData, Pass::BackwardWeights];

/// Sizes of the convolution inside: a transposed one has its ends exchanged.
pub struct Sizes {
    pub batch: usize,
    pub groups: usize,
    pub ic: usize,
    pub oc: usize,
    pub input: [usize; 3],
    pub output: [usize; 3],
    pub kernel: [usize; 3],
    stride: [usize; 3],
    dilation: [usize; 3],
    pad: [usize; 3],
    last: bool,
    weights: i32,
}

impl Sizes {
    pub fn new(c: &Conv, output: [i64; 3]) -> Sizes {
        let dims = c.dims as usize;
        // Missing dimensions are ones in front.
        let three = |from: [i64; 3], fill: usize| {
            let mut to = [fill; 3];
            for i in 0..dims {
                to[3 - dims + i] = from[i] as usize;
            }
            to
        };
        let (mut input, mut output) = (three(c.input, 1), three(output, 1));
        let (mut ic, mut oc) = (c.in_channels as usize, c.out_channels as usize);
        if c.transposed == 1 {
            (input, output, ic, oc) = (output, input, oc, ic);
        }
        Sizes {
            batch: c.batch as usize,
            groups: c.groups as usize,
            ic,
            oc,
            input,
            output,
            kernel: three(c.kernel, 1),
            stride: three(c.stride, 1),
            dilation: three(c.dilation, 1),
            pad: three(c.pad_before, 0),
            last: c.layout == 1,
            weights: c.weights_layout,
        }
    }
    pub fn x(&self) -> usize {
        self.batch * self.ic * self.input.iter().product::<usize>()
    }
    pub fn y(&self) -> usize {
        self.batch * self.oc * self.output.iter().product::<usize>()
    }
    pub fn w(&self) -> usize {
        self.oc * (self.ic / self.groups) * self.kernel.iter().product::<usize>()
    }
    pub fn products(&self) -> usize {
        self.y() * (self.ic / self.groups) * self.kernel.iter().product::<usize>()
    }

    fn pixel(&self, n: usize, c: usize, channels: usize, size: [usize; 3], at: [usize; 3]) -> usize {
        let place = (at[0] * size[1] + at[1]) * size[2] + at[2];
        let pixels = size.iter().product::<usize>();
        if self.last { (n * pixels + place) * channels + c } else { (n * channels + c) * pixels + place }
    }
    /// Channel of an element of an image tensor.
    pub fn channel(&self, at: usize, channels: usize, size: [usize; 3]) -> usize {
        if self.last { at % channels } else { at / size.iter().product::<usize>() % channels }
    }

    /// Every (input element, weight, output element) that is multiplied.
    pub fn triples(&self, mut f: impl FnMut(usize, usize, usize)) {
        let (icg, ocg) = (self.ic / self.groups, self.oc / self.groups);
        let [kd, kh, kw] = self.kernel;
        let [od, oh, ow] = self.output;
        for n in 0..self.batch {
            for o in 0..self.oc {
                for i in 0..icg {
                    let c = o / ocg * icg + i;
                    for k in 0..kd * kh * kw {
                        let k3 = [k / (kh * kw), k / kw % kh, k % kw];
                        let weight = match self.weights {
                            0 => (o * icg + i) * kd * kh * kw + k,
                            1 => (k * icg + i) * self.oc + o,
                            _ => (o * kd * kh * kw + k) * icg + i,
                        };
                        for q in 0..od * oh * ow {
                            let q3 = [q / (oh * ow), q / ow % oh, q % ow];
                            let mut at = [0; 3];
                            let inside = (0..3).all(|d| {
                                let place = q3[d] * self.stride[d] + k3[d] * self.dilation[d];
                                at[d] = place.wrapping_sub(self.pad[d]);
                                place >= self.pad[d] && at[d] < self.input[d]
                            });
                            if inside {
                                let x = self.pixel(n, c, self.ic, self.input, at);
                                f(x, weight, self.pixel(n, o, self.oc, self.output, q3));
                            }
                        }
                    }
                }
            }
        }
    }
}

/// Tensors of a problem, of the convolution inside, and the bias of the call.
pub struct Data {
    pub x: Vec<f32>,
    pub y: Vec<f32>,
    pub w: Vec<f32>,
    pub bias: Vec<f32>,
}

impl Data {
    pub fn new(s: &Sizes, c: &Conv, mut value: impl FnMut() -> f32) -> Data {
        let mut draw = |n: usize| (0..n).map(|_| value()).collect();
        Data { x: draw(s.x()), y: draw(s.y()), w: draw(s.w()), bias: draw(c.out_channels as usize) }
    }
}

/// What a pass must give: the results, and the sum of magnitudes that their errors are measured by.
pub fn expected(c: &Conv, s: &Sizes, d: &Data, pass: Pass) -> (Vec<f64>, Vec<f64>) {
    let transposed = c.transposed == 1;
    // In terms of the convolution inside: which tensor is written.
    let old = result(d, pass, transposed);
    let (mut sum, mut size) = (vec![0.0f64; old.len()], vec![0.0f64; old.len()]);
    s.triples(|x, w, y| {
        let (at, a, b) = match (pass, transposed) {
            (Pass::BackwardWeights, _) => (w, d.x[x], d.y[y]),
            (Pass::Forward, false) | (Pass::BackwardData, true) => (y, d.x[x], d.w[w]),
            _ => (x, d.y[y], d.w[w]),
        };
        sum[at] += f64::from(a) * f64::from(b);
        size[at] += (f64::from(a) * f64::from(b)).abs();
    });
    let (channels, image) = if transposed { (s.ic, s.input) } else { (s.oc, s.output) };
    for (at, sum) in sum.iter_mut().enumerate() {
        if c.beta != 0.0 {
            *sum += f64::from(c.beta) * f64::from(old[at]);
        }
        size[at] += (f64::from(c.beta) * f64::from(old[at])).abs();
        if pass == Pass::Forward {
            let bias = f64::from(d.bias[s.channel(at, channels, image)]);
            *sum += bias;
            size[at] += bias.abs();
            if *sum < 0.0 {
                *sum *= [1.0, 0.0, f64::from(c.slope)][c.activation as usize];
            }
        }
    }
    (sum, size)
}

/// The gradient of the bias.
pub fn expected_bias(c: &Conv, s: &Sizes, d: &Data) -> Vec<f64> {
    let (channels, image, dy) = if c.transposed == 1 { (s.ic, s.input, &d.x) } else { (s.oc, s.output, &d.y) };
    let mut sum: Vec<f64> = d.bias.iter().map(|&b| f64::from(c.beta) * f64::from(b)).collect();
    for (at, &x) in dy.iter().enumerate() {
        sum[s.channel(at, channels, image)] += f64::from(x);
    }
    sum
}

fn result(d: &Data, pass: Pass, transposed: bool) -> &Vec<f32> {
    match (pass, transposed) {
        (Pass::BackwardWeights, _) => &d.w,
        (Pass::Forward, false) | (Pass::BackwardData, true) => &d.y,
        _ => &d.x,
    }
}

/// A copy of a tensor between guard pages.
pub fn guarded(values: &[f32], end: bool) -> Guarded {
    let memory = Guarded::new(size_of_val(values), if end { Place::End } else { Place::Start });
    // SAFETY: as many bytes.
    unsafe { std::ptr::copy_nonoverlapping(values.as_ptr().cast::<u8>(), memory.ptr(), memory.len()) };
    memory
}

pub fn values(memory: &Guarded) -> Vec<f32> {
    // SAFETY: floats were copied there.
    unsafe { std::slice::from_raw_parts(memory.ptr().cast::<f32>(), memory.len() / 4) }.to_vec()
}

/// A call's results: the tensor, and the bias's gradient of backward-weights.
pub struct Outcome {
    pub status: c_int,
    pub result: Vec<f32>,
    pub bias: Vec<f32>,
}

pub type Ptr = *mut c_void;

/// Runs a pass with all tensors between guard pages. What is overwritten holds NaN before. `workspace`: none, or this many
/// bytes, guarded too.
pub fn run(c: &Conv, d: &Data, pass: Pass, end: bool, workspace: Option<usize>) -> Outcome {
    let transposed = c.transposed == 1;
    let (x, w) = (guarded(&d.x, end), guarded(&d.w, end));
    let (y, bias) = (guarded(&d.y, end), guarded(&d.bias, end));
    let overwritten = |from: &Vec<f32>| {
        let values = if c.beta == 0.0 { vec![f32::NAN; from.len()] } else { from.clone() };
        guarded(&values, end)
    };
    let out = overwritten(result(d, pass, transposed));
    let out_bias = overwritten(&d.bias);
    let space = workspace.map(|bytes| Guarded::new(bytes, if end { Place::End } else { Place::Start }));
    let (at, bytes) = space.as_ref().map_or((std::ptr::null_mut(), 0), |s| (s.ptr().cast::<c_void>(), s.len()));
    let (x, y) = if transposed { (&y, &x) } else { (&x, &y) };
    let [x, y, w, bias, out_at, out_bias_at] = [x, y, &w, &bias, &out, &out_bias].map(|m| m.ptr().cast::<c_void>());
    let forward = func!(corten_conv_forward: fn(*const Conv, Ptr, Ptr, Ptr, Ptr, Ptr, usize) -> c_int);
    let data = func!(corten_conv_backward_data: fn(*const Conv, Ptr, Ptr, Ptr, Ptr, usize) -> c_int);
    let weights = func!(corten_conv_backward_weights: fn(*const Conv, Ptr, Ptr, Ptr, Ptr, Ptr, usize) -> c_int);
    // SAFETY: tensors of the sizes that the problem says.
    let status = unsafe {
        match pass {
            Pass::Forward => forward(c, x, w, bias, out_at, at, bytes),
            Pass::BackwardData => data(c, w, y, out_at, at, bytes),
            Pass::BackwardWeights => weights(c, x, y, out_at, out_bias_at, at, bytes),
        }
    };
    Outcome { status, result: values(&out), bias: values(&out_bias) }
}

/// A random problem, small enough for the reference.
pub fn draw(rng: &mut Rng) -> Conv {
    loop {
        let mut c = Conv::new(rng.pick(&[1, 2, 2, 2, 3]));
        c.layout = rng.below(2) as i32;
        c.weights_layout = rng.below(3) as i32;
        c.transposed = (rng.below(4) == 0) as i32;
        c.batch = rng.pick(&[0, 1, 1, 2, 3, 5]);
        c.groups = rng.pick(&[1, 1, 1, 1, 2, 3]);
        let winograd = rng.below(6) == 0 && c.dims > 1;
        if rng.below(6) == 0 {
            c.groups = rng.pick(&[2, 3, 8, 17, 40]);
            c.in_channels = c.groups;
            c.out_channels = c.groups * rng.pick(&[1, 1, 2]);
        } else if rng.below(8) == 0 {
            // Groups that share vectors.
            let each = rng.pick(&[2, 4, 8, 16]);
            c.groups = rng.pick(&[2, 3, 5, 9]);
            (c.in_channels, c.out_channels) = (c.groups * each, c.groups * each);
        } else if winograd {
            c.in_channels = c.groups * rng.pick(&[17, 24, 25]);
            c.out_channels = c.groups * rng.pick(&[19, 24, 27]);
        } else {
            c.in_channels = c.groups * rng.pick(&[1, 2, 3, 3, 4, 8, 17, 20, 33]);
            c.out_channels = c.groups * rng.pick(&[1, 2, 3, 6, 8, 16, 19, 34, 50]);
        }
        for i in 0..c.dims as usize {
            c.kernel[i] = rng.pick(&[1, 1, 2, 3, 3, 4, 5, 7]);
            c.stride[i] = rng.pick(&[1, 1, 1, 2, 3, 4]);
            c.dilation[i] = rng.pick(&[1, 1, 1, 2, 3]);
            (c.pad_before[i], c.pad_after[i]) = (rng.pick(&[0, 1, 1, 2, 3, 9]), rng.pick(&[0, 1, 1, 2, 3, 9]));
            if winograd {
                (c.kernel[i], c.stride[i], c.dilation[i]) = (rng.pick(&[3, 3, 2, 4, 5]), 1, 1);
                (c.pad_before[i], c.pad_after[i]) = (rng.below(4) as i64, rng.below(4) as i64);
            }
            let reach = (c.kernel[i] - 1) * c.dilation[i] + 1;
            let least = (reach - c.pad_before[i] - c.pad_after[i]).max(1);
            let more = if c.dims == 1 { 60 } else { 12 };
            c.input[i] = least + rng.below(more) as i64;
            if c.transposed == 1 {
                c.input[i] = 1 + rng.below(if c.dims == 1 { 20 } else { 7 }) as i64;
                let all = (c.input[i] - 1) * c.stride[i] + reach;
                if all - c.pad_before[i] - c.pad_after[i] < 1 {
                    (c.pad_before[i], c.pad_after[i]) = (0, 0);
                }
                if rng.below(2) == 0 {
                    c.output[i] = all - c.pad_before[i] - c.pad_after[i] + rng.below(c.stride[i] as usize) as i64;
                }
            }
        }
        if rng.below(12) == 0 {
            // An image with enough pixels for vectors of them, and one tap.
            let dims = c.dims as usize;
            (c.kernel, c.stride, c.dilation, c.output) = ([1; 3], [1; 3], [1; 3], [0; 3]);
            (c.pad_before, c.pad_after) = ([0; 3], [0; 3]);
            c.input[..dims].copy_from_slice(&[[230, 1, 1], [15, 14, 1], [5, 7, 6]][dims - 1][..dims]);
            c.batch = c.batch.min(2);
        }
        c.beta = rng.pick(&[0.0, 0.0, 1.0, -0.5]);
        c.activation = rng.below(3) as i32;
        c.slope = rng.pick(&[0.25, 2.0, -0.5]);
        let size = c.output_size().unwrap_or_else(|e| panic!("{c:?}: {e}"));
        if Sizes::new(&c, size).products() <= 150_000 {
            return c;
        }
    }
}
