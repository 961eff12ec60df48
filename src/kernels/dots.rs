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
/// Bytes of a lane that are gone through at a time.
const PIECE: usize = 8 << 10;

/// `C := alpha X Y^T + beta C` for x of m lanes and y of n lanes (m is the long side), k consecutive steps each, lanes
/// `x_lane` and `y_lane` elements apart; element (i, j) of C at `c + i*rs + j*cs`. beta == 0 never reads C.
#[inline(always)]
pub unsafe fn dots<V: Simd>(
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
    let piece = PIECE / size_of::<V::T>();
    let pieces = n.div_ceil(wide::<V>()).max(1);
    let cols = n.div_ceil(pieces).max(1);
    for p in (0..k).step_by(piece) {
        let steps = piece.min(k - p);
        let beta = if p == 0 { beta } else { V::T::ONE };
        for i in (0..m).step_by(HIGH) {
            for j in (0..n).step_by(cols) {
                let x = x.wrapping_offset(i as isize * x_lane + p as isize);
                let y = y.wrapping_offset(j as isize * y_lane + p as isize);
                let c = c.wrapping_offset(i as isize * rs + j as isize * cs);
                let high = HIGH.min(m - i);
                macro_rules! tiles {
                    ($($n:literal)*) => {
                        match cols.min(n - j) {
                            // SAFETY: lanes i.. of x and j.. of y exist, and so does this part of C.
                            $($n if const { $n <= wide::<V>() } => unsafe {
                                if high == HIGH {
                                    tile::<V, HIGH, $n>(steps, alpha, (x, x_lane), (y, y_lane), beta, c, (rs, cs));
                                } else {
                                    if high & 2 != 0 {
                                        tile::<V, 2, $n>(steps, alpha, (x, x_lane), (y, y_lane), beta, c, (rs, cs));
                                    }
                                    if high & 1 != 0 {
                                        let l = (high & 2) as isize;
                                        let (x, c) = (x.wrapping_offset(l * x_lane), c.wrapping_offset(l * rs));
                                        tile::<V, 1, $n>(steps, alpha, (x, 0), (y, y_lane), beta, c, (0, cs));
                                    }
                                }
                            },)*
                            _ => debug_assert!(false, "no tile of so many dot products"),
                        }
                    };
                }
                tiles!(1 2 3 4 5 6)
            }
        }
    }
}

/// One tile of M x N dot products.
#[inline(always)]
unsafe fn tile<V: Simd, const M: usize, const N: usize>(
    k: usize,
    alpha: V::T,
    (x, x_lane): (*const V::T, isize),
    (y, y_lane): (*const V::T, isize),
    beta: V::T,
    c: *mut V::T,
    (rs, cs): (isize, isize),
) {
    // SAFETY: the contract of the file.
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
        // Four sums at once: the four of a column, two of two columns, or four columns of a single lane. Their places are read before
        // any is written.
        let put = |places: [*mut V::T; 4], count: usize, sums: [V::T; 4]| {
            let mut new = sums.map(|sum| alpha * sum);
            if beta != V::T::ZERO {
                for (new, c) in new.iter_mut().zip(places).take(count) {
                    *new += beta * *c;
                }
            }
            for (new, c) in new.into_iter().zip(places).take(count) {
                *c = new;
            }
        };
        let at = |i: usize, j: usize| c.wrapping_offset(i as isize * rs + j as isize * cs);
        unrolled!(N, |j| {
            if const { M == HIGH } {
                let sums = V::sum4([acc[0][j], acc[1 % M][j], acc[2 % M][j], acc[3 % M][j]]);
                if rs == 1 {
                    let first = at(0, j);
                    put([first, first.wrapping_add(1), first.wrapping_add(2), first.wrapping_add(3)], 4, sums);
                } else {
                    put([at(0, j), at(1, j), at(2, j), at(3, j)], 4, sums);
                }
            } else if const { M == 2 } && j.is_multiple_of(2) {
                let next = if j + 1 < N { [acc[0][(j + 1) % N], acc[1 % M][(j + 1) % N]] } else { [V::zero(); 2] };
                let sums = V::sum4([acc[0][j], acc[1 % M][j], next[0], next[1]]);
                put([at(0, j), at(1, j), at(0, j + 1), at(1, j + 1)], 2 * (N - j), sums);
            } else if const { M == 1 } && j.is_multiple_of(4) {
                let lane = |l: usize| if j + l < N { acc[0][(j + l) % N] } else { V::zero() };
                let sums = V::sum4([lane(0), lane(1), lane(2), lane(3)]);
                put([at(0, j), at(0, j + 1), at(0, j + 2), at(0, j + 3)], N - j, sums);
            }
        });
    }
}
