//! The gradient of the bias: the sum of all pixels, channel by channel.
//!
//! Runs of a few hundred pixels are summed in f32 and those sums in f64, in an order that depends on the sizes alone.

use super::Kit;
use super::memory::Shared;
use super::problem::Strides;
use crate::runtime::pool;

/// Pixels of a run.
const RUN: usize = 256;
/// Channels of a task at least, and at most.
const CHANNELS: usize = 16;
const MOST: usize = 256;
/// Lanes of the widest vector.
const WIDEST: usize = 16;

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
    db: *mut f32,
    beta: f32,
    threads: usize,
) {
    let pixels: usize = size.iter().product();
    let (dy, db) = (Shared(dy.cast_mut()), Shared(db));
    // Pixels with their channels side by side are best read whole.
    let wide = channels.div_ceil(threads).next_multiple_of(CHANNELS).min(MOST);
    pool::run(channels.div_ceil(wide), threads, &|task| {
        let (from, dy, db) = (task * wide, dy.get(), db.get());
        let count = wide.min(channels - from);
        let mut total = [0.0f64; MOST];
        // SAFETY: pixels of the tensor; this task's channels.
        unsafe {
            for n in 0..batch {
                let image = dy.offset(n as isize * s.n + from as isize * s.c);
                if s.c == 1 {
                    for p in (0..pixels).step_by(RUN) {
                        let mut sum = [0.0f32; MOST];
                        let row = image.offset(p as isize * s.s[2]);
                        kit.conv.add_rows(count, RUN.min(pixels - p), row, s.s[2], sum.as_mut_ptr());
                        for (total, &x) in total.iter_mut().zip(&sum).take(count) {
                            *total += x as f64;
                        }
                    }
                    continue;
                }
                let lanes = kit.conv.lanes();
                for (c, total) in total.iter_mut().enumerate().take(count) {
                    let line = image.offset(c as isize * s.c);
                    for p in (0..pixels).step_by(RUN * lanes) {
                        let some = (RUN * lanes).min(pixels - p);
                        let mut sum = [0.0f32; WIDEST];
                        kit.conv.add_rows(lanes, some / lanes, line.add(p), lanes as isize, sum.as_mut_ptr());
                        kit.conv.add_rows(some % lanes, 1, line.add(p + some / lanes * lanes), 0, sum.as_mut_ptr());
                        for &x in &sum[..lanes] {
                            *total += x as f64;
                        }
                    }
                }
            }
            for (c, &total) in total.iter().enumerate().take(count) {
                let to = db.add(from + c);
                *to = if beta == 0.0 { total as f32 } else { total as f32 + beta * *to };
            }
        }
    });
}
