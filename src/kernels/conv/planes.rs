//! Products of planes: images with their pixels side by side times weights, as they lie.
//!
//! The vectors of the register tile are pixels, the weights are broadcast. The first columns read the pixels in place and
//! leave a copy in the order of the steps, which all others read; meanwhile the pixels of the next block are asked for. So
//! neither packing nor memory costs time of its own.
//!
//! Sums over such planes are dot products of channels, again as they lie: the vectors are pixels, and each of a tile's sums
//! has a register of its own, whose lanes are added up at the end.
//!
//! Contract of all functions: that of `conv.rs`.

// Loops over a few registers by index: iterator chains hide from the compiler that they can be unrolled.
#![allow(clippy::needless_range_loop, clippy::manual_memcpy)]

use super::super::simd::RealSimd;
use super::super::tile::{opaque_fn, opaque_ptr, prefetch, prefetch_far, unrolled};
use super::{Activation, Finish, PixelTiles, PlaneSums, Planes, leaky, put};
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
        // Results are asked for column by column: all at once are more lines than a core has under way.
        let (mut results, mut unasked) = (t.c, N);
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
            if unasked > 0 {
                for u in 0..U {
                    prefetch(results.wrapping_add(u * V::LANES));
                }
                results = results.wrapping_offset(t.c_step);
                unasked -= 1;
            }
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

/// Channels of a in a tile: those whose vectors' lanes are added up together.
pub const SUMS_HIGH: usize = 4;

/// One tile's work of [`plane_sums`].
pub struct SumsTile<T> {
    pixels: usize,
    a: *const T,
    a_step: isize,
    b: *const T,
    b_step: isize,
    sums: *mut T,
    pitch: usize,
    beta: T,
}

/// [`PlaneSums`]: a tile's channels of b stay in L1 while those of a pass.
#[inline(always)]
pub unsafe fn plane_sums<S: PixelTiles<V>, V: RealSimd, const NR: usize>(p: &PlaneSums<V::T>) {
    const { assert!(NR > 0 && NR <= 6, "sums_columns has no such tile") };
    // SAFETY: tiles inside the channels that there are.
    unsafe {
        for j in (0..p.lanes).step_by(NR) {
            for i in (0..p.rows).step_by(SUMS_HIGH) {
                let t = SumsTile {
                    pixels: p.pixels,
                    a: p.a.wrapping_offset(i as isize * p.a_step),
                    a_step: p.a_step,
                    b: p.b.wrapping_offset(j as isize * p.b_step),
                    b_step: p.b_step,
                    sums: p.sums.add(j * p.pitch + i),
                    pitch: p.pitch,
                    beta: p.beta,
                };
                let cols = NR.min(p.lanes - j);
                if i + SUMS_HIGH <= p.rows {
                    sums_columns::<S, V, SUMS_HIGH, NR>(cols, &t);
                    continue;
                }
                for row in 0..p.rows - i {
                    let a = t.a.wrapping_offset(row as isize * p.a_step);
                    sums_columns::<S, V, 1, NR>(cols, &SumsTile { a, sums: t.sums.add(row), ..t });
                }
            }
        }
    }
}

#[inline(always)]
unsafe fn sums_columns<S: PixelTiles<V>, V: RealSimd, const M: usize, const NR: usize>(
    cols: usize,
    t: &SumsTile<V::T>,
) {
    macro_rules! columns {
        ($($n:literal)*) => {
            match cols {
                // SAFETY: as the caller's.
                $($n if const { $n <= NR } => unsafe {
                    opaque_fn(S::plane_sums::<M, $n> as unsafe fn(&SumsTile<V::T>))(t)
                },)*
                _ => debug_assert!(false, "no tile of {cols} channels"),
            }
        };
    }
    columns!(1 2 3 4 5 6)
}

/// M channels of a and N of b. Every sum goes through the same operations in a tile of any size.
#[inline(always)]
pub unsafe fn plane_sums_tile<V: RealSimd, const M: usize, const N: usize>(t: &SumsTile<V::T>) {
    // SAFETY: the contract of the file.
    unsafe {
        let mut acc = [[V::zero(); M]; N];
        let (mut a, mut b) = ([t.a; M], [t.b; N]);
        for i in 0..M {
            a[i] = opaque_ptr(t.a.wrapping_offset(i as isize * t.a_step));
        }
        for j in 0..N {
            b[j] = opaque_ptr(t.b.wrapping_offset(j as isize * t.b_step));
        }
        macro_rules! step {
            (|$p:ident| $load:expr, $at:expr) => {
                let mut column = [V::zero(); M];
                for i in 0..M {
                    let $p = a[i].wrapping_add($at);
                    column[i] = $load;
                }
                unrolled!(N, |j| {
                    let $p = b[j].wrapping_add($at);
                    let x: V = $load;
                    for i in 0..M {
                        acc[j][i] = column[i].mul_add(x, acc[j][i]);
                    }
                });
            };
        }
        let mut p = 0;
        while p + V::LANES <= t.pixels {
            step!(|at| V::load(at), p);
            p += V::LANES;
        }
        if p < t.pixels {
            let rest = t.pixels - p;
            step!(|at| V::load_first(at, rest), p);
        }
        unrolled!(N, |j| {
            let mut four = [V::zero(); SUMS_HIGH];
            for i in 0..M {
                four[i] = acc[j][i];
            }
            let sum = V::sum4(four);
            let to = t.sums.add(j * t.pitch);
            for i in 0..M {
                let old = if t.beta == V::T::ZERO { V::T::ZERO } else { t.beta * *to.add(i) };
                *to.add(i) = sum[i] + old;
            }
        });
    }
}
