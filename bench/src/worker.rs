//! One library in one process: loads it, takes questions on standard input, answers a line each.
//!
//! Routines are called through the Fortran ABI: every argument a pointer, then the hidden lengths of the
//! character arguments (a library that does not expect them ignores them). Integers are stored in 64 bits
//! with small non-negative or negative values on a little-endian machine, so that a library with 32-bit
//! integers and one with 64-bit integers read the same number. Complex dot products go through CBLAS's
//! `_sub` form, because compilers disagree on how Fortran returns a complex value.
//!
//! With several callers, as many threads call at once, each with operands of its own; a time is then that of the
//! process divided by the calls that all of them made.
//!
//! Questions: `id`; `time CASE` -> `seconds sum magnitude` or `none REASON`; `fma s|d`; `read BYTES`.
//! The sum is a weighted checksum of the result of a first call on fresh data: libraries that disagree on
//! it did not compute the same thing, and a race between them means nothing.

use crate::case::{Case, Flag, Prec};
use crate::limit;
use crate::sys::{self, Library};
use std::alloc::{Layout, alloc, dealloc, handle_alloc_error};
use std::ffi::{CStr, c_char, c_int, c_void};
use std::io::{BufRead, Write};
use std::sync::Barrier;
use std::time::{Duration, Instant};

/// A batch is measured in slices of at least this many seconds; the best slice counts.
const SLICE: f64 = 1e-3;
/// Share of the batch that is called before it: caches, branch predictors and the clock settle.
const WARM_UP: f64 = 0.15;
/// A single call that takes longer is measure enough; nobody races a library that slow for its noise.
const SLOW: f64 = 0.5;
/// Prepared cases that are kept: the one in turn and the gemm of its size.
const KEPT: usize = 2;

type Ptr = *mut c_void;

/// Page-aligned memory, as large arrays of an application are (up to the few bytes of malloc's header).
struct Buffer {
    at: *mut u8,
    layout: Layout,
    /// Reals in it.
    len: usize,
}

impl Buffer {
    fn new(reals: usize, size: usize) -> Buffer {
        let Ok(layout) = Layout::from_size_align((reals * size).max(64), 4096) else { panic!("operand too large") };
        // SAFETY: the size is not zero.
        let at = unsafe { alloc(layout) };
        if at.is_null() {
            handle_alloc_error(layout);
        }
        Buffer { at, layout, len: reals }
    }

    fn set(&mut self, double: bool, i: usize, v: f64) {
        assert!(i < self.len);
        // SAFETY: `i` is within the buffer, which holds `len` reals of the precision that `double` says.
        unsafe {
            if double { self.at.cast::<f64>().add(i).write(v) } else { self.at.cast::<f32>().add(i).write(v as f32) }
        }
    }

    fn get(&self, double: bool, i: usize) -> f64 {
        assert!(i < self.len);
        // SAFETY: as in `set`; every real is written before the first call.
        unsafe { if double { self.at.cast::<f64>().add(i).read() } else { self.at.cast::<f32>().add(i).read().into() } }
    }
}

impl Drop for Buffer {
    fn drop(&mut self) {
        // SAFETY: allocated in `new` with this layout.
        unsafe { dealloc(self.at, self.layout) }
    }
}

/// A number in [0, 1) that depends on `i` only: the same operands in every worker.
pub fn noise(i: usize) -> f64 {
    let mut x = (i as u64).wrapping_add(0x9e37_79b9_7f4a_7c15);
    x = (x ^ (x >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    x = (x ^ (x >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    ((x ^ (x >> 31)) >> 11) as f64 / (1u64 << 53) as f64
}

#[derive(Clone, Copy)]
enum How {
    /// Fortran ABI, nothing returned.
    Plain,
    /// Fortran ABI, a real returned.
    Real,
    /// Fortran ABI, an integer returned.
    Index,
    /// `cblas_?dot?_sub`: n, x, incx, y, incy, result.
    DotSub,
    /// `cblas_[sd]gemm`, for a library that has no Fortran entry.
    CblasGemm,
    /// Fortran's gemm, this many calls in a row on matrices that lie one behind the other.
    Loop(usize),
}

/// What an operand is filled with.
#[derive(Clone, Copy)]
enum Fill {
    /// Values in [-0.5, 0.5).
    Noise,
    /// A triangular matrix in the storage named: noise scaled down, ones on the diagonal. Applied to its own
    /// result a million times in a row, it must neither overflow nor sink into subnormals.
    Full {
        ld: usize,
        n: usize,
    },
    Packed {
        n: usize,
        upper: bool,
    },
    Band {
        ld: usize,
        n: usize,
        row: usize,
    },
}

/// A case ready to be called: the operands and the argument list that points into them.
struct Prepared {
    text: String,
    prec: Prec,
    f: *const c_void,
    how: How,
    args: Vec<Ptr>,
    /// What `args` points to; boxed, so that it does not move with the struct.
    ints: Box<[i64; 16]>,
    letters: Box<[u8; 8]>,
    scalars: Box<[[f64; 2]; 4]>,
    used: [usize; 3],
    buffers: Vec<(Buffer, Fill)>,
    two_results: bool,
    /// Checksum and magnitude of the result of the first call.
    sum: (f64, f64),
}

/// Calls `$f` `$times` times with the first `$n` of `$a`, as a function of that many pointers.
macro_rules! call_with {
    ($f:expr, $ret:ty, $a:expr, $times:expr, $($count:literal: $($i:literal)+;)+) => {
        match $a.len() {
            $($count => {
                // SAFETY: a BLAS routine of the Fortran ABI that takes these pointers; see the module's head.
                let f: unsafe extern "C" fn($(call_with!(@ptr $i)),+) -> $ret = unsafe { std::mem::transmute($f) };
                let mut r = <$ret>::default();
                for _ in 0..$times {
                    // SAFETY: the operands are as large as the routine's dimensions and strides ask for.
                    #[allow(clippy::let_unit_value)]
                    { r = unsafe { f($($a[$i]),+) }; }
                }
                r
            })+
            n => panic!("no routine takes {n} arguments"),
        }
    };
    (@ptr $i:literal) => { Ptr };
}

impl Prepared {
    fn new(lib: &Loaded, case: &Case) -> Result<Prepared, String> {
        let mut p = Prepared {
            text: case.to_string(),
            prec: case.prec,
            f: std::ptr::null(),
            how: How::Plain,
            args: Vec::new(),
            ints: Box::default(),
            letters: Box::default(),
            scalars: Box::default(),
            used: [0; 3],
            buffers: Vec::new(),
            two_results: matches!(case.op.base, "swap" | "rot"),
            sum: (0.0, 0.0),
        };
        let name = case.routine();
        (p.f, p.how) = match case.op.base {
            "dotu" | "dotc" => (lib.cblas(&format!("{name}_sub")), How::DotSub),
            "dot" | "nrm2" | "asum" => (lib.fortran(&name), How::Real),
            "amax" => (lib.fortran(&name), How::Index),
            "gemm_loop" => (lib.fortran(&name.replace("_loop", "")), How::Loop(case.dim("batch").max(0) as usize)),
            _ => (lib.fortran(&name), How::Plain),
        };
        if p.f.is_null() && case.op.base == "gemm" && !case.prec.is_complex() {
            (p.f, p.how) = (lib.cblas(&name), How::CblasGemm);
        }
        if p.f.is_null() {
            return Err(format!("has no {name}"));
        }
        p.arguments(case);
        p.fill(0.5);
        p.sum = p.checked_call();
        p.fill(1e-9);
        Ok(p)
    }

    fn letter(&mut self, c: u8) {
        let i = self.used[0];
        self.used[0] += 1;
        self.letters[i] = c;
        self.args.push((&raw mut self.letters[i]).cast());
    }

    fn int(&mut self, v: i64) {
        let i = self.used[1];
        self.used[1] += 1;
        self.ints[i] = v;
        self.args.push((&raw mut self.ints[i]).cast());
    }

    fn sizes(&mut self, dims: &[i64]) {
        dims.iter().for_each(|d| self.int(*d));
    }

    fn scalar(&mut self, re: f64, im: f64) {
        let i = self.used[2];
        self.used[2] += 1;
        let at: *mut [f64; 2] = &raw mut self.scalars[i];
        if self.prec.is_double() {
            self.scalars[i] = [re, im];
        } else {
            // SAFETY: two f32 fit where two f64 are.
            unsafe { at.cast::<[f32; 2]>().write([re as f32, im as f32]) };
        }
        self.args.push(at.cast());
    }

    /// A new operand of this many elements.
    fn operand(&mut self, elements: i64, fill: Fill) {
        let buffer = Buffer::new(elements as usize * self.prec.width(), self.prec.real_size());
        self.args.push(buffer.at.cast());
        self.buffers.push((buffer, fill));
    }

    fn vector(&mut self, n: i64, inc: i64) {
        self.operand(1 + (n - 1).max(0) * inc.abs(), Fill::Noise);
        self.int(inc);
    }

    /// A column-major matrix and its leading dimension.
    fn matrix(&mut self, rows: i64, cols: i64, pad: i64) {
        let ld = rows.max(1) + pad;
        self.operand(ld * cols.max(1), Fill::Noise);
        self.int(ld);
    }

    /// As many matrices as the case has products, one behind the other: the leading dimension, and where the routine
    /// takes it, the distance.
    fn matrices(&mut self, case: &Case, (rows, cols): (i64, i64)) {
        let ld = rows.max(1) + case.pad;
        let distance = ld * cols.max(1);
        let count = if case.op.base == "gemm" { 1 } else { case.dim("batch").max(1) };
        self.operand(distance * count, Fill::Noise);
        self.int(ld);
        if case.op.base == "gemm_batch_strided" {
            self.int(distance);
        }
    }

    fn triangle(&mut self, n: i64, pad: i64) {
        let ld = n.max(1) + pad;
        self.operand(ld * n.max(1), Fill::Full { ld: ld as usize, n: n as usize });
        self.int(ld);
    }

    /// Builds the argument list in the order of the reference BLAS.
    fn arguments(&mut self, case: &Case) {
        let [m, n, k] = ["m", "n", "k"].map(|d| case.dim(d));
        let (pad, incx, incy, beta) = (case.pad, case.incx, case.incy, case.beta);
        let trans = case.flag(Flag::Trans);
        let upper = case.flag(Flag::Uplo) == b'U';
        let o = case.order();
        for &c in &case.flags {
            self.letter(c);
        }
        match case.op.base {
            "gemm" | "gemm_loop" | "gemm_batch_strided" => {
                let (ta, tb) = (case.flags[0] != b'N', case.flags[1] != b'N');
                self.sizes(&[m, n, k]);
                self.scalar(1.0, 0.0);
                self.matrices(case, if ta { (k, m) } else { (m, k) });
                self.matrices(case, if tb { (n, k) } else { (k, n) });
                self.scalar(beta, 0.0);
                self.matrices(case, (m, n));
                if case.op.base == "gemm_batch_strided" {
                    self.int(case.dim("batch"));
                }
            }
            "symm" | "hemm" => {
                self.sizes(&[m, n]);
                self.scalar(1.0, 0.0);
                self.matrix(o, o, pad);
                self.matrix(m, n, pad);
                self.scalar(beta, 0.0);
                self.matrix(m, n, pad);
            }
            "syrk" | "herk" | "syr2k" | "her2k" => {
                self.sizes(&[n, k]);
                self.scalar(1.0, 0.0);
                for _ in 0..if case.op.base.contains('2') { 2 } else { 1 } {
                    if trans == b'N' { self.matrix(n, k, pad) } else { self.matrix(k, n, pad) }
                }
                self.scalar(beta, 0.0);
                self.matrix(n, n, pad);
            }
            "trmm" | "trsm" => {
                self.sizes(&[m, n]);
                self.scalar(1.0, 0.0);
                self.triangle(o, pad);
                self.matrix(m, n, pad);
            }
            "gemv" | "gbmv" => {
                let (kl, ku) = (case.dim("kl"), case.dim("ku"));
                self.sizes(&[m, n]);
                if case.op.base == "gbmv" {
                    self.sizes(&[kl, ku]);
                }
                self.scalar(1.0, 0.0);
                self.matrix(if case.op.base == "gbmv" { kl + ku + 1 } else { m }, n, pad);
                let (x, y) = if trans == b'N' { (n, m) } else { (m, n) };
                self.vector(x, incx);
                self.scalar(beta, 0.0);
                self.vector(y, incy);
            }
            "ger" | "geru" | "gerc" => {
                self.sizes(&[m, n]);
                self.scalar(0.7, 0.0);
                self.vector(m, incx);
                self.vector(n, incy);
                self.matrix(m, n, pad);
            }
            "symv" | "hemv" | "sbmv" | "hbmv" | "spmv" | "hpmv" => {
                self.int(n);
                if case.op.dims.len() == 2 {
                    self.int(k);
                }
                self.scalar(1.0, 0.0);
                match &case.op.base[1..2] {
                    "b" => self.matrix(k + 1, n, pad),
                    "p" => self.operand((n * (n + 1) / 2).max(1), Fill::Noise),
                    _ => self.matrix(n, n, pad),
                }
                self.vector(n, incx);
                self.scalar(beta, 0.0);
                self.vector(n, incy);
            }
            "trmv" | "trsv" => {
                self.int(n);
                self.triangle(n, pad);
                self.vector(n, incx);
            }
            "tbmv" | "tbsv" => {
                self.sizes(&[n, k]);
                let ld = k + 1 + pad;
                let row = if upper { k as usize } else { 0 };
                self.operand(ld * n.max(1), Fill::Band { ld: ld as usize, n: n as usize, row });
                self.int(ld);
                self.vector(n, incx);
            }
            "tpmv" | "tpsv" => {
                self.int(n);
                self.operand((n * (n + 1) / 2).max(1), Fill::Packed { n: n as usize, upper });
                self.vector(n, incx);
            }
            "syr" | "her" | "spr" | "hpr" | "syr2" | "her2" | "spr2" | "hpr2" => {
                self.int(n);
                self.scalar(0.7, 0.0);
                self.vector(n, incx);
                if case.op.base.ends_with('2') {
                    self.vector(n, incy);
                }
                if case.op.base[1..].starts_with('p') {
                    self.operand((n * (n + 1) / 2).max(1), Fill::Noise);
                } else {
                    self.matrix(n, n, pad);
                }
            }
            base => {
                self.int(n);
                // Moduli of 1, so that a million calls in a row leave the values in range.
                match base {
                    "axpy" => self.scalar(0.7, 0.0),
                    "scal" if case.prec.is_complex() => self.scalar(0.6, 0.8),
                    "scal" => self.scalar(-1.0, 0.0),
                    _ => {}
                }
                self.vector(n, incx);
                if !matches!(base, "scal" | "nrm2" | "asum" | "amax") {
                    self.vector(n, incy);
                }
                match base {
                    "rot" => {
                        self.scalar(0.6, 0.0);
                        self.scalar(0.8, 0.0);
                    }
                    "dotu" | "dotc" => self.operand(1, Fill::Noise),
                    _ => {}
                }
            }
        }
        let lengths = std::iter::repeat_n(std::ptr::without_provenance_mut(1), self.used[0]);
        self.args.extend(lengths);
    }

    /// Fresh operands; off the diagonal, triangular ones get values up to `scale` / n.
    fn fill(&mut self, scale: f64) {
        let (double, w) = (self.prec.is_double(), self.prec.width());
        for (which, (buffer, fill)) in self.buffers.iter_mut().enumerate() {
            let order = match *fill {
                Fill::Noise => 0,
                Fill::Full { n, .. } | Fill::Packed { n, .. } | Fill::Band { n, .. } => n.max(1),
            };
            let factor = if order == 0 { 1.0 } else { scale / order as f64 };
            for i in 0..buffer.len {
                buffer.set(double, i, (noise(i + which * 7919) - 0.5) * factor);
            }
            for j in 0..order {
                let at = match *fill {
                    Fill::Noise => continue,
                    Fill::Full { ld, .. } => j * ld + j,
                    Fill::Packed { upper: true, .. } => j * (j + 3) / 2,
                    Fill::Packed { n, .. } => j * n - j * j.saturating_sub(1) / 2,
                    Fill::Band { ld, row, .. } => j * ld + row,
                };
                for part in 0..w {
                    buffer.set(double, at * w + part, if part == 0 { 1.0 } else { 0.0 });
                }
            }
        }
    }

    /// One call; the checksum of what it returned or wrote, and the magnitude to judge a difference by.
    fn checked_call(&mut self) -> (f64, f64) {
        let double = self.prec.is_double();
        let a = &self.args;
        // A dot product of noise cancels: what its rounding is relative to is the number of terms.
        let terms = self.ints[0] as f64 / 16.0;
        let value = match self.how {
            How::Real if double => Some(call_with!(self.f, f64, a, 1, 3: 0 1 2; 5: 0 1 2 3 4;)),
            How::Real => Some(f64::from(call_with!(self.f, f32, a, 1, 3: 0 1 2; 5: 0 1 2 3 4;))),
            How::Index => Some(f64::from(call_with!(self.f, c_int, a, 1, 3: 0 1 2;))),
            _ => None,
        };
        if let Some(v) = value {
            return (v, v.abs().max(if a.len() == 5 { terms } else { 0.0 }));
        }
        self.call(1);
        let (mut sum, mut magnitude) = (0.0, if matches!(self.how, How::DotSub) { terms } else { 0.0 });
        // The result is the last operand of every routine; swap and rot write their last two.
        let results = if self.two_results { 2 } else { 1 };
        for (which, (buffer, _)) in self.buffers.iter().rev().take(results).enumerate() {
            for i in 0..buffer.len {
                let v = buffer.get(double, i) * (0.5 + noise(i ^ (which << 40) ^ 0x5555));
                sum += v;
                magnitude += v.abs();
            }
        }
        (sum, magnitude)
    }

    fn call(&self, times: u64) {
        let a = &self.args;
        match self.how {
            How::DotSub => {
                type F = unsafe extern "C" fn(i64, Ptr, i64, Ptr, i64, Ptr);
                // SAFETY: the CBLAS function; integers travel in registers, wide enough for either width.
                let f: F = unsafe { std::mem::transmute(self.f) };
                let [n, incx, incy] = [self.ints[0], self.ints[1], self.ints[2]];
                for _ in 0..times {
                    // SAFETY: operands of n elements at these strides, room for one complex result.
                    unsafe { f(n, a[1], incx, a[3], incy, a[5]) };
                }
            }
            How::CblasGemm => self.cblas_gemm(times),
            How::Loop(count) => self.loop_of_gemm(times, count),
            _ => call_with!(self.f, (), a, times,
                3: 0 1 2;
                4: 0 1 2 3;
                5: 0 1 2 3 4;
                6: 0 1 2 3 4 5;
                7: 0 1 2 3 4 5 6;
                8: 0 1 2 3 4 5 6 7;
                9: 0 1 2 3 4 5 6 7 8;
                10: 0 1 2 3 4 5 6 7 8 9;
                11: 0 1 2 3 4 5 6 7 8 9 10;
                12: 0 1 2 3 4 5 6 7 8 9 10 11;
                13: 0 1 2 3 4 5 6 7 8 9 10 11 12;
                14: 0 1 2 3 4 5 6 7 8 9 10 11 12 13;
                15: 0 1 2 3 4 5 6 7 8 9 10 11 12 13 14;
                19: 0 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18;
            ),
        }
    }

    fn loop_of_gemm(&self, times: u64, count: usize) {
        let bytes = [0, 1, 2].map(|i| self.buffers[i].0.len / count.max(1) * self.prec.real_size());
        // Where A, B and C stand in the argument list of gemm.
        const AT: [usize; 3] = [6, 8, 11];
        for _ in 0..times {
            let mut args = self.args.clone();
            for _ in 0..count {
                call_with!(self.f, (), args, 1, 15: 0 1 2 3 4 5 6 7 8 9 10 11 12 13 14;);
                for (at, bytes) in AT.into_iter().zip(bytes) {
                    args[at] = args[at].wrapping_byte_add(bytes);
                }
            }
        }
    }

    fn cblas_gemm(&self, times: u64) {
        const COL_MAJOR: c_int = 102;
        let t = [0, 1].map(|i| match self.letters[i] {
            b'N' => 111,
            b'T' => 112,
            _ => 113,
        });
        let [m, n, k, lda, ldb, ldc] = [0, 1, 2, 3, 4, 5].map(|i| self.ints[i] as c_int);
        let [a, b, c] = [0, 1, 2].map(|i| self.buffers[i].0.at.cast::<c_void>());
        macro_rules! run {
            ($t:ty, $beta:expr) => {{
                type F = unsafe extern "C" fn(
                    c_int,
                    c_int,
                    c_int,
                    c_int,
                    c_int,
                    c_int,
                    $t,
                    Ptr,
                    c_int,
                    Ptr,
                    c_int,
                    $t,
                    Ptr,
                    c_int,
                );
                // SAFETY: the CBLAS signature of this type, 32-bit integers.
                let f: F = unsafe { std::mem::transmute(self.f) };
                for _ in 0..times {
                    // SAFETY: the operands are as large as the dimensions ask for.
                    unsafe { f(COL_MAJOR, t[0], t[1], m, n, k, 1.0, a, lda, b, ldb, $beta, c, ldc) };
                }
            }};
        }
        if self.prec.is_double() {
            run!(f64, self.scalars[1][0]);
        } else {
            // SAFETY: `scalar` wrote two f32 there.
            let beta = unsafe { (&raw const self.scalars[1]).cast::<f32>().read() };
            run!(f32, beta);
        }
    }

    /// Seconds of one call: the best slice of a batch.
    fn time(&self, batch: f64) -> f64 {
        let slice = SLICE.min(batch / 2.0);
        let measure = |times: u64| {
            let start = Instant::now();
            self.call(times);
            start.elapsed().as_secs_f64()
        };
        let begin = Instant::now();
        let mut times = 1;
        // Doubled until a slice is long enough to be read off the clock; the warm-up at the same time.
        let mut one = loop {
            let t = measure(times);
            if t > SLOW {
                return t / times as f64;
            }
            if t >= slice / 4.0 && begin.elapsed().as_secs_f64() >= WARM_UP * batch {
                break t / times as f64;
            }
            if t < slice / 4.0 {
                times *= 2;
            }
        };
        let times = ((slice / one).ceil() as u64).max(1);
        let (mut total, mut slices) = (0.0, 0);
        while total < batch || slices < 2 {
            let t = measure(times);
            total += t;
            slices += 1;
            one = one.min(t / times as f64);
        }
        one
    }
}

/// The library with the prefix and suffix that its symbols carry.
struct Loaded {
    lib: Library,
    prefix: String,
    suffix: String,
}

impl Loaded {
    fn open(path: &str, prefix: &str, suffix: &str) -> Result<Loaded, String> {
        let lib = Library::open(path)?;
        let (prefix, suffix) = if prefix.is_empty() && suffix.is_empty() {
            // Plain names first; then those of the wheels that NumPy and SciPy bring along, and of 64-bit builds.
            [("", ""), ("scipy_", ""), ("scipy_", "64_"), ("", "64_")]
                .into_iter()
                .find(|(p, s)| lib.symbol(&format!("{p}dgemm_{s}")).is_some())
                .unwrap_or_default()
        } else {
            (prefix, suffix)
        };
        Ok(Loaded { prefix: prefix.into(), suffix: suffix.into(), lib })
    }

    fn symbol(&self, name: &str) -> *const c_void {
        // Some names lack the prefix that the others of their library have (OpenBLAS's batches in the wheels).
        let full = self.lib.symbol(&format!("{}{name}{}", self.prefix, self.suffix));
        full.or_else(|| self.lib.symbol(&format!("{name}{}", self.suffix))).unwrap_or(std::ptr::null())
    }

    fn fortran(&self, name: &str) -> *const c_void {
        self.symbol(&format!("{name}_"))
    }

    fn cblas(&self, name: &str) -> *const c_void {
        self.symbol(&format!("cblas_{name}"))
    }

    /// What the library says of itself.
    fn id(&self) -> String {
        // bli_thread_init-like calls are not needed: all of these are plain getters.
        for name in ["corten_get_config", "openblas_get_config", "bli_info_get_version_str"] {
            let f = match self.symbol(name) {
                p if p.is_null() => self.lib.symbol(name).unwrap_or(p),
                p => p,
            };
            if !f.is_null() {
                // SAFETY: all three take nothing and return a C string.
                let f: unsafe extern "C" fn() -> *const c_char = unsafe { std::mem::transmute(f) };
                // SAFETY: as above; the string is static or never freed.
                let text = unsafe { CStr::from_ptr(f()) }.to_string_lossy().trim().replace('\n', " ");
                return if name.starts_with("bli_") { format!("BLIS {text}") } else { text };
            }
        }
        if let Some(f) = self.lib.symbol("MKL_Get_Version_String") {
            // SAFETY: void MKL_Get_Version_String(char *buf, int len).
            let f: unsafe extern "C" fn(*mut u8, c_int) = unsafe { std::mem::transmute(f) };
            let mut buf = [0u8; 200];
            // SAFETY: the buffer has that length; its last byte stays zero.
            unsafe { f(buf.as_mut_ptr(), 199) };
            return String::from_utf8_lossy(&buf).trim_matches(['\0', ' ']).to_string();
        }
        String::new()
    }
}

/// Seconds of one call when `callers` threads call at once: the best window counts.
fn time_callers(lib: &Loaded, case: &Case, callers: usize, one: f64, batch: f64) -> f64 {
    const WINDOWS: usize = 4;
    // Long enough for the scheduler to give every caller its turn where there are more of them than cores.
    let window = Duration::from_secs_f64(batch.max(2.5e-3 * callers as f64).max(10.0 * one));
    let times = ((SLICE / 4.0 / one) as u64).max(1);
    let barrier = Barrier::new(callers);
    let run = || -> Result<[(Instant, Instant, u64); WINDOWS], String> {
        let prepared = Prepared::new(lib, case);
        let windows = std::array::from_fn(|_| {
            barrier.wait();
            let (start, mut calls) = (Instant::now(), 0);
            if let Ok(p) = &prepared {
                while start.elapsed() < window {
                    p.call(times);
                    calls += times;
                }
            }
            (start, Instant::now(), calls)
        });
        prepared.map(|_| windows)
    };
    let all: Vec<_> = std::thread::scope(|s| {
        let handles: Vec<_> = (0..callers).map(|_| s.spawn(run)).collect();
        handles.into_iter().filter_map(|h| h.join().ok()?.ok()).collect()
    });
    // From the first start to the last end: a caller that is late at either is not alone on the machine for free.
    let rate = |w: usize| {
        let start = all.iter().map(|r| r[w].0).min()?;
        let end = all.iter().map(|r| r[w].1).max()?;
        Some(all.iter().map(|r| r[w].2).sum::<u64>() as f64 / end.duration_since(start).as_secs_f64())
    };
    let best = (0..WINDOWS).filter_map(rate).fold(0.0, f64::max);
    1.0 / best
}

/// How a worker is started: `--worker PATH PREFIX SUFFIX CPU THREADS BATCH CALLERS`; an empty path measures the limits.
pub fn main(args: &[String]) -> Result<(), String> {
    let [path, prefix, suffix, cpu, threads, batch, callers] = args else {
        return Err("a worker takes seven arguments".into());
    };
    sys::die_with_parent();
    if let Ok(cpu) = cpu.parse() {
        sys::pin(cpu)?;
    }
    let threads = threads.parse().map_err(|_| "bad thread count")?;
    let batch: f64 = batch.parse().map_err(|_| "bad length of a batch")?;
    let callers: usize = callers.parse().map_err(|_| "bad number of callers")?;
    let lib = if path.is_empty() { None } else { Some(Loaded::open(path, prefix, suffix)?) };
    let mut kept: Vec<Prepared> = Vec::new();
    // Libraries may print to standard output; answers are marked so that the reader can tell.
    for line in std::io::stdin().lock().lines() {
        let line = line.map_err(|e| e.to_string())?;
        let (word, rest) = line.split_once(' ').unwrap_or((&line, ""));
        let number = |v: Option<f64>| v.map_or("none".to_string(), |v| v.to_string());
        let answer = match (word, &lib) {
            ("id", Some(lib)) => lib.id(),
            ("time", Some(lib)) => match timed(lib, &mut kept, rest, batch, callers)? {
                Ok((t, (sum, magnitude))) => format!("{t:e} {sum:e} {magnitude:e}"),
                Err(reason) => format!("none {reason}"),
            },
            ("fma", _) => number(limit::fma(threads, rest == "d")),
            ("read", _) => number(limit::read(threads, rest.parse().map_err(|_| "bad size")?)),
            _ => return Err(format!("cannot answer {line:?}")),
        };
        let mut out = std::io::stdout().lock();
        writeln!(out, "={answer}").and_then(|()| out.flush()).map_err(|e| e.to_string())?;
    }
    Ok(())
}

type Timed = Result<(f64, (f64, f64)), String>;

fn timed(lib: &Loaded, kept: &mut Vec<Prepared>, text: &str, batch: f64, callers: usize) -> Result<Timed, String> {
    let case = Case::parse(text)?;
    let text = case.to_string();
    let at = match kept.iter().position(|p| p.text == text) {
        Some(at) => at,
        None => {
            if kept.len() == KEPT {
                kept.remove(0);
            }
            match Prepared::new(lib, &case) {
                Ok(p) => kept.push(p),
                Err(reason) => return Ok(Err(reason)),
            }
            kept.len() - 1
        }
    };
    let time = match callers {
        1 => kept[at].time(batch),
        _ => time_callers(lib, &case, callers, kept[at].time(batch / 4.0), batch),
    };
    Ok(Ok((time, kept[at].sum)))
}
