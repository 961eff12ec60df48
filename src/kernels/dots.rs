//! Products of two operands with consecutive steps, as tiles of dot products: for few columns (or rows), where packing the
//! long operand would cost more than the product. Once for all instruction sets and types.
//!
//! A tile is up to [`HIGH`] lanes of the long operand by up to [`WIDE`] of the short one; every element has an accumulator
//! of its own, so its operations do not depend on where it stands. k goes in pieces that the short operand's part of L1
//! holds.
//!
//! Contract of all functions: the CPU has V's instruction set; pointers are valid for what the text says is read and
//! written there.

use super::simd::Simd;
use super::tile::unrolled;
use crate::scalar::Scalar;
use core::marker::PhantomData;
use core::mem::MaybeUninit;

/// Lanes of the long operand in a tile.
const HIGH: usize = 4;
/// Lanes of the short one: as many as the registers hold accumulators for, of which complex ones are two.
const fn wide<V: Simd>() -> usize {
    match V::LANES * size_of::<V::T>() {
        _ if V::T::IS_COMPLEX => 1,
        64 => 6,
        _ => 3,
    }
}
/// The most of any type.
const WIDEST: usize = 6;
/// Bytes of a lane that are gone through at a time.
const PIECE: usize = 8 << 10;

/// One tile's work: `C := alpha X Y^T + beta C`.
pub struct DotTile<T> {
    k: usize,
    alpha: T,
    beta: T,
    x: *const T,
    x_lane: isize,
    y: *const T,
    y_lane: isize,
    c: *mut T,
    rs: isize,
    cs: isize,
}

/// The tiles of one scalar type, each a function of its own under the instruction set's target feature.
pub trait DotTiles<V: Simd> {
    /// [`tile`].
    unsafe fn dot_tile<const M: usize, const N: usize>(t: &DotTile<V::T>);
}

type Dot<T> = unsafe fn(&DotTile<T>);

/// All tiles, by the power of two of their lanes of x and by their lanes of y. A table and functions of their own: as one function, it
/// spent more on what 18 tiles keep from one to the next than on a small product. (Zen 5, sgemm TN 8 x 8 x 64 92 ns and 51.)
struct All<S, V>(PhantomData<(S, V)>);

impl<S: DotTiles<V>, V: Simd> All<S, V> {
    const TILES: [[Dot<V::T>; WIDEST]; 3] = [Self::of_lanes::<1>(), Self::of_lanes::<2>(), Self::of_lanes::<HIGH>()];

    const fn of_lanes<const M: usize>() -> [Dot<V::T>; WIDEST] {
        macro_rules! wide {
            ($($n:literal)*) => {
                [$(if $n <= wide::<V>() { S::dot_tile::<M, $n> } else { no_tile::<V::T> }),*]
            };
        }
        wide!(1 2 3 4 5 6)
    }
}

/// In the place of tiles that are never asked for.
unsafe fn no_tile<T>(_: &DotTile<T>) {
    debug_assert!(false, "no tile of so many dot products");
}

/// `C := alpha X Y^T + beta C` for x of m lanes and y of n lanes (m is the long side), k consecutive steps each, lanes
/// `x_lane` and `y_lane` elements apart; element (i, j) of C at `c + i*rs + j*cs`. beta == 0 never reads C.
#[inline(always)]
pub unsafe fn dots<S: DotTiles<V>, V: Simd>(
    m: usize,
    n: usize,
    k: usize,
    alpha: V::T,
    (x, x_lane): (*const V::T, isize),
    (y, y_lane): (*const V::T, isize),
    beta: V::T,
    c: *mut V::T,
    (rs, cs): (isize, isize),
) {
    let tiles: &'static [[Dot<V::T>; WIDEST]; 3] = &All::<S, V>::TILES;
    let piece = PIECE / size_of::<V::T>();
    // Tiles of equal width. (A division takes as long as a small tile.)
    let cols = if n <= wide::<V>() { n } else { n.div_ceil(n.div_ceil(wide::<V>())) };
    let mut t = DotTile { k, alpha, beta, x, x_lane, y, y_lane, c, rs, cs };
    let mut p = 0;
    while p < k {
        t.k = piece.min(k - p);
        let mut i = 0;
        while i < m {
            // 4, 2 or 1.
            let power = (m - i).ilog2().min(HIGH.ilog2()) as usize;
            let (mut j, mut to) = (0, c.wrapping_offset(i as isize * rs));
            t.x = x.wrapping_offset(i as isize * x_lane + p as isize);
            t.y = y.wrapping_add(p);
            while j < n {
                let wide = cols.min(n - j);
                t.c = to;
                // SAFETY: lanes i.. of x and j.. of y exist, and so does this part of C; the table has tiles of so many lanes.
                unsafe { tiles.get_unchecked(power).get_unchecked(wide - 1)(&t) };
                j += wide;
                t.y = t.y.wrapping_offset(wide as isize * y_lane);
                to = to.wrapping_offset(wide as isize * cs);
            }
            i += 1 << power;
        }
        p += piece;
        t.beta = V::T::ONE;
    }
}

/// Sums of a tile, in the order in which they are put into C.
#[repr(C, align(64))]
struct Sums<T>(MaybeUninit<[T; 2 * HIGH * WIDEST]>);

/// One tile of M x N dot products.
#[inline(always)]
pub unsafe fn tile<V: Simd, const M: usize, const N: usize>(t: &DotTile<V::T>) {
    let &DotTile { k, alpha, beta, x, x_lane, y, y_lane, c, rs, cs } = t;
    // SAFETY: the contract of the file. Sums are whole vectors: M x N of them and at most another vector.
    unsafe {
        let mut acc = [[V::zero(); N]; M];
        let mut p = 0;
        macro_rules! step {
            (|$p:ident| $load:expr) => {
                let mut b = [V::zero(); N];
                for (j, b) in b.iter_mut().enumerate() {
                    let $p = y.wrapping_offset(j as isize * y_lane + p as isize);
                    *b = $load;
                }
                for (i, row) in acc.iter_mut().enumerate() {
                    let $p = x.wrapping_offset(i as isize * x_lane + p as isize);
                    let a: V = $load;
                    for j in 0..N {
                        row[j] = a.mul_add(b[j], row[j]);
                    }
                }
            };
        }
        while p + V::LANES <= k {
            step!(|at| V::load(at));
            p += V::LANES;
        }
        if p < k {
            let rest = k - p;
            step!(|at| V::load_first(at, rest));
        }
        let mut sums = Sums(MaybeUninit::<[V::T; 2 * HIGH * WIDEST]>::uninit());
        let sums = sums.0.as_mut_ptr().cast::<V::T>();
        // By rows, if these are what is consecutive in C.
        let by_rows = cs == 1 && rs != 1;
        // (Macros: a closure may stay a function, and would be one without the instruction set.)
        macro_rules! sum_up {
            (|$l:ident| $place:expr) => {
                macro_rules! of {
                    ($at:expr) => {{
                        let $l: usize = $at;
                        if $l < M * N { acc[$place.0 % M][$place.1 % N] } else { V::zero() }
                    }};
                }
                unrolled!(N, |q| {
                    if const { M * N <= 4 || !V::SUMS } {
                        let l = 4 * q;
                        if l < M * N {
                            let four = V::sum4([of!(l), of!(l + 1), of!(l + 2), of!(l + 3)]);
                            sums.add(l).cast::<[V::T; 4]>().write(four.map(|sum| alpha * sum));
                        }
                    } else {
                        let l = q * V::LANES;
                        if l < M * N {
                            #[rustfmt::skip]
                            let all = V::sums([
                                of!(l), of!(l + 1), of!(l + 2), of!(l + 3), of!(l + 4), of!(l + 5), of!(l + 6), of!(l + 7),
                                of!(l + 8), of!(l + 9), of!(l + 10), of!(l + 11), of!(l + 12), of!(l + 13), of!(l + 14), of!(l + 15),
                            ]);
                            all.mul(V::splat(alpha)).store(sums.add(l));
                        }
                    }
                });
            };
        }
        if by_rows {
            sum_up!(|l| (l / N, l % N));
            put::<V::T, M, N>(sums, beta, c, rs, 1);
        } else {
            sum_up!(|l| (l % M, l / M));
            if rs == 1 {
                put::<V::T, N, M>(sums, beta, c, cs, 1);
            } else {
                put::<V::T, N, M>(sums, beta, c, cs, rs);
            }
        }
    }
}

/// Lines of a tile's sums, LINES of COUNT each, to C, where they are `line` elements apart and their elements `step`. All of C is read
/// before any of it is written.
#[inline(always)]
unsafe fn put<T: Scalar, const LINES: usize, const COUNT: usize>(
    sums: *mut T,
    beta: T,
    c: *mut T,
    line: isize,
    step: isize,
) {
    let place = |l: usize, i: usize| c.wrapping_offset(l as isize * line + i as isize * step);
    // SAFETY: LINES * COUNT sums, and as many elements of C.
    unsafe {
        if beta != T::ZERO {
            for l in 0..LINES {
                for i in 0..COUNT {
                    *sums.add(l * COUNT + i) += beta * *place(l, i);
                }
            }
        }
        for l in 0..LINES {
            for i in 0..COUNT {
                *place(l, i) = *sums.add(l * COUNT + i);
            }
        }
    }
}
