//! Level 1: vectors. No argument of level 1 is an error: a length that is not positive means that there is nothing to
//! do, and increments may have any sign (zero repeats one element). Where Reference BLAS returns for `incx <= 0` we do.

use crate::types::{Scalar, vec, vec_mut};
use corten_core::level1;
use corten_core::scalar::{Complex, Real};

// SAFETY of all bodies below: the caller vouches that the arrays hold what the routine's documentation says; `n` is
// positive (kind `count`), or checked here.

unsafe fn swap<T: Scalar>(n: usize, x: *mut T, incx: isize, y: *mut T, incy: isize) {
    // SAFETY: see above.
    unsafe { level1::swap(vec_mut(x, n, incx), vec_mut(y, n, incy)) }
}

unsafe fn scal<T: Scalar>(n: usize, alpha: *const T, x: *mut T, incx: isize) {
    if incx > 0 {
        // SAFETY: see above.
        unsafe { level1::scal(*alpha, vec_mut(x, n, incx)) }
    }
}

unsafe fn scal_real<T: Scalar>(n: usize, alpha: *const T::Real, x: *mut T, incx: isize) {
    if incx > 0 {
        // SAFETY: see above.
        unsafe { level1::scal_real(*alpha, vec_mut(x, n, incx)) }
    }
}

unsafe fn copy<T: Scalar>(n: usize, x: *const T, incx: isize, y: *mut T, incy: isize) {
    // SAFETY: see above.
    unsafe { level1::copy(vec(x, n, incx), vec_mut(y, n, incy)) }
}

unsafe fn axpy<T: Scalar>(n: usize, alpha: *const T, x: *const T, incx: isize, y: *mut T, incy: isize) {
    // SAFETY: see above.
    unsafe { level1::axpy(*alpha, vec(x, n, incx), false, vec_mut(y, n, incy)) }
}

unsafe fn dot<T: Scalar>(n: usize, x: *const T, incx: isize, y: *const T, incy: isize) -> T {
    // SAFETY: see above.
    unsafe { level1::dot(vec(x, n, incx), false, vec(y, n, incy)) }
}

unsafe fn dotc<T: Scalar>(n: usize, x: *const T, incx: isize, y: *const T, incy: isize) -> T {
    // SAFETY: see above.
    unsafe { level1::dot(vec(x, n, incx), true, vec(y, n, incy)) }
}

unsafe fn dotu_sub<T: Scalar>(n: isize, x: *const T, incx: isize, y: *const T, incy: isize, dotu: *mut T) {
    let n = usize::try_from(n).unwrap_or(0);
    // SAFETY: see above; the result is written for any `n`.
    unsafe { *dotu = level1::dot(vec(x, n, incx), false, vec(y, n, incy)) }
}

unsafe fn dotc_sub<T: Scalar>(n: isize, x: *const T, incx: isize, y: *const T, incy: isize, dotc: *mut T) {
    let n = usize::try_from(n).unwrap_or(0);
    // SAFETY: see above; the result is written for any `n`.
    unsafe { *dotc = level1::dot(vec(x, n, incx), true, vec(y, n, incy)) }
}

unsafe fn dsdot<R: Real>(n: usize, x: *const R, incx: isize, y: *const R, incy: isize) -> f64 {
    // SAFETY: see above; the table names this body for R = f32 only.
    unsafe { level1::dsdot(vec(x.cast(), n, incx), vec(y.cast(), n, incy)) }
}

unsafe fn sdsdot<R: Real>(n: isize, sb: *const R, x: *const R, incx: isize, y: *const R, incy: isize) -> R {
    let n = usize::try_from(n).unwrap_or(0);
    // SAFETY: see above; for an empty sum the result is `sb`.
    unsafe { R::from_f64((*sb).to_f64() + dsdot(n, x, incx, y, incy)) }
}

unsafe fn nrm2<T: Scalar>(n: usize, x: *const T, incx: isize) -> T::Real {
    // SAFETY: see above.
    unsafe { level1::nrm2(vec(x, n, incx)) }
}

unsafe fn asum<T: Scalar>(n: usize, x: *const T, incx: isize) -> T::Real {
    if incx <= 0 {
        return T::Real::ZERO;
    }
    // SAFETY: see above.
    unsafe { level1::asum(vec(x, n, incx)) }
}

unsafe fn iamax<T: Scalar>(n: usize, x: *const T, incx: isize) -> Option<usize> {
    if incx <= 0 {
        return None;
    }
    // SAFETY: see above.
    unsafe { level1::iamax(vec(x, n, incx)) }
}

unsafe fn rot<T: Scalar>(
    n: usize,
    x: *mut T,
    incx: isize,
    y: *mut T,
    incy: isize,
    c: *const T::Real,
    s: *const T::Real,
) {
    // SAFETY: see above.
    unsafe { level1::rot(vec_mut(x, n, incx), vec_mut(y, n, incy), *c, *s) }
}

unsafe fn rotg<R: Real>(a: *mut R, b: *mut R, c: *mut R, s: *mut R) {
    // SAFETY: four numbers of the caller.
    unsafe {
        let g = level1::rotg(*a, *b);
        (*a, *b, *c, *s) = (g.r, g.z, g.c, g.s);
    }
}

unsafe fn rotg_complex<T: Scalar>(a: *mut T, b: *const T, c: *mut T::Real, s: *mut T)
where
    Complex<T::Real>: Scalar<Real = T::Real>,
{
    let (a, b, s) = (a.cast::<Complex<T::Real>>(), b.cast::<Complex<T::Real>>(), s.cast::<Complex<T::Real>>());
    // SAFETY: four numbers of the caller; the table names this body for complex T only, which is `Complex<T::Real>`.
    unsafe { (*a, *c, *s) = level1::rotg_complex(*a, *b) }
}

unsafe fn rotm<R: Real>(n: usize, x: *mut R, incx: isize, y: *mut R, incy: isize, param: *const R) {
    // SAFETY: see above; `param` has five elements, of which some may not be set, which is why they are copied one by
    // one as far as the flag says.
    unsafe {
        let h = |i: usize, used: bool| if used { *param.add(i) } else { R::ZERO };
        let flag = *param;
        let (all, off, diagonal) = (flag < R::ZERO && flag != -(R::ONE + R::ONE), flag == R::ZERO, flag > R::ZERO);
        let param = [flag, h(1, all || diagonal), h(2, all || off), h(3, all || off), h(4, all || diagonal)];
        level1::rotm(vec_mut(x, n, incx), vec_mut(y, n, incy), &param)
    }
}

unsafe fn rotmg<R: Real>(d1: *mut R, d2: *mut R, x1: *mut R, y1: *const R, param: *mut R) {
    // SAFETY: numbers of the caller; `param` has five elements, of which the flag says which are written.
    unsafe {
        let g = level1::rotmg(*d1, *d2, *x1, *y1);
        (*d1, *d2, *x1) = (g.d1, g.d2, g.x1);
        let flag = g.param[0];
        let written: &[usize] = if flag == -(R::ONE + R::ONE) {
            &[0]
        } else if flag < R::ZERO {
            &[0, 1, 2, 3, 4]
        } else if flag == R::ZERO {
            &[0, 2, 3]
        } else {
            &[0, 1, 4]
        };
        for &i in written {
            *param.add(i) = g.param[i];
        }
    }
}

unsafe fn cabs1<T: Scalar>(z: *const T) -> T::Real {
    // SAFETY: one number of the caller.
    unsafe { *z }.abs1()
}

export! { "Exchanges x and y.";
both vector swap(n: count, x: output, incx: int, y: output, incy: int);
sswap f32, dswap f64, cswap c32, zswap c64 }
export! { "x := alpha*x";
both vector scal(n: count, alpha: scalar, x: output, incx: int);
sscal f32, dscal f64, cscal c32, zscal c64 }
export! { "x := alpha*x with a real alpha";
both vector scal_real(n: count, alpha: real, x: output, incx: int);
csscal c32, zdscal c64 }
export! { "y := x";
both vector copy(n: count, x: input, incx: int, y: output, incy: int);
scopy f32, dcopy f64, ccopy c32, zcopy c64 }
export! { "y := alpha*x + y";
both vector axpy(n: count, alpha: scalar, x: input, incx: int, y: output, incy: int);
saxpy f32, daxpy f64, caxpy c32, zaxpy c64 }
export! { "Returns x^T y.";
both vector dot(n: count, x: input, incx: int, y: input, incy: int) -> scalar;
sdot f32, ddot f64 }
export! { "Returns x^T y, summed in double precision.";
both vector dsdot(n: count, x: input, incx: int, y: input, incy: int) -> double;
dsdot f32 }
export! { "Returns sb + x^T y, summed in double precision.";
both vector sdsdot(n: int, sb: scalar, x: input, incx: int, y: input, incy: int) -> scalar;
sdsdot f32 }
export! { "Returns x^T y by value; see also the _sub form.";
both vector dot(n: count, x: input, incx: int, y: input, incy: int) -> scalar;
cdotu c32, zdotu c64 }
export! { "Returns x^H y by value; see also the _sub form.";
both vector dotc(n: count, x: input, incx: int, y: input, incy: int) -> scalar;
cdotc c32, zdotc c64 }
export! { "*dotu := x^T y";
cblas vector dotu_sub(n: int, x: input, incx: int, y: input, incy: int, dotu: output);
cdotu_sub c32, zdotu_sub c64 }
export! { "*dotc := x^H y";
cblas vector dotc_sub(n: int, x: input, incx: int, y: input, incy: int, dotc: output);
cdotc_sub c32, zdotc_sub c64 }
export! { "Returns the Euclidean norm of x.";
both vector nrm2(n: count, x: input, incx: int) -> real;
snrm2 f32, dnrm2 f64, scnrm2 c32, dznrm2 c64 }
export! { "Returns the sum of |re x[i]| + |im x[i]|.";
both vector asum(n: count, x: input, incx: int) -> real;
sasum f32, dasum f64, scasum c32, dzasum c64 }
export! { "Returns the index of the first element with the largest |re| + |im|.";
both vector iamax(n: count, x: input, incx: int) -> index;
isamax f32, idamax f64, icamax c32, izamax c64 }
export! { "Makes a plane rotation that turns (a, b) into (r, 0); a becomes r, b what rebuilds the rotation.";
both vector rotg(a: output, b: output, c: output, s: output);
srotg f32, drotg f64 }
export! { "Makes a plane rotation that turns (a, b) into (r, 0); a becomes r.";
both vector rotg_complex(a: output, b: input, c: real_output, s: output);
crotg c32, zrotg c64 }
export! { "Applies a plane rotation: (x, y) := (c*x + s*y, c*y - s*x)";
both vector rot(n: count, x: output, incx: int, y: output, incy: int, c: real, s: real);
srot f32, drot f64, csrot c32, zdrot c64 }
export! { "Makes a modified plane rotation.";
both vector rotmg(d1: output, d2: output, x1: output, y1: real, param: output);
srotmg f32, drotmg f64 }
export! { "Applies a modified plane rotation.";
both vector rotm(n: count, x: output, incx: int, y: output, incy: int, param: input);
srotm f32, drotm f64 }
export! { "Returns |re z| + |im z|.";
both vector cabs1(z: input) -> real;
scabs1 c32, dcabs1 c64 }
