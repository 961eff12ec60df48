//! The loops of level 1 for any increments.
//!
//! Elements are read and written strictly in order, each before the next is read: that is what an increment of zero and
//! vectors that overlap mean in Reference BLAS. Sums are taken in four parts, so that no addition waits for the one
//! before; what the parts are depends on the length alone. Plain code for the least machine: what such a loop waits for
//! is memory, not arithmetic.
//!
//! Contract of all functions: element i of a vector is at `pointer + i*increment` for i < n, readable, and writable where
//! the function writes.

use crate::scalar::{Real, Scalar};

/// Runs the body for n elements in order, four at a time; in it each name is the address of the element, and `$part` the
/// number of the sum that it belongs to. (Addresses relative to the first of the four: a chain of three additions less.)
macro_rules! in_order {
    ($n:expr, |$part:ident, $($x:ident += $inc:ident),+| $body:expr) => {{
        let mut left: usize = $n;
        while left >= 4 {
            {
                let $part = 0;
                $body;
            }
            {
                let $part = 1;
                $(let $x = $x.wrapping_offset($inc);)+
                $body;
            }
            {
                let $part = 2;
                $(let $x = $x.wrapping_offset(2 * $inc);)+
                $body;
            }
            {
                let $part = 3;
                $(let $x = $x.wrapping_offset(3 * $inc);)+
                $body;
            }
            $($x = $x.wrapping_offset(4 * $inc);)+
            left -= 4;
        }
        while left > 0 {
            let $part = 0;
            $body;
            $($x = $x.wrapping_offset($inc);)+
            left -= 1;
        }
    }};
}

/// y := x.
#[inline(never)]
pub unsafe fn copy<T: Scalar>(n: usize, mut x: *const T, incx: isize, mut y: *mut T, incy: isize) {
    // SAFETY: the contract of the file.
    unsafe { in_order!(n, |_part, x += incx, y += incy| *y = *x) }
}

/// Exchanges x and y.
#[inline(never)]
pub unsafe fn swap<T: Scalar>(n: usize, mut x: *mut T, incx: isize, mut y: *mut T, incy: isize) {
    // SAFETY: as above.
    unsafe {
        in_order!(n, |_part, x += incx, y += incy| {
            let (a, b) = (*x, *y);
            *x = b;
            *y = a;
        })
    }
}

/// x := alpha x.
#[inline(never)]
pub unsafe fn scal<T: Scalar>(n: usize, alpha: T, mut x: *mut T, incx: isize) {
    // SAFETY: as above.
    unsafe { in_order!(n, |_part, x += incx| *x = alpha * *x) }
}

/// x := alpha x with a real alpha.
#[inline(never)]
pub unsafe fn scal_real<T: Scalar>(n: usize, alpha: T::Real, mut x: *mut T, incx: isize) {
    // SAFETY: as above.
    unsafe { in_order!(n, |_part, x += incx| *x = (*x).scale(alpha)) }
}

/// y := alpha x + y, or alpha conj(x) + y.
#[inline(never)]
pub unsafe fn axpy<T: Scalar>(
    n: usize,
    alpha: T,
    mut x: *const T,
    incx: isize,
    conj_x: bool,
    mut y: *mut T,
    incy: isize,
) {
    // SAFETY: as above.
    unsafe {
        if conj_x && T::IS_COMPLEX {
            in_order!(n, |_part, x += incx, y += incy| *y = alpha * (*x).conj() + *y)
        } else {
            in_order!(n, |_part, x += incx, y += incy| *y = alpha * *x + *y)
        }
    }
}

/// y := alpha x + beta y; a factor of zero means that its vector is not read.
#[inline(never)]
pub unsafe fn axpby<T: Scalar>(n: usize, alpha: T, mut x: *const T, incx: isize, beta: T, mut y: *mut T, incy: isize) {
    // SAFETY: as above.
    unsafe {
        in_order!(n, |_part, x += incx, y += incy| {
            let ax = if alpha == T::ZERO { T::ZERO } else { alpha * *x };
            let by = if beta == T::ZERO { T::ZERO } else { beta * *y };
            *y = ax + by;
        })
    }
}

/// (x, y) := (c x + s y, c y - s x).
#[inline(never)]
pub unsafe fn rot<T: Scalar>(n: usize, mut x: *mut T, incx: isize, mut y: *mut T, incy: isize, c: T::Real, s: T::Real) {
    // SAFETY: as above.
    unsafe {
        in_order!(n, |_part, x += incx, y += incy| {
            let (a, b) = (*x, *y);
            *x = a.scale(c) + b.scale(s);
            *y = b.scale(c) - a.scale(s);
        })
    }
}

/// Sum of x(i) y(i), or conj(x(i)) y(i).
#[inline(never)]
pub unsafe fn dot<T: Scalar>(n: usize, mut x: *const T, incx: isize, conj_x: bool, mut y: *const T, incy: isize) -> T {
    // SAFETY: as above.
    unsafe {
        // Of complex numbers the products of parts with parts, in pairs as they lie; which sign they have is settled once.
        let (mut straight, mut across) = ([[T::Real::ZERO; 2]; 4], [[T::Real::ZERO; 2]; 4]);
        in_order!(n, |part, x += incx, y += incy| {
            let (a, b) = (*x, *y);
            straight[part][0] += a.re() * b.re();
            if T::IS_COMPLEX {
                straight[part][1] += a.im() * b.im();
                across[part][0] += a.re() * b.im();
                across[part][1] += a.im() * b.re();
            }
        });
        let [re, minus] = pair_total(straight);
        let [im, more] = pair_total(across);
        if conj_x { T::from_parts(re + minus, im - more) } else { T::from_parts(re - minus, im + more) }
    }
}

/// Sum of x(i) y(i) in double precision.
#[inline(never)]
pub unsafe fn dsdot(n: usize, mut x: *const f32, incx: isize, mut y: *const f32, incy: isize) -> f64 {
    // SAFETY: as above.
    unsafe {
        let mut sums = [0.0; 4];
        in_order!(n, |part, x += incx, y += incy| sums[part] += *x as f64 * *y as f64);
        total(sums)
    }
}

/// Sum of the squares of all parts, each times `scale`, in double precision.
#[inline(never)]
pub unsafe fn sum_squares<T: Scalar>(n: usize, scale: f64, mut x: *const T, incx: isize) -> f64 {
    // SAFETY: as above.
    unsafe {
        let (mut re, mut im) = ([0.0; 4], [0.0; 4]);
        in_order!(n, |part, x += incx| {
            let (a, b) = ((*x).re().to_f64() * scale, (*x).im().to_f64() * scale);
            re[part] += a * a;
            if T::IS_COMPLEX {
                im[part] += b * b;
            }
        });
        total(re) + total(im)
    }
}

/// Sum of |re| + |im|.
#[inline(never)]
pub unsafe fn asum<T: Scalar>(n: usize, mut x: *const T, incx: isize) -> T::Real {
    // SAFETY: as above.
    unsafe {
        let (mut re, mut im) = ([T::Real::ZERO; 4], [T::Real::ZERO; 4]);
        in_order!(n, |part, x += incx| {
            re[part] += (*x).re().abs();
            if T::IS_COMPLEX {
                im[part] += (*x).im().abs();
            }
        });
        total(re) + total(im)
    }
}

/// Sum of the elements.
#[inline(never)]
pub unsafe fn sum<T: Scalar>(n: usize, mut x: *const T, incx: isize) -> T {
    // SAFETY: as above.
    unsafe {
        let mut sums = [T::ZERO; 4];
        in_order!(n, |part, x += incx| sums[part] += *x);
        total(sums)
    }
}

/// The first of the n >= 1 elements with the largest |re| + |im|. A NaN is never larger than anything, unless it stands
/// first.
#[inline(never)]
pub unsafe fn iamax<T: Scalar>(n: usize, mut x: *const T, incx: isize) -> usize {
    // SAFETY: as above.
    unsafe {
        let (mut largest, mut left_then) = ((*x).abs1(), n);
        let mut left = n;
        // Four at a time, and one by one only if there may be a larger one among them (or a NaN, which hides one).
        while left >= 4 {
            let (a, b) = ((*x).abs1(), (*x.wrapping_offset(incx)).abs1());
            let (c, d) = ((*x.wrapping_offset(2 * incx)).abs1(), (*x.wrapping_offset(3 * incx)).abs1());
            let (ab, cd) = (if a > b { a } else { b }, if c > d { c } else { d });
            #[allow(clippy::neg_cmp_op_on_partial_ord)]
            if !(ab <= largest) | !(cd <= largest) {
                for (t, size) in [a, b, c, d].into_iter().enumerate() {
                    if size > largest {
                        (largest, left_then) = (size, left - t);
                    }
                }
            }
            x = x.wrapping_offset(4 * incx);
            left -= 4;
        }
        while left > 0 {
            let size = (*x).abs1();
            if size > largest {
                (largest, left_then) = (size, left);
            }
            x = x.wrapping_offset(incx);
            left -= 1;
        }
        n - left_then
    }
}

#[inline(always)]
fn pair_total<R: Real>([a, b, c, d]: [[R; 2]; 4]) -> [R; 2] {
    [total([a[0], b[0], c[0], d[0]]), total([a[1], b[1], c[1], d[1]])]
}

#[inline(always)]
fn total<T: Scalar>([a, b, c, d]: [T; 4]) -> T {
    (a + b) + (c + d)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::scalar::c64;

    /// Every way to fill six places with a small, a large, another large value and NaN.
    #[test]
    fn iamax_is_the_first_of_the_largest_and_never_nan() {
        let values = [1.0, 7.0, -7.0, f64::NAN];
        for pattern in 0..4_usize.pow(6) {
            let x: Vec<f64> = (0..6).map(|i| values[pattern >> (2 * i) & 3]).collect();
            let mut expected = 0;
            for i in 1..6 {
                if x[i].abs() > x[expected].abs() {
                    expected = i;
                }
            }
            // SAFETY: six elements.
            assert_eq!(unsafe { iamax(6, x.as_ptr(), 1) }, expected, "{x:?}");
        }
    }

    /// Whole numbers: sums in any order are exact.
    #[test]
    fn sums_are_those_of_the_definition() {
        for n in 0..15_usize {
            let number = |i: usize| c64::new((i % 5) as f64 - 2.0, (i % 3) as f64 - 1.0);
            let (x, y): (Vec<c64>, Vec<c64>) = (0..45).map(|i| (number(i), number(7 * i + 1))).unzip();
            for conj in [false, true] {
                let term = |i: usize| if conj { x[2 * i].conj() } else { x[2 * i] } * y[3 * i];
                let expected = (0..n).fold(c64::ZERO, |sum, i| sum + term(i));
                // SAFETY: the vectors have three times as many elements.
                assert_eq!(unsafe { dot(n, x.as_ptr(), 2, conj, y.as_ptr(), 3) }, expected, "{n}");
            }
            let (magnitudes, squares) = (0..n).fold((0.0, 0.0), |(m, s), i| {
                let v = x[2 * i];
                (m + v.re.abs() + v.im.abs(), s + 4.0 * (v.re * v.re + v.im * v.im))
            });
            // SAFETY: as above.
            unsafe {
                assert_eq!(asum(n, x.as_ptr(), 2), magnitudes, "{n}");
                assert_eq!(sum_squares(n, 2.0, x.as_ptr(), 2), squares, "{n}");
                assert_eq!(sum(n, x.as_ptr(), 2), (0..n).fold(c64::ZERO, |sum, i| sum + x[2 * i]), "{n}");
            }
        }
    }

    /// Vectors that overlap, and an increment of zero: element after element.
    #[test]
    fn elements_are_read_after_those_before_them_were_written() {
        for n in 1..11_usize {
            let mut v: Vec<f64> = (0..12).map(|i| i as f64 + 1.0).collect();
            let p = v.as_mut_ptr();
            // SAFETY: n + 1 elements.
            unsafe { copy(n, p, 1, p.add(1), 1) };
            assert!(v[..=n].iter().all(|&x| x == 1.0) && v[n + 1..].iter().all(|&x| x != 1.0), "{n}");
            let (x, mut y) = ([2.0; 11], 1.0);
            // SAFETY: n elements, and one.
            unsafe { axpy(n, 3.0, x.as_ptr(), 1, false, &raw mut y, 0) };
            assert_eq!(y, 1.0 + 6.0 * n as f64);
        }
    }
}
