//! Products of shifted planes: images with their pixels side by side, few result channels.
//!
//! The vectors of the register tile are pixels, one or a few results of each; every step is a plane at its own distance (a
//! tap of a source channel) times a number for each result channel. Pixels need not begin at vectors: a step reads them from
//! wherever its tap puts them, each for all result channels.
//!
//! Contract of all functions: that of `conv.rs`.

// Loops over a few registers by index: iterator chains hide from the compiler that they can be unrolled.
#![allow(clippy::needless_range_loop)]

use super::super::simd::RealSimd;
use super::super::tile::{opaque_fn, opaque_ptr, unrolled};
use super::{Finish, PixelTiles, Shifts, put};

/// Result channels at most.
pub const SHIFTED: usize = 4;

/// [`Shifts`], tile by tile, of no more than MOST accumulators.
#[inline(always)]
pub unsafe fn shifts<S: PixelTiles<V>, V: RealSimd, const MOST: usize>(p: &Shifts<V::T>) {
    let vectors = p.pixels.div_ceil(V::LANES);
    let mut at = 0;
    macro_rules! tiles {
        ($n:literal: $($u:literal)*) => {{
            $(while const { $u * $n <= MOST } && vectors - at >= $u {
                // SAFETY: the contract of the file.
                unsafe { opaque_fn(S::shifted::<$u, $n> as unsafe fn(&Shifts<V::T>, usize))(p, at * V::LANES) };
                at += $u;
            })*
        }};
    }
    match p.lanes {
        1 => tiles!(1: 8 4 2 1),
        2 => tiles!(2: 8 4 2 1),
        3 => tiles!(3: 8 4 2 1),
        4 => tiles!(4: 6 4 2 1),
        _ => debug_assert!(false, "no tile of {} channels", p.lanes),
    }
}

/// U vectors of pixels from `first` on, N result channels. Every sum goes through the same operations in a tile of any width.
#[inline(always)]
pub unsafe fn shifted<V: RealSimd, const U: usize, const N: usize>(p: &Shifts<V::T>, first: usize) {
    // SAFETY: the contract of the file.
    unsafe {
        let mut acc = [[V::zero(); N]; U];
        let src = p.src.wrapping_add(first);
        let (mut at, mut weights) = (p.at, p.weights);
        for _ in 0..p.steps {
            let from = src.wrapping_offset(*at);
            let mut number = [V::zero(); N];
            for c in 0..N {
                number[c] = V::splat(*weights.add(c));
            }
            unrolled!(U, |u| {
                let x = V::load(from.wrapping_add(u * V::LANES));
                for c in 0..N {
                    acc[u][c] = number[c].mul_add(x, acc[u][c]);
                }
            });
            // Opaque from step to step, as in the other tiles.
            at = at.add(1);
            weights = opaque_ptr(weights.add(N));
        }
        let dst = p.dst.wrapping_add(first);
        for c in 0..N {
            let dst = dst.wrapping_add(c * p.dst_step);
            unrolled!(U, |u| {
                let dst = dst.wrapping_add(u * V::LANES);
                V::load(dst).add(acc[u][c]).store(dst);
            });
        }
    }
}

/// A row of n results, those of some phases in turn, which are `step` apart: finished, to `dst`; `bias` is one number or null, that
/// of `finish` is null. There is room for the row and one more.
#[inline(always)]
pub unsafe fn weave<V: RealSimd>(
    n: usize,
    phases: usize,
    src: *const V::T,
    step: usize,
    room: *mut V::T,
    dst: *mut V::T,
    bias: *const V::T,
    finish: &Finish<V::T>,
) {
    // SAFETY: the contract of the file.
    unsafe {
        let mut row = src;
        if phases == 2 {
            // By itself: the compiler makes shuffles of it.
            let other = src.wrapping_add(step);
            for i in 0..n.div_ceil(2) {
                *room.add(2 * i) = *src.add(i);
                *room.add(2 * i + 1) = *other.add(i);
            }
            row = room.cast_const();
        } else if phases > 2 {
            for phase in 0..phases.min(n) {
                let from = src.wrapping_add(phase * step);
                for i in 0..(n - phase).div_ceil(phases) {
                    *room.add(i * phases + phase) = *from.add(i);
                }
            }
            row = room.cast_const();
        }
        let bias = if bias.is_null() { None } else { Some(V::splat(*bias)) };
        let mut i = 0;
        while i < n {
            let (from, some) = (row.wrapping_add(i), V::LANES.min(n - i));
            let mut x = if some == V::LANES { V::load(from) } else { V::load_first(from, some) };
            if let Some(bias) = bias {
                x = x.add(bias);
            }
            put(x, dst.wrapping_add(i), some, core::ptr::null(), finish);
            i += V::LANES;
        }
    }
}
