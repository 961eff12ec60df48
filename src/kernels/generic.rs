//! The portable kernels: plain Rust on small arrays, which the compiler turns into whatever vectors the target's
//! baseline has (SSE2 on x86-64, NEON on AArch64). Always there, always correct, the reference for the other files.

use super::fold::SoftHalves;
use super::kernel_table;
use super::simd::{GroupSimd, RealSimd, Simd, Split, real_transpose};
use crate::scalar::Real;

/// `N` lanes in an array.
#[derive(Clone, Copy)]
#[repr(C, align(16))]
pub struct Lanes<R, const N: usize>([R; N]);

/// Applies an operation lane by lane.
macro_rules! lanewise {
    ($($v:ident = $from:expr),+ => $e:expr) => {{
        let mut out = [R::ZERO; N];
        let mut i = 0;
        while i < N {
            $(let $v = $from.0[i];)+
            out[i] = $e;
            i += 1;
        }
        Lanes(out)
    }};
}

// Every unsafe block below is sound by the contract of `Simd`: pointers are valid for the lanes they are used for.
#[allow(clippy::undocumented_unsafe_blocks)]
impl<R: Real, const N: usize> Simd for Lanes<R, N> {
    type T = R;
    const LANES: usize = N;

    #[inline(always)]
    unsafe fn zero() -> Self {
        Lanes([R::ZERO; N])
    }
    #[inline(always)]
    unsafe fn splat(x: R) -> Self {
        Lanes([x; N])
    }
    #[inline(always)]
    unsafe fn load(p: *const R) -> Self {
        unsafe { Lanes(p.cast::<[R; N]>().read()) }
    }
    #[inline(always)]
    unsafe fn store(self, p: *mut R) {
        unsafe { p.cast::<[R; N]>().write(self.0) }
    }
    #[inline(always)]
    unsafe fn load_first(p: *const R, n: usize) -> Self {
        let mut out = [R::ZERO; N];
        for (i, x) in out.iter_mut().enumerate().take(n) {
            *x = unsafe { *p.add(i) };
        }
        Lanes(out)
    }
    #[inline(always)]
    unsafe fn store_first(self, p: *mut R, n: usize) {
        for (i, x) in self.0.iter().enumerate().take(n) {
            unsafe { *p.add(i) = *x };
        }
    }
    #[inline(always)]
    unsafe fn load_packed(p: *const R) -> Self {
        unsafe { Self::load(p) }
    }
    #[inline(always)]
    unsafe fn store_packed(self, p: *mut R) {
        unsafe { self.store(p) }
    }
    #[inline(always)]
    unsafe fn add(self, o: Self) -> Self {
        lanewise!(x = self, y = o => x + y)
    }
    #[inline(always)]
    unsafe fn sub(self, o: Self) -> Self {
        lanewise!(x = self, y = o => x - y)
    }
    #[inline(always)]
    unsafe fn mul(self, o: Self) -> Self {
        lanewise!(x = self, y = o => x * y)
    }
    #[inline(always)]
    unsafe fn mul_add(self, b: Self, c: Self) -> Self {
        lanewise!(x = self, y = b, z = c => x * y + z)
    }
    #[inline(always)]
    unsafe fn neg_mul_add(self, b: Self, c: Self) -> Self {
        lanewise!(x = self, y = b, z = c => z - x * y)
    }
    #[inline(always)]
    unsafe fn div_by(self, d: R) -> Self {
        lanewise!(x = self => x / d)
    }
    #[inline(always)]
    unsafe fn conj(self) -> Self {
        self
    }
    #[inline(always)]
    unsafe fn sum(self) -> R {
        let mut out = self.0;
        let mut width = N / 2;
        while width > 0 {
            for i in 0..width {
                out[i] += out[i + width];
            }
            width /= 2;
        }
        out[0]
    }
    real_transpose!();
}

// As above.
#[allow(clippy::undocumented_unsafe_blocks)]
impl<R: Real, const N: usize> RealSimd for Lanes<R, N> {
    type Wide = Lanes<f64, N>;
    #[inline(always)]
    unsafe fn add_squares(self, [mut sum, other]: [Self::Wide; 2]) -> [Self::Wide; 2] {
        for i in 0..N {
            let x = self.0[i].to_f64();
            sum.0[i] += x * x;
        }
        [other, sum]
    }
    #[inline(always)]
    unsafe fn abs(self) -> Self {
        lanewise!(x = self => x.abs())
    }
    #[inline(always)]
    unsafe fn max(self, o: Self) -> Self {
        lanewise!(x = self, y = o => if y > x { y } else { x })
    }
    #[inline(always)]
    unsafe fn largest(self) -> R {
        self.0.into_iter().fold(self.0[0], |most, x| if x > most { x } else { most })
    }
    #[inline(always)]
    unsafe fn equals(self, o: Self) -> u32 {
        (0..N).fold(0, |bits, i| bits | ((self.0[i] == o.0[i]) as u32) << i)
    }
    #[inline(always)]
    unsafe fn neg(self) -> Self {
        lanewise!(x = self => -x)
    }
    #[inline(always)]
    unsafe fn div(self, o: Self) -> Self {
        lanewise!(x = self, y = o => x / y)
    }
    #[inline(always)]
    unsafe fn deinterleave(a: Self, b: Self) -> (Self, Self) {
        let at = |i: usize| if i < N { a.0[i] } else { b.0[i - N] };
        (Lanes(core::array::from_fn(|i| at(2 * i))), Lanes(core::array::from_fn(|i| at(2 * i + 1))))
    }
    #[inline(always)]
    unsafe fn interleave(re: Self, im: Self) -> (Self, Self) {
        let at = |i: usize| if i.is_multiple_of(2) { re.0[i / 2] } else { im.0[i / 2] };
        (Lanes(core::array::from_fn(at)), Lanes(core::array::from_fn(|i| at(i + N))))
    }
    #[inline(always)]
    fn pair_of(lane: usize) -> usize {
        lane
    }
    const SIDE: usize = 0;
    #[inline(always)]
    unsafe fn square(_src: [*const R; 8], _dst: [*mut R; 8]) {
        debug_assert!(false, "left to the compiler");
    }
    #[inline(always)]
    unsafe fn half_square(_src: [*const R; 4], _dst: [*mut R; 4]) {
        debug_assert!(false, "left to the compiler");
    }
    #[inline(always)]
    unsafe fn load_range(p: *const R, from: usize, to: usize) -> Self {
        let mut out = [R::ZERO; N];
        for (i, lane) in out.iter_mut().enumerate().take(to).skip(from) {
            *lane = unsafe { *p.wrapping_add(i) };
        }
        Lanes(out)
    }
    #[inline(always)]
    unsafe fn keep(self, from: usize, to: usize) -> Self {
        Lanes(core::array::from_fn(|i| if from <= i && i < to { self.0[i] } else { R::ZERO }))
    }
    #[inline(always)]
    unsafe fn swap_pairs(self) -> Self {
        Lanes(core::array::from_fn(|i| self.0[i ^ 1]))
    }
}

#[allow(clippy::undocumented_unsafe_blocks)]
impl<const N: usize> GroupSimd for Lanes<f32, N>
where
    Lanes<f32, N>: RealSimd<T = f32>,
{
    type Pick = [usize; N];
    #[inline(always)]
    unsafe fn pick(group: usize, i: usize) -> [usize; N] {
        core::array::from_fn(|lane| (lane & !(group - 1)) + i)
    }
    #[inline(always)]
    unsafe fn picked(self, pick: [usize; N]) -> Self {
        Lanes(pick.map(|lane| self.0[lane]))
    }
}

kernel_table! {
    /// The portable table.
    pub static GENERIC = "generic";
    // type: vector, vectors and columns of the register tile, kc
    f32: Lanes<f32, 4>, 2, 4, 256;
    f64: Lanes<f64, 2>, 2, 4, 256;
    c32: Split<Lanes<f32, 4>>, 1, 4, 192;
    c64: Split<Lanes<f64, 2>>, 1, 4, 192;
    halves: SoftHalves;
    narrow: None;
}
