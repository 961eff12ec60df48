//! Products of planes: images with their pixels side by side times weights, as they lie.
//!
//! The vectors of the register tile are pixels, the weights are broadcast. The first columns read the pixels in place and
//! leave a copy in the order of the steps, which all others read; meanwhile the pixels of the next block are asked for. So
//! neither packing nor memory costs time of its own.
//!
//! Contract of all functions: that of `conv.rs`.

// Loops over a few registers by index: iterator chains hide from the compiler that they can be unrolled.
#![allow(clippy::needless_range_loop)]

use super::super::simd::RealSimd;
use super::super::tile::{opaque_fn, opaque_ptr, prefetch, prefetch_far, unrolled};
use super::{Activation, Finish, PixelTiles, Planes, leaky, put};
use crate::scalar::Scalar;

/// Bytes of a cache line.
const LINE: usize = 64;
/// Steps between two lines that are asked for.
const EVERY: usize = 4;
/// Bytes of the weights that are asked for ahead of their use.
const AHEAD: usize = 512;

/// One register tile's work.
pub struct PlaneTile<T> {
    steps: usize,
    a: *const T,
    a_step: isize,
    /// Where a copy of the pixels goes.
    copy: *mut T,
    b: *const T,
    b_step: usize,
    c: *mut T,
    c_step: isize,
    /// Pixels that there are.
    rows: usize,
    /// What is asked for, and the distance of one such line from the next.
    ahead: *const T,
    ahead_step: isize,
    /// One number for each column.
    finish: Finish<T>,
}

/// [`Planes`]: a few weights stay in L1 while the pixels of the block pass.
#[inline(always)]
pub unsafe fn planes<S: PixelTiles<V>, V: RealSimd, const MV: usize, const NR: usize>(p: &Planes<V::T>) {
    let mr = MV * V::LANES;
    // SAFETY: tiles inside the pixels and channels that there are; the copy has room for all of them.
    unsafe {
        // Those that are no whole tile have a copy from the beginning, filled up with zeros.
        let whole = p.pixels / mr * mr;
        for s in 0..if whole < p.pixels { p.steps } else { 0 } {
            let from = p.src.wrapping_offset(s as isize * p.src_step).wrapping_add(whole);
            for u in 0..MV {
                let left = (p.pixels - whole).saturating_sub(u * V::LANES).min(V::LANES);
                let x = V::load_first(from.wrapping_add(u * V::LANES), left);
                x.store(p.copy.add(whole * p.steps + s * mr + u * V::LANES));
            }
        }
        for j in (0..p.lanes).step_by(NR) {
            let cols = NR.min(p.lanes - j);
            let mut finish = p.finish;
            if !finish.bias.is_null() {
                finish.bias = finish.bias.add(j);
            }
            // Each tile asks for some steps of the next block's pixels, until all are.
            let asked = j / NR * (p.steps / EVERY);
            for i in (0..p.pixels).step_by(mr) {
                let copy = p.copy.add(i * p.steps);
                let rows = mr.min(p.pixels - i);
                let first = j == 0 && rows == mr;
                let mut t = PlaneTile {
                    steps: p.steps,
                    a: copy.cast_const(),
                    a_step: mr as isize,
                    copy,
                    b: p.panels.add(j * p.steps),
                    b_step: NR,
                    c: p.dst.wrapping_offset(j as isize * p.dst_step).wrapping_add(i),
                    c_step: p.dst_step,
                    rows,
                    ahead: copy.cast_const(),
                    ahead_step: 0,
                    finish,
                };
                if first {
                    (t.a, t.a_step) = (p.src.wrapping_add(i), p.src_step);
                }
                if asked < p.steps {
                    t.ahead = p.ahead.wrapping_add(i).wrapping_offset(asked as isize * p.src_step);
                    t.ahead_step = p.src_step;
                }
                if first && cols == NR {
                    opaque_fn(S::plane::<MV, NR, true> as unsafe fn(&PlaneTile<V::T>))(&t);
                    continue;
                }
                match rows.div_ceil(V::LANES) {
                    1 => columns::<S, V, 1, NR>(cols, &t),
                    2 if const { MV >= 2 } => columns::<S, V, 2, NR>(cols, &t),
                    3 if const { MV >= 3 } => columns::<S, V, 3, NR>(cols, &t),
                    _ => debug_assert!(false, "no tile of {rows} pixels"),
                }
            }
        }
    }
}

#[inline(always)]
unsafe fn columns<S: PixelTiles<V>, V: RealSimd, const U: usize, const NR: usize>(cols: usize, t: &PlaneTile<V::T>) {
    macro_rules! columns {
        ($($n:literal)*) => {
            match cols {
                // SAFETY: as the caller's.
                $($n if const { $n <= NR } => unsafe {
                    opaque_fn(S::plane::<U, $n, false> as unsafe fn(&PlaneTile<V::T>))(t)
                },)*
                _ => debug_assert!(false, "no tile of {cols} channels"),
            }
        };
    }
    columns!(1 2 3 4 5 6 7 8)
}

/// U vectors of pixels and N result channels. COPY: leaves a copy of the pixels.
#[inline(always)]
pub unsafe fn plane<V: RealSimd, const U: usize, const N: usize, const COPY: bool>(t: &PlaneTile<V::T>) {
    // SAFETY: the contract of the file.
    unsafe {
        let mut acc = [[V::zero(); U]; N];
        let (mut a, mut b, mut copy, mut ahead) = (t.a, t.b, t.copy, t.ahead);
        for j in 0..N {
            prefetch(t.c.wrapping_offset(j as isize * t.c_step));
        }
        // Addresses are opaque from step to step: loads of the next one that are drawn forward push accumulators out.
        macro_rules! step {
            () => {
                let mut column = [V::zero(); U];
                for (u, v) in column.iter_mut().enumerate() {
                    *v = V::load(a.add(u * V::LANES));
                    if COPY {
                        v.store(copy.add(u * V::LANES));
                    }
                }
                for (j, tile) in acc.iter_mut().enumerate() {
                    let x = V::splat(*b.add(j));
                    for u in 0..U {
                        tile[u] = column[u].mul_add(x, tile[u]);
                    }
                }
                a = opaque_ptr(a.wrapping_offset(t.a_step));
                b = opaque_ptr(b.add(t.b_step));
                if COPY {
                    copy = copy.add(U * V::LANES);
                }
            };
        }
        let bytes = EVERY * N * size_of::<V::T>();
        for _ in 0..t.steps / EVERY {
            let mut line = 0;
            while line < U * V::LANES * size_of::<V::T>() {
                // The end of each: its beginning, if not at that of a line, is the end of the pixels before.
                prefetch_far(ahead.cast::<u8>().wrapping_add(line + LINE - 1));
                line += LINE;
            }
            ahead = ahead.wrapping_offset(t.ahead_step);
            let mut line = 0;
            while line < bytes {
                prefetch(b.cast::<u8>().wrapping_add(AHEAD + line));
                line += LINE;
            }
            for _ in 0..EVERY {
                step!();
            }
        }
        for _ in 0..t.steps % EVERY {
            step!();
        }
        if !t.finish.bias.is_null() {
            unrolled!(N, |j| {
                let bias = V::splat(*t.finish.bias.add(j));
                for u in 0..U {
                    acc[j][u] = acc[j][u].add(bias);
                }
            });
        }
        if t.rows < U * V::LANES {
            // The last vector's pixels are not all there.
            let finish = Finish { bias: core::ptr::null(), ..t.finish };
            unrolled!(N, |j| {
                for u in 0..U {
                    let c = t.c.wrapping_offset(j as isize * t.c_step).wrapping_add(u * V::LANES);
                    put(acc[j][u], c, V::LANES.min(t.rows - u * V::LANES), core::ptr::null(), &finish);
                }
            });
            return;
        }
        if t.finish.beta != V::T::ZERO {
            let beta = V::splat(t.finish.beta);
            unrolled!(N, |j| {
                let c = t.c.wrapping_offset(j as isize * t.c_step);
                for u in 0..U {
                    acc[j][u] = V::load(c.add(u * V::LANES)).mul_add(beta, acc[j][u]);
                }
            });
        }
        match t.finish.activation {
            Activation::None => {}
            Activation::Relu => {
                unrolled!(N, |j| {
                    for u in 0..U {
                        acc[j][u] = acc[j][u].max(V::zero());
                    }
                });
            }
            Activation::Leaky(slope) => {
                let slope = V::splat(slope);
                unrolled!(N, |j| {
                    for u in 0..U {
                        acc[j][u] = leaky(acc[j][u], slope);
                    }
                });
            }
        }
        unrolled!(N, |j| {
            let c = t.c.wrapping_offset(j as isize * t.c_step);
            for u in 0..U {
                acc[j][u].store(c.add(u * V::LANES));
            }
        });
    }
}
