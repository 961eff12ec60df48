//! The kernels of convolution, once for all instruction sets: products over pixels that are reached by address, copies
//! between channels-first and channels-last, the transforms of Winograd's algorithm, depthwise sums.
//!
//! All of them see an image with its channels side by side ("channels-last"): a pixel is an address, its channels follow.
//! The product is a register tile as in `tile.rs` with one difference: the operand that is broadcast is not a panel but
//! a few pixels, each read where it lies, in segments that are the same for all of them (the rows of the window). That
//! is convolution without a matrix of patches (Dukhan, "The Indirect Convolution Algorithm", 2019, with a list of
//! offsets in place of a list of pointers).
//!
//! Contract of all functions: the CPU has V's instruction set; pointers are valid for what the text says is read and
//! written there.

// Loops over a few registers by index: iterator chains hide from the compiler that they can be unrolled.
#![allow(clippy::needless_range_loop)]

use super::simd::{RealSimd, Simd};
use super::tile::{opaque_ptr, prefetch};
use crate::scalar::{Real, Scalar};

/// Consecutive elements of the window, as a distance from a pixel's address.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Segment {
    pub offset: isize,
    pub len: usize,
}

/// What is done to a sum before it is stored: `act(sum + bias + beta * old)`.
#[derive(Clone, Copy)]
pub struct Finish<T> {
    /// Factor of what is in memory; 0 never reads it.
    pub beta: T,
    /// One number for each output channel, or null.
    pub bias: *const T,
    pub activation: Activation<T>,
}

#[derive(Clone, Copy, PartialEq, Debug)]
pub enum Activation<T> {
    None,
    Relu,
    /// Negative numbers times this.
    Leaky(T),
}

impl<T: Scalar> Finish<T> {
    /// Just the sum.
    pub const fn plain() -> Self {
        Finish { beta: T::ZERO, bias: core::ptr::null(), activation: Activation::None }
    }
}

/// A product: for each pixel p and output channel c, the sum over the window of `src[at[p] + window] * weights`.
#[derive(Clone, Copy)]
pub struct Pixels<T> {
    pub pixels: usize,
    pub src: *const T,
    pub at: *const isize,
    pub segments: *const Segment,
    pub count: usize,
    /// Panels of `mr` output channels; a panel has one step for each element of the window, in its order.
    pub panels: *const T,
    /// Elements from one panel to the next.
    pub panel: usize,
    /// Output channels.
    pub lanes: usize,
    pub dst: *mut T,
    pub to: *const isize,
    pub finish: Finish<T>,
}

/// Consecutive products of a pixel, and where they are added.
#[derive(Clone, Copy, Debug)]
pub struct Run {
    pub from: usize,
    pub to: usize,
}

/// A tap of a depthwise window: where it is from a pixel on, and where its weights are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Tap {
    pub src: isize,
    pub weights: usize,
}

/// Depthwise: for each pixel of a rectangle and each channel, the sum over the taps of `src[pixel + tap] * weights[tap]`.
#[derive(Clone, Copy)]
pub struct Depthwise<T> {
    /// Pixels: rows of columns.
    pub size: [usize; 2],
    pub src: *const T,
    /// Elements from one row, and from one column, to the next.
    pub src_step: [isize; 2],
    pub taps: *const Tap,
    pub count: usize,
    /// Blocks of two vectors of channels ([`ConvKernel::lanes`]), `block` elements from one to the next.
    pub weights: *const T,
    pub block: usize,
    pub channels: usize,
    pub dst: *mut T,
    pub dst_step: [isize; 2],
    pub finish: Finish<T>,
}

/// The gradient of depthwise weights: for each tap and channel, `sum[weights] += x[pixel + tap] * dy[pixel]` over the
/// pixels of a rectangle.
#[derive(Clone, Copy)]
pub struct DepthwiseSums<T> {
    pub size: [usize; 2],
    pub x: *const T,
    pub x_step: [isize; 2],
    pub taps: *const Tap,
    pub count: usize,
    pub dy: *const T,
    pub dy_step: [isize; 2],
    pub channels: usize,
    pub sum: *mut T,
}

/// The kernels of one scalar type on one instruction set. Contract as for `GemmKernel`; what each computes stands with
/// the functions of this file.
pub trait ConvKernel<T: Scalar>: Sync {
    /// Output channels of a panel.
    fn mr(&self) -> usize;
    /// Pixels of the register tile.
    fn nr(&self) -> usize;
    /// Lanes of a vector.
    fn lanes(&self) -> usize;
    unsafe fn pixels(&self, p: &Pixels<T>);
    unsafe fn depthwise(&self, p: &Depthwise<T>);
    unsafe fn depthwise_weights(&self, p: &DepthwiseSums<T>);
    unsafe fn to_last(
        &self,
        channels: usize,
        len: usize,
        src: *const T,
        cs: isize,
        ps: isize,
        dst: *mut T,
        pitch: usize,
    );
    unsafe fn to_first(
        &self,
        channels: usize,
        len: usize,
        src: *const T,
        pitch: usize,
        dst: *mut T,
        cs: isize,
        ps: isize,
    );
    unsafe fn gather(&self, steps: usize, src: *const T, at: *const isize, lanes: &[isize], dst: *mut T);
    unsafe fn spread(&self, channels: usize, steps: usize, src: *const T, ps: isize, dst: *mut T, all: usize);
    unsafe fn gather_across(&self, steps: usize, src: *const T, cs: isize, lanes: usize, dst: *mut T, all: usize);
    unsafe fn finish_columns(
        &self,
        m: usize,
        n: usize,
        c: *mut T,
        cs: isize,
        bias: *const T,
        activation: Activation<T>,
    );
    unsafe fn scatter(
        &self,
        pixels: usize,
        src: *const T,
        pitch: usize,
        dst: *mut T,
        step: usize,
        runs: &[Run],
        len: usize,
    );
    unsafe fn add_rows(&self, n: usize, rows: usize, src: *const T, pitch: isize, sum: *mut T);
    unsafe fn wino_input(&self, channels: usize, src: *const T, row: isize, col: isize, dst: *mut T, xi: usize);
    unsafe fn wino_output(
        &self,
        channels: usize,
        src: *const T,
        xi: usize,
        dst: *mut T,
        row: isize,
        col: isize,
        rows: usize,
        cols: usize,
        finish: &Finish<T>,
    );
    unsafe fn wino_weights(&self, n: usize, src: *const T, tap: isize, dst: *mut T, xi: usize);
    unsafe fn wino_gradient(
        &self,
        channels: usize,
        src: *const T,
        row: isize,
        col: isize,
        dst: *mut T,
        step: usize,
        xi: usize,
    );
    unsafe fn wino_weights_back(&self, n: usize, src: *const T, xi: usize, dst: *mut T, tap: usize);
}

/// The register tiles, each a function of its own under the instruction set's target feature.
pub trait PixelTiles<V: Simd> {
    unsafe fn tile<const U: usize, const N: usize>(t: &PixelTile<V::T>);
    unsafe fn depthwise<const N: usize>(p: &Depthwise<V::T>, src: *const V::T, dst: *mut V::T, next: *const V::T);
    unsafe fn depthwise_weights<const N: usize>(p: &DepthwiseSums<V::T>, taps: *const Tap);
}

/// One register tile's work.
pub struct PixelTile<T> {
    b: *const T,
    at: *const isize,
    segments: *const Segment,
    count: usize,
    a: *const T,
    mr: usize,
    c: *mut T,
    to: *const isize,
    rows: usize,
    finish: Finish<T>,
}

/// Pixels of a tile at most: with more of them the compiler keeps loads of several steps in registers, and accumulators in
/// memory.
const WIDE: usize = 6;

/// [`Pixels`]: the pixels of a tile stay in L1 while the panels pass.
#[inline(always)]
pub unsafe fn pixels<S: PixelTiles<V>, V: RealSimd, const MV: usize, const NR: usize>(p: &Pixels<V::T>) {
    let mr = MV * V::LANES;
    // SAFETY: tiles inside the pixels and channels that there are.
    unsafe {
        let mut j = 0;
        while j < p.pixels {
            let cols = NR.min(WIDE).min(p.pixels - j);
            let mut i = 0;
            while i < p.lanes {
                let rows = mr.min(p.lanes - i);
                let mut finish = p.finish;
                if !finish.bias.is_null() {
                    finish.bias = finish.bias.add(i);
                }
                let t = PixelTile {
                    b: p.src,
                    at: p.at.add(j),
                    segments: p.segments,
                    count: p.count,
                    a: p.panels.add(i / mr * p.panel),
                    mr,
                    c: p.dst.wrapping_add(i),
                    to: p.to.add(j),
                    rows,
                    finish,
                };
                match rows.div_ceil(V::LANES) {
                    1 => columns::<S, V, 1, NR>(cols, &t),
                    2 if const { MV >= 2 } => columns::<S, V, 2, NR>(cols, &t),
                    3 if const { MV >= 3 } => columns::<S, V, 3, NR>(cols, &t),
                    _ => debug_assert!(false, "no tile of {rows} channels"),
                }
                i += mr;
            }
            j += cols;
        }
    }
}

#[inline(always)]
unsafe fn columns<S: PixelTiles<V>, V: Simd, const U: usize, const NR: usize>(cols: usize, t: &PixelTile<V::T>) {
    macro_rules! columns {
        ($($n:literal)*) => {
            match cols {
                // SAFETY: as the caller's.
                $($n if const { $n <= NR && $n <= WIDE } => unsafe { S::tile::<U, $n>(t) },)*
                _ => debug_assert!(false, "no tile of {cols} pixels"),
            }
        };
    }
    columns!(1 2 3 4 5 6)
}

/// Elements of a panel that are asked for ahead of their use, in bytes.
const AHEAD: usize = 768;

/// U vectors of output channels and N pixels.
#[inline(always)]
pub unsafe fn tile<V: RealSimd, const U: usize, const N: usize>(t: &PixelTile<V::T>) {
    // SAFETY: the contract of the file.
    unsafe {
        let mut acc = [[V::zero(); U]; N];
        let mut b = [t.b; N];
        for (j, b) in b.iter_mut().enumerate() {
            *b = opaque_ptr(t.b.wrapping_offset(*t.at.add(j)));
        }
        let mut a = t.a;
        let mr = t.mr;
        for s in 0..t.count {
            let segment = &*t.segments.add(s);
            let mut i = segment.offset;
            let end = segment.offset + segment.len as isize;
            // The panel's address is opaque from step to step: loads of the next one that are drawn forward push
            // accumulators out.
            macro_rules! step {
                ($at:expr) => {
                    let mut column = [V::zero(); U];
                    for (u, v) in column.iter_mut().enumerate() {
                        *v = V::load(a.add(u * V::LANES));
                    }
                    prefetch(a.cast::<u8>().wrapping_add(AHEAD));
                    for (j, tile) in acc.iter_mut().enumerate() {
                        let x = V::splat(*b[j].wrapping_offset(i + $at));
                        for u in 0..U {
                            tile[u] = column[u].mul_add(x, tile[u]);
                        }
                    }
                    a = opaque_ptr(a.wrapping_add(mr));
                };
            }
            while i + 4 <= end {
                step!(0);
                step!(1);
                step!(2);
                step!(3);
                i += 4;
            }
            while i < end {
                step!(0);
                i += 1;
            }
        }
        let mut c = [t.c; N];
        for (j, c) in c.iter_mut().enumerate() {
            *c = t.c.wrapping_offset(*t.to.add(j));
        }
        if t.rows < U * V::LANES {
            return some_rows(&acc, &c, t);
        }
        finished(acc, &c, &t.finish);
    }
}

/// Finishes and stores a tile of whole vectors.
#[inline(always)]
unsafe fn finished<V: RealSimd, const U: usize, const N: usize>(
    mut acc: [[V; U]; N],
    c: &[*mut V::T; N],
    finish: &Finish<V::T>,
) {
    // SAFETY: the contract of the file.
    unsafe {
        // Every step in loops of its own that the compiler unrolls: an accumulator that is reached by an index would live in
        // memory from the beginning.
        if finish.beta != V::T::ZERO {
            let beta = V::splat(finish.beta);
            for j in 0..N {
                for u in 0..U {
                    acc[j][u] = V::load(c[j].add(u * V::LANES)).mul_add(beta, acc[j][u]);
                }
            }
        }
        if !finish.bias.is_null() {
            for u in 0..U {
                let bias = V::load(finish.bias.add(u * V::LANES));
                for tile in &mut acc {
                    tile[u] = tile[u].add(bias);
                }
            }
        }
        match finish.activation {
            Activation::None => {}
            Activation::Relu => {
                for tile in &mut acc {
                    for x in tile {
                        *x = x.max(V::zero());
                    }
                }
            }
            Activation::Leaky(slope) => {
                let slope = V::splat(slope);
                for tile in &mut acc {
                    for x in tile {
                        *x = leaky(*x, slope);
                    }
                }
            }
        }
        for j in 0..N {
            for u in 0..U {
                acc[j][u].store(c[j].add(u * V::LANES));
            }
        }
    }
}

/// The end of a tile of which not all rows exist.
#[inline(always)]
unsafe fn some_rows<V: RealSimd, const U: usize, const N: usize>(
    acc: &[[V; U]; N],
    c: &[*mut V::T; N],
    t: &PixelTile<V::T>,
) {
    let mut sums = [const { core::mem::MaybeUninit::<V::T>::uninit() }; super::tile::MAX_TILE];
    // SAFETY: the contract of the file; what is read was written before.
    unsafe {
        let sums = sums.as_mut_ptr().cast::<V::T>();
        for j in 0..N {
            for u in 0..U {
                acc[j][u].store(sums.add((j * U + u) * V::LANES));
            }
        }
        for (j, c) in c.iter().enumerate() {
            for at in (0..t.rows).step_by(V::LANES) {
                let n = V::LANES.min(t.rows - at);
                let bias = if t.finish.bias.is_null() { t.finish.bias } else { t.finish.bias.add(at) };
                put(V::load(sums.add(j * U * V::LANES + at)), c.add(at), n, bias, &t.finish);
            }
        }
    }
}

/// Negative numbers times the slope. Not max(x, slope x): a slope above one or below zero is a slope too.
#[inline(always)]
unsafe fn leaky<V: RealSimd>(x: V, slope: V) -> V {
    // SAFETY: the contract of the file.
    unsafe { x.neg().max(V::zero()).neg_mul_add(slope, x.max(V::zero())) }
}

/// Stores the first n lanes of a sum, finished; `bias` is that of these lanes.
#[inline(always)]
unsafe fn put<V: RealSimd>(mut x: V, c: *mut V::T, n: usize, bias: *const V::T, finish: &Finish<V::T>) {
    // SAFETY: the contract of the file.
    unsafe {
        let whole = n == V::LANES;
        if finish.beta != V::T::ZERO {
            let old = if whole { V::load(c) } else { V::load_first(c, n) };
            x = old.mul_add(V::splat(finish.beta), x);
        }
        if !bias.is_null() {
            x = x.add(if whole { V::load(bias) } else { V::load_first(bias, n) });
        }
        x = match finish.activation {
            Activation::None => x,
            Activation::Relu => x.max(V::zero()),
            Activation::Leaky(slope) => leaky(x, V::splat(slope)),
        };
        if whole {
            x.store(c);
        } else {
            x.store_first(c, n);
        }
    }
}

/// [`Depthwise`]: a few pixels of a row at a time, so that a weight is loaded once for all of them.
#[inline(always)]
pub unsafe fn depthwise<S: PixelTiles<V>, V: RealSimd>(p: &Depthwise<V::T>) {
    const MOST: usize = 6;
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
            // SAFETY: the contract of the file.
            unsafe {
                match some {
                    1 => S::depthwise::<1>(&p, src, dst, next),
                    2 => S::depthwise::<2>(&p, src, dst, next),
                    3 => S::depthwise::<3>(&p, src, dst, next),
                    4 => S::depthwise::<4>(&p, src, dst, next),
                    5 => S::depthwise::<5>(&p, src, dst, next),
                    _ => S::depthwise::<6>(&p, src, dst, next),
                }
            }
        }
    }
}

/// All channels of N pixels. Meanwhile what the last two taps of the next pixels meet is asked for: the other rows of
/// taps were there before.
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
        let mut ahead = [next; 2];
        for (t, ahead) in ahead.iter_mut().enumerate() {
            if p.count > t {
                *ahead = next.wrapping_offset((*p.taps.add(p.count - 1 - t)).src);
            }
        }
        while i + 2 * V::LANES <= p.channels {
            for ahead in ahead {
                for q in 0..N {
                    prefetch(ahead.wrapping_offset(q as isize * p.src_step[1]).wrapping_add(i));
                }
            }
            depthwise_part::<V, 2, N>(p, i, weights, src, dst);
            weights = weights.wrapping_add(p.block);
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
        // SAFETY: the contract of the file.
        unsafe {
            let taps = p.taps.add(t);
            match some {
                1 => S::depthwise_weights::<1>(p, taps),
                2 => S::depthwise_weights::<2>(p, taps),
                3 => S::depthwise_weights::<3>(p, taps),
                4 => S::depthwise_weights::<4>(p, taps),
                5 => S::depthwise_weights::<5>(p, taps),
                _ => S::depthwise_weights::<6>(p, taps),
            }
        }
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

/// A row of `len` pixels, element (c, p) at `src + c*cs + p*ps`, to `dst + p*pitch + c`.
#[inline(always)]
pub unsafe fn to_last<V: Simd>(
    channels: usize,
    len: usize,
    src: *const V::T,
    cs: isize,
    ps: isize,
    dst: *mut V::T,
    pitch: usize,
) {
    // SAFETY: the contract of the file.
    unsafe {
        if cs == 1 && ps == channels as isize && pitch == channels {
            return core::ptr::copy_nonoverlapping(src, dst, len * channels);
        }
        if cs == 1 {
            for p in 0..len {
                let (from, to) = (src.wrapping_offset(p as isize * ps), dst.add(p * pitch));
                let mut c = 0;
                while c + V::LANES <= channels {
                    V::load(from.add(c)).store(to.add(c));
                    c += V::LANES;
                }
                while c < channels {
                    *to.add(c) = *from.add(c);
                    c += 1;
                }
            }
            return;
        }
        let mut whole = 0;
        if ps == 1 && V::SQUARE > 0 && len >= V::SQUARE {
            while whole + V::LANES <= channels {
                let from = src.wrapping_offset(whole as isize * cs);
                let mut p = 0;
                while p < len {
                    // The last square may repeat some pixels.
                    p = p.min(len - V::SQUARE);
                    V::transpose(from.wrapping_add(p), cs, dst.add(p * pitch + whole), pitch);
                    p += V::SQUARE;
                }
                whole += V::LANES;
            }
        }
        for c in whole..channels {
            let from = src.wrapping_offset(c as isize * cs);
            for p in 0..len {
                *dst.add(p * pitch + c) = *from.wrapping_offset(p as isize * ps);
            }
        }
    }
}

/// The reverse of [`to_last`].
#[inline(always)]
pub unsafe fn to_first<V: Simd>(
    channels: usize,
    len: usize,
    src: *const V::T,
    pitch: usize,
    dst: *mut V::T,
    cs: isize,
    ps: isize,
) {
    // SAFETY: the contract of the file.
    unsafe {
        let mut whole = 0;
        if ps == 1 && V::SQUARE > 0 && len >= V::SQUARE {
            while whole + V::LANES <= channels {
                let to = dst.wrapping_offset(whole as isize * cs);
                let mut p = 0;
                while p < len {
                    p = p.min(len - V::SQUARE);
                    V::transpose_back(src.add(p * pitch + whole), pitch, to.wrapping_add(p), cs);
                    p += V::SQUARE;
                }
                whole += V::LANES;
            }
        }
        for c in whole..channels {
            let to = dst.wrapping_offset(c as isize * cs);
            for p in 0..len {
                *to.wrapping_offset(p as isize * ps) = *src.add(p * pitch + c);
            }
        }
    }
}

/// Panels of NR lanes: step p of a panel holds `src[at[p] + lanes[l]]`, zero behind the last lane. Panels are `steps`
/// steps, one behind the other.
#[inline(always)]
pub unsafe fn gather<T: Scalar, const NR: usize>(
    steps: usize,
    src: *const T,
    at: *const isize,
    lanes: &[isize],
    dst: *mut T,
) {
    /// Steps that are taken over all panels at once: their pixels stay in L1.
    const SOME: usize = 32;
    // SAFETY: the contract of the file.
    unsafe {
        let mut from = 0;
        while from < steps {
            let to = steps.min(from + SOME);
            for (number, panel) in lanes.chunks(NR).enumerate() {
                let dst = dst.add(number * NR * steps);
                let mut consecutive = panel.len() == NR;
                for pair in panel.windows(2) {
                    consecutive &= pair[1] == pair[0] + 1;
                }
                if consecutive {
                    let src = src.wrapping_offset(panel[0]);
                    // The pixels of the next round, which comes from further away.
                    let ahead = if to + SOME <= steps { SOME } else { 0 };
                    for p in from..to {
                        prefetch(src.wrapping_offset(*at.add(p + ahead)));
                        let pixel = src.wrapping_offset(*at.add(p)).cast::<[T; NR]>();
                        dst.add(p * NR).cast::<[T; NR]>().write(pixel.read());
                    }
                    continue;
                }
                if let Ok(lanes) = <&[isize; NR]>::try_from(panel) {
                    for p in from..to {
                        let pixel = src.wrapping_offset(*at.add(p));
                        for l in 0..NR {
                            *dst.add(p * NR + l) = *pixel.wrapping_offset(lanes[l]);
                        }
                    }
                    continue;
                }
                for p in from..to {
                    let pixel = src.wrapping_offset(*at.add(p));
                    for l in 0..NR {
                        *dst.add(p * NR + l) = match panel.get(l) {
                            Some(&lane) => *pixel.wrapping_offset(lane),
                            None => T::ZERO,
                        };
                    }
                }
            }
            from = to;
        }
    }
}

/// Panels of NR lanes as [`gather`] writes them, of channels that are `cs` apart with their pixels side by side: `steps` of a
/// panel's `all` steps. May write up to 8 elements behind the last panel.
#[inline(always)]
pub unsafe fn gather_across<V: RealSimd, const NR: usize>(
    steps: usize,
    src: *const V::T,
    cs: isize,
    lanes: usize,
    dst: *mut V::T,
    all: usize,
) {
    // SAFETY: the contract of the file.
    unsafe {
        for l in (0..lanes).step_by(NR) {
            let (from, to) = (src.wrapping_offset(l as isize * cs), dst.add(l * all));
            let count = NR.min(lanes - l);
            let mut p = 0;
            // Squares of which a step keeps the first NR: the next step's begin where they end, and are written later.
            if V::SIDE >= NR && V::SIDE > 0 {
                let (mut rows, mut columns) = ([from; 8], [to; 8]);
                while p + V::SIDE < steps {
                    for q in 0..V::SIDE {
                        rows[q] = from.wrapping_offset(q.min(count - 1) as isize * cs).wrapping_add(p);
                        columns[q] = to.add((p + q) * NR);
                    }
                    V::square(rows, columns);
                    if count < NR {
                        for q in 0..V::SIDE {
                            for lane in count..NR {
                                *to.add((p + q) * NR + lane) = V::T::ZERO;
                            }
                        }
                    }
                    p += V::SIDE;
                }
            }
            while p < steps {
                for lane in 0..NR {
                    let x = if lane < count { *from.wrapping_offset(lane as isize * cs).add(p) } else { V::T::ZERO };
                    *to.add(p * NR + lane) = x;
                }
                p += 1;
            }
        }
    }
}

/// `c := act(c + bias)` for n columns of m elements, one bias a column.
#[inline(always)]
pub unsafe fn finish_columns<V: RealSimd>(
    m: usize,
    n: usize,
    c: *mut V::T,
    cs: isize,
    bias: *const V::T,
    activation: Activation<V::T>,
) {
    // SAFETY: the contract of the file.
    unsafe {
        let finish = Finish { beta: V::T::ZERO, bias: core::ptr::null(), activation };
        for j in 0..n {
            let add = V::splat(if bias.is_null() { V::T::ZERO } else { *bias.add(j) });
            let column = c.wrapping_offset(j as isize * cs);
            let mut i = 0;
            while i < m {
                let some = V::LANES.min(m - i);
                let at = column.wrapping_add(i);
                let x = if some == V::LANES { V::load(at) } else { V::load_first(at, some) };
                put(x.add(add), at, some, core::ptr::null(), &finish);
                i += some;
            }
        }
    }
}

/// Channels of `steps` pixels `ps` apart, side by side each, into panels of MV vectors that have `all` steps: step p of
/// these is at `dst + p*MV*LANES`.
#[inline(always)]
pub unsafe fn spread<V: Simd, const MV: usize>(
    channels: usize,
    steps: usize,
    src: *const V::T,
    ps: isize,
    dst: *mut V::T,
    all: usize,
) {
    let width = MV * V::LANES;
    // SAFETY: the contract of the file.
    unsafe {
        for p in 0..steps {
            let (from, to) = (src.wrapping_offset(p as isize * ps), dst.add(p * width));
            let mut c = 0;
            while c + width <= channels {
                for i in 0..MV {
                    V::load(from.add(c + i * V::LANES)).store_packed(to.add(c * all + i * V::LANES));
                }
                c += width;
            }
            for i in 0..if c < channels { MV } else { 0 } {
                let left = channels.saturating_sub(c + i * V::LANES).min(V::LANES);
                V::load_first(from.wrapping_add(c + i * V::LANES), left).store_packed(to.add(c * all + i * V::LANES));
            }
        }
    }
}

/// `dst[p*step + run.to + i] += src[p*pitch + run.from + i]` for `len` elements of each run, pixel after pixel.
#[inline(always)]
pub unsafe fn scatter<V: Simd>(
    pixels: usize,
    src: *const V::T,
    pitch: usize,
    dst: *mut V::T,
    step: usize,
    runs: &[Run],
    len: usize,
) {
    // SAFETY: the contract of the file.
    unsafe {
        for p in 0..pixels {
            let (from, to) = (src.add(p * pitch), dst.add(p * step));
            for run in runs {
                let (from, to) = (from.add(run.from), to.add(run.to));
                let mut i = 0;
                while i + V::LANES <= len {
                    V::load(to.add(i)).add(V::load(from.add(i))).store(to.add(i));
                    i += V::LANES;
                }
                if i < len {
                    let left = len - i;
                    let sum = V::load_first(to.add(i), left).add(V::load_first(from.add(i), left));
                    sum.store_first(to.add(i), left);
                }
            }
        }
    }
}

/// `sum[i] += src[i]` for n elements of each row, some rows at a time.
#[inline(always)]
pub unsafe fn add_rows<V: Simd>(n: usize, rows: usize, src: *const V::T, pitch: isize, sum: *mut V::T) {
    const SOME: usize = 8;
    // SAFETY: the contract of the file.
    unsafe {
        let mut r = 0;
        while r < rows {
            let from = src.wrapping_offset(r as isize * pitch);
            let some = if r + SOME <= rows { SOME } else { 1 };
            macro_rules! pass {
                ($at:expr, |$p:ident| $load:expr) => {{
                    let total = if some == SOME {
                        let mut x = [V::zero(); SOME];
                        for q in 0..SOME {
                            let $p = from.wrapping_offset(q as isize * pitch).wrapping_add($at);
                            x[q] = $load;
                        }
                        let (a, b) = (x[0].add(x[1]).add(x[2].add(x[3])), x[4].add(x[5]).add(x[6].add(x[7])));
                        a.add(b)
                    } else {
                        let $p = from.wrapping_add($at);
                        $load
                    };
                    let $p = sum.add($at).cast_const();
                    $load.add(total)
                }};
            }
            let mut i = 0;
            while i + V::LANES <= n {
                pass!(i, |p| V::load(p)).store(sum.add(i));
                i += V::LANES;
            }
            if i < n {
                let left = n - i;
                pass!(i, |p| V::load_first(p, left)).store_first(sum.add(i), left);
            }
            r += some;
        }
    }
}

// ---------------------------------------------------------------------------------------------------------------------
// Winograd F(4x4, 3x3) and its gradient F(3x3, 4x4): Lavin and Gray, "Fast Algorithms for Convolutional Neural Networks",
// 2016. Interpolation points 0, 1, -1, 2, -2 and infinity for both, so the image's transform is the same. Elements of a
// transformed tile are `xi` apart; channels are rounded up to whole vectors, and what lies behind the last is zero.

/// B^T d along six vectors.
#[inline(always)]
unsafe fn input6<V: RealSimd>(d: [V; 6]) -> [V; 6] {
    // SAFETY: the contract of the file.
    unsafe {
        let (two, four, five) = (V::T::from_f64(2.0), V::T::from_f64(4.0), V::T::from_f64(5.0));
        let (two, four, five) = (V::splat(two), V::splat(four), V::splat(five));
        let even = d[2].neg_mul_add(four, d[4]);
        let odd = d[1].neg_mul_add(four, d[3]);
        let far = d[4].sub(d[2]);
        let near = d[3].sub(d[1]);
        [
            d[2].neg_mul_add(five, d[0].mul_add(four, d[4])),
            even.add(odd),
            even.sub(odd),
            near.mul_add(two, far),
            near.neg_mul_add(two, far),
            d[3].neg_mul_add(five, d[1].mul_add(four, d[5])),
        ]
    }
}

/// The image's transform of one tile of 6x6 pixels, `row` and `col` elements apart.
#[inline(always)]
pub unsafe fn wino_input<V: RealSimd>(
    channels: usize,
    src: *const V::T,
    row: isize,
    col: isize,
    dst: *mut V::T,
    xi: usize,
) {
    // SAFETY: the contract of the file.
    unsafe {
        let mut c = 0;
        while c < channels {
            let mut t = [[V::zero(); 6]; 6];
            for (x, column) in t.iter_mut().enumerate() {
                let from = src.wrapping_offset(x as isize * col).wrapping_add(c);
                let mut d = [V::zero(); 6];
                for (y, d) in d.iter_mut().enumerate() {
                    *d = V::load(from.wrapping_offset(y as isize * row));
                }
                *column = input6(d);
            }
            for y in 0..6 {
                let line = input6([t[0][y], t[1][y], t[2][y], t[3][y], t[4][y], t[5][y]]);
                for (x, v) in line.iter().enumerate() {
                    v.store(dst.add((y * 6 + x) * xi + c));
                }
            }
            c += V::LANES;
        }
    }
}

/// A^T m along six vectors, to four.
#[inline(always)]
unsafe fn output4<V: RealSimd>(m: [V; 6]) -> [V; 4] {
    // SAFETY: the contract of the file.
    unsafe {
        let (two, four, eight) = (V::T::from_f64(2.0), V::T::from_f64(4.0), V::T::from_f64(8.0));
        let (two, four, eight) = (V::splat(two), V::splat(four), V::splat(eight));
        let (s1, d1) = (m[1].add(m[2]), m[1].sub(m[2]));
        let (s2, d2) = (m[3].add(m[4]), m[3].sub(m[4]));
        [m[0].add(s1).add(s2), d2.mul_add(two, d1), s2.mul_add(four, s1), d2.mul_add(eight, d1).add(m[5])]
    }
}

/// The result's transform of one tile, of which `rows x cols` pixels exist.
#[inline(always)]
pub unsafe fn wino_output<V: RealSimd>(
    channels: usize,
    src: *const V::T,
    xi: usize,
    dst: *mut V::T,
    row: isize,
    col: isize,
    rows: usize,
    cols: usize,
    finish: &Finish<V::T>,
) {
    // SAFETY: the contract of the file.
    unsafe {
        let mut c = 0;
        while c < channels {
            let n = V::LANES.min(channels - c);
            let mut t = [[V::zero(); 4]; 6];
            for (x, column) in t.iter_mut().enumerate() {
                let mut m = [V::zero(); 6];
                for (y, m) in m.iter_mut().enumerate() {
                    *m = V::load(src.add((y * 6 + x) * xi + c));
                }
                *column = output4(m);
            }
            let bias = if finish.bias.is_null() { finish.bias } else { finish.bias.add(c) };
            for y in 0..rows {
                let line = output4([t[0][y], t[1][y], t[2][y], t[3][y], t[4][y], t[5][y]]);
                for (x, v) in line.iter().enumerate().take(cols) {
                    let to = dst.wrapping_offset(y as isize * row + x as isize * col).wrapping_add(c);
                    put(*v, to, n, bias, finish);
                }
            }
            c += n;
        }
    }
}

/// G g along three vectors, to six.
#[inline(always)]
unsafe fn weights6<V: RealSimd>(g: [V; 3]) -> [V; 6] {
    // SAFETY: the contract of the file.
    unsafe {
        let quarter = V::splat(V::T::from_f64(0.25));
        let sixth = V::splat(V::T::from_f64(-1.0 / 6.0));
        let (a, b, c) = (V::T::from_f64(1.0 / 24.0), V::T::from_f64(1.0 / 12.0), V::T::from_f64(1.0 / 6.0));
        let (a, b, c) = (V::splat(a), V::splat(b), V::splat(c));
        let s = g[0].add(g[2]);
        let far = g[2].mul_add(c, g[0].mul(a));
        [
            g[0].mul(quarter),
            s.add(g[1]).mul(sixth),
            s.sub(g[1]).mul(sixth),
            g[1].mul_add(b, far),
            g[1].neg_mul_add(b, far),
            g[2],
        ]
    }
}

/// The weights' transform of n elements (whole vectors): tap t at `src + t*tap`.
#[inline(always)]
pub unsafe fn wino_weights<V: RealSimd>(n: usize, src: *const V::T, tap: isize, dst: *mut V::T, xi: usize) {
    // SAFETY: the contract of the file.
    unsafe {
        let mut i = 0;
        while i < n {
            let mut t = [[V::zero(); 6]; 3];
            for (x, column) in t.iter_mut().enumerate() {
                let mut g = [V::zero(); 3];
                for (y, g) in g.iter_mut().enumerate() {
                    *g = V::load(src.wrapping_offset((y * 3 + x) as isize * tap).wrapping_add(i));
                }
                *column = weights6(g);
            }
            for y in 0..6 {
                let line = weights6([t[0][y], t[1][y], t[2][y]]);
                for (x, v) in line.iter().enumerate() {
                    v.store(dst.add((y * 6 + x) * xi + i));
                }
            }
            i += V::LANES;
        }
    }
}

/// The 6x4 matrix of F(3x3, 4x4) along four vectors.
#[inline(always)]
unsafe fn gradient6<V: RealSimd>(g: [V; 4]) -> [V; 6] {
    // SAFETY: the contract of the file.
    unsafe {
        let quarter = V::splat(V::T::from_f64(0.25));
        let sixth = V::splat(V::T::from_f64(-1.0 / 6.0));
        let (a, b) = (V::T::from_f64(1.0 / 24.0), V::T::from_f64(1.0 / 12.0));
        let (c, d) = (V::T::from_f64(1.0 / 6.0), V::T::from_f64(1.0 / 3.0));
        let (a, b, c, d) = (V::splat(a), V::splat(b), V::splat(c), V::splat(d));
        let (even, odd) = (g[0].add(g[2]), g[1].add(g[3]));
        let (far, near) = (g[2].mul_add(c, g[0].mul(a)), g[3].mul_add(d, g[1].mul(b)));
        [g[0].mul(quarter), even.add(odd).mul(sixth), even.sub(odd).mul(sixth), far.add(near), far.sub(near), g[3]]
    }
}

/// The transform of one 4x4 tile of the result's gradient, into panels of `mr` channels: vector i of channels is
/// at `dst + i/MV * step + i%MV * LANES`.
#[inline(always)]
pub unsafe fn wino_gradient<V: RealSimd, const MV: usize>(
    channels: usize,
    src: *const V::T,
    row: isize,
    col: isize,
    dst: *mut V::T,
    step: usize,
    xi: usize,
) {
    // SAFETY: the contract of the file.
    unsafe {
        let mut i = 0;
        while i * V::LANES < channels {
            let mut t = [[V::zero(); 6]; 4];
            for (x, column) in t.iter_mut().enumerate() {
                let from = src.wrapping_offset(x as isize * col).wrapping_add(i * V::LANES);
                let mut g = [V::zero(); 4];
                for (y, g) in g.iter_mut().enumerate() {
                    *g = V::load(from.wrapping_offset(y as isize * row));
                }
                *column = gradient6(g);
            }
            let to = dst.add(i / MV * step + i % MV * V::LANES);
            for y in 0..6 {
                let line = gradient6([t[0][y], t[1][y], t[2][y], t[3][y]]);
                for (x, v) in line.iter().enumerate() {
                    v.store(to.add((y * 6 + x) * xi));
                }
            }
            i += 1;
        }
    }
}

/// The weights' gradient from its transform, n elements (whole vectors): tap t to `dst + t*tap`.
#[inline(always)]
pub unsafe fn wino_weights_back<V: RealSimd>(n: usize, src: *const V::T, xi: usize, dst: *mut V::T, tap: usize) {
    // SAFETY: the contract of the file.
    unsafe {
        let (two, four) = (V::splat(V::T::from_f64(2.0)), V::splat(V::T::from_f64(4.0)));
        macro_rules! three {
            ($m:expr) => {{
                let m: [V; 6] = $m;
                let (s1, d1) = (m[1].add(m[2]), m[1].sub(m[2]));
                let (s2, d2) = (m[3].add(m[4]), m[3].sub(m[4]));
                [m[0].add(s1).add(s2), d2.mul_add(two, d1), s2.mul_add(four, s1).add(m[5])]
            }};
        }
        let mut i = 0;
        while i < n {
            let mut t = [[V::zero(); 3]; 6];
            for (x, column) in t.iter_mut().enumerate() {
                let mut m = [V::zero(); 6];
                for (y, m) in m.iter_mut().enumerate() {
                    *m = V::load(src.add((y * 6 + x) * xi + i));
                }
                *column = three!(m);
            }
            for y in 0..3 {
                let line = three!([t[0][y], t[1][y], t[2][y], t[3][y], t[4][y], t[5][y]]);
                for (x, v) in line.iter().enumerate() {
                    v.store(dst.add((y * 3 + x) * tap + i));
                }
            }
            i += V::LANES;
        }
    }
}
