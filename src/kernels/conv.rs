//! The kernels of convolution, once for all instruction sets: products over pixels that are reached by address; in `conv/`
//! sums within a vector (depthwise and small groups), the copies between layouts, and the transforms of Winograd's algorithm.
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

mod copies;
mod lanewise;
mod planes;
mod shifts;
mod windows;
mod winograd;

pub use copies::{add_rows, gather, gather_across, scatter, spread, to_first, to_last};
pub use lanewise::{LONG, LaneTile, RUN, lanewise, lanewise_sums, lanewise_sums_tile, lanewise_tile};
pub use planes::{PlaneTile, SUMS_HIGH, SumsTile, plane, plane_sums, plane_sums_tile, planes};
pub use shifts::{SHIFTED, shifted, shifts, weave};
pub use windows::{WindowTile, window_sums, window_tile};
pub use winograd::{RESULTS, Side, TOGETHER, Term};
pub use winograd::{wino_gradient, wino_input, wino_output, wino_weights, wino_weights_back};

use super::simd::{RealSimd, Simd};
use super::tile::{LINE, opaque_fn, opaque_ptr, prefetch, prefetch_far, unrolled};
use crate::scalar::Scalar;

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
    /// Panels of `mr` output channels ([`ConvKernel::panel`]); a panel has one step for each element of the window, in its order.
    pub panels: *const T,
    pub mr: usize,
    /// Elements from one panel to the next.
    pub panel: usize,
    /// Output channels.
    pub lanes: usize,
    pub dst: *mut T,
    pub to: *const isize,
    /// Elements that are wanted when this is done, presumably: asked for meanwhile.
    pub ahead: *const T,
    pub ahead_len: usize,
    /// Whether results are stored past the caches, where that can be done: `lanes` and all places are multiples of a cache line, and
    /// they are not read first.
    pub past: bool,
    pub finish: Finish<T>,
}

/// A product of planes: for each pixel p and result channel c, the sum over the steps s of
/// `src[p + s*src_step] * weights`, at `dst[p + c*dst_step]`.
#[derive(Clone, Copy)]
pub struct Planes<T> {
    pub pixels: usize,
    /// Source channels.
    pub steps: usize,
    pub src: *const T,
    pub src_step: isize,
    /// Panels of `nr` result channels, `steps` steps each.
    pub panels: *const T,
    pub lanes: usize,
    pub dst: *mut T,
    pub dst_step: isize,
    /// Room for a copy of the pixels, in whole tiles.
    pub copy: *mut T,
    /// Where the next call's pixels are, presumably.
    pub ahead: *const T,
    pub finish: Finish<T>,
}

/// Sums over planes: for each channel r of a and l of b, `sums[l*pitch + r] := sum over pixels p of a[p + r*a_step] *
/// b[p + l*b_step] + beta * sums`; beta == 0 never reads them.
#[derive(Clone, Copy)]
pub struct PlaneSums<T> {
    pub pixels: usize,
    pub a: *const T,
    pub a_step: isize,
    pub rows: usize,
    pub b: *const T,
    pub b_step: isize,
    pub lanes: usize,
    pub sums: *mut T,
    pub pitch: usize,
    pub beta: T,
}

/// Shifted planes: for each pixel p and result channel c, `dst[p + c*dst_step] += sum over the steps s of src[p + at[s]] *
/// weights[s*lanes + c]`. Whole vectors of pixels are read and written.
#[derive(Clone, Copy)]
pub struct Shifts<T> {
    pub pixels: usize,
    pub src: *const T,
    pub at: *const isize,
    pub steps: usize,
    pub weights: *const T,
    /// Result channels, no more than [`SHIFTED`].
    pub lanes: usize,
    pub dst: *mut T,
    pub dst_step: usize,
}

/// Sums of windows: for each element of the segments, l-th of all, and channel c, `sums[l*pitch + c] := sum over the pixels p of
/// x[x_at[p] + element] * dy[dy_at[p] + c] + beta * sums`; beta == 0 never reads them. Channels are whole vectors.
#[derive(Clone, Copy)]
pub struct WindowSums<T> {
    pub pixels: usize,
    pub x: *const T,
    pub x_at: *const isize,
    pub segments: *const Segment,
    pub count: usize,
    pub dy: *const T,
    pub dy_at: *const isize,
    pub channels: usize,
    pub sums: *mut T,
    pub pitch: usize,
    pub beta: T,
    /// Elements that are wanted when this is done, presumably: asked for meanwhile.
    pub ahead: *const T,
    pub ahead_len: usize,
}

/// Consecutive products of a pixel, and where they are added.
#[derive(Clone, Copy, Debug)]
pub struct Run {
    pub from: usize,
    pub to: usize,
}

/// Taps side by side in a row of a window: the distance of their plane, and the row and the column of the first, from a result's
/// place in the source; how many, no more than [`RUN`], one or RUN where results are two columns apart, one where they are more; the
/// number of the first among all taps.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TapRun {
    pub src: isize,
    pub row: isize,
    pub column: isize,
    pub len: usize,
    pub first: usize,
}

/// Windows on a source with its channels side by side, for a rectangle of results. Taps that are beyond the source's rows and
/// columns do not count.
#[derive(Clone, Copy)]
pub struct LaneRows<T> {
    /// Results: rows of columns.
    pub size: [usize; 2],
    pub channels: usize,
    /// Channels of a group: a power of two, no more than a vector has lanes. `channels` is a multiple of it.
    pub group: usize,
    /// The source: row 0 and column 0 of the plane of the results.
    pub src: *const T,
    /// Elements from one row of the source to the next, and from one column to the next. The same order in what follows.
    pub src_step: [isize; 2],
    /// The place of the first result in the source, rows and columns from one result to the next, and how many there are.
    pub at: [isize; 2],
    pub stride: [usize; 2],
    pub there: [usize; 2],
    pub runs: *const TapRun,
    pub count: usize,
    /// Whether the rows that the next results meet first are asked for.
    pub asks: bool,
    /// Whether four vectors of channels are read at once, where there are registers for them: of depthwise windows. Results take a tap
    /// at a time; the sums of their weights, if results are two columns apart, a run of taps for a whole row.
    pub long: bool,
}

/// For each result and channel, the sum over the taps and the channels of its group of `src * weights`.
#[derive(Clone, Copy)]
pub struct Lanewise<T> {
    pub rows: LaneRows<T>,
    /// A block for each vector of channels ([`ConvKernel::lanes`]), `block` elements from one to the next: for each tap, for
    /// each channel of a group, a vector.
    pub weights: *const T,
    pub block: usize,
    pub dst: *mut T,
    pub dst_step: [isize; 2],
    /// Whether results leave the caches before anybody reads them: they are stored past them if that can be done, or else the places of
    /// the next row are asked for.
    pub far: bool,
    pub finish: Finish<T>,
}

impl<T> Lanewise<T> {
    /// One row of its results.
    #[inline(always)]
    pub fn row(&self, row: usize) -> Lanewise<T>
    where
        T: Copy,
    {
        let (mut rows, at) = (self.rows, row * self.rows.stride[0]);
        rows.size[0] = 1;
        rows.at[0] += at as isize;
        Lanewise { rows, dst: self.dst.wrapping_offset(row as isize * self.dst_step[0]), ..*self }
    }
}

/// The gradient of its weights: for each tap, channel i of a group and channel c, `sums[(tap * group + i) * pitch + c] += x * dy[c]`
/// over the results, x being channel i of c's group at the tap.
#[derive(Clone, Copy)]
pub struct LanewiseSums<T> {
    pub rows: LaneRows<T>,
    pub dy: *const T,
    pub dy_step: [isize; 2],
    pub sums: *mut T,
    pub pitch: usize,
    /// A number for each channel, to which the sum of its dy is added, or null.
    pub bias: *mut T,
}

/// The kernels of one scalar type on one instruction set. Contract as for `GemmKernel`; what each computes stands with
/// the functions of this file.
pub trait ConvKernel<T: Scalar>: Sync {
    /// Rows and columns of the register tile of matrices.
    fn mr(&self) -> usize;
    fn nr(&self) -> usize;
    /// Output channels of a panel for [`Pixels`], if there are so many in all.
    fn panel(&self, channels: usize) -> usize;
    /// Lanes of a vector.
    fn lanes(&self) -> usize;
    /// Whether windows slide (conv/lanewise.rs).
    fn slides(&self) -> bool;
    unsafe fn pixels(&self, p: &Pixels<T>);
    unsafe fn planes(&self, p: &Planes<T>);
    unsafe fn plane_sums(&self, p: &PlaneSums<T>);
    unsafe fn shifts(&self, p: &Shifts<T>);
    unsafe fn window_sums(&self, p: &WindowSums<T>);
    unsafe fn weave(
        &self,
        n: usize,
        phases: usize,
        src: *const T,
        step: usize,
        room: *mut T,
        dst: *mut T,
        bias: *const T,
        finish: &Finish<T>,
    );
    unsafe fn lanewise(&self, p: &Lanewise<T>);
    unsafe fn lanewise_sums(&self, p: &LanewiseSums<T>);
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
    /// As `GemmKernel::pack_a`, panels of `width` lanes.
    unsafe fn pack(&self, width: usize, lanes: usize, k: usize, src: *const T, ls: isize, ps: isize, dst: *mut T);
    unsafe fn spread(
        &self,
        width: usize,
        channels: usize,
        steps: usize,
        src: *const T,
        ps: isize,
        dst: *mut T,
        all: usize,
    );
    unsafe fn gather_across(&self, steps: usize, src: *const T, cs: isize, lanes: usize, dst: *mut T, all: usize);
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
    unsafe fn wino_input(
        &self,
        channels: usize,
        tiles: usize,
        src: *const T,
        step: (isize, isize),
        sides: [Side; 2],
        dst: *mut T,
        tile: usize,
        points: (usize, usize),
    );
    unsafe fn wino_output(
        &self,
        channels: usize,
        terms: &[Term<T>],
        xi: usize,
        dst: *mut T,
        step: (isize, isize),
        finish: &Finish<T>,
    );
    unsafe fn wino_weights(
        &self,
        n: usize,
        src: *const T,
        step: (isize, isize),
        sides: [Side; 2],
        dst: *mut T,
        xi: usize,
    );
    unsafe fn wino_gradient(
        &self,
        channels: usize,
        src: *const T,
        step: (isize, isize),
        sides: [Side; 2],
        dst: *mut T,
        panel: usize,
        points: (usize, usize),
    );
    unsafe fn wino_weights_back(
        &self,
        n: usize,
        src: *const T,
        xi: usize,
        sides: [Side; 2],
        dst: *mut T,
        step: (isize, isize),
    );
}

/// The register tiles, each a function of its own under the instruction set's target feature; called through [`opaque_fn`].
pub trait PixelTiles<V: Simd> {
    unsafe fn tile<const U: usize, const N: usize>(t: &PixelTile<V::T>);
    unsafe fn plane<const U: usize, const N: usize, const COPY: bool>(t: &PlaneTile<V::T>);
    unsafe fn plane_sums<const M: usize, const N: usize>(t: &SumsTile<V::T>);
    unsafe fn shifted<const U: usize, const N: usize>(p: &Shifts<V::T>, first: usize);
    unsafe fn window_sums<const U: usize, const N: usize>(t: &WindowTile<V::T>);
    unsafe fn lanewise<const STRIDE: usize, const SPREAD: u8, const SLIDES: bool>(
        p: &Lanewise<V::T>,
        t: &LaneTile<V::T>,
        dst: *mut V::T,
    );
    unsafe fn lanewise_sums<const STRIDE: usize, const SPREAD: u8, const SLIDES: bool>(
        p: &LanewiseSums<V::T>,
        t: &LaneTile<V::T>,
        dy: *const V::T,
    );
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
    /// Where the results of the next pixels go, and the windows of some of them: asked for meanwhile.
    next: *const isize,
    ahead: *const [*const T; 2 * TURNS],
    rows: usize,
    past: bool,
    finish: Finish<T>,
}

/// Pixels of a tile of `u` vectors at most. With more than six of them the compiler keeps loads of several steps in registers, and
/// accumulators in memory; not where broadcasts are part of the multiply-add, which takes vectors of 512 bits. There a tile of one or
/// two vectors has twelve, so that windows of a few steps are worth the way in and out.
#[inline(always)]
const fn wide<V: Simd>(u: usize, nr: usize) -> usize {
    let most = if folds::<V>() && u <= 2 { 12 } else { 6 };
    if u <= 2 && folds::<V>() || nr > most { most } else { nr }
}

/// Vectors of a panel at most: with 32 registers four by six pixels. Channels are mostly multiples of 64, and with three the rest would be
/// one vector: six accumulators do not fill the units that multiply. (Zen 5, pixels and weights in L1: one vector by six pixels 210
/// GFLOPS, by twelve 260; two or more by six 286, the limit.)
const fn highest<V: Simd>(mv: usize) -> usize {
    if folds::<V>() { 4 } else { mv }
}

/// Output channels of a panel: as few panels as can be, of the same number of vectors as far as there are such.
pub fn panel<V: Simd, const MV: usize>(channels: usize) -> usize {
    let vectors = channels.div_ceil(V::LANES).max(1);
    vectors.div_ceil(vectors.div_ceil(highest::<V>(MV))) * V::LANES
}

/// Whether a broadcast can be part of a multiply-add, and there are 32 registers. Of two vectors or more every number goes to a register all
/// the same: two loads a cycle are the most, and the addresses of twelve pixels are more than there are registers for. (Zen 5, first layers
/// in NHWC, two of three numbers read again for the second vector and none: 4 channels to 32 at 128x128x128 172 and 198 GFLOPS, 3 to 32 at
/// 224x224 to 112x112 142 and 165. Zen 4, where a broadcast to a register takes a turn of the units that multiply, was not measured
/// again.) To be asked for as a constant: a call of it in a tile, which the compiler makes if it is compiled apart, would put all
/// accumulators in memory.
const fn folds<V: Simd>() -> bool {
    V::LANES * size_of::<V::T>() == 64
}

/// [`Pixels`]: the pixels of a tile stay in L1 while the panels pass.
#[inline(always)]
pub unsafe fn pixels<S: PixelTiles<V>, V: RealSimd, const MV: usize, const NR: usize>(p: &Pixels<V::T>) {
    let mr = p.mr;
    debug_assert!(mr.is_multiple_of(V::LANES) && mr <= highest::<V>(MV) * V::LANES);
    // Parts of vectors take a way of their own at the end, which is too long for wide tiles.
    let whole = p.lanes.is_multiple_of(V::LANES);
    let most = wide::<V>(if whole { mr / V::LANES } else { highest::<V>(MV) }, NR);
    let panels = p.lanes.div_ceil(mr).max(1);
    // What is asked for with each pixel.
    let (mut ahead, each) = (p.ahead, p.ahead_len.div_ceil(p.pixels.max(1)));
    // SAFETY: tiles inside the pixels and channels that there are.
    unsafe {
        let mut j = 0;
        while j < p.pixels {
            let cols = most.min(p.pixels - j);
            for at in (0..cols * each).step_by(LINE / size_of::<V::T>()) {
                prefetch_far(ahead.wrapping_add(at));
            }
            ahead = ahead.wrapping_add(cols * each);
            let next = if j + 2 * cols <= p.pixels { j + cols } else { j };
            // Windows of the next pixels that are asked for: some with each panel. Those that overlap are there already.
            let (fresh, mut asked) = (p.count == 1, 0);
            let mut windows = [p.src.wrapping_offset(*p.at.add(j)); 2 * TURNS];
            let some = cols.div_ceil(panels).min(2 * TURNS);
            let mut i = 0;
            while i < p.lanes {
                let rows = mr.min(p.lanes - i);
                let mut finish = p.finish;
                if !finish.bias.is_null() {
                    finish.bias = finish.bias.add(i);
                }
                if fresh {
                    let mut which = 0;
                    for window in &mut windows {
                        *window = p.src.wrapping_offset(*p.at.add(next + asked + which));
                        which = if which + 1 < some { which + 1 } else { 0 };
                    }
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
                    next: p.to.add(next),
                    // Not the windows themselves: they would be read as vectors that were just written as numbers, and wait.
                    ahead: &windows,
                    rows,
                    past: V::PAST && p.past,
                    finish,
                };
                match rows.div_ceil(V::LANES) {
                    1 => columns::<S, V, 1, NR>(cols, &t),
                    2 if const { highest::<V>(MV) >= 2 } => columns::<S, V, 2, NR>(cols, &t),
                    3 if const { highest::<V>(MV) >= 3 } => columns::<S, V, 3, NR>(cols, &t),
                    4 if const { highest::<V>(MV) >= 4 } => columns::<S, V, 4, NR>(cols, &t),
                    _ => debug_assert!(false, "no tile of {rows} channels"),
                }
                i += mr;
                asked = if asked + 2 * some <= cols { asked + some } else { cols - some };
            }
            j += cols;
        }
    }
    if V::PAST && p.past {
        V::settle();
    }
}

#[inline(always)]
unsafe fn columns<S: PixelTiles<V>, V: Simd, const U: usize, const NR: usize>(cols: usize, t: &PixelTile<V::T>) {
    macro_rules! columns {
        ($($n:literal)*) => {
            match cols {
                // SAFETY: as the caller's.
                $($n if const { $n <= wide::<V>(U, NR) } => unsafe {
                    opaque_fn(S::tile::<U, $n> as unsafe fn(&PixelTile<V::T>))(t)
                },)*
                _ => debug_assert!(false, "no tile of {cols} pixels"),
            }
        };
    }
    columns!(1 2 3 4 5 6 7 8 9 10 11 12)
}

/// Windows of the next pixels are asked for in turn, two at a time: so many times four steps are a cache line of each (of f32).
const TURNS: usize = 4;
/// Elements of a panel that are asked for ahead of their use, in bytes.
const AHEAD: usize = 768;

/// U vectors of output channels and N pixels.
#[inline(always)]
pub unsafe fn tile<V: RealSimd, const U: usize, const N: usize>(t: &PixelTile<V::T>) {
    // SAFETY: the contract of the file.
    unsafe {
        let mut acc = [[V::zero(); U]; N];
        let mut b = [t.b; N];
        unrolled!(N, |j| {
            b[j] = opaque_ptr(t.b.wrapping_offset(*t.at.add(j)));
        });
        // Pixel by pixel: all at once are more lines than a core has under way.
        let mut asked_for = if t.past { N } else { 0 };
        macro_rules! ask {
            () => {
                let next = t.c.wrapping_offset(*t.next.add(asked_for));
                for u in 0..U {
                    prefetch(next.wrapping_add(u * V::LANES));
                }
                asked_for += 1;
            };
        }
        let (mut a, mut turn) = (t.a, 0);
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
                    unrolled!(N, |j| {
                        let x = V::splat(*b[j].wrapping_offset(i + $at));
                        for u in 0..U {
                            acc[j][u] = column[u].mul_add(x, acc[j][u]);
                        }
                    });
                    a = opaque_ptr(a.wrapping_add(mr));
                };
            }
            while i + 4 <= end {
                prefetch((*t.ahead)[turn].wrapping_offset(i));
                prefetch((*t.ahead)[turn + TURNS].wrapping_offset(i));
                turn = (turn + 1) % TURNS;
                if asked_for < N {
                    ask!();
                }
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
        while asked_for < N {
            ask!();
        }
        let mut c = [t.c; N];
        unrolled!(N, |j| {
            c[j] = t.c.wrapping_offset(*t.to.add(j));
        });
        if t.rows < U * V::LANES {
            return some_rows(&acc, &c, t);
        }
        finished(acc, &c, &t.finish, t.past);
    }
}

/// Finishes and stores a tile of whole vectors.
#[inline(always)]
unsafe fn finished<V: RealSimd, const U: usize, const N: usize>(
    mut acc: [[V; U]; N],
    c: &[*mut V::T; N],
    finish: &Finish<V::T>,
    past: bool,
) {
    // SAFETY: the contract of the file.
    unsafe {
        // Every step in loops of its own that the compiler unrolls: an accumulator that is reached by an index would live in
        // memory from the beginning.
        if finish.beta != V::T::ZERO {
            let beta = V::splat(finish.beta);
            unrolled!(N, |j| {
                for u in 0..U {
                    acc[j][u] = V::load(c[j].add(u * V::LANES)).mul_add(beta, acc[j][u]);
                }
            });
        }
        if !finish.bias.is_null() {
            for u in 0..U {
                let bias = V::load(finish.bias.add(u * V::LANES));
                unrolled!(N, |j| {
                    acc[j][u] = acc[j][u].add(bias);
                });
            }
        }
        match finish.activation {
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
        if V::PAST && past {
            unrolled!(N, |j| {
                for u in 0..U {
                    acc[j][u].store_past(c[j].add(u * V::LANES));
                }
            });
            return;
        }
        unrolled!(N, |j| {
            for u in 0..U {
                acc[j][u].store(c[j].add(u * V::LANES));
            }
        });
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
        unrolled!(N, |j| {
            for u in 0..U {
                acc[j][u].store(sums.add((j * U + u) * V::LANES));
            }
        });
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
