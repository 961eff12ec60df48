//! AVX2 with FMA: 16 registers of 256 bits.
//!
//! Register tiles: 12 accumulators, leaving two registers for the column of A and two for broadcasts of B. 16x6 (f32) and
//! 8x6 (f64) are the transposed forms of the tiles that BLIS uses for Haswell; the complex
//! tiles hold 5 pairs: with 6 the compiler spills one accumulator, and its way through memory is longer than the loop.

use super::kernel_table;
use super::simd::{GroupSimd, RealSimd, Simd, Split, real_transpose};
use core::arch::x86_64::*;

#[derive(Clone, Copy)]
pub struct F32x8(__m256);
#[derive(Clone, Copy)]
pub struct F64x4(__m256d);

/// Masks for the first n lanes: eight times -1, eight times 0, read from the place where the zeros begin minus n.
static FIRST32: [i32; 16] = [-1, -1, -1, -1, -1, -1, -1, -1, 0, 0, 0, 0, 0, 0, 0, 0];
static FIRST64: [i64; 8] = [-1, -1, -1, -1, 0, 0, 0, 0];

macro_rules! avx2 {
    (
        $V:ident, $T:ty, $lanes:literal, mask $mask:ident,
        $zero:ident $set1:ident $load:ident $store:ident $maskload:ident
        $add:ident $sub:ident $mul:ident $div:ident $fmadd:ident $fnmadd:ident $max:ident $andnot:ident $xor:ident,
        sum $sum:expr, squares $squares:ident, deinterleave $de:expr, interleave $inter:expr,
        store_first $store_first:ident $reload_first:ident, and $and:ident, swap $swap:expr, sum4 $sum4:ident,
        largest $largest:ident, equals $equals:expr, square $square:ident $half:ident
    ) => {
        // Sound by the contract of `Simd`: AVX2 and FMA are there, pointers valid for the lanes used; masked lanes are not
        // accessed.
        #[allow(clippy::undocumented_unsafe_blocks)]
        impl Simd for $V {
            type T = $T;
            const LANES: usize = $lanes;
            #[inline(always)]
            unsafe fn zero() -> Self {
                unsafe { $V($zero()) }
            }
            #[inline(always)]
            unsafe fn splat(x: $T) -> Self {
                unsafe { $V($set1(x)) }
            }
            #[inline(always)]
            unsafe fn load(p: *const $T) -> Self {
                unsafe { $V($load(p)) }
            }
            #[inline(always)]
            unsafe fn store(self, p: *mut $T) {
                unsafe { $store(p, self.0) }
            }
            #[inline(always)]
            unsafe fn load_first(p: *const $T, n: usize) -> Self {
                unsafe { $V($maskload(p, _mm256_loadu_si256($mask.as_ptr().add($lanes - n).cast()))) }
            }
            #[inline(always)]
            unsafe fn reload_first(p: *const $T, n: usize) -> Self {
                unsafe { $V($reload_first(p, n)) }
            }
            #[inline(always)]
            unsafe fn store_first(self, p: *mut $T, n: usize) {
                unsafe { $store_first(self.0, p, n) }
            }
            #[inline(always)]
            unsafe fn load_packed(p: *const $T) -> Self {
                unsafe { Self::load(p) }
            }
            #[inline(always)]
            unsafe fn store_packed(self, p: *mut $T) {
                unsafe { self.store(p) }
            }
            #[inline(always)]
            unsafe fn add(self, o: Self) -> Self {
                unsafe { $V($add(self.0, o.0)) }
            }
            #[inline(always)]
            unsafe fn sub(self, o: Self) -> Self {
                unsafe { $V($sub(self.0, o.0)) }
            }
            #[inline(always)]
            unsafe fn mul(self, o: Self) -> Self {
                unsafe { $V($mul(self.0, o.0)) }
            }
            #[inline(always)]
            unsafe fn mul_add(self, b: Self, c: Self) -> Self {
                unsafe { $V($fmadd(self.0, b.0, c.0)) }
            }
            #[inline(always)]
            unsafe fn neg_mul_add(self, b: Self, c: Self) -> Self {
                unsafe { $V($fnmadd(self.0, b.0, c.0)) }
            }
            #[inline(always)]
            unsafe fn div_by(self, d: $T) -> Self {
                unsafe { $V($div(self.0, $set1(d))) }
            }
            #[inline(always)]
            unsafe fn conj(self) -> Self {
                self
            }
            #[inline(always)]
            unsafe fn sum(self) -> $T {
                unsafe { $sum(self.0) }
            }
            #[inline(always)]
            unsafe fn sum4([a, b, c, d]: [Self; 4]) -> [$T; 4] {
                unsafe { $sum4(a.0, b.0, c.0, d.0) }
            }
            real_transpose!();
        }
        // As above.
        #[allow(clippy::undocumented_unsafe_blocks)]
        impl RealSimd for $V {
            type Wide = F64x4;
            #[inline(always)]
            unsafe fn add_squares(self, acc: [F64x4; 2]) -> [F64x4; 2] {
                unsafe { $squares(self, acc) }
            }
            #[inline(always)]
            unsafe fn abs(self) -> Self {
                unsafe { $V($andnot($set1(-0.0), self.0)) }
            }
            #[inline(always)]
            unsafe fn max(self, o: Self) -> Self {
                // MAXPS returns its second operand if either is NaN.
                unsafe { $V($max(o.0, self.0)) }
            }
            #[inline(always)]
            unsafe fn largest(self) -> $T {
                unsafe { $largest(self.0) }
            }
            #[inline(always)]
            unsafe fn equals(self, o: Self) -> u32 {
                unsafe { $equals(self.0, o.0) }
            }
            #[inline(always)]
            unsafe fn neg(self) -> Self {
                unsafe { $V($xor(self.0, $set1(-0.0))) }
            }
            #[inline(always)]
            unsafe fn div(self, o: Self) -> Self {
                unsafe { $V($div(self.0, o.0)) }
            }
            #[inline(always)]
            unsafe fn deinterleave(a: Self, b: Self) -> (Self, Self) {
                unsafe { $de(a.0, b.0) }
            }
            #[inline(always)]
            unsafe fn interleave(re: Self, im: Self) -> (Self, Self) {
                unsafe { $inter(re.0, im.0) }
            }
            const SIDE: usize = 32 / size_of::<$T>();
            #[inline(always)]
            unsafe fn square(src: [*const $T; 8], dst: [*mut $T; 8]) {
                unsafe { $square(src, dst) }
            }
            #[inline(always)]
            unsafe fn half_square(src: [*const $T; 4], dst: [*mut $T; 4]) {
                unsafe { $half(src, dst) }
            }
            #[inline(always)]
            unsafe fn load_range(p: *const $T, from: usize, to: usize) -> Self {
                unsafe { $V($maskload(p, range($mask.as_ptr().cast(), $lanes, from, to))) }
            }
            #[inline(always)]
            #[allow(clippy::missing_transmute_annotations)]
            unsafe fn keep(self, from: usize, to: usize) -> Self {
                unsafe {
                    let mask = range($mask.as_ptr().cast(), $lanes, from, to);
                    $V($and(self.0, core::mem::transmute::<__m256i, _>(mask)))
                }
            }
            #[inline(always)]
            unsafe fn swap_pairs(self) -> Self {
                unsafe { $V($swap(self.0)) }
            }
        }
    };
}

#[inline(always)]
#[allow(clippy::undocumented_unsafe_blocks)]
unsafe fn largest32(v: __m256) -> f32 {
    unsafe {
        let x = _mm_max_ps(_mm256_castps256_ps128(v), _mm256_extractf128_ps::<1>(v));
        let x = _mm_max_ps(x, _mm_movehl_ps(x, x));
        _mm_cvtss_f32(_mm_max_ss(x, _mm_shuffle_ps::<1>(x, x)))
    }
}
#[inline(always)]
#[allow(clippy::undocumented_unsafe_blocks)]
unsafe fn largest64(v: __m256d) -> f64 {
    unsafe {
        let x = _mm_max_pd(_mm256_castpd256_pd128(v), _mm256_extractf128_pd::<1>(v));
        _mm_cvtsd_f64(_mm_max_sd(x, _mm_unpackhi_pd(x, x)))
    }
}
#[inline(always)]
#[allow(clippy::undocumented_unsafe_blocks)]
unsafe fn equals32(a: __m256, b: __m256) -> u32 {
    unsafe { _mm256_movemask_ps(_mm256_cmp_ps::<_CMP_EQ_OQ>(a, b)) as u32 }
}
#[inline(always)]
#[allow(clippy::undocumented_unsafe_blocks)]
unsafe fn equals64(a: __m256d, b: __m256d) -> u32 {
    unsafe { _mm256_movemask_pd(_mm256_cmp_pd::<_CMP_EQ_OQ>(a, b)) as u32 }
}
/// The mask of lanes from..to, out of a table of `lanes` lanes of ones and as many of zeros.
#[inline(always)]
#[allow(clippy::undocumented_unsafe_blocks)]
unsafe fn range(table: *const u8, lanes: usize, from: usize, to: usize) -> __m256i {
    unsafe {
        let before = _mm256_loadu_si256(table.add((lanes - from) * (32 / lanes)).cast());
        let until = _mm256_loadu_si256(table.add((lanes - to) * (32 / lanes)).cast());
        _mm256_andnot_si256(before, until)
    }
}
// Stores of what is left in halves of halves: a masked store costs a dozen cycles on AMD's cores.
#[inline(always)]
#[allow(clippy::undocumented_unsafe_blocks)]
unsafe fn store_first32(v: __m256, mut p: *mut f32, n: usize) {
    unsafe {
        let mut x = _mm256_castps256_ps128(v);
        if n & 4 != 0 {
            _mm_storeu_ps(p, x);
            x = _mm256_extractf128_ps::<1>(v);
            p = p.add(4);
        }
        if n & 2 != 0 {
            _mm_storel_pd(p.cast(), _mm_castps_pd(x));
            x = _mm_movehl_ps(x, x);
            p = p.add(2);
        }
        if n & 1 != 0 {
            _mm_store_ss(p, x);
        }
    }
}
#[inline(always)]
#[allow(clippy::undocumented_unsafe_blocks)]
unsafe fn store_first64(v: __m256d, mut p: *mut f64, n: usize) {
    unsafe {
        let mut x = _mm256_castpd256_pd128(v);
        if n & 2 != 0 {
            _mm_storeu_pd(p, x);
            x = _mm256_extractf128_pd::<1>(v);
            p = p.add(2);
        }
        if n & 1 != 0 {
            _mm_store_sd(p, x);
        }
    }
}
#[inline(always)]
#[allow(clippy::undocumented_unsafe_blocks)]
unsafe fn reload_first32(p: *const f32, n: usize) -> __m256 {
    unsafe {
        let rest = p.wrapping_add(n & 4);
        let mut x = _mm_setzero_ps();
        if n & 2 != 0 {
            x = _mm_castpd_ps(_mm_load_sd(rest.cast()));
            if n & 1 != 0 {
                x = _mm_movelh_ps(x, _mm_load_ss(rest.add(2)));
            }
        } else if n & 1 != 0 {
            x = _mm_load_ss(rest);
        }
        if n & 4 != 0 { _mm256_set_m128(x, _mm_loadu_ps(p)) } else { _mm256_zextps128_ps256(x) }
    }
}
#[inline(always)]
#[allow(clippy::undocumented_unsafe_blocks)]
unsafe fn reload_first64(p: *const f64, n: usize) -> __m256d {
    unsafe {
        let mut x = _mm_setzero_pd();
        if n & 1 != 0 {
            x = _mm_load_sd(p.wrapping_add(n & 2));
        }
        if n & 2 != 0 { _mm256_set_m128d(x, _mm_loadu_pd(p)) } else { _mm256_zextpd128_pd256(x) }
    }
}
// Four sums at once: the same additions as `sum32` and `sum64`, in lanes of one register.
#[inline(always)]
#[allow(clippy::undocumented_unsafe_blocks)]
pub unsafe fn sum4_32(a: __m256, b: __m256, c: __m256, d: __m256) -> [f32; 4] {
    unsafe {
        let ab = _mm256_add_ps(_mm256_permute2f128_ps::<0x20>(a, b), _mm256_permute2f128_ps::<0x31>(a, b));
        let cd = _mm256_add_ps(_mm256_permute2f128_ps::<0x20>(c, d), _mm256_permute2f128_ps::<0x31>(c, d));
        let two = _mm256_add_ps(_mm256_shuffle_ps::<0x44>(ab, cd), _mm256_shuffle_ps::<0xee>(ab, cd));
        let one = _mm256_add_ps(two, _mm256_movehdup_ps(two));
        let (ac, bd) = (_mm256_castps256_ps128(one), _mm256_extractf128_ps::<1>(one));
        let all = _mm_unpacklo_ps(_mm_shuffle_ps::<0x88>(ac, ac), _mm_shuffle_ps::<0x88>(bd, bd));
        core::mem::transmute::<__m128, [f32; 4]>(all)
    }
}
#[inline(always)]
#[allow(clippy::undocumented_unsafe_blocks)]
pub unsafe fn sum4_64(a: __m256d, b: __m256d, c: __m256d, d: __m256d) -> [f64; 4] {
    unsafe {
        let ac = _mm256_add_pd(_mm256_permute2f128_pd::<0x20>(a, c), _mm256_permute2f128_pd::<0x31>(a, c));
        let bd = _mm256_add_pd(_mm256_permute2f128_pd::<0x20>(b, d), _mm256_permute2f128_pd::<0x31>(b, d));
        let all = _mm256_add_pd(_mm256_unpacklo_pd(ac, bd), _mm256_unpackhi_pd(ac, bd));
        core::mem::transmute::<__m256d, [f64; 4]>(all)
    }
}

// SAFETY of the functions below: as above.
#[inline(always)]
#[allow(clippy::undocumented_unsafe_blocks)]
pub unsafe fn sum32(v: __m256) -> f32 {
    unsafe {
        let x = _mm_add_ps(_mm256_castps256_ps128(v), _mm256_extractf128_ps::<1>(v));
        let x = _mm_add_ps(x, _mm_movehl_ps(x, x));
        _mm_cvtss_f32(_mm_add_ss(x, _mm_shuffle_ps::<1>(x, x)))
    }
}
#[inline(always)]
#[allow(clippy::undocumented_unsafe_blocks)]
pub unsafe fn sum64(v: __m256d) -> f64 {
    unsafe {
        let x = _mm_add_pd(_mm256_castpd256_pd128(v), _mm256_extractf128_pd::<1>(v));
        _mm_cvtsd_f64(_mm_add_sd(x, _mm_unpackhi_pd(x, x)))
    }
}
#[inline(always)]
#[allow(clippy::undocumented_unsafe_blocks)]
unsafe fn squares32(v: F32x8, [a, b]: [F64x4; 2]) -> [F64x4; 2] {
    unsafe {
        let low = F64x4(_mm256_cvtps_pd(_mm256_castps256_ps128(v.0)));
        let high = F64x4(_mm256_cvtps_pd(_mm256_extractf128_ps::<1>(v.0)));
        [low.mul_add(low, a), high.mul_add(high, b)]
    }
}
#[inline(always)]
#[allow(clippy::undocumented_unsafe_blocks)]
unsafe fn squares64(v: F64x4, [a, b]: [F64x4; 2]) -> [F64x4; 2] {
    // In turn, so that neither waits for the other.
    unsafe { [b, v.mul_add(v, a)] }
}
// Shuffles stay inside 128-bit halves: the order of lanes is not that of memory, and interleaving restores it.
#[inline(always)]
#[allow(clippy::undocumented_unsafe_blocks)]
unsafe fn deinterleave32(a: __m256, b: __m256) -> (F32x8, F32x8) {
    unsafe { (F32x8(_mm256_shuffle_ps::<0x88>(a, b)), F32x8(_mm256_shuffle_ps::<0xdd>(a, b))) }
}
#[inline(always)]
#[allow(clippy::undocumented_unsafe_blocks)]
unsafe fn interleave32(re: __m256, im: __m256) -> (F32x8, F32x8) {
    unsafe { (F32x8(_mm256_unpacklo_ps(re, im)), F32x8(_mm256_unpackhi_ps(re, im))) }
}
#[inline(always)]
#[allow(clippy::undocumented_unsafe_blocks)]
unsafe fn interleave64(re: __m256d, im: __m256d) -> (F64x4, F64x4) {
    // Its own inverse.
    unsafe { (F64x4(_mm256_unpacklo_pd(re, im)), F64x4(_mm256_unpackhi_pd(re, im))) }
}

/// Pairs of rows four apart share a register, one in each half; what is left is a 4x4 transposition in each half.
#[inline(always)]
#[allow(clippy::undocumented_unsafe_blocks)]
pub unsafe fn square32(src: [*const f32; 8], dst: [*mut f32; 8]) {
    unsafe {
        for at in [0, 4] {
            macro_rules! rows {
                ($l:literal) => {
                    _mm256_insertf128_ps::<1>(
                        _mm256_castps128_ps256(_mm_loadu_ps(src[$l].wrapping_add(at))),
                        _mm_loadu_ps(src[$l + 4].wrapping_add(at)),
                    )
                };
            }
            let (r0, r1, r2, r3) = (rows!(0), rows!(1), rows!(2), rows!(3));
            let (a, b) = (_mm256_unpacklo_ps(r0, r1), _mm256_unpacklo_ps(r2, r3));
            let (c, d) = (_mm256_unpackhi_ps(r0, r1), _mm256_unpackhi_ps(r2, r3));
            _mm256_storeu_ps(dst[at], _mm256_shuffle_ps::<0x44>(a, b));
            _mm256_storeu_ps(dst[at + 1], _mm256_shuffle_ps::<0xee>(a, b));
            _mm256_storeu_ps(dst[at + 2], _mm256_shuffle_ps::<0x44>(c, d));
            _mm256_storeu_ps(dst[at + 3], _mm256_shuffle_ps::<0xee>(c, d));
        }
    }
}
#[inline(always)]
#[allow(clippy::undocumented_unsafe_blocks)]
pub unsafe fn square64(src: [*const f64; 8], dst: [*mut f64; 8]) {
    unsafe {
        for at in [0, 2] {
            macro_rules! rows {
                ($l:literal) => {
                    _mm256_insertf128_pd::<1>(
                        _mm256_castpd128_pd256(_mm_loadu_pd(src[$l].wrapping_add(at))),
                        _mm_loadu_pd(src[$l + 2].wrapping_add(at)),
                    )
                };
            }
            let (r0, r1) = (rows!(0), rows!(1));
            _mm256_storeu_pd(dst[at], _mm256_unpacklo_pd(r0, r1));
            _mm256_storeu_pd(dst[at + 1], _mm256_unpackhi_pd(r0, r1));
        }
    }
}
#[inline(always)]
#[allow(clippy::undocumented_unsafe_blocks)]
pub unsafe fn half_square32(src: [*const f32; 4], dst: [*mut f32; 4]) {
    unsafe {
        let (r0, r1, r2, r3) = (_mm_loadu_ps(src[0]), _mm_loadu_ps(src[1]), _mm_loadu_ps(src[2]), _mm_loadu_ps(src[3]));
        let (a, b) = (_mm_unpacklo_ps(r0, r1), _mm_unpacklo_ps(r2, r3));
        let (c, d) = (_mm_unpackhi_ps(r0, r1), _mm_unpackhi_ps(r2, r3));
        _mm_storeu_ps(dst[0], _mm_movelh_ps(a, b));
        _mm_storeu_ps(dst[1], _mm_movehl_ps(b, a));
        _mm_storeu_ps(dst[2], _mm_movelh_ps(c, d));
        _mm_storeu_ps(dst[3], _mm_movehl_ps(d, c));
    }
}
#[inline(always)]
#[allow(clippy::undocumented_unsafe_blocks)]
pub unsafe fn half_square64(src: [*const f64; 4], dst: [*mut f64; 4]) {
    unsafe {
        let (r0, r1) = (_mm_loadu_pd(src[0]), _mm_loadu_pd(src[1]));
        _mm_storeu_pd(dst[0], _mm_unpacklo_pd(r0, r1));
        _mm_storeu_pd(dst[1], _mm_unpackhi_pd(r0, r1));
    }
}

avx2! {
    F32x8, f32, 8, mask FIRST32,
    _mm256_setzero_ps _mm256_set1_ps _mm256_loadu_ps _mm256_storeu_ps _mm256_maskload_ps
    _mm256_add_ps _mm256_sub_ps _mm256_mul_ps _mm256_div_ps _mm256_fmadd_ps _mm256_fnmadd_ps _mm256_max_ps
    _mm256_andnot_ps _mm256_xor_ps,
    sum sum32, squares squares32, deinterleave deinterleave32, interleave interleave32,
    store_first store_first32 reload_first32, and _mm256_and_ps, swap _mm256_permute_ps::<0xb1>, sum4 sum4_32,
    largest largest32, equals equals32, square square32 half_square32
}
avx2! {
    F64x4, f64, 4, mask FIRST64,
    _mm256_setzero_pd _mm256_set1_pd _mm256_loadu_pd _mm256_storeu_pd _mm256_maskload_pd
    _mm256_add_pd _mm256_sub_pd _mm256_mul_pd _mm256_div_pd _mm256_fmadd_pd _mm256_fnmadd_pd _mm256_max_pd
    _mm256_andnot_pd _mm256_xor_pd,
    sum sum64, squares squares64, deinterleave interleave64, interleave interleave64,
    store_first store_first64 reload_first64, and _mm256_and_pd, swap _mm256_permute_pd::<0x5>, sum4 sum4_64,
    largest largest64, equals equals64, square square64 half_square64
}

/// Half precision by F16C, which every CPU with AVX2 has.
pub struct F16c;

// Sound by the contract of the trait: LANES elements on both sides.
#[allow(clippy::undocumented_unsafe_blocks)]
impl super::fold::Halves for F16c {
    #[inline(always)]
    unsafe fn widen(src: *const u16, dst: &mut [f32; super::fold::LANES]) {
        let mut i = 0;
        while i < super::fold::LANES {
            unsafe {
                let half = _mm_loadu_si128(src.add(i).cast());
                _mm256_storeu_ps(dst.as_mut_ptr().add(i), _mm256_cvtph_ps(half));
            }
            i += 8;
        }
    }
    #[inline(always)]
    unsafe fn narrow(src: &[f32; super::fold::LANES], dst: *mut u16) {
        let mut i = 0;
        while i < super::fold::LANES {
            unsafe {
                let half = _mm256_cvtps_ph::<_MM_FROUND_TO_NEAREST_INT>(_mm256_loadu_ps(src.as_ptr().add(i)));
                _mm_storeu_si128(dst.add(i).cast(), half);
            }
            i += 8;
        }
    }
}

// As above; the table has as many lanes as a register.
#[allow(clippy::undocumented_unsafe_blocks)]
impl GroupSimd for F32x8 {
    type Pick = __m256i;
    #[inline(always)]
    unsafe fn pick(group: usize, i: usize) -> __m256i {
        static LANES: [i32; 8] = [0, 1, 2, 3, 4, 5, 6, 7];
        unsafe {
            let first =
                _mm256_andnot_si256(_mm256_set1_epi32(group as i32 - 1), _mm256_loadu_si256(LANES.as_ptr().cast()));
            _mm256_add_epi32(first, _mm256_set1_epi32(i as i32))
        }
    }
    #[inline(always)]
    unsafe fn picked(self, pick: __m256i) -> Self {
        unsafe { F32x8(_mm256_permutevar8x32_ps(self.0, pick)) }
    }
}

kernel_table! {
    /// The table of AVX2 with FMA.
    #[target_feature(enable = "avx2,fma,f16c")]
    pub static AVX2 = "avx2";
    // type: vector, vectors and columns of the register tile, kc
    f32: F32x8, 2, 6, 384;
    f64: F64x4, 2, 6, 256;
    c32: Split<F32x8>, 1, 5, 256;
    c64: Split<F64x4>, 1, 5, 192;
    halves: F16c;
    narrow: None;
}
