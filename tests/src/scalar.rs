//! The four BLAS element types, and the arithmetic of the reference.
//!
//! The reference knows one type only, [`Z`]: a complex number of f64. Every
//! element type converts to it without loss, so each reference routine is
//! written once. Sums are compensated (twice the working precision), so that
//! the reference's own error does not eat up the bound under test.

use std::fmt::Debug;
use std::ops::{Add, Mul, Neg, Sub};

/// A complex number of f64; real types use it with `im == 0`.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Z {
    pub re: f64,
    pub im: f64,
}

impl Z {
    pub const ZERO: Z = Z { re: 0.0, im: 0.0 };
    pub const ONE: Z = Z { re: 1.0, im: 0.0 };

    pub const fn new(re: f64, im: f64) -> Z {
        Z { re, im }
    }

    pub const fn real(re: f64) -> Z {
        Z { re, im: 0.0 }
    }

    pub fn conj(self) -> Z {
        Z::new(self.re, -self.im)
    }

    /// The modulus. No scaling: operands of the tests are of moderate size.
    pub fn abs(self) -> f64 {
        if self.im == 0.0 { self.re.abs() } else { (self.re * self.re + self.im * self.im).sqrt() }
    }

    /// |re| + |im|: what iamax and asum call the size of a complex number.
    pub fn abs1(self) -> f64 {
        self.re.abs() + self.im.abs()
    }

    pub fn is_nan(self) -> bool {
        self.re.is_nan() || self.im.is_nan()
    }

    pub fn is_zero(self) -> bool {
        self.re == 0.0 && self.im == 0.0
    }
}

impl Add for Z {
    type Output = Z;
    fn add(self, o: Z) -> Z {
        Z::new(self.re + o.re, self.im + o.im)
    }
}

impl Sub for Z {
    type Output = Z;
    fn sub(self, o: Z) -> Z {
        Z::new(self.re - o.re, self.im - o.im)
    }
}

impl Neg for Z {
    type Output = Z;
    fn neg(self) -> Z {
        Z::new(-self.re, -self.im)
    }
}

impl Mul for Z {
    type Output = Z;
    fn mul(self, o: Z) -> Z {
        Z::new(self.re * o.re - self.im * o.im, self.re * o.im + self.im * o.re)
    }
}

/// A complex number as C and Fortran lay it out.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Cplx<R> {
    pub re: R,
    pub im: R,
}

pub type C32 = Cplx<f32>;
pub type C64 = Cplx<f64>;

/// An element type of BLAS.
pub trait Scalar: Copy + Debug + Default + PartialEq + Send + Sync + 'static {
    /// The real type beneath: itself for s and d.
    type Real: Scalar;
    /// s, d, c or z.
    const LETTER: char;
    const COMPLEX: bool;
    /// Distance from 1 to the next number: twice the unit roundoff.
    const EPS: f64;
    /// A factor whose square overflows, and whose inverse's square underflows.
    const HUGE: f64;

    /// Rounds to this type; `im` is dropped by real types.
    fn new(z: Z) -> Self;
    fn z(self) -> Z;
    /// A quiet NaN with a payload, so that a bitwise comparison can tell it
    /// from a NaN that arithmetic made.
    fn poison() -> Self;

    /// The value after rounding to this type.
    fn round(z: Z) -> Z {
        Self::new(z).z()
    }

    /// Prefix of the routines that return a real number: s, d, sc, dz.
    fn real_prefix() -> String {
        if Self::COMPLEX { format!("{}{}", Self::Real::LETTER, Self::LETTER) } else { Self::LETTER.to_string() }
    }

    /// Prefix of the routines that scale by a real number: s, d, cs, zd.
    fn mixed_prefix() -> String {
        if Self::COMPLEX { format!("{}{}", Self::LETTER, Self::Real::LETTER) } else { Self::LETTER.to_string() }
    }
}

macro_rules! scalar {
    ($real:ty, $r:literal, $c:literal, $poison:literal, $huge:literal) => {
        impl Scalar for $real {
            type Real = $real;
            const LETTER: char = $r;
            const COMPLEX: bool = false;
            const EPS: f64 = <$real>::EPSILON as f64;
            const HUGE: f64 = $huge;
            fn new(z: Z) -> Self {
                z.re as $real
            }
            fn z(self) -> Z {
                Z::real(self as f64)
            }
            fn poison() -> Self {
                <$real>::from_bits($poison)
            }
        }
        impl Scalar for Cplx<$real> {
            type Real = $real;
            const LETTER: char = $c;
            const COMPLEX: bool = true;
            const EPS: f64 = <$real>::EPSILON as f64;
            const HUGE: f64 = $huge;
            fn new(z: Z) -> Self {
                Cplx { re: z.re as $real, im: z.im as $real }
            }
            fn z(self) -> Z {
                Z::new(self.re as f64, self.im as f64)
            }
            fn poison() -> Self {
                Cplx { re: <$real>::from_bits($poison), im: <$real>::from_bits($poison + 1) }
            }
        }
    };
}
scalar!(f32, 's', 'c', 0x7fd0_dea0, 1e30);
scalar!(f64, 'd', 'z', 0x7ffd_dead_beef_00a0, 1e250);

/// The bytes of a slice: equality of bits, NaN payloads and signed zeros too.
pub fn bytes<T: Scalar>(x: &[T]) -> &[u8] {
    // SAFETY: a Scalar is a float or a pair of floats: no padding, no niche.
    unsafe { std::slice::from_raw_parts(x.as_ptr().cast(), std::mem::size_of_val(x)) }
}

pub fn same_bits<T: Scalar>(a: &[T], b: &[T]) -> bool {
    bytes(a) == bytes(b)
}

/// A compensated sum of products (Ogita, Rump, Oishi: Dot2).
#[derive(Clone, Copy, Default)]
struct Dot2 {
    hi: f64,
    lo: f64,
}

impl Dot2 {
    #[inline(always)]
    fn add(&mut self, a: f64, b: f64) {
        let p = a * b;
        // The rounding error of p, by Veltkamp's splitting: no FMA needed.
        const SPLIT: f64 = 134217729.0;
        let (ca, cb) = (SPLIT * a, SPLIT * b);
        let (ah, bh) = (ca - (ca - a), cb - (cb - b));
        let (al, bl) = (a - ah, b - bh);
        let e = ((ah * bh - p) + ah * bl + al * bh) + al * bl;
        let s = self.hi + p;
        let t = s - self.hi;
        self.lo += ((self.hi - (s - t)) + (p - t)) + e;
        self.hi = s;
    }

    fn value(self) -> f64 {
        self.hi + self.lo
    }
}

/// A matrix product of the reference with the sums of moduli its bound needs.
pub struct Product {
    pub value: Vec<Z>,
    /// Sum over l of |a(i,l)| |b(l,j)|.
    pub size: Vec<f64>,
    /// By how much the reference's own error widens the bound (in units of
    /// k * eps): 0 for the compensated sum, 1 for plain f64 of a f64 type.
    pub own: f64,
}

/// Work above which the plain sum is used (it is ten times faster).
const COMPENSATED_WORK: usize = 2_000_000;

/// `a` (m by k, row after row) times `b` (k by n, row after row).
pub fn product<T: Scalar>(m: usize, n: usize, k: usize, a: &[Z], b: &[Z]) -> Product {
    assert!(a.len() == m * k && b.len() == k * n);
    if SKIP.get() {
        return Product { value: vec![Z::ZERO; m * n], size: vec![0.0; m * n], own: 0.0 };
    }
    if let Some(f) = ORACLE.get() {
        return f(m, n, k, a, b);
    }
    let exact_products = T::EPS > 1e-10;
    if exact_products || m * n * k > COMPENSATED_WORK {
        plain_product::<T>(m, n, k, a, b, if exact_products { 0.0 } else { 1.0 })
    } else {
        compensated_product::<T>(m, n, k, a, b)
    }
}

/// Row by row, in loops that the compiler vectorises.
fn plain_product<T: Scalar>(m: usize, n: usize, k: usize, a: &[Z], b: &[Z], own: f64) -> Product {
    let bre: Vec<f64> = b.iter().map(|z| z.re).collect();
    let bim: Vec<f64> = b.iter().map(|z| z.im).collect();
    let bmod: Vec<f64> = b.iter().map(|z| z.abs()).collect();
    let add = |to: &mut [f64], factor: f64, from: &[f64]| {
        for (t, f) in to.iter_mut().zip(from) {
            *t += factor * f;
        }
    };
    let mut value = Vec::with_capacity(m * n);
    let mut size = vec![0.0; m * n];
    let (mut re, mut im) = (vec![0.0; n], vec![0.0; n]);
    for i in 0..m {
        re.fill(0.0);
        im.fill(0.0);
        for l in 0..k {
            let (x, row) = (a[i * k + l], l * n..(l + 1) * n);
            add(&mut re, x.re, &bre[row.clone()]);
            if T::COMPLEX {
                add(&mut re, -x.im, &bim[row.clone()]);
                add(&mut im, x.re, &bim[row.clone()]);
                add(&mut im, x.im, &bre[row.clone()]);
            }
            add(&mut size[i * n..(i + 1) * n], x.abs(), &bmod[row]);
        }
        value.extend(re.iter().zip(&im).map(|(&re, &im)| Z::new(re, im)));
    }
    Product { value, size, own }
}

fn compensated_product<T: Scalar>(m: usize, n: usize, k: usize, a: &[Z], b: &[Z]) -> Product {
    let mut bt = vec![Z::ZERO; n * k];
    for l in 0..k {
        for j in 0..n {
            bt[j * k + l] = b[l * n + j];
        }
    }
    let amod: Vec<f64> = a.iter().map(|x| x.abs()).collect();
    let bmod: Vec<f64> = bt.iter().map(|x| x.abs()).collect();
    let mut value = Vec::with_capacity(m * n);
    let mut size = Vec::with_capacity(m * n);
    for i in 0..m {
        let (ra, ma) = (&a[i * k..][..k], &amod[i * k..][..k]);
        for j in 0..n {
            let (rb, mb) = (&bt[j * k..][..k], &bmod[j * k..][..k]);
            size.push(ma.iter().zip(mb).map(|(x, y)| x * y).sum());
            let (mut re, mut im) = (Dot2::default(), Dot2::default());
            for (x, y) in ra.iter().zip(rb) {
                re.add(x.re, y.re);
                if T::COMPLEX {
                    re.add(-x.im, y.im);
                    im.add(x.re, y.im);
                    im.add(x.im, y.re);
                }
            }
            value.push(Z::new(re.value(), im.value()));
        }
    }
    Product { value, size, own: 0.0 }
}

/// Another way to multiply, set by tests/oracle.rs: OpenBLAS.
pub static ORACLE: std::sync::OnceLock<Multiply> = std::sync::OnceLock::new();

/// m, n, k, a, b as in [`product`].
pub type Multiply = fn(usize, usize, usize, &[Z], &[Z]) -> Product;

thread_local! {
    static SKIP: std::cell::Cell<bool> = const { std::cell::Cell::new(false) };
}

/// Runs `f` with products of the reference left out (they are zero): what it
/// makes can be run, not checked.
pub fn without_reference<R>(f: impl FnOnce() -> R) -> R {
    let before = SKIP.replace(true);
    let r = f();
    SKIP.set(before);
    r
}
