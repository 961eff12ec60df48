//! Copies: between channels-first and channels-last, into panels and out of them, and the sums and epilogues that go with them.
//!
//! Contract of all functions: that of `conv.rs`.

// Loops over a few registers by index: iterator chains hide from the compiler that they can be unrolled.
#![allow(clippy::needless_range_loop)]

use super::super::simd::{RealSimd, Simd};
use super::super::tile::{prefetch, prefetch_far};
use super::Run;
use crate::scalar::Scalar;

/// Bytes of a cache line.
const LINE: usize = 64;

/// A row of `len` pixels, element (c, p) at `src + c*cs + p*ps`, to `dst + p*pitch + c`.
#[inline(always)]
pub unsafe fn to_last<V: RealSimd>(
    channels: usize,
    len: usize,
    src: *const V::T,
    cs: isize,
    ps: isize,
    dst: *mut V::T,
    pitch: usize,
) {
    // SAFETY: the contract of the file.
    unsafe {
        if cs == 1 {
            // Without a gap it is one long pixel. (memcpy may take a slow way for some thousand bytes.)
            let one = ps == channels as isize && pitch == channels;
            let (channels, len) = if one { (len * channels, 1) } else { (channels, len) };
            for p in 0..len {
                let (from, to) = (src.wrapping_offset(p as isize * ps), dst.add(p * pitch));
                let mut c = 0;
                while c + V::LANES <= channels {
                    // The channels behind these may be the next ones that somebody copies.
                    prefetch_far(from.wrapping_add(c + channels));
                    V::load(from.add(c)).store(to.add(c));
                    c += V::LANES;
                }
                while c < channels {
                    *to.add(c) = *from.add(c);
                    c += 1;
                }
            }
            return;
        }
        let mut whole = 0;
        if ps == 1 && V::SQUARE > 0 && len >= V::SQUARE {
            while whole + V::LANES <= channels {
                let from = src.wrapping_offset(whole as isize * cs);
                let mut p = 0;
                while p < len {
                    if (p * size_of::<V::T>()).is_multiple_of(LINE) {
                        for q in 0..V::LANES {
                            prefetch(from.wrapping_offset((V::LANES + q) as isize * cs).wrapping_add(p));
                        }
                    }
                    if p + 1 == len {
                        // A single one, as of nine taps.
                        for c in 0..V::LANES {
                            *dst.add(p * pitch + whole + c) = *from.wrapping_offset(c as isize * cs).wrapping_add(p);
                        }
                        break;
                    }
                    // The last square may repeat some pixels.
                    p = p.min(len - V::SQUARE);
                    V::transpose(V::LANES, from.wrapping_add(p), cs, dst.add(p * pitch + whole), pitch);
                    p += V::SQUARE;
                }
                whole += V::LANES;
            }
            // Channels that are less than a vector, as nine taps are, by single squares.
            while whole + V::SIDE <= channels {
                let mut p = 0;
                while p < len {
                    p = p.min(len - V::SIDE);
                    let (mut from, mut to) = ([src; 8], [dst; 8]);
                    for q in 0..V::SIDE {
                        from[q] = src.wrapping_offset((whole + q) as isize * cs).wrapping_add(p);
                        to[q] = dst.wrapping_add((p + q) * pitch + whole);
                    }
                    V::square(from, to);
                    p += V::SIDE;
                }
                whole += V::SIDE;
            }
        }
        for c in whole..channels {
            let from = src.wrapping_offset(c as isize * cs);
            for p in 0..len {
                *dst.add(p * pitch + c) = *from.wrapping_offset(p as isize * ps);
            }
        }
    }
}

/// The reverse of [`to_last`].
#[inline(always)]
pub unsafe fn to_first<V: Simd>(
    channels: usize,
    len: usize,
    src: *const V::T,
    pitch: usize,
    dst: *mut V::T,
    cs: isize,
    ps: isize,
) {
    // SAFETY: the contract of the file.
    unsafe {
        let mut whole = 0;
        if ps == 1 && V::SQUARE > 0 && len >= V::SQUARE {
            while whole + V::LANES <= channels {
                let to = dst.wrapping_offset(whole as isize * cs);
                let mut p = 0;
                while p < len {
                    p = p.min(len - V::SQUARE);
                    V::transpose_back(src.add(p * pitch + whole), pitch, to.wrapping_add(p), cs);
                    p += V::SQUARE;
                }
                whole += V::LANES;
            }
        }
        for c in whole..channels {
            let to = dst.wrapping_offset(c as isize * cs);
            for p in 0..len {
                *to.wrapping_offset(p as isize * ps) = *src.add(p * pitch + c);
            }
        }
    }
}

/// Panels of NR lanes: step p of a panel holds `src[at[p] + lanes[l]]`, zero behind the last lane. Panels are `steps`
/// steps, one behind the other.
#[inline(always)]
pub unsafe fn gather<T: Scalar, const NR: usize>(
    steps: usize,
    src: *const T,
    at: *const isize,
    lanes: &[isize],
    dst: *mut T,
) {
    /// Steps that are taken over all panels at once: their pixels stay in L1.
    const SOME: usize = 32;
    // SAFETY: the contract of the file.
    unsafe {
        let mut from = 0;
        while from < steps {
            let to = steps.min(from + SOME);
            for (number, panel) in lanes.chunks(NR).enumerate() {
                let dst = dst.add(number * NR * steps);
                let mut consecutive = panel.len() == NR;
                for pair in panel.windows(2) {
                    consecutive &= pair[1] == pair[0] + 1;
                }
                if consecutive {
                    let src = src.wrapping_offset(panel[0]);
                    // The pixels of the next round, which comes from further away.
                    let ahead = if to + SOME <= steps { SOME } else { 0 };
                    for p in from..to {
                        prefetch(src.wrapping_offset(*at.add(p + ahead)));
                        let pixel = src.wrapping_offset(*at.add(p)).cast::<[T; NR]>();
                        dst.add(p * NR).cast::<[T; NR]>().write(pixel.read());
                    }
                    continue;
                }
                if let Ok(lanes) = <&[isize; NR]>::try_from(panel) {
                    for p in from..to {
                        let pixel = src.wrapping_offset(*at.add(p));
                        for l in 0..NR {
                            *dst.add(p * NR + l) = *pixel.wrapping_offset(lanes[l]);
                        }
                    }
                    continue;
                }
                for p in from..to {
                    let pixel = src.wrapping_offset(*at.add(p));
                    for l in 0..NR {
                        *dst.add(p * NR + l) = match panel.get(l) {
                            Some(&lane) => *pixel.wrapping_offset(lane),
                            None => T::ZERO,
                        };
                    }
                }
            }
            from = to;
        }
    }
}

/// Panels of NR lanes as [`gather`] writes them, of channels that are `cs` apart with their pixels side by side: `steps` of a
/// panel's `all` steps. May write up to 8 elements behind the last panel.
#[inline(always)]
pub unsafe fn gather_across<V: RealSimd, const NR: usize>(
    steps: usize,
    src: *const V::T,
    cs: isize,
    lanes: usize,
    dst: *mut V::T,
    all: usize,
) {
    // SAFETY: the contract of the file.
    unsafe {
        for l in (0..lanes).step_by(NR) {
            let (from, to) = (src.wrapping_offset(l as isize * cs), dst.add(l * all));
            let count = NR.min(lanes - l);
            let mut p = 0;
            // Squares of which a step keeps the first NR: the next step's begin where they end, and are written later.
            if V::SIDE >= NR && V::SIDE > 0 {
                let (mut rows, mut columns) = ([from; 8], [to; 8]);
                while p + V::SIDE < steps {
                    for q in 0..V::SIDE {
                        rows[q] = from.wrapping_offset(q.min(count - 1) as isize * cs).wrapping_add(p);
                        columns[q] = to.add((p + q) * NR);
                    }
                    if (p * size_of::<V::T>()).is_multiple_of(LINE) {
                        for q in 0..NR {
                            prefetch(from.wrapping_offset((NR + q) as isize * cs).wrapping_add(p));
                        }
                    }
                    V::square(rows, columns);
                    if count < NR {
                        for q in 0..V::SIDE {
                            for lane in count..NR {
                                *to.add((p + q) * NR + lane) = V::T::ZERO;
                            }
                        }
                    }
                    p += V::SIDE;
                }
                if p < steps && steps >= V::SIDE && count == NR {
                    // The last square may repeat some steps, and must not write behind its own.
                    let mut last = [V::T::ZERO; 64];
                    p = steps - V::SIDE;
                    for q in 0..V::SIDE {
                        rows[q] = from.wrapping_offset(q.min(NR - 1) as isize * cs).wrapping_add(p);
                        columns[q] = last.as_mut_ptr().add(q * V::SIDE);
                    }
                    V::square(rows, columns);
                    for q in 0..V::SIDE {
                        let step = columns[q].cast::<[V::T; NR]>().read();
                        to.add((p + q) * NR).cast::<[V::T; NR]>().write(step);
                    }
                    p = steps;
                }
            }
            while p < steps {
                for lane in 0..NR {
                    let x = if lane < count { *from.wrapping_offset(lane as isize * cs).add(p) } else { V::T::ZERO };
                    *to.add(p * NR + lane) = x;
                }
                p += 1;
            }
        }
    }
}

/// Channels of `steps` pixels `ps` apart, side by side each, into panels of `width` of them, whole vectors, that have `all`
/// steps: step p of these is at `dst + p*width`.
#[inline(always)]
pub unsafe fn spread<V: Simd>(
    width: usize,
    channels: usize,
    steps: usize,
    src: *const V::T,
    ps: isize,
    dst: *mut V::T,
    all: usize,
) {
    // SAFETY: the contract of the file.
    unsafe {
        for p in 0..steps {
            let (from, to) = (src.wrapping_offset(p as isize * ps), dst.add(p * width));
            let mut c = 0;
            while c + width <= channels {
                for i in (0..width).step_by(V::LANES) {
                    V::load(from.add(c + i)).store_packed(to.add(c * all + i));
                }
                c += width;
            }
            for i in (0..if c < channels { width } else { 0 }).step_by(V::LANES) {
                let left = channels.saturating_sub(c + i).min(V::LANES);
                V::load_first(from.wrapping_add(c + i), left).store_packed(to.add(c * all + i));
            }
        }
    }
}

/// `dst[p*step + run.to + i] += src[p*pitch + run.from + i]` for `len` elements of each run, pixel after pixel.
#[inline(always)]
pub unsafe fn scatter<V: Simd>(
    pixels: usize,
    src: *const V::T,
    pitch: usize,
    dst: *mut V::T,
    step: usize,
    runs: &[Run],
    len: usize,
) {
    // SAFETY: the contract of the file.
    unsafe {
        for p in 0..pixels {
            let (from, to) = (src.add(p * pitch), dst.add(p * step));
            for run in runs {
                let (from, to) = (from.add(run.from), to.add(run.to));
                let mut i = 0;
                while i + V::LANES <= len {
                    V::load(to.add(i)).add(V::load(from.add(i))).store(to.add(i));
                    i += V::LANES;
                }
                if i < len {
                    let left = len - i;
                    let sum = V::load_first(to.add(i), left).add(V::load_first(from.add(i), left));
                    sum.store_first(to.add(i), left);
                }
            }
        }
    }
}

/// `sum[i] += src[i]` for n elements of each row, some rows at a time.
#[inline(always)]
pub unsafe fn add_rows<V: Simd>(n: usize, rows: usize, src: *const V::T, pitch: isize, sum: *mut V::T) {
    let mut r = 0;
    // SAFETY: the contract of the file.
    unsafe {
        while r + 8 <= rows {
            add_some::<V, 8>(n, src.wrapping_offset(r as isize * pitch), pitch, sum);
            r += 8;
        }
        if r + 4 <= rows {
            add_some::<V, 4>(n, src.wrapping_offset(r as isize * pitch), pitch, sum);
            r += 4;
        }
        while r < rows {
            add_some::<V, 1>(n, src.wrapping_offset(r as isize * pitch), pitch, sum);
            r += 1;
        }
    }
}

/// A few rows, a power of two, in pairs.
#[inline(always)]
unsafe fn add_some<V: Simd, const ROWS: usize>(n: usize, src: *const V::T, pitch: isize, sum: *mut V::T) {
    macro_rules! pass {
        ($at:expr, |$p:ident| $load:expr) => {{
            let mut x = [V::zero(); ROWS];
            for q in 0..ROWS {
                let $p = src.wrapping_offset(q as isize * pitch).wrapping_add($at);
                x[q] = $load;
            }
            let mut half = ROWS / 2;
            while half > 0 {
                for q in 0..half {
                    x[q] = x[q].add(x[q + half]);
                }
                half /= 2;
            }
            let $p = sum.add($at).cast_const();
            $load.add(x[0])
        }};
    }
    // SAFETY: the contract of the file.
    unsafe {
        let mut i = 0;
        while i + V::LANES <= n {
            pass!(i, |p| V::load(p)).store(sum.add(i));
            i += V::LANES;
        }
        if i < n {
            let left = n - i;
            pass!(i, |p| V::load_first(p, left)).store_first(sum.add(i), left);
        }
    }
}
