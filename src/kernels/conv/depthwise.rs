//! Depthwise sums: every channel by itself, a few pixels or taps at a time.
//!
//! Contract of all functions: that of `conv.rs`.

// Loops over a few registers by index: iterator chains hide from the compiler that they can be unrolled.
#![allow(clippy::needless_range_loop)]

use super::super::simd::RealSimd;
use super::super::tile::{opaque_fn, prefetch, prefetch_far};
use super::{Depthwise, DepthwiseSums, PixelTiles, Tap, finished, put};

/// Vectors of a block of channels.
const WIDE: usize = 4;
/// Bytes of a cache line.
const LINE: usize = 64;

/// [`depthwise_tile`].
type Row<T> = unsafe fn(&Depthwise<T>, *const T, *mut T, *const T);

/// [`Depthwise`]: a few pixels of a row at a time, so that a weight is loaded once for all of them; no more than three,
/// so that four vectors of a pixel are read in a row. Sums of so few products wait for memory, which likes that.
#[inline(always)]
pub unsafe fn depthwise<S: PixelTiles<V>, V: RealSimd>(p: &Depthwise<V::T>) {
    const MOST: usize = 3;
    let mut p = *p;
    if p.size[1] == 1 {
        // A column is as good as a row.
        (p.size, p.src_step, p.dst_step) = ([1, p.size[0]], [0, p.src_step[0]], [0, p.dst_step[0]]);
    }
    let [rows, cols] = p.size;
    for r in 0..rows as isize {
        let mut j = 0;
        while j < cols {
            let some = MOST.min(cols - j);
            let src = p.src.wrapping_offset(r * p.src_step[0] + j as isize * p.src_step[1]);
            let dst = p.dst.wrapping_offset(r * p.dst_step[0] + j as isize * p.dst_step[1]);
            j += some;
            let (row, col) = if j < cols { (r, j as isize) } else { (r + 1, 0) };
            let next = p.src.wrapping_offset(row * p.src_step[0] + col * p.src_step[1]);
            let tile: Row<V::T> = match some {
                1 => S::depthwise::<1>,
                2 => S::depthwise::<2>,
                _ => S::depthwise::<3>,
            };
            // SAFETY: the contract of the file.
            unsafe { opaque_fn(tile)(&p, src, dst, next) }
        }
    }
}

/// All channels of N pixels. Meanwhile what the next ones meet first is asked for, and where they go.
#[inline(always)]
pub unsafe fn depthwise_tile<V: RealSimd, const N: usize>(
    p: &Depthwise<V::T>,
    src: *const V::T,
    dst: *mut V::T,
    next: *const V::T,
) {
    // SAFETY: the contract of the file.
    unsafe {
        let (mut i, mut weights) = (0, p.weights);
        let each = LINE / size_of::<V::T>();
        let lines = WIDE * V::LANES / each;
        while i + WIDE * V::LANES <= p.channels {
            for t in 0..p.asked {
                let from = next.wrapping_offset((*p.fresh.add(t)).src).wrapping_add(i);
                for q in 0..N {
                    for line in 0..lines {
                        prefetch_far(from.wrapping_offset(q as isize * p.src_step[1]).wrapping_add(line * each));
                    }
                }
            }
            for q in N..2 * N {
                for line in 0..lines {
                    prefetch(dst.wrapping_offset(q as isize * p.dst_step[1]).wrapping_add(i + line * each));
                }
            }
            depthwise_part::<V, WIDE, N>(p, i, weights, src, dst);
            weights = weights.wrapping_add(p.block);
            i += WIDE * V::LANES;
        }
        if i + 2 * V::LANES <= p.channels {
            depthwise_part::<V, 2, N>(p, i, weights, src, dst);
            weights = weights.wrapping_add(2 * V::LANES);
            i += 2 * V::LANES;
        }
        if i + V::LANES <= p.channels {
            depthwise_part::<V, 1, N>(p, i, weights, src, dst);
            weights = weights.wrapping_add(V::LANES);
            i += V::LANES;
        }
        if i < p.channels {
            let left = p.channels - i;
            let bias = if p.finish.bias.is_null() { p.finish.bias } else { p.finish.bias.add(i) };
            for q in 0..N as isize {
                let b = src.wrapping_offset(q * p.src_step[1]).wrapping_add(i);
                let mut acc = V::zero();
                for t in 0..p.count {
                    let tap = &*p.taps.add(t);
                    let x = V::load_first(b.wrapping_offset(tap.src), left);
                    acc = x.mul_add(V::load_first(weights.add(tap.weights), left), acc);
                }
                put(acc, dst.wrapping_offset(q * p.dst_step[1]).wrapping_add(i), left, bias, &p.finish);
            }
        }
    }
}

/// U vectors of channels, from the i-th on, of N pixels.
#[inline(always)]
unsafe fn depthwise_part<V: RealSimd, const U: usize, const N: usize>(
    p: &Depthwise<V::T>,
    i: usize,
    weights: *const V::T,
    src: *const V::T,
    dst: *mut V::T,
) {
    // SAFETY: the contract of the file.
    unsafe {
        let mut acc = [[V::zero(); U]; N];
        let src = src.wrapping_add(i);
        for t in 0..p.count {
            let tap = &*p.taps.add(t);
            let from = src.wrapping_offset(tap.src);
            let mut w = [V::zero(); U];
            for (u, w) in w.iter_mut().enumerate() {
                *w = V::load(weights.add(tap.weights + u * V::LANES));
            }
            for q in 0..N {
                let x = from.wrapping_offset(q as isize * p.src_step[1]);
                for u in 0..U {
                    acc[q][u] = V::load(x.add(u * V::LANES)).mul_add(w[u], acc[q][u]);
                }
            }
        }
        let mut c = [dst; N];
        for (q, c) in c.iter_mut().enumerate() {
            *c = dst.wrapping_offset(q as isize * p.dst_step[1]).wrapping_add(i);
        }
        let mut finish = p.finish;
        if !finish.bias.is_null() {
            finish.bias = finish.bias.add(i);
        }
        finished(acc, &c, &finish);
    }
}

/// [`DepthwiseSums`]: a few taps at a time, whose sums stay in registers. They begin at zero and are added to what there is
/// at the end, so that the error grows with the rectangle rather than with all pixels.
#[inline(always)]
pub unsafe fn depthwise_weights<S: PixelTiles<V>, V: RealSimd>(p: &DepthwiseSums<V::T>) {
    const MOST: usize = 6;
    let mut t = 0;
    while t < p.count {
        let some = MOST.min(p.count - t);
        let tile: unsafe fn(&DepthwiseSums<V::T>, *const Tap) = match some {
            1 => S::depthwise_weights::<1>,
            2 => S::depthwise_weights::<2>,
            3 => S::depthwise_weights::<3>,
            4 => S::depthwise_weights::<4>,
            5 => S::depthwise_weights::<5>,
            _ => S::depthwise_weights::<6>,
        };
        // SAFETY: the contract of the file.
        unsafe { opaque_fn(tile)(p, p.taps.add(t)) }
        t += some;
    }
}

/// All channels of N taps.
#[inline(always)]
pub unsafe fn depthwise_weights_of<V: RealSimd, const N: usize>(p: &DepthwiseSums<V::T>, taps: *const Tap) {
    // SAFETY: the contract of the file.
    unsafe {
        let mut at = [0; N];
        for (q, at) in at.iter_mut().enumerate() {
            *at = (*taps.add(q)).src;
        }
        macro_rules! pass {
            ($vectors:expr, $c:expr, |$p:ident| $load:expr, $store:expr) => {
                let mut acc = [[V::zero(); $vectors]; N];
                for row in 0..p.size[0] as isize {
                    let mut x = p.x.wrapping_offset(row * p.x_step[0]).wrapping_add($c);
                    let mut dy = p.dy.wrapping_offset(row * p.dy_step[0]).wrapping_add($c);
                    for _ in 0..p.size[1] {
                        let mut g = [V::zero(); $vectors];
                        for u in 0..$vectors {
                            let $p = dy.wrapping_add(u * V::LANES);
                            g[u] = $load;
                        }
                        for q in 0..N {
                            for u in 0..$vectors {
                                let $p = x.wrapping_offset(at[q]).wrapping_add(u * V::LANES);
                                acc[q][u] = $load.mul_add(g[u], acc[q][u]);
                            }
                        }
                        x = x.wrapping_offset(p.x_step[1]);
                        dy = dy.wrapping_offset(p.dy_step[1]);
                    }
                }
                for q in 0..N {
                    for u in 0..$vectors {
                        let $p = p.sum.add((*taps.add(q)).weights + $c + u * V::LANES);
                        $store($load.add(acc[q][u]), $p);
                    }
                }
            };
        }
        let mut c = 0;
        while c + 2 * V::LANES <= p.channels {
            pass!(2, c, |p| V::load(p), |x: V, to| x.store(to));
            c += 2 * V::LANES;
        }
        while c < p.channels {
            let n = V::LANES.min(p.channels - c);
            if n == V::LANES {
                pass!(1, c, |p| V::load(p), |x: V, to| x.store(to));
            } else {
                pass!(1, c, |p| V::load_first(p, n), |x: V, to| x.store_first(to, n));
            }
            c += n;
        }
    }
}
