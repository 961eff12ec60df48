//! Backward-data (and transposed convolution) with few result channels: products first, then sums in place.
//!
//! With three result channels a register tile would be mostly empty. Here the taps are its rows: every source pixel is
//! multiplied with the weights of all taps at once, and the products are added where they belong, in a strip of results
//! that stays in cache. A row of taps is one run of that strip.
//!
//! ```text
//! block of result rows (a task)                 strip of results := 0
//!   source rows that reach it
//!     source pixels x (taps, channels)          register tile: kernels/conv.rs
//!     each pixel's rows of taps added to the strip
//!   strip -> results
//! ```
//! A result's sum goes over source rows, then pixels, in order, wherever blocks begin: the same bits for any cut.

use super::direct::lanewise;
use super::memory::{Memory, Room, Shared, bytes};
use super::problem::Problem;
use super::strip::{self, Extent};
use super::{Epilogue, Kit};
use crate::gemm::blocking;
use crate::kernels::conv::{Activation, Finish, Pixels, Run, Segment};
use crate::runtime::pool;

pub struct Scatter {
    p: Problem,
    /// Result rows of a block.
    rows: usize,
    /// Elements of a strip's row.
    width: usize,
}

/// Result channels of a group at most.
const FEW: usize = 4;
/// Source channels of a group, and taps, at least.
const MANY: usize = 16;
const TAPS: usize = 4;
/// Bytes of a strip of results; of a source row and of its products.
const STRIP: usize = 192 << 10;
const PRODUCTS: usize = 4 << 20;
/// Steps of a product at most.
const PIECE: usize = 640;

impl Scatter {
    /// The plan for backward-data of a problem, if it is one of this kind.
    pub fn new(p: &Problem, kit: &Kit) -> Option<Scatter> {
        let plane = p.kernel[1] * p.kernel[2];
        if lanewise(p, kit) > 0 || p.icg() > FEW || p.ocg() < MANY || plane < TAPS || p.output.contains(&0) {
            return None;
        }
        let reach = (p.output[2] - 1) * p.stride[2] + (p.kernel[2] - 1) * p.dilation[2] + 1;
        let width = reach.max(p.pad[2] + p.input[2]) * p.icg();
        let products = p.output[2]
            * {
                let lanes = plane * p.icg();
                lanes.next_multiple_of(kit.conv.panel(lanes))
            }
            * size_of::<f32>();
        let row = p.output[2] * p.ocg() * size_of::<f32>();
        if products.max(row) > PRODUCTS || p.dilation[2] > 1 {
            return None;
        }
        let rows = (STRIP / size_of::<f32>() / width).clamp(p.stride[1], p.input[1].max(p.stride[1]));
        Some(Scatter { p: *p, rows, width })
    }

    /// Products of a source pixel: kernel rows, kernel columns, result channels.
    fn lanes(&self) -> usize {
        self.p.kernel[1] * self.p.kernel[2] * self.p.icg()
    }
    fn panel(&self, kit: &Kit) -> usize {
        kit.conv.panel(self.lanes())
    }
    fn pitch(&self, kit: &Kit) -> usize {
        self.lanes().next_multiple_of(self.panel(kit))
    }
    /// Elements of packed weights.
    pub fn packed(&self, kit: &Kit) -> usize {
        self.p.groups * self.p.kernel[0] * self.pitch(kit) * self.p.ocg()
    }
    pub fn room(&self, kit: &Kit) -> Room {
        let w = self.p.output[2];
        let each = 2 * bytes::<isize>(w)
            + bytes::<f32>(w * self.p.ocg())
            + bytes::<f32>(w * self.pitch(kit))
            + bytes::<f32>(self.rows * self.width);
        Room { shared: 0, each }
    }

    /// # Safety
    /// The weights of the problem; `to` has room for [`Scatter::packed`] elements.
    pub unsafe fn pack(&self, kit: &Kit, weights: *const f32, to: *mut f32) {
        let (p, mr, f) = (&self.p, self.panel(kit), self.p.filter_strides());
        let (kw, c) = (p.kernel[2], p.icg());
        let mut at = to;
        for group in 0..p.groups {
            for z in 0..p.kernel[0] {
                for panel in 0..self.pitch(kit) / mr {
                    for o in 0..p.ocg() {
                        for l in panel * mr..(panel + 1) * mr {
                            let (tap, i) = (l / c, l % c);
                            let place = (group * p.ocg() + o) as isize * f.o
                                + i as isize * f.i
                                + z as isize * f.s[0]
                                + (tap / kw) as isize * f.s[1]
                                + (tap % kw) as isize * f.s[2];
                            // SAFETY: an element of the weights, and the next of the panels.
                            unsafe {
                                *at = if l < self.lanes() { *weights.offset(place) } else { 0.0 };
                                at = at.add(1);
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
        let blocks = p.input[1].div_ceil(self.rows);
        let (weights, from, to) = (Shared(packed.cast_mut()), Shared(dy.cast_mut()), Shared(dx));
        let (bias, beta, activation) = (Shared(epilogue.bias.cast_mut()), epilogue.beta, epilogue.activation);
        pool::run(p.batch * p.groups * p.input[0] * blocks, threads.min(memory.threads()), &|task| {
            let (block, rest) = (task % blocks, task / blocks);
            let (z, rest) = (rest % p.input[0], rest / p.input[0]);
            let (group, image) = (rest % p.groups, rest / p.groups);
            let epilogue = Epilogue { beta, bias: bias.get(), activation };
            // SAFETY: tasks have results of their own.
            unsafe {
                self.task(kit, [image, group, z, block], weights.get(), from.get(), to.get(), &epilogue, memory);
            }
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
        let (p, mr, c) = (&self.p, self.panel(kit), self.p.icg());
        let (xs, ys) = (p.input_strides(), p.output_strides());
        let (h0, h1) = (block * self.rows, p.input[1].min((block + 1) * self.rows));
        let (w, pitch) = (p.output[2], self.pitch(kit));
        let mut slot = memory.slot();
        let (at, places) = (slot.take::<isize>(w), slot.take::<isize>(w));
        let pixels = slot.take::<f32>(w * p.ocg());
        let products = slot.take::<f32>(w * pitch);
        let sums = slot.take::<f32>(self.rows * self.width);
        let dy = dy.wrapping_offset(image as isize * ys.n + (group * p.ocg()) as isize * ys.c);
        let mut runs = Vec::with_capacity(p.kernel[1]);
        // SAFETY: rows of the problem; the slot has room for a block.
        unsafe {
            sums.write_bytes(0, (h1 - h0) * self.width);
            let step = if ys.c == 1 { ys.s[2] } else { p.ocg() as isize };
            for x in 0..w {
                *at.add(x) = x as isize * step;
                *places.add(x) = (x * pitch) as isize;
            }
            for tz in 0..p.kernel[0] {
                let Some(plane) = (z + p.pad[0]).checked_sub(tz * p.dilation[0]) else { continue };
                if plane % p.stride[0] != 0 || plane / p.stride[0] >= p.output[0] {
                    continue;
                }
                let panels = packed.wrapping_add((group * p.kernel[0] + tz) * pitch * p.ocg());
                for y in 0..p.output[1] {
                    runs.clear();
                    for ky in 0..p.kernel[1] {
                        let row = (y * p.stride[1] + ky * p.dilation[1]) as isize - p.pad[1] as isize - h0 as isize;
                        if row >= 0 && row < (h1 - h0) as isize {
                            runs.push(Run { from: ky * p.kernel[2] * c, to: row as usize * self.width });
                        }
                    }
                    if runs.is_empty() {
                        continue;
                    }
                    let mut src = dy.wrapping_offset((plane / p.stride[0]) as isize * ys.s[0] + y as isize * ys.s[1]);
                    if ys.c != 1 {
                        let extent = Extent { from: [0; 3], len: [1, 1, w] };
                        strip::fill(kit.conv, p.ocg(), src, &ys, [1, 1, w], &extent, pixels, p.ocg());
                        src = pixels;
                    }
                    let piece = blocking::kc(p.ocg(), PIECE);
                    for start in (0..p.ocg()).step_by(piece) {
                        let segment = Segment { offset: start as isize, len: piece.min(p.ocg() - start) };
                        kit.conv.pixels(&Pixels {
                            pixels: w,
                            src,
                            at,
                            segments: &segment,
                            count: 1,
                            panels: panels.wrapping_add(start * mr),
                            mr,
                            panel: mr * p.ocg(),
                            lanes: self.lanes(),
                            dst: products,
                            to: places,
                            ahead: core::ptr::null(),
                            ahead_len: 0,
                            past: false,
                            finish: Finish {
                                beta: if start == 0 { 0.0 } else { 1.0 },
                                bias: core::ptr::null(),
                                activation: Activation::None,
                            },
                        });
                    }
                    kit.conv.scatter(w, products, pitch, sums, p.stride[2] * c, &runs, p.kernel[2] * c);
                }
            }
            // The strip's rows, without what lies in the padding, to where they belong.
            let bias = epilogue.bias;
            for y in h0..h1 {
                let row = sums.add((y - h0) * self.width + p.pad[2] * c);
                let to = dx.wrapping_offset(
                    image as isize * xs.n + (group * c) as isize * xs.c + z as isize * xs.s[0] + y as isize * xs.s[1],
                );
                for x in 0..p.input[2] {
                    for i in 0..c {
                        let to = to.wrapping_offset(x as isize * xs.s[2] + i as isize * xs.c);
                        let mut sum = *row.add(x * c + i);
                        if epilogue.beta != 0.0 {
                            sum += epilogue.beta * *to;
                        }
                        if !bias.is_null() {
                            sum += *bias.add(group * c + i);
                        }
                        *to = match epilogue.activation {
                            Activation::Relu if sum < 0.0 => 0.0,
                            Activation::Leaky(slope) if sum < 0.0 => slope * sum,
                            _ => sum,
                        };
                    }
                }
            }
        }
    }
}
