//! Winograd's algorithm for kernels of up to 6x6 taps and strides of 1 and 2, all three passes, with every transform in cache.
//!
//! ```text
//! forward, backward-data: F(4x4, 3x3)                       backward-weights: F(3x3, 4x4)
//!
//!  image ──6x6 tiles──▶ V[36][tile][ic] ┐                    image ──6x6 tiles──▶ V[36][tile][ic] ┐
//!                                       ├ 36 products                                             ├ 36 products, summed
//!  weights ───────────▶ U[36][ic][oc]   ┘                    dy ────4x4 tiles───▶ D[36][tile][oc] ┘ over tiles
//!        M[36][tile][oc] ──4x4 tiles──▶ result                     S[36][ic][oc] ──────▶ 3x3 weights
//! ```
//! (Lavin and Gray 2016; fused tile by tile as in Jia et al., "Optimizing N-dimensional, Winograd-based convolution for
//! manycore CPUs", 2018.) A 4x4 tile of results takes 36 products a channel pair where the definition takes 144. A third
//! dimension is not transformed: its taps are further steps of the products. Only a few dozen tiles are in flight, so the
//! transformed image never leaves the cache; the transformed weights are as large as 4 times the weights. Where tiles are few, weights
//! that no plan keeps are transformed a panel and a piece at a time, just before they are used, and never leave it either.
//!
//! A stride of 2 takes the taps of a kernel apart, in each dimension those that meet even pixels and those that meet odd ones
//! ([`Strand`]): of three, two taps, which F(4, 2) computes with 5 products for 4 results, and one tap with 4. So a tile is four parts
//! of 5x5, 5x4, 4x5 and 4x4 points: 81 products where the definition takes 144. Forward their results add up; backward each
//! part has results of its own. More than three taps are strands of three and of what is left, whose results add up in both
//! passes: 5x5 taps are parts of 6x6, 6x5, 5x6 and 5x5 points, 121 products for 400, with the points and the accuracy of a 3x3
//! kernel, where larger tiles would lose digits.
//!
//! Tiles at the end of an image that have fewer results have fewer points too (kernels/conv/winograd.rs). A block has its
//! tiles in the order of that ([`Slots`]), so those that have a point are neighbours in it.
//!
//! The price is accuracy: docs/convolution.md has the bound. The tile of 4x4 is the largest whose growth of the error a
//! training in f32 does not feel.

mod gradient;
mod results;

pub use gradient::WinogradGradient;
pub use results::Winograd;

use super::bias::{Bias, Totals};
use super::direct::{Window, lanewise};
use super::memory::{MOST_BYTES, Memory, Room, Shared, bytes};
use super::problem::{Math, Pass, Problem, Strides};
use super::strip::{self, Extent};
use super::{Epilogue, Kit};
use crate::gemm::blocking;
use crate::kernels::conv::{Activation, Finish, Pixels, RESULTS as OUT, Segment, Side, TOGETHER, Term};
use crate::kernels::tile::{Source, prefetch};
use crate::runtime::pool;
use core::ops::Range;

/// Taps of a strand at most.
const STRAND: usize = 3;
/// Taps of a kernel along a side at most: two strands. Parts whose results add up at most.
const MOST_TAPS: usize = 2 * STRAND;
const MOST_TERMS: usize = 4;
/// Bytes of a block's transformed image at most.
const LARGEST: usize = 8 << 20;

/// Channels from which on the products outweigh the transforms: forward and backward-data, and backward-weights.
const CHANNELS: usize = 24;
const GRADIENT_CHANNELS: usize = 16;
/// Of kernels of stride 2, or with one tap a side, which have less to gain.
const LITTLE_GAIN_CHANNELS: usize = 48;
/// Tiles from which on the weights' transform pays. (Zen 5, weights of every call transformed in turn, directly and so: 512 channels at 7x7,
/// two images, 228 and 407 GFLOPS; one image, four tiles, 214 and 270. Stride of 2,
/// 256 at 28x28, one image, 247 and 258; 512 at 14x14, four tiles, 210 and 124.)
const TILES: usize = 4;
const STRIDED_TILES: usize = 16;
const GRADIENT_TILES: usize = 24;
/// (Zen 5, directly and so: 512 channels at 14x14, 64 tiles, NHWC 206 and 180 GFLOPS, NCHW 196 and 166; 256 at 28x28, 256 tiles, 196 and
/// 204, 196 and 199; 128 at 56x56 195 and 230, 184 and 211.)
const STRIDED_GRADIENT_TILES: usize = 128;
/// Bytes of a gradient's sums at most, where they save less than half of the products: more of them come from memory with every block, and
/// the faster the products are made, the longer that takes. (Zen 5, stride 2, directly and so, one thread and two: 256 channels at 28x28, 21 MB,
/// 235 and 272, 445 and 387 GFLOPS; 512 at 14x14, 64 images, 85 MB, 243 and 228, 455 and 383; 128 at 56x56, 5 MB, 217 and 289, 437 and 470.)
const SUMS: usize = 16 << 20;

/// Why a problem does not get this algorithm; nothing if it does.
pub fn reason_against(p: &Problem, pass: Pass, kit: &Kit) -> Option<&'static str> {
    if p.kernel[1..] == [1; 2] || p.kernel[1..].iter().any(|&taps| taps > MOST_TAPS) {
        return Some("the kernel has one tap, or more than six a side");
    }
    let strided = p.stride == [1, 2, 2];
    if strided && p.kernel[1..].contains(&1) {
        return Some("the kernel has one tap a side, and a stride");
    }
    if p.stride != [1; 3] && !strided || p.dilation[1..] != [1, 1] {
        return Some("the kernel is dilated, or its strides are not both 1 or both 2");
    }
    if p.input.contains(&0) || p.output.contains(&0) {
        return Some("there is nothing to add up");
    }
    if p.math == Math::Strict {
        return Some("math is strict");
    }
    if lanewise(p, kit) > 0 {
        return Some("groups share vectors");
    }
    let least = if pass == Pass::BackwardWeights { GRADIENT_CHANNELS } else { CHANNELS }.max(kit.conv.lanes());
    let gains_little = strided || p.kernel[1..].contains(&1);
    if p.icg().min(p.ocg()) < if gains_little { LITTLE_GAIN_CHANNELS } else { least } {
        return Some(if p.groups == 1 { "few channels" } else { "few channels in a group" });
    }
    let form = Form::new(p, pass);
    let (products, definition) = form.products();
    if 3 * products > 2 * definition {
        return Some("tiles would save few products");
    }
    let least = match pass {
        Pass::BackwardWeights if strided => STRIDED_GRADIENT_TILES,
        Pass::BackwardWeights => GRADIENT_TILES,
        _ if strided => STRIDED_TILES,
        _ => TILES,
    };
    if form.tiles.count() < least {
        return Some("few tiles");
    }
    let sums = p.kernel[0] * form.weights * p.icg() * p.ocg() * size_of::<f32>();
    if pass == Pass::BackwardWeights && sums > SUMS && 2 * products > definition {
        return Some("sums of too many channels for the caches");
    }
    None
}

/// A distance of at least n elements that is an odd number of cache lines: streams that far apart spread over all sets.
fn spread(n: usize) -> usize {
    let lines = n.div_ceil(16);
    16 * (lines | 1)
}

/// Taps along a dimension whose pixels are as far apart as those of neighbouring results.
#[derive(Clone, Copy)]
struct Strand {
    /// Index in the kernel of each tap, in the order of their pixels.
    taps: [usize; STRAND],
    len: usize,
    /// The first result's first pixel.
    from: isize,
    /// Results, and the first one's place.
    count: usize,
    first: usize,
}

impl Strand {
    /// The strands of forward (and of the weights' gradient), and of backward-data, in families whose results add up.
    fn all(p: &Problem, forward: bool, d: usize) -> Vec<Vec<Strand>> {
        let (stride, pad) = (p.stride[d], p.pad[d]);
        // Forward, result i meets pixel i*stride + k - pad. Backward, pixel i the results (i + pad - k) / stride.
        let phase = |a: usize| -> Vec<Strand> {
            let residue = if forward { a } else { (a + pad) % stride };
            let mut taps: Vec<usize> = (residue..p.kernel[d]).step_by(stride).collect();
            let (count, first) =
                if forward { (p.output[d], 0) } else { (p.input[d].saturating_sub(a).div_ceil(stride), a) };
            if !forward {
                taps.reverse();
            }
            let strand = |some: &[usize]| {
                let mut taps = [0; STRAND];
                taps[..some.len()].copy_from_slice(some);
                let from = if forward {
                    some[0] as isize - pad as isize
                } else {
                    ((a + pad) as isize - some[0] as isize).div_euclid(stride as isize)
                };
                Strand { taps, len: some.len(), from, count, first }
            };
            taps.chunks(STRAND).map(strand).collect()
        };
        let phases = (0..stride).map(phase);
        if forward { vec![phases.flatten().collect()] } else { phases.collect() }
    }
    /// The side of a tile that is the last one, or that is not.
    fn side(&self, tiles: usize, last: bool) -> Side {
        let results = if last { self.count.saturating_sub((tiles - 1) * OUT).min(OUT) } else { OUT };
        Side { results, taps: self.len }
    }
}

/// A strand of rows and one of columns, and what they make of a tile.
struct Part {
    strands: [Strand; 2],
    /// Of a whole tile.
    sides: [Side; 2],
    /// Of the last tile of a column and of a row.
    last: [Side; 2],
    /// Number of the first point, and of its weights.
    point: usize,
    weights: usize,
    /// Parts of a family are terms of the same results.
    family: usize,
}

impl Part {
    /// The sides of a tile, which may be the last in either dimension.
    fn of(&self, last: [bool; 2]) -> [Side; 2] {
        [0, 1].map(|d| if last[d] { self.last[d] } else { self.sides[d] })
    }
    /// The part's points: number, number of the weights, and whether the last tile has it, in both dimensions.
    fn points(&self, mut f: impl FnMut(usize, usize, [bool; 2])) {
        let [high, wide] = self.sides;
        for y in 0..high.points() {
            for x in 0..wide.points() {
                let at = |d: usize, i: usize| if self.sides[d].taps == 1 { 0 } else { i };
                let weights = self.weights + at(0, y) * wide.weights() + at(1, x);
                f(self.point + y * wide.points() + x, weights, [y < self.last[0].points(), x < self.last[1].points()]);
            }
        }
    }
}

/// How a problem falls into tiles, and those into parts.
struct Form {
    tiles: Tiles,
    parts: Vec<Part>,
    /// Points of all parts, and those with weights of their own.
    points: usize,
    weights: usize,
    /// Pixels from one result of a strand to the next, and results from one to the next.
    step: usize,
    every: usize,
    /// First pixel of the first tile, and how many a tile reaches over, the last one and the others.
    from: [isize; 2],
    reach: [[usize; 2]; 2],
}

impl Form {
    fn new(p: &Problem, pass: Pass) -> Form {
        let forward = pass != Pass::BackwardData;
        let families = [1, 2].map(|d| Strand::all(p, forward, d));
        // The first family has as many results as any.
        let counts = [0, 1].map(|d: usize| families[d][0][0].count);
        let strands = [0, 1].map(|d: usize| families[d].concat());
        let tiles = Tiles::new(p.batch, [if forward { p.output[0] } else { p.input[0] }, counts[0], counts[1]]);
        let across = [tiles.rows, tiles.cols];
        let (step, every) = if forward { (p.stride[1], 1) } else { (1, p.stride[1]) };
        let from = [0, 1].map(|d: usize| strands[d].iter().map(|s| s.from).min().unwrap_or(0));
        let reach = [true, false].map(|last| {
            [0, 1].map(|d: usize| {
                let end = |s: &Strand| match s.side(across[d], last).points() {
                    0 => 0,
                    n => (s.from - from[d]) as usize + (n - 1) * step + 1,
                };
                strands[d].iter().map(end).max().unwrap_or(0)
            })
        });
        let (mut parts, mut points, mut weights) = (Vec::new(), 0, 0);
        let pairs = families[0].iter().flat_map(|high| families[1].iter().map(move |wide| (high, wide)));
        for (family, (high, wide)) in pairs.enumerate() {
            for (high, wide) in high.iter().flat_map(|high| wide.iter().map(move |wide| (high, wide))) {
                let sides = [high, wide].map(|s| Side::whole(s.len));
                let last = [high.side(across[0], true), wide.side(across[1], true)];
                parts.push(Part { strands: [*high, *wide], sides, last, point: points, weights, family });
                points += sides[0].points() * sides[1].points();
                weights += sides[0].weights() * sides[1].weights();
            }
        }
        Form { tiles, parts, points, weights, step, every, from, reach }
    }

    /// How the tile is written, given the taps of its largest part.
    fn name(&self, tile: impl Fn(String) -> String) -> String {
        let [high, wide] = self.parts[0].sides;
        let parts = if self.parts.len() == 1 { "" } else { " and parts" };
        format!("F({}){parts}", tile(format!("{}x{}", high.taps, wide.taps)))
    }

    /// Products of a plane and a pair of channels: of this algorithm, and by the definition.
    fn products(&self) -> (usize, usize) {
        let across = [self.tiles.rows, self.tiles.cols];
        let mut sums = (0, 0);
        for part in &self.parts {
            let along = |d: usize| (across[d] - 1) * part.sides[d].points() + part.last[d].points();
            let results = |d: usize| part.strands[d].count * part.strands[d].len;
            sums = (sums.0 + along(0) * along(1), sums.1 + results(0) * results(1));
        }
        sums
    }
}

/// The tiles of an image tensor.
#[derive(Clone, Copy)]
struct Tiles {
    batch: usize,
    /// Results of the first part: planes, rows, columns.
    size: [usize; 3],
    rows: usize,
    cols: usize,
}

/// Tiles side by side in one row of an image, all of them the last of their rows or none.
#[derive(Clone, Copy)]
struct Run {
    /// Slot of the first.
    first: usize,
    count: usize,
    image: usize,
    plane: usize,
    row: usize,
    col: usize,
    /// Whether they are in the last row, and the last of their row.
    last: [bool; 2],
}

/// The order of a block's tiles: those in the last column only, those in neither the last row nor the last column, those in
/// the last row only, those in both. So those that are not in the last row, or column, or neither, are neighbours.
#[derive(Clone, Copy)]
struct Slots([usize; 5]);

impl Slots {
    fn class(last: [bool; 2]) -> usize {
        match last {
            [false, true] => 0,
            [false, false] => 1,
            [true, false] => 2,
            [true, true] => 3,
        }
    }
    /// The slots of tiles that have a point, given whether the last ones have it.
    fn with(&self, last: [bool; 2]) -> Range<usize> {
        let [a, b, c, d, e] = self.0;
        match last {
            [true, true] => a..e,
            [false, true] => a..c,
            [true, false] => b..d,
            [false, false] => b..c,
        }
    }
}

impl Tiles {
    fn new(batch: usize, size: [usize; 3]) -> Tiles {
        Tiles { batch, size, rows: size[1].div_ceil(OUT), cols: size[2].div_ceil(OUT) }
    }
    fn count(&self) -> usize {
        self.batch * self.size[0] * self.rows * self.cols
    }
    /// Calls with stretches of tiles `from..to`; slots are not known yet.
    fn stretches(&self, from: usize, to: usize, mut f: impl FnMut(Run)) {
        let mut at = from;
        while at < to {
            let (col, rest) = (at % self.cols, at / self.cols);
            let (row, rest) = (rest % self.rows, rest / self.rows);
            let (plane, image) = (rest % self.size[0], rest / self.size[0]);
            let end = if col + 1 == self.cols { self.cols } else { self.cols - 1 };
            let count = (end - col).min(to - at);
            f(Run { first: 0, count, image, plane, row, col, last: [row + 1 == self.rows, col + 1 == self.cols] });
            at += count;
        }
    }
    fn slots(&self, from: usize, to: usize) -> Slots {
        let mut counts = [0; 4];
        self.stretches(from, to, |run| counts[Slots::class(run.last)] += run.count);
        let mut slots = Slots([0; 5]);
        for (i, count) in counts.iter().enumerate() {
            slots.0[i + 1] = slots.0[i] + count;
        }
        slots
    }
    /// The runs of tiles `from..to`.
    fn runs(&self, from: usize, to: usize, mut f: impl FnMut(&Run)) {
        let Slots(mut next) = self.slots(from, to);
        self.stretches(from, to, |run| {
            let slot = &mut next[Slots::class(run.last)];
            f(&Run { first: *slot, ..run });
            *slot += run.count;
        });
    }
}

/// An image of which tiles are transformed.
struct Image {
    strides: Strides,
    size: [usize; 3],
    /// Where the first tile begins, and the planes that a result takes.
    from: [isize; 2],
    planes: Vec<isize>,
    /// Pixels from one tile to the next, and those that a tile reaches over: the last one and the others.
    advance: usize,
    reach: [[usize; 2]; 2],
    channels: usize,
    /// Channels in whole vectors.
    pitch: usize,
}

impl Image {
    /// The image whose strands the form has.
    fn of_form(
        form: &Form,
        strides: Strides,
        size: [usize; 3],
        planes: Vec<isize>,
        channels: usize,
        kit: &Kit,
    ) -> Image {
        let pitch = channels.next_multiple_of(kit.conv.lanes());
        let (from, advance, reach) = (form.from, OUT * form.step, form.reach);
        Image { strides, size, from, planes, advance, reach, channels, pitch }
    }

    /// Elements of the strip of a run of tiles.
    fn strip(&self, tiles: usize) -> usize {
        let reach = [0, 1].map(|d: usize| self.reach[0][d].max(self.reach[1][d]));
        reach[0] * ((tiles - 1) * self.advance + reach[1]) * self.pitch
    }

    /// Calls `f` with the tiles of a run, a few at a time: number of the first in the run, how many, its first pixel and the
    /// distances of rows and columns there.
    ///
    /// # Safety
    /// `src` is the image tensor at the group's first channel; `strip` has room for the run.
    unsafe fn each(
        &self,
        kit: &Kit,
        src: *const f32,
        run: &Run,
        plane: usize,
        strip: *mut f32,
        mut f: impl FnMut(usize, usize, *const f32, (isize, isize)),
    ) {
        let at = [
            run.plane as isize + self.planes[plane],
            (run.row * self.advance) as isize + self.from[0],
            (run.col * self.advance) as isize + self.from[1],
        ];
        let [high, wide] = [0, 1].map(|d: usize| self.reach[!run.last[d] as usize][d]);
        let s = &self.strides;
        let image = src.wrapping_offset(run.image as isize * s.n);
        let inside = |from: isize, len: usize, d: usize| from >= 0 && from + len as isize <= self.size[d] as isize;
        let in_place = s.c == 1 && self.channels == self.pitch && inside(at[0], 1, 0) && inside(at[1], high, 1);
        let width = |tiles: usize| (tiles - 1) * self.advance + wide;
        let mut start = 0;
        while start < run.count {
            let col = at[2] + (start * self.advance) as isize;
            let left = run.count - start;
            if in_place && inside(col, wide, 2) {
                let some = (1..=left.min(TOGETHER)).rev().find(|&n| inside(col, width(n), 2)).unwrap_or(1);
                let place = at[0] * s.s[0] + at[1] * s.s[1] + col * s.s[2];
                f(start, some, image.wrapping_offset(place), (s.s[1], s.s[2]));
                start += some;
                continue;
            }
            // Through a strip: one tile of an image that lies right otherwise, else all that are left.
            let tiles = if in_place { 1 } else { left };
            let extent = Extent { from: [at[0], at[1], col], len: [1, high, width(tiles)] };
            // SAFETY: the strip has room for the run.
            unsafe {
                strip::fill(kit.conv, self.channels, image, s, self.size, &extent, strip, self.pitch);
            }
            for t in (0..tiles).step_by(TOGETHER) {
                let first = strip.wrapping_add(t * self.advance * self.pitch);
                let row = (width(tiles) * self.pitch) as isize;
                f(start + t, TOGETHER.min(tiles - t), first, (row, self.pitch as isize));
            }
            start += tiles;
        }
    }

    /// The transform of a run of tiles, all parts: point i of slot t at `v + i*xi + t*tile`.
    ///
    /// # Safety
    /// As [`Image::each`]; `v` has room for the run's slots.
    unsafe fn transform(
        &self,
        kit: &Kit,
        form: &Form,
        src: *const f32,
        run: &Run,
        plane: usize,
        strip: *mut f32,
        (v, tile, xi): (*mut f32, usize, usize),
    ) {
        // SAFETY: as the caller's.
        unsafe {
            self.each(kit, src, run, plane, strip, |t, tiles, pixel, (row, col)| {
                for part in &form.parts {
                    let sides = part.of(run.last);
                    if sides.iter().any(|s| s.results == 0) {
                        continue;
                    }
                    let [y, x] = [0, 1].map(|d: usize| part.strands[d].from - form.from[d]);
                    let pixel = pixel.wrapping_offset(y * row + x * col);
                    let steps = (row * form.step as isize, col * form.step as isize);
                    let to = v.wrapping_add(part.point * xi + (run.first + t) * tile);
                    let points = (part.sides[1].points(), xi);
                    kit.conv.wino_input(self.pitch, tiles, pixel, steps, sides, to, tile, points);
                }
            });
        }
    }
}
