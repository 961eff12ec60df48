//! Level 1: vectors.
//!
//! Vectors at consecutive addresses go to the line kernels of the instruction set; all other increments, zero among them,
//! take the loop of Reference BLAS, element after element, so that the result for `inc == 0` is Reference BLAS's too.

use crate::kernels::LineKernel;
use crate::matrix::{VecMut, VecRef};
use crate::runtime::pool;
use crate::scalar::{Complex, Real, Scalar};

#[inline(always)]
fn kernel<T: Scalar>() -> &'static dyn LineKernel<T> {
    T::kernels().lines
}

/// Both at consecutive addresses, and no element of one is a different element of the other.
#[inline(always)]
fn consecutive<T: Scalar>(x: VecRef<T>, y: VecRef<T>) -> bool {
    x.inc() == 1 && y.inc() == 1 && (x.ptr() == y.ptr() || apart(x, y))
}

#[inline(always)]
fn apart<T: Scalar>(x: VecRef<T>, y: VecRef<T>) -> bool {
    let bytes = x.len() * size_of::<T>();
    (x.ptr() as usize).abs_diff(y.ptr() as usize) >= bytes
}

/// Elements of a vector that one task takes: the same for any number of threads. Half a megabyte or less of each vector.
const PIECE: usize = 1 << 15;

/// Runs a kernel for `$len` elements from `$i` on: all `$n` at once, or pieces of them on several threads where the
/// vectors are long enough to pay for it. (A macro: short vectors are to reach the kernel without a detour.)
macro_rules! in_pieces {
    ($n:expr, |$i:ident, $len:ident| $call:expr) => {{
        let n = $n;
        if n <= LONG {
            let ($i, $len) = (0, n);
            // SAFETY: the views' own elements.
            unsafe { $call }
        } else {
            // SAFETY: as above; every task has elements of its own.
            long_in_pieces(n, &move |$i, $len| unsafe { $call })
        }
    }};
}

/// Sums of long vectors: the sums of at most 64 pieces, added in order. What the pieces are depends on n alone.
#[cold]
#[inline(never)]
fn sum_in_pieces<R: Scalar>(n: usize, piece_sum: &(dyn Fn(usize, usize) -> R + Sync)) -> R {
    const MOST: usize = 64;
    let piece = n.div_ceil(MOST).next_multiple_of(PIECE);
    let pieces = n.div_ceil(piece);
    let mut sums = [R::ZERO; MOST];
    // SAFETY: as many elements as the array has.
    let slots = unsafe { VecMut::new(sums.as_mut_ptr(), MOST, 1) };
    pool::run(pieces, pool::threads_for(2.0 * n as f64), &|task| {
        slots.sub(task, 1).set(0, piece_sum(task * piece, piece.min(n - task * piece)));
    });
    sums[1..pieces].iter().fold(sums[0], |sum, &part| sum + part)
}

/// Vectors up to this length never use a second thread.
const LONG: usize = 1 << 16;

#[cold]
#[inline(never)]
fn long_in_pieces(n: usize, work: &(dyn Fn(usize, usize) + Sync)) {
    let threads = pool::threads_for(2.0 * n as f64);
    if threads == 1 {
        return work(0, n);
    }
    pool::run(n.div_ceil(PIECE), threads, &|task| work(task * PIECE, PIECE.min(n - task * PIECE)));
}

/// y := x.
#[inline]
pub fn copy<T: Scalar>(x: VecRef<T>, y: VecMut<T>) {
    if x.inc() == 1 && y.inc() == 1 && apart(x, y.as_ref()) {
        return in_pieces!(x.len(), |i, n| kernel::<T>().copy(n, x.ptr().add(i), y.ptr().add(i)));
    }
    copy_strided(x, y);
}
#[inline(never)]
fn copy_strided<T: Scalar>(x: VecRef<T>, mut y: VecMut<T>) {
    for i in 0..x.len() {
        y.set(i, x.get(i));
    }
}

/// Exchanges x and y.
#[inline]
pub fn swap<T: Scalar>(x: VecMut<T>, y: VecMut<T>) {
    if consecutive(x.as_ref(), y.as_ref()) {
        return in_pieces!(x.len(), |i, n| kernel::<T>().swap(n, x.ptr().add(i), y.ptr().add(i)));
    }
    swap_strided(x, y);
}
#[inline(never)]
fn swap_strided<T: Scalar>(mut x: VecMut<T>, mut y: VecMut<T>) {
    for i in 0..x.len() {
        let (a, b) = (x.get(i), y.get(i));
        x.set(i, b);
        y.set(i, a);
    }
}

/// x := alpha x. A NaN or infinity in x times zero is NaN, as in Reference BLAS since 3.10.
#[inline]
pub fn scal<T: Scalar>(alpha: T, x: VecMut<T>) {
    if x.inc() == 1 {
        return in_pieces!(x.len(), |i, n| kernel::<T>().scal(n, alpha, x.ptr().add(i)));
    }
    scal_strided(alpha, x);
}
#[inline(never)]
fn scal_strided<T: Scalar>(alpha: T, mut x: VecMut<T>) {
    for i in 0..x.len() {
        x.set(i, alpha * x.get(i));
    }
}

/// x := alpha x with a real alpha.
#[inline]
pub fn scal_real<T: Scalar>(alpha: T::Real, x: VecMut<T>) {
    if x.inc() == 1 {
        return in_pieces!(x.len(), |i, n| kernel::<T>().scal_real(n, alpha, x.ptr().add(i)));
    }
    scal_real_strided(alpha, x);
}
#[inline(never)]
fn scal_real_strided<T: Scalar>(alpha: T::Real, mut x: VecMut<T>) {
    for i in 0..x.len() {
        x.set(i, x.get(i).scale(alpha));
    }
}

/// y := alpha x + y, or alpha conj(x) + y. alpha == 0 reads nothing.
#[inline]
pub fn axpy<T: Scalar>(alpha: T, x: VecRef<T>, conj_x: bool, y: VecMut<T>) {
    if alpha == T::ZERO {
        return;
    }
    if consecutive(x, y.as_ref()) {
        return in_pieces!(x.len(), |i, n| kernel::<T>().axpy(n, alpha, x.ptr().add(i), conj_x, y.ptr().add(i)));
    }
    axpy_strided(alpha, x, conj_x, y);
}
#[inline(never)]
fn axpy_strided<T: Scalar>(alpha: T, x: VecRef<T>, conj_x: bool, mut y: VecMut<T>) {
    for i in 0..x.len() {
        y.set(i, alpha * x.get(i).conj_if(conj_x) + y.get(i));
    }
}

/// y := alpha x + beta y; a factor of zero means that its vector is not read.
#[inline]
pub fn axpby<T: Scalar>(alpha: T, x: VecRef<T>, beta: T, y: VecMut<T>) {
    if alpha != T::ZERO && consecutive(x, y.as_ref()) {
        return in_pieces!(x.len(), |i, n| kernel::<T>().axpby(n, alpha, x.ptr().add(i), beta, y.ptr().add(i)));
    }
    axpby_strided(alpha, x, beta, y);
}
#[inline(never)]
fn axpby_strided<T: Scalar>(alpha: T, x: VecRef<T>, beta: T, mut y: VecMut<T>) {
    for i in 0..x.len() {
        let ax = if alpha == T::ZERO { T::ZERO } else { alpha * x.get(i) };
        let by = if beta == T::ZERO { T::ZERO } else { beta * y.get(i) };
        y.set(i, ax + by);
    }
}

/// Sum of x(i) y(i), or conj(x(i)) y(i).
#[inline]
pub fn dot<T: Scalar>(x: VecRef<T>, conj_x: bool, y: VecRef<T>) -> T {
    if x.inc() == 1 && y.inc() == 1 {
        if x.len() > LONG {
            // SAFETY: the views' own elements.
            return sum_in_pieces(x.len(), &move |i, n| unsafe {
                kernel::<T>().dot(n, x.ptr().add(i), conj_x, y.ptr().add(i))
            });
        }
        // SAFETY: both views have x.len() elements at consecutive addresses.
        return unsafe { kernel::<T>().dot(x.len(), x.ptr(), conj_x, y.ptr()) };
    }
    dot_strided(x, conj_x, y)
}
#[inline(never)]
fn dot_strided<T: Scalar>(x: VecRef<T>, conj_x: bool, y: VecRef<T>) -> T {
    let mut sum = T::ZERO;
    for i in 0..x.len() {
        sum += x.get(i).conj_if(conj_x) * y.get(i);
    }
    sum
}

/// Sum of x(i) y(i) in double precision.
pub fn dsdot(x: VecRef<f32>, y: VecRef<f32>) -> f64 {
    let mut sum = 0.0;
    for i in 0..x.len() {
        sum += x.get(i) as f64 * y.get(i) as f64;
    }
    sum
}

/// Euclidean norm, without overflow or underflow on the way.
///
/// The plain sum of squares, in f64, is right unless it left the range in which squares are exact enough (f32 never
/// does); only then the vector is read again, scaled by a power of two.
pub fn nrm2<T: Scalar>(x: VecRef<T>) -> T::Real {
    type R<T> = <T as Scalar>::Real;
    let parts = |i: usize| [x.get(i).re().to_f64(), x.get(i).im().to_f64()];
    let squares = |scale: f64| {
        (0..x.len()).fold(0.0, |sum, i| parts(i).into_iter().fold(sum, |sum, v| sum + (v * scale) * (v * scale)))
    };
    let sum = if x.inc() == 1 && x.len() > LONG {
        // SAFETY: the view's own elements.
        sum_in_pieces(x.len(), &move |i, n| unsafe { kernel::<T>().sum_squares(n, x.ptr().add(i)) })
    } else if x.inc() == 1 {
        // SAFETY: the view has x.len() elements at consecutive addresses.
        unsafe { kernel::<T>().sum_squares(x.len(), x.ptr()) }
    } else {
        squares(1.0)
    };
    let smallest = f64::powi(2.0, f64::MIN_EXP + 2 * f64::MANTISSA_DIGITS as i32);
    if (smallest..f64::MAX).contains(&sum) {
        return R::<T>::from_f64(sum.sqrt());
    }
    if sum.is_nan() && (0..x.len()).any(|i| parts(i).iter().any(|v| v.is_nan())) {
        return R::<T>::from_f64(sum);
    }
    // Out of range: bring the largest magnitude near one. The scale is halved so that it is a normal number itself.
    let largest = (0..x.len()).fold(0.0, |most, i| parts(i).into_iter().fold(most, |most: f64, v| most.max(v.abs())));
    if largest == 0.0 || largest.is_infinite() {
        return R::<T>::from_f64(largest);
    }
    let exponent = (largest.log2().floor() as i32).clamp(-1000, 1000);
    R::<T>::from_f64(squares(f64::powi(2.0, -exponent)).sqrt() * f64::powi(2.0, exponent))
}

/// Sum of |re| + |im|.
pub fn asum<T: Scalar>(x: VecRef<T>) -> T::Real {
    if x.inc() == 1 {
        if x.len() > LONG {
            // SAFETY: the view's own elements.
            return sum_in_pieces(x.len(), &move |i, n| unsafe { kernel::<T>().asum(n, x.ptr().add(i)) });
        }
        // SAFETY: the view has x.len() elements at consecutive addresses.
        return unsafe { kernel::<T>().asum(x.len(), x.ptr()) };
    }
    let mut sum = T::Real::ZERO;
    for i in 0..x.len() {
        sum += x.get(i).abs1();
    }
    sum
}

/// Sum of the elements.
pub fn sum<T: Scalar>(x: VecRef<T>) -> T {
    let mut sum = T::ZERO;
    for i in 0..x.len() {
        sum += x.get(i);
    }
    sum
}

/// Sum of re + im.
pub fn sum_parts<T: Scalar>(x: VecRef<T>) -> T::Real {
    let total = sum(x);
    total.re() + total.im()
}

/// First element of the largest |re| + |im|. A NaN is never larger than anything, unless it stands first.
pub fn iamax<T: Scalar>(x: VecRef<T>) -> Option<usize> {
    if x.is_empty() {
        return None;
    }
    if x.inc() != 1 {
        return first_by(x, |new, best| new.abs1() > best.abs1());
    }
    if x.get(0).abs1().is_nan() {
        return Some(0);
    }
    // SAFETY: the view has x.len() elements at consecutive addresses, at least one.
    Some(unsafe { kernel::<T>().iamax(x.len(), x.ptr()) })
}

/// First element of the smallest |re| + |im|.
pub fn iamin<T: Scalar>(x: VecRef<T>) -> Option<usize> {
    first_by(x, |new, best| new.abs1() < best.abs1())
}

/// First element of the largest value (real part).
pub fn imax<T: Scalar>(x: VecRef<T>) -> Option<usize> {
    first_by(x, |new, best| new.re() > best.re())
}

/// First element of the smallest value (real part).
pub fn imin<T: Scalar>(x: VecRef<T>) -> Option<usize> {
    first_by(x, |new, best| new.re() < best.re())
}

fn first_by<T: Scalar>(x: VecRef<T>, better: impl Fn(T, T) -> bool) -> Option<usize> {
    let mut best = (!x.is_empty()).then_some(0)?;
    for i in 1..x.len() {
        if better(x.get(i), x.get(best)) {
            best = i;
        }
    }
    Some(best)
}

/// (x, y) := (c x + s y, c y - s x).
#[inline]
pub fn rot<T: Scalar>(x: VecMut<T>, y: VecMut<T>, c: T::Real, s: T::Real) {
    if consecutive(x.as_ref(), y.as_ref()) {
        return in_pieces!(x.len(), |i, n| kernel::<T>().rot(n, x.ptr().add(i), y.ptr().add(i), c, s));
    }
    rot_strided(x, y, c, s);
}
#[inline(never)]
fn rot_strided<T: Scalar>(mut x: VecMut<T>, mut y: VecMut<T>, c: T::Real, s: T::Real) {
    for i in 0..x.len() {
        let (a, b) = (x.get(i), y.get(i));
        x.set(i, a.scale(c) + b.scale(s));
        y.set(i, b.scale(c) - a.scale(s));
    }
}

/// Applies the modified rotation that `param` describes: its flag, then h11, h21, h12, h22.
pub fn rotm<R: Real>(mut x: VecMut<R>, mut y: VecMut<R>, param: &[R; 5]) {
    let [flag, mut h11, mut h21, mut h12, mut h22] = *param;
    let two = R::ONE + R::ONE;
    if flag == -two {
        return;
    }
    if flag == R::ZERO {
        (h11, h22) = (R::ONE, R::ONE);
    } else if flag > R::ZERO {
        (h12, h21) = (R::ONE, -R::ONE);
    }
    for i in 0..x.len() {
        let (a, b) = (x.get(i), y.get(i));
        x.set(i, a * h11 + b * h12);
        y.set(i, a * h21 + b * h22);
    }
}

/// What `rotg` returns: (r, 0) = rotation of (a, b), and z from which c and s can be had again.
pub struct Rotg<R> {
    pub r: R,
    pub z: R,
    pub c: R,
    pub s: R,
}

/// The plane rotation that takes (a, b) to (r, 0), after Anderson, "Safe scaling in the level 1 BLAS" (2017), as
/// Reference BLAS since 3.10.
pub fn rotg<R: Real>(a: R, b: R) -> Rotg<R> {
    let (anorm, bnorm) = (a.abs(), b.abs());
    if bnorm == R::ZERO {
        return Rotg { r: a, z: R::ZERO, c: R::ONE, s: R::ZERO };
    }
    if anorm == R::ZERO {
        return Rotg { r: b, z: R::ONE, c: R::ZERO, s: R::ONE };
    }
    let safmin = R::pow2((R::MIN_EXP - 1).max(1 - R::MAX_EXP));
    let safmax = R::ONE / safmin;
    let larger = if anorm > bnorm { anorm } else { bnorm };
    let scale = if larger < safmin {
        safmin
    } else if larger > safmax {
        safmax
    } else {
        larger
    };
    let sigma = R::ONE.copysign(if anorm > bnorm { a } else { b });
    let r = sigma * (scale * ((a / scale) * (a / scale) + (b / scale) * (b / scale)).sqrt());
    let (c, s) = (a / r, b / r);
    let z = if anorm > bnorm {
        s
    } else if c != R::ZERO {
        R::ONE / c
    } else {
        R::ONE
    };
    Rotg { r, z, c, s }
}

/// The complex plane rotation: c real, s complex, with `c a + s b = r` and `-conj(s) a + c b = 0`.
pub fn rotg_complex<R: Real>(a: Complex<R>, b: Complex<R>) -> (Complex<R>, R, Complex<R>) {
    let zero = Complex::new(R::ZERO, R::ZERO);
    let larger = |z: Complex<R>| if z.re.abs() > z.im.abs() { z.re.abs() } else { z.im.abs() };
    if b == zero {
        return (a, R::ONE, zero);
    }
    // A power of two near the larger magnitude of each: scaling by it is exact.
    let near = |x: R| R::pow2(if x == R::ZERO { 0 } else { x.to_f64().log2().floor() as i32 });
    let norm = |z: Complex<R>| (z.re * z.re + z.im * z.im).sqrt();
    let v = near(larger(b));
    let bs = b.scale(R::ONE / v);
    let bnorm = norm(bs);
    if a == zero {
        return (Complex::new(bnorm * v, R::ZERO), R::ZERO, bs.conj().scale(R::ONE / bnorm));
    }
    let u = near(if larger(a) > larger(b) { larger(a) } else { larger(b) });
    let (as_, bu) = (a.scale(R::ONE / u), b.scale(R::ONE / u));
    // |a| may vanish next to |b|: its direction comes from a scaling of its own.
    let w = near(larger(a));
    let aw = a.scale(R::ONE / w);
    let anorm_w = norm(aw);
    let direction = aw.scale(R::ONE / anorm_w);
    let (anorm, bnorm) = (norm(as_), norm(bu));
    let h = (anorm * anorm + bnorm * bnorm).sqrt();
    let c = anorm / h;
    let s = direction * bu.conj().scale(R::ONE / h);
    let r = direction.scale(h).scale(u);
    // where anorm underflowed, |a|/|h u| is still representable
    let c = if anorm == R::ZERO { (anorm_w / h) * (w / u) } else { c };
    (r, c, s)
}

/// What `rotmg` returns. The entries of `param` that the flag leaves undefined are zero.
pub struct Rotmg<R> {
    pub d1: R,
    pub d2: R,
    pub x1: R,
    pub param: [R; 5],
}

/// The modified plane rotation that zeroes the second component of (sqrt(d1) x1, sqrt(d2) y1): Lawson, Hanson, Kincaid
/// and Krogh (1979), with the rescaling of Reference BLAS.
pub fn rotmg<R: Real>(d1: R, d2: R, x1: R, y1: R) -> Rotmg<R> {
    let (zero, one) = (R::ZERO, R::ONE);
    let minus_two = -(one + one);
    let gam = R::from_f64(4096.0);
    let gamsq = R::from_f64(1.67772e7);
    let rgamsq = R::from_f64(5.96046e-8);
    let (mut d1, mut d2, mut x1) = (d1, d2, x1);
    let (mut h11, mut h12, mut h21, mut h22) = (zero, zero, zero, zero);
    let mut flag;
    if d1 < zero {
        flag = -one;
        (d1, d2, x1) = (zero, zero, zero);
    } else {
        let p2 = d2 * y1;
        if p2 == zero {
            return Rotmg { d1, d2, x1, param: [minus_two, zero, zero, zero, zero] };
        }
        let p1 = d1 * x1;
        let (q2, q1) = (p2 * y1, p1 * x1);
        if q1.abs() > q2.abs() {
            h21 = -y1 / x1;
            h12 = p2 / p1;
            let u = one - h12 * h21;
            if u > zero {
                flag = zero;
                d1 = d1 / u;
                d2 = d2 / u;
                x1 = x1 * u;
            } else {
                // only by rounding: as Reference BLAS since 3.10
                flag = -one;
                (h11, h12, h21, h22) = (zero, zero, zero, zero);
                (d1, d2, x1) = (zero, zero, zero);
            }
        } else if q2 < zero {
            flag = -one;
            (d1, d2, x1) = (zero, zero, zero);
        } else {
            flag = one;
            h11 = p1 / p2;
            h22 = x1 / y1;
            let u = one + h11 * h22;
            let t = d2 / u;
            d2 = d1 / u;
            d1 = t;
            x1 = y1 * u;
        }
        // Rescaling: the implied ones of the flag become explicit first.
        let explicit = |flag: &mut R, h11: &mut R, h12: &mut R, h21: &mut R, h22: &mut R| {
            if *flag == zero {
                (*h11, *h22) = (one, one);
            } else if *flag > zero {
                (*h21, *h12) = (-one, one);
            }
            *flag = -one;
        };
        // (an infinite factor cannot be scaled: left as it is)
        let finite = |d: R| d + d != d;
        if finite(d1) {
            while d1 <= rgamsq || d1 >= gamsq {
                explicit(&mut flag, &mut h11, &mut h12, &mut h21, &mut h22);
                if d1 <= rgamsq {
                    d1 = d1 * gam * gam;
                    x1 = x1 / gam;
                    h11 = h11 / gam;
                    h12 = h12 / gam;
                } else {
                    d1 = d1 / (gam * gam);
                    x1 = x1 * gam;
                    h11 = h11 * gam;
                    h12 = h12 * gam;
                }
            }
        }
        if finite(d2) {
            while d2.abs() <= rgamsq || d2.abs() >= gamsq {
                explicit(&mut flag, &mut h11, &mut h12, &mut h21, &mut h22);
                if d2.abs() <= rgamsq {
                    d2 = d2 * gam * gam;
                    h21 = h21 / gam;
                    h22 = h22 / gam;
                } else {
                    d2 = d2 / (gam * gam);
                    h21 = h21 * gam;
                    h22 = h22 * gam;
                }
            }
        }
    }
    let param = if flag < zero {
        [flag, h11, h21, h12, h22]
    } else if flag == zero {
        [flag, zero, h21, h12, zero]
    } else {
        [flag, h11, zero, zero, h22]
    };
    Rotmg { d1, d2, x1, param }
}
