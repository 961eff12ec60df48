//! What is to be computed: a description as C gives it, checked field by field, and the problem it becomes.
//!
//! Inside, everything has three spatial dimensions (depth, height, width; those that are not there are 1) and nothing is
//! transposed: a transposed convolution is the gradient of a convolution with input and output exchanged, so its forward
//! pass is that convolution's backward-data pass, and so on ([`Pass::of`]).

use crate::kernels::conv::Activation;
use crate::status::{Error, Status};

/// The plain struct of `corten.h`; the header says what each field means.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct Description {
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

impl Description {
    /// What `corten_conv_init` fills in: one image of one channel and one pixel, kernel 1, unit strides, no padding.
    pub fn new(dims: i32) -> Description {
        Description {
            struct_size: size_of::<Description>(),
            data_type: 0,
            dims,
            layout: 0,
            weights_layout: 0,
            transposed: 0,
            math: 0,
            activation: 0,
            slope: 0.0,
            beta: 0.0,
            reserved: 0,
            batch: 1,
            groups: 1,
            in_channels: 1,
            out_channels: 1,
            input: [1; 3],
            output: [0; 3],
            kernel: [1; 3],
            stride: [1; 3],
            dilation: [1; 3],
            pad_before: [0; 3],
            pad_after: [0; 3],
        }
    }
}

fn invalid<T>(message: String) -> Result<T, Error> {
    Err(Error::new(Status::Argument, message))
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Layout {
    /// N, C, then space: a row of an image is consecutive.
    First,
    /// N, space, then C: the channels of a pixel are consecutive.
    Last,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Filter {
    /// Output channel, input channel, space.
    Oihw,
    /// Space, input channel, output channel.
    Hwio,
    /// Output channel, space, input channel.
    Ohwi,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Math {
    /// Winograd where it is faster; its error bound is in docs/convolution.md.
    Default,
    /// Sums of products in full precision only.
    Strict,
}

/// The pass of the call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Pass {
    Forward,
    BackwardData,
    BackwardWeights,
}

impl Pass {
    /// The pass of the convolution that a pass of `transposed` is.
    pub fn of(self, transposed: bool) -> Pass {
        match (self, transposed) {
            (Pass::Forward, true) => Pass::BackwardData,
            (Pass::BackwardData, true) => Pass::Forward,
            (pass, _) => pass,
        }
    }
    pub fn name(self) -> &'static str {
        match self {
            Pass::Forward => "forward",
            Pass::BackwardData => "backward_data",
            Pass::BackwardWeights => "backward_weights",
        }
    }
}

/// A checked problem. Input, output and their channels are those of the convolution: exchanged if it is transposed.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Problem {
    pub dims: usize,
    pub layout: Layout,
    pub filter: Filter,
    pub transposed: bool,
    pub math: Math,
    pub activation: Activation<f32>,
    pub beta: f32,
    pub batch: usize,
    pub groups: usize,
    /// Channels of all groups.
    pub ic: usize,
    pub oc: usize,
    pub input: [usize; 3],
    pub output: [usize; 3],
    pub kernel: [usize; 3],
    pub stride: [usize; 3],
    pub dilation: [usize; 3],
    /// Before the first element; what is behind the last one follows from the sizes.
    pub pad: [usize; 3],
}

/// Elements between neighbours of an image tensor.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Strides {
    pub n: isize,
    pub c: isize,
    pub s: [isize; 3],
}

/// The same of weights: output channel (of all groups), input channel (of one), space.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FilterStrides {
    pub o: isize,
    pub i: isize,
    pub s: [isize; 3],
}

/// The largest size of a dimension, padding or stride: sums of a few cannot overflow.
const MOST: i64 = 1 << 40;
/// The largest tensor, in elements.
const MOST_ELEMENTS: u128 = 1 << 60;

impl Problem {
    /// Checks a description. `default` is the math mode that 0 stands for.
    pub fn new(d: &Description, default: Math) -> Result<Problem, Error> {
        if d.struct_size != size_of::<Description>() {
            return invalid(format!(
                "struct_size is {}, but this library's corten_conv has {} bytes: call corten_conv_init",
                d.struct_size,
                size_of::<Description>()
            ));
        }
        if d.data_type != 0 {
            return Err(Error {
                status: Status::Unsupported,
                text: format!("data_type is {}, expected CORTEN_F32 (0): no other type yet", d.data_type),
            });
        }
        if !(1..=3).contains(&d.dims) {
            return invalid(format!("dims is {}, expected 1, 2 or 3", d.dims));
        }
        let layout = match d.layout {
            0 => Layout::First,
            1 => Layout::Last,
            x => {
                return invalid(format!(
                    "layout is {x}, expected CORTEN_CHANNELS_FIRST (0) or CORTEN_CHANNELS_LAST (1)"
                ));
            }
        };
        let filter = match d.weights_layout {
            0 => Filter::Oihw,
            1 => Filter::Hwio,
            2 => Filter::Ohwi,
            x => {
                return invalid(format!(
                    "weights_layout is {x}, expected CORTEN_OIHW (0), CORTEN_HWIO (1) or CORTEN_OHWI (2)"
                ));
            }
        };
        let transposed = match d.transposed {
            0 => false,
            1 => true,
            x => return invalid(format!("transposed is {x}, expected 0 or 1")),
        };
        let math = match d.math {
            0 => default,
            1 => Math::Default,
            2 => Math::Strict,
            x => return invalid(format!("math is {x}, expected CORTEN_MATH_UNSET (0), _DEFAULT (1) or _STRICT (2)")),
        };
        let activation = match d.activation {
            0 => Activation::None,
            1 => Activation::Relu,
            2 if d.slope.is_nan() => return invalid("slope is not a number".into()),
            2 if d.slope == 0.0 => Activation::Relu,
            2 => Activation::Leaky(d.slope),
            x => {
                return invalid(format!(
                    "activation is {x}, expected CORTEN_NO_ACTIVATION (0), CORTEN_RELU (1) or CORTEN_LEAKY_RELU (2)"
                ));
            }
        };
        if d.beta.is_nan() {
            return invalid("beta is not a number".into());
        }
        if d.reserved != 0 {
            return invalid(format!("reserved is {}, expected 0", d.reserved));
        }
        let within = |name: &str, value: i64, least: i64| -> Result<usize, Error> {
            if value < least || value > MOST {
                return invalid(format!("{name} is {value}, expected {least} to {MOST}"));
            }
            Ok(value as usize)
        };
        let batch = within("batch", d.batch, 0)?;
        let groups = within("groups", d.groups, 1)?;
        let in_channels = within("in_channels", d.in_channels, 1)?;
        let out_channels = within("out_channels", d.out_channels, 1)?;
        for (name, channels) in [("in_channels", in_channels), ("out_channels", out_channels)] {
            if !channels.is_multiple_of(groups) {
                return invalid(format!("{name} is {channels}, expected a multiple of groups, which is {groups}"));
            }
        }
        let dims = d.dims as usize;
        let mut p = Problem {
            dims,
            layout,
            filter,
            transposed,
            math,
            activation,
            beta: d.beta,
            batch,
            groups,
            ic: if transposed { out_channels } else { in_channels },
            oc: if transposed { in_channels } else { out_channels },
            input: [1; 3],
            output: [1; 3],
            kernel: [1; 3],
            stride: [1; 3],
            dilation: [1; 3],
            pad: [0; 3],
        };
        for i in 0..dims {
            let at = 3 - dims + i;
            let input = within(&format!("input[{i}]"), d.input[i], 0)?;
            let output = within(&format!("output[{i}]"), d.output[i], 0)?;
            let kernel = within(&format!("kernel[{i}]"), d.kernel[i], 1)?;
            let stride = within(&format!("stride[{i}]"), d.stride[i], 1)?;
            let dilation = within(&format!("dilation[{i}]"), d.dilation[i], 1)?;
            let before = within(&format!("pad_before[{i}]"), d.pad_before[i], 0)?;
            let after = within(&format!("pad_after[{i}]"), d.pad_after[i], 0)?;
            let reach = (kernel - 1).checked_mul(dilation).filter(|&r| r <= MOST as usize);
            let Some(reach) = reach.map(|r| r + 1) else {
                return invalid(format!("(kernel[{i}] - 1) * dilation[{i}] is larger than {MOST}"));
            };
            // The sizes of the convolution: its output follows from its input.
            let (small, large) = if transposed {
                let least = (input.max(1) - 1).checked_mul(stride).map(|n| (n + reach).saturating_sub(before + after));
                let Some(least) = least.filter(|&n| n <= MOST as usize && input > 0) else {
                    return invalid(format!("input[{i}] is {input}: the output has no size, or one beyond {MOST}"));
                };
                (input, if output == 0 { least } else { output })
            } else {
                (output, input)
            };
            let padded = large + before + after;
            if padded < reach {
                let name = if transposed { "output" } else { "input" };
                return invalid(format!(
                    "{name}[{i}] is {large}, and {padded} with its padding of {before} and {after}, expected at least \
                     {reach}: kernel[{i}] {kernel} with dilation[{i}] {dilation} reaches over so many"
                ));
            }
            let derived = (padded - reach) / stride + 1;
            if transposed {
                if derived != small {
                    return invalid(format!(
                        "output[{i}] is {output}: a convolution of it with this kernel, stride, dilation and padding has \
                         {derived} elements, not input[{i}], which is {input}"
                    ));
                }
            } else if output != 0 && output != derived {
                return invalid(format!(
                    "output[{i}] is {output}, but input[{i}] {input}, padding {before} and {after}, kernel {kernel}, \
                     dilation {dilation} and stride {stride} give {derived}"
                ));
            }
            p.input[at] = large;
            p.output[at] = derived;
            p.kernel[at] = kernel;
            p.stride[at] = stride;
            p.dilation[at] = dilation;
            p.pad[at] = before;
        }
        for (name, sizes) in [
            (if transposed { "output" } else { "input" }, [p.batch, p.ic, p.input[0], p.input[1], p.input[2]]),
            (if transposed { "input" } else { "output" }, [p.batch, p.oc, p.output[0], p.output[1], p.output[2]]),
            ("weights", [p.oc, p.ic / p.groups, p.kernel[0], p.kernel[1], p.kernel[2]]),
        ] {
            // Even an empty batch must not make a stride overflow.
            let elements = sizes.iter().try_fold(1u128, |n, &x| n.checked_mul(x.max(1) as u128));
            if elements.is_none_or(|n| n > MOST_ELEMENTS) {
                return invalid(format!("the {name} tensor {sizes:?} has more than 2^60 elements"));
            }
        }
        Ok(p)
    }

    /// The same problem without what only the forward pass has.
    pub fn without_epilogue(mut self) -> Problem {
        self.activation = Activation::None;
        self
    }
    pub fn icg(&self) -> usize {
        self.ic / self.groups
    }
    pub fn ocg(&self) -> usize {
        self.oc / self.groups
    }
    /// Products and sums of one pass, both counted.
    pub fn flops(&self) -> f64 {
        let points: f64 = self.output.iter().chain(&self.kernel).map(|&n| n as f64).product();
        2.0 * points * self.batch as f64 * self.oc as f64 * self.icg() as f64
    }
    fn image(&self, channels: usize, size: [usize; 3]) -> Strides {
        let [d, h, w] = size.map(|n| n as isize);
        let c = channels as isize;
        match self.layout {
            Layout::First => Strides { n: c * d * h * w, c: d * h * w, s: [h * w, w, 1] },
            Layout::Last => Strides { n: c * d * h * w, c: 1, s: [h * w * c, w * c, c] },
        }
    }
    pub fn input_strides(&self) -> Strides {
        self.image(self.ic, self.input)
    }
    pub fn output_strides(&self) -> Strides {
        self.image(self.oc, self.output)
    }
    pub fn filter_strides(&self) -> FilterStrides {
        let [_, h, w] = self.kernel.map(|n| n as isize);
        let taps = self.taps() as isize;
        let (i, o) = (self.icg() as isize, self.oc as isize);
        match self.filter {
            Filter::Oihw => FilterStrides { o: i * taps, i: taps, s: [h * w, w, 1] },
            Filter::Hwio => FilterStrides { o: 1, i: o, s: [h * w * i * o, w * i * o, i * o] },
            Filter::Ohwi => FilterStrides { o: i * taps, i: 1, s: [h * w * i, w * i, i] },
        }
    }
    pub fn taps(&self) -> usize {
        self.kernel.iter().product()
    }
    pub fn input_elements(&self) -> usize {
        self.batch * self.ic * self.input.iter().product::<usize>()
    }
    pub fn output_elements(&self) -> usize {
        self.batch * self.oc * self.output.iter().product::<usize>()
    }
    pub fn weight_elements(&self) -> usize {
        self.oc * self.icg() * self.taps()
    }
    /// The output of the call, as the description counts its dimensions.
    pub fn result(&self) -> [usize; 3] {
        let size = if self.transposed { self.input } else { self.output };
        let mut out = [1; 3];
        out[..self.dims].copy_from_slice(&size[3 - self.dims..]);
        out
    }
}

/// In benchdnn's notation: `mb16ic64ih56oc64oh56kh3ph1`.
impl core::fmt::Display for Problem {
    fn fmt(&self, f: &mut core::fmt::Formatter) -> core::fmt::Result {
        if self.groups > 1 {
            write!(f, "g{}", self.groups)?;
        }
        write!(f, "mb{}", self.batch)?;
        let letters = &["d", "h", "w"][3 - self.dims..];
        let from = 3 - self.dims;
        write!(f, "ic{}", self.ic)?;
        for (i, x) in letters.iter().enumerate() {
            write!(f, "i{x}{}", self.input[from + i])?;
        }
        write!(f, "oc{}", self.oc)?;
        for (i, x) in letters.iter().enumerate() {
            write!(f, "o{x}{}", self.output[from + i])?;
        }
        for (i, x) in letters.iter().enumerate() {
            write!(f, "k{x}{}", self.kernel[from + i])?;
        }
        for (i, x) in letters.iter().enumerate() {
            write!(f, "s{x}{}", self.stride[from + i])?;
        }
        for (i, x) in letters.iter().enumerate() {
            write!(f, "p{x}{}", self.pad[from + i])?;
        }
        for (i, x) in letters.iter().enumerate() {
            if self.dilation[from + i] > 1 {
                write!(f, "d{x}{}", self.dilation[from + i] - 1)?;
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn plain() -> Description {
        let mut d = Description::new(2);
        (d.batch, d.in_channels, d.out_channels) = (2, 6, 4);
        (d.input, d.kernel, d.pad_before, d.pad_after) = ([9, 7, 0], [3, 3, 0], [1, 1, 0], [1, 1, 0]);
        d
    }

    #[test]
    fn output_follows_from_the_rest_or_is_checked_against_it() {
        let mut d = plain();
        d.stride = [2, 3, 1];
        assert_eq!(Problem::new(&d, Math::Default).unwrap().output, [1, 5, 3]);
        d.output = [5, 3, 0];
        assert!(Problem::new(&d, Math::Default).is_ok());
        d.output = [5, 4, 0];
        let error = Problem::new(&d, Math::Default).unwrap_err();
        assert!(error.text.starts_with("output[1] is 4, but input[1] 7"), "{}", error.text);
    }

    #[test]
    fn a_transposed_convolution_has_its_sizes_exchanged() {
        let mut d = plain();
        (d.transposed, d.stride) = (1, [2, 2, 1]);
        let p = Problem::new(&d, Math::Default).unwrap();
        assert_eq!((p.input, p.output, p.ic, p.oc), ([1, 17, 13], [1, 9, 7], 4, 6));
        d.output = [18, 13, 0];
        assert_eq!(Problem::new(&d, Math::Default).unwrap().input, [1, 18, 13]);
        d.output = [19, 13, 0];
        assert!(Problem::new(&d, Math::Default).unwrap_err().text.contains("output[0] is 19"));
    }

    /// Every field, one wrong value each: the message names it.
    #[test]
    fn a_message_names_the_bad_field() {
        type Change = fn(&mut Description);
        let cases: &[(&str, Change)] = &[
            ("struct_size", |d| d.struct_size = 8),
            ("data_type", |d| d.data_type = 9),
            ("dims", |d| d.dims = 4),
            ("dims", |d| d.dims = 0),
            ("layout", |d| d.layout = 2),
            ("weights_layout", |d| d.weights_layout = 3),
            ("transposed", |d| d.transposed = 2),
            ("math", |d| d.math = 3),
            ("activation", |d| d.activation = 3),
            ("slope", |d| (d.activation, d.slope) = (2, f32::NAN)),
            ("beta", |d| d.beta = f32::NAN),
            ("reserved", |d| d.reserved = 1),
            ("batch", |d| d.batch = -1),
            ("groups", |d| d.groups = 0),
            ("in_channels", |d| d.in_channels = 0),
            ("out_channels", |d| d.out_channels = -4),
            ("in_channels", |d| d.groups = 4),
            ("out_channels", |d| d.groups = 3),
            ("input[0]", |d| d.input[0] = -1),
            ("input[0] is 0", |d| d.input[0] = 0),
            ("output[1]", |d| d.output[1] = -1),
            ("kernel[0]", |d| d.kernel[0] = 0),
            ("stride[1]", |d| d.stride[1] = 0),
            ("dilation[0]", |d| d.dilation[0] = 0),
            ("pad_before[1]", |d| d.pad_before[1] = -1),
            ("pad_after[0]", |d| d.pad_after[0] = -1),
            ("kernel[1]", |d| d.kernel[1] = 10),
            ("kernel[0]", |d| (d.kernel[0], d.dilation[0]) = (1 << 30, 1 << 30)),
            ("input", |d| (d.batch, d.in_channels) = (1 << 39, 6 << 30)),
        ];
        for (name, change) in cases {
            let mut d = plain();
            change(&mut d);
            let error = Problem::new(&d, Math::Default).expect_err(name);
            assert!(error.text.contains(name), "{name}: {}", error.text);
        }
    }
}
