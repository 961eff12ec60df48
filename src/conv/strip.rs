//! Strips: pieces of an image with their channels side by side and their padding written out, in cache.
//!
//! This is the only place where the layout of an image matters. A strip is made of a channels-last image by copying rows,
//! of a channels-first one by transposing them in registers; results go back the same way. So nothing is ever reordered
//! as a whole, and the algorithms know one layout only.

use super::problem::Strides;
use crate::kernels::conv::ConvKernel;

/// A box of pixels: the first one's place in the image, which may lie outside, and how many there are.
#[derive(Clone, Copy, Debug)]
pub struct Extent {
    pub from: [isize; 3],
    pub len: [usize; 3],
}

/// Bytes of a block's strip at most, if the block has more than one result.
const LARGEST: usize = 1 << 20;

/// Sides of the blocks that `counts` results are computed in: from the innermost dimension on as many as there may be (no
/// more than `most` in all, and a strip of `size` elements that stays in cache), in even pieces.
pub fn block(counts: [usize; 4], most: usize, size: impl Fn([usize; 4]) -> usize) -> [usize; 4] {
    let mut block = [1; 4];
    for d in [3, 2, 1, 0] {
        let others: usize = block.iter().product();
        let mut n = 1;
        while n < counts[d] {
            let mut more = block;
            more[d] = n + 1;
            if others * (n + 1) > most || size(more) * size_of::<f32>() > LARGEST {
                break;
            }
            n += 1;
        }
        block[d] = counts[d].div_ceil(counts[d].div_ceil(n).max(1)).max(1);
        if block[d] < counts[d] {
            break;
        }
    }
    block
}

/// Copies a box of an image with so many pixels in each dimension to `dst`, `pitch` elements a pixel; what lies outside
/// the image, and elements from `channels` on, are zero.
///
/// # Safety
/// `src` is the image's first pixel and first wanted channel; `dst` has room for the box.
pub unsafe fn fill(
    kernel: &dyn ConvKernel<f32>,
    channels: usize,
    src: *const f32,
    s: &Strides,
    size: [usize; 3],
    extent: &Extent,
    dst: *mut f32,
    pitch: usize,
) {
    let [_, h, w] = extent.len;
    let inside = |dim: usize| {
        let from = extent.from[dim].clamp(0, size[dim] as isize);
        let to = (extent.from[dim] + extent.len[dim] as isize).clamp(from, size[dim] as isize);
        (from, to)
    };
    let (x0, x1) = inside(2);
    let (left, some) = ((x0 - extent.from[2]) as usize, (x1 - x0) as usize);
    // A whole row of an image without padding goes on in the next one.
    let joined = left == 0 && some == w && some == size[2];
    // SAFETY: pixels inside the image on one side, inside the box on the other.
    unsafe {
        if pitch > channels {
            let tail = pitch - channels;
            for p in 0..extent.len.iter().product() {
                dst.add(p * pitch + channels).write_bytes(0, tail);
            }
        }
        let zero = |to: *mut f32, pixels: usize| {
            if pixels > 0 {
                to.write_bytes(0, pixels * pitch);
            }
        };
        let (y0, y1) = inside(1);
        let (above, rows) = ((y0 - extent.from[1]) as usize, (y1 - y0) as usize);
        for z in 0..extent.len[0] {
            let plane = dst.add(z * h * w * pitch);
            let at = extent.from[0] + z as isize;
            if at < 0 || at >= size[0] as isize || some == 0 || rows == 0 {
                zero(plane, h * w);
                continue;
            }
            zero(plane, above * w);
            zero(plane.add((above + rows) * w * pitch), (h - above - rows) * w);
            let from = src.wrapping_offset(at * s.s[0] + y0 * s.s[1] + x0 * s.s[2]);
            let to = plane.add(above * w * pitch);
            if joined {
                kernel.to_last(channels, rows * w, from, s.c, s.s[2], to, pitch);
                continue;
            }
            for y in 0..rows {
                let to = to.add(y * w * pitch);
                zero(to, left);
                let from = from.wrapping_offset(y as isize * s.s[1]);
                kernel.to_last(channels, some, from, s.c, s.s[2], to.add(left * pitch), pitch);
                zero(to.add((left + some) * pitch), w - left - some);
            }
        }
    }
}
