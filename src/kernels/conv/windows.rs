//! Sums over pixels of the windows around them times the gradients of their results, for images of few channels.
//!
//! A row of a window is a run of consecutive numbers of the image. A register tile is a part of such a run, each number of it
//! broadcast, by some result channels, in vectors. Both are read by address, pixel after pixel: nothing is gathered before.
//! (Zen 5, NHWC, GFLOPS of panels that are gathered and packed, and so: 4 channels to 32 at 128x128x128, 3x3x3 102 and 181; 3 to 32 at
//! 224x224, 3x3 with stride 2 48 and 124; 3 to 64, 7x7 139 and 192.)
//!
//! Contract of all functions: that of `conv.rs`.

// Loops over a few registers by index: iterator chains hide from the compiler that they can be unrolled.
#![allow(clippy::needless_range_loop)]

use super::super::simd::RealSimd;
use super::super::tile::{opaque_fn, opaque_ptr, prefetch_far, unrolled};
use super::{PixelTiles, WindowSums, panel, wide};
use crate::scalar::Scalar;

/// One register tile's work.
pub struct WindowTile<T> {
    pixels: usize,
    x: *const T,
    x_at: *const isize,
    dy: *const T,
    dy_at: *const isize,
    sums: *mut T,
    pitch: usize,
    beta: T,
    /// What is asked for with the first pixel, and bytes to what is with the next.
    ahead: *const u8,
    each: usize,
}

/// [`WindowSums`], tile by tile.
#[inline(always)]
pub unsafe fn window_sums<S: PixelTiles<V>, V: RealSimd, const MV: usize, const NR: usize>(p: &WindowSums<V::T>) {
    let width = panel::<V, MV>(p.channels);
    let most = wide::<V>(width / V::LANES, NR);
    // SAFETY: the contract of the file: pixels and windows that there are.
    unsafe {
        let segments = core::slice::from_raw_parts(p.segments, p.count);
        let pieces: usize = segments.iter().map(|s| s.len.div_ceil(most)).sum();
        let steps = pieces * p.channels.div_ceil(width) * p.pixels;
        let each = (p.ahead_len * size_of::<V::T>()).checked_div(steps).unwrap_or(0);
        let (mut sums, mut ahead) = (p.sums, p.ahead.cast::<u8>());
        for segment in segments {
            // In even pieces.
            let some = segment.len.div_ceil(segment.len.div_ceil(most).max(1));
            for l in (0..segment.len).step_by(some.max(1)) {
                let lanes = some.min(segment.len - l);
                for c in (0..p.channels).step_by(width) {
                    let t = WindowTile {
                        pixels: p.pixels,
                        x: p.x.wrapping_offset(segment.offset).wrapping_add(l),
                        x_at: p.x_at,
                        dy: p.dy.wrapping_add(c),
                        dy_at: p.dy_at,
                        sums: sums.wrapping_add(c),
                        pitch: p.pitch,
                        beta: p.beta,
                        ahead,
                        each,
                    };
                    match width.min(p.channels - c).div_ceil(V::LANES) {
                        1 => lanes_of::<S, V, 1, NR>(lanes, &t),
                        2 if const { super::highest::<V>(MV) >= 2 } => lanes_of::<S, V, 2, NR>(lanes, &t),
                        3 if const { super::highest::<V>(MV) >= 3 } => lanes_of::<S, V, 3, NR>(lanes, &t),
                        4 if const { super::highest::<V>(MV) >= 4 } => lanes_of::<S, V, 4, NR>(lanes, &t),
                        _ => debug_assert!(false, "no tile of so many channels"),
                    }
                    ahead = ahead.wrapping_add(p.pixels * each);
                }
                sums = sums.wrapping_add(lanes * p.pitch);
            }
        }
    }
}

#[inline(always)]
unsafe fn lanes_of<S: PixelTiles<V>, V: RealSimd, const U: usize, const NR: usize>(lanes: usize, t: &WindowTile<V::T>) {
    macro_rules! lanes {
        ($($n:literal)*) => {
            match lanes {
                // SAFETY: as the caller's.
                $($n if const { $n <= wide::<V>(U, NR) } => unsafe {
                    opaque_fn(S::window_sums::<U, $n> as unsafe fn(&WindowTile<V::T>))(t)
                },)*
                _ => debug_assert!(false, "no tile of {lanes} numbers"),
            }
        };
    }
    lanes!(1 2 3 4 5 6 7 8 9 10 11 12)
}

/// U vectors of result channels, N numbers of the windows. Every sum goes through the same operations in a tile of any size.
#[inline(always)]
pub unsafe fn window_tile<V: RealSimd, const U: usize, const N: usize>(t: &WindowTile<V::T>) {
    // SAFETY: the contract of the file.
    unsafe {
        let mut acc = [[V::zero(); U]; N];
        let mut ahead = t.ahead;
        for p in 0..t.pixels {
            let x = opaque_ptr(t.x.wrapping_offset(*t.x_at.add(p)));
            let dy = t.dy.wrapping_offset(*t.dy_at.add(p));
            let mut column = [V::zero(); U];
            for u in 0..U {
                column[u] = V::load(dy.wrapping_add(u * V::LANES));
            }
            prefetch_far(ahead);
            ahead = ahead.wrapping_add(t.each);
            unrolled!(N, |l| {
                let x = V::splat(*x.add(l));
                for u in 0..U {
                    acc[l][u] = column[u].mul_add(x, acc[l][u]);
                }
            });
        }
        if t.beta != V::T::ZERO {
            let beta = V::splat(t.beta);
            unrolled!(N, |l| {
                for u in 0..U {
                    acc[l][u] = V::load(t.sums.add(l * t.pitch + u * V::LANES)).mul_add(beta, acc[l][u]);
                }
            });
        }
        unrolled!(N, |l| {
            for u in 0..U {
                acc[l][u].store(t.sums.add(l * t.pitch + u * V::LANES));
            }
        });
    }
}
