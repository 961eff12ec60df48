//! Registers of consecutive elements, real or complex, as the kernels of level 1 and 2 use them.
//!
//! A complex element keeps its two parts side by side ([`Pairs`]), as in memory: a product with a fixed factor needs one
//! exchange of neighbours and two multiply-adds; where many lines are added, or multiplied with one vector, the exchange
//! is put off to the end of the sum or shared by all lines, and conjugation is a sign there. (The register tile of level 3
//! holds real and imaginary parts apart instead, see `Split`: its panels are packed.)
//!
//! Contract of all methods as for [`Simd`](super::simd::Simd).

use super::simd::RealSimd;
use super::sweeps::flat;
use crate::scalar::{Complex, Scalar};

/// A register with [`Elements::LANES`] consecutive elements of type `T`.
pub trait Elements: Copy {
    type T: Scalar;
    const LANES: usize;
    /// Whether vectors of a few elements are loaded and stored as fast as whole ones.
    const MASKS_ARE_FREE: bool;
    /// A factor of vectors, any conjugation of the vector folded in.
    type Factor: Copy;
    /// A vector to be multiplied with factors or lines.
    type Turned: Copy;
    /// A factor of lines.
    type Splat: Copy;
    /// A register's worth of a sum of lines times factors.
    type Sum: Copy;
    /// A register's worth of partial sums of a line times a vector.
    type Dot: Copy;

    unsafe fn load(p: *const Self::T) -> Self;
    unsafe fn store(self, p: *mut Self::T);
    /// The first `n < LANES` elements; the others zero and not touched.
    unsafe fn load_first(p: *const Self::T, n: usize) -> Self;
    /// The same of elements that `store_first` may have written a moment ago.
    unsafe fn reload_first(p: *const Self::T, n: usize) -> Self;
    /// The first `n < LANES` elements; touches no other.
    unsafe fn store_first(self, p: *mut Self::T, n: usize);
    /// Elements from..to; the others zero and not touched.
    unsafe fn load_range(p: *const Self::T, from: usize, to: usize) -> Self;
    /// Elements from..to; the others zero.
    unsafe fn keep(self, from: usize, to: usize) -> Self;

    unsafe fn turned(self) -> Self::Turned;
    /// f as a factor of x, or of conj(x).
    unsafe fn factor(f: Self::T, conj: bool) -> Self::Factor;
    /// f x.
    unsafe fn product(f: Self::Factor, x: Self::Turned) -> Self;
    /// f x + self.
    unsafe fn add_product(self, f: Self::Factor, x: Self::Turned) -> Self;

    unsafe fn splat(f: Self::T) -> Self::Splat;
    /// Zero outside from..to.
    unsafe fn splat_range(f: Self::Splat, from: usize, to: usize) -> Self::Splat;
    /// The beginning of a sum that is to be added to y.
    unsafe fn begin(y: Self) -> Self::Sum;
    unsafe fn add_line(sum: Self::Sum, line: Self, f: Self::Splat) -> Self::Sum;
    /// y plus the sum, of lines or of their conjugates.
    unsafe fn finish(sum: Self::Sum, y: Self, conj: bool) -> Self;
    /// The beginning of a sum that is not to be added to anything yet.
    unsafe fn begin_zero() -> Self::Sum;
    /// Both sums.
    unsafe fn join(a: Self::Sum, b: Self::Sum) -> Self::Sum;
    /// The sum that began with nothing, of lines or of their conjugates.
    unsafe fn finish_zero(sum: Self::Sum, conj: bool) -> Self;

    unsafe fn dot_zero() -> Self::Dot;
    unsafe fn dot_step(dot: Self::Dot, line: Self, x: Self::Turned) -> Self::Dot;
    unsafe fn dot_add(a: Self::Dot, b: Self::Dot) -> Self::Dot;
    /// The products, of lines or of their conjugates.
    unsafe fn dot_total(dot: Self::Dot, conj: bool) -> Self::T;
    /// The same of four, bit for bit.
    unsafe fn dot_totals(dots: [Self::Dot; 4], conj: bool) -> [Self::T; 4];
    /// Adds alpha A x to y if the rows of A, one behind the other without a gap, are few elements whose columns registers make; says
    /// whether it did.
    #[inline(always)]
    unsafe fn add_flat(
        _alpha: Self::T,
        _a: *const Self::T,
        _rows: usize,
        _len: usize,
        _x: *const Self::T,
        _y: *mut Self::T,
    ) -> bool {
        false
    }
}

/// Real elements.
#[derive(Clone, Copy)]
pub struct Reals<V>(V);

/// Complex elements, the parts side by side.
#[derive(Clone, Copy)]
pub struct Pairs<V>(V);

// Every unsafe block below passes the contract on.
#[allow(clippy::undocumented_unsafe_blocks)]
impl<V: RealSimd> Elements for Reals<V> {
    type T = V::T;
    const LANES: usize = V::LANES;
    const MASKS_ARE_FREE: bool = V::MASKS_ARE_FREE;
    type Factor = V;
    type Turned = V;
    type Splat = V;
    type Sum = V;
    type Dot = V;

    #[inline(always)]
    unsafe fn load(p: *const V::T) -> Self {
        unsafe { Reals(V::load(p)) }
    }
    #[inline(always)]
    unsafe fn store(self, p: *mut V::T) {
        unsafe { self.0.store(p) }
    }
    #[inline(always)]
    unsafe fn load_first(p: *const V::T, n: usize) -> Self {
        unsafe { Reals(V::load_first(p, n)) }
    }
    #[inline(always)]
    unsafe fn reload_first(p: *const V::T, n: usize) -> Self {
        unsafe { Reals(V::reload_first(p, n)) }
    }
    #[inline(always)]
    unsafe fn store_first(self, p: *mut V::T, n: usize) {
        unsafe { self.0.store_first(p, n) }
    }
    #[inline(always)]
    unsafe fn load_range(p: *const V::T, from: usize, to: usize) -> Self {
        unsafe { Reals(V::load_range(p, from, to)) }
    }
    #[inline(always)]
    unsafe fn keep(self, from: usize, to: usize) -> Self {
        unsafe { Reals(self.0.keep(from, to)) }
    }
    #[inline(always)]
    unsafe fn turned(self) -> V {
        self.0
    }
    #[inline(always)]
    unsafe fn factor(f: V::T, _: bool) -> V {
        unsafe { V::splat(f) }
    }
    #[inline(always)]
    unsafe fn product(f: V, x: V) -> Self {
        unsafe { Reals(x.mul(f)) }
    }
    #[inline(always)]
    unsafe fn add_product(self, f: V, x: V) -> Self {
        unsafe { Reals(x.mul_add(f, self.0)) }
    }
    #[inline(always)]
    unsafe fn splat(f: V::T) -> V {
        unsafe { V::splat(f) }
    }
    #[inline(always)]
    unsafe fn splat_range(f: V, from: usize, to: usize) -> V {
        unsafe { f.keep(from, to) }
    }
    #[inline(always)]
    unsafe fn begin(y: Self) -> V {
        y.0
    }
    #[inline(always)]
    unsafe fn add_line(sum: V, line: Self, f: V) -> V {
        unsafe { line.0.mul_add(f, sum) }
    }
    #[inline(always)]
    unsafe fn finish(sum: V, _: Self, _: bool) -> Self {
        Reals(sum)
    }
    #[inline(always)]
    unsafe fn finish_zero(sum: V, _: bool) -> Self {
        Reals(sum)
    }
    #[inline(always)]
    unsafe fn join(a: V, b: V) -> V {
        unsafe { a.add(b) }
    }
    #[inline(always)]
    unsafe fn begin_zero() -> V {
        unsafe { V::zero() }
    }
    #[inline(always)]
    unsafe fn dot_zero() -> V {
        unsafe { V::zero() }
    }
    #[inline(always)]
    unsafe fn dot_step(dot: V, line: Self, x: V) -> V {
        unsafe { line.0.mul_add(x, dot) }
    }
    #[inline(always)]
    unsafe fn dot_add(a: V, b: V) -> V {
        unsafe { a.add(b) }
    }
    #[inline(always)]
    unsafe fn dot_total(dot: V, _: bool) -> V::T {
        unsafe { dot.sum() }
    }
    #[inline(always)]
    unsafe fn dot_totals(dots: [V; 4], _: bool) -> [V::T; 4] {
        unsafe { V::sum4(dots) }
    }
    #[inline(always)]
    unsafe fn add_flat(alpha: V::T, a: *const V::T, rows: usize, len: usize, x: *const V::T, y: *mut V::T) -> bool {
        unsafe { V::COLUMNS && flat::add::<V>(alpha, a, rows, len, x, y) }
    }
}

/// (-1, 1, -1, 1…) times a.
#[inline(always)]
unsafe fn alternating<V: RealSimd>(a: V::T) -> V {
    // SAFETY: the contract of the file.
    unsafe { V::interleave(V::splat(-a), V::splat(a)).0 }
}

// As above.
#[allow(clippy::undocumented_unsafe_blocks)]
impl<V: RealSimd> Elements for Pairs<V>
where
    Complex<V::T>: Scalar<Real = V::T>,
{
    type T = Complex<V::T>;
    const LANES: usize = V::LANES / 2;
    const MASKS_ARE_FREE: bool = V::MASKS_ARE_FREE;
    /// What multiplies the parts themselves, and what multiplies the exchanged ones.
    type Factor = [V; 2];
    /// The vector and its parts exchanged.
    type Turned = [V; 2];
    /// Real and imaginary part in all lanes.
    type Splat = [V; 2];
    /// Sums of lines times the factors' real parts, and times their imaginary parts.
    type Sum = [V; 2];
    /// Sums of lines times x, and times x with its parts exchanged.
    type Dot = [V; 2];

    #[inline(always)]
    unsafe fn load(p: *const Self::T) -> Self {
        unsafe { Pairs(V::load(p.cast())) }
    }
    #[inline(always)]
    unsafe fn store(self, p: *mut Self::T) {
        unsafe { self.0.store(p.cast()) }
    }
    #[inline(always)]
    unsafe fn load_first(p: *const Self::T, n: usize) -> Self {
        unsafe { Pairs(V::load_first(p.cast(), 2 * n)) }
    }
    #[inline(always)]
    unsafe fn reload_first(p: *const Self::T, n: usize) -> Self {
        unsafe { Pairs(V::reload_first(p.cast(), 2 * n)) }
    }
    #[inline(always)]
    unsafe fn store_first(self, p: *mut Self::T, n: usize) {
        unsafe { self.0.store_first(p.cast(), 2 * n) }
    }
    #[inline(always)]
    unsafe fn load_range(p: *const Self::T, from: usize, to: usize) -> Self {
        unsafe { Pairs(V::load_range(p.cast(), 2 * from, 2 * to)) }
    }
    #[inline(always)]
    unsafe fn keep(self, from: usize, to: usize) -> Self {
        unsafe { Pairs(self.0.keep(2 * from, 2 * to)) }
    }
    #[inline(always)]
    unsafe fn turned(self) -> [V; 2] {
        unsafe { [self.0, self.0.swap_pairs()] }
    }
    /// conj(x) f = (xr fr + xi fi) + i (xr fi - xi fr).
    #[inline(always)]
    unsafe fn factor(f: Self::T, conj: bool) -> [V; 2] {
        unsafe { if conj { [alternating(-f.re), V::splat(f.im)] } else { [V::splat(f.re), alternating(f.im)] } }
    }
    #[inline(always)]
    unsafe fn product(f: [V; 2], x: [V; 2]) -> Self {
        unsafe { Pairs(x[1].mul_add(f[1], x[0].mul(f[0]))) }
    }
    #[inline(always)]
    unsafe fn add_product(self, f: [V; 2], x: [V; 2]) -> Self {
        unsafe { Pairs(x[1].mul_add(f[1], x[0].mul_add(f[0], self.0))) }
    }
    #[inline(always)]
    unsafe fn splat(f: Self::T) -> [V; 2] {
        unsafe { [V::splat(f.re), V::splat(f.im)] }
    }
    #[inline(always)]
    unsafe fn splat_range(f: [V; 2], from: usize, to: usize) -> [V; 2] {
        unsafe { [f[0].keep(2 * from, 2 * to), f[1].keep(2 * from, 2 * to)] }
    }
    #[inline(always)]
    unsafe fn begin(_: Self) -> [V; 2] {
        unsafe { [V::zero(), V::zero()] }
    }
    #[inline(always)]
    unsafe fn add_line(sum: [V; 2], line: Self, f: [V; 2]) -> [V; 2] {
        unsafe { [line.0.mul_add(f[0], sum[0]), line.0.mul_add(f[1], sum[1])] }
    }
    #[inline(always)]
    unsafe fn finish(sum: [V; 2], y: Self, conj: bool) -> Self {
        unsafe {
            // y + (1, 1) or (1, -1) times the one, (-1, 1) or (1, 1) times the other: no branch in a loop.
            let one = <V::T as Scalar>::ONE;
            let sign = if conj { one } else { -one };
            let real = V::interleave(V::splat(one), V::splat(-sign)).0;
            let turned = V::interleave(V::splat(sign), V::splat(one)).0;
            Pairs(sum[1].swap_pairs().mul_add(turned, sum[0].mul_add(real, y.0)))
        }
    }
    #[inline(always)]
    unsafe fn finish_zero(sum: [V; 2], conj: bool) -> Self {
        unsafe { Self::finish(sum, Pairs(V::zero()), conj) }
    }
    #[inline(always)]
    unsafe fn join(a: [V; 2], b: [V; 2]) -> [V; 2] {
        unsafe { [a[0].add(b[0]), a[1].add(b[1])] }
    }
    #[inline(always)]
    unsafe fn begin_zero() -> [V; 2] {
        unsafe { [V::zero(), V::zero()] }
    }
    #[inline(always)]
    unsafe fn dot_zero() -> [V; 2] {
        unsafe { [V::zero(), V::zero()] }
    }
    #[inline(always)]
    unsafe fn dot_step(dot: [V; 2], line: Self, x: [V; 2]) -> [V; 2] {
        unsafe { [line.0.mul_add(x[0], dot[0]), line.0.mul_add(x[1], dot[1])] }
    }
    #[inline(always)]
    unsafe fn dot_add(a: [V; 2], b: [V; 2]) -> [V; 2] {
        unsafe { [a[0].add(b[0]), a[1].add(b[1])] }
    }
    /// dot[0] has lr xr and li xi side by side, dot[1] lr xi and li xr.
    #[inline(always)]
    unsafe fn dot_total(dot: [V; 2], conj: bool) -> Self::T {
        unsafe {
            let [re, im] = dot_signs(dot, conj);
            Complex::new(re.sum(), im.sum())
        }
    }
    #[inline(always)]
    unsafe fn dot_totals([a, b, c, d]: [[V; 2]; 4], conj: bool) -> [Self::T; 4] {
        unsafe {
            let [a, b, c, d] = [dot_signs(a, conj), dot_signs(b, conj), dot_signs(c, conj), dot_signs(d, conj)];
            let (re, im) = (V::sum4([a[0], b[0], c[0], d[0]]), V::sum4([a[1], b[1], c[1], d[1]]));
            [
                Complex::new(re[0], im[0]),
                Complex::new(re[1], im[1]),
                Complex::new(re[2], im[2]),
                Complex::new(re[3], im[3]),
            ]
        }
    }
}

/// Registers whose sums are the real and the imaginary part.
#[inline(always)]
unsafe fn dot_signs<V: RealSimd>(dot: [V; 2], conj: bool) -> [V; 2] {
    // SAFETY: the contract of the file.
    unsafe {
        let minus = alternating::<V>(-<V::T as Scalar>::ONE);
        if conj { [dot[0], dot[1].mul(minus)] } else { [dot[0].mul(minus), dot[1]] }
    }
}
