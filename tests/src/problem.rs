//! A BLAS call as data: routine, arguments, buffers and what must come out.
//!
//! A [`Problem`] is made once (by the generators in [`crate::routines`]) and
//! can then be run through any entry point, at any alignment, on any thread.
//! That one idea carries the whole suite: the level tests check the values,
//! the promise tests run the same problems twice and compare bits.

use crate::guard::{Guarded, Place, Sparse};
use crate::library::{Api, GARBAGE, foreign, invoke, lib};
use crate::rng::Rng;
use crate::scalar::{C32, C64, Scalar, Z, bytes, product};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Order {
    Row,
    Col,
    /// No order at all: for the tests of error reports.
    Bad,
}

#[derive(Clone, Debug)]
pub enum Arg {
    Trans(u8),
    Uplo(u8),
    Diag(u8),
    Side(u8),
    Int(i64),
    /// A leading dimension and the least that is legal.
    Ld(i64, i64),
    /// An increment.
    Inc(i64),
    /// A number of the routine's type: by value in CBLAS if real.
    Scalar(Z),
    /// A number of the real type beneath: always by value in CBLAS.
    Real(f64),
    Buf(usize),
    /// Arrays, for the batched routines.
    TransArray(Vec<u8>),
    IntArray(Vec<i64>),
    ScalarArray(Vec<Z>),
    BufArray(Vec<usize>),
}

/// What an output element must be.
#[derive(Clone, Copy, Debug)]
pub enum Want {
    /// Within `tol` of the value in both parts; NaN if and only if it is NaN.
    Near(Z, f64),
    /// As `Near`, but the imaginary part is exactly zero.
    NearReal(f64, f64),
    /// Anything: the standard leaves it open.
    Any,
}

pub struct Buffer<T> {
    pub data: Vec<T>,
    /// The routine must not touch it, not even read: it gets no memory.
    pub forbidden: bool,
    /// The expected elements by index; all others must keep their bits.
    pub want: Vec<(usize, Want)>,
}

#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Returns {
    Nothing,
    /// The real type beneath the routine's type.
    Real,
    /// Always f64 (dsdot).
    Double,
    Complex,
    /// iamax and its kin: 1-based INTEGER in Fortran, 0-based size_t in CBLAS.
    Index,
}

#[derive(Clone, Copy, Debug)]
pub enum RetWant {
    Nothing,
    Near(Z, f64),
    /// 1-based; 0 = none.
    Index(i64),
}

/// Solutions are judged by their residual: op(A) X = B or X op(A) = B.
pub struct Solve {
    pub left: bool,
    /// op(A), n by n, row after row.
    pub a: Vec<Z>,
    pub n: usize,
    /// alpha B, rows by cols, row after row.
    pub b: Vec<Z>,
    pub rows: usize,
    pub cols: usize,
    pub buf: usize,
    /// Index of element (i, j) of X in the buffer, row after row.
    pub index: Vec<usize>,
}

pub struct Problem<T> {
    pub routine: String,
    /// None for routines without matrices.
    pub order: Option<Order>,
    /// The Fortran form takes the order as its first argument (omatcopy).
    pub fortran_order: bool,
    pub args: Vec<Arg>,
    pub bufs: Vec<Buffer<T>>,
    pub returns: Returns,
    pub ret_want: RetWant,
    pub solve: Option<Solve>,
}

/// What a run left behind.
#[derive(Clone, Debug)]
pub struct Outcome<T> {
    pub bufs: Vec<Vec<T>>,
    pub value: Z,
    pub index: i64,
}

impl<T: Scalar> Outcome<T> {
    pub fn same_bits(&self, o: &Outcome<T>) -> bool {
        let bits = |z: Z| (z.re.to_bits(), z.im.to_bits());
        self.bufs.len() == o.bufs.len()
            && self.bufs.iter().zip(&o.bufs).all(|(a, b)| bytes(a) == bytes(b))
            && bits(self.value) == bits(o.value)
            && self.index == o.index
    }
}

/// Where the buffers of a run lie.
#[derive(Clone, Copy, Debug)]
pub enum Layout {
    /// Each flush with one of its guards, drawn from the seed.
    Guards(u64),
    /// Each so many elements behind a cache line's start.
    Offset(usize),
    /// Leading dimensions and increments so large that offsets pass 2^31.
    Far,
}

/// The distance of [`Layout::Far`]: four of them pass 2^31 elements.
pub const FAR: usize = (1 << 29) + 3;

/// A buffer of a run.
enum Memory {
    Guarded(Guarded),
    /// Element i lies at (i / stride) * FAR + i % stride.
    Far {
        map: Sparse,
        stride: usize,
    },
}

impl Memory {
    /// Stretches buffer `b`, and the argument that gives its stride.
    fn far(b: usize, len: usize, size: usize, args: &mut [Arg]) -> Memory {
        let at = args.iter().position(|a| matches!(a, Arg::Buf(x) if *x == b));
        let next = at.and_then(|i| args.get_mut(i + 1));
        let stride = match next {
            Some(Arg::Ld(v, _)) if len > 0 => Some(std::mem::replace(v, FAR as i64) as usize),
            Some(Arg::Inc(v)) if len > 0 && *v != 0 => {
                let sign = v.signum();
                Some(std::mem::replace(v, sign * FAR as i64).unsigned_abs() as usize)
            }
            _ => None,
        };
        match stride {
            Some(stride) => {
                Memory::Far { map: Sparse::new(((len - 1) / stride * FAR + stride.min(len)) * size), stride }
            }
            None => Memory::Guarded(Guarded::new(len * size, Place::End)),
        }
    }

    fn at<T>(&self, i: usize) -> *mut T {
        match self {
            // SAFETY: callers stay within the buffer's length.
            Memory::Guarded(g) => unsafe { g.ptr().cast::<T>().add(i) },
            Memory::Far { map, stride } => map.at(i / stride * FAR + i % stride),
        }
    }

    fn base(&self) -> usize {
        match self {
            Memory::Guarded(g) => g.ptr() as usize,
            Memory::Far { map, .. } => map.at::<u8>(0) as usize,
        }
    }
}

/// Scalars in memory, arrays in memory, integer-class and float-class arguments.
type Lowered = (Vec<[u64; 2]>, Vec<Vec<u64>>, Vec<usize>, Vec<f64>);

/// A call with all its memory in place.
pub struct Ready<'a, T> {
    problem: &'a Problem<T>,
    api: Api,
    memory: Vec<Memory>,
    _words: Vec<[u64; 2]>,
    _arrays: Vec<Vec<u64>>,
    gp: Vec<usize>,
    fp: Vec<f64>,
    function: *const std::ffi::c_void,
    result: Box<T>,
    sub: bool,
    value: Z,
    index: i64,
}

// SAFETY: the pointers lead to memory that this value owns and to code.
unsafe impl<T: Send> Send for Ready<'_, T> {}

impl<T: Scalar> Ready<'_, T> {
    /// Calls the routine: nothing but the call happens here.
    pub fn fire(&mut self) {
        let (f, gp, fp) = (self.function, &self.gp, &self.fp);
        // SAFETY: the generators describe the routine's own signature, and the
        // type returned follows from its name.
        unsafe {
            match self.problem.returns {
                _ if self.sub => {
                    invoke::<()>(f, gp, fp);
                    // The library wrote through a pointer the compiler forgot.
                    self.value = (&raw const *self.result).read_volatile().z();
                }
                Returns::Nothing => invoke::<()>(f, gp, fp),
                Returns::Double => self.value = Z::real(invoke::<f64>(f, gp, fp)),
                Returns::Real if T::Real::LETTER == 's' => self.value = Z::real(invoke::<f32>(f, gp, fp) as f64),
                Returns::Real => self.value = Z::real(invoke::<f64>(f, gp, fp)),
                Returns::Complex if T::LETTER == 'c' => self.value = invoke::<C32>(f, gp, fp).z(),
                Returns::Complex => self.value = invoke::<C64>(f, gp, fp).z(),
                Returns::Index if self.api.is_cblas() => self.index = invoke::<usize>(f, gp, fp) as i64,
                Returns::Index if self.api.is_64() => self.index = invoke::<i64>(f, gp, fp),
                Returns::Index => self.index = invoke::<i32>(f, gp, fp) as i64,
            }
        }
    }

    pub fn outcome(&self) -> Outcome<T> {
        let strict = !foreign();
        let bufs = self.problem.bufs.iter().zip(&self.memory).map(|(b, m)| {
            if b.forbidden && strict {
                return b.data.clone();
            }
            // SAFETY: element i of a buffer of that many elements.
            (0..b.data.len()).map(|i| unsafe { m.at::<T>(i).read() }).collect()
        });
        Outcome { bufs: bufs.collect(), value: self.value, index: self.index }
    }

    /// Whether the outcome has these bits; allocates nothing.
    pub fn has_bits(&self, o: &Outcome<T>) -> bool {
        let bits = |z: Z| (z.re.to_bits(), z.im.to_bits());
        bits(self.value) == bits(o.value)
            && self.index == o.index
            && self.problem.bufs.iter().zip(&self.memory).zip(&o.bufs).all(|((b, m), want)| {
                // SAFETY: element i of a buffer of that many elements.
                let same = |i| bytes(&[unsafe { m.at::<T>(i).read() }]) == bytes(&want[i..=i]);
                b.forbidden || (0..want.len()).all(same)
            })
    }
}

/// Ends the chain of a real number by value: an f32 lies in the low half.
fn by_value<R: Scalar>(x: f64) -> f64 {
    if R::LETTER == 's' {
        let low = (x as f32).to_bits() as u64;
        f64::from_bits(low | (GARBAGE as u64) << 32)
    } else {
        x
    }
}

impl<T: Scalar> Problem<T> {
    pub fn new(routine: impl Into<String>, order: Option<Order>) -> Problem<T> {
        Problem {
            routine: routine.into(),
            order,
            fortran_order: false,
            args: Vec::new(),
            bufs: Vec::new(),
            returns: Returns::Nothing,
            ret_want: RetWant::Nothing,
            solve: None,
        }
    }

    pub fn trans(&mut self, t: u8) -> &mut Self {
        self.args.push(Arg::Trans(t));
        self
    }
    pub fn uplo(&mut self, u: u8) -> &mut Self {
        self.args.push(Arg::Uplo(u));
        self
    }
    pub fn diag(&mut self, d: u8) -> &mut Self {
        self.args.push(Arg::Diag(d));
        self
    }
    pub fn side(&mut self, s: u8) -> &mut Self {
        self.args.push(Arg::Side(s));
        self
    }
    pub fn int(&mut self, i: usize) -> &mut Self {
        self.args.push(Arg::Int(i as i64));
        self
    }
    pub fn inc(&mut self, i: i64) -> &mut Self {
        self.args.push(Arg::Inc(i));
        self
    }
    pub fn scalar(&mut self, z: Z) -> &mut Self {
        self.args.push(Arg::Scalar(z));
        self
    }
    pub fn real(&mut self, x: f64) -> &mut Self {
        self.args.push(Arg::Real(x));
        self
    }
    pub fn buf(&mut self, b: usize) -> &mut Self {
        self.args.push(Arg::Buf(b));
        self
    }

    /// Adds a buffer of `len` poisoned elements.
    pub fn alloc(&mut self, len: usize) -> usize {
        self.bufs.push(Buffer { data: vec![T::poison(); len], forbidden: false, want: Vec::new() });
        self.bufs.len() - 1
    }

    /// Declares that the routine must not touch this operand.
    pub fn forbid(&mut self, b: usize) {
        self.bufs[b].forbidden = true;
        self.bufs[b].data.fill(T::poison());
    }

    /// Entry points that can express this problem, of those under test.
    pub fn apis(&self) -> Vec<Api> {
        let col = self.order != Some(Order::Row) || self.fortran_order;
        Api::tested().iter().copied().filter(|a| a.is_cblas() || col).collect()
    }

    /// Runs the call and returns all buffers as they are afterwards.
    pub fn run(&self, api: Api, layout: Layout) -> Outcome<T> {
        let mut ready = self.prepare(api, layout);
        ready.fire();
        ready.outcome()
    }

    /// Allocates and fills everything, so that the call alone remains to do.
    pub fn prepare(&self, api: Api, layout: Layout) -> Ready<'_, T> {
        let mut rng = Rng::new(match layout {
            Layout::Guards(seed) => seed,
            _ => 1,
        });
        let size = size_of::<T>();
        // The reference CBLAS copies x before it looks at alpha: a foreign
        // library may read what ours must not (it is NaN, so not use it).
        let strict = !foreign();
        let mut args = self.args.clone();
        let memory: Vec<Memory> = (0..self.bufs.len())
            .map(|b| {
                let buf = &self.bufs[b];
                let len = buf.data.len();
                let forbidden = buf.forbidden && strict;
                let memory = match layout {
                    _ if forbidden => Memory::Guarded(Guarded::new(len * size, Place::Forbidden)),
                    Layout::Guards(_) => {
                        let place = rng.pick(&[Place::Start, Place::End]);
                        Memory::Guarded(Guarded::new(len * size, place))
                    }
                    Layout::Offset(n) => Memory::Guarded(Guarded::new(len * size, Place::Offset(n * size))),
                    Layout::Far => Memory::far(b, len, size, &mut args),
                };
                if !forbidden {
                    for (i, v) in buf.data.iter().enumerate() {
                        // SAFETY: element i of a buffer of len elements.
                        unsafe { memory.at::<T>(i).write(*v) };
                    }
                }
                memory
            })
            .collect();
        let (words, arrays, gp, fp) = if api.is_cblas() {
            self.cblas_args(api, &args, &memory)
        } else {
            self.fortran_args(api, &args, &memory, &mut rng)
        };
        let sub = api.is_cblas() && self.returns == Returns::Complex;
        let name = if sub { format!("{}_sub", self.routine) } else { self.routine.clone() };
        let mut ready = Ready {
            problem: self,
            api,
            memory,
            _words: words,
            _arrays: arrays,
            gp,
            fp,
            function: lib().symbol(&api.name(&name)),
            result: Box::new(T::poison()),
            sub,
            value: Z::ZERO,
            index: 0,
        };
        if sub {
            ready.gp.push(&raw mut *ready.result as usize);
        }
        ready
    }

    /// Every argument is a pointer. 32-bit integers and letters lie next to
    /// garbage, and letters come in both cases.
    fn fortran_args(&self, api: Api, args: &[Arg], memory: &[Memory], rng: &mut Rng) -> Lowered {
        let mut words: Vec<[u64; 2]> = Vec::with_capacity(args.len() + 1);
        let mut arrays: Vec<Vec<u64>> = Vec::new();
        let garbage = GARBAGE as u64;
        let letter = |c: u8, rng: &mut Rng| {
            let c = if rng.below(2) == 0 { c.to_ascii_lowercase() } else { c };
            [garbage << 8 | c as u64, garbage]
        };
        let skip = self.fortran_order as usize;
        if self.fortran_order {
            let c = match self.order {
                Some(Order::Row) => b'R',
                Some(Order::Col) => b'C',
                _ => b'?',
            };
            words.push(letter(c, rng));
        }
        for a in args {
            words.push(match a {
                Arg::Trans(c) | Arg::Uplo(c) | Arg::Diag(c) | Arg::Side(c) => letter(*c, rng),
                Arg::Int(i) | Arg::Ld(i, _) | Arg::Inc(i) if api.is_64() => [*i as u64, garbage],
                Arg::Int(i) | Arg::Ld(i, _) | Arg::Inc(i) => [garbage << 32 | (*i as u32 as u64), garbage],
                Arg::Scalar(z) => scalar_words::<T>(*z),
                Arg::Real(x) => scalar_words::<T::Real>(Z::real(*x)),
                _ => [0; 2],
            });
        }
        // The words stay where they are from here on.
        let mut gp: Vec<usize> = words[..skip].iter().map(|w| w.as_ptr() as usize).collect();
        for (i, a) in args.iter().enumerate() {
            gp.push(match a {
                Arg::Buf(b) => memory[*b].base(),
                Arg::TransArray(_) | Arg::IntArray(_) | Arg::ScalarArray(_) | Arg::BufArray(_) => {
                    arrays.push(array_words::<T>(a, api, memory));
                    arrays.last().unwrap().as_ptr() as usize
                }
                _ => words[skip + i].as_ptr() as usize,
            });
        }
        (words, arrays, gp, Vec::new())
    }

    /// Integers, enums and real numbers by value, the rest by pointer.
    fn cblas_args(&self, api: Api, args: &[Arg], memory: &[Memory]) -> Lowered {
        let mut words: Vec<[u64; 2]> = vec![[0; 2]; args.len()];
        let mut arrays: Vec<Vec<u64>> = Vec::new();
        let (mut gp, mut fp) = (Vec::new(), Vec::new());
        let upper = GARBAGE & !0xffff_ffff;
        match self.order {
            Some(Order::Row) => gp.push(101 | upper),
            Some(Order::Col) => gp.push(102 | upper),
            Some(Order::Bad) => gp.push(7 | upper),
            None => {}
        }
        for (i, a) in args.iter().enumerate() {
            match a {
                Arg::Trans(_) | Arg::Uplo(_) | Arg::Diag(_) | Arg::Side(_) => gp.push(cblas_enum(a) as usize | upper),
                Arg::Int(i) | Arg::Ld(i, _) | Arg::Inc(i) if api.is_64() => gp.push(*i as usize),
                Arg::Int(i) | Arg::Ld(i, _) | Arg::Inc(i) => gp.push(*i as u32 as usize | upper),
                Arg::Real(x) => fp.push(by_value::<T::Real>(*x)),
                Arg::Scalar(z) if !T::COMPLEX => fp.push(by_value::<T>(z.re)),
                Arg::Scalar(z) => {
                    words[i] = scalar_words::<T>(*z);
                    gp.push(words[i].as_ptr() as usize);
                }
                Arg::Buf(b) => gp.push(memory[*b].base()),
                _ => {
                    arrays.push(array_words::<T>(a, api, memory));
                    gp.push(arrays.last().unwrap().as_ptr() as usize);
                }
            }
        }
        (words, arrays, gp, fp)
    }

    /// Compares an outcome with what must come out.
    pub fn check(&self, api: Api, out: &Outcome<T>) -> Result<(), String> {
        match self.ret_want {
            RetWant::Nothing => {}
            RetWant::Near(want, tol) => near(out.value, want, tol).map_err(|e| format!("return value: {e}"))?,
            RetWant::Index(want) => {
                let want = if api.is_cblas() { (want - 1).max(0) } else { want };
                if out.index != want {
                    return Err(format!("returned index {}, want {want}", out.index));
                }
            }
        }
        for (b, buf) in self.bufs.iter().enumerate() {
            let got = &out.bufs[b];
            let mut free = vec![false; got.len()];
            for &(i, want) in &buf.want {
                free[i] = true;
                let g = got[i].z();
                match want {
                    Want::Any => Ok(()),
                    Want::Near(w, tol) => near(g, w, tol),
                    Want::NearReal(w, tol) => near(g, Z::real(w), tol).and(if g.im == 0.0 {
                        Ok(())
                    } else {
                        Err(format!("imaginary part {:e}, want 0", g.im))
                    }),
                }
                .map_err(|e| format!("buffer {b}, element {i}: {e}"))?;
            }
            if let Some(s) = self.solve.as_ref().filter(|s| s.buf == b) {
                s.index.iter().for_each(|&i| free[i] = true);
                s.check(got).map_err(|e| format!("buffer {b}: {e}"))?;
            }
            for i in 0..got.len() {
                if !free[i] && bytes(&got[i..=i]) != bytes(&buf.data[i..=i]) {
                    return Err(format!(
                        "buffer {b}, element {i} must not change: was {:?}, is {:?}",
                        buf.data[i], got[i]
                    ));
                }
            }
        }
        Ok(())
    }

    /// One line that names the call with all its arguments.
    pub fn describe(&self) -> String {
        let args: Vec<String> = self
            .args
            .iter()
            .map(|a| match a {
                Arg::Trans(c) | Arg::Uplo(c) | Arg::Diag(c) | Arg::Side(c) => (*c as char).to_string(),
                Arg::Int(i) | Arg::Ld(i, _) | Arg::Inc(i) => i.to_string(),
                Arg::Scalar(z) if T::COMPLEX => format!("({:.4},{:.4})", z.re, z.im),
                Arg::Scalar(z) => format!("{:.4}", z.re),
                Arg::Real(x) => format!("{x:.4}"),
                Arg::Buf(b) => format!("buf{b}[{}]", self.bufs[*b].data.len()),
                other => format!("{other:?}"),
            })
            .collect();
        format!("{} {:?} ({})", self.routine, self.order, args.join(", "))
    }
}

fn scalar_words<R: Scalar>(z: Z) -> [u64; 2] {
    let mut w = [GARBAGE as u64; 2];
    // SAFETY: 16 bytes hold any Scalar.
    unsafe { w.as_mut_ptr().cast::<R>().write(R::new(z)) };
    w
}

fn cblas_enum(a: &Arg) -> u32 {
    match a {
        Arg::Trans(b'N') => 111,
        Arg::Trans(b'T') => 112,
        Arg::Trans(b'C') => 113,
        // Conjugate without transposing: an extension (omatcopy).
        Arg::Trans(b'R') => 114,
        Arg::Uplo(b'U') => 121,
        Arg::Uplo(b'L') => 122,
        Arg::Diag(b'N') => 131,
        Arg::Diag(b'U') => 132,
        Arg::Side(b'L') => 141,
        Arg::Side(b'R') => 142,
        Arg::Trans(_) | Arg::Uplo(_) | Arg::Diag(_) | Arg::Side(_) => 999,
        other => panic!("{other:?} is no option"),
    }
}

/// An array argument as memory (in words, for the alignment).
fn array_words<T: Scalar>(a: &Arg, api: Api, memory: &[Memory]) -> Vec<u64> {
    let mut raw: Vec<u8> = Vec::new();
    match a {
        Arg::TransArray(v) if api.is_cblas() => {
            for c in v {
                raw.extend(cblas_enum(&Arg::Trans(*c)).to_ne_bytes());
            }
        }
        Arg::TransArray(v) => raw.extend(v),
        Arg::IntArray(v) if api.is_64() => v.iter().for_each(|i| raw.extend(i.to_ne_bytes())),
        Arg::IntArray(v) => v.iter().for_each(|i| raw.extend((*i as i32).to_ne_bytes())),
        Arg::ScalarArray(v) => {
            for z in v {
                raw.extend(bytes(&[T::new(*z)]));
            }
        }
        Arg::BufArray(v) => {
            for b in v {
                raw.extend(memory[*b].base().to_ne_bytes());
            }
        }
        other => panic!("not an array: {other:?}"),
    }
    let mut words = vec![GARBAGE as u64; raw.len() / 8 + 1];
    // SAFETY: words is at least as long as raw.
    unsafe {
        std::ptr::copy_nonoverlapping(raw.as_ptr(), words.as_mut_ptr().cast(), raw.len());
    }
    words
}

/// Both parts within `tol`, NaN if and only if a NaN is wanted.
pub fn near(got: Z, want: Z, tol: f64) -> Result<(), String> {
    let ok = if want.is_nan() || tol.is_nan() {
        got.is_nan()
    } else {
        let part = |g: f64, w: f64| g == w || (g - w).abs() <= tol;
        part(got.re, want.re) && part(got.im, want.im)
    };
    if ok {
        return Ok(());
    }
    Err(format!(
        "got {:e} {:+e}i, want {:e} {:+e}i, off by {:.3e} where {tol:.3e} is allowed",
        got.re,
        got.im,
        want.re,
        want.im,
        (got.re - want.re).abs().max((got.im - want.im).abs()),
    ))
}

/// The constant beside the length of a sum in every error bound: scaling by
/// alpha and beta, the final sum, the store; complex products cost two more.
pub const SLACK: f64 = 8.0;

impl Solve {
    fn check<T: Scalar>(&self, got: &[T]) -> Result<(), String> {
        let (r, c) = (self.rows, self.cols);
        let x: Vec<Z> = self.index.iter().map(|&i| got[i].z()).collect();
        if let Some(i) = self.b.iter().position(|z| z.is_nan()) {
            let all = x.iter().all(|z| z.is_nan());
            return if all { Ok(()) } else { Err(format!("want NaN (element {i})")) };
        }
        let p =
            if self.left { product::<T>(r, c, self.n, &self.a, &x) } else { product::<T>(r, c, self.n, &x, &self.a) };
        for i in 0..r * c {
            let tol = (self.n as f64 * (1.0 + p.own) + SLACK) * T::EPS * (p.size[i] + self.b[i].abs());
            near(p.value[i], self.b[i], tol).map_err(|e| format!("residual of element ({}, {}): {e}", i / c, i % c))?;
        }
        Ok(())
    }
}
