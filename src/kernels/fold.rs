//! Folding several vectors into one, element by element: the arithmetic of the collectives.
//!
//! `dst[i] := post * (pre*src[0][i] ∘ pre*src[1][i] ∘ …) / parts`, strictly in the order of the sources, for every element
//! type. The order is the promise of the collectives (same bits whoever computes); speed is memory's, so the loops are
//! plain and left to the compiler, which vectorises them under the instruction set of the table. A block of elements stays
//! in the first-level cache while the sources pass by. 16-bit floats are widened to f32 once, folded there and
//! rounded once, to nearest even.
//!
//! Integers: a sum or product wraps around. With an average (`parts`) the sum is exact in 64 bits and the quotient is
//! rounded toward zero. With a factor other than 1 the whole is computed in f64, rounded toward zero, and saturates.

use core::mem::MaybeUninit;

/// Halves that are converted at once.
pub const LANES: usize = 32;

/// Types that a collective can reduce.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[repr(u8)]
pub enum Element {
    F32,
    F64,
    Bf16,
    F16,
    I8,
    U8,
    I32,
    I64,
}

impl Element {
    pub const ALL: [Element; 8] =
        [Element::F32, Element::F64, Element::Bf16, Element::F16, Element::I8, Element::U8, Element::I32, Element::I64];
    pub fn bytes(self) -> usize {
        match self {
            Element::I8 | Element::U8 => 1,
            Element::Bf16 | Element::F16 => 2,
            Element::F32 | Element::I32 => 4,
            Element::F64 | Element::I64 => 8,
        }
    }
    pub fn is_integer(self) -> bool {
        matches!(self, Element::I8 | Element::U8 | Element::I32 | Element::I64)
    }
    pub fn name(self) -> &'static str {
        match self {
            Element::F32 => "f32",
            Element::F64 => "f64",
            Element::Bf16 => "bf16",
            Element::F16 => "f16",
            Element::I8 => "i8",
            Element::U8 => "u8",
            Element::I32 => "i32",
            Element::I64 => "i64",
        }
    }
}

/// What joins two elements. A NaN in any source of a minimum or maximum is the result.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[repr(u8)]
pub enum Join {
    Sum,
    Min,
    Max,
    Product,
}

/// One fold: everything but the data.
#[derive(Clone, Copy, Debug)]
pub struct Fold {
    pub element: Element,
    pub join: Join,
    pub pre: f64,
    pub post: f64,
    /// What the result is divided by: 1, or the number of ranks for an average.
    pub parts: u32,
    /// So many of the first destinations are written past the caches: too large for them, and not read before.
    pub past: usize,
}

/// The element-wise kernels of one instruction set. Contract as for the other kernels: pointers are valid for n
/// elements; a destination may be one of the sources (the same elements) but may not overlap one otherwise.
pub trait FoldKernel: Sync {
    /// Folds `src`, of which there is at least one, into every one of `dst`.
    unsafe fn fold(&self, fold: &Fold, n: usize, src: &[*const u8], dst: &[*mut u8]);
    /// f32 to a 16-bit type (`to`: Bf16 or F16), rounded to nearest even.
    unsafe fn narrow(&self, to: Element, n: usize, src: *const f32, dst: *mut u16);
    /// A 16-bit type to f32.
    unsafe fn widen(&self, from: Element, n: usize, src: *const u16, dst: *mut f32);
    /// Bytes from one place to another that does not overlap it.
    unsafe fn copy(&self, bytes: usize, src: *const u8, dst: *mut u8);
}

/// Bytes that are moved at once.
const LOT: usize = 32;
/// See [`copy_few`].
pub const FEW: usize = 4 * LOT;

/// [`FoldKernel::copy`].
///
/// Without `rep movsb`, which the C library uses for many bytes and which some processors are slow at for some places
/// (`comm::collectives::copy` says which): as fast at all of them. Several lots a turn, or the compiler would see through
/// it and call the C library again.
#[inline(always)]
pub unsafe fn copy(bytes: usize, src: *const u8, dst: *mut u8) {
    let mut at = 0;
    // SAFETY: four lots from `at` on are inside, and in the end what is left.
    unsafe {
        if bytes >= 8 * LOT {
            // Stores at multiples of their size: what precedes the first of them comes with a lot that overlaps it.
            core::ptr::copy_nonoverlapping(src, dst, LOT);
            at = LOT - dst.addr() % LOT;
        }
        while at + 4 * LOT <= bytes {
            let (from, to) = (src.add(at), dst.add(at));
            core::ptr::copy_nonoverlapping(from, to, LOT);
            core::ptr::copy_nonoverlapping(from.add(LOT), to.add(LOT), LOT);
            core::ptr::copy_nonoverlapping(from.add(2 * LOT), to.add(2 * LOT), LOT);
            core::ptr::copy_nonoverlapping(from.add(3 * LOT), to.add(3 * LOT), LOT);
            at += 4 * LOT;
        }
        copy_few(bytes - at, src.add(at), dst.add(at));
    }
}

/// As `copy`, past the caches where the processor can: memory is not read in order to be overwritten, which saves a third
/// of the traffic.
#[inline]
pub unsafe fn copy_past(bytes: usize, src: *const u8, dst: *mut u8) {
    // SAFETY: passed on to the caller.
    unsafe { begin_past(bytes, src, dst) };
    finish_past();
}

/// As `copy_past`, one part of a larger copy. To be followed by [`finish_past`].
#[inline(always)]
unsafe fn begin_past(bytes: usize, src: *const u8, dst: *mut u8) {
    #[cfg(target_arch = "x86_64")]
    // SAFETY: `at` begins a line of the target; a whole line is inside.
    unsafe {
        use core::arch::x86_64::{_mm_loadu_si128, _mm_stream_si128};
        const LINE: usize = 64;
        let mut at = (dst.addr().wrapping_neg() % LINE).min(bytes);
        copy_few(at, src, dst);
        while at + LINE <= bytes {
            let (from, to) = (src.add(at).cast(), dst.add(at).cast());
            _mm_stream_si128(to, _mm_loadu_si128(from));
            _mm_stream_si128(to.add(1), _mm_loadu_si128(from.add(1)));
            _mm_stream_si128(to.add(2), _mm_loadu_si128(from.add(2)));
            _mm_stream_si128(to.add(3), _mm_loadu_si128(from.add(3)));
            at += LINE;
        }
        copy_few(bytes - at, src.add(at), dst.add(at));
    }
    #[cfg(not(target_arch = "x86_64"))]
    // SAFETY: passed on to the caller.
    unsafe {
        copy(bytes, src, dst)
    }
}

/// What went past the caches is ordered before later stores, as other stores are by themselves.
#[inline(always)]
fn finish_past() {
    #[cfg(target_arch = "x86_64")]
    // SAFETY: no arguments.
    unsafe {
        core::arch::x86_64::_mm_sfence()
    };
}

/// As `copy`, fewer than [`FEW`] bytes: without a call, which for so few would take longer than the copy.
#[inline(always)]
pub unsafe fn copy_few(bytes: usize, src: *const u8, dst: *mut u8) {
    /// The first and the last N bytes, which may overlap.
    #[inline(always)]
    unsafe fn ends<const N: usize>(bytes: usize, src: *const u8, dst: *mut u8) {
        // SAFETY: there are N to 2N bytes. The last are read before the first are written.
        unsafe {
            let last = src.add(bytes - N).cast::<[u8; N]>().read();
            core::ptr::copy_nonoverlapping(src, dst, N);
            dst.add(bytes - N).cast::<[u8; N]>().write(last);
        }
    }
    debug_assert!(bytes < FEW);
    // SAFETY: passed on to the caller.
    unsafe {
        match bytes {
            64.. => ends::<64>(bytes, src, dst),
            32.. => ends::<32>(bytes, src, dst),
            16.. => ends::<16>(bytes, src, dst),
            8.. => ends::<8>(bytes, src, dst),
            4.. => ends::<4>(bytes, src, dst),
            2.. => ends::<2>(bytes, src, dst),
            1 => *dst = *src,
            0 => {}
        }
    }
}

/// IEEE half precision by the instructions of an instruction set.
pub trait Halves {
    unsafe fn widen(src: *const u16, dst: &mut [f32; LANES]);
    unsafe fn narrow(src: &[f32; LANES], dst: *mut u16);
}

/// Half precision in integer arithmetic, without branches, so that the compiler can vectorise it.
pub struct SoftHalves;

impl Halves for SoftHalves {
    #[inline(always)]
    unsafe fn widen(src: *const u16, dst: &mut [f32; LANES]) {
        let mut i = 0;
        while i < LANES {
            // SAFETY: the contract of the trait: LANES elements.
            dst[i] = f16_to_f32(unsafe { *src.add(i) });
            i += 1;
        }
    }
    #[inline(always)]
    unsafe fn narrow(src: &[f32; LANES], dst: *mut u16) {
        let mut i = 0;
        while i < LANES {
            // SAFETY: as above.
            unsafe { *dst.add(i) = f16_from_f32(src[i]) };
            i += 1;
        }
    }
}

/// Exact. The exponent is rebased by a multiplication, which also normalises subnormal numbers.
#[inline(always)]
pub fn f16_to_f32(half: u16) -> f32 {
    let shifted = u32::from(half & 0x7fff) << 13;
    let value = f32::from_bits(shifted) * f32::from_bits((254 - 15) << 23);
    // Infinity and NaN: the largest exponent of the one becomes the largest of the other. A NaN becomes a quiet one.
    let special = u32::from(half & 0x7fff >= 0x7c00).wrapping_neg();
    let quiet = u32::from(half & 0x7fff > 0x7c00) << 22;
    let bits = value.to_bits() & !special | (0x7f80_0000 | shifted | quiet) & special;
    f32::from_bits(bits | u32::from(half & 0x8000) << 16)
}

/// To nearest even, as the hardware does it.
#[inline(always)]
pub fn f16_from_f32(value: f32) -> u16 {
    let bits = value.to_bits();
    let sign = (bits >> 16) as u16 & 0x8000;
    let size = bits & 0x7fff_ffff;
    // Normal results: rebase the exponent, add half a unit less the tie bit, cut.
    let odd = size >> 13 & 1;
    let normal = size.wrapping_sub(112 << 23).wrapping_add(0xfff + odd) >> 13;
    // Subnormal results: adding 0.5 lets the f32 unit round at the right bit.
    let small = (f32::from_bits(size) + 0.5).to_bits().wrapping_sub(0.5f32.to_bits());
    // Not finite, or rounds to infinity.
    let nan = u32::from(size > 0x7f80_0000).wrapping_neg();
    let huge = 0x7c00 | nan & (0x200 | size >> 13 & 0x3ff);
    let is_small = u32::from(size < 113 << 23).wrapping_neg();
    let is_huge = u32::from(size >= 0x4780_0000).wrapping_neg();
    let finite = small & is_small | normal & !is_small;
    (finite & !is_huge | huge & is_huge) as u16 | sign
}

#[inline(always)]
pub fn bf16_to_f32(value: u16) -> f32 {
    f32::from_bits(u32::from(value) << 16)
}

/// To nearest even; a NaN stays one.
#[inline(always)]
pub fn bf16_from_f32(value: f32) -> u16 {
    (bf16_bits(value) >> 16) as u16
}

/// The bf16 in the upper half of a word; the lower half is not to be looked at.
#[inline(always)]
fn bf16_bits(value: f32) -> u32 {
    let bits = value.to_bits();
    let rounded = bits.wrapping_add(0x7fff + (bits >> 16 & 1));
    if value.is_nan() { bits | 0x40_0000 } else { rounded }
}

/// What a block is folded in.
trait Number: Copy {
    fn sum(self, o: Self) -> Self;
    fn product(self, o: Self) -> Self;
    fn min(self, o: Self) -> Self;
    fn max(self, o: Self) -> Self;
    fn scaled(self, factor: f64) -> Self;
    fn divided(self, parts: u32) -> Self;
}

macro_rules! real_number {
    ($($t:ident)*) => {$(
        impl Number for $t {
            #[inline(always)]
            fn sum(self, o: $t) -> $t { self + o }
            #[inline(always)]
            fn product(self, o: $t) -> $t { self * o }
            // A NaN of either side stays: a comparison with it is false, and one that comes is taken.
            #[inline(always)]
            #[allow(clippy::eq_op)]
            fn min(self, o: $t) -> $t { if o < self || o != o { o } else { self } }
            #[inline(always)]
            #[allow(clippy::eq_op)]
            fn max(self, o: $t) -> $t { if o > self || o != o { o } else { self } }
            #[inline(always)]
            fn scaled(self, factor: f64) -> $t { self * factor as $t }
            #[inline(always)]
            fn divided(self, parts: u32) -> $t { self / parts as $t }
        }
    )*};
}
real_number!(f32 f64);

macro_rules! integer_number {
    ($($t:ident)*) => {$(
        impl Number for $t {
            #[inline(always)]
            fn sum(self, o: $t) -> $t { self.wrapping_add(o) }
            #[inline(always)]
            fn product(self, o: $t) -> $t { self.wrapping_mul(o) }
            #[inline(always)]
            fn min(self, o: $t) -> $t { if o < self { o } else { self } }
            #[inline(always)]
            fn max(self, o: $t) -> $t { if o > self { o } else { self } }
            // Factors are folded in f64; see `Integer`.
            #[inline(always)]
            fn scaled(self, _: f64) -> $t { self }
            #[inline(always)]
            fn divided(self, parts: u32) -> $t {
                // Only i64 gets here with more than one part: the sum of an average.
                if parts == 1 { self } else { (self as i64).wrapping_div(parts as i64) as $t }
            }
        }
    )*};
}
integer_number!(i8 u8 i32 i64);

/// What joins two numbers, as a type: a loop for each.
trait Joiner<N> {
    const IS_SUM: bool;
    fn join(a: N, b: N) -> N;
}
macro_rules! joiners {
    ($($name:ident $f:ident $is_sum:literal)*) => {$(
        struct $name;
        impl<N: Number> Joiner<N> for $name {
            const IS_SUM: bool = $is_sum;
            #[inline(always)]
            fn join(a: N, b: N) -> N {
                a.$f(b)
            }
        }
    )*};
}
joiners!(Sums sum true Mins min false Maxs max false Products product false);

/// Elements of a block: its numbers stay in the first-level cache between the passes.
const BLOCK: usize = 512;

/// A block of memory of our own, in which the results are made: a destination may be a source, which would keep the
/// compiler from using vectors. Nothing is in it at first: few elements should not pay for a whole block of zeros.
type Block<T> = [MaybeUninit<T>; BLOCK];

/// How a stored type becomes numbers and back. Blocks have at most BLOCK elements, and n of those are used.
trait Store {
    type Stored: Copy;
    type Number: Number;
    /// Numbers of a source.
    unsafe fn load(src: *const Self::Stored, to: &mut Block<Self::Number>, n: usize);
    /// Joins a source to numbers that are there.
    unsafe fn join<J: Joiner<Self::Number>>(src: *const Self::Stored, acc: &mut Block<Self::Number>, n: usize);
    /// Numbers that are there, to be stored.
    unsafe fn store(from: &Block<Self::Number>, to: &mut Block<Self::Stored>, n: usize);
    /// K sources and no factor: the case that counts most, in one pass.
    unsafe fn few<J: Joiner<Self::Number>, const K: usize>(
        src: [*const Self::Stored; K],
        parts: u32,
        to: &mut Block<Self::Stored>,
        n: usize,
    );
}

/// Types whose elements are converted one by one.
macro_rules! stored {
    ($store:ty, $s:ident, $n:ident, $get:expr, $put:expr) => {
        impl Store for $store {
            type Stored = $s;
            type Number = $n;
            #[inline(always)]
            unsafe fn load(src: *const $s, to: &mut Block<$n>, n: usize) {
                let mut i = 0;
                while i < n.min(BLOCK) {
                    // SAFETY: the contract of the trait: n elements.
                    to[i].write($get(unsafe { *src.add(i) }));
                    i += 1;
                }
            }
            #[inline(always)]
            unsafe fn join<J: Joiner<$n>>(src: *const $s, acc: &mut Block<$n>, n: usize) {
                let mut i = 0;
                while i < n.min(BLOCK) {
                    // SAFETY: as above; the number is there.
                    unsafe { acc[i].write(J::join(acc[i].assume_init(), $get(*src.add(i)))) };
                    i += 1;
                }
            }
            #[inline(always)]
            unsafe fn store(from: &Block<$n>, to: &mut Block<$s>, n: usize) {
                let mut i = 0;
                while i < n.min(BLOCK) {
                    // SAFETY: the number is there.
                    to[i].write($put(unsafe { from[i].assume_init() }));
                    i += 1;
                }
            }
            #[inline(always)]
            unsafe fn few<J: Joiner<$n>, const K: usize>(
                src: [*const $s; K],
                parts: u32,
                to: &mut Block<$s>,
                n: usize,
            ) {
                let mut i = 0;
                while i < n.min(BLOCK) {
                    // SAFETY: as above.
                    let mut acc = $get(unsafe { *src[0].add(i) });
                    let mut k = 1;
                    while k < K {
                        // SAFETY: as above.
                        acc = J::join(acc, $get(unsafe { *src[k].add(i) }));
                        k += 1;
                    }
                    // The same for all elements: the compiler makes two loops of it.
                    to[i].write($put(if parts == 1 { acc } else { acc.divided(parts) }));
                    i += 1;
                }
            }
        }
    };
}

/// Elements as they are, or converted by `as` (which saturates from f64 and wraps from i64).
struct As<S, N>(core::marker::PhantomData<(S, N)>);

macro_rules! stored_as {
    ($($s:ident $n:ident,)*) => {$(
        stored!(As<$s, $n>, $s, $n, |x: $s| x as $n, |x: $n| x as $s);
    )*};
}
stored_as! {
    f32 f32, f64 f64, i8 i8, u8 u8, i32 i32, i64 i64,
    i8 i64, u8 i64, i32 i64,
    i8 f64, u8 f64, i32 f64, i64 f64,
}

/// Brain floats one by one, in their order.
struct Brain;
stored!(Brain, u16, f32, bf16_to_f32, bf16_from_f32);

/// Brain floats, two to a word: the one in the upper half of the word is a number as it stands there, the other after a
/// shift, so vectors need no shuffles. Numbers of a block stand in an order of its own: those of the lower halves, those
/// of the upper halves, and the last if it has no neighbour.
struct Pairs;

/// Word i of brain floats: its lower and its upper number.
#[inline(always)]
unsafe fn pair(src: *const u16, i: usize) -> (f32, f32) {
    // SAFETY: the caller's two elements.
    let word = unsafe { src.add(2 * i).cast::<u32>().read_unaligned() };
    (f32::from_bits(word << 16), f32::from_bits(word & 0xffff_0000))
}

/// Word i of a block, from its lower and its upper number.
#[inline(always)]
unsafe fn put_pair(to: &mut Block<u16>, i: usize, low: f32, high: f32) {
    let word = bf16_bits(low) >> 16 | bf16_bits(high) & 0xffff_0000;
    // SAFETY: the caller's element 2i+1 is inside the block.
    unsafe { to.as_mut_ptr().add(2 * i).cast::<u32>().write_unaligned(word) };
}

impl Store for Pairs {
    type Stored = u16;
    type Number = f32;
    #[inline(always)]
    unsafe fn load(src: *const u16, to: &mut Block<f32>, n: usize) {
        let half = n.min(BLOCK) / 2;
        let (low, rest) = to.split_at_mut(half);
        let (high, last) = rest.split_at_mut(half);
        let mut i = 0;
        while i < half {
            // SAFETY: the contract of the trait: n elements.
            let (a, b) = unsafe { pair(src, i) };
            low[i].write(a);
            high[i].write(b);
            i += 1;
        }
        if n % 2 == 1 {
            // SAFETY: as above.
            last[0].write(bf16_to_f32(unsafe { *src.add(2 * half) }));
        }
    }
    #[inline(always)]
    unsafe fn join<J: Joiner<f32>>(src: *const u16, acc: &mut Block<f32>, n: usize) {
        let half = n.min(BLOCK) / 2;
        let (low, rest) = acc.split_at_mut(half);
        let (high, last) = rest.split_at_mut(half);
        let mut i = 0;
        // SAFETY: as above; the numbers are there.
        unsafe {
            while i < half {
                let (a, b) = pair(src, i);
                low[i].write(J::join(low[i].assume_init(), a));
                high[i].write(J::join(high[i].assume_init(), b));
                i += 1;
            }
            if n % 2 == 1 {
                last[0].write(J::join(last[0].assume_init(), bf16_to_f32(*src.add(2 * half))));
            }
        }
    }
    #[inline(always)]
    unsafe fn store(from: &Block<f32>, to: &mut Block<u16>, n: usize) {
        let half = n.min(BLOCK) / 2;
        let (low, high) = (&from[..half], &from[half..2 * half]);
        let mut i = 0;
        // SAFETY: the numbers are there, the elements inside.
        unsafe {
            while i < half {
                put_pair(to, i, low[i].assume_init(), high[i].assume_init());
                i += 1;
            }
            if n % 2 == 1 {
                to[2 * half].write(bf16_from_f32(from[2 * half].assume_init()));
            }
        }
    }
    #[inline(always)]
    unsafe fn few<J: Joiner<f32>, const K: usize>(src: [*const u16; K], parts: u32, to: &mut Block<u16>, n: usize) {
        // A loop for each: with a branch inside, constants would be loaded in every turn.
        // SAFETY: passed on to the caller.
        unsafe {
            match parts {
                1 => few_pairs::<J, K>(src, |x| x, to, n),
                _ => few_pairs::<J, K>(src, |x| x.divided(parts), to, n),
            }
        }
    }
}

/// See [`Store::few`]; `finish` is done to each result.
#[inline(always)]
unsafe fn few_pairs<J: Joiner<f32>, const K: usize>(
    src: [*const u16; K],
    finish: impl Fn(f32) -> f32,
    to: &mut Block<u16>,
    n: usize,
) {
    let half = n.min(BLOCK) / 2;
    let mut i = 0;
    // SAFETY: the contract of the trait: n elements; the block has as many.
    unsafe {
        while i < half {
            let (mut low, mut high) = pair(src[0], i);
            let mut k = 1;
            while k < K {
                let (a, b) = pair(src[k], i);
                (low, high) = (J::join(low, a), J::join(high, b));
                k += 1;
            }
            put_pair(to, i, finish(low), finish(high));
            i += 1;
        }
        if n % 2 == 1 {
            let mut last = bf16_to_f32(*src[0].add(2 * half));
            let mut k = 1;
            while k < K {
                last = J::join(last, bf16_to_f32(*src[k].add(2 * half)));
                k += 1;
            }
            to[2 * half].write(bf16_from_f32(finish(last)));
        }
    }
}

/// IEEE halves, LANES at a time.
struct Half<H>(core::marker::PhantomData<H>);

impl<H: Halves> Half<H> {
    /// The next LANES numbers, of which `left` are there and the others zeros.
    #[inline(always)]
    unsafe fn lanes(src: *const u16, left: usize) -> [f32; LANES] {
        let mut lanes = [0f32; LANES];
        // SAFETY: LANES elements are there, or those that are left are copied first.
        unsafe {
            if left >= LANES {
                H::widen(src, &mut lanes);
            } else {
                let mut rest = [0u16; LANES];
                core::ptr::copy_nonoverlapping(src, rest.as_mut_ptr(), left);
                H::widen(rest.as_ptr(), &mut lanes);
            }
        }
        lanes
    }
}

/// LANES numbers of a block from `at` on; LANES divides BLOCK.
#[inline(always)]
fn lanes_at(block: &mut Block<f32>, at: usize) -> *mut [f32; LANES] {
    block[at..at + LANES].as_mut_ptr().cast()
}

// The last lanes of a block may stand for elements that are not there: they are zeros, and nobody takes them.
impl<H: Halves> Store for Half<H> {
    type Stored = u16;
    type Number = f32;
    #[inline(always)]
    unsafe fn load(src: *const u16, to: &mut Block<f32>, n: usize) {
        let mut at = 0;
        while at < n.min(BLOCK) {
            // SAFETY: the contract of the trait: n elements.
            unsafe { lanes_at(to, at).write(Self::lanes(src.add(at), n - at)) };
            at += LANES;
        }
    }
    #[inline(always)]
    unsafe fn join<J: Joiner<f32>>(src: *const u16, acc: &mut Block<f32>, n: usize) {
        let mut at = 0;
        while at < n.min(BLOCK) {
            // SAFETY: as above; `load` has written whole lanes.
            unsafe {
                let x = Self::lanes(src.add(at), n - at);
                let acc = &mut *lanes_at(acc, at);
                let mut i = 0;
                while i < LANES {
                    acc[i] = J::join(acc[i], x[i]);
                    i += 1;
                }
            }
            at += LANES;
        }
    }
    #[inline(always)]
    unsafe fn store(from: &Block<f32>, to: &mut Block<u16>, n: usize) {
        let mut at = 0;
        while at < n.min(BLOCK) {
            // SAFETY: LANES divides BLOCK; whole lanes were written.
            unsafe {
                let lanes = &*from[at..at + LANES].as_ptr().cast::<[f32; LANES]>();
                H::narrow(lanes, to.as_mut_ptr().add(at).cast());
            }
            at += LANES;
        }
    }
    #[inline(always)]
    unsafe fn few<J: Joiner<f32>, const K: usize>(src: [*const u16; K], parts: u32, to: &mut Block<u16>, n: usize) {
        let n = n.min(BLOCK);
        let mut at = 0;
        while at < n {
            // SAFETY: as above.
            unsafe {
                let mut acc = Self::lanes(src[0].add(at), n - at);
                let mut k = 1;
                while k < K {
                    let x = Self::lanes(src[k].add(at), n - at);
                    let mut i = 0;
                    while i < LANES {
                        acc[i] = J::join(acc[i], x[i]);
                        i += 1;
                    }
                    k += 1;
                }
                if parts != 1 {
                    let mut i = 0;
                    while i < LANES {
                        acc[i] = acc[i].divided(parts);
                        i += 1;
                    }
                }
                H::narrow(&acc, to.as_mut_ptr().add(at).cast());
            }
            at += LANES;
        }
    }
}

#[inline(always)]
unsafe fn scale<N: Number>(acc: &mut Block<N>, factor: f64, n: usize) {
    let mut i = 0;
    while i < n.min(BLOCK) {
        // SAFETY: the caller's n numbers are there.
        acc[i].write(unsafe { acc[i].assume_init() }.scaled(factor));
        i += 1;
    }
}

#[inline(always)]
unsafe fn divide<N: Number>(acc: &mut Block<N>, parts: u32, n: usize) {
    let mut i = 0;
    while i < n.min(BLOCK) {
        // SAFETY: as above.
        acc[i].write(unsafe { acc[i].assume_init() }.divided(parts));
        i += 1;
    }
}

/// One block of n elements, from element `at` of the sources.
#[inline(always)]
unsafe fn block<S: Store, J: Joiner<S::Number>>(
    f: &Fold,
    n: usize,
    src: &[*const S::Stored],
    at: usize,
    to: &mut Block<S::Stored>,
) {
    // SAFETY: the contract of `fold`: all sources have the elements. Numbers are loaded before they are changed.
    unsafe {
        let of = |r: usize| src.get_unchecked(r).add(at);
        if f.pre == 1.0 && f.post == 1.0 {
            match src.len() {
                2 => return S::few::<J, 2>([of(0), of(1)], f.parts, to, n),
                // Sums are what gradients need; of the others one pass for each number of sources would be much code.
                3 if J::IS_SUM => return S::few::<J, 3>([of(0), of(1), of(2)], f.parts, to, n),
                4 if J::IS_SUM => return S::few::<J, 4>([of(0), of(1), of(2), of(3)], f.parts, to, n),
                _ => {}
            }
        }
        let mut acc = [MaybeUninit::uninit(); BLOCK];
        S::load(of(0), &mut acc, n);
        if f.pre == 1.0 {
            let mut r = 1;
            while r < src.len() {
                S::join::<J>(of(r), &mut acc, n);
                r += 1;
            }
        } else {
            scale(&mut acc, f.pre, n);
            let mut x = [MaybeUninit::uninit(); BLOCK];
            let mut r = 1;
            while r < src.len() {
                S::load(of(r), &mut x, n);
                scale(&mut x, f.pre, n);
                let mut i = 0;
                while i < n.min(BLOCK) {
                    acc[i].write(J::join(acc[i].assume_init(), x[i].assume_init()));
                    i += 1;
                }
                r += 1;
            }
        }
        if f.post != 1.0 {
            scale(&mut acc, f.post, n);
        }
        if f.parts != 1 {
            divide(&mut acc, f.parts, n);
        }
        S::store(&acc, to, n);
    }
}

#[inline(always)]
unsafe fn fold_by<S: Store, J: Joiner<S::Number>>(f: &Fold, n: usize, src: &[*const u8], dst: &[*mut u8]) {
    // SAFETY: pointers to elements, by the contract; the slice itself is only seen under another pointee.
    let src = unsafe { core::slice::from_raw_parts(src.as_ptr().cast::<*const S::Stored>(), src.len()) };
    let mut out = [MaybeUninit::<S::Stored>::uninit(); BLOCK];
    let bytes = n * size_of::<S::Stored>();
    // Whole blocks are made where they are wanted, if that is apart from all sources and begins with a line: a pass through
    // the first-level cache less (allreduce of 300 000 bf16, 2 ranks: 36 to 32 µs).
    let apart = |d: usize| {
        // SAFETY: d is the number of a destination.
        let to = unsafe { *dst.get_unchecked(d) }.addr();
        let mut r = 0;
        while r < src.len() {
            // SAFETY: as above, of a source.
            let from = unsafe { *src.get_unchecked(r) }.addr();
            if to < from + bytes && from < to + bytes {
                return false;
            }
            r += 1;
        }
        to % 64 == 0
    };
    let mut made = dst.len();
    let mut d = dst.len();
    while d > f.past && made == dst.len() {
        d -= 1;
        if apart(d) {
            made = d;
        }
    }
    let mut at = 0;
    while at < n {
        let m = (n - at).min(BLOCK);
        // SAFETY: m elements from `at` on are inside everywhere; a whole block of them in memory that nobody else uses
        // now is a block.
        unsafe {
            let place = |d: usize| dst.get_unchecked(d).cast::<S::Stored>().add(at);
            let here = made < dst.len() && m == BLOCK;
            let block_at = if here { &mut *place(made).cast::<Block<S::Stored>>() } else { &mut out };
            block::<S, J>(f, m, src, at, block_at);
            let from = block_at.as_ptr().cast::<u8>();
            let mut d = 0;
            while d < dst.len() {
                let (to, bytes) = (place(d).cast::<u8>(), m * size_of::<S::Stored>());
                if d < f.past {
                    begin_past(bytes, from, to);
                } else if !(here && d == made) {
                    copy(bytes, from, to);
                }
                d += 1;
            }
        }
        at += m;
    }
    if f.past > 0 {
        finish_past();
    }
}

#[inline(always)]
unsafe fn fold_as<S: Store>(f: &Fold, n: usize, src: &[*const u8], dst: &[*mut u8]) {
    // SAFETY: passed on to the caller.
    unsafe {
        match f.join {
            Join::Sum => fold_by::<S, Sums>(f, n, src, dst),
            Join::Min => fold_by::<S, Mins>(f, n, src, dst),
            Join::Max => fold_by::<S, Maxs>(f, n, src, dst),
            Join::Product => fold_by::<S, Products>(f, n, src, dst),
        }
    }
}

/// [`FoldKernel::fold`].
#[inline(always)]
pub unsafe fn fold<H: Halves>(f: &Fold, n: usize, src: &[*const u8], dst: &[*mut u8]) {
    debug_assert!(!src.is_empty());
    let scaled = f.pre != 1.0 || f.post != 1.0;
    let average = f.parts != 1;
    // SAFETY: passed on to the caller; each type's pointers are to its elements.
    unsafe {
        match f.element {
            Element::F32 => fold_as::<As<f32, f32>>(f, n, src, dst),
            Element::F64 => fold_as::<As<f64, f64>>(f, n, src, dst),
            Element::Bf16 => fold_as::<Pairs>(f, n, src, dst),
            Element::F16 => fold_as::<Half<H>>(f, n, src, dst),
            Element::I8 if scaled => fold_as::<As<i8, f64>>(f, n, src, dst),
            Element::U8 if scaled => fold_as::<As<u8, f64>>(f, n, src, dst),
            Element::I32 if scaled => fold_as::<As<i32, f64>>(f, n, src, dst),
            Element::I64 if scaled => fold_as::<As<i64, f64>>(f, n, src, dst),
            Element::I8 if average => fold_as::<As<i8, i64>>(f, n, src, dst),
            Element::U8 if average => fold_as::<As<u8, i64>>(f, n, src, dst),
            Element::I32 if average => fold_as::<As<i32, i64>>(f, n, src, dst),
            Element::I8 => fold_as::<As<i8, i8>>(f, n, src, dst),
            Element::U8 => fold_as::<As<u8, u8>>(f, n, src, dst),
            Element::I32 => fold_as::<As<i32, i32>>(f, n, src, dst),
            Element::I64 => fold_as::<As<i64, i64>>(f, n, src, dst),
        }
    }
}

#[inline(always)]
unsafe fn narrow_as<S: Store<Stored = u16, Number = f32>>(n: usize, src: *const f32, dst: *mut u16) {
    let mut block = [MaybeUninit::new(0f32); BLOCK];
    let mut out = [MaybeUninit::uninit(); BLOCK];
    let mut at = 0;
    while at < n {
        let m = (n - at).min(BLOCK);
        // SAFETY: m elements from `at` on are inside.
        unsafe {
            core::ptr::copy_nonoverlapping(src.add(at), block.as_mut_ptr().cast(), m);
            S::store(&block, &mut out, m);
            copy(2 * m, out.as_ptr().cast(), dst.add(at).cast());
        }
        at += m;
    }
}

#[inline(always)]
unsafe fn widen_as<S: Store<Stored = u16, Number = f32>>(n: usize, src: *const u16, dst: *mut f32) {
    let mut block = [MaybeUninit::uninit(); BLOCK];
    let mut at = 0;
    while at < n {
        let m = (n - at).min(BLOCK);
        // SAFETY: m elements from `at` on are inside.
        unsafe {
            S::load(src.add(at), &mut block, m);
            copy(4 * m, block.as_ptr().cast(), dst.add(at).cast());
        }
        at += m;
    }
}

/// [`FoldKernel::narrow`].
#[inline(always)]
pub unsafe fn narrow<H: Halves>(to: Element, n: usize, src: *const f32, dst: *mut u16) {
    // SAFETY: passed on to the caller.
    unsafe {
        match to {
            Element::Bf16 => narrow_as::<Brain>(n, src, dst),
            _ => narrow_as::<Half<H>>(n, src, dst),
        }
    }
}

/// [`FoldKernel::widen`].
#[inline(always)]
pub unsafe fn widen<H: Halves>(from: Element, n: usize, src: *const u16, dst: *mut f32) {
    // SAFETY: passed on to the caller.
    unsafe {
        match from {
            Element::Bf16 => widen_as::<Brain>(n, src, dst),
            _ => widen_as::<Half<H>>(n, src, dst),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::kernels::table;
    use crate::runtime::cpu::{self, Isa};

    fn kernels() -> Vec<(&'static str, &'static dyn FoldKernel)> {
        let isas = Isa::ALL.into_iter().filter(|isa| *isa <= cpu::detected());
        isas.map(|isa| (isa.name(), table(isa).fold)).collect()
    }

    /// The value of a half by its definition.
    fn half_by_definition(bits: u16) -> f64 {
        let sign = if bits & 0x8000 == 0 { 1.0 } else { -1.0 };
        let (exponent, fraction) = (i32::from(bits >> 10 & 31), f64::from(bits & 0x3ff));
        match exponent {
            31 if fraction == 0.0 => sign * f64::INFINITY,
            31 => f64::NAN,
            0 => sign * fraction * 2f64.powi(-24),
            _ => sign * (1.0 + fraction / 1024.0) * 2f64.powi(exponent - 15),
        }
    }

    /// The nearest half, the even one of two: by search over all of them.
    fn nearest_half(value: f32) -> u16 {
        let sign = if value.is_sign_negative() { 0x8000 } else { 0 };
        let size = f64::from(value.abs());
        if size.is_nan() {
            return sign | 0x7c00 | 0x200 | (value.to_bits() >> 13) as u16 & 0x3ff;
        }
        // 65520 is half-way between the largest finite half and the next power of two.
        if size >= 65520.0 {
            return sign | 0x7c00;
        }
        let (mut low, mut high) = (0u16, 0x7bff);
        while low < high {
            let middle = (low + high).div_ceil(2);
            if half_by_definition(middle) <= size { low = middle } else { high = middle - 1 }
        }
        let (below, above) = (half_by_definition(low), half_by_definition((low + 1).min(0x7bff)));
        let up = size - below > above - size || (size - below == above - size && low & 1 == 1);
        sign | (low + u16::from(up && low < 0x7bff))
    }

    #[test]
    fn halves_of_all_instruction_sets() {
        let all: Vec<u16> = (0..=u16::MAX).collect();
        for (name, kernel) in kernels() {
            let mut wide = vec![0f32; all.len()];
            // SAFETY: both have as many elements as said.
            unsafe { kernel.widen(Element::F16, all.len(), all.as_ptr(), wide.as_mut_ptr()) };
            for (bits, value) in all.iter().zip(&wide) {
                let exact = half_by_definition(*bits);
                assert!(f64::from(*value) == exact || exact.is_nan() && value.is_nan(), "{name} {bits:#x}: {value}");
                assert_eq!(value.is_sign_negative(), bits & 0x8000 != 0, "{name} {bits:#x}");
            }
            // Around every half, at the middles between two, and at odd places of the whole range.
            let mut values = Vec::new();
            for value in &wide {
                let bits = value.to_bits();
                values.extend([bits.wrapping_sub(1), bits, bits.wrapping_add(1), bits.wrapping_add(0x1000)]);
                values.extend([bits.wrapping_add(0xfff), bits.wrapping_add(0x1001)]);
            }
            values.extend((0..200_000u32).map(|i| i.wrapping_mul(2_654_435_761)));
            let values: Vec<f32> = values.into_iter().map(f32::from_bits).collect();
            let mut narrow = vec![0u16; values.len()];
            // SAFETY: as above.
            unsafe { kernel.narrow(Element::F16, values.len(), values.as_ptr(), narrow.as_mut_ptr()) };
            for (value, bits) in values.iter().zip(&narrow) {
                assert_eq!(*bits, nearest_half(*value), "{name} {value:e} {:#x}", value.to_bits());
            }
        }
    }

    #[test]
    fn brain_floats_round_to_nearest_even() {
        for (name, kernel) in kernels() {
            let values: Vec<f32> = (0..300_001u32).map(|i| f32::from_bits(i.wrapping_mul(2_654_435_769))).collect();
            let mut narrow = vec![0u16; values.len()];
            // SAFETY: both have as many elements as said.
            unsafe { kernel.narrow(Element::Bf16, values.len(), values.as_ptr(), narrow.as_mut_ptr()) };
            for (value, bits) in values.iter().zip(&narrow) {
                let back = bf16_to_f32(*bits);
                if value.is_nan() {
                    assert!(back.is_nan(), "{name} {:#x}", value.to_bits());
                    continue;
                }
                // No neighbour is nearer; of two equally near ones the even is taken.
                let error = (f64::from(back) - f64::from(*value)).abs();
                for other in [bits.wrapping_sub(1), bits.wrapping_add(1)] {
                    let distance = (f64::from(bf16_to_f32(other)) - f64::from(*value)).abs();
                    let worse = distance > error || distance == error && bits & 1 == 0;
                    assert!(worse || back.is_infinite() || distance.is_nan(), "{name} {value:e} {bits:#x}");
                }
            }
        }
    }

    fn join_of(join: Join, a: f64, b: f64) -> f64 {
        match join {
            Join::Sum => a + b,
            Join::Product => a * b,
            _ if a.is_nan() || b.is_nan() => f64::NAN,
            Join::Min => a.min(b),
            Join::Max => a.max(b),
        }
    }

    /// Small whole numbers, exact in every type, whatever the order; all lengths around a block, every destination.
    #[test]
    fn folds_of_all_types() {
        for (name, kernel) in kernels() {
            for element in Element::ALL {
                for op in [Join::Sum, Join::Min, Join::Max, Join::Product] {
                    for n in [0, 1, 7, 31, 32, 33, 64, 100, 511, 512, 513, 1100] {
                        for p in 1..=4usize {
                            check(name, kernel, element, op, n, p, 1.0, 1.0, 1);
                        }
                        check(name, kernel, element, op, n, 3, 2.0, 0.5, 1);
                        check(name, kernel, element, Join::Sum, n, 4, 1.0, 1.0, 4);
                    }
                }
            }
        }
    }

    fn value(r: usize, i: usize) -> f64 {
        ((r * 5 + i * 3) % 4) as f64
    }

    fn put(element: Element, values: &[f64]) -> Vec<u8> {
        let mut bytes = Vec::new();
        for v in values {
            match element {
                Element::F32 => bytes.extend((*v as f32).to_ne_bytes()),
                Element::F64 => bytes.extend(v.to_ne_bytes()),
                Element::Bf16 => bytes.extend(bf16_from_f32(*v as f32).to_ne_bytes()),
                Element::F16 => bytes.extend(nearest_half(*v as f32).to_ne_bytes()),
                Element::I8 => bytes.extend((*v as i8).to_ne_bytes()),
                Element::U8 => bytes.extend((*v as u8).to_ne_bytes()),
                Element::I32 => bytes.extend((*v as i32).to_ne_bytes()),
                Element::I64 => bytes.extend((*v as i64).to_ne_bytes()),
            }
        }
        bytes
    }

    #[allow(clippy::too_many_arguments)]
    fn check(
        name: &str,
        kernel: &dyn FoldKernel,
        element: Element,
        join: Join,
        n: usize,
        p: usize,
        pre: f64,
        post: f64,
        parts: u32,
    ) {
        let src: Vec<Vec<u8>> =
            (0..p).map(|r| put(element, &(0..n).map(|i| value(r, i)).collect::<Vec<_>>())).collect();
        let expected: Vec<f64> = (0..n)
            .map(|i| {
                let all = (1..p).fold(pre * value(0, i), |acc, r| join_of(join, acc, pre * value(r, i)));
                let result = post * all / f64::from(parts);
                if element.is_integer() { result.trunc() } else { result }
            })
            .collect();
        let expected = put(element, &expected);
        let bytes = expected.len();
        let fold = Fold { element, join, pre, post, parts, past: n % 3 };
        // Destinations at the beginning of a line and elsewhere, apart from all sources or over one of them.
        for (places, over) in [([0, 16], None), ([16, 0], None), ([0, 0], Some(0)), ([1, 0], Some(p - 1))] {
            let mut src = src.clone();
            let mut out = vec![vec![7u8; bytes + 256]; 2];
            let starts = [0, 1].map(|d| out[d].as_ptr().addr().wrapping_neg() % 64 + places[d]);
            let mut targets: Vec<*mut u8> =
                out.iter_mut().zip(starts).map(|(o, start)| o[start..].as_mut_ptr()).collect();
            let mut sources: Vec<*const u8> = src.iter().map(|s| s.as_ptr()).collect();
            if let Some(r) = over {
                let both = src[r].as_mut_ptr();
                (sources[r], targets[0]) = (both.cast_const(), both);
            }
            // SAFETY: n elements everywhere.
            unsafe { kernel.fold(&fold, n, &sources, &targets) };
            for (d, (o, start)) in out.iter().zip(starts).enumerate() {
                let got =
                    if d == 0 { over.map_or(&o[start..start + bytes], |r| &src[r]) } else { &o[start..start + bytes] };
                assert!(
                    *got == expected,
                    "{name} {fold:?} n {n} p {p} to {places:?}, {over:?}: {got:?} is not {expected:?}"
                );
                let written = if d == 0 && over.is_some() { 0 } else { bytes };
                let around = o[..start].iter().chain(&o[start + written..]);
                assert!(around.copied().all(|b| b == 7), "{name} {fold:?} n {n} p {p} to {places:?}: around");
            }
        }
    }

    /// Every length around the lots, every place of the target in one, and nothing beyond.
    #[test]
    fn copies() {
        let source: Vec<u8> = (0..1000u32).map(|i| (i * 7 + 1) as u8).collect();
        for (name, kernel) in kernels() {
            for n in (0..300).chain([511, 512, 513, 900]) {
                for (from, to) in [(0, 0), (1, 0), (0, 1), (5, 31), (16, 15), (33, 32)] {
                    let mut target = vec![0xaau8; n + 128];
                    // SAFETY: n bytes from both places on are inside.
                    unsafe { kernel.copy(n, source.as_ptr().add(from), target.as_mut_ptr().add(to)) };
                    assert_eq!(target[to..to + n], source[from..from + n], "{name}, {n} bytes, {from} to {to}");
                    let around = target[..to].iter().chain(&target[to + n..]);
                    assert!(around.copied().all(|b| b == 0xaa), "{name}, {n} bytes, {from} to {to}: around");
                }
            }
        }
    }

    #[test]
    fn extremes() {
        for (name, kernel) in kernels() {
            let run = |fold: &Fold, src: &[&[u8]], bytes: usize| {
                let sources: Vec<*const u8> = src.iter().map(|s| s.as_ptr()).collect();
                let mut out = vec![0u8; bytes];
                // SAFETY: one element everywhere.
                unsafe { kernel.fold(fold, 1, &sources, &[out.as_mut_ptr()]) };
                out
            };
            let fold = |element, join, pre, parts| Fold { element, join, pre, post: 1.0, parts, past: 0 };
            let (a, b) = (100i8.to_ne_bytes(), 100i8.to_ne_bytes());
            assert_eq!(run(&fold(Element::I8, Join::Sum, 1.0, 1), &[&a, &b], 1), [200u8], "{name}: sums wrap");
            assert_eq!(run(&fold(Element::I8, Join::Sum, 1.0, 2), &[&a, &b], 1), [100u8], "{name}: averages do not");
            assert_eq!(run(&fold(Element::I8, Join::Sum, 2.0, 1), &[&a, &b], 1), [127u8], "{name}: scaled saturates");
            let (a, b) = ((-3i32).to_ne_bytes(), (-4i32).to_ne_bytes());
            let average = run(&fold(Element::I32, Join::Sum, 1.0, 2), &[&a, &b], 4);
            assert_eq!(average, (-3i32).to_ne_bytes(), "{name}: toward zero");
            let (one, nan) = (1f32.to_ne_bytes(), f32::NAN.to_ne_bytes());
            for join in [Join::Min, Join::Max] {
                for pair in [[&one[..], &nan[..]], [&nan[..], &one[..]]] {
                    let out = run(&fold(Element::F32, join, 1.0, 1), &pair, 4);
                    assert!(f32::from_ne_bytes(out.try_into().unwrap()).is_nan(), "{name} {join:?}");
                }
            }
        }
    }
}
