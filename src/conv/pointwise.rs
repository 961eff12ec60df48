//! Kernels of one tap on channels-first images, forward and backward-data: a product of matrices as they lie.
//!
//! Each image is a matrix with a column for each channel and its pixels side by side, so are the results: the vectors of
//! the register tile are pixels, the weights are broadcast, and nothing is transposed.
//!
//! ```text
//! block of pixels of an image (a task)
//!   source channels in pieces        the block and a panel of weights stay in cache
//!     channels in nr, pixels in mr   register tile, which copies the pixels as it reads them: kernels/conv/planes.rs
//! ```

use super::direct::Window;
use super::memory::{Memory, Room, Shared, bytes};
use super::{Epilogue, Kit};
use crate::gemm::blocking;
use crate::kernels::conv::{Activation, Finish, Planes};
use crate::runtime::{cpu, pool};

pub struct Pointwise {
    w: Window,
    pixels: usize,
}

/// Pixels of an image from which on vectors of them are worth it, and how many may be wasted in a hundred.
const PIXELS: usize = 196;
const WASTE: usize = 8;

impl Pointwise {
    /// Why a window with one tap is not one of this kind; nothing if it is.
    pub fn reason_against(w: &Window, kit: &Kit) -> Option<&'static str> {
        let plain = w.dims.iter().all(|d| {
            d.taps.len() == 1 && d.taps[0].0 == 0 && d.step == 1 && d.every == 1 && d.from == 0 && d.count == d.size
        });
        if !plain {
            return Some("one tap, but strided or padded");
        }
        if w.src.c == 1 {
            return Some("one tap, and the channels of a pixel lie side by side");
        }
        let pixels: usize = w.dims.iter().map(|d| d.count).product();
        let wasted = pixels.next_multiple_of(kit.conv.lanes()) - pixels;
        if pixels < PIXELS || wasted * 100 > pixels * WASTE {
            return Some("one tap, but few pixels of an image for vectors of them");
        }
        None
    }
    /// The plan for a window that suits.
    pub fn new(w: Window) -> Pointwise {
        let pixels = w.dims.iter().map(|d| d.count).product();
        Pointwise { w, pixels }
    }

    fn piece(&self, kit: &Kit) -> usize {
        blocking::kc(self.w.cin, kit.gemm.kc()).max(1)
    }
    /// Pixels of a block: it and the next one, which is asked for meanwhile, leave room for weights in L2.
    fn block(&self, kit: &Kit) -> usize {
        let mr = kit.conv.mr();
        let most = (cpu::caches().l2 / 8 / (4 * self.piece(kit)) / mr * mr).max(mr);
        self.pixels.div_ceil(self.pixels.div_ceil(most)).next_multiple_of(mr)
    }
    /// Elements of packed weights.
    pub fn packed(&self, kit: &Kit) -> usize {
        self.w.groups * self.w.cout.next_multiple_of(kit.conv.nr()) * self.w.cin
    }
    pub fn room(&self, kit: &Kit) -> Room {
        Room { shared: 0, each: bytes::<f32>(self.block(kit) * self.piece(kit)) }
    }

    /// # Safety
    /// As [`super::direct::Direct::pack`].
    pub unsafe fn pack(&self, kit: &Kit, weights: *const f32, to: *mut f32, threads: usize) {
        let (w, nr, piece) = (&self.w, kit.conv.nr(), self.piece(kit));
        let pieces = w.cin.div_ceil(piece);
        let cols = w.cout.next_multiple_of(nr);
        let tap: isize = (0..3).map(|d| w.dims[d].taps[0].1 as isize * w.filter.s[d]).sum();
        let (from, to) = (Shared(weights.cast_mut()), Shared(to));
        pool::run(w.groups * pieces, threads, &|task| {
            let (group, start) = (task / pieces, task % pieces * piece);
            let k = piece.min(w.cin - start);
            let src = from.get().wrapping_offset(group as isize * w.group + start as isize * w.filter.i + tap);
            let dst = to.get().wrapping_add((group * w.cin + start) * cols);
            // SAFETY: each task has its piece.
            unsafe { kit.gemm.pack_b(w.cout, k, src, w.filter.o, w.filter.i, false, dst) }
        });
    }

    /// # Safety
    /// As [`super::direct::Direct::run`].
    pub unsafe fn run(
        &self,
        kit: &Kit,
        packed: *const f32,
        src: *const f32,
        dst: *mut f32,
        epilogue: &Epilogue,
        memory: &Memory,
        threads: usize,
    ) {
        let (w, piece, block) = (&self.w, self.piece(kit), self.block(kit));
        let nr = kit.conv.nr();
        let blocks = self.pixels.div_ceil(block);
        let cols = w.cout.next_multiple_of(nr);
        let (from, weights, to) = (Shared(src.cast_mut()), Shared(packed.cast_mut()), Shared(dst));
        let (bias, beta, activation) = (Shared(epilogue.bias.cast_mut()), epilogue.beta, epilogue.activation);
        let has_bias = !epilogue.bias.is_null();
        // Image, group and first pixel of a task, and where that is in the source.
        let place = |task: usize| {
            let (first, rest) = (task % blocks * block, task / blocks);
            let (group, image) = (rest % w.groups, rest / w.groups);
            let x = from.get().wrapping_offset(image as isize * w.src.n + (group * w.cin) as isize * w.src.c);
            (image, group, first, x.wrapping_add(first).cast_const())
        };
        pool::run_neighbours(w.batch * w.groups * blocks, threads.min(memory.threads()), &|task| {
            let (image, group, first, x) = place(task);
            let m = block.min(self.pixels - first);
            let mut slot = memory.slot();
            let copy = slot.take::<f32>(block * piece);
            let y = to.get().wrapping_offset(image as isize * w.dst.n + (group * w.cout) as isize * w.dst.c);
            let y = y.wrapping_add(first);
            // SAFETY: pixels of the problem, panels of the packed weights, a slot with room for a block.
            unsafe {
                for start in (0..w.cin).step_by(piece) {
                    let steps = piece.min(w.cin - start);
                    let last = start + steps == w.cin;
                    let at = |channel: usize| x.wrapping_offset(channel as isize * w.src.c);
                    kit.conv.planes(&Planes {
                        pixels: m,
                        steps,
                        src: at(start),
                        src_step: w.src.c,
                        panels: weights.get().wrapping_add((group * w.cin + start) * cols),
                        lanes: w.cout,
                        dst: y,
                        dst_step: w.dst.c,
                        copy,
                        ahead: if last { place(task + 1).3 } else { at(start + steps) },
                        finish: Finish {
                            beta: if start == 0 { beta } else { 1.0 },
                            bias: if last && has_bias { bias.get().add(group * w.cout) } else { core::ptr::null() },
                            activation: if last { activation } else { Activation::None },
                        },
                    });
                }
            }
        });
    }
}
