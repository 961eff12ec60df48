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

/// Forward and backward-data.
pub struct Winograd {
    window: Window,
    form: Form,
    image: Image,
    /// Whether plain weights are transformed as they are used: never all of them are there.
    in_turn: bool,
    /// Whether a plan keeps weights that are transformed in turn, too, in the order in which that is done: transformed ones would
    /// come from memory in every call.
    ordered: bool,
    /// Tiles of a block at most.
    block: usize,
    /// Steps of a product.
    piece: usize,
}

/// How a call is cut. Results do not depend on it.
struct Cut {
    /// Tiles of a block, and result channels of a pass over them.
    block: usize,
    chunk: usize,
    /// Elements of the transformed weights of a point that a pass makes for itself; 0 if it is given all of them.
    own: usize,
}

/// Elements of a cache line.
const LINE: usize = 16;
/// Steps whose taps are put in order together: so many of kernels of up to nine taps, fewer of larger ones.
const SOME: usize = 16;
/// Room for the taps of some steps.
const ROOM: usize = 9 * SOME;
type Taps = [f32; ROOM * crate::kernels::tile::MAX_WIDTH];

/// Result channels of a pass at most, but for the last panel's.
const CHUNK: usize = 64;
/// Tiles of a block.
const BLOCK: usize = 48;
/// Bytes of a block's transformed image at most.
const LARGEST: usize = 8 << 20;
/// Steps of a product at most.
const PIECE: usize = 768;
/// Tiles up to which plain weights are transformed in turn, a panel and a piece at a time for each block: those that a quarter of the last
/// cache would hold if transformed, and others, which would go to memory and come back. (Zen 5, transformed all at once and in turn: 512
/// channels at 7x7, 16 images, 371 and 673 GFLOPS; at 28x28, 8 images, 694 and 752; 256 at 14x14, 16 images, 701 and 733; 128 at 28x28,
/// one image 500 and 713, 16 images 739 and 699; stride of 2, which has smaller products: 512 at 14x14, 16 images, 255 and 292, 256 at
/// 28x28, 256 tiles, 317 and 309.)
const IN_TURN: (usize, usize) = (128, 512);
/// Tiles of a block then, which shares a transform, and steps of a product: 64 steps 653 GFLOPS, 32 614; blocks of 32 tiles 577.
const IN_TURN_BLOCK: usize = 64;
const IN_TURN_PIECE: usize = 128;
/// Steps of which weights are asked for ahead of their transform.
const ASKED: usize = 8;

impl Winograd {
    pub fn new(p: &Problem, pass: Pass, kit: &Kit) -> Winograd {
        let forward = pass == Pass::Forward;
        let window = if forward { Window::forward(p) } else { Window::backward(p).swap_remove(0) };
        let source = if forward { p.input } else { p.output };
        let form = Form::new(p, pass);
        let planes = window.dims[0].taps.iter().map(|t| t.0).collect();
        let image = Image::of_form(&form, window.src, source, planes, window.cin, kit);
        let nr = kit.conv.nr();
        let one = form.points * image.planes.len().max(1) * image.pitch * size_of::<f32>();
        let most = (LARGEST / one).max(nr) / nr * nr;
        let tiles = form.tiles.count();
        let transformed = window.groups * form.weights * window.cout * image.planes.len() * window.cin;
        let transformed = transformed * size_of::<f32>();
        let many = transformed > kit.far / 2 && form.parts.len() == 1;
        let in_turn = tiles <= if many { IN_TURN.1 } else { IN_TURN.0 };
        let ordered = in_turn && transformed > kit.far;
        let block = if in_turn {
            // Blocks of even size.
            let most = most.min(IN_TURN_BLOCK);
            tiles.div_ceil(tiles.div_ceil(most).max(1)).max(1)
        } else {
            most.min(BLOCK)
        };
        let piece = if in_turn {
            blocking::kc(image.channels, IN_TURN_PIECE).next_multiple_of(SOME)
        } else {
            blocking::kc(image.channels, PIECE)
        };
        Winograd { window, form, image, in_turn, ordered, block, piece }
    }

    /// The tile that is computed, and the kernel, as they are written.
    pub fn name(&self) -> String {
        self.form.name(|taps| format!("{OUT}x{OUT},{taps}"))
    }

    /// Taps of the kernel, and of a row of it.
    fn taps(&self) -> (usize, usize) {
        let [_, high, wide] = self.window.kernel;
        (high * wide, wide)
    }
    /// Steps whose taps are put in order together.
    fn some(&self) -> usize {
        SOME.min(1 << (ROOM / self.taps().0).ilog2())
    }
    fn steps(&self) -> usize {
        self.image.planes.len() * self.window.cin
    }
    /// Output channels of a panel.
    fn panel(&self, kit: &Kit) -> usize {
        kit.conv.panel(self.window.cout)
    }
    fn panels(&self, kit: &Kit) -> usize {
        self.window.cout.div_ceil(self.panel(kit))
    }
    /// Elements of the taps of one panel and plane, in order.
    fn ordered(&self, kit: &Kit) -> usize {
        self.taps().0 * self.window.cin.next_multiple_of(SOME) * self.panel(kit)
    }
    /// Elements of weights that a plan keeps, transformed or in order.
    pub fn kept(&self, kit: &Kit) -> usize {
        if self.ordered {
            return self.window.groups * self.panels(kit) * self.image.planes.len() * self.ordered(kit);
        }
        self.window.groups * self.form.weights * self.panels(kit) * self.panel(kit) * self.steps()
    }

    /// # Safety
    /// The weights of the problem; `to` has room for [`Winograd::kept`] elements.
    pub unsafe fn keep(&self, kit: &Kit, weights: *const f32, to: *mut f32, threads: usize) {
        let w = &self.window;
        let (mr, panels, k) = (self.panel(kit), self.panels(kit), self.steps());
        let (from, to) = (Shared(weights.cast_mut()), Shared(to));
        pool::run(w.groups * panels, threads, &|task| {
            let (group, panel) = (task / panels, task % panels);
            for plane in 0..if self.ordered { w.dims[0].taps.len() } else { 0 } {
                let place = (task * w.dims[0].taps.len() + plane) * self.ordered(kit);
                for c in (0..w.cin).step_by(self.some()) {
                    let to = to.get().wrapping_add(place + c * self.taps().0 * mr);
                    let some = self.some().min(w.cin - c);
                    // SAFETY: some steps of a panel; the result's place is this task's.
                    unsafe { self.order(kit, from.get(), (group, panel, plane), (c, some), to) };
                }
            }
            if self.ordered {
                return;
            }
            let dst = to.get().wrapping_add((group * self.form.weights * panels + panel) * k * mr);
            let mut taps: Taps = [0.0; ROOM * crate::kernels::tile::MAX_WIDTH];
            for plane in 0..w.dims[0].taps.len() {
                let to = dst.wrapping_add(plane * w.cin * mr);
                // SAFETY: all steps of a panel; the result's place is this task's.
                unsafe {
                    let place = (to, panels * k * mr);
                    self.some_weights(kit, (from.get(), false), (group, panel, plane), (0, w.cin), place, &mut taps);
                }
            }
        });
    }

    /// Where a panel's weights in a plane begin.
    fn place(&self, kit: &Kit, (group, panel, plane): (usize, usize, usize)) -> isize {
        let w = &self.window;
        group as isize * w.group
            + (panel * self.panel(kit)) as isize * w.filter.o
            + w.dims[0].taps[plane].1 as isize * w.filter.s[0]
    }
    /// Whether the taps of a weight are consecutive.
    fn is_together(&self) -> bool {
        self.window.filter.s[1..] == [self.taps().1 as isize, 1]
    }

    /// Puts the taps of at most [`Winograd::some`] steps of a panel's weights in order: vectors of lanes, and within a step or within a tap, whichever
    /// lies closer.
    ///
    /// # Safety
    /// As [`Winograd::keep`]; `to` has room for all taps.
    unsafe fn order(
        &self,
        kit: &Kit,
        weights: *const f32,
        panel: (usize, usize, usize),
        (start, some): (usize, usize),
        to: *mut f32,
    ) {
        let (w, mr) = (&self.window, self.panel(kit));
        let lanes = mr.min(w.cout - panel.1 * mr);
        let src = weights.wrapping_offset(self.place(kit, panel) + start as isize * w.filter.i);
        let (taps, row) = self.taps();
        // SAFETY: some steps of a panel, all taps.
        unsafe {
            if self.is_together() && w.filter.i == taps as isize {
                // The channels are consecutive, too.
                kit.conv.to_last(lanes, taps * some, src, w.filter.o, 1, to, mr);
            } else if self.is_together() {
                for i in 0..some {
                    let src = src.wrapping_offset(i as isize * w.filter.i);
                    kit.conv.to_last(lanes, taps, src, w.filter.o, 1, to.add(i * taps * mr), mr);
                }
            } else {
                for t in 0..taps {
                    let at = (t / row) as isize * w.filter.s[1] + (t % row) as isize * w.filter.s[2];
                    let (src, to) = (src.wrapping_offset(at), to.add(t * self.some() * mr));
                    kit.conv.pack(mr, lanes, some, src, w.filter.o, w.filter.i, to);
                }
            }
        }
    }

    /// Transforms some steps of a panel's weights in a plane, from a multiple of [`Winograd::some`] on: step i of them at point p goes to
    /// `to + p*xi + i*mr`. The weights are those of the problem, or in order.
    ///
    /// # Safety
    /// As [`Winograd::keep`].
    unsafe fn some_weights(
        &self,
        kit: &Kit,
        (weights, ordered): (*const f32, bool),
        panel: (usize, usize, usize),
        (start, len): (usize, usize),
        (to, xi): (*mut f32, usize),
        room: &mut Taps,
    ) {
        let (w, mr) = (&self.window, self.panel(kit));
        let (taps, row) = self.taps();
        let lanes = mr.min(w.cout - panel.1 * mr);
        let transform = |n: usize, from: *const f32, tap: [isize; 2], to: *mut f32| {
            for part in &self.form.parts {
                // Taps of a strand are equally far apart.
                let first = [0, 1].map(|d: usize| part.strands[d].taps[0] as isize * tap[d]);
                let step = [0, 1].map(|d: usize| {
                    let taps = part.strands[d].taps;
                    (taps[1] as isize - taps[0] as isize) * tap[d]
                });
                let (from, to) = (from.wrapping_offset(first[0] + first[1]), to.wrapping_add(part.weights * xi));
                // SAFETY: taps of n weights, and the places of their points.
                unsafe { kit.conv.wino_weights(n, from, (step[0], step[1]), part.sides, to, xi) };
            }
        };
        if !ordered && w.filter.o == 1 && lanes.is_multiple_of(kit.conv.lanes()) {
            // Where they lie.
            let weights = weights.wrapping_offset(self.place(kit, panel));
            let tap = [w.filter.s[1], w.filter.s[2]];
            for i in 0..len {
                let from = weights.wrapping_offset((start + i) as isize * w.filter.i);
                let next = from.wrapping_offset(ASKED as isize * w.filter.i);
                for t in 0..taps {
                    let next = next.wrapping_offset((t / row) as isize * tap[0] + (t % row) as isize * tap[1]);
                    for lane in (0..lanes).step_by(LINE) {
                        prefetch(next.wrapping_add(lane));
                    }
                }
                transform(lanes, from, tap, to.wrapping_add(i * mr));
            }
            return;
        }
        let (group, number, plane) = panel;
        let number = (group * self.panels(kit) + number) * self.image.planes.len() + plane;
        // Where the taps of channel i are, and how many channels lie right.
        let together = self.is_together();
        let (tap, channel) = if together { (mr, taps * mr) } else { (self.some() * mr, mr) };
        for c in (0..len).step_by(self.some()) {
            let some = self.some().min(len - c);
            let from = if ordered {
                weights.wrapping_add(number * self.ordered(kit) + (start + c) * taps * mr)
            } else {
                // SAFETY: some steps of a panel; there is room for them.
                unsafe { self.order(kit, weights, panel, (start + c, some), room.as_mut_ptr()) };
                room.as_ptr()
            };
            let most = if together { 1 } else { some };
            for i in (0..some).step_by(most) {
                let tap = [(row * tap) as isize, tap as isize];
                transform(most * mr, from.wrapping_add(i * channel), tap, to.wrapping_add((c + i) * mr));
            }
        }
    }

    fn v_pitch(&self, cut: &Cut) -> usize {
        spread(self.image.planes.len() * cut.block * self.image.pitch)
    }
    fn m_pitch(&self, cut: &Cut) -> usize {
        spread(cut.block * cut.chunk)
    }
    fn temporary(&self, cut: &Cut) -> usize {
        if self.window.dst.c == 1 { 0 } else { OUT * OUT * self.form.tiles.cols.min(cut.block) * cut.chunk }
    }
    /// Bytes that a thread needs.
    fn each(&self, cut: &Cut) -> usize {
        2 * bytes::<isize>(cut.block)
            + bytes::<f32>(self.image.strip(self.form.tiles.cols.min(cut.block)))
            + bytes::<f32>(self.form.points * self.v_pitch(cut))
            + bytes::<f32>(self.form.points * self.m_pitch(cut))
            + bytes::<f32>(self.temporary(cut))
            + bytes::<f32>(self.form.weights * cut.own)
    }
    /// Whether a call whose weights no plan keeps has no need of [`Winograd::keep`].
    pub fn is_in_turn(&self) -> bool {
        self.in_turn
    }
    fn is_plain(&self, kept: bool) -> bool {
        self.ordered || self.in_turn && !kept
    }
    /// The cut for so many threads, with plain weights or transformed ones: fewer tiles in a block if there would be few blocks (each
    /// of which transforms the weights, if that is done in turn), or if their memory would be too much.
    fn cut(&self, kit: &Kit, threads: usize, plain: bool) -> Cut {
        let (mr, nr) = (self.panel(kit), kit.conv.nr());
        let tiles = self.form.tiles.count();
        // Whole panels: a pass begins where one does.
        let chunk = if plain { 1 } else { CHUNK.min(self.window.cout) }.next_multiple_of(mr);
        let block = if threads == 1 || plain { self.block } else { tiles.div_ceil(3 * threads).next_multiple_of(nr) };
        let own = if plain { spread(self.piece * chunk) } else { 0 };
        let mut cut = Cut { block: block.clamp((4 * nr).min(self.block), self.block), chunk, own };
        while cut.block > nr && self.each(&cut) * threads > MOST_BYTES {
            cut.block -= nr;
        }
        cut
    }

    /// `kept`: whether the weights went through [`Winograd::keep`].
    pub fn room(&self, kit: &Kit, threads: usize, kept: bool) -> Room {
        let plain = self.is_plain(kept);
        Room { shared: 0, each: self.each(&self.cut(kit, threads, plain)) }
    }

    /// # Safety
    /// As [`super::direct::Direct::run`]; weights that were not kept are those of the problem, and only of one that is in turn.
    pub unsafe fn run(
        &self,
        kit: &Kit,
        (weights, kept): (*const f32, bool),
        src: *const f32,
        dst: *mut f32,
        epilogue: &Epilogue,
        memory: &Memory,
        threads: usize,
    ) {
        let w = &self.window;
        // Few blocks: smaller ones, then shares of the result channels.
        let tiles = self.form.tiles.count();
        let cut = self.cut(kit, threads, self.is_plain(kept));
        let block = cut.block;
        let blocks = tiles.div_ceil(block);
        let threads = threads.min(memory.threads());
        let mr = self.panel(kit);
        let parts = if threads == 1 { 1 } else { (2 * threads).div_ceil(blocks * w.groups) };
        let part = w.cout.div_ceil(parts.min(w.cout.div_ceil(mr))).next_multiple_of(mr);
        let parts = w.cout.div_ceil(part);
        let (src, dst, u) = (Shared(src.cast_mut()), Shared(dst), Shared(weights.cast_mut()));
        let bias = Shared(epilogue.bias.cast_mut());
        let (beta, activation) = (epilogue.beta, epilogue.activation);
        pool::run(blocks * w.groups * parts, threads, &|task| {
            let (part_of, rest) = (task % parts, task / parts);
            let (number, group) = (rest % blocks, rest / blocks);
            let epilogue = Epilogue { beta, bias: bias.get(), activation };
            let share = (part_of * part, w.cout.min((part_of + 1) * part));
            let range = (number * block, tiles.min((number + 1) * block));
            // SAFETY: tasks have results of their own.
            unsafe {
                self.task(kit, group, &cut, range, share, (u.get(), kept), src.get(), dst.get(), &epilogue, memory)
            }
        });
    }

    unsafe fn task(
        &self,
        kit: &Kit,
        group: usize,
        cut: &Cut,
        (from, to): (usize, usize),
        (c0, c1): (usize, usize),
        (u, kept): (*const f32, bool),
        src: *const f32,
        dst: *mut f32,
        epilogue: &Epilogue,
        memory: &Memory,
    ) {
        let (w, form, image, block) = (&self.window, &self.form, &self.image, cut.block);
        let mut slot = memory.slot();
        let (at, places) = (slot.take::<isize>(block), slot.take::<isize>(block));
        let strip = slot.take::<f32>(image.strip(form.tiles.cols.min(block)));
        let (v_pitch, m_pitch) = (self.v_pitch(cut), self.m_pitch(cut));
        let v = slot.take::<f32>(form.points * v_pitch);
        let m = slot.take::<f32>(form.points * m_pitch);
        let temporary = slot.take::<f32>(self.temporary(cut));
        let own = slot.take::<f32>(form.weights * cut.own);
        let src = src.wrapping_offset((group * w.cin) as isize * w.src.c);
        let dst = dst.wrapping_offset((group * w.cout) as isize * w.dst.c);
        let (mr, panels, k) = (self.panel(kit), self.panels(kit), self.steps());
        let slots = form.tiles.slots(from, to);
        let mut taps: Taps = [0.0; ROOM * crate::kernels::tile::MAX_WIDTH];
        // SAFETY: tiles of the problem; the slot has room for a block.
        unsafe {
            for t in 0..to - from {
                *at.add(t) = (t * image.pitch) as isize;
                *places.add(t) = (t * cut.chunk) as isize;
            }
            for plane in 0..image.planes.len() {
                let v = v.wrapping_add(plane * block * image.pitch);
                form.tiles.runs(from, to, |run| {
                    image.transform(kit, form, src, run, plane, strip, (v, image.pitch, v_pitch));
                });
            }
            // Planes, and pieces of their channels: each adds to the sums of those before.
            let pieces = || {
                let starts = (0..image.channels).step_by(self.piece);
                let piece = move |start| (start, self.piece.min(image.channels - start));
                (0..image.planes.len()).flat_map(move |plane| starts.clone().map(move |start| (plane, piece(start))))
            };
            let mut c = c0;
            while c < c1 {
                let lanes = cut.chunk.min(c1 - c);
                let product = |point: usize,
                               last: [bool; 2],
                               (plane, (start, len)): (usize, (usize, usize)),
                               (panels, panel): (*const f32, usize)| {
                    let with = slots.with(last);
                    let offset = (plane * block * image.pitch + start) as isize;
                    let first = plane == 0 && start == 0;
                    kit.conv.pixels(&Pixels {
                        pixels: with.len(),
                        src: v.wrapping_add(point * v_pitch),
                        at: at.wrapping_add(with.start),
                        segments: &Segment { offset, len },
                        count: 1,
                        panels,
                        mr,
                        panel,
                        lanes,
                        dst: m.wrapping_add(point * m_pitch),
                        to: places.wrapping_add(with.start),
                        ahead: core::ptr::null(),
                        ahead_len: 0,
                        past: false,
                        finish: Finish {
                            beta: if first { 0.0 } else { 1.0 },
                            bias: core::ptr::null(),
                            activation: Activation::None,
                        },
                    });
                };
                if cut.own > 0 {
                    for piece in pieces() {
                        let (plane, (_, len)) = piece;
                        for i in (0..lanes).step_by(mr) {
                            let place = (own.wrapping_add(i * len), cut.own);
                            self.some_weights(kit, (u, kept), (group, (c + i) / mr, plane), piece.1, place, &mut taps);
                        }
                        for part in &form.parts {
                            part.points(|point, weights, last| {
                                let u = own.wrapping_add(weights * cut.own).cast_const();
                                product(point, last, piece, (u, len * mr));
                            });
                        }
                    }
                } else {
                    for part in &form.parts {
                        part.points(|point, weights, last| {
                            let u = u.wrapping_add(((group * form.weights + weights) * panels + c / mr) * k * mr);
                            for piece in pieces() {
                                let (plane, (start, _)) = piece;
                                let u = u.wrapping_add((plane * image.channels + start) * mr);
                                product(point, last, piece, (u, k * mr));
                            }
                        });
                    }
                }
                let bias = epilogue.bias;
                let bias = if bias.is_null() { bias } else { bias.add(group * w.cout + c) };
                let finish = Finish { beta: epilogue.beta, bias, activation: epilogue.activation };
                form.tiles.runs(from, to, |run| {
                    for parts in form.parts.chunk_by(|a, b| a.family == b.family) {
                        self.finish(kit, run, parts, (c, lanes, cut.chunk), (m, m_pitch), dst, &finish, temporary);
                    }
                });
                c += lanes;
            }
        }
    }

    /// The results of a run of tiles of which the parts are terms.
    unsafe fn finish(
        &self,
        kit: &Kit,
        run: &Run,
        parts: &[Part],
        (c, lanes, chunk): (usize, usize, usize),
        (m, m_pitch): (*const f32, usize),
        dst: *mut f32,
        finish: &Finish<f32>,
        temporary: *mut f32,
    ) {
        let s = &self.window.dst;
        let [rows, cols] = parts[0].of(run.last).map(|s| s.results);
        if rows == 0 || cols == 0 {
            return;
        }
        let every = self.form.every;
        let [y, x] = [(0, run.row), (1, run.col)].map(|(d, i)| parts[0].strands[d].first + i * OUT * every);
        let place = run.image as isize * s.n + run.plane as isize * s.s[0] + y as isize * s.s[1] + x as isize * s.s[2];
        let dst = dst.wrapping_offset(place + c as isize * s.c);
        let (down, right) = (every as isize * s.s[1], every as isize * s.s[2]);
        let mut terms = [Term { src: m, sides: parts[0].sides, width: 0 }; MOST_TERMS];
        let terms = &mut terms[..parts.len()];
        // SAFETY: as the caller's.
        unsafe {
            let mut tile = |t: usize, to: *mut f32, step: (isize, isize)| {
                for (term, part) in terms.iter_mut().zip(parts) {
                    let src = m.wrapping_add(part.point * m_pitch + (run.first + t) * chunk);
                    *term = Term { src, sides: part.of(run.last), width: part.sides[1].points() };
                }
                kit.conv.wino_output(lanes, terms, m_pitch, to, step, finish);
            };
            if s.c == 1 {
                for t in 0..run.count {
                    tile(t, dst.wrapping_offset((t * OUT) as isize * right), (down, right));
                }
                return;
            }
            let width = (run.count - 1) * OUT + cols;
            let row = run.count * OUT * chunk;
            for y in 0..if finish.beta == 0.0 { 0 } else { rows } {
                let old = dst.wrapping_offset(y as isize * down);
                kit.conv.to_last(lanes, width, old, s.c, right, temporary.add(y * row), chunk);
            }
            for t in 0..run.count {
                tile(t, temporary.add(t * OUT * chunk), (row as isize, chunk as isize));
            }
            for y in 0..rows {
                let new = dst.wrapping_offset(y as isize * down);
                kit.conv.to_first(lanes, width, temporary.add(y * row), chunk, new, s.c, right);
            }
        }
    }
}

/// Backward-weights.
///
/// The sums of a point are a matrix as large as a tap's weights, and there are 36 points. Where they stay in cache, every block of tiles adds to
/// all of them. Where they do not, the transforms of many tiles are made first, and then the sums a square at a time, whose
/// weights are stored at once: sums never leave L2.
pub struct WinogradGradient {
    p: Problem,
    form: Form,
    x: Image,
    dy: Image,
    /// Tiles of a block.
    block: usize,
    /// Runs of blocks with sums of their own, which are added in the end.
    chunks: usize,
    /// The square of output and input channels whose sums are made together, if not all.
    square: Option<(usize, usize)>,
}

/// Tiles of a block of the gradient: the steps of its products.
const GRADIENT_BLOCK: usize = 96;
/// Bytes of partial sums beyond the first, and work of a chunk at least.
const PARTIAL: usize = 24 << 20;
const CHUNK_WORK: f64 = 2e8;
const MOST_CHUNKS: usize = 16;
/// Output channels of which weights are stored at a time.
const STORED: usize = 16;
/// Bytes of the transforms from which squares are made at most, if the last cache holds as much.
const SQUARES_OF: usize = 32 << 20;
/// Sums are made in squares if they are so many times as large as what L2 holds. (Figures: docs/performance.md.)
const SQUARES_FROM: usize = 8;

/// The transforms of a block of tiles, in its slots: of the image, tiles `row` apart and points `v_pitch`, and of the result's gradient in
/// panels.
#[derive(Clone, Copy)]
struct Transforms {
    v: Shared<f32>,
    d: Shared<f32>,
    from: usize,
    to: usize,
}

/// Where sums go: the first point's, the distance of the next point's, and of the next input channel's.
#[derive(Clone, Copy)]
struct Sums {
    ptr: *mut f32,
    point: usize,
    lane: usize,
}

impl WinogradGradient {
    pub fn new(p: &Problem, kit: &Kit) -> WinogradGradient {
        let form = Form::new(p, Pass::BackwardWeights);
        let planes: Vec<isize> = (0..p.kernel[0]).map(|k| (k * p.dilation[0]) as isize - p.pad[0] as isize).collect();
        let x = Image::of_form(&form, p.input_strides(), p.input, planes, p.icg(), kit);
        // A tile of the result has its own pixels only.
        let part = &form.parts[0];
        let dy = Image {
            strides: p.output_strides(),
            size: p.output,
            from: [0, 0],
            planes: vec![0],
            advance: OUT,
            reach: [part.last, part.sides].map(|sides| sides.map(|s| s.results)),
            channels: p.ocg(),
            pitch: p.ocg().next_multiple_of(kit.conv.lanes()),
        };
        let tiles = form.tiles.count();
        let one = form.points * (x.planes.len() * x.pitch + dy.pitch) * size_of::<f32>();
        let sums = form.weights * x.planes.len() * x.channels * dy.pitch * size_of::<f32>();
        // Blocks of even size.
        let even = |most: usize| tiles.div_ceil(tiles.div_ceil(most));
        if sums > SQUARES_FROM * kit.near && form.parts.len() == 1 {
            let most = SQUARES_OF.min(kit.far) / one;
            let strip = x.strip(form.tiles.cols.min(most).max(1)) * size_of::<f32>();
            if most >= GRADIENT_BLOCK.min(tiles) && strip <= LARGEST {
                let (mr, nr) = (kit.conv.mr(), kit.gemm.nr());
                let area = kit.near / (form.weights * size_of::<f32>());
                let panels = (area.isqrt() / mr).clamp(1, p.ocg().div_ceil(mr));
                let wide = (area / (panels * mr) / nr * nr).clamp(nr, x.channels.next_multiple_of(nr));
                let square = Some((panels * mr, wide));
                return WinogradGradient { p: *p, block: even(most), form, x, dy, chunks: 1, square };
            }
        }
        let strip = (x.strip(2) - x.strip(1)) * size_of::<f32>();
        let block = even(GRADIENT_BLOCK.min(2 * LARGEST / (one + strip)).max(8));
        let chunks = ((p.flops() / 4.0 / CHUNK_WORK) as usize).min(1 + PARTIAL / (p.groups * sums).max(1));
        let chunks = chunks.clamp(1, MOST_CHUNKS).min(tiles.div_ceil(block));
        WinogradGradient { p: *p, form, x, dy, block, chunks, square: None }
    }

    /// The tile that is computed, and the one that it is made of, as they are written.
    pub fn name(&self) -> String {
        self.form.name(|taps| format!("{taps},{OUT}x{OUT}"))
    }

    /// Taps of the kernel, and of a row of it.
    fn taps(&self) -> (usize, usize) {
        (self.p.kernel[1] * self.p.kernel[2], self.p.kernel[2])
    }
    /// Lanes of the products: planes and input channels.
    fn lanes(&self) -> usize {
        self.x.planes.len() * self.x.channels
    }
    /// Elements of one transformed sum of a group.
    fn sum(&self) -> usize {
        spread(self.lanes() * self.dy.pitch)
    }
    /// Elements of all sums of a chunk; 0 if they are never all there.
    pub fn sums(&self) -> usize {
        if self.square.is_some() { 0 } else { self.p.groups * self.form.weights * self.sum() }
    }
    fn v_pitch(&self) -> usize {
        spread(self.block * self.row())
    }
    /// Elements of a tile's transform of the image.
    fn row(&self) -> usize {
        spread(self.x.planes.len() * self.x.pitch)
    }
    fn d_pitch(&self, kit: &Kit) -> usize {
        spread(self.block * self.dy.channels.next_multiple_of(kit.conv.mr()))
    }
    fn strip(&self) -> usize {
        let tiles = self.form.tiles.cols.min(self.block);
        self.x.strip(tiles).max(self.dy.strip(tiles))
    }

    pub fn room(&self, kit: &Kit) -> Room {
        let (v, d) =
            (bytes::<f32>(self.form.points * self.v_pitch()), bytes::<f32>(self.form.points * self.d_pitch(kit)));
        let taps = bytes::<f32>(self.taps().0 * self.dy.pitch);
        let strip = bytes::<f32>(self.strip());
        match self.square {
            Some((o, i)) => {
                Room { shared: v + d, each: strip + bytes::<f32>(self.form.weights * spread(o * i)) + taps }
            }
            None => Room { shared: bytes::<f32>(self.sums() * self.chunks), each: strip + v + d + taps },
        }
    }

    /// # Safety
    /// As [`super::gradient::Gradient::run`].
    pub unsafe fn run(
        &self,
        kit: &Kit,
        x: *const f32,
        dy: *const f32,
        dw: *mut f32,
        beta: f32,
        memory: &Memory,
        threads: usize,
    ) {
        let threads = threads.min(memory.threads());
        let (from, gradient, to) = (Shared(x.cast_mut()), Shared(dy.cast_mut()), Shared(dw));
        if let Some(square) = self.square {
            // SAFETY: as the caller's.
            unsafe { self.run_squares(kit, square, (from, gradient), to, beta, memory, threads) };
            return;
        }
        let groups = self.p.groups;
        let wanted = (2 * threads).div_ceil(self.chunks * groups);
        let mr = kit.conv.mr();
        let parts = if threads == 1 { 1 } else { wanted.min(self.dy.channels.div_ceil(mr)) };
        let part = self.dy.channels.div_ceil(parts).next_multiple_of(mr);
        let parts = self.dy.channels.div_ceil(part);
        let sums = Shared(memory.shared::<f32>());
        pool::run(self.chunks * groups * parts, threads, &|task| {
            let (index, rest) = (task % parts, task / parts);
            let (group, chunk) = (rest % groups, rest / groups);
            let share = (index * part, self.dy.channels.min((index + 1) * part));
            // SAFETY: tasks have sums of their own.
            unsafe { self.task(kit, group, chunk, share, from.get(), gradient.get(), sums.get(), memory) }
        });
        pool::run(groups * self.lanes(), threads, &|task| {
            let (group, lane) = (task / self.lanes(), task % self.lanes());
            let ptr = sums.get().wrapping_add(group * self.form.weights * self.sum() + lane * self.dy.pitch);
            let mut slot = memory.slot();
            let taps = slot.take::<f32>(self.taps().0 * self.dy.pitch);
            // SAFETY: tasks have sums and weights of their own.
            unsafe {
                for chunk in 1..self.chunks {
                    for xi in 0..self.form.weights {
                        let sum = ptr.add(xi * self.sum());
                        kit.conv.add_rows(self.dy.channels, 1, sum.add(chunk * self.sums()), 0, sum);
                    }
                }
                let of = Sums { ptr, point: self.sum(), lane: self.dy.pitch };
                self.store(kit, group, lane, (0, self.dy.channels), of, taps, to.get(), beta);
            }
        });
    }

    /// All transforms of a block, then its sums in squares.
    unsafe fn run_squares(
        &self,
        kit: &Kit,
        (high, wide): (usize, usize),
        (x, dy): (Shared<f32>, Shared<f32>),
        dw: Shared<f32>,
        beta: f32,
        memory: &Memory,
        threads: usize,
    ) {
        let (tiles, channels, planes) = (self.form.tiles.count(), self.x.channels, self.x.planes.len());
        let v = memory.shared::<f32>();
        let d = v.wrapping_byte_add(bytes::<f32>(self.form.points * self.v_pitch()));
        let (rows, cols) = (self.dy.channels.div_ceil(high), channels.div_ceil(wide));
        // Of even width.
        let wide = channels.div_ceil(cols);
        for (group, from) in (0..self.p.groups).flat_map(|g| (0..tiles).step_by(self.block).map(move |from| (g, from)))
        {
            let t = Transforms { v: Shared(v), d: Shared(d), from, to: tiles.min(from + self.block) };
            let beta = if from == 0 { beta } else { 1.0 };
            let shares = if threads == 1 { 1 } else { 4 * threads };
            pool::run(shares, threads, &|share| {
                let mut slot = memory.slot();
                let strip = slot.take::<f32>(self.strip());
                let all = (0, self.dy.channels);
                // SAFETY: tasks have tiles of their own, and slots while they last.
                unsafe { self.transform(kit, group, &t, all, (share, shares), x.get(), dy.get(), strip) }
            });
            pool::run(planes * rows * cols, threads, &|task| {
                let (i, rest) = (task % cols * wide, task / cols);
                let (o, plane) = (rest % rows * high, rest / rows);
                let (i, o) = ((i, channels.min(i + wide)), (o, self.dy.channels.min(o + high)));
                let lane = (o.1 - o.0).next_multiple_of(kit.conv.lanes());
                let mut slot = memory.slot();
                let taps = slot.take::<f32>(self.taps().0 * self.dy.pitch);
                let mut sums = Sums { ptr: core::ptr::null_mut(), point: spread(lane * (i.1 - i.0)), lane };
                sums.ptr = slot.take::<f32>(self.form.weights * sums.point);
                // SAFETY: tasks have weights of their own; the slot has room for a square.
                unsafe {
                    self.products(kit, &t, (plane, plane + 1), i, o, sums, true);
                    for l in i.0..i.1 {
                        let of = Sums { ptr: sums.ptr.wrapping_add((l - i.0) * lane), ..sums };
                        self.store(kit, group, plane * channels + l, o, of, taps, dw.get(), beta);
                    }
                }
            });
        }
    }

    unsafe fn task(
        &self,
        kit: &Kit,
        group: usize,
        chunk: usize,
        (o0, o1): (usize, usize),
        x: *const f32,
        dy: *const f32,
        sums: *mut f32,
        memory: &Memory,
    ) {
        let mut slot = memory.slot();
        let strip = slot.take::<f32>(self.strip());
        let v = slot.take::<f32>(self.form.points * self.v_pitch());
        let d = slot.take::<f32>(self.form.points * self.d_pitch(kit));
        let tiles = self.form.tiles.count();
        let blocks = tiles.div_ceil(self.block);
        let (first, end) = (chunk * blocks / self.chunks, (chunk + 1) * blocks / self.chunks);
        let base = sums.wrapping_add(chunk * self.sums() + group * self.form.weights * self.sum() + o0);
        let sums = Sums { ptr: base, point: self.sum(), lane: self.dy.pitch };
        for number in first..end {
            let (from, to) = (number * self.block, tiles.min((number + 1) * self.block));
            let t = Transforms { v: Shared(v), d: Shared(d), from, to };
            // SAFETY: tiles of the problem; the slot has room for a block. Panels begin with the first channel of the share.
            unsafe {
                self.transform(kit, group, &t, (o0, o1), (0, 1), x, dy, strip);
                let all = (0, self.x.planes.len());
                self.products(kit, &t, all, (0, self.x.channels), (0, o1 - o0), sums, number == first);
            }
        }
    }

    /// The transforms of a block's tiles, or of a share of its runs, and of some output channels, the first of which begins the panels.
    unsafe fn transform(
        &self,
        kit: &Kit,
        group: usize,
        t: &Transforms,
        (o0, o1): (usize, usize),
        (share, shares): (usize, usize),
        x: *const f32,
        dy: *const f32,
        strip: *mut f32,
    ) {
        let form = &self.form;
        let (v_pitch, d_pitch, mr) = (self.v_pitch(), self.d_pitch(kit), kit.conv.mr());
        let x = x.wrapping_offset((group * self.x.channels) as isize * self.x.strides.c);
        let dy = dy.wrapping_offset((group * self.dy.channels + o0) as isize * self.dy.strides.c);
        let gradient = Image {
            strides: self.dy.strides,
            planes: vec![0],
            channels: o1 - o0,
            pitch: (o1 - o0).next_multiple_of(kit.conv.lanes()),
            ..self.dy
        };
        let count = t.to - t.from;
        let mut number = 0;
        form.tiles.runs(t.from, t.to, |run| {
            number += 1;
            if number % shares != share {
                return;
            }
            // SAFETY: tiles of the problem; there is room for the block.
            unsafe {
                for plane in 0..self.x.planes.len() {
                    let v = t.v.get().wrapping_add(plane * self.x.pitch);
                    self.x.transform(kit, form, x, run, plane, strip, (v, self.row(), v_pitch));
                }
                gradient.each(kit, dy, run, 0, strip, |first, tiles, pixel, step| {
                    for i in 0..tiles {
                        let pixel = pixel.wrapping_offset((i * OUT) as isize * step.1);
                        for part in &form.parts {
                            let to = t.d.get().wrapping_add(part.point * d_pitch + (run.first + first + i) * mr);
                            let points = (part.sides[1].points(), d_pitch);
                            let sides = part.of(run.last);
                            kit.conv.wino_gradient(gradient.pitch, pixel, step, sides, to, count * mr, points);
                        }
                    }
                });
            }
        });
    }

    /// The products of a block: planes, input channels, and output channels from a panel's first one on, to sums that begin with the first of
    /// each. `fresh`: there is nothing in them yet.
    unsafe fn products(
        &self,
        kit: &Kit,
        t: &Transforms,
        (p0, p1): (usize, usize),
        (i0, i1): (usize, usize),
        (o0, o1): (usize, usize),
        sums: Sums,
        fresh: bool,
    ) {
        let (count, mr) = (t.to - t.from, kit.conv.mr());
        let slots = self.form.tiles.slots(t.from, t.to);
        for part in &self.form.parts {
            let mut next = part.weights;
            part.points(|point, weights, last| {
                // The first of the points that share these sums.
                let beta = if fresh && weights >= next { 0.0 } else { 1.0 };
                next = next.max(weights + 1);
                let with = slots.with(last);
                let a = Source::panels(t.d.get().wrapping_add(point * self.d_pitch(kit)).cast_const(), count, mr);
                let a = a.from(o0, with.start);
                for plane in p0..p1 {
                    let b = t.v.get().wrapping_add(point * self.v_pitch() + plane * self.x.pitch + i0).cast_const();
                    let b = Source::in_place(b, 1, self.row() as isize).from(0, with.start);
                    let c = sums.ptr.wrapping_add(weights * sums.point + (plane - p0) * (i1 - i0) * sums.lane);
                    // SAFETY: both operands' transforms, and sums of so many channels.
                    unsafe { kit.gemm.block(o1 - o0, i1 - i0, with.len(), 1.0, a, b, beta, c, sums.lane as isize) };
                }
            });
        }
    }

    /// One input channel's weights of some output channels from their transformed sums; `taps` has room for them.
    unsafe fn store(
        &self,
        kit: &Kit,
        group: usize,
        lane: usize,
        (o0, o1): (usize, usize),
        sums: Sums,
        taps: *mut f32,
        dw: *mut f32,
        beta: f32,
    ) {
        let (count, wide) = self.taps();
        let f = self.p.filter_strides();
        let (plane, i) = (lane / self.x.channels, lane % self.x.channels);
        let (n, pitch) = (o1 - o0, (o1 - o0).next_multiple_of(kit.conv.lanes()));
        let place = (group * self.dy.channels + o0) as isize * f.o + i as isize * f.i + plane as isize * f.s[0];
        // SAFETY: sums of whole vectors; weights of the problem.
        unsafe {
            for part in &self.form.parts {
                // Taps of a strand are equally far apart.
                let tap = [wide, 1].map(|n| n * pitch);
                let to = taps.add(part.strands[0].taps[0] * tap[0] + part.strands[1].taps[0] * tap[1]);
                let step = [0, 1].map(|d: usize| {
                    let taps = part.strands[d].taps;
                    (taps[1] as isize - taps[0] as isize) * tap[d] as isize
                });
                let from = sums.ptr.add(part.weights * sums.point);
                kit.conv.wino_weights_back(pitch, from, sums.point, part.sides, to, (step[0], step[1]));
            }
            if beta == 0.0 && f.s[1..] == [wide as isize, 1] {
                // The taps of a weight are side by side, and weights far apart: all taps of a few of them at a time.
                for o in (0..n).step_by(STORED) {
                    let to = dw.wrapping_offset(place + o as isize * f.o);
                    let some = STORED.min(n - o);
                    kit.conv.to_last(count, some, taps.add(o), pitch as isize, 1, to, f.o as usize);
                }
                return;
            }
            for t in 0..count {
                let to = dw.wrapping_offset(place + (t / wide) as isize * f.s[1] + (t % wide) as isize * f.s[2]);
                for o in 0..n {
                    let x = *taps.add(t * pitch + o);
                    let to = to.wrapping_offset(o as isize * f.o);
                    *to = if beta == 0.0 { x } else { x + beta * *to };
                }
            }
        }
    }
}
