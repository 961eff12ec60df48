//! The element types: the only list of them in the core.
//!
//! Every routine is generic over [`Scalar`]; the letters s, d, c, z exist only in `ffi/`. Adding an element type means
//! one implementation here and one row of kernels per ISA in `kernels/`.

use crate::kernels::Kernels;
use core::fmt::Debug;
use core::ops::{Add, AddAssign, Div, Mul, Neg, Sub};

/// A number that BLAS computes with.
pub trait Scalar:
    Copy
    + Default
    + PartialEq
    + Debug
    + Send
    + Sync
    + 'static
    + Add<Output = Self>
    + AddAssign
    + Sub<Output = Self>
    + Mul<Output = Self>
    + Div<Output = Self>
    + Neg<Output = Self>
{
    /// The type of its parts, and of norms.
    type Real: Real;
    const ZERO: Self;
    const ONE: Self;
    const IS_COMPLEX: bool;
    /// Name of the type in messages and traces.
    const NAME: &'static str;

    fn from_real(re: Self::Real) -> Self;
    /// A real type has no use for the second.
    fn from_parts(re: Self::Real, im: Self::Real) -> Self;
    fn re(self) -> Self::Real;
    /// Zero for a real type.
    fn im(self) -> Self::Real;
    fn conj(self) -> Self;
    /// The conjugate if `yes`, the number itself otherwise.
    #[inline(always)]
    fn conj_if(self, yes: bool) -> Self {
        if yes { self.conj() } else { self }
    }
    /// |re| + |im|: what BLAS uses where a cheap magnitude does.
    fn abs1(self) -> Self::Real;
    /// Product with a real number: two multiplications for a complex type, as in `csscal`.
    fn scale(self, by: Self::Real) -> Self;
    /// The kernels of this type for the chosen instruction set.
    fn kernels() -> &'static Kernels<Self>;
    /// The same, if the choice has been made: no call, so that a short function needs no frame for it.
    fn kernels_at_hand() -> Option<&'static Kernels<Self>>;
}

/// A real [`Scalar`].
pub trait Real: Scalar<Real = Self> + PartialOrd {
    /// log2 of the smallest and of the largest finite power of two, and the digits of the significand.
    const MIN_EXP: i32;
    const MAX_EXP: i32;
    const DIGITS: i32;
    const EPSILON: Self;
    fn abs(self) -> Self;
    fn sqrt(self) -> Self;
    fn copysign(self, sign: Self) -> Self;
    fn is_nan(self) -> bool;
    fn to_f64(self) -> f64;
    fn from_f64(x: f64) -> Self;
    /// 2^e, exactly.
    fn pow2(e: i32) -> Self {
        Self::from_f64((e as f64).exp2())
    }
}

macro_rules! real {
    ($t:ident, $table:path) => {
        impl Scalar for $t {
            type Real = $t;
            const ZERO: Self = 0.0;
            const ONE: Self = 1.0;
            const IS_COMPLEX: bool = false;
            const NAME: &'static str = stringify!($t);
            #[inline(always)]
            fn from_real(re: $t) -> Self {
                re
            }
            #[inline(always)]
            fn from_parts(re: $t, _: $t) -> Self {
                re
            }
            #[inline(always)]
            fn re(self) -> $t {
                self
            }
            #[inline(always)]
            fn im(self) -> $t {
                0.0
            }
            #[inline(always)]
            fn conj(self) -> Self {
                self
            }
            #[inline(always)]
            fn abs1(self) -> $t {
                self.abs()
            }
            #[inline(always)]
            fn scale(self, by: $t) -> Self {
                self * by
            }
            #[inline(always)]
            fn kernels() -> &'static Kernels<Self> {
                $table.get()
            }
            #[inline(always)]
            fn kernels_at_hand() -> Option<&'static Kernels<Self>> {
                $table.at_hand()
            }
        }
        impl Real for $t {
            const MIN_EXP: i32 = $t::MIN_EXP;
            const MAX_EXP: i32 = $t::MAX_EXP;
            const DIGITS: i32 = $t::MANTISSA_DIGITS as i32;
            const EPSILON: Self = $t::EPSILON;
            #[inline(always)]
            fn abs(self) -> Self {
                $t::abs(self)
            }
            #[inline(always)]
            fn sqrt(self) -> Self {
                $t::sqrt(self)
            }
            #[inline(always)]
            fn copysign(self, sign: Self) -> Self {
                $t::copysign(self, sign)
            }
            #[inline(always)]
            fn is_nan(self) -> bool {
                $t::is_nan(self)
            }
            #[inline(always)]
            fn to_f64(self) -> f64 {
                self as f64
            }
            #[inline(always)]
            fn from_f64(x: f64) -> Self {
                x as $t
            }
        }
    };
}
real!(f32, crate::kernels::F32);
real!(f64, crate::kernels::F64);

/// A complex number as C, C++ and Fortran lay it out.
#[allow(non_camel_case_types)]
pub type c32 = Complex<f32>;
/// A complex number as C, C++ and Fortran lay it out.
#[allow(non_camel_case_types)]
pub type c64 = Complex<f64>;

/// A complex number as C, C++ and Fortran lay it out: two reals, returned in registers.
#[derive(Clone, Copy, Default, PartialEq, Debug)]
#[repr(C)]
pub struct Complex<R> {
    pub re: R,
    pub im: R,
}

impl<R> Complex<R> {
    #[inline(always)]
    pub const fn new(re: R, im: R) -> Self {
        Complex { re, im }
    }
}

impl<R: Real> Complex<R> {
    #[inline(always)]
    pub fn conj(self) -> Self {
        Complex::new(self.re, -self.im)
    }
    /// Both parts times a real number.
    #[inline(always)]
    pub fn scale(self, by: R) -> Self {
        Complex::new(self.re * by, self.im * by)
    }
}

impl<R: Real> Add for Complex<R> {
    type Output = Self;
    #[inline(always)]
    fn add(self, o: Self) -> Self {
        Complex::new(self.re + o.re, self.im + o.im)
    }
}
impl<R: Real> AddAssign for Complex<R> {
    #[inline(always)]
    fn add_assign(&mut self, o: Self) {
        *self = *self + o;
    }
}
impl<R: Real> Sub for Complex<R> {
    type Output = Self;
    #[inline(always)]
    fn sub(self, o: Self) -> Self {
        Complex::new(self.re - o.re, self.im - o.im)
    }
}
impl<R: Real> Mul for Complex<R> {
    type Output = Self;
    #[inline(always)]
    fn mul(self, o: Self) -> Self {
        Complex::new(self.re * o.re - self.im * o.im, self.re * o.im + self.im * o.re)
    }
}
impl<R: Real> Neg for Complex<R> {
    type Output = Self;
    #[inline(always)]
    fn neg(self) -> Self {
        Complex::new(-self.re, -self.im)
    }
}
impl<R: Real> Div for Complex<R> {
    type Output = Self;
    /// Smith's algorithm (1962): no overflow where the quotient itself does not overflow by far, as Fortran's division.
    #[inline]
    fn div(self, o: Self) -> Self {
        if o.re.abs() >= o.im.abs() {
            let r = o.im / o.re;
            let d = o.re + o.im * r;
            Complex::new((self.re + self.im * r) / d, (self.im - self.re * r) / d)
        } else {
            let r = o.re / o.im;
            let d = o.im + o.re * r;
            Complex::new((self.re * r + self.im) / d, (self.im * r - self.re) / d)
        }
    }
}

macro_rules! complex {
    ($r:ident, $name:literal, $table:path) => {
        impl Scalar for Complex<$r> {
            type Real = $r;
            const ZERO: Self = Complex::new(0.0, 0.0);
            const ONE: Self = Complex::new(1.0, 0.0);
            const IS_COMPLEX: bool = true;
            const NAME: &'static str = $name;
            #[inline(always)]
            fn from_real(re: $r) -> Self {
                Complex::new(re, 0.0)
            }
            #[inline(always)]
            fn from_parts(re: $r, im: $r) -> Self {
                Complex::new(re, im)
            }
            #[inline(always)]
            fn re(self) -> $r {
                self.re
            }
            #[inline(always)]
            fn im(self) -> $r {
                self.im
            }
            #[inline(always)]
            fn conj(self) -> Self {
                Complex::conj(self)
            }
            #[inline(always)]
            fn abs1(self) -> $r {
                self.re.abs() + self.im.abs()
            }
            #[inline(always)]
            fn scale(self, by: $r) -> Self {
                Complex::scale(self, by)
            }
            #[inline(always)]
            fn kernels() -> &'static Kernels<Self> {
                $table.get()
            }
            #[inline(always)]
            fn kernels_at_hand() -> Option<&'static Kernels<Self>> {
                $table.at_hand()
            }
        }
    };
}
complex!(f32, "c32", crate::kernels::C32);
complex!(f64, "c64", crate::kernels::C64);
