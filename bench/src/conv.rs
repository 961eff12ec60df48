//! The race of convolutions: libcorten against oneDNN, found as `libdnnl.so` and called through its C API.
//!
//!     corten-bench --conv [--threads N] [--rounds R] [--mb N] [--layouts nhwc,nchw] [--passes fwd,bwd_d,bwd_w]
//!                  [--dnnl PATH] [--own-layout] [--plan] [--check] [--csv FILE] [--markdown FILE] [--svg FILE]
//!                  [--set resnet50|alexnet|first|cosmoflow|resnext|mobilenet|random]... [PROBLEM...]
//!
//! Problems are in benchdnn's notation: `mb256ic64ih56oc64oh56kh3ph1n"name"`; what is left out is as there (width as height,
//! stride 1, dilation 0, output from the rest). As in the race of BLAS, each library has a process of its own, they are
//! asked in turn, rounds interleaved, and those not asked are stopped. Both work on tensors in the same user layout;
//! weights are in the form that each library asks for (ours plain, prepared anew in every call; oneDNN's reordered
//! beforehand, not counted). With `--plan` ours are prepared beforehand too. With `--own-layout` oneDNN gets all tensors in
//! its own blocked layout, no reorder counted. Results of the first call are compared by a weighted checksum in the user's
//! layout; `--check` does nothing else.

use crate::peers::{self, Lib};
use crate::sys::{self, Library};
use std::ffi::{CStr, c_char, c_int, c_void};
use std::io::{BufRead, BufReader, Write};
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

/// A problem as benchdnn writes it, dimensions depth, height, width.
#[derive(Clone, Debug, PartialEq)]
pub struct Problem {
    pub mb: i64,
    pub g: i64,
    pub ic: i64,
    pub oc: i64,
    pub dims: usize,
    pub i: [i64; 3],
    pub o: [i64; 3],
    pub k: [i64; 3],
    pub s: [i64; 3],
    pub p: [i64; 3],
    /// 0 is dense.
    pub d: [i64; 3],
}

impl Problem {
    pub fn parse(text: &str) -> Result<Problem, String> {
        let mut fields = std::collections::HashMap::new();
        let mut rest = text.trim();
        while !rest.is_empty() && !rest.starts_with('n') {
            let letters =
                rest.find(|c: char| c.is_ascii_digit()).ok_or_else(|| format!("{text}: a number is missing"))?;
            let (key, tail) = rest.split_at(letters);
            let digits = tail.find(|c: char| !c.is_ascii_digit()).unwrap_or(tail.len());
            let value: i64 = tail[..digits].parse().map_err(|_| format!("{text}: {tail} is too large"))?;
            if fields.insert(key.trim_matches('_').to_string(), value).is_some() {
                return Err(format!("{text}: {key} is given twice"));
            }
            rest = &tail[digits..];
            rest = rest.trim_start_matches('_');
        }
        let mut take = |key: &str| fields.remove(key);
        let (mb, g) = (take("mb").unwrap_or(2), take("g").unwrap_or(1));
        let (ic, oc) = (take("ic"), take("oc"));
        let mut get = |letter: &str, default: Option<i64>| -> [Option<i64>; 3] {
            let [d, h, w] = ["d", "h", "w"].map(|x| take(&format!("{letter}{x}")));
            // Width as height, depth as height, where they are left out.
            let w = w.or(h);
            let h = h.or(w);
            [d, h, w].map(|x| x.or(default))
        };
        let i = get("i", None);
        let dims = if i[0].is_some() { 3 } else { 2 };
        let (o, k) = (get("o", None), get("k", None));
        let (mut s, p, d) = (get("s", Some(1)), get("p", Some(0)), get("d", Some(0)));
        if let Some(unknown) = fields.keys().next() {
            return Err(format!("{text}: {unknown} is not known"));
        }
        let (Some(ic), Some(oc)) = (ic, oc) else { return Err(format!("{text}: ic and oc are needed")) };
        let mut problem =
            Problem { mb, g, ic, oc, dims, i: [1; 3], o: [1; 3], k: [1; 3], s: [1; 3], p: [0; 3], d: [0; 3] };
        for x in 3 - dims..3 {
            // A cube given by its depth only.
            let or_depth = |v: [Option<i64>; 3]| v[x].or(v[0]);
            let (Some(size), Some(kernel)) = (or_depth(i), or_depth(k)) else {
                return Err(format!("{text}: ih and kh are needed"));
            };
            s[x] = s[x].or(Some(1));
            let (stride, pad, dilation) = (s[x].unwrap_or(1), p[x].unwrap_or(0), d[x].unwrap_or(0));
            let reach = (kernel - 1) * (dilation + 1) + 1;
            let output = or_depth(o).unwrap_or((size + 2 * pad - reach) / stride.max(1) + 1);
            if stride < 1 || kernel < 1 || size < 1 || output < 1 {
                return Err(format!("{text}: sizes must be positive"));
            }
            (problem.i[x], problem.k[x], problem.s[x]) = (size, kernel, stride);
            (problem.p[x], problem.d[x], problem.o[x]) = (pad, dilation, output);
        }
        if problem.g < 1 || ic % problem.g != 0 || oc % problem.g != 0 {
            return Err(format!("{text}: ic and oc are no multiples of g"));
        }
        Ok(problem)
    }
    /// Padding behind the last element, from the output's size.
    fn after(&self, x: usize) -> i64 {
        let reach = (self.k[x] - 1) * (self.d[x] + 1) + 1;
        (self.o[x] - 1) * self.s[x] + reach - self.i[x] - self.p[x]
    }
    fn flops(&self) -> f64 {
        let points: f64 = self.o.iter().chain(&self.k).map(|&n| n as f64).product();
        2.0 * points * (self.mb * self.oc * self.ic / self.g) as f64
    }
    fn x(&self) -> usize {
        (self.mb * self.ic * self.i.iter().product::<i64>()) as usize
    }
    fn y(&self) -> usize {
        (self.mb * self.oc * self.o.iter().product::<i64>()) as usize
    }
    fn w(&self) -> usize {
        (self.oc * self.ic / self.g * self.k.iter().product::<i64>()) as usize
    }
}

impl std::fmt::Display for Problem {
    fn fmt(&self, f: &mut std::fmt::Formatter) -> std::fmt::Result {
        let letters = ["d", "h", "w"];
        if self.g > 1 {
            write!(f, "g{}", self.g)?;
        }
        write!(f, "mb{}ic{}oc{}", self.mb, self.ic, self.oc)?;
        for (x, l) in letters.iter().enumerate().skip(3 - self.dims) {
            write!(
                f,
                "_i{l}{}o{l}{}k{l}{}s{l}{}p{l}{}d{l}{}",
                self.i[x], self.o[x], self.k[x], self.s[x], self.p[x], self.d[x]
            )?;
        }
        Ok(())
    }
}

/// A number in [-0.5, 0.5) that depends on `i` only. Not periodic: exchanged channels must not go unnoticed.
fn noise(i: usize) -> f32 {
    (crate::worker::noise(i) - 0.5) as f32
}

fn filled(n: usize, salt: usize) -> Vec<f32> {
    (0..n).map(|i| noise(i.wrapping_mul(7).wrapping_add(salt))).collect()
}

/// Sum that a result is compared by, and the size that it has if the elements are independent: errors of rounding are
/// far below it, elements in wrong places are of its order.
fn checksum(values: &[f32]) -> (f64, f64) {
    let (sum, squares) = values.iter().enumerate().fold((0.0, 0.0), |(sum, squares), (i, &x)| {
        let weighted = f64::from(x) * f64::from(noise(i));
        (sum + weighted, squares + weighted * weighted)
    });
    (sum, squares.sqrt())
}

/// What a worker does: one call on tensors that it holds.
trait Engine {
    /// Prepares a problem; then `call` may be called again and again, and `result` looked at.
    fn prepare(&mut self, p: &Problem, pass: &str, last: bool) -> Result<String, String>;
    fn call(&mut self) -> Result<(), String>;
    fn result(&mut self) -> Result<Vec<f32>, String>;
}

/// `corten_conv` of `corten.h`.
#[repr(C)]
#[derive(Clone, Copy)]
struct Conv {
    struct_size: usize,
    head: [i32; 7],
    slope: f32,
    beta: f32,
    reserved: i32,
    batch: i64,
    groups: i64,
    in_channels: i64,
    out_channels: i64,
    /// input, output, kernel, stride, dilation, padding before and after
    space: [[i64; 3]; 7],
}

/// An array that begins with a cache line, as those do that oneDNN allocates: a vector of numbers begins 16 bytes behind one, and every
/// access to a vector register's worth of it meets two lines.
#[derive(Default)]
struct Tensor {
    lines: Vec<Line>,
    len: usize,
}

#[derive(Clone, Copy)]
#[repr(C, align(64))]
struct Line([f32; 16]);

impl From<Vec<f32>> for Tensor {
    fn from(values: Vec<f32>) -> Tensor {
        let mut lines = vec![Line([0.0; 16]); values.len().div_ceil(16)];
        for (line, values) in lines.iter_mut().zip(values.chunks(16)) {
            line.0[..values.len()].copy_from_slice(values);
        }
        Tensor { lines, len: values.len() }
    }
}

impl Tensor {
    fn as_mut_ptr(&mut self) -> *mut f32 {
        self.lines.as_mut_ptr().cast()
    }
    fn to_vec(&self) -> Vec<f32> {
        self.lines.iter().flat_map(|line| line.0).take(self.len).collect()
    }
}

struct Corten {
    lib: Library,
    conv: Conv,
    pass: usize,
    /// Whether weights are kept in a plan, and the plan.
    keeps: bool,
    plan: Ptr,
    x: Tensor,
    y: Tensor,
    w: Tensor,
    b: Tensor,
}

type Fn6 = unsafe extern "C" fn(*const Conv, *mut f32, *mut f32, *mut f32, *mut c_void, usize) -> c_int;
type Fn7 = unsafe extern "C" fn(*const Conv, *mut f32, *mut f32, *mut f32, *mut f32, *mut c_void, usize) -> c_int;

impl Corten {
    fn symbol(&self, name: &str) -> Result<*const c_void, String> {
        self.lib.symbol(name).ok_or_else(|| format!("has no {name}"))
    }
}

impl Engine for Corten {
    fn prepare(&mut self, p: &Problem, pass: &str, last: bool) -> Result<String, String> {
        type Init = unsafe extern "C" fn(*mut Conv, c_int);
        type Explain = unsafe extern "C" fn(*const Conv, c_int, *mut c_char, usize) -> c_int;
        // SAFETY: the functions of corten.h.
        let (init, explain) = unsafe {
            (
                std::mem::transmute::<*const c_void, Init>(self.symbol("corten_conv_init")?),
                std::mem::transmute::<*const c_void, Explain>(self.symbol("corten_conv_explain")?),
            )
        };
        self.pass = ["fwd", "bwd_d", "bwd_w"].iter().position(|&x| x == pass).ok_or("no such pass")?;
        let c = &mut self.conv;
        // SAFETY: fills in the struct.
        unsafe { init(c, p.dims as c_int) };
        // Channels-last images go with TensorFlow's weights, channels-first ones with PyTorch's.
        (c.head[2], c.head[3]) = (last as i32, last as i32);
        (c.batch, c.groups, c.in_channels, c.out_channels) = (p.mb, p.g, p.ic, p.oc);
        for (n, x) in (3 - p.dims..3).enumerate() {
            for (field, value) in
                [p.i[x], p.o[x], p.k[x], p.s[x], p.d[x] + 1, p.p[x], p.after(x).max(0)].iter().enumerate()
            {
                c.space[field][n] = *value;
            }
        }
        (self.x, self.y) = (filled(p.x(), 1).into(), filled(p.y(), 2).into());
        (self.w, self.b) = (weights(p, last).into(), filled(p.oc as usize, 4).into());
        let mut text = [0 as c_char; 400];
        // SAFETY: a struct and a buffer.
        let status = unsafe { explain(&self.conv, self.pass as c_int, text.as_mut_ptr(), text.len()) };
        if status != 0 {
            return Err(self.last_error());
        }
        // SAFETY: a C string.
        let text = unsafe { CStr::from_ptr(text.as_ptr()) }.to_string_lossy().into_owned();
        if self.keeps && self.pass < 2 {
            type Create = unsafe extern "C" fn(*const Conv, c_int, *mut f32, *mut Ptr) -> c_int;
            type Destroy = unsafe extern "C" fn(Ptr);
            let (create, destroy) = (self.symbol("corten_conv_plan_create")?, self.symbol("corten_conv_plan_destroy")?);
            // SAFETY: functions of corten.h on a plan that they made, or none.
            let status = unsafe {
                std::mem::transmute::<*const c_void, Destroy>(destroy)(self.plan);
                self.plan = std::ptr::null_mut();
                let create = std::mem::transmute::<*const c_void, Create>(create);
                create(&self.conv, self.pass as c_int, self.w.as_mut_ptr(), &mut self.plan)
            };
            if status != 0 {
                return Err(self.last_error());
            }
        }
        Ok(text.split(": ").nth(1).unwrap_or("").split(';').next().unwrap_or("").replace(' ', "_"))
    }
    fn call(&mut self) -> Result<(), String> {
        let null = std::ptr::null_mut();
        if self.keeps && self.pass < 2 {
            return self.call_plan();
        }
        let names = ["corten_conv_forward", "corten_conv_backward_data", "corten_conv_backward_weights"];
        let f = self.symbol(names[self.pass])?;
        let (x, y, w, b) = (self.x.as_mut_ptr(), self.y.as_mut_ptr(), self.w.as_mut_ptr(), self.b.as_mut_ptr());
        // SAFETY: functions of corten.h on tensors of the problem.
        let status = unsafe {
            match self.pass {
                0 => std::mem::transmute::<*const c_void, Fn7>(f)(&self.conv, x, w, b, y, null, 0),
                1 => std::mem::transmute::<*const c_void, Fn6>(f)(&self.conv, w, y, x, null, 0),
                _ => std::mem::transmute::<*const c_void, Fn7>(f)(&self.conv, x, y, w, b, null, 0),
            }
        };
        if status == 0 { Ok(()) } else { Err(self.last_error()) }
    }
    fn result(&mut self) -> Result<Vec<f32>, String> {
        // Weights in the order of the others' plain form.
        Ok([&self.y, &self.x, &self.w][self.pass].to_vec())
    }
}

impl Corten {
    fn call_plan(&mut self) -> Result<(), String> {
        type Forward = unsafe extern "C" fn(Ptr, *mut f32, *mut f32, *mut f32, *mut f32, Ptr, usize) -> c_int;
        type Data = unsafe extern "C" fn(Ptr, *mut f32, *mut f32, *mut f32, Ptr, usize) -> c_int;
        let f = self.symbol(["corten_conv_plan_forward", "corten_conv_plan_backward_data"][self.pass])?;
        let (x, y, b) = (self.x.as_mut_ptr(), self.y.as_mut_ptr(), self.b.as_mut_ptr());
        let none = std::ptr::null_mut();
        // SAFETY: functions of corten.h on tensors of the plan's problem.
        let status = unsafe {
            match self.pass {
                0 => std::mem::transmute::<*const c_void, Forward>(f)(self.plan, x, none, b, y, none.cast(), 0),
                _ => std::mem::transmute::<*const c_void, Data>(f)(self.plan, none, y, x, none.cast(), 0),
            }
        };
        if status == 0 { Ok(()) } else { Err(self.last_error()) }
    }
    fn last_error(&self) -> String {
        let Some(f) = self.lib.symbol("corten_last_error") else { return "failed".into() };
        // SAFETY: a function of corten.h; it returns a C string.
        unsafe {
            let f = std::mem::transmute::<*const c_void, unsafe extern "C" fn() -> *const c_char>(f);
            CStr::from_ptr(f()).to_string_lossy().into_owned()
        }
    }
}

/// The same weights in both orders: HWIO for channels-last, OIHW for channels-first.
fn weights(p: &Problem, last: bool) -> Vec<f32> {
    let (o, i, k) = (p.oc as usize, (p.ic / p.g) as usize, p.k.iter().product::<i64>() as usize);
    let mut w = vec![0.0; p.w()];
    for a in 0..o {
        for b in 0..i {
            for t in 0..k {
                let at = if last { (t * i + b) * o + a } else { (a * i + b) * k + t };
                w[at] = noise(((a * i + b) * k + t).wrapping_mul(7).wrapping_add(3));
            }
        }
    }
    w
}

/// oneDNN 3.x, of whose C API only what is called here.
struct Dnnl {
    lib: Library,
    own: bool,
    engine: Ptr,
    stream: Ptr,
    primitive: Ptr,
    args: Vec<Arg>,
    /// The result: its memory, the description in the user's layout, elements.
    out: (Ptr, Ptr, usize),
}

type Ptr = *mut c_void;

#[repr(C)]
#[derive(Clone, Copy)]
struct Arg {
    index: c_int,
    memory: Ptr,
}

const F32: c_int = 3;
const ANY: c_int = 1;
const TRAINING: c_int = 64;
const DIRECT: c_int = 1;
// Arguments of a primitive.
const SRC: c_int = 1;
const DST: c_int = 17;
const WEIGHTS: c_int = 33;
const BIAS: c_int = 41;
const DIFF_SRC: c_int = 129;
const DIFF_DST: c_int = 145;
const DIFF_WEIGHTS: c_int = 161;
const DIFF_BIAS: c_int = 169;
const QUERY_EXEC_ARG: c_int = 255;

/// Calls a function of oneDNN by name; a status other than 0 is an error.
macro_rules! dnnl {
    ($self:ident, $name:ident($($a:expr => $t:ty),*)) => {{
        let f = $self.lib.symbol(concat!("dnnl_", stringify!($name))).ok_or(concat!("has no dnnl_", stringify!($name)))?;
        // SAFETY: the function of oneDNN's C API with this signature, on objects that it made.
        let status = unsafe {
            std::mem::transmute::<*const c_void, unsafe extern "C" fn($($t),*) -> c_int>(f)($($a),*)
        };
        if status != 0 {
            return Err(format!("dnnl_{}: status {status}", stringify!($name)));
        }
    }};
}

impl Dnnl {
    fn open(path: &str, own: bool) -> Result<Dnnl, String> {
        let null = std::ptr::null_mut();
        let lib = Library::open(path)?;
        let mut d =
            Dnnl { lib, own, engine: null, stream: null, primitive: null, args: Vec::new(), out: (null, null, 0) };
        d.start()?;
        Ok(d)
    }
    fn start(&mut self) -> Result<(), String> {
        dnnl!(self, engine_create(&mut self.engine => *mut Ptr, 1 => c_int, 0 => usize));
        dnnl!(self, stream_create(&mut self.stream => *mut Ptr, self.engine => Ptr, 1 => c_int));
        Ok(())
    }
    fn plain(&self, dims: &[i64], strides: &[i64]) -> Result<Ptr, String> {
        let (mut md, mut d, mut s) = (std::ptr::null_mut(), [0i64; 12], [0i64; 12]);
        d[..dims.len()].copy_from_slice(dims);
        s[..dims.len()].copy_from_slice(strides);
        dnnl!(self, memory_desc_create_with_strides(&mut md => *mut Ptr, dims.len() as c_int => c_int,
            d.as_ptr() => *const i64, F32 => c_int, s.as_ptr() => *const i64));
        Ok(md)
    }
    fn any(&self, dims: &[i64]) -> Result<Ptr, String> {
        let (mut md, mut d) = (std::ptr::null_mut(), [0i64; 12]);
        d[..dims.len()].copy_from_slice(dims);
        dnnl!(self, memory_desc_create_with_tag(&mut md => *mut Ptr, dims.len() as c_int => c_int,
            d.as_ptr() => *const i64, F32 => c_int, ANY => c_int));
        Ok(md)
    }
    /// A tensor in memory that oneDNN allocates (null data) or that the caller has.
    fn memory(&self, md: Ptr, data: Option<&mut Vec<f32>>) -> Result<Ptr, String> {
        let mut m = std::ptr::null_mut();
        let at = data.map_or(usize::MAX as Ptr, |v| v.as_mut_ptr().cast());
        dnnl!(self, memory_create(&mut m => *mut Ptr, md => Ptr, self.engine => Ptr, at => Ptr));
        Ok(m)
    }
    fn reorder(&self, from: (Ptr, Ptr), to: (Ptr, Ptr)) -> Result<(), String> {
        let (mut pd, mut primitive) = (std::ptr::null_mut(), std::ptr::null_mut());
        dnnl!(self, reorder_primitive_desc_create(&mut pd => *mut Ptr, from.0 => Ptr, self.engine => Ptr,
            to.0 => Ptr, self.engine => Ptr, std::ptr::null_mut() => Ptr));
        dnnl!(self, primitive_create(&mut primitive => *mut Ptr, pd => Ptr));
        let args = [Arg { index: SRC, memory: from.1 }, Arg { index: DST, memory: to.1 }];
        self.execute(primitive, &args)
    }
    fn execute(&self, primitive: Ptr, args: &[Arg]) -> Result<(), String> {
        dnnl!(self, primitive_execute(primitive => Ptr, self.stream => Ptr, args.len() as c_int => c_int,
            args.as_ptr() => *const Arg));
        dnnl!(self, stream_wait(self.stream => Ptr));
        Ok(())
    }
}

impl Engine for Dnnl {
    fn prepare(&mut self, p: &Problem, pass: &str, last: bool) -> Result<String, String> {
        // The tensors of the problem before. Its descriptions, which are small, stay until the process ends.
        for arg in std::mem::take(&mut self.args) {
            dnnl!(self, memory_destroy(arg.memory => Ptr));
        }
        if !self.primitive.is_null() {
            let primitive = std::mem::replace(&mut self.primitive, std::ptr::null_mut());
            dnnl!(self, primitive_destroy(primitive => Ptr));
        }
        let from = 3 - p.dims;
        let image = |channels: i64, size: [i64; 3]| -> (Vec<i64>, Vec<i64>) {
            let mut dims = vec![p.mb, channels];
            dims.extend(&size[from..]);
            let pixels: i64 = size.iter().product();
            let step = if last { channels } else { 1 };
            let mut strides = vec![channels * pixels, if last { 1 } else { pixels }];
            strides.extend((from..3).map(|x| step * size[x + 1..].iter().product::<i64>()));
            (dims, strides)
        };
        let (i, o) = (p.ic / p.g, p.oc / p.g);
        let taps: i64 = p.k.iter().product();
        let mut wdims = vec![o, i];
        let mut wstrides = if last { vec![1, p.oc] } else { vec![i * taps, taps] };
        if p.g > 1 {
            wdims.insert(0, p.g);
            wstrides.insert(0, if last { o } else { o * i * taps });
        }
        for x in from..3 {
            wdims.push(p.k[x]);
            let inner: i64 = p.k[x + 1..].iter().product();
            wstrides.push(inner * if last { i * p.oc } else { 1 });
        }
        let ((xd, xs), (yd, ys)) = (image(p.ic, p.i), image(p.oc, p.o));
        let (x_user, y_user, w_user) = (self.plain(&xd, &xs)?, self.plain(&yd, &ys)?, self.plain(&wdims, &wstrides)?);
        let (x_md, y_md) = if self.own { (self.any(&xd)?, self.any(&yd)?) } else { (x_user, y_user) };
        let (w_md, b_md) = (self.any(&wdims)?, self.plain(&[p.oc], &[1])?);
        let pad = |v: &dyn Fn(usize) -> i64| -> [i64; 12] {
            let mut out = [0; 12];
            (from..3).enumerate().for_each(|(n, x)| out[n] = v(x));
            out
        };
        let (s, d) = (pad(&|x| p.s[x]), pad(&|x| p.d[x]));
        let (before, after) = (pad(&|x| p.p[x]), pad(&|x| p.after(x)));
        let null = std::ptr::null_mut();
        let (mut forward, mut pd) = (null, null);
        type Dims = *const i64;
        dnnl!(self, convolution_forward_primitive_desc_create(&mut forward => *mut Ptr, self.engine => Ptr,
            TRAINING => c_int, DIRECT => c_int, x_md => Ptr, w_md => Ptr, b_md => Ptr, y_md => Ptr, s.as_ptr() => Dims,
            d.as_ptr() => Dims, before.as_ptr() => Dims, after.as_ptr() => Dims, null => Ptr));
        match pass {
            "fwd" => pd = forward,
            "bwd_d" => dnnl!(self, convolution_backward_data_primitive_desc_create(&mut pd => *mut Ptr,
                self.engine => Ptr, DIRECT => c_int, x_md => Ptr, w_md => Ptr, y_md => Ptr, s.as_ptr() => Dims,
                d.as_ptr() => Dims, before.as_ptr() => Dims, after.as_ptr() => Dims, forward => Ptr, null => Ptr)),
            _ => dnnl!(self, convolution_backward_weights_primitive_desc_create(&mut pd => *mut Ptr,
                self.engine => Ptr, DIRECT => c_int, x_md => Ptr, w_md => Ptr, b_md => Ptr, y_md => Ptr,
                s.as_ptr() => Dims, d.as_ptr() => Dims, before.as_ptr() => Dims, after.as_ptr() => Dims,
                forward => Ptr, null => Ptr)),
        }
        dnnl!(self, primitive_create(&mut self.primitive => *mut Ptr, pd => Ptr));
        let query = self.lib.symbol("dnnl_primitive_desc_query_md").ok_or("has no dnnl_primitive_desc_query_md")?;
        // SAFETY: the function of oneDNN's C API with this signature.
        let query =
            unsafe { std::mem::transmute::<*const c_void, unsafe extern "C" fn(Ptr, c_int, c_int) -> Ptr>(query) };
        let (x, y, w, b) = match pass {
            "fwd" => (SRC, DST, WEIGHTS, BIAS),
            "bwd_d" => (DIFF_SRC, DIFF_DST, WEIGHTS, 0),
            _ => (SRC, DIFF_DST, DIFF_WEIGHTS, DIFF_BIAS),
        };
        self.args.clear();
        for (index, user, mut values) in [
            (x, x_user, filled(p.x(), 1)),
            (y, y_user, filled(p.y(), 2)),
            (w, w_user, weights(p, last)),
            (b, b_md, filled(p.oc as usize, 4)),
        ] {
            if index == 0 {
                continue;
            }
            // SAFETY: a descriptor of the primitive.
            let md = unsafe { query(pd, QUERY_EXEC_ARG, index) };
            let memory = self.memory(md, None)?;
            let plain = self.memory(user, Some(&mut values))?;
            self.reorder((user, plain), (md, memory))?;
            self.args.push(Arg { index, memory });
            let is_result = index
                == match pass {
                    "fwd" => DST,
                    "bwd_d" => DIFF_SRC,
                    _ => DIFF_WEIGHTS,
                };
            if is_result {
                self.out = (memory, user, values.len());
            }
        }
        let mut name: *const c_char = std::ptr::null();
        dnnl!(self, primitive_desc_query(pd => Ptr, 8 => c_int, 0 => c_int, &mut name => *mut *const c_char));
        if name.is_null() {
            return Ok("?".into());
        }
        // SAFETY: a C string that lives as long as the descriptor.
        Ok(unsafe { CStr::from_ptr(name) }.to_string_lossy().replace(' ', "_"))
    }
    fn call(&mut self) -> Result<(), String> {
        self.execute(self.primitive, &self.args)
    }
    fn result(&mut self) -> Result<Vec<f32>, String> {
        let (memory, user, n) = self.out;
        let mut values = vec![0.0; n];
        let plain = self.memory(user, Some(&mut values))?;
        let mut md = std::ptr::null_mut();
        dnnl!(self, memory_get_memory_desc(memory => Ptr, &mut md => *mut Ptr));
        self.reorder((md, memory), (user, plain))?;
        Ok(values)
    }
}

/// A worker: `--conv-worker KIND PATH CPU`; questions `PASS LAYOUT SECONDS PROBLEM`, answers
/// `=seconds sum magnitude name` or `=none REASON`.
pub fn worker(args: &[String]) -> Result<(), String> {
    sys::die_with_parent();
    let [kind, path, cpu] = args else { return Err("usage: --conv-worker KIND PATH CPU".into()) };
    if let Ok(cpu) = cpu.parse() {
        sys::pin(cpu)?;
    }
    let mut engine: Box<dyn Engine> = match kind.as_str() {
        "corten" | "corten-plan" => {
            let (none, plan) = (Tensor::default, std::ptr::null_mut());
            // SAFETY: a plain struct of numbers.
            let conv = unsafe { std::mem::zeroed() };
            let (lib, keeps) = (Library::open(path)?, kind == "corten-plan");
            Box::new(Corten { lib, conv, pass: 0, keeps, plan, x: none(), y: none(), w: none(), b: none() })
        }
        "onednn" => Box::new(Dnnl::open(path, false)?),
        _ => Box::new(Dnnl::open(path, true)?),
    };
    for line in std::io::stdin().lock().lines().map_while(Result::ok) {
        let fields: Vec<&str> = line.split(' ').collect();
        let [pass, layout, seconds, problem] = fields[..] else { return Err(format!("not understood: {line}")) };
        let mut measure = || -> Result<String, String> {
            let problem = Problem::parse(problem)?;
            let least: f64 = seconds.parse().map_err(|_| "no number of seconds".to_string())?;
            let name = engine.prepare(&problem, pass, layout == "nhwc")?;
            engine.call()?;
            let (sum, magnitude) = checksum(&engine.result()?);
            let (start, mut best, mut calls) = (Instant::now(), f64::INFINITY, 0);
            while calls < 2 || start.elapsed().as_secs_f64() < least {
                let one = Instant::now();
                engine.call()?;
                best = best.min(one.elapsed().as_secs_f64());
                calls += 1;
            }
            Ok(format!("{best} {sum} {magnitude} {name}"))
        };
        let answer = measure().unwrap_or_else(|e| format!("none {e}"));
        println!("={answer}");
        std::io::stdout().flush().map_err(|e| e.to_string())?;
    }
    Ok(())
}

struct Racer {
    name: &'static str,
    child: Child,
    answers: BufReader<std::process::ChildStdout>,
    stops: bool,
}

struct Answer {
    seconds: f64,
    sum: f64,
    magnitude: f64,
    name: String,
}

impl Racer {
    fn start(name: &'static str, path: &str, threads: usize) -> Result<Racer, String> {
        let exe = std::env::current_exe().map_err(|e| e.to_string())?;
        let cpu = if threads == 1 { sys::allowed_cpus().pop() } else { None };
        let mut command = Command::new(exe);
        command.args(["--conv-worker", name, path, &cpu.map_or("-".into(), |c| c.to_string())]);
        for variable in ["CORTEN_NUM_THREADS", "OMP_NUM_THREADS"] {
            command.env(variable, threads.to_string());
        }
        let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().map_err(|e| e.to_string())?;
        let output = child.stdout.take().ok_or("no pipe")?;
        Ok(Racer { name, child, answers: BufReader::new(output), stops: threads > 1 })
    }
    fn ask(&mut self, question: &str) -> Result<Answer, String> {
        if self.stops {
            sys::set_stopped(&self.child, false);
        }
        let input = self.child.stdin.as_mut().ok_or("no pipe")?;
        writeln!(input, "{question}").map_err(|_| format!("{} ended", self.name))?;
        let mut line = String::new();
        loop {
            line.clear();
            if self.answers.read_line(&mut line).map_err(|e| e.to_string())? == 0 {
                return Err(format!("{} ended", self.name));
            }
            if line.starts_with('=') {
                break;
            }
        }
        if self.stops {
            sys::set_stopped(&self.child, true);
        }
        let fields: Vec<&str> = line.trim().trim_start_matches('=').splitn(4, ' ').collect();
        match fields[..] {
            [seconds, sum, magnitude, name] if seconds != "none" => {
                let number = |x: &str| x.parse::<f64>().map_err(|_| format!("answered {line:?}"));
                let (seconds, sum, magnitude) = (number(seconds)?, number(sum)?, number(magnitude)?);
                Ok(Answer { seconds, sum, magnitude, name: name.into() })
            }
            _ => Err(line.trim().trim_start_matches("=none ").to_string()),
        }
    }
}

impl Drop for Racer {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// The problems of a set, each `mb` left to the caller.
fn set(name: &str) -> Option<Vec<String>> {
    let one = |ic: i64, size: i64, oc: i64, k: i64, s: i64, p: i64| format!("ic{ic}ih{size}oc{oc}kh{k}sh{s}ph{p}");
    let list = |from: &[(i64, i64, i64, i64, i64, i64)]| {
        from.iter().map(|&(a, b, c, d, e, f)| one(a, b, c, d, e, f)).collect()
    };
    Some(match name {
        "resnet50" => list(&[
            (3, 224, 64, 7, 2, 3),
            (64, 56, 256, 1, 1, 0),
            (64, 56, 64, 1, 1, 0),
            (64, 56, 64, 3, 1, 1),
            (256, 56, 64, 1, 1, 0),
            (128, 28, 128, 3, 1, 1),
            (128, 28, 512, 1, 1, 0),
            (512, 28, 128, 1, 1, 0),
            (256, 14, 256, 3, 1, 1),
            (256, 14, 1024, 1, 1, 0),
            (1024, 14, 256, 1, 1, 0),
            (512, 7, 512, 3, 1, 1),
            (512, 7, 2048, 1, 1, 0),
            (2048, 7, 512, 1, 1, 0),
            (256, 56, 128, 1, 1, 0),
            (128, 56, 128, 3, 2, 1),
            (512, 28, 256, 1, 1, 0),
            (256, 28, 256, 3, 2, 1),
            (1024, 14, 512, 1, 1, 0),
            (512, 14, 512, 3, 2, 1),
        ]),
        "alexnet" => list(&[
            (3, 227, 64, 11, 4, 0),
            (64, 27, 192, 5, 1, 2),
            (192, 13, 384, 3, 1, 1),
            (384, 13, 384, 3, 1, 1),
            (384, 13, 256, 3, 1, 1),
        ]),
        "cosmoflow" => [(4, 128, 32), (32, 64, 64), (64, 32, 128), (128, 16, 256), (256, 8, 512)]
            .map(|(ic, size, oc)| format!("ic{ic}id{size}ih{size}iw{size}oc{oc}kd3kh3kw3pd1ph1pw1"))
            .to_vec(),
        // The first layers of AlexNet, ResNet, VGG, MobileNet and Inception.
        "first" => list(&[
            (3, 227, 64, 11, 4, 0),
            (3, 224, 64, 7, 2, 3),
            (3, 224, 64, 3, 1, 1),
            (3, 224, 32, 3, 2, 1),
            (3, 299, 32, 3, 2, 0),
        ]),
        "resnext" => [(128, 56), (256, 28), (512, 14), (1024, 7)]
            .map(|(c, size)| format!("g32ic{c}ih{size}oc{c}kh3ph1"))
            .to_vec(),
        "mobilenet" => [
            (32, 112, 1),
            (64, 112, 2),
            (128, 56, 1),
            (128, 56, 2),
            (256, 28, 1),
            (256, 28, 2),
            (512, 14, 1),
            (512, 14, 2),
            (1024, 7, 1),
        ]
        .map(|(c, size, s)| format!("g{c}ic{c}ih{size}oc{c}kh3sh{s}ph1"))
        .to_vec(),
        "random" => (0..RANDOM).map(random).collect(),
        _ => return None,
    })
}

/// Problems of the set `random`.
const RANDOM: u64 = 150;

/// A small problem that depends on its number only: odd channels, groups, strides, dilation, padding.
fn random(number: u64) -> String {
    let mut state = number.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1;
    let mut pick = |from: &[i64]| {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        from[(state >> 20) as usize % from.len()]
    };
    let g = pick(&[1, 1, 1, 2, 4, 24]);
    let (ic, oc) = if g == 24 { (1, 1) } else { (pick(&[1, 3, 8, 17, 32, 70]), pick(&[1, 5, 16, 24, 40, 150])) };
    if pick(&[0, 0, 0, 0, 1]) == 1 {
        // Winograd's, with more channels than fit a pass, kernels of one and two strands, and strides that leave no pixel over.
        let (size, kernel) = [(13, 3), (20, 3), (13, 5), (20, 4), (20, 2)][pick(&[0, 1, 1, 2, 3, 4]) as usize];
        let stride = if (size + kernel) % 2 == 0 { pick(&[1, 1, 2]) } else { 1 };
        return format!(
            "mb{}ic{}oc{}_ih{size}kh{kernel}sh{stride}ph1",
            pick(&[1, 2]),
            pick(&[32, 70]),
            pick(&[24, 100, 150]),
        );
    }
    let letters: &[&str] = if pick(&[0, 0, 0, 1]) == 1 { &["d", "h", "w"] } else { &["h", "w"] };
    let mut text = format!("g{g}mb{}ic{}oc{}_", pick(&[1, 2, 3]), g * ic, g * oc);
    for x in letters {
        let (k, d) = (pick(&[1, 2, 3, 3, 5]), pick(&[0, 0, 1]));
        let (s, p) = (pick(&[1, 1, 2, 3]), pick(&[0, 1, 2]));
        let size = (k - 1) * (d + 1) + 1 + pick(&[0, 1, 4, 9, 14]);
        // Padding on both sides alike, as the notation has it.
        let padded = size + 2 * p - (k - 1) * (d + 1) - 1;
        let size = size + (s - padded % s) % s;
        text.push_str(&format!("i{x}{size}k{x}{k}s{x}{s}p{x}{p}d{x}{d}"));
    }
    text
}

/// oneDNN's library: where distributions and the loader have it.
fn find() -> Option<PathBuf> {
    ["/usr/lib/x86_64-linux-gnu", "/usr/lib/aarch64-linux-gnu", "/usr/lib64", "/usr/local/lib", "/usr/lib"]
        .iter()
        .flat_map(|dir| ["libdnnl.so", "libdnnl.so.3"].map(|name| PathBuf::from(dir).join(name)))
        .find(|p| p.exists())
}

const USAGE: &str = "corten-bench --conv: races convolutions against oneDNN

  PROBLEM...            in benchdnn's notation, as in mb16ic64ih56oc64oh56kh3ph1
  --set NAME            resnet50 (default), alexnet, first, cosmoflow, resnext, mobilenet or random; may be given again
  --mb N                minibatch of every problem (default: its own, else 16)
  --threads N  --rounds R
  --layouts LIST        of nhwc,nchw      --passes LIST   of fwd,bwd_d,bwd_w
  --dnnl PATH           oneDNN's library (also CORTEN_BENCH_DNNL)
  --own-layout          oneDNN in its own blocked layout, no reorder counted
  --plan                our weights are kept in a plan
  --check               compare results only
  --csv FILE  --markdown FILE  --svg DIR
  --list                show the problems, measure nothing
Our library is CORTEN_LIB or target/release/libcorten.so.";

/// The race: `--conv` and its arguments.
pub fn run(args: &[String]) -> Result<(), String> {
    let (mut threads, mut rounds, mut mb) = (1usize, 2usize, None);
    let (mut own, mut plan, mut check, mut list) = (false, false, false, false);
    let mut layouts = vec!["nhwc".to_string(), "nchw".into()];
    let mut passes: Vec<String> = ["fwd", "bwd_d", "bwd_w"].map(String::from).to_vec();
    let mut dnnl = std::env::var_os("CORTEN_BENCH_DNNL").map(PathBuf::from).or_else(find);
    let (mut texts, mut csv, mut markdown, mut svg) = (Vec::new(), None::<PathBuf>, None::<PathBuf>, None::<PathBuf>);
    let mut i = 0;
    while i < args.len() {
        let value = |i: usize| args.get(i + 1).ok_or_else(|| format!("{} takes a value", args[i]));
        let number = |i: usize| value(i)?.parse::<usize>().map_err(|_| format!("{} takes a number", args[i]));
        let mut taken = 2;
        match args[i].as_str() {
            "--threads" => threads = number(i)?.max(1),
            "--rounds" => rounds = number(i)?.max(1),
            "--mb" => mb = Some(number(i)? as i64),
            "--layouts" => layouts = value(i)?.split(',').map(String::from).collect(),
            "--passes" => passes = value(i)?.split(',').map(String::from).collect(),
            "--dnnl" => dnnl = Some(value(i)?.into()),
            "--csv" => csv = Some(value(i)?.into()),
            "--markdown" => markdown = Some(value(i)?.into()),
            "--set" => texts.extend(set(value(i)?).ok_or_else(|| format!("no set {:?}", args[i + 1]))?),
            "--svg" => svg = Some(value(i)?.into()),
            "--help" | "-h" => {
                println!("{USAGE}");
                return Ok(());
            }
            "--own-layout" | "--plan" | "--check" | "--list" => {
                *match args[i].as_str() {
                    "--plan" => &mut plan,
                    "--check" => &mut check,
                    "--list" => &mut list,
                    _ => &mut own,
                } = true;
                taken = 1;
            }
            text if text.starts_with("--") => return Err(format!("unknown argument {text:?}\n{USAGE}")),
            text => {
                texts.push(text.to_string());
                taken = 1;
            }
        }
        i += taken;
    }
    if texts.is_empty() {
        texts = set("resnet50").unwrap_or_default();
    }
    if list {
        crate::say(texts.iter());
        return Ok(());
    }
    let mut problems = Vec::new();
    for text in &texts {
        let mut p = Problem::parse(text)?;
        if let Some(mb) = mb.or(if text.contains("mb") { None } else { Some(16) }) {
            p.mb = mb;
        }
        problems.push(p);
    }
    let Lib { path, .. } = peers::ours()?;
    let mut racers = vec![Racer::start(if plan { "corten-plan" } else { "corten" }, &path.to_string_lossy(), threads)?];
    match &dnnl {
        Some(path) => {
            racers.push(Racer::start(if own { "onednn-own" } else { "onednn" }, &path.to_string_lossy(), threads)?);
        }
        None if check => return Err("no libdnnl.so found: nothing to check against (--dnnl PATH names one)".into()),
        None => eprintln!("no libdnnl.so found: only ours is measured (--dnnl PATH names one)"),
    }
    let head = "problem,pass,layout,threads,corten GFLOPS,oneDNN GFLOPS,ratio,corten algorithm,oneDNN implementation";
    let (mut table, mut sheet) = (String::new(), format!("{head}\n"));
    table.push_str(&format!("| {} |\n|{}\n", head.replace(',', " | "), "---|".repeat(head.split(',').count())));
    let (mut ratios, mut bars, mut doubt, mut compared) = (Vec::new(), Vec::new(), false, 0);
    for p in &problems {
        for layout in &layouts {
            for pass in &passes {
                let mut best: Vec<Option<Answer>> = racers.iter().map(|_| None).collect();
                let seconds = if check { 0.0 } else { 0.1 };
                for round in 0..if check { 1 } else { 3 * rounds } {
                    // More rounds, as long as the last one brought a better time.
                    let mut news = false;
                    for (n, racer) in racers.iter_mut().enumerate() {
                        match racer.ask(&format!("{pass} {layout} {seconds} {p}")) {
                            Ok(a) => {
                                news |= best[n].as_ref().is_none_or(|b| a.seconds < 0.98 * b.seconds);
                                if best[n].as_ref().is_none_or(|b| a.seconds < b.seconds) {
                                    best[n] = Some(a);
                                }
                            }
                            Err(e) if e == format!("{} ended", racer.name) => return Err(e),
                            Err(e) => eprintln!("{}: {p} {pass} {layout}: {e}", racer.name),
                        }
                        if threads > 1 {
                            std::thread::sleep(Duration::from_millis(5));
                        }
                    }
                    if round + 1 >= rounds && !news {
                        break;
                    }
                }
                let rate = |a: &Option<Answer>| a.as_ref().map(|a| p.flops() / a.seconds * 1e-9);
                let (ours, theirs) = (rate(&best[0]), best.get(1).and_then(rate));
                let mark = match (&best[0], best.get(1).and_then(|b| b.as_ref())) {
                    (Some(a), Some(b)) if (a.sum - b.sum).abs() > 1e-3 * a.magnitude.max(b.magnitude) => {
                        doubt = true;
                        " !"
                    }
                    _ => "",
                };
                let ratio = ours.zip(theirs).map(|(a, b)| a / b);
                compared += ratio.is_some() as usize;
                if check {
                    if ratio.is_none() || !mark.is_empty() {
                        let sums = best.iter().flatten().map(|a| a.sum.to_string()).collect::<Vec<_>>();
                        println!("{p} {pass} {layout}: sums {}", sums.join(" and "));
                        doubt |= best[0].is_none();
                    }
                    continue;
                }
                ratios.extend(ratio.map(|r| (layout.clone(), pass.clone(), r)));
                bars.extend(ratio.map(|r| (format!("{p} {layout} {pass}"), r)));
                let show = |x: Option<f64>, digits: usize| x.map_or("-".into(), |x| format!("{x:.digits$}"));
                let name = |n: usize| best.get(n).and_then(|b| b.as_ref()).map_or("-".into(), |a| a.name.clone());
                let fields = [
                    p.to_string(),
                    pass.clone(),
                    layout.clone(),
                    threads.to_string(),
                    show(ours, 1),
                    show(theirs, 1),
                    format!("{}{mark}", show(ratio, 2)),
                    name(0),
                    name(1),
                ];
                println!("{}", fields.join("  "));
                table.push_str(&format!("| {} |\n", fields.join(" | ")));
                let quoted = fields.map(|f| if f.contains(',') { format!("\"{f}\"") } else { f });
                sheet.push_str(&format!("{}\n", quoted.join(",")));
            }
        }
    }
    if check {
        let asked = problems.len() * layouts.len() * passes.len();
        println!("{compared} of {asked} results compared with oneDNN's");
        return match () {
            () if doubt => Err("results differ from oneDNN's".into()),
            // One that refuses what it is asked would agree with everybody.
            () if 10 * compared < 9 * asked => Err("oneDNN answered too few of them".into()),
            () => Ok(()),
        };
    }
    for layout in &layouts {
        for pass in &passes {
            let some: Vec<f64> = ratios.iter().filter(|r| r.0 == *layout && r.1 == *pass).map(|r| r.2).collect();
            if !some.is_empty() {
                let mean = (some.iter().map(|r| r.ln()).sum::<f64>() / some.len() as f64).exp();
                let least = some.iter().copied().fold(f64::INFINITY, f64::min);
                let line = format!("{layout} {pass}: geometric mean {mean:.3}, least {least:.2}, of {}", some.len());
                println!("{line}");
                table.push_str(&format!("\n{line}\n"));
            }
        }
    }
    for (path, text) in [(csv, sheet), (markdown, table), (svg, picture(&bars))] {
        if let Some(path) = path {
            std::fs::write(&path, text).map_err(|e| format!("{}: {e}", path.display()))?;
        }
    }
    if doubt { Err("results differ from oneDNN's where the ratio is marked !".into()) } else { Ok(()) }
}

/// The ratios as bars on a logarithmic scale, from a quarter to sixteen.
fn picture(bars: &[(String, f64)]) -> String {
    const LEFT: f64 = 460.0;
    const WIDTH: f64 = 480.0;
    const LINE: f64 = 15.0;
    let at = |ratio: f64| LEFT + WIDTH * ((ratio.clamp(0.25, 16.0).log2() + 2.0) / 6.0);
    let height = LINE * (bars.len() as f64 + 2.0);
    let mut out = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{}\" height=\"{height}\" font-family=\"sans-serif\" \
         font-size=\"11\">\n<rect width=\"100%\" height=\"100%\" fill=\"white\"/>\n",
        LEFT + WIDTH + 20.0
    );
    for tick in [0.25, 0.5, 1.0, 2.0, 4.0, 8.0, 16.0] {
        let (x, color) = (at(tick), if tick == 1.0 { "black" } else { "#ddd" });
        out.push_str(&format!("<line x1=\"{x}\" y1=\"18\" x2=\"{x}\" y2=\"{height}\" stroke=\"{color}\"/>\n"));
        out.push_str(&format!("<text x=\"{x}\" y=\"12\" text-anchor=\"middle\">{tick}</text>\n"));
    }
    for (n, (name, ratio)) in bars.iter().enumerate() {
        let y = LINE * (n as f64 + 1.5);
        let (from, to) = (at(1.0).min(at(*ratio)), at(1.0).max(at(*ratio)));
        let color = if *ratio < 1.0 { "#c44" } else { "#4a7" };
        out.push_str(&format!("<text x=\"4\" y=\"{}\">{name} {ratio:.2}</text>\n", y + 9.0));
        out.push_str(&format!(
            "<rect x=\"{from:.1}\" y=\"{y}\" width=\"{:.1}\" height=\"{}\" fill=\"{color}\"/>\n",
            to - from,
            LINE - 4.0
        ));
    }
    out.push_str("</svg>\n");
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn notation_of_benchdnn() {
        let p = Problem::parse("mb256ic64ih56oc64oh56kh3ph1n\"res2a\"").unwrap();
        assert_eq!((p.mb, p.g, p.ic, p.oc, p.dims), (256, 1, 64, 64, 2));
        assert_eq!((p.i, p.o, p.k, p.p), ([1, 56, 56], [1, 56, 56], [1, 3, 3], [0, 1, 1]));
        let p = Problem::parse("g32mb2ic128ih14iw28oc128kh3kw1sh2pw0").unwrap();
        assert_eq!((p.g, p.i, p.o, p.s), (32, [1, 14, 28], [1, 6, 14], [1, 2, 2]));
        let p = Problem::parse("mb1ic4id8ih8iw8oc32kd3kh3kw3pd1ph1pw1").unwrap();
        assert_eq!((p.dims, p.o, p.after(0)), (3, [8, 8, 8], 1));
        assert_eq!(Problem::parse(&p.to_string()).unwrap(), p);
        for text in ["mb2", "ic3oc4ih5", "ic3oc4ih5khx", "g2ic3oc4ih5kh1", "ic1oc1ih5kh1zz3", "ic1ic1oc1ih5kh1"] {
            assert!(Problem::parse(text).is_err(), "{text} was accepted");
        }
    }

    #[test]
    fn sets_are_understood() {
        for name in ["resnet50", "alexnet", "first", "cosmoflow", "resnext", "mobilenet", "random"] {
            assert!(set(name).unwrap().iter().all(|text| Problem::parse(text).is_ok()), "{name}");
        }
    }
}
