//! AVX-512 (F, BW, DQ, VL): 32 registers of 512 bits, masks for what is left over.
//!
//! Register tiles: 24 accumulators. 48x8 (f32) and 24x8 (f64) need 3 loads and 8 broadcasts for 24 multiply-adds; the
//! broadcasts fold into the instruction's memory operand.

use super::avx2::{F16c, half_square32, half_square64, square32, square64, sum4_32, sum4_64, sum32, sum64};
use super::kernel_table;
use super::simd::{ACROSS, GroupSimd, MOST_COLUMNS, MOST_LANES, RealSimd, Simd, Split, real_transpose};
use super::tile::unrolled;
use core::arch::x86_64::*;

#[derive(Clone, Copy)]
pub struct F32x16(__m512);
#[derive(Clone, Copy)]
pub struct F64x8(__m512d);

macro_rules! avx512 {
    (
        $V:ident, $T:ty, $lanes:literal, mask $Mask:ty,
        $zero:ident $set1:ident $load:ident $store:ident $maskload:ident $maskstore:ident
        $add:ident $sub:ident $mul:ident $div:ident $fmadd:ident $fnmadd:ident $max:ident $abs:ident $xor:ident,
        sum $sum:ident $sum4:ident $sums:ident, squares $squares:ident, deinterleave $de:expr, interleave $inter:expr,
        keep $mov:ident, swap $swap:expr, largest $largest:ident, equals $equals:expr, square $square:ident $half_square:ident,
        columns $permute2:ident $permute1:ident $blend:ident, across $across:ident, half $low:ident $whole:ident $halfload:ident $halffmadd:ident $opaque:ident
    ) => {
        // Sound by the contract of `Simd`: AVX-512 is there, pointers valid for the lanes used; masked lanes are not
        // accessed.
        #[allow(clippy::undocumented_unsafe_blocks)]
        impl Simd for $V {
            type T = $T;
            const LANES: usize = $lanes;
            const MASKS_ARE_FREE: bool = true;
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
                unsafe { $V($maskload(((1u32 << n) - 1) as $Mask, p)) }
            }
            #[inline(always)]
            unsafe fn store_first(self, p: *mut $T, n: usize) {
                unsafe { $maskstore(p, ((1u32 << n) - 1) as $Mask, self.0) }
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
            // A register of 256 bits: Zen 4 does two of them in the time of one of 512.
            const HALVES: bool = true;
            #[inline(always)]
            unsafe fn load_first_half(p: *const $T, n: usize) -> Self {
                unsafe { $V($whole($halfload(((1u32 << n) - 1) as u8, p))) }
            }
            #[inline(always)]
            unsafe fn splat_for_halves(x: $T) -> Self {
                unsafe { $V($opaque($set1(x))) }
            }
            #[inline(always)]
            unsafe fn mul_add_half(self, b: Self, c: Self) -> Self {
                unsafe { $V($whole($halffmadd($low(self.0), $low(b.0), $low(c.0)))) }
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
            #[inline(always)]
            unsafe fn put_across<const N: usize, const WHOLE: bool>(
                v: [Self; ACROSS],
                rows: usize,
                alpha: $T,
                beta: $T,
                c: *mut $T,
                cs: isize,
            ) {
                unsafe { $across::<N, WHOLE>(v, rows, alpha, beta, c, cs) }
            }
            const SUMS: bool = true;
            #[inline(always)]
            unsafe fn sums(all: [Self; MOST_LANES]) -> Self {
                unsafe { $V($sums(all)) }
            }
            real_transpose!();
        }
        // As above.
        #[allow(clippy::undocumented_unsafe_blocks)]
        impl RealSimd for $V {
            const PAST: bool = true;
            #[inline(always)]
            unsafe fn store_past(self, p: *mut $T) {
                unsafe { _mm512_stream_si512(p.cast(), core::mem::transmute::<Self, __m512i>(self)) }
            }
            #[inline(always)]
            fn settle() {
                unsafe { _mm_sfence() }
            }
            type Wide = F64x8;
            #[inline(always)]
            unsafe fn add_squares(self, acc: [F64x8; 2]) -> [F64x8; 2] {
                unsafe { $squares(self, acc) }
            }
            #[inline(always)]
            unsafe fn abs(self) -> Self {
                unsafe { $V($abs(self.0)) }
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
                unsafe { $equals(self.0, o.0) as u32 }
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
                unsafe { $half_square(src, dst) }
            }
            #[inline(always)]
            unsafe fn load_range(p: *const $T, from: usize, to: usize) -> Self {
                unsafe { $V($maskload(((1u32 << to) - (1u32 << from)) as $Mask, p)) }
            }
            #[inline(always)]
            unsafe fn keep(self, from: usize, to: usize) -> Self {
                unsafe { $V($mov(((1u32 << to) - (1u32 << from)) as $Mask, self.0)) }
            }
            #[inline(always)]
            unsafe fn swap_pairs(self) -> Self {
                unsafe { $V($swap(self.0)) }
            }
            const COLUMNS: bool = true;
            #[inline(always)]
            unsafe fn columns<const N: usize>(rows: [Self; MOST_COLUMNS]) -> [Self; MOST_COLUMNS] {
                let mut columns = rows;
                unsafe {
                    unrolled!(N, |c| {
                        let at = _mm512_loadu_si512(Places::<$lanes, N>::AT[c % MOST_COLUMNS].as_ptr().cast());
                        let from = Places::<$lanes, N>::FROM[c % MOST_COLUMNS];
                        let mut column = $permute2(rows[0].0, at, rows[1].0);
                        unrolled!(PAIRS, |q| {
                            if q > 0 && 2 * q + 1 < N {
                                let more =
                                    $permute2(rows[2 * q % MOST_COLUMNS].0, at, rows[(2 * q + 1) % MOST_COLUMNS].0);
                                column = $blend(from[q % PAIRS] as $Mask, column, more);
                            } else if q > 0 && 2 * q < N {
                                column = $permute1(column, from[q % PAIRS] as $Mask, at, rows[2 * q % MOST_COLUMNS].0);
                            }
                        });
                        columns[c % MOST_COLUMNS] = $V(column);
                    });
                }
                columns
            }
        }
    };
}

/// The same register, of which the compiler knows nothing: it would broadcast a number twice, to 256 and to 512 bits.
#[inline]
#[target_feature(enable = "avx512f")]
fn opaque32(v: __m512) -> __m512 {
    let mut v = v;
    // SAFETY: no instruction at all.
    unsafe { core::arch::asm!("/* {0} */", inout(zmm_reg) v, options(pure, nomem, nostack, preserves_flags)) };
    v
}
#[inline]
#[target_feature(enable = "avx512f")]
fn opaque64(v: __m512d) -> __m512d {
    let mut v = v;
    // SAFETY: as above.
    unsafe { core::arch::asm!("/* {0} */", inout(zmm_reg) v, options(pure, nomem, nostack, preserves_flags)) };
    v
}

// Sums of as many registers as there are lanes: the same additions as below, halves, quarters and so on of several registers in one.
// (Macros: a closure may stay a function, and would be one without the instruction set.)
macro_rules! fold_two {
    ($add:ident, $shuffle:ident, $low:literal $high:literal, $a:expr, $b:expr) => {{
        let (a, b) = ($a, $b);
        $add($shuffle::<$low>(a, b), $shuffle::<$high>(a, b))
    }};
}
#[inline(always)]
#[allow(clippy::undocumented_unsafe_blocks)]
unsafe fn sums32(v: [F32x16; MOST_LANES]) -> __m512 {
    // Of four registers, a quarter each; then in pairs of them.
    macro_rules! quarters {
        ($l:literal) => {{
            let ab = fold_two!(_mm512_add_ps, _mm512_shuffle_f32x4, 0x44 0xee, v[$l].0, v[$l + 4].0);
            let cd = fold_two!(_mm512_add_ps, _mm512_shuffle_f32x4, 0x44 0xee, v[$l + 8].0, v[$l + 12].0);
            fold_two!(_mm512_add_ps, _mm512_shuffle_f32x4, 0x88 0xdd, ab, cd)
        }};
    }
    unsafe {
        let a = fold_two!(_mm512_add_ps, _mm512_shuffle_ps, 0x44 0xee, quarters!(0), quarters!(1));
        let b = fold_two!(_mm512_add_ps, _mm512_shuffle_ps, 0x44 0xee, quarters!(2), quarters!(3));
        fold_two!(_mm512_add_ps, _mm512_shuffle_ps, 0x88 0xdd, a, b)
    }
}
#[inline(always)]
#[allow(clippy::undocumented_unsafe_blocks)]
unsafe fn sums64(v: [F64x8; MOST_LANES]) -> __m512d {
    macro_rules! quarters {
        ($l:literal) => {{
            let ab = fold_two!(_mm512_add_pd, _mm512_shuffle_f64x2, 0x44 0xee, v[$l].0, v[$l + 2].0);
            let cd = fold_two!(_mm512_add_pd, _mm512_shuffle_f64x2, 0x44 0xee, v[$l + 4].0, v[$l + 6].0);
            fold_two!(_mm512_add_pd, _mm512_shuffle_f64x2, 0x88 0xdd, ab, cd)
        }};
    }
    unsafe { fold_two!(_mm512_add_pd, _mm512_shuffle_pd, 0x00 0xff, quarters!(0), quarters!(1)) }
}

// Sums: both halves added, then as a register of 256 bits; one and four at once in the same order.
macro_rules! sums {
    ($one:ident $four:ident $fold:ident, $T:ty, $R:ty, $H:ty, $low:ident $high:ident $add:ident $sum:ident $sum4:ident) => {
        #[inline(always)]
        #[allow(clippy::undocumented_unsafe_blocks)]
        unsafe fn $fold(v: $R) -> $H {
            unsafe { $add($low(v), $high::<1>(v)) }
        }
        #[inline(always)]
        #[allow(clippy::undocumented_unsafe_blocks)]
        unsafe fn $one(v: $R) -> $T {
            unsafe { $sum($fold(v)) }
        }
        #[inline(always)]
        #[allow(clippy::undocumented_unsafe_blocks)]
        unsafe fn $four(a: $R, b: $R, c: $R, d: $R) -> [$T; 4] {
            unsafe { $sum4($fold(a), $fold(b), $fold(c), $fold(d)) }
        }
    };
}
sums!(total32 total4_32 fold32, f32, __m512, __m256, _mm512_castps512_ps256 _mm512_extractf32x8_ps _mm256_add_ps sum32 sum4_32);
sums!(total64 total4_64 fold64, f64, __m512d, __m256d, _mm512_castpd512_pd256 _mm512_extractf64x4_pd _mm256_add_pd sum64 sum4_64);

// Lanes as lines (see `Simd::put_across`): pairs of registers are shuffled until each holds lines, a whole one or two halves. All of C is
// read before anything is written. Lines that are not wanted are left out: an empty mask would do, too, but where no memory is, the CPU
// has to suppress a fault.
macro_rules! put_lines {
    ($lines:expr, $alpha:ident $beta:ident, |$l:ident, $x:ident| $old:expr, $store:expr, $set1:ident $mul:ident $fmadd:ident) => {{
        let mut lines = $lines;
        // Written out: an array that is gone through lives in memory.
        macro_rules! each {
            (|$i:ident| $body:expr) => {
                each!(@ $i, $body, 0 1 2 3 4 5 6 7)
            };
            (@ $i:ident, $body:expr, $n0:literal $n1:literal $n2:literal $n3:literal $n4:literal $n5:literal $n6:literal $n7:literal) => {
                each!(% $i, $body, $n0); each!(% $i, $body, $n1); each!(% $i, $body, $n2); each!(% $i, $body, $n3);
                each!(% $i, $body, $n4); each!(% $i, $body, $n5); each!(% $i, $body, $n6); each!(% $i, $body, $n7);
            };
            (% $i:ident, $body:expr, $n:literal) => {{
                let $i: usize = $n;
                $body
            }};
        }
        let (alpha, beta) = ($set1($alpha), $set1($beta));
        if $beta == 0.0 {
            each!(|$l| lines[$l] = $mul(lines[$l], alpha));
        } else if $beta == 1.0 {
            each!(|$l| lines[$l] = $fmadd(lines[$l], alpha, $old));
        } else {
            each!(|$l| lines[$l] = $fmadd(lines[$l], alpha, $mul($old, beta)));
        }
        each!(|$l| {
            let $x = lines[$l];
            $store
        });
    }};
}
#[inline(always)]
#[allow(clippy::undocumented_unsafe_blocks)]
unsafe fn across64<const N: usize, const WHOLE: bool>(
    v: [F64x8; ACROSS],
    rows: usize,
    alpha: f64,
    beta: f64,
    c: *mut f64,
    cs: isize,
) {
    unsafe {
        macro_rules! four {
            ($unpack:ident) => {{
                let (a, b) = ($unpack(v[0].0, v[1].0), $unpack(v[2].0, v[3].0));
                let (c, d) = ($unpack(v[4].0, v[5].0), $unpack(v[6].0, v[7].0));
                let (e, f) = (_mm512_shuffle_f64x2::<0x88>(a, b), _mm512_shuffle_f64x2::<0x88>(c, d));
                let (g, h) = (_mm512_shuffle_f64x2::<0xdd>(a, b), _mm512_shuffle_f64x2::<0xdd>(c, d));
                [
                    _mm512_shuffle_f64x2::<0x88>(e, f),
                    _mm512_shuffle_f64x2::<0x88>(g, h),
                    _mm512_shuffle_f64x2::<0xdd>(e, f),
                    _mm512_shuffle_f64x2::<0xdd>(g, h),
                ]
            }};
        }
        let ([l0, l2, l4, l6], [l1, l3, l5, l7]) = (four!(_mm512_unpacklo_pd), four!(_mm512_unpackhi_pd));
        let mask = ((1u32 << N) - 1) as __mmask8;
        let at = |l: usize| c.wrapping_offset(l as isize * cs);
        macro_rules! old {
            ($l:expr) => {
                if WHOLE || $l < rows { _mm512_maskz_loadu_pd(mask, at($l)) } else { _mm512_setzero_pd() }
            };
        }
        macro_rules! put {
            ($l:expr, $x:expr) => {
                if WHOLE || $l < rows {
                    _mm512_mask_storeu_pd(at($l), mask, $x);
                }
            };
        }
        put_lines!(
            [l0, l1, l2, l3, l4, l5, l6, l7], alpha beta,
            |l, x| old!(l), put!(l, x),
            _mm512_set1_pd _mm512_mul_pd _mm512_fmadd_pd
        );
    }
}
#[inline(always)]
#[allow(clippy::undocumented_unsafe_blocks)]
unsafe fn across32<const N: usize, const WHOLE: bool>(
    v: [F32x16; ACROSS],
    rows: usize,
    alpha: f32,
    beta: f32,
    c: *mut f32,
    cs: isize,
) {
    unsafe {
        // In each quarter q, four elements of line 4q + r: of the first four registers and of the others.
        macro_rules! quarters {
            ($l:literal) => {{
                let (a, b) = (_mm512_unpacklo_ps(v[$l].0, v[$l + 1].0), _mm512_unpacklo_ps(v[$l + 2].0, v[$l + 3].0));
                let (c, d) = (_mm512_unpackhi_ps(v[$l].0, v[$l + 1].0), _mm512_unpackhi_ps(v[$l + 2].0, v[$l + 3].0));
                [
                    _mm512_shuffle_ps::<0x44>(a, b),
                    _mm512_shuffle_ps::<0xee>(a, b),
                    _mm512_shuffle_ps::<0x44>(c, d),
                    _mm512_shuffle_ps::<0xee>(c, d),
                ]
            }};
        }
        let (first, others) = (quarters!(0), quarters!(4));
        // Lines r and r + 4, and r + 8 and r + 12.
        let low = _mm512_setr_epi64(0, 1, 8, 9, 2, 3, 10, 11);
        let high = _mm512_setr_epi64(4, 5, 12, 13, 6, 7, 14, 15);
        macro_rules! two {
            ($r:literal, $of:ident) => {{
                let (a, b) = (_mm512_castps_pd(first[$r]), _mm512_castps_pd(others[$r]));
                _mm512_castpd_ps(_mm512_permutex2var_pd(a, $of, b))
            }};
        }
        let mask = ((1u32 << N) - 1) as __mmask8;
        let at = |l: usize| c.wrapping_offset(l as isize * cs);
        macro_rules! old {
            ($l:expr) => {
                if WHOLE || $l < rows { _mm256_maskz_loadu_ps(mask, at($l)) } else { _mm256_setzero_ps() }
            };
        }
        macro_rules! put {
            ($l:expr, $x:expr) => {
                if WHOLE || $l < rows {
                    _mm256_mask_storeu_ps(at($l), mask, $x);
                }
            };
        }
        let line = |i: usize| i % 4 + i / 4 * 8;
        put_lines!(
            [two!(0, low), two!(1, low), two!(2, low), two!(3, low), two!(0, high), two!(1, high), two!(2, high), two!(3, high)],
            alpha beta,
            |i, x| _mm512_insertf32x8::<1>(_mm512_castps256_ps512(old!(line(i))), old!(line(i) + 4)),
            {
                put!(line(i), _mm512_castps512_ps256(x));
                put!(line(i) + 4, _mm512_extractf32x8_ps::<1>(x));
            },
            _mm512_set1_ps _mm512_mul_ps _mm512_fmadd_ps
        );
    }
}

#[inline(always)]
#[allow(clippy::undocumented_unsafe_blocks)]
unsafe fn squares32(v: F32x16, [a, b]: [F64x8; 2]) -> [F64x8; 2] {
    unsafe {
        let low = F64x8(_mm512_cvtps_pd(_mm512_castps512_ps256(v.0)));
        let high = F64x8(_mm512_cvtps_pd(_mm512_extractf32x8_ps::<1>(v.0)));
        [low.mul_add(low, a), high.mul_add(high, b)]
    }
}
#[inline(always)]
#[allow(clippy::undocumented_unsafe_blocks)]
unsafe fn squares64(v: F64x8, [a, b]: [F64x8; 2]) -> [F64x8; 2] {
    // In turn, so that neither waits for the other.
    unsafe { [b, v.mul_add(v, a)] }
}
// Shuffles stay inside 128-bit quarters: the order of lanes is not that of memory, and interleaving restores it.
#[inline(always)]
#[allow(clippy::undocumented_unsafe_blocks)]
unsafe fn deinterleave32(a: __m512, b: __m512) -> (F32x16, F32x16) {
    unsafe { (F32x16(_mm512_shuffle_ps::<0x88>(a, b)), F32x16(_mm512_shuffle_ps::<0xdd>(a, b))) }
}
#[inline(always)]
#[allow(clippy::undocumented_unsafe_blocks)]
unsafe fn interleave32(re: __m512, im: __m512) -> (F32x16, F32x16) {
    unsafe { (F32x16(_mm512_unpacklo_ps(re, im)), F32x16(_mm512_unpackhi_ps(re, im))) }
}
#[inline(always)]
#[allow(clippy::undocumented_unsafe_blocks)]
unsafe fn interleave64(re: __m512d, im: __m512d) -> (F64x8, F64x8) {
    // Its own inverse.
    unsafe { (F64x8(_mm512_unpacklo_pd(re, im)), F64x8(_mm512_unpackhi_pd(re, im))) }
}

/// Twos of registers that rows are in, at most.
const PAIRS: usize = MOST_COLUMNS / 2;

/// Of rows of N elements in registers of LANES, one behind the other: for each column, which element of two registers a lane takes
/// (for 512 bits, each place as wide as an element), and for each two registers, which lanes take theirs from those.
struct Places<const LANES: usize, const N: usize>;

impl<const LANES: usize, const N: usize> Places<LANES, N> {
    const AT: [[u64; 8]; MOST_COLUMNS] = {
        let mut at = [[0; 8]; MOST_COLUMNS];
        let mut i = 0;
        while i < N * LANES {
            let (c, l) = (i / LANES, i % LANES);
            let place = ((l * N + c) % (2 * LANES)) as u64;
            // Two places of 32 bits, or one of 64.
            at[c][l * 8 / LANES] |= place << (32 * (l % (LANES / 8)));
            i += 1;
        }
        at
    };
    const FROM: [[u16; PAIRS]; MOST_COLUMNS] = {
        let mut from = [[0; PAIRS]; MOST_COLUMNS];
        let mut i = 0;
        while i < N * LANES {
            let (c, l) = (i / LANES, i % LANES);
            from[c][(l * N + c) / (2 * LANES)] |= 1 << l;
            i += 1;
        }
        from
    };
}

avx512! {
    F32x16, f32, 16, mask __mmask16,
    _mm512_setzero_ps _mm512_set1_ps _mm512_loadu_ps _mm512_storeu_ps _mm512_maskz_loadu_ps _mm512_mask_storeu_ps
    _mm512_add_ps _mm512_sub_ps _mm512_mul_ps _mm512_div_ps _mm512_fmadd_ps _mm512_fnmadd_ps _mm512_max_ps
    _mm512_abs_ps _mm512_xor_ps,
    sum total32 total4_32 sums32, squares squares32, deinterleave deinterleave32, interleave interleave32,
    keep _mm512_maskz_mov_ps, swap _mm512_permute_ps::<0xb1>, largest _mm512_reduce_max_ps,
    equals _mm512_cmp_ps_mask::<_CMP_EQ_OQ>, square square32 half_square32,
    columns _mm512_permutex2var_ps _mm512_mask_permutexvar_ps _mm512_mask_blend_ps, across across32, half _mm512_castps512_ps256 _mm512_castps256_ps512 _mm256_maskz_loadu_ps _mm256_fmadd_ps opaque32
}
avx512! {
    F64x8, f64, 8, mask __mmask8,
    _mm512_setzero_pd _mm512_set1_pd _mm512_loadu_pd _mm512_storeu_pd _mm512_maskz_loadu_pd _mm512_mask_storeu_pd
    _mm512_add_pd _mm512_sub_pd _mm512_mul_pd _mm512_div_pd _mm512_fmadd_pd _mm512_fnmadd_pd _mm512_max_pd
    _mm512_abs_pd _mm512_xor_pd,
    sum total64 total4_64 sums64, squares squares64, deinterleave interleave64, interleave interleave64,
    keep _mm512_maskz_mov_pd, swap _mm512_permute_pd::<0x55>, largest _mm512_reduce_max_pd,
    equals _mm512_cmp_pd_mask::<_CMP_EQ_OQ>, square square64 half_square64,
    columns _mm512_permutex2var_pd _mm512_mask_permutexvar_pd _mm512_mask_blend_pd, across across64, half _mm512_castpd512_pd256 _mm512_castpd256_pd512 _mm256_maskz_loadu_pd _mm256_fmadd_pd opaque64
}

// As above; the table has as many lanes as a register.
#[allow(clippy::undocumented_unsafe_blocks)]
impl GroupSimd for F32x16 {
    const PAIRS: bool = true;
    type Pick = __m512i;
    #[inline(always)]
    unsafe fn pick(group: usize, i: usize) -> __m512i {
        static LANES: [i32; 16] = [0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15];
        unsafe {
            let first =
                _mm512_andnot_si512(_mm512_set1_epi32(group as i32 - 1), _mm512_loadu_si512(LANES.as_ptr().cast()));
            _mm512_add_epi32(first, _mm512_set1_epi32(i as i32))
        }
    }
    #[inline(always)]
    unsafe fn picked(self, pick: __m512i) -> Self {
        unsafe { F32x16(_mm512_permutexvar_ps(pick, self.0)) }
    }
}

kernel_table! {
    /// The table of AVX-512.
    #[target_feature(enable = "avx2,fma,f16c,avx512f,avx512bw,avx512dq,avx512vl")]
    pub static AVX512 = "avx512";
    // type: vector, vectors and columns of the register tile, kc
    f32: F32x16, 3, 8, 384;
    f64: F64x8, 3, 8, 256;
    c32: Split<F32x16>, 2, 6, 256;
    c64: Split<F64x8>, 2, 6, 192;
    halves: F16c;
    // Zen 4, daxpy of 10^6 and 3 10^6 in registers of 512 and of 256 bits: 7.6 and 9.1, 2.8 and 3.3 GFLOPS.
    narrow: Some(&crate::kernels::avx2::AVX2);
}
