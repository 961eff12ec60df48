//! Winograd's algorithm for 3x3 kernels of stride 1, all three passes, with every transform in cache.
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
//! transformed image never leaves the cache; the transformed weights are as large as 4 times the weights.
//!
//! The price is accuracy: docs/convolution.md has the bound. The tile of 4x4 is the largest whose growth of the error a
//! training in f32 does not feel.

use super::direct::Window;
use super::memory::{MOST_BYTES, Memory, Room, Shared, bytes};
use super::problem::{Math, Pass, Problem, Strides};
use super::strip::{self, Extent};
use super::{Epilogue, Kit};
use crate::gemm::blocking;
use crate::kernels::conv::{Activation, Finish, Pixels, Segment};
use crate::kernels::tile::Source;
use crate::runtime::pool;

/// Elements of a transformed tile.
const XI: usize = 36;
/// Side of a tile of results, and of the image that it reaches over.
const OUT: usize = 4;
const IN: usize = 6;

/// Channels from which on the products outweigh the transforms: forward and backward-data, and backward-weights.
const CHANNELS: usize = 24;
const GRADIENT_CHANNELS: usize = 16;
/// Tiles from which on the weights' transform pays.
const TILES: usize = 24;

/// Why a problem does not get this algorithm; nothing if it does.
pub fn reason_against(p: &Problem, pass: Pass, kit: &Kit) -> Option<&'static str> {
    if p.kernel[1..] != [3, 3] {
        return Some("the kernel is not 3x3");
    }
    if p.stride != [1; 3] || p.dilation[1..] != [1, 1] {
        return Some("the kernel is strided or dilated");
    }
    if p.input.contains(&0) || p.output.contains(&0) {
        return Some("there is nothing to add up");
    }
    if p.math == Math::Strict {
        return Some("math is strict");
    }
    let least = if pass == Pass::BackwardWeights { GRADIENT_CHANNELS } else { CHANNELS }.max(kit.conv.lanes());
    if p.icg().min(p.ocg()) < least {
        return Some(if p.groups == 1 { "few channels" } else { "few channels in a group" });
    }
    let size = if pass == Pass::BackwardData { p.input } else { p.output };
    let tiles = size[1].div_ceil(OUT) * size[2].div_ceil(OUT);
    if tiles * XI * 2 > size[1] * size[2] * 9 {
        return Some("the image fills its tiles badly");
    }
    if p.batch * size[0] * tiles < TILES {
        return Some("few tiles");
    }
    None
}

/// A distance of at least n elements that is an odd number of cache lines: streams that far apart spread over all sets.
fn spread(n: usize) -> usize {
    let lines = n.div_ceil(16);
    16 * (lines | 1)
}

/// The tiles of an image tensor.
#[derive(Clone, Copy)]
struct Tiles {
    batch: usize,
    /// Results: planes, rows, columns.
    size: [usize; 3],
    rows: usize,
    cols: usize,
}

/// Tiles side by side in one row of an image.
#[derive(Clone, Copy)]
struct Run {
    /// Number in the block.
    first: usize,
    count: usize,
    image: usize,
    plane: usize,
    row: usize,
    col: usize,
}

impl Tiles {
    fn new(batch: usize, size: [usize; 3]) -> Tiles {
        Tiles { batch, size, rows: size[1].div_ceil(OUT), cols: size[2].div_ceil(OUT) }
    }
    fn count(&self) -> usize {
        self.batch * self.size[0] * self.rows * self.cols
    }
    /// The runs of tiles `from..to`.
    fn runs(&self, from: usize, to: usize, mut f: impl FnMut(Run)) {
        let mut at = from;
        while at < to {
            let (col, rest) = (at % self.cols, at / self.cols);
            let (row, rest) = (rest % self.rows, rest / self.rows);
            let (plane, image) = (rest % self.size[0], rest / self.size[0]);
            let count = (self.cols - col).min(to - at);
            f(Run { first: at - from, count, image, plane, row, col });
            at += count;
        }
    }
    /// Rows and columns of a tile that exist.
    fn inside(&self, row: usize, col: usize) -> (usize, usize) {
        (OUT.min(self.size[1] - row * OUT), OUT.min(self.size[2] - col * OUT))
    }
}

/// An image of which tiles are transformed.
struct Image {
    strides: Strides,
    size: [usize; 3],
    /// Where the first tile begins, and the planes that a result takes.
    from: [isize; 2],
    planes: Vec<isize>,
    channels: usize,
    /// Channels in whole vectors.
    pitch: usize,
}

impl Image {
    /// Elements of the strip of a run of tiles.
    fn strip(&self, tiles: usize) -> usize {
        IN * (tiles * OUT + IN - OUT) * self.pitch
    }

    /// Transforms a run of tiles of side IN (or OUT, the gradient's): calls `f` with each tile's number in the run, its
    /// first pixel and the distances of rows and columns there.
    ///
    /// # Safety
    /// `src` is the image tensor at the group's first channel; `strip` has room for the run.
    unsafe fn each(
        &self,
        kit: &Kit,
        src: *const f32,
        run: &Run,
        plane: usize,
        side: usize,
        strip: *mut f32,
        mut f: impl FnMut(usize, *const f32, isize, isize),
    ) {
        let at = [
            run.plane as isize + self.planes[plane],
            (run.row * OUT) as isize + self.from[0],
            (run.col * OUT) as isize + self.from[1],
        ];
        let image = src.wrapping_offset(run.image as isize * self.strides.n);
        let inside = |from: isize, len: usize, d: usize| from >= 0 && from + len as isize <= self.size[d] as isize;
        let in_place =
            self.strides.c == 1 && self.channels == self.pitch && inside(at[0], 1, 0) && inside(at[1], side, 1);
        let mut start = 0;
        while start < run.count {
            let col = at[2] + (start * OUT) as isize;
            if in_place && inside(col, side, 2) {
                let place = at[0] * self.strides.s[0] + at[1] * self.strides.s[1] + col * self.strides.s[2];
                f(start, image.wrapping_offset(place), self.strides.s[1], self.strides.s[2]);
                start += 1;
                continue;
            }
            // Through a strip: one tile of an image that lies right otherwise, else all that are left.
            let tiles = if in_place { 1 } else { run.count - start };
            let width = (tiles - 1) * OUT + side;
            let extent = Extent { from: [at[0], at[1], col], len: [1, side, width] };
            // SAFETY: the strip has room for the run.
            unsafe {
                strip::fill(kit.conv, self.channels, image, &self.strides, self.size, &extent, strip, self.pitch);
            }
            for t in 0..tiles {
                let first = strip.wrapping_add(t * OUT * self.pitch);
                f(start + t, first, (width * self.pitch) as isize, self.pitch as isize);
            }
            start += tiles;
        }
    }
}

/// Forward and backward-data.
pub struct Winograd {
    window: Window,
    /// Index in the kernel of each tap of the window, in both dimensions.
    order: [usize; 3],
    tiles: Tiles,
    image: Image,
    /// Tiles of a block, and result channels of a pass over them.
    block: usize,
    chunk: usize,
}

/// Result channels of a pass at most, but for the last panel's.
const CHUNK: usize = 64;
/// Tiles of a block.
const BLOCK: usize = 48;
/// Bytes of a block's transformed image at most.
const LARGEST: usize = 8 << 20;
/// Steps of a product at most.
const PIECE: usize = 768;

impl Winograd {
    pub fn new(p: &Problem, pass: Pass, kit: &Kit) -> Winograd {
        let forward = pass == Pass::Forward;
        let window = if forward { Window::forward(p) } else { Window::backward(p).swap_remove(0) };
        let (size, source) = if forward { (p.output, p.input) } else { (p.input, p.output) };
        let from = [1, 2].map(|d| if forward { -(p.pad[d] as isize) } else { p.pad[d] as isize - 2 });
        let image = Image {
            strides: window.src,
            size: source,
            from,
            planes: window.dims[0].taps.iter().map(|t| t.0).collect(),
            channels: window.cin,
            pitch: window.cin.next_multiple_of(kit.conv.lanes()),
        };
        let tiles = Tiles::new(p.batch, size);
        let nr = kit.conv.nr();
        let one = XI * image.planes.len().max(1) * image.pitch * size_of::<f32>();
        let block = BLOCK.min(LARGEST / one).max(nr) / nr * nr;
        // Whole panels: a pass begins where one does.
        let chunk = CHUNK.min(window.cout).next_multiple_of(kit.conv.mr());
        let order = if forward { [0, 1, 2] } else { [2, 1, 0] };
        Winograd { window, order, tiles, image, block, chunk }
    }

    fn steps(&self) -> usize {
        self.image.planes.len() * self.window.cin
    }
    fn panels(&self, kit: &Kit) -> usize {
        self.window.cout.div_ceil(kit.conv.mr())
    }
    /// Elements of transformed weights.
    pub fn transformed(&self, kit: &Kit) -> usize {
        self.window.groups * XI * self.panels(kit) * kit.conv.mr() * self.steps()
    }

    /// # Safety
    /// The weights of the problem; `to` has room for [`Winograd::transformed`] elements.
    pub unsafe fn transform_weights(&self, kit: &Kit, weights: *const f32, to: *mut f32, threads: usize) {
        const SOME: usize = 8;
        let w = &self.window;
        let (mr, panels, k) = (kit.conv.mr(), self.panels(kit), self.steps());
        let together = w.filter.s[1..] == [3, 1];
        let (from, to) = (Shared(weights.cast_mut()), Shared(to));
        pool::run(w.groups * panels, threads, &|task| {
            let (group, panel) = (task / panels, task % panels);
            let lanes = mr.min(w.cout - panel * mr);
            let weights = from.get().wrapping_offset(group as isize * w.group + (panel * mr) as isize * w.filter.o);
            let dst = to.get().wrapping_add((group * XI * panels + panel) * k * mr);
            let mut taps = [0.0f32; 9 * SOME * crate::kernels::tile::MAX_WIDTH];
            for (z, depth) in w.dims[0].taps.iter().enumerate() {
                let plane = weights.wrapping_offset(depth.1 as isize * w.filter.s[0]);
                for c in (0..w.cin).step_by(SOME) {
                    let some = SOME.min(w.cin - c);
                    let to = dst.wrapping_add((z * w.cin + c) * mr);
                    // SAFETY: some steps of a panel, all taps; the result's place is this task's.
                    unsafe {
                        if together {
                            // The taps of a weight are consecutive, and so may be the channels: as many as are at a
                            // time. Then nine taps, in their order or reversed.
                            let src = plane.wrapping_offset(c as isize * w.filter.i);
                            if w.filter.i == 9 {
                                kit.conv.to_last(lanes, 9 * some, src, w.filter.o, 1, taps.as_mut_ptr(), mr);
                            }
                            for i in 0..some {
                                let nine = taps.as_mut_ptr().add(i * 9 * mr);
                                if w.filter.i != 9 {
                                    let src = src.wrapping_offset(i as isize * w.filter.i);
                                    kit.conv.to_last(lanes, 9, src, w.filter.o, 1, nine, mr);
                                }
                                let (first, step) = if self.order[0] == 0 { (0, 1) } else { (8 * mr, -1) };
                                let from = nine.add(first).cast_const();
                                let step = step * mr as isize;
                                kit.conv.wino_weights(mr, from, step, to.wrapping_add(i * mr), panels * k * mr);
                            }
                            continue;
                        }
                        for t in 0..9 {
                            let tap =
                                self.order[t / 3] as isize * w.filter.s[1] + self.order[t % 3] as isize * w.filter.s[2];
                            let src = plane.wrapping_offset(tap + c as isize * w.filter.i);
                            let to = taps.as_mut_ptr().add(t * SOME * mr);
                            kit.gemm.pack_a(lanes, some, src, w.filter.o, w.filter.i, false, to);
                        }
                        let tap = (SOME * mr) as isize;
                        kit.conv.wino_weights(some * mr, taps.as_ptr(), tap, to, panels * k * mr);
                    }
                }
            }
        });
    }

    fn v_pitch(&self, block: usize) -> usize {
        spread(self.image.planes.len() * block * self.image.pitch)
    }
    fn m_pitch(&self, block: usize) -> usize {
        spread(block * self.chunk)
    }
    fn temporary(&self, block: usize) -> usize {
        if self.window.dst.c == 1 { 0 } else { OUT * OUT * self.tiles.cols.min(block) * self.chunk }
    }
    /// Bytes that a thread needs for blocks of so many tiles.
    fn each(&self, block: usize) -> usize {
        2 * bytes::<isize>(block)
            + bytes::<f32>(self.image.strip(self.tiles.cols.min(block)))
            + bytes::<f32>(XI * self.v_pitch(block))
            + bytes::<f32>(XI * self.m_pitch(block))
            + bytes::<f32>(self.temporary(block))
    }
    /// Tiles of a block for so many threads: fewer if there would be few blocks, or if their memory would be too much.
    fn block(&self, kit: &Kit, threads: usize) -> usize {
        let nr = kit.conv.nr();
        let tiles = self.tiles.count();
        let block = if threads == 1 { self.block } else { tiles.div_ceil(3 * threads).next_multiple_of(nr) };
        let mut block = block.clamp((4 * nr).min(self.block), self.block);
        while block > nr && self.each(block) * threads > MOST_BYTES {
            block -= nr;
        }
        block
    }

    pub fn room(&self, kit: &Kit, threads: usize) -> Room {
        Room { shared: 0, each: self.each(self.block(kit, threads)) }
    }

    /// # Safety
    /// As [`super::direct::Direct::run`].
    pub unsafe fn run(
        &self,
        kit: &Kit,
        transformed: *const f32,
        src: *const f32,
        dst: *mut f32,
        epilogue: &Epilogue,
        memory: &Memory,
        threads: usize,
    ) {
        let w = &self.window;
        // Few blocks: smaller ones, then shares of the result channels.
        let tiles = self.tiles.count();
        let block = self.block(kit, threads);
        let blocks = tiles.div_ceil(block);
        let threads = threads.min(memory.threads());
        let mr = kit.conv.mr();
        let parts = if threads == 1 { 1 } else { (2 * threads).div_ceil(blocks * w.groups) };
        let part = w.cout.div_ceil(parts.min(w.cout.div_ceil(mr))).next_multiple_of(mr);
        let parts = w.cout.div_ceil(part);
        let (src, dst, u) = (Shared(src.cast_mut()), Shared(dst), Shared(transformed.cast_mut()));
        let bias = Shared(epilogue.bias.cast_mut());
        let (beta, activation) = (epilogue.beta, epilogue.activation);
        pool::run(blocks * w.groups * parts, threads, &|task| {
            let (part_of, rest) = (task % parts, task / parts);
            let (number, group) = (rest % blocks, rest / blocks);
            let epilogue = Epilogue { beta, bias: bias.get(), activation };
            let share = (part_of * part, w.cout.min((part_of + 1) * part));
            let range = (number * block, tiles.min((number + 1) * block));
            // SAFETY: tasks have results of their own.
            unsafe { self.task(kit, group, block, range, share, u.get(), src.get(), dst.get(), &epilogue, memory) }
        });
    }

    unsafe fn task(
        &self,
        kit: &Kit,
        group: usize,
        block: usize,
        (from, to): (usize, usize),
        (c0, c1): (usize, usize),
        u: *const f32,
        src: *const f32,
        dst: *mut f32,
        epilogue: &Epilogue,
        memory: &Memory,
    ) {
        let (w, image) = (&self.window, &self.image);
        let count = to - from;
        let mut slot = memory.slot();
        let (at, places) = (slot.take::<isize>(block), slot.take::<isize>(block));
        let strip = slot.take::<f32>(image.strip(self.tiles.cols.min(block)));
        let (v_pitch, m_pitch) = (self.v_pitch(block), self.m_pitch(block));
        let v = slot.take::<f32>(XI * v_pitch);
        let m = slot.take::<f32>(XI * m_pitch);
        let temporary = slot.take::<f32>(self.temporary(block));
        let src = src.wrapping_offset((group * w.cin) as isize * w.src.c);
        let dst = dst.wrapping_offset((group * w.cout) as isize * w.dst.c);
        let (mr, panels, k) = (kit.conv.mr(), self.panels(kit), self.steps());
        // SAFETY: tiles of the problem; the slot has room for a block.
        unsafe {
            for t in 0..count {
                *at.add(t) = (t * image.pitch) as isize;
                *places.add(t) = (t * self.chunk) as isize;
            }
            for plane in 0..image.planes.len() {
                self.tiles.runs(from, to, |run| {
                    image.each(kit, src, &run, plane, IN, strip, |t, pixel, row, col| {
                        let to = v.add((plane * block + run.first + t) * image.pitch);
                        kit.conv.wino_input(image.pitch, pixel, row, col, to, v_pitch);
                    });
                });
            }
            let segment =
                |plane: usize| Segment { offset: (plane * block * image.pitch) as isize, len: image.channels };
            let mut c = c0;
            while c < c1 {
                let lanes = self.chunk.min(c1 - c);
                for xi in 0..XI {
                    let panels = u.wrapping_add(((group * XI + xi) * panels + c / mr) * k * mr);
                    // Planes, and pieces of their channels: each adds to the sums of those before.
                    for plane in 0..image.planes.len() {
                        let mut start = 0;
                        let piece = blocking::kc(image.channels, PIECE);
                        while start < image.channels {
                            let whole = segment(plane);
                            let len = piece.min(image.channels - start);
                            let part = Segment { offset: whole.offset + start as isize, len };
                            let first = plane == 0 && start == 0;
                            kit.conv.pixels(&Pixels {
                                pixels: count,
                                src: v.add(xi * v_pitch),
                                at,
                                segments: &part,
                                count: 1,
                                panels: panels.wrapping_add((plane * image.channels + start) * mr),
                                panel: k * mr,
                                lanes,
                                dst: m.add(xi * m_pitch),
                                to: places,
                                finish: Finish {
                                    beta: if first { 0.0 } else { 1.0 },
                                    bias: core::ptr::null(),
                                    activation: Activation::None,
                                },
                            });
                            start += len;
                        }
                    }
                }
                let bias = epilogue.bias;
                let bias = if bias.is_null() { bias } else { bias.add(group * w.cout + c) };
                let finish = Finish { beta: epilogue.beta, bias, activation: epilogue.activation };
                self.tiles.runs(from, to, |run| {
                    self.finish(kit, &run, c, lanes, (m, m_pitch), dst, &finish, temporary);
                });
                c += lanes;
            }
        }
    }

    /// The results of a run of tiles.
    unsafe fn finish(
        &self,
        kit: &Kit,
        run: &Run,
        c: usize,
        lanes: usize,
        (m, m_pitch): (*const f32, usize),
        dst: *mut f32,
        finish: &Finish<f32>,
        temporary: *mut f32,
    ) {
        let s = &self.window.dst;
        let place = run.image as isize * s.n
            + run.plane as isize * s.s[0]
            + (run.row * OUT) as isize * s.s[1]
            + (run.col * OUT) as isize * s.s[2];
        let dst = dst.wrapping_offset(place + c as isize * s.c);
        // SAFETY: as the caller's.
        unsafe {
            if s.c == 1 {
                for t in 0..run.count {
                    let (rows, cols) = self.tiles.inside(run.row, run.col + t);
                    let from = m.add((run.first + t) * self.chunk);
                    let to = dst.wrapping_offset((t * OUT) as isize * s.s[2]);
                    kit.conv.wino_output(lanes, from, m_pitch, to, s.s[1], s.s[2], rows, cols, finish);
                }
                return;
            }
            let (rows, _) = self.tiles.inside(run.row, run.col);
            let width = (run.count * OUT).min(self.tiles.size[2] - run.col * OUT);
            let row = run.count * OUT * self.chunk;
            for y in 0..if finish.beta == 0.0 { 0 } else { rows } {
                let old = dst.wrapping_offset(y as isize * s.s[1]);
                kit.conv.to_last(lanes, width, old, s.c, s.s[2], temporary.add(y * row), self.chunk);
            }
            for t in 0..run.count {
                let (rows, cols) = self.tiles.inside(run.row, run.col + t);
                let from = m.add((run.first + t) * self.chunk);
                let to = temporary.add(t * OUT * self.chunk);
                kit.conv.wino_output(lanes, from, m_pitch, to, row as isize, self.chunk as isize, rows, cols, finish);
            }
            for y in 0..rows {
                let new = dst.wrapping_offset(y as isize * s.s[1]);
                kit.conv.to_first(lanes, width, temporary.add(y * row), self.chunk, new, s.c, s.s[2]);
            }
        }
    }
}

/// Backward-weights.
pub struct WinogradGradient {
    p: Problem,
    tiles: Tiles,
    x: Image,
    dy: Image,
    block: usize,
    chunks: usize,
}

/// Tiles of a block of the gradient: the steps of its products.
const GRADIENT_BLOCK: usize = 96;
/// Bytes of partial sums beyond the first, and work of a chunk at least.
const PARTIAL: usize = 24 << 20;
const CHUNK_WORK: f64 = 2e8;
const MOST_CHUNKS: usize = 16;

impl WinogradGradient {
    pub fn new(p: &Problem, kit: &Kit) -> WinogradGradient {
        let tiles = Tiles::new(p.batch, p.output);
        let lanes = kit.conv.lanes();
        let image = |strides: Strides, size, from, planes, channels: usize| Image {
            strides,
            size,
            from,
            planes,
            channels,
            pitch: channels.next_multiple_of(lanes),
        };
        let planes = (0..p.kernel[0]).map(|k| (k * p.dilation[0]) as isize - p.pad[0] as isize).collect();
        let x = image(p.input_strides(), p.input, [1, 2].map(|d| -(p.pad[d] as isize)), planes, p.icg());
        let dy = image(p.output_strides(), p.output, [0, 0], vec![0], p.ocg());
        let one = XI * (x.planes.len() * x.pitch + dy.pitch) * size_of::<f32>();
        let block = GRADIENT_BLOCK.min(2 * LARGEST / one).max(8);
        // Blocks of even size.
        let block = tiles.count().div_ceil(tiles.count().div_ceil(block));
        let sums = p.groups * XI * x.planes.len() * x.channels * dy.pitch * size_of::<f32>();
        let chunks = ((p.flops() / 4.0 / CHUNK_WORK) as usize).min(1 + PARTIAL / sums.max(1));
        let chunks = chunks.clamp(1, MOST_CHUNKS).min(tiles.count().div_ceil(block));
        WinogradGradient { p: *p, tiles, x, dy, block, chunks }
    }

    /// Lanes of the products: planes and input channels.
    fn lanes(&self) -> usize {
        self.x.planes.len() * self.x.channels
    }
    /// Elements of one transformed sum of a group.
    fn sum(&self) -> usize {
        spread(self.lanes() * self.dy.pitch)
    }
    /// Elements of all sums of a chunk.
    pub fn sums(&self) -> usize {
        self.p.groups * XI * self.sum()
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

    pub fn room(&self, kit: &Kit) -> Room {
        let tiles = self.tiles.cols.min(self.block);
        let each = bytes::<f32>(self.x.strip(tiles).max(self.dy.strip(tiles)))
            + bytes::<f32>(XI * self.v_pitch())
            + bytes::<f32>(XI * self.d_pitch(kit))
            + bytes::<f32>(9 * self.dy.pitch);
        Room { shared: bytes::<f32>(self.sums() * self.chunks), each }
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
        let groups = self.p.groups;
        let wanted = (2 * threads).div_ceil(self.chunks * groups);
        let mr = kit.conv.mr();
        let parts = if threads == 1 { 1 } else { wanted.min(self.dy.channels.div_ceil(mr)) };
        let part = self.dy.channels.div_ceil(parts).next_multiple_of(mr);
        let parts = self.dy.channels.div_ceil(part);
        let (from, gradient, sums) = (Shared(x.cast_mut()), Shared(dy.cast_mut()), Shared(memory.shared::<f32>()));
        pool::run(self.chunks * groups * parts, threads, &|task| {
            let (index, rest) = (task % parts, task / parts);
            let (group, chunk) = (rest % groups, rest / groups);
            let share = (index * part, self.dy.channels.min((index + 1) * part));
            // SAFETY: tasks have sums of their own.
            unsafe { self.task(kit, group, chunk, share, from.get(), gradient.get(), sums.get(), memory) }
        });
        let to = Shared(dw);
        pool::run(groups * self.lanes(), threads, &|task| {
            let (group, lane) = (task / self.lanes(), task % self.lanes());
            // SAFETY: tasks have weights of their own.
            unsafe { self.store(kit, group, lane, sums.get(), to.get(), beta, memory) }
        });
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
        let cols = self.tiles.cols.min(self.block);
        let strip = slot.take::<f32>(self.x.strip(cols).max(self.dy.strip(cols)));
        let (v_pitch, d_pitch) = (self.v_pitch(), self.d_pitch(kit));
        let v = slot.take::<f32>(XI * v_pitch);
        let d = slot.take::<f32>(XI * d_pitch);
        let x = x.wrapping_offset((group * self.x.channels) as isize * self.x.strides.c);
        let dy = dy.wrapping_offset((group * self.dy.channels + o0) as isize * self.dy.strides.c);
        let gradient = Image {
            strides: self.dy.strides,
            planes: vec![0],
            channels: o1 - o0,
            pitch: (o1 - o0).next_multiple_of(kit.conv.lanes()),
            ..self.dy
        };
        let tiles = self.tiles.count();
        let blocks = tiles.div_ceil(self.block);
        let (first, end) = (chunk * blocks / self.chunks, (chunk + 1) * blocks / self.chunks);
        let base = sums.wrapping_add(chunk * self.sums() + group * XI * self.sum());
        let mr = kit.conv.mr();
        let row = self.row();
        // SAFETY: tiles of the problem; the slot has room for a block.
        unsafe {
            for number in first..end {
                let (from, to) = (number * self.block, tiles.min((number + 1) * self.block));
                let count = to - from;
                for plane in 0..self.x.planes.len() {
                    self.tiles.runs(from, to, |run| {
                        self.x.each(kit, x, &run, plane, IN, strip, |t, pixel, rows, cols| {
                            let to = v.add((run.first + t) * row + plane * self.x.pitch);
                            kit.conv.wino_input(self.x.pitch, pixel, rows, cols, to, v_pitch);
                        });
                    });
                }
                self.tiles.runs(from, to, |run| {
                    gradient.each(kit, dy, &run, 0, OUT, strip, |t, pixel, rows, cols| {
                        let to = d.add((run.first + t) * mr);
                        kit.conv.wino_gradient(gradient.pitch, pixel, rows, cols, to, count * mr, d_pitch);
                    });
                });
                let beta = if number == first { 0.0 } else { 1.0 };
                for xi in 0..XI {
                    for plane in 0..self.x.planes.len() {
                        let a = Source::panels(d.add(xi * d_pitch).cast_const(), count, mr);
                        let b = v.add(xi * v_pitch + plane * self.x.pitch).cast_const();
                        let b = Source::in_place(b, 1, row as isize);
                        let c = base.add(xi * self.sum() + plane * self.x.channels * self.dy.pitch + o0);
                        let cs = self.dy.pitch as isize;
                        kit.gemm.block(o1 - o0, self.x.channels, count, 1.0, a, b, beta, c, cs);
                    }
                }
            }
        }
    }

    /// One input channel's weights from their transformed sums.
    unsafe fn store(
        &self,
        kit: &Kit,
        group: usize,
        lane: usize,
        sums: *mut f32,
        dw: *mut f32,
        beta: f32,
        memory: &Memory,
    ) {
        let mut slot = memory.slot();
        let cols = self.tiles.cols.min(self.block);
        // The last part of the slot.
        slot.take::<f32>(self.x.strip(cols).max(self.dy.strip(cols)));
        slot.take::<f32>(XI * self.v_pitch());
        slot.take::<f32>(XI * self.d_pitch(kit));
        let taps = slot.take::<f32>(9 * self.dy.pitch);
        let f = self.p.filter_strides();
        let (plane, i) = (lane / self.x.channels, lane % self.x.channels);
        let base = sums.wrapping_add(group * XI * self.sum() + lane * self.dy.pitch);
        let n = self.dy.channels;
        // SAFETY: sums of all chunks; weights of the problem.
        unsafe {
            for chunk in 1..self.chunks {
                for xi in 0..XI {
                    let sum = base.add(xi * self.sum());
                    kit.conv.add_rows(n, 1, sum.add(chunk * self.sums()), 0, sum);
                }
            }
            kit.conv.wino_weights_back(self.dy.pitch, base, self.sum(), taps, self.dy.pitch);
            let place = (group * n) as isize * f.o + i as isize * f.i + plane as isize * f.s[0];
            for t in 0..9 {
                let to = dw.wrapping_offset(place + (t / 3) as isize * f.s[1] + (t % 3) as isize * f.s[2]);
                for o in 0..n {
                    let x = *taps.add(t * self.dy.pitch + o);
                    let to = to.wrapping_offset(o as isize * f.o);
                    *to = if beta == 0.0 { x } else { x + beta * *to };
                }
            }
        }
    }
}
