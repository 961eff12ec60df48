//! Level 1: vectors.
//!
//! Vectors at consecutive addresses go to the line kernels of the instruction set; all other increments, zero among them,
//! take the loop of Reference BLAS, element after element, so that the result for `inc == 0` is Reference BLAS's too
//! (`strided.rs`). So do vectors of a few elements, which are done before a kernel would have begun.

mod strided;

use crate::kernels::LineKernel;
use crate::matrix::{VecMut, VecRef};
use crate::runtime::pool;
use crate::scalar::{Complex, Real, Scalar};
use std::sync::atomic::{AtomicUsize, Ordering};

#[inline(always)]
fn kernel<T: Scalar>() -> &'static dyn LineKernel<T> {
    T::kernels().lines
}

/// The kernel for vectors that are too long for the near caches, if every element is a result of its own.
#[inline(always)]
fn far<T: Scalar>() -> &'static dyn LineKernel<T> {
    T::kernels().lines_far()
}

// A routine on short vectors is as fast as the way to its kernel is short. So each is a test for the usual case, which is
// compiled into the caller and ends in the kernel, and a function for all others, which gets its arguments in registers.

/// The kernels, if the vectors are consecutive, neither empty nor long enough for threads, and a table was chosen. Short
/// ones, too: an element's bits must not depend on how many there are (LAPACK's drivers compare such results).
#[inline(always)]
fn usual<T: Scalar>(n: usize, incx: isize, incy: isize) -> Option<&'static dyn LineKernel<T>> {
    if incx != 1 || incy != 1 || !(1..=LONG).contains(&n) {
        return None;
    }
    T::kernels_at_hand().map(|kernels| kernels.lines_for(n))
}

/// Both for a kernel: consecutive, not empty, and no element of one is a different element of the other.
#[inline(always)]
fn consecutive<T: Scalar>(n: usize, x: *const T, incx: isize, y: *const T, incy: isize) -> bool {
    n > 0 && incx == 1 && incy == 1 && (x == y || apart(n, x, y))
}

#[inline(always)]
fn apart<T: Scalar>(n: usize, x: *const T, y: *const T) -> bool {
    (x as usize).abs_diff(y as usize) >= n * size_of::<T>()
}

/// Elements of a vector that one task takes: the same for any number of threads. Half a megabyte or less of each vector.
const PIECE: usize = 1 << 15;

/// The address of a vector, for tasks.
#[derive(Clone, Copy)]
struct At<P>(P);
// SAFETY: as for the views: tasks get elements of their own, or only read.
unsafe impl<P> Sync for At<P> {}
impl<T> At<*const T> {
    #[inline(always)]
    fn from(&self, i: usize) -> *const T {
        self.0.wrapping_add(i)
    }
}
impl<T> At<*mut T> {
    #[inline(always)]
    fn from(&self, i: usize) -> *mut T {
        self.0.wrapping_add(i)
    }
}

/// Pieces that have a result each, at most.
const MOST_PIECES: usize = 64;

/// The length of such pieces, and how many there are: it depends on n alone.
fn pieces(n: usize) -> (usize, usize) {
    let piece = n.div_ceil(MOST_PIECES).next_multiple_of(PIECE);
    (piece, n.div_ceil(piece))
}

/// Sums of long vectors: the sums of their pieces, added in order.
#[cold]
#[inline(never)]
fn sum_in_pieces<R: Scalar>(n: usize, piece_sum: &(dyn Fn(usize, usize) -> R + Sync)) -> R {
    if n <= LONG {
        return piece_sum(0, n);
    }
    let (piece, pieces) = pieces(n);
    let mut sums = [R::ZERO; MOST_PIECES];
    // SAFETY: as many elements as the array has.
    let slots = unsafe { VecMut::new(sums.as_mut_ptr(), MOST_PIECES, 1) };
    pool::run(pieces, pool::threads_for(2.0 * n as f64), &|task| {
        slots.sub(task, 1).set(0, piece_sum(task * piece, piece.min(n - task * piece)));
    });
    sums[1..pieces].iter().fold(sums[0], |sum, &part| sum + part)
}

/// Vectors up to this length never use a second thread.
const LONG: usize = 1 << 16;

/// Runs a kernel for as many elements as the second argument says from the first on: all n at once, or pieces of them on
/// several threads where the vectors are long enough to pay for it.
#[inline(never)]
fn in_pieces(n: usize, work: &(dyn Fn(usize, usize) + Sync)) {
    let threads = if n <= LONG { 1 } else { pool::threads_for(2.0 * n as f64) };
    if threads == 1 {
        return work(0, n);
    }
    pool::run(n.div_ceil(PIECE), threads, &|task| work(task * PIECE, PIECE.min(n - task * PIECE)));
}

/// y := x.
#[inline(always)]
pub fn copy<T: Scalar>(x: VecRef<T>, y: VecMut<T>) {
    let n = x.len();
    match usual::<T>(n, x.inc(), y.inc()) {
        // SAFETY: the views' own elements.
        Some(kernel) if apart(n, x.ptr(), y.ptr()) => unsafe { kernel.copy(n, x.ptr(), y.ptr()) },
        _ => copy_any(n, x.ptr(), x.inc(), y.ptr(), y.inc()),
    }
}
#[inline(never)]
fn copy_any<T: Scalar>(n: usize, x: *const T, incx: isize, y: *mut T, incy: isize) {
    if consecutive(n, x, incx, y, incy) && x != y {
        let (x, y) = (At(x), At(y));
        // SAFETY: the views' own elements; every task has some of its own.
        return in_pieces(n, &move |i, n| unsafe { far::<T>().copy(n, x.from(i), y.from(i)) });
    }
    // SAFETY: the views' own elements.
    unsafe { strided::copy(n, x, incx, y, incy) }
}

/// Exchanges x and y.
#[inline(always)]
pub fn swap<T: Scalar>(x: VecMut<T>, y: VecMut<T>) {
    let n = x.len();
    match usual::<T>(n, x.inc(), y.inc()) {
        // SAFETY: the views' own elements.
        Some(kernel) if apart(n, x.ptr(), y.ptr()) => unsafe { kernel.swap(n, x.ptr(), y.ptr()) },
        _ => swap_any(n, x.ptr(), x.inc(), y.ptr(), y.inc()),
    }
}
#[inline(never)]
fn swap_any<T: Scalar>(n: usize, x: *mut T, incx: isize, y: *mut T, incy: isize) {
    if consecutive(n, x, incx, y, incy) {
        let (x, y) = (At(x), At(y));
        // SAFETY: the views' own elements; every task has some of its own.
        return in_pieces(n, &move |i, n| unsafe { far::<T>().swap(n, x.from(i), y.from(i)) });
    }
    // SAFETY: the views' own elements.
    unsafe { strided::swap(n, x, incx, y, incy) }
}

/// x := alpha x. A NaN or infinity in x times zero is NaN, as in Reference BLAS since 3.10.
#[inline(always)]
pub fn scal<T: Scalar>(alpha: T, x: VecMut<T>) {
    match usual::<T>(x.len(), x.inc(), 1) {
        // SAFETY: the view's own elements.
        Some(kernel) => unsafe { kernel.scal(x.len(), alpha, x.ptr()) },
        _ => scal_any(x.len(), alpha, x.ptr(), x.inc()),
    }
}
#[inline(never)]
fn scal_any<T: Scalar>(n: usize, alpha: T, x: *mut T, incx: isize) {
    if incx == 1 && n > 0 {
        let x = At(x);
        // SAFETY: the view's own elements; every task has some of its own.
        return in_pieces(n, &move |i, n| unsafe { far::<T>().scal(n, alpha, x.from(i)) });
    }
    // SAFETY: the view's own elements.
    unsafe { strided::scal(n, alpha, x, incx) }
}

/// x := alpha x with a real alpha.
#[inline(always)]
pub fn scal_real<T: Scalar>(alpha: T::Real, x: VecMut<T>) {
    match usual::<T>(x.len(), x.inc(), 1) {
        // SAFETY: the view's own elements.
        Some(kernel) => unsafe { kernel.scal_real(x.len(), alpha, x.ptr()) },
        _ => scal_real_any(x.len(), alpha, x.ptr(), x.inc()),
    }
}
#[inline(never)]
fn scal_real_any<T: Scalar>(n: usize, alpha: T::Real, x: *mut T, incx: isize) {
    if incx == 1 && n > 0 {
        let x = At(x);
        // SAFETY: the view's own elements; every task has some of its own.
        return in_pieces(n, &move |i, n| unsafe { far::<T>().scal_real(n, alpha, x.from(i)) });
    }
    // SAFETY: the view's own elements.
    unsafe { strided::scal_real(n, alpha, x, incx) }
}

/// y := alpha x + y, or alpha conj(x) + y. alpha == 0 reads nothing.
#[inline(always)]
pub fn axpy<T: Scalar>(alpha: T, x: VecRef<T>, conj_x: bool, y: VecMut<T>) {
    let n = x.len();
    if alpha == T::ZERO {
        return;
    }
    match usual::<T>(n, x.inc(), y.inc()) {
        // SAFETY: the views' own elements.
        Some(kernel) if apart(n, x.ptr(), y.ptr()) => unsafe { kernel.axpy(n, alpha, x.ptr(), conj_x, y.ptr()) },
        _ => axpy_any(n, alpha, x.ptr(), x.inc(), conj_x, y.ptr(), y.inc()),
    }
}
#[inline(never)]
fn axpy_any<T: Scalar>(n: usize, alpha: T, x: *const T, incx: isize, conj_x: bool, y: *mut T, incy: isize) {
    if consecutive(n, x, incx, y, incy) {
        let (x, y) = (At(x), At(y));
        // SAFETY: the views' own elements; every task has some of its own.
        return in_pieces(n, &move |i, n| unsafe { far::<T>().axpy(n, alpha, x.from(i), conj_x, y.from(i)) });
    }
    // SAFETY: the views' own elements.
    unsafe { strided::axpy(n, alpha, x, incx, conj_x, y, incy) }
}

/// y := alpha x + beta y; a factor of zero means that its vector is not read.
#[inline]
pub fn axpby<T: Scalar>(alpha: T, x: VecRef<T>, beta: T, y: VecMut<T>) {
    let n = x.len();
    if alpha != T::ZERO && consecutive(n, x.ptr(), x.inc(), y.ptr(), y.inc()) {
        let (x, y) = (At(x.ptr()), At(y.ptr()));
        // SAFETY: the views' own elements; every task has some of its own.
        return in_pieces(n, &move |i, n| unsafe { far::<T>().axpby(n, alpha, x.from(i), beta, y.from(i)) });
    }
    // SAFETY: the views' own elements.
    unsafe { strided::axpby(n, alpha, x.ptr(), x.inc(), beta, y.ptr(), y.inc()) }
}

/// Sum of x(i) y(i), or conj(x(i)) y(i).
#[inline(always)]
pub fn dot<T: Scalar>(x: VecRef<T>, conj_x: bool, y: VecRef<T>) -> T {
    match usual::<T>(x.len(), x.inc(), y.inc()) {
        // SAFETY: the views' own elements.
        Some(kernel) => unsafe { kernel.dot(x.len(), x.ptr(), conj_x, y.ptr()) },
        _ => dot_any(x.len(), x.ptr(), x.inc(), conj_x, y.ptr(), y.inc()),
    }
}
#[inline(never)]
fn dot_any<T: Scalar>(n: usize, x: *const T, incx: isize, conj_x: bool, y: *const T, incy: isize) -> T {
    if incx == 1 && incy == 1 && n > 0 {
        let (x, y) = (At(x), At(y));
        // SAFETY: the views' own elements.
        return sum_in_pieces(n, &move |i, n| unsafe { kernel::<T>().dot(n, x.from(i), conj_x, y.from(i)) });
    }
    // SAFETY: as above.
    unsafe { strided::dot(n, x, incx, conj_x, y, incy) }
}

/// Sum of x(i) y(i) in double precision.
pub fn dsdot(x: VecRef<f32>, y: VecRef<f32>) -> f64 {
    // SAFETY: the views' own elements.
    unsafe { strided::dsdot(x.len(), x.ptr(), x.inc(), y.ptr(), y.inc()) }
}

/// Euclidean norm, without overflow or underflow on the way.
///
/// The plain sum of squares, in f64, is right unless it left the range in which squares are exact enough (f32 never
/// does); only then the vector is read again, scaled by a power of two.
#[inline(always)]
pub fn nrm2<T: Scalar>(x: VecRef<T>) -> T::Real {
    if x.len() == 1 && !T::IS_COMPLEX {
        return x.get(0).abs1();
    }
    let sum = match usual::<T>(x.len(), x.inc(), 1) {
        // SAFETY: the view's own elements.
        Some(kernel) => unsafe { kernel.sum_squares(x.len(), x.ptr()) },
        _ => sum_squares_any(x.len(), x.ptr(), x.inc()),
    };
    // 2^-915: the least number whose square root is exact enough even if the squares were subnormal.
    const SMALLEST: f64 = f64::from_bits(((f64::MIN_EXP + 2 * f64::MANTISSA_DIGITS as i32 + 1023) as u64) << 52);
    if (SMALLEST..f64::MAX).contains(&sum) { T::Real::from_f64(sum.sqrt()) } else { nrm2_out_of_range(sum, x) }
}
#[inline(never)]
fn sum_squares_any<T: Scalar>(n: usize, x: *const T, incx: isize) -> f64 {
    if incx == 1 && n > 0 {
        let x = At(x);
        // SAFETY: the view's own elements.
        return sum_in_pieces(n, &move |i, n| unsafe { kernel::<T>().sum_squares(n, x.from(i)) });
    }
    // SAFETY: as above.
    unsafe { strided::sum_squares(n, 1.0, x, incx) }
}

/// The norm where the sum of squares is no measure of it: zero, NaN, or beyond the range in which squares are exact.
#[cold]
#[inline(never)]
fn nrm2_out_of_range<T: Scalar>(sum: f64, x: VecRef<T>) -> T::Real {
    type R<T> = <T as Scalar>::Real;
    let parts = |i: usize| [x.get(i).re().to_f64(), x.get(i).im().to_f64()];
    if sum.is_nan() && (0..x.len()).any(|i| parts(i).iter().any(|v| v.is_nan())) {
        return R::<T>::from_f64(sum);
    }
    // Bring the largest magnitude near one. The scale is halved so that it is a normal number itself.
    let largest = (0..x.len()).fold(0.0, |most, i| parts(i).into_iter().fold(most, |most: f64, v| most.max(v.abs())));
    if largest == 0.0 || largest.is_infinite() {
        return R::<T>::from_f64(largest);
    }
    let exponent = (largest.log2().floor() as i32).clamp(-1000, 1000);
    // SAFETY: the view's own elements.
    let sum = unsafe { strided::sum_squares(x.len(), f64::powi(2.0, -exponent), x.ptr(), x.inc()) };
    R::<T>::from_f64(sum.sqrt() * f64::powi(2.0, exponent))
}

/// Sum of |re| + |im|.
#[inline(always)]
pub fn asum<T: Scalar>(x: VecRef<T>) -> T::Real {
    match usual::<T>(x.len(), x.inc(), 1) {
        // SAFETY: the view's own elements.
        Some(kernel) => unsafe { kernel.asum(x.len(), x.ptr()) },
        _ => asum_any(x.len(), x.ptr(), x.inc()),
    }
}
#[inline(never)]
fn asum_any<T: Scalar>(n: usize, x: *const T, incx: isize) -> T::Real {
    if incx == 1 && n > 0 {
        let x = At(x);
        // SAFETY: the view's own elements.
        return sum_in_pieces(n, &move |i, n| unsafe { kernel::<T>().asum(n, x.from(i)) });
    }
    // SAFETY: as above.
    unsafe { strided::asum(n, x, incx) }
}

/// Sum of the elements.
pub fn sum<T: Scalar>(x: VecRef<T>) -> T {
    // SAFETY: the view's own elements.
    unsafe { strided::sum(x.len(), x.ptr(), x.inc()) }
}

/// Sum of re + im.
pub fn sum_parts<T: Scalar>(x: VecRef<T>) -> T::Real {
    let total = sum(x);
    total.re() + total.im()
}

/// First element of the largest |re| + |im|. A NaN is never larger than anything, unless it stands first.
#[inline(always)]
pub fn iamax<T: Scalar>(x: VecRef<T>) -> Option<usize> {
    if x.len() <= 1 {
        return (!x.is_empty()).then_some(0);
    }
    Some(match usual::<T>(x.len(), x.inc(), 1) {
        // SAFETY: the view's own elements, at least one, and the first is not NaN.
        Some(kernel) if !x.get(0).abs1().is_nan() => unsafe { kernel.iamax(x.len(), x.ptr()) },
        _ => iamax_any(x.len(), x.ptr(), x.inc()),
    })
}
#[inline(never)]
fn iamax_any<T: Scalar>(n: usize, x: *const T, incx: isize) -> usize {
    // SAFETY: the view's own elements, at least one; the kernel's first is not NaN.
    unsafe {
        if incx != 1 || n == 0 || (*x).abs1().is_nan() {
            return strided::iamax(n, x, incx);
        }
        if n <= LONG {
            return kernel::<T>().iamax(n, x);
        }
    }
    let x = At(x);
    // SAFETY: as above.
    let size = |i: usize| unsafe { *x.from(i) }.abs1();
    // The largest of each piece, if it has a number; of equal ones, the first piece's counts.
    const NONE: usize = usize::MAX;
    let (piece, pieces) = pieces(n);
    let largest = [const { AtomicUsize::new(NONE) }; MOST_PIECES];
    pool::run(pieces, pool::threads_for(2.0 * n as f64), &|task| {
        let end = n.min((task + 1) * piece);
        if let Some(first) = (task * piece..end).find(|&i| !size(i).is_nan()) {
            // SAFETY: as above.
            let at = first + unsafe { kernel::<T>().iamax(end - first, x.from(first)) };
            largest[task].store(at, Ordering::Relaxed);
        }
    });
    largest[..pieces]
        .iter()
        .map(|at| at.load(Ordering::Relaxed))
        .filter(|&at| at != NONE)
        .fold(0, |best, at| if size(at) > size(best) { at } else { best })
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
#[inline(always)]
pub fn rot<T: Scalar>(x: VecMut<T>, y: VecMut<T>, c: T::Real, s: T::Real) {
    let n = x.len();
    match usual::<T>(n, x.inc(), y.inc()) {
        // SAFETY: the views' own elements.
        Some(kernel) if apart(n, x.ptr(), y.ptr()) => unsafe { kernel.rot(n, x.ptr(), y.ptr(), c, s) },
        _ => rot_any(n, x.ptr(), x.inc(), y.ptr(), y.inc(), c, s),
    }
}
#[inline(never)]
fn rot_any<T: Scalar>(n: usize, x: *mut T, incx: isize, y: *mut T, incy: isize, c: T::Real, s: T::Real) {
    if consecutive(n, x, incx, y, incy) {
        let (x, y) = (At(x), At(y));
        // SAFETY: the views' own elements; every task has some of its own.
        return in_pieces(n, &move |i, n| unsafe { far::<T>().rot(n, x.from(i), y.from(i), c, s) });
    }
    // SAFETY: the views' own elements.
    unsafe { strided::rot(n, x, incx, y, incy, c, s) }
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
