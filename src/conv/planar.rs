//! Backward-data (and transposed convolution) with few result channels on channels-first images: pixels in vectors.
//!
//! With three result channels a register tile of channels would be mostly empty, and channels-first images have their pixels
//! side by side already. So a tile is many pixels of one phase of the results and all their channels; every tap of every
//! source channel is a plane that is added at its own distance (kernels/conv/shifts.rs). (Zen 5, 16 images, GFLOPS of products that
//! are scattered, and so: 32 channels to 3 at 224x224, 3x3 with stride 2 49 and 75, AVX2 41 and 57; 64 to 3, 3x3 70 and 108, 7x7 with
//! stride 2 131 and 168.)
//!
//! ```text
//! block of rows of every phase (a task)         sums := 0
//!   planes of the source that meet it
//!     source channels in pieces                 their rows to a strip, padding written out
//!       phases                                  sums += strip, shifted, times weights
//!   sums -> rows of results                     phases take turns, pixel by pixel
//! ```
//! Rows of sums are as wide as those of the strip and follow each other without a gap: vectors go on from row to row, and what
//! falls between two rows is not used. How channels are cut in pieces depends on the problem alone: same bits for any number of
//! threads.

use super::direct::{Window, lanewise};
use super::memory::{Memory, Room, Shared, bytes};
use super::problem::Problem;
use super::{Epilogue, Kit};
use crate::kernels::conv::{Finish, SHIFTED, Shifts};
use crate::runtime::pool;

pub struct Planar {
    p: Problem,
    /// The phases, and how many there are in each dimension.
    windows: Vec<Window>,
    phases: [usize; 3],
    /// The lowest taps of rows and columns, and how far the highest are from there.
    low: [isize; 2],
    reach: [usize; 2],
    /// Rows of each phase in a block.
    rows: usize,
    /// Elements of a row, of a channel of the strip, of a channel of a phase's sums.
    width: usize,
    plane: usize,
    sums: usize,
    /// Source channels of a piece.
    piece: usize,
    /// For each phase of a plane, the places in the strip of the taps of a piece's channels.
    places: Vec<Vec<isize>>,
}

/// Elements of a cache line.
const LINE: usize = 64 / size_of::<f32>();
/// Source channels, and taps in a plane, at least.
const MANY: usize = 16;
const TAPS: usize = 4;
/// Bytes of a block's sums, and of a strip: both stay in L2.
const SUMS: usize = 192 << 10;
const STRIP: usize = 384 << 10;
/// The same of a single row of each phase and of a single channel at most.
const LARGEST: usize = 4 << 20;

impl Planar {
    /// The plan for backward-data of a problem, if it is one of this kind.
    pub fn new(p: &Problem, kit: &Kit) -> Option<Planar> {
        let (xs, ys) = (p.input_strides(), p.output_strides());
        let few = lanewise(p, kit) == 0 && p.icg() <= SHIFTED && p.ocg() >= MANY && p.kernel[1] * p.kernel[2] >= TAPS;
        let planes = xs.c != 1 && xs.s[2] == 1 && ys.c != 1 && ys.s[2] == 1;
        if !few || !planes || p.output.contains(&0) || p.input.contains(&0) {
            return None;
        }
        let windows = Window::backward(p);
        let phases = [0, 1, 2].map(|d| p.stride[d].min(p.input[d]));
        let taps = |d: usize| windows.iter().flat_map(move |w| &w.dims[d].taps).map(|tap| tap.0);
        let low = [1, 2].map(|d| taps(d).min().unwrap_or(0));
        let reach = [1, 2].map(|d| (taps(d).max().unwrap_or(0) - low[d - 1]) as usize);
        let [count, columns] = [1, 2].map(|d| windows[0].dims[d].count);
        let width = columns + reach[1];
        let in_plane = phases[1] * phases[2];
        let row = in_plane * p.icg() * width * size_of::<f32>();
        let most = (SUMS / row).clamp(1, count);
        let rows = count.div_ceil(count.div_ceil(most));
        // Vectors of pixels reach a little further than the last row. Channels an odd number of cache lines apart: their pixels do not fall in the same sets
        // of L1.
        let lines = |n: usize| (n + kit.conv.lanes()).div_ceil(LINE);
        let plane = (lines((rows + reach[0]) * width + reach[1]) | 1) * LINE;
        let sums = (lines(rows * width) | 1) * LINE;
        if row.max(plane * size_of::<f32>()) > LARGEST {
            return None;
        }
        let most = (STRIP / size_of::<f32>() / plane).clamp(1, p.ocg());
        let piece = p.ocg().div_ceil(p.ocg().div_ceil(most));
        let places = windows[..in_plane].iter().map(|w| {
            let mut places = Vec::new();
            for o in 0..piece {
                for y in &w.dims[1].taps {
                    for x in &w.dims[2].taps {
                        places.push((o * plane) as isize + (y.0 - low[0]) * width as isize + x.0 - low[1]);
                    }
                }
            }
            places
        });
        let places = places.collect();
        Some(Planar { p: *p, phases, low, reach, rows, width, plane, sums, piece, places, windows })
    }

    /// Elements of packed weights.
    pub fn packed(&self) -> usize {
        self.p.groups * self.windows.iter().map(Window::steps).sum::<usize>() * self.p.icg()
    }
    pub fn room(&self) -> Room {
        let sums = self.phases[1] * self.phases[2] * self.p.icg() * self.sums;
        let row = self.p.input[2] + 1;
        let each = bytes::<f32>(self.piece * self.plane) + bytes::<f32>(sums) + bytes::<f32>(row);
        Room { shared: 0, each }
    }

    /// Packs the weights: those of a group, of a phase, of a plane of taps, of a source channel, of a tap.
    ///
    /// # Safety
    /// The weights of the problem; `to` has room for [`Planar::packed`] elements.
    pub unsafe fn pack(&self, weights: *const f32, to: *mut f32) {
        let (p, f) = (&self.p, self.p.filter_strides());
        let mut to = to;
        for group in 0..p.groups {
            for w in &self.windows {
                let [planes, rows, columns] = w.dims.each_ref().map(|d| &d.taps);
                for z in planes {
                    for o in 0..p.ocg() {
                        let from =
                            weights.wrapping_offset((group * p.ocg() + o) as isize * f.o + z.1 as isize * f.s[0]);
                        for y in rows {
                            for x in columns {
                                for i in 0..p.icg() {
                                    let place = y.1 as isize * f.s[1] + x.1 as isize * f.s[2] + i as isize * f.i;
                                    // SAFETY: an element of the weights, and the next of the packed ones.
                                    unsafe {
                                        *to = *from.wrapping_offset(place);
                                        to = to.add(1);
                                    }
                                }
                            }
                        }
                    }
                }
            }
        }
    }

    /// # Safety
    /// As [`super::direct::Direct::run`].
    pub unsafe fn run(
        &self,
        kit: &Kit,
        packed: *const f32,
        dy: *const f32,
        dx: *mut f32,
        epilogue: &Epilogue,
        memory: &Memory,
        threads: usize,
    ) {
        let p = &self.p;
        let blocks = self.windows[0].dims[1].count.div_ceil(self.rows);
        let (weights, from, to) = (Shared(packed.cast_mut()), Shared(dy.cast_mut()), Shared(dx));
        let (bias, beta, activation) = (Shared(epilogue.bias.cast_mut()), epilogue.beta, epilogue.activation);
        pool::run(p.batch * p.groups * p.input[0] * blocks, threads.min(memory.threads()), &|task| {
            let (block, rest) = (task % blocks, task / blocks);
            let (z, rest) = (rest % p.input[0], rest / p.input[0]);
            let (group, image) = (rest % p.groups, rest / p.groups);
            let epilogue = Epilogue { beta, bias: bias.get(), activation };
            // SAFETY: tasks have results of their own.
            unsafe { self.task(kit, [image, group, z, block], weights.get(), from.get(), to.get(), &epilogue, memory) }
        });
    }

    unsafe fn task(
        &self,
        kit: &Kit,
        [image, group, z, block]: [usize; 4],
        packed: *const f32,
        dy: *const f32,
        dx: *mut f32,
        epilogue: &Epilogue,
        memory: &Memory,
    ) {
        let (p, c) = (&self.p, self.p.icg());
        let (xs, ys) = (p.input_strides(), p.output_strides());
        let in_plane = self.phases[1] * self.phases[2];
        let first = block * self.rows;
        let rows = self.rows.min(self.windows[0].dims[1].count - first);
        let mut slot = memory.slot();
        let strip = slot.take::<f32>(self.piece * self.plane);
        let sums = slot.take::<f32>(in_plane * c * self.sums);
        let row = slot.take::<f32>(p.input[2] + 1);
        let dy = dy.wrapping_offset(image as isize * ys.n + (group * p.ocg()) as isize * ys.c);
        let dx = dx.wrapping_offset(image as isize * xs.n + (group * c) as isize * xs.c + z as isize * xs.s[0]);
        // Those of this plane of results.
        let phase = z % self.phases[0] * in_plane;
        let windows = &self.windows[phase..phase + in_plane];
        let before: usize = self.windows[..phase].iter().map(Window::steps).sum();
        let all: usize = self.windows.iter().map(Window::steps).sum();
        // SAFETY: rows of the problem, and the slot has room for a block; weights as they were packed.
        unsafe {
            sums.write_bytes(0, in_plane * c * self.sums);
            for (number, tap) in windows[0].dims[0].taps.iter().enumerate() {
                let plane = (z / self.phases[0]) as isize + tap.0;
                if plane < 0 || plane >= p.output[0] as isize {
                    continue;
                }
                for o in (0..p.ocg()).step_by(self.piece) {
                    let some = self.piece.min(p.ocg() - o);
                    self.fill(kit, dy.wrapping_offset(plane * ys.s[0] + o as isize * ys.c), some, first, rows, strip);
                    let mut weights = packed.add((group * all + before) * c);
                    for (phase, w) in windows.iter().enumerate() {
                        let taps = w.dims[1].taps.len() * w.dims[2].taps.len();
                        kit.conv.shifts(&Shifts {
                            pixels: rows * self.width,
                            src: strip,
                            at: self.places[phase].as_ptr(),
                            steps: some * taps,
                            weights: weights.add((number * p.ocg() + o) * taps * c),
                            lanes: c,
                            dst: sums.add(phase * c * self.sums),
                            dst_step: self.sums,
                        });
                        weights = weights.add(w.steps() * c);
                    }
                }
            }
            let finish = Finish { beta: epilogue.beta, bias: core::ptr::null(), activation: epilogue.activation };
            for y in first * self.phases[1]..p.input[1].min((first + rows) * self.phases[1]) {
                let (at, phase) = (y / self.phases[1] - first, y % self.phases[1] * self.phases[2]);
                for i in 0..c {
                    let bias = epilogue.bias;
                    let bias = if bias.is_null() { bias } else { bias.add(group * c + i) };
                    let from = sums.add((phase * c + i) * self.sums + at * self.width);
                    let to = dx.wrapping_offset(y as isize * xs.s[1] + i as isize * xs.c);
                    kit.conv.weave(p.input[2], self.phases[2], from, c * self.sums, row, to, bias, &finish);
                }
            }
        }
    }

    /// The rows of some channels of a plane that so many rows of results from `first` on meet, to the strip.
    ///
    /// # Safety
    /// `dy` is the plane's first pixel of the first channel; the strip has room for a piece.
    unsafe fn fill(&self, kit: &Kit, dy: *const f32, channels: usize, first: usize, rows: usize, strip: *mut f32) {
        let ys = self.p.output_strides();
        let [_, height, width] = self.p.output;
        let wanted = rows + self.reach[0];
        // Rows and columns of the strip that the source has.
        let inside = |from: isize, len: usize, size: usize| {
            let begin = from.unsigned_abs().min(len) * (from < 0) as usize;
            let end = (size as isize - from).clamp(begin as isize, len as isize) as usize;
            (begin, end)
        };
        let (top, left) = (first as isize + self.low[0], self.low[1]);
        let (y0, y1) = inside(top, wanted, height);
        let (x0, x1) = inside(left, self.width, width);
        for channel in 0..channels {
            // SAFETY: inside the strip; rows and columns of the source.
            unsafe {
                let to = strip.add(channel * self.plane);
                to.write_bytes(0, y0 * self.width);
                let below = y1 * self.width;
                to.add(below).write_bytes(0, self.plane - below);
                for y in y0..y1 {
                    let row = to.add(y * self.width);
                    for x in (0..x0).chain(x1..self.width) {
                        *row.add(x) = 0.0;
                    }
                }
                if y0 < y1 && x0 < x1 {
                    let place = (top + y0 as isize) * ys.s[1] + left + x0 as isize;
                    let from = dy.wrapping_offset(channel as isize * ys.c + place);
                    kit.conv.to_last(x1 - x0, y1 - y0, from, 1, ys.s[1], to.add(y0 * self.width + x0), self.width);
                }
            }
        }
    }
}
