//! The vector trait that all SIMD kernels are written over, and complex vectors on top of real ones.
//!
//! A [`Simd`] type is a register of an instruction set seen as lanes of a scalar type. It offers the dozen operations a
//! BLAS needs and nothing else. Kernels (`tile.rs`, `lines.rs`) are `#[inline(always)]` functions generic over it; an
//! ISA's file wraps them in functions that carry `#[target_feature]`, which is where the instructions are enabled.
//! A [`Split`] pair of real vectors (real parts, imaginary parts) makes complex lanes out of any real implementation,
//! so complex kernels need no code per ISA.
//!
//! All methods are `unsafe fn` with one common contract: the CPU has the instruction set of the implementing type, and
//! pointers are valid for the lanes that the name says.

use crate::scalar::{Complex, Real, Scalar};

/// Lanes of the largest register.
pub(super) const MOST_LANES: usize = 16;
/// Registers of which columns are made, at most.
pub(super) const MOST_COLUMNS: usize = 8;

/// Registers of which lanes become lines.
pub(super) const ACROSS: usize = 8;

/// A register with [`Simd::LANES`] lanes of `T`. Contract of all methods: see the head of the file.
pub trait Simd: Copy {
    type T: Scalar;
    const LANES: usize;
    /// Whether `load_first` and `store_first` are one instruction each, with a mask.
    const MASKS_ARE_FREE: bool = false;

    unsafe fn zero() -> Self;
    unsafe fn splat(x: Self::T) -> Self;
    /// Lanes from consecutive elements in memory.
    unsafe fn load(p: *const Self::T) -> Self;
    /// Lanes to consecutive elements in memory.
    unsafe fn store(self, p: *mut Self::T);
    /// The first `n <= LANES` lanes from memory, the others zero. Touches no other element.
    unsafe fn load_first(p: *const Self::T, n: usize) -> Self;
    /// `load_first` of what `store_first` may have written a moment ago: made of the same pieces, so that they need not
    /// have reached the cache.
    #[inline(always)]
    unsafe fn reload_first(p: *const Self::T, n: usize) -> Self {
        // SAFETY: the contract of the trait.
        unsafe { Self::load_first(p, n) }
    }
    /// The first `n < LANES` lanes to memory (all of them only where masks are free). Touches no other element.
    unsafe fn store_first(self, p: *mut Self::T, n: usize);
    /// Lanes from a packed panel: the kernel's own order of the same number of elements.
    unsafe fn load_packed(p: *const Self::T) -> Self;
    /// Lanes to a packed panel.
    unsafe fn store_packed(self, p: *mut Self::T);
    unsafe fn add(self, o: Self) -> Self;
    unsafe fn sub(self, o: Self) -> Self;
    unsafe fn mul(self, o: Self) -> Self;
    /// self * b + c; one rounding where the ISA has FMA.
    unsafe fn mul_add(self, b: Self, c: Self) -> Self;
    /// c - self * b; one rounding where the ISA has FMA.
    unsafe fn neg_mul_add(self, b: Self, c: Self) -> Self;
    /// Whether operations on the lower half of the lanes alone take less than those on all.
    const HALVES: bool = false;
    /// `load_first` of no more than half of the lanes; what is in the other half is not said.
    #[inline(always)]
    unsafe fn load_first_half(p: *const Self::T, n: usize) -> Self {
        // SAFETY: the contract of the trait.
        unsafe { Self::load_first(p, n) }
    }
    /// `splat` for operations on whole vectors and halves: one register serves both.
    #[inline(always)]
    unsafe fn splat_for_halves(x: Self::T) -> Self {
        // SAFETY: the contract of the trait.
        unsafe { Self::splat(x) }
    }
    /// `mul_add` of the lower half of the lanes; what is in the other half is not said.
    #[inline(always)]
    unsafe fn mul_add_half(self, b: Self, c: Self) -> Self {
        // SAFETY: the contract of the trait.
        unsafe { self.mul_add(b, c) }
    }
    /// Every lane divided by the same number.
    unsafe fn div_by(self, d: Self::T) -> Self;
    /// Every lane conjugated; nothing for real types.
    unsafe fn conj(self) -> Self;
    /// Sum of the lanes, in a fixed order.
    unsafe fn sum(self) -> Self::T;
    /// The `sum` of each, bit for bit.
    #[inline(always)]
    unsafe fn sum4([a, b, c, d]: [Self; 4]) -> [Self::T; 4] {
        // SAFETY: the contract of the trait.
        unsafe { [a.sum(), b.sum(), c.sum(), d.sum()] }
    }
    /// Whether [`Simd::sums`] takes less time than as many of [`Simd::sum4`].
    const SUMS: bool = false;
    /// The `sum` of each of the first LANES registers, bit for bit; lane l is that of the l-th.
    #[inline(always)]
    unsafe fn sums(all: [Self; MOST_LANES]) -> Self {
        let mut sums = [Self::T::ZERO; MOST_LANES];
        // SAFETY: the contract of the trait; LANES sums.
        unsafe {
            for (sum, v) in sums.iter_mut().zip(all).take(Self::LANES) {
                *sum = v.sum();
            }
            Self::load(sums.as_ptr())
        }
    }
    /// Lane l of N registers becomes N consecutive elements at `c + l*cs`, for each of `rows` lanes, which are all of them if WHOLE:
    /// alpha times it plus beta times what is there, in the operations of a register tile that lies the other way. beta == 0 never
    /// reads C.
    #[inline(always)]
    unsafe fn put_across<const N: usize, const WHOLE: bool>(
        v: [Self; ACROSS],
        rows: usize,
        alpha: Self::T,
        beta: Self::T,
        c: *mut Self::T,
        cs: isize,
    ) {
        let (mut lines, mut turned) =
            ([Self::T::ZERO; ACROSS * MOST_LANES], [Self::T::ZERO; (ACROSS + MOST_LANES) * MOST_LANES]);
        let from = lines.as_mut_ptr();
        // SAFETY: the contract of the trait; both have room for all lanes, and lines of a few elements more than are read.
        unsafe {
            for (j, v) in v.into_iter().enumerate() {
                v.store(from.add(j * Self::LANES));
            }
            let (to, step) = (turned.as_mut_ptr(), ACROSS.max(Self::LANES));
            if Self::SQUARE > 0 {
                for j in (0..ACROSS).step_by(Self::SQUARE) {
                    Self::transpose_back(from.add(j * Self::LANES), Self::LANES, to.add(j), step as isize);
                }
            } else {
                for (at, x) in lines.iter().enumerate().take(ACROSS * Self::LANES) {
                    *to.add(at % Self::LANES * step + at / Self::LANES) = *x;
                }
            }
            for l in 0..rows {
                for j in (0..N).step_by(Self::LANES) {
                    let (p, some) = (c.wrapping_offset(l as isize * cs + j as isize), Self::LANES.min(N - j));
                    let x = Self::load(to.add(l * step + j));
                    let x = if beta == Self::T::ZERO {
                        x.mul(Self::splat(alpha))
                    } else {
                        let old = if some < Self::LANES { Self::reload_first(p, some) } else { Self::load(p) };
                        let old = if beta == Self::T::ONE { old } else { old.mul(Self::splat(beta)) };
                        x.mul_add(Self::splat(alpha), old)
                    };
                    if some < Self::LANES { x.store_first(p, some) } else { x.store(p) }
                }
            }
        }
    }
    /// Consecutive elements of each lane that [`Simd::transpose`] takes; 0 if it is not to be used.
    const SQUARE: usize;
    /// So many lanes of SQUARE consecutive elements each, lane l at `src + l*ls`, to SQUARE registers' worth of a packed
    /// panel, `step` elements from one to the next; the other lanes are zero there.
    unsafe fn transpose(lanes: usize, src: *const Self::T, ls: isize, dst: *mut Self::T, step: usize);
    /// The reverse.
    unsafe fn transpose_back(src: *const Self::T, step: usize, dst: *mut Self::T, ls: isize);
}

/// A [`Simd`] of real lanes: what else the line kernels and [`Split`] need.
pub trait RealSimd: Simd<T: Real> {
    /// Whether [`RealSimd::store_past`] goes past the caches.
    const PAST: bool = false;
    /// `store` of what nobody reads soon: past the caches, where a vector is a cache line, so that the line is not fetched first. `p` is
    /// a multiple of the vector's size; [`RealSimd::settle`] comes before anybody else looks.
    #[inline(always)]
    unsafe fn store_past(self, p: *mut Self::T) {
        // SAFETY: as this function's.
        unsafe { self.store(p) }
    }
    /// What was stored past the caches is seen before anything that is stored from now on.
    #[inline(always)]
    fn settle() {}
    /// Lanes of f64, for sums that f32 cannot hold.
    type Wide: RealSimd<T = f64>;
    /// The lanes' squares, as f64, added to two registers.
    unsafe fn add_squares(self, acc: [Self::Wide; 2]) -> [Self::Wide; 2];
    unsafe fn abs(self) -> Self;
    /// The larger of the two; NaN of `o` is dropped (lane of `self` stays).
    unsafe fn max(self, o: Self) -> Self;
    /// The largest lane; none is NaN.
    unsafe fn largest(self) -> Self::T;
    /// A bit for each lane that is the same number in both, lane 0 lowest.
    unsafe fn equals(self, o: Self) -> u32;
    unsafe fn neg(self) -> Self;
    unsafe fn div(self, o: Self) -> Self;
    /// Two registers of interleaved pairs (re, im, re, im…) to (all re, all im). The order of lanes may be any that
    /// `interleave` undoes.
    unsafe fn deinterleave(a: Self, b: Self) -> (Self, Self);
    /// Inverse of `deinterleave`.
    unsafe fn interleave(re: Self, im: Self) -> (Self, Self);
    /// Which pair of 2*LANES interleaved elements `deinterleave` puts in a lane. Here: shuffles stay inside 128 bits, and
    /// each of those holds as many pairs of the first register as of the second.
    #[inline(always)]
    fn pair_of(lane: usize) -> usize {
        let half = 8 / size_of::<Self::T>();
        let (quarter, at) = (lane / (2 * half), lane % (2 * half));
        quarter * half + at % half + at / half * (Self::LANES / 2)
    }
    /// Side of the square that [`RealSimd::square`] transposes, at most 8; LANES is a multiple of it. 0: there is none.
    const SIDE: usize;
    /// Element p of row l, at `src[l] + p`, goes to `dst[p] + l`. Whole rows are written, the first one first.
    unsafe fn square(src: [*const Self::T; 8], dst: [*mut Self::T; 8]);
    /// The same of a square of half the side.
    unsafe fn half_square(src: [*const Self::T; 4], dst: [*mut Self::T; 4]);
    /// Lanes `from..to` from consecutive elements in memory, of which lane 0 would be the first; the others zero, and
    /// not touched. `from <= to <= LANES`.
    unsafe fn load_range(p: *const Self::T, from: usize, to: usize) -> Self;
    /// Lanes `from..to`; the others zero.
    unsafe fn keep(self, from: usize, to: usize) -> Self;
    /// Neighbours exchanged: lanes 1, 0, 3, 2…
    unsafe fn swap_pairs(self) -> Self;
    /// Whether [`RealSimd::columns`] is a few shuffles for each register.
    const COLUMNS: bool = false;
    /// The first N registers of consecutive elements, which are rows of N: the columns. N is 2, 3, 5 or 7.
    #[inline(always)]
    unsafe fn columns<const N: usize>(rows: [Self; MOST_COLUMNS]) -> [Self; MOST_COLUMNS] {
        // SAFETY: the contract of the trait; LANES elements at each address.
        unsafe {
            let (mut flat, mut turned) = ([[Self::T::ZERO; MOST_LANES]; MOST_COLUMNS], rows);
            let flat = flat.as_mut_ptr().cast::<Self::T>();
            for (r, row) in rows.into_iter().enumerate().take(N) {
                row.store(flat.add(r * Self::LANES));
            }
            for (c, column) in turned.iter_mut().enumerate().take(N) {
                let mut one = [Self::T::ZERO; MOST_LANES];
                for (l, x) in one.iter_mut().enumerate().take(Self::LANES) {
                    *x = *flat.add(l * N + c);
                }
                *column = Self::load(one.as_ptr());
            }
            turned
        }
    }
}

/// A [`RealSimd`] whose lanes can be exchanged within groups of neighbours.
pub trait GroupSimd: RealSimd {
    /// Whether there are registers for tiles of two vectors in all places: 32 of them.
    const PAIRS: bool = false;
    /// Which lane goes where.
    type Pick: Copy;
    /// In each group of so many neighbours, a power of two, the i-th one for all of them.
    unsafe fn pick(group: usize, i: usize) -> Self::Pick;
    unsafe fn picked(self, pick: Self::Pick) -> Self;
}

/// Zeros to read in place of a lane that is not there.
#[inline(always)]
pub(super) fn zeros<T>() -> *const T {
    static ZEROS: [f64; 8] = [0.0; 8];
    (&raw const ZEROS).cast()
}

/// [`Simd::transpose`] and its reverse for real lanes.
macro_rules! real_transpose {
    () => {
        const SQUARE: usize = Self::SIDE;
        #[inline(always)]
        unsafe fn transpose(lanes: usize, src: *const Self::T, ls: isize, dst: *mut Self::T, step: usize) {
            let mut l = 0;
            while l < Self::LANES && Self::SIDE > 0 {
                let (mut from, mut to) = ([src; 8], [dst; 8]);
                let mut q = 0;
                let whole = l + Self::SIDE <= lanes;
                while q < Self::SIDE {
                    let lane = src.wrapping_offset((l + q) as isize * ls);
                    from[q] = if whole || l + q < lanes { lane } else { $crate::kernels::simd::zeros() };
                    to[q] = dst.wrapping_add(q * step + l);
                    q += 1;
                }
                // SAFETY: SIDE lanes of SIDE elements, and as many registers of the panel from lane l on.
                unsafe { Self::square(from, to) };
                l += Self::SIDE;
            }
        }
        #[inline(always)]
        unsafe fn transpose_back(src: *const Self::T, step: usize, dst: *mut Self::T, ls: isize) {
            let mut l = 0;
            while l < Self::LANES && Self::SIDE > 0 {
                let (mut from, mut to) = ([src; 8], [dst; 8]);
                let mut q = 0;
                while q < Self::SIDE {
                    from[q] = src.wrapping_add(q * step + l);
                    to[q] = dst.wrapping_offset((l + q) as isize * ls);
                    q += 1;
                }
                // SAFETY: as above.
                unsafe { Self::square(from, to) };
                l += Self::SIDE;
            }
        }
    };
}
pub(crate) use real_transpose;

/// Complex lanes as a register of real parts and one of imaginary parts.
#[derive(Clone, Copy)]
pub struct Split<V> {
    re: V,
    im: V,
}

// Every unsafe block below passes the contract of `Simd` on to `V`: n complex elements are 2n real ones.
#[allow(clippy::undocumented_unsafe_blocks)]
impl<V: RealSimd> Simd for Split<V>
where
    Complex<V::T>: Scalar<Real = V::T>,
{
    type T = Complex<V::T>;
    const LANES: usize = V::LANES;
    const MASKS_ARE_FREE: bool = V::MASKS_ARE_FREE;

    #[inline(always)]
    unsafe fn zero() -> Self {
        unsafe { Split { re: V::zero(), im: V::zero() } }
    }
    #[inline(always)]
    unsafe fn splat(x: Self::T) -> Self {
        unsafe { Split { re: V::splat(x.re), im: V::splat(x.im) } }
    }
    #[inline(always)]
    unsafe fn load(p: *const Self::T) -> Self {
        unsafe {
            let p = p.cast::<V::T>();
            let (re, im) = V::deinterleave(V::load(p), V::load(p.add(V::LANES)));
            Split { re, im }
        }
    }
    #[inline(always)]
    unsafe fn store(self, p: *mut Self::T) {
        unsafe {
            let p = p.cast::<V::T>();
            let (a, b) = V::interleave(self.re, self.im);
            a.store(p);
            b.store(p.add(V::LANES));
        }
    }
    #[inline(always)]
    unsafe fn load_first(p: *const Self::T, n: usize) -> Self {
        unsafe {
            let p = p.cast::<V::T>();
            let n = 2 * n;
            let (a, b) = if n >= V::LANES {
                (V::load(p), V::load_first(p.wrapping_add(V::LANES), n - V::LANES))
            } else {
                (V::load_first(p, n), V::zero())
            };
            let (re, im) = V::deinterleave(a, b);
            Split { re, im }
        }
    }
    #[inline(always)]
    unsafe fn store_first(self, p: *mut Self::T, n: usize) {
        unsafe {
            let p = p.cast::<V::T>();
            let n = 2 * n;
            let (a, b) = V::interleave(self.re, self.im);
            if n >= V::LANES {
                a.store(p);
                b.store_first(p.wrapping_add(V::LANES), n - V::LANES);
            } else {
                a.store_first(p, n);
            }
        }
    }
    #[inline(always)]
    unsafe fn load_packed(p: *const Self::T) -> Self {
        unsafe {
            let p = p.cast::<V::T>();
            Split { re: V::load(p), im: V::load(p.add(V::LANES)) }
        }
    }
    #[inline(always)]
    unsafe fn store_packed(self, p: *mut Self::T) {
        unsafe {
            let p = p.cast::<V::T>();
            self.re.store(p);
            self.im.store(p.add(V::LANES));
        }
    }
    #[inline(always)]
    unsafe fn add(self, o: Self) -> Self {
        unsafe { Split { re: self.re.add(o.re), im: self.im.add(o.im) } }
    }
    #[inline(always)]
    unsafe fn sub(self, o: Self) -> Self {
        unsafe { Split { re: self.re.sub(o.re), im: self.im.sub(o.im) } }
    }
    #[inline(always)]
    unsafe fn mul(self, o: Self) -> Self {
        unsafe {
            Split { re: self.im.neg_mul_add(o.im, self.re.mul(o.re)), im: self.im.mul_add(o.re, self.re.mul(o.im)) }
        }
    }
    /// All uses of b's real part come before those of its imaginary part: one register for broadcasts is enough.
    #[inline(always)]
    unsafe fn mul_add(self, b: Self, c: Self) -> Self {
        unsafe {
            let (re, im) = (self.re.mul_add(b.re, c.re), self.im.mul_add(b.re, c.im));
            Split { re: self.im.neg_mul_add(b.im, re), im: self.re.mul_add(b.im, im) }
        }
    }
    #[inline(always)]
    unsafe fn neg_mul_add(self, b: Self, c: Self) -> Self {
        unsafe {
            let (re, im) = (self.re.neg_mul_add(b.re, c.re), self.im.neg_mul_add(b.re, c.im));
            Split { re: self.im.mul_add(b.im, re), im: self.re.neg_mul_add(b.im, im) }
        }
    }
    /// Smith's division, as the scalar one: the ratio is taken of the divisor's larger part.
    #[inline(always)]
    unsafe fn div_by(self, d: Self::T) -> Self {
        unsafe {
            if d.re.abs() >= d.im.abs() {
                let r = d.im / d.re;
                let den = V::splat(d.re + d.im * r);
                let r = V::splat(r);
                Split { re: self.im.mul_add(r, self.re).div(den), im: self.re.neg_mul_add(r, self.im).div(den) }
            } else {
                let r = d.re / d.im;
                let den = V::splat(d.im + d.re * r);
                let r = V::splat(r);
                Split { re: self.re.mul_add(r, self.im).div(den), im: self.im.mul(r).sub(self.re).div(den) }
            }
        }
    }
    #[inline(always)]
    unsafe fn conj(self) -> Self {
        unsafe { Split { re: self.re, im: self.im.neg() } }
    }
    #[inline(always)]
    unsafe fn sum(self) -> Self::T {
        unsafe { Complex::new(self.re.sum(), self.im.sum()) }
    }
    #[inline(always)]
    unsafe fn sum4(all: [Self; 4]) -> [Self::T; 4] {
        unsafe {
            let (re, im) = (V::sum4(all.map(|v| v.re)), V::sum4(all.map(|v| v.im)));
            core::array::from_fn(|i| Complex::new(re[i], im[i]))
        }
    }
    const SQUARE: usize = V::SIDE / 2;
    #[inline(always)]
    unsafe fn transpose(lanes: usize, src: *const Self::T, ls: isize, dst: *mut Self::T, step: usize) {
        let mut l = 0;
        while l < V::LANES && V::SIDE > 0 {
            let (mut from, mut to) = ([src.cast::<V::T>(); 8], [dst.cast::<V::T>(); 8]);
            for q in 0..V::SIDE {
                let lane = V::pair_of(l + q);
                from[q] = if lane < lanes { src.wrapping_offset(lane as isize * ls).cast() } else { zeros() };
                to[q] = dst.wrapping_add(q / 2 * step).cast::<V::T>().wrapping_add(q % 2 * V::LANES + l);
            }
            unsafe { V::square(from, to) };
            l += V::SIDE;
        }
    }
    #[inline(always)]
    unsafe fn transpose_back(src: *const Self::T, step: usize, dst: *mut Self::T, ls: isize) {
        let mut l = 0;
        while l < V::LANES && V::SIDE > 0 {
            let (mut from, mut to) = ([src.cast::<V::T>(); 8], [dst.cast::<V::T>(); 8]);
            for q in 0..V::SIDE {
                from[q] = src.wrapping_add(q / 2 * step).cast::<V::T>().wrapping_add(q % 2 * V::LANES + l);
                to[q] = dst.wrapping_offset(V::pair_of(l + q) as isize * ls).cast();
            }
            unsafe { V::square(from, to) };
            l += V::SIDE;
        }
    }
}
