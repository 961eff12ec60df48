//! The gradient of the bias: the sum of all pixels, channel by channel.
//!
//! Runs of a few hundred pixels are summed in f32 and those sums in f64, in an order that depends on the sizes alone. An algorithm
//! that reads the result's gradient in blocks adds them up while they are near (a fifth of the time of a depthwise kernel, a tenth of that
//! of a 1x1 kernel was a second reading): [`Totals`]. For the others there is [`gradient`].

use super::Kit;
use super::memory::{Room, Shared, bytes};
use super::problem::Strides;
use crate::runtime::pool;

/// Pixels of a run.
const RUN: usize = 256;
/// Channels of a task at least, and at most.
const CHANNELS: usize = 16;
const MOST: usize = 256;
/// Lanes of the widest vector.
const WIDEST: usize = 16;

/// Where the gradient goes: `to := sums + beta to`, an element for each channel.
#[derive(Clone, Copy)]
pub struct Bias {
    pub to: *mut f32,
    pub beta: f32,
}

/// The sums of chunks, each an element for each channel, in a call's memory; or nothing, if nobody wants them.
#[derive(Clone, Copy)]
pub struct Totals {
    ptr: *mut f64,
    channels: usize,
}

// SAFETY: an address; tasks have channels of their own in chunks of their own.
unsafe impl Sync for Totals {}

impl Totals {
    /// What so many chunks need.
    pub fn room(channels: usize, chunks: usize) -> usize {
        bytes::<f64>(channels * chunks)
    }
    /// In memory of that size, or nothing.
    pub fn new(memory: *mut u8, channels: usize, wanted: bool) -> Totals {
        Totals { ptr: if wanted { memory.cast() } else { core::ptr::null_mut() }, channels }
    }
    /// Behind what else is shared.
    pub fn behind(room: Room, channels: usize, chunks: usize) -> Room {
        Room { shared: room.shared + Totals::room(channels, chunks), ..room }
    }
    pub fn wanted(&self) -> bool {
        !self.ptr.is_null()
    }
    /// The sums of some channels of a chunk, from `first` on.
    fn of(&self, chunk: usize, first: usize) -> *mut f64 {
        self.ptr.wrapping_add(chunk * self.channels + first)
    }

    /// Begins a chunk's sums.
    ///
    /// # Safety
    /// They are wanted; this task's channels. The same below.
    pub unsafe fn begin(&self, chunk: usize, first: usize, count: usize) {
        // SAFETY: as the caller's.
        unsafe { self.of(chunk, first).write_bytes(0, count) }
    }

    /// Adds a run of pixels.
    pub unsafe fn add(&self, kit: &Kit, chunk: usize, first: usize, count: usize, run: &Run) {
        // SAFETY: as the caller's.
        unsafe { run.add(kit, count, self.of(chunk, first)) }
    }

    /// Adds what was summed in f32, and begins those sums anew.
    pub unsafe fn collect(&self, chunk: usize, first: usize, count: usize, sums: *mut f32) {
        let to = self.of(chunk, first);
        for c in 0..count {
            // SAFETY: as the caller's; so many sums.
            unsafe {
                *to.add(c) += f64::from(*sums.add(c));
                *sums.add(c) = 0.0;
            }
        }
    }

    /// All chunks' sums to where they are wanted.
    pub unsafe fn finish(&self, chunks: usize, bias: Bias) {
        for c in 0..self.channels {
            // SAFETY: sums of so many chunks, an element for each channel.
            unsafe { bias.put(c, (0..chunks).map(|chunk| *self.of(chunk, c)).sum()) }
        }
    }
}

impl Bias {
    unsafe fn put(&self, c: usize, total: f64) {
        // SAFETY: a channel.
        unsafe {
            let to = self.to.add(c);
            *to = if self.beta == 0.0 { total as f32 } else { total as f32 + self.beta * *to };
        }
    }
}

/// Pixels at even distances, of channels that are `channel` apart; one of both distances is 1.
pub struct Run {
    pub ptr: *const f32,
    pub pixels: usize,
    pub channel: isize,
    pub pixel: isize,
}

impl Run {
    /// Adds them to the totals of so many channels.
    unsafe fn add(&self, kit: &Kit, count: usize, totals: *mut f64) {
        // SAFETY: the caller's: pixels of a tensor, totals of so many channels.
        unsafe {
            if self.channel == 1 {
                for first in (0..count).step_by(MOST) {
                    let some = MOST.min(count - first);
                    for p in (0..self.pixels).step_by(RUN) {
                        let mut sums = [0.0f32; MOST];
                        let from = self.ptr.wrapping_offset(p as isize * self.pixel).wrapping_add(first);
                        kit.conv.add_rows(some, RUN.min(self.pixels - p), from, self.pixel, sums.as_mut_ptr());
                        for (c, &sum) in sums.iter().enumerate().take(some) {
                            *totals.add(first + c) += f64::from(sum);
                        }
                    }
                }
                return;
            }
            let lanes = kit.conv.lanes();
            for c in 0..count {
                let (line, total) = (self.ptr.wrapping_offset(c as isize * self.channel), totals.add(c));
                for p in (0..self.pixels).step_by(RUN * lanes) {
                    let some = (RUN * lanes).min(self.pixels - p);
                    let mut sum = [0.0f32; WIDEST];
                    let (from, rest) = (line.add(p), line.add(p + some / lanes * lanes));
                    kit.conv.add_rows(lanes, some / lanes, from, lanes as isize, sum.as_mut_ptr());
                    kit.conv.add_rows(some % lanes, 1, rest, 0, sum.as_mut_ptr());
                    *total += sum[..lanes].iter().map(|&x| f64::from(x)).sum::<f64>();
                }
            }
        }
    }
}

/// `db := sum over pixels of dy + beta db`.
///
/// # Safety
/// `dy` is a tensor with these sizes and strides, `db` has an element for each channel.
pub unsafe fn gradient(
    kit: &Kit,
    batch: usize,
    channels: usize,
    size: [usize; 3],
    s: &Strides,
    dy: *const f32,
    bias: Bias,
    threads: usize,
) {
    let pixels: usize = size.iter().product();
    let (dy, db) = (Shared(dy.cast_mut()), Shared(bias.to));
    // Pixels with their channels side by side are best read whole.
    let wide = channels.div_ceil(threads).next_multiple_of(CHANNELS).min(MOST);
    pool::run(channels.div_ceil(wide), threads, &|task| {
        let (from, bias) = (task * wide, Bias { to: db.get(), ..bias });
        let count = wide.min(channels - from);
        let mut total = [0.0f64; MOST];
        // SAFETY: pixels of the tensor; this task's channels.
        unsafe {
            for n in 0..batch {
                let ptr = dy.get().offset(n as isize * s.n + from as isize * s.c).cast_const();
                Run { ptr, pixels, channel: s.c, pixel: s.s[2] }.add(kit, count, total.as_mut_ptr());
            }
            for (c, &total) in total.iter().enumerate().take(count) {
                bias.put(from + c, total);
            }
        }
    });
}
