//! Sums in which a lane of a vector meets channels of the same vector only: depthwise kernels, and groups of so few channels
//! that some of them share a vector.
//!
//! Images have their channels side by side. A register tile is [`N`] results of a row, one vector of channels each. Taps that
//! are neighbours in a row of the window are taken together ([`TapRun`]): a pixel is loaded once for all of them and for all
//! results that it reaches, so that 21 multiply-adds (three taps) take nine loads of pixels. With groups of g channels the same
//! is done g times, the i-th time with the i-th channel of each group spread over the group's lanes. Depthwise taps that share few
//! pixels may be taken one at a time, for [`LONG`] vectors of channels at once, where there are 32 registers; so are sums of their weights,
//! a run of taps and a whole row of results at a time ([`long_sums`]). Windows of four taps at most, the phases of backward-data, have
//! a loop that does nothing else ([`few`]). Rows and columns outside the image are left out by number: no padding is written, and rows
//! need not be cut.
//!
//! Windows of three rows of three taps slide ([`slide`], [`sliding_sums`]): a tile is then as high as there are results, and goes
//! down the image with three rows of them in flight. A row of pixels is loaded once for all nine taps, 63 multiply-adds for nine
//! loads, and what is loaded need not stay in L1. Only where there are registers for three rows of sums and nine taps: with 16 of
//! them, half of the operands would be in memory (AVX2, 128 channels at 56x56: 36 GFLOPS row by row, 25 so).
//!
//! ```text
//! row of pixels    meets tap rows of results    with stride 2
//!   y              2: y-2, 1: y-1, 0: y         even: 2: y/2-1, 0: y/2     odd: 1: y/2
//! ```
//! (The loops can do stride 2; [`LaneRows::slides`] says why they are not asked to.)
//!
//! Contract of all functions: that of `conv.rs`.

use super::super::simd::GroupSimd;
use super::super::tile::{opaque, opaque_fn, prefetch_far};
use super::{Activation, LaneRows, Lanewise, LanewiseSums, PixelTiles, TapRun, add_rows, leaky};
use crate::scalar::Scalar;
use core::mem::MaybeUninit;

/// Results of a tile.
const N: usize = 7;
/// Taps of a run at most.
pub const RUN: usize = 3;
/// Vectors of channels that are read in one go where a tap is taken at a time ([`LaneRows::long`]): with [`N`] results and the taps all 32
/// registers.
pub const LONG: usize = 4;
/// Rows of a sliding tile at most, and channels, whose results are collected: no more than half of L1.
const HIGH: usize = 7;
const COLLECTED: usize = 128;

/// How the i-th channels of groups come to their lanes: every channel is its own, a shuffle, or one number for all lanes.
const OWN: u8 = 0;
const PICKED: u8 = 1;
const SPLAT: u8 = 2;

/// A tile's place: the source's plane, the place of the first result in it, rows, and results of a row.
pub struct LaneTile<T> {
    src: *const T,
    row: isize,
    column: isize,
    rows: usize,
    results: usize,
}

/// Columns of a run that a tile's results reach: where they are, and a bit for each that the image has.
struct Columns<T> {
    src: *const T,
    step: isize,
    there: usize,
}

/// Which result of a tile meets column c with tap k; N if none does.
const fn met(c: usize, k: usize, stride: usize) -> usize {
    if c >= k && (c - k).is_multiple_of(stride) && (c - k) / stride < N { (c - k) / stride } else { N }
}
/// The same as an index, whatever it is.
const fn at(c: usize, k: usize, stride: usize) -> usize {
    let j = met(c, k, stride);
    if j < N { j } else { 0 }
}

/// The body for each number of a list, as a constant.
macro_rules! each {
    ($name:ident in $($i:literal)* => $body:block) => {
        $({
            const $name: usize = $i;
            $body
        })*
    };
}

impl<T: Copy> LaneRows<T> {
    #[inline(always)]
    fn columns<const STRIDE: usize>(&self, t: &LaneTile<T>, run: &TapRun) -> Columns<T> {
        let from = t.column + run.column;
        // Strides beyond those that runs are made for have runs of one tap, whose columns are a stride apart.
        let unit = self.stride[1] / STRIDE;
        let reached = (t.results - 1) * STRIDE + run.len;
        // Columns before one of the source.
        let before = |column: isize| -> usize {
            let n = (column - from).max(0) as usize;
            if unit == 1 { n.min(reached) } else { n.div_ceil(unit).min(reached) }
        };
        Columns {
            src: t.src.wrapping_offset(run.src + (t.row + run.row) * self.src_step[0] + from * self.src_step[1]),
            step: unit as isize * self.src_step[1],
            there: (1 << before(self.there[1] as isize)) - (1 << before(0)),
        }
    }

    /// Whether the source has such a column.
    #[inline(always)]
    fn has_column(&self, column: isize) -> bool {
        (column as usize) < self.there[1]
    }

    /// Whether the source has such a row.
    #[inline(always)]
    fn has(&self, row: isize) -> bool {
        (row as usize) < self.there[0]
    }

    /// Whether the window is three rows of three taps whose weights follow each other, and slides. (They do not where taps are left out
    /// that meet padding only.)
    ///
    /// # Safety
    /// The runs are there.
    unsafe fn slides(&self) -> bool {
        // Results two apart wait for memory more when they slide. Zen 4, 64 channels at 112x112 to 56x56, GFLOPS row by row and sliding:
        // 14 and 12, 512 at 14x14 to 7x7 34 and 27; their weights 13 and 10, 25 and 24. Zen 5: 26 and 30, 59 and 39; 20 and 19, 47 and 37.
        if self.count != RUN || self.stride != [1; 2] || self.size[0] < 2 {
            return false;
        }
        // SAFETY: as this function's.
        let runs = unsafe { core::slice::from_raw_parts(self.runs, RUN) };
        runs.iter().enumerate().all(|(k, run)| {
            let same = (run.src, run.column, run.len) == (runs[0].src, runs[0].column, RUN);
            same && run.row == runs[0].row + k as isize && run.first == runs[0].first + k * RUN
        })
    }

    /// Runs, and taps of each, if there are one or two of both; else nothing.
    ///
    /// # Safety
    /// The runs are there.
    #[inline(always)]
    unsafe fn few(&self) -> (usize, usize) {
        // SAFETY: as this function's.
        match unsafe { core::slice::from_raw_parts(self.runs, self.count) } {
            [one] if one.len <= 2 => (1, one.len),
            [one, two] if one.len <= 2 && one.len == two.len => (2, one.len),
            _ => (0, 0),
        }
    }

    /// Vectors of channels that a tile takes at a time.
    #[inline(always)]
    fn together<V: GroupSimd<T = T>, const SPREAD: u8>(&self, left: usize) -> usize {
        match left / V::LANES {
            _ if !V::PAIRS => 1,
            0 | 1 => 1,
            LONG.. if const { SPREAD == OWN } && self.long => LONG,
            _ => 2,
        }
    }

    /// Reads the lines of the rows that a row of results is the first to meet, in the order of memory.
    #[inline(always)]
    unsafe fn fetch(&self, row: usize) {
        if !self.asks || self.count == 0 {
            return;
        }
        // SAFETY: there are runs; rows and columns of the source.
        unsafe {
            let (first, last) = (&*self.runs, &*self.runs.add(self.count - 1));
            let end = self.at[0] + (row * self.stride[0]) as isize + last.row + 1;
            let reach = ((self.size[1] - 1) * self.stride[1] + last.len) as isize;
            let columns =
                [first.column, last.column + reach].map(|n| (self.at[1] + n).clamp(0, self.there[1] as isize));
            let pixels = (columns[1] - columns[0]).max(0) as usize;
            for row in end - self.stride[0] as isize..end {
                if self.has(row) {
                    let place = last.src + row * self.src_step[0] + columns[0] * self.src_step[1];
                    fetch(self.src.wrapping_offset(place), pixels, self.src_step[1], self.channels);
                }
            }
        }
    }

    /// Asks for what the next row of results meets first below a tile, as many channels as are done at a time.
    #[inline(always)]
    unsafe fn ask<V: GroupSimd<T = T>, const STRIDE: usize>(&self, t: &LaneTile<T>, c: usize, vectors: usize) {
        if !self.asks || self.count == 0 {
            return;
        }
        // SAFETY: there is a run.
        let last = unsafe { &*self.runs.add(self.count - 1) };
        for row in 1..=self.stride[0] as isize {
            let place = last.src + (t.row + last.row + row) * self.src_step[0] + t.column * self.src_step[1];
            let pixels = t.results * STRIDE;
            ask::<V>(t.src.wrapping_offset(place).wrapping_add(c), pixels, self.src_step[1], vectors);
        }
    }

    /// Asks for a part of what the rows of results behind a sliding tile meet, by the channels and the row of pixels that are done.
    #[inline(always)]
    unsafe fn ask_below<V: GroupSimd<T = T>, const STRIDE: usize>(&self, t: &LaneTile<T>, c: usize, y: usize) {
        let rows = t.rows * STRIDE;
        // SAFETY: there is a run.
        let run = unsafe { &*self.runs };
        // The last rows of the window are the first that are new to the next results.
        let row = t.row + run.row + (rows + RUN - STRIDE) as isize;
        let below = t.src.wrapping_offset(run.src + row * self.src_step[0] + t.column * self.src_step[1]);
        ask_part::<V>(below, t.results * STRIDE, self.channels, self.src_step, c / V::LANES * rows + y);
    }

    /// Calls `f` for each tile of no more than so many rows and results of a row: its row, its first column, and what it is.
    #[inline(always)]
    fn tiles(&self, high: usize, wide: usize, mut f: impl FnMut(isize, isize, &LaneTile<T>)) {
        let [rows, cols] = self.size;
        let most = cols.div_ceil(cols.div_ceil(wide).max(1));
        let mut r = 0;
        while r < rows {
            let mut j = 0;
            while j < cols {
                let t = LaneTile {
                    src: self.src,
                    row: self.at[0] + (r * self.stride[0]) as isize,
                    column: self.at[1] + (j * self.stride[1]) as isize,
                    rows: high.min(rows - r),
                    results: most.min(cols - j),
                };
                f(r as isize, j as isize, &t);
                j += most;
            }
            r += high;
        }
    }
}

impl<T: Scalar> Lanewise<T> {
    /// Whether results are stored past the caches: those that are far, are not read first, and begin at multiples of a vector.
    #[inline(always)]
    fn is_past<V: GroupSimd<T = T>>(&self) -> bool {
        let apart = (self.dst_step[0] | self.dst_step[1]) as usize;
        let aligned = apart.is_multiple_of(V::LANES) && self.dst.addr().is_multiple_of(V::LANES * size_of::<T>());
        V::PAST && self.far && self.finish.beta == T::ZERO && aligned
    }

    /// Whether the results of a sliding tile are collected first: those of all its pixels would fall in the same few sets of L1 (a way of it
    /// is a page), each pushing out another.
    #[inline(always)]
    fn collects<V: GroupSimd<T = T>>(&self) -> bool {
        let apart = self.dst_step[1].unsigned_abs() * size_of::<T>();
        apart.is_multiple_of(4096) && self.finish.beta == T::ZERO && !self.is_past::<V>()
    }
}

/// Reads a number of each line of so many pixels: nothing that a tile computes keeps a read waiting, so as many of them are under
/// way as the core can have. Four instructions in turn, each of which the core learns to run ahead of: one alone is slower. (Zen 5, 16
/// images, GFLOPS of a loop alone without, with one and with four: 64 channels at 112x112 to 56x56 23, 31 and 43, 128 at 56x56 to 28x28
/// 45, 41 and 52; of images that the last cache holds, 256 at 28x28, 79, 56 and 58.)
#[inline(always)]
unsafe fn fetch<T: Copy>(mut p: *const T, pixels: usize, step: isize, channels: usize) {
    let line = const { 64 / size_of::<T>() };
    let (runs, len) = if step == channels as isize { (1, pixels * channels) } else { (pixels, channels) };
    for _ in 0..runs {
        let mut i = 0;
        // SAFETY: channels of the pixels.
        unsafe {
            while i + 4 * line <= len {
                core::ptr::read_volatile(p.wrapping_add(i));
                core::ptr::read_volatile(p.wrapping_add(i + line));
                core::ptr::read_volatile(p.wrapping_add(i + 2 * line));
                core::ptr::read_volatile(p.wrapping_add(i + 3 * line));
                i += 4 * line;
            }
            while i < len {
                core::ptr::read_volatile(p.wrapping_add(i));
                i += line;
            }
        }
        p = p.wrapping_offset(step);
    }
}

/// Asks for so many pixels, some vectors of each.
#[inline(always)]
fn ask<V: GroupSimd>(mut p: *const V::T, pixels: usize, step: isize, vectors: usize) {
    for _ in 0..pixels {
        for u in 0..vectors {
            prefetch_far(p.wrapping_add(u * V::LANES));
        }
        p = p.wrapping_offset(step);
    }
}

/// Asks for the step-th part of some rows of pixels, so that all of them are asked for when every vector of every row has had its
/// step: in the order of memory, all channels of a few pixels.
#[inline(always)]
fn ask_part<V: GroupSimd>(rows: *const V::T, pixels: usize, channels: usize, step: [isize; 2], part: usize) {
    let vectors = channels.div_ceil(V::LANES);
    let (row, first) = (part / vectors, part % vectors * pixels);
    let (pixel, mut vector) = (first / vectors, first % vectors);
    let mut p = rows.wrapping_offset(row as isize * step[0] + pixel as isize * step[1]);
    for _ in 0..pixels {
        prefetch_far(p.wrapping_add(vector * V::LANES));
        vector += 1;
        if vector == vectors {
            vector = 0;
            p = p.wrapping_offset(step[1]);
        }
    }
}

/// A vector, or what is there of it. (A closure might stay a function without vector registers.)
macro_rules! load {
    ($p:expr, $left:ident) => {
        if PART { V::load_first($p, $left) } else { V::load($p) }
    };
}

/// The pixels of a column, U vectors of them, each group's i-th channel spread over the group.
macro_rules! pixels {
    ($columns:ident, $c:expr, $i:ident, $left:ident, $pick:ident) => {{
        let p = $columns.src.wrapping_offset($c as isize * $columns.step);
        let mut x = [V::zero(); U];
        for (u, x) in x.iter_mut().enumerate() {
            let p = p.wrapping_add(u * V::LANES);
            *x = if const { SPREAD == SPLAT } {
                V::splat(*p.wrapping_add($i))
            } else {
                let x = load!(p, $left);
                if const { SPREAD == PICKED } { x.picked($pick) } else { x }
            };
        }
        x
    }};
}

/// All columns of a run of so many taps, those that are there (`$whole`: with a way of its own if all are); `$body` is done for each that a result meets with tap K.
macro_rules! run {
    ($taps:literal, $whole:expr, $columns:ident, $i:ident, $left:ident, $pick:ident, |$x:ident, $j:ident, $k:ident| $body:block) => {
        macro_rules! columns {
                    ($there:expr) => {
                        each!(C in 0 1 2 3 4 5 6 7 8 9 10 11 12 13 14 => {
                            if const { C < (N - 1) * STRIDE + $taps } && $there(C) {
                                let $x = pixels!($columns, C, $i, $left, $pick);
                                each!(K in 0 1 2 => {
                                    if const { K < $taps && met(C, K, STRIDE) < N } {
                                        let ($j, $k) = const { (at(C, K, STRIDE), if K < $taps { K } else { 0 }) };
                                        $body
                                    }
                                });
                            }
                        });
                    };
                }
        if $whole && $columns.there == const { (1 << ((N - 1) * STRIDE + $taps)) - 1 } {
            columns!(|_: usize| true);
        } else {
            // Opaque: the compiler would make a vector of the bits.
            columns!(|c: usize| opaque($columns.there) & 1 << c != 0);
        }
    };
}

/// The register tile for groups and a stride that goes row by row, by name.
macro_rules! tile_for {
    ($name:ident, $rows:expr) => {
        match ($rows.group, $rows.stride[1]) {
            (1, 2) => S::$name::<2, OWN, false>,
            (1, _) => S::$name::<1, OWN, false>,
            (group, 2) if group == V::LANES => S::$name::<2, SPLAT, false>,
            (group, _) if group == V::LANES => S::$name::<1, SPLAT, false>,
            (_, 2) => S::$name::<2, PICKED, false>,
            _ => S::$name::<1, PICKED, false>,
        }
    };
}

/// [`Lanewise`], tile by tile.
#[inline(always)]
pub unsafe fn lanewise<S: PixelTiles<V>, V: GroupSimd>(p: &Lanewise<V::T>) {
    type Tile<T> = unsafe fn(&Lanewise<T>, &LaneTile<T>, *mut T);
    // SAFETY: the contract of the file.
    let slides = V::PAIRS && unsafe { p.rows.slides() };
    let mut tile: Tile<V::T> = tile_for!(lanewise, p.rows);
    if const { V::PAIRS } && slides {
        tile = match p.rows.group {
            1 => S::lanewise::<1, OWN, true>,
            group if group == V::LANES => S::lanewise::<1, SPLAT, true>,
            _ => S::lanewise::<1, PICKED, true>,
        };
    }
    let rows = p.rows.size[0];
    let high = match () {
        () if !slides => 1,
        () if p.collects::<V>() => rows.div_ceil(rows.div_ceil(HIGH)),
        () => rows,
    };
    p.rows.tiles(high, N, |row, column, t| {
        // SAFETY: the contract of the file.
        unsafe {
            if !slides && column == 0 {
                p.rows.fetch(row as usize);
            }
        }
        let dst = p.dst.wrapping_offset(row * p.dst_step[0] + column * p.dst_step[1]);
        // SAFETY: the contract of the file.
        unsafe { opaque_fn(tile)(p, t, dst) }
    });
    if p.is_past::<V>() {
        V::settle();
    }
}

/// All channels of a tile.
#[inline(always)]
pub unsafe fn lanewise_tile<V: GroupSimd, const STRIDE: usize, const SPREAD: u8, const SLIDES: bool>(
    p: &Lanewise<V::T>,
    t: &LaneTile<V::T>,
    dst: *mut V::T,
) {
    let (mut c, mut weights) = (0, p.weights);
    let past = p.is_past::<V>();
    // SAFETY: the contract of the file.
    unsafe {
        if SLIDES {
            return slide_all::<V, STRIDE, SPREAD>(p, t, dst, past);
        }
        if const { V::PAIRS && SPREAD == OWN && STRIDE == 1 } {
            c = match p.rows.few() {
                (1, 1) => few::<V, 1, 1>(p, t, dst, past),
                (1, 2) => few::<V, 1, 2>(p, t, dst, past),
                (2, 1) => few::<V, 2, 1>(p, t, dst, past),
                (2, 2) => few::<V, 2, 2>(p, t, dst, past),
                _ => 0,
            };
            weights = weights.wrapping_add(c / V::LANES * p.block);
        }
        while c < p.rows.channels {
            let left = p.rows.channels - c;
            let together = p.rows.together::<V, SPREAD>(left);
            if p.far && !past {
                let next = dst.wrapping_offset(p.dst_step[0]).wrapping_add(c);
                ask::<V>(next, t.results, p.dst_step[1], together);
            }
            let dst = dst.wrapping_add(c);
            if together > 1 {
                if const { SPREAD == OWN } && together == LONG {
                    vectors::<V, LONG, STRIDE, SPREAD, false>(p, t, c, weights, dst, V::LANES, past);
                } else {
                    vectors::<V, 2, STRIDE, SPREAD, false>(p, t, c, weights, dst, V::LANES, past);
                }
                weights = weights.wrapping_add(together * p.block);
                c += together * V::LANES;
                continue;
            }
            // Groups as wide as a vector leave none that is not full.
            if const { SPREAD == SPLAT } || left >= V::LANES {
                vectors::<V, 1, STRIDE, SPREAD, false>(p, t, c, weights, dst, V::LANES, past);
            } else {
                vectors::<V, 1, STRIDE, SPREAD, true>(p, t, c, weights, dst, left, past);
            }
            weights = weights.wrapping_add(p.block);
            c += V::LANES;
        }
    }
}

/// The channels of a tile that are whole pairs of vectors, of windows of one or two runs of one or two taps ([`LaneRows::few`]); returns how
/// many they are. Such windows have so few products that all which does not depend on channels is done before.
#[inline(always)]
unsafe fn few<V: GroupSimd, const ROWS: usize, const TAPS: usize>(
    p: &Lanewise<V::T>,
    t: &LaneTile<V::T>,
    dst: *mut V::T,
    past: bool,
) -> usize {
    const U: usize = 2;
    let (mut c, mut weights) = (0, p.weights);
    // SAFETY: the contract of the file.
    unsafe {
        let (mut src, mut there, mut first, mut step) = ([p.rows.src; ROWS], [0; ROWS], [0; ROWS], 0);
        for row in 0..ROWS {
            let run = &*p.rows.runs.add(row);
            let columns = p.rows.columns::<1>(t, run);
            (src[row], step, first[row]) = (columns.src, columns.step, run.first * V::LANES);
            there[row] = if p.rows.has(t.row + run.row) { columns.there } else { 0 };
        }
        while c + U * V::LANES <= p.rows.channels {
            if p.far && !past {
                let next = dst.wrapping_offset(p.dst_step[0]).wrapping_add(c);
                ask::<V>(next, t.results, p.dst_step[1], U);
            }
            let mut acc = [[V::zero(); U]; N];
            for row in 0..ROWS {
                let (there, x) = (there[row], src[row].wrapping_add(c));
                each!(K in 0 1 => {
                    if K < TAPS {
                        let w = weights.wrapping_add(first[row] + K * V::LANES);
                        let tap = [V::load(w), V::load(w.wrapping_add(p.block))];
                        macro_rules! columns {
                            ($there:expr) => {
                                each!(J in 0 1 2 3 4 5 6 => {
                                    if $there(J + K) {
                                        let x = x.wrapping_offset((J + K) as isize * step);
                                        for u in 0..U {
                                            acc[J][u] = tap[u].mul_add(V::load(x.wrapping_add(u * V::LANES)), acc[J][u]);
                                        }
                                    }
                                });
                            };
                        }
                        if there == const { (1 << (N - 1 + TAPS)) - 1 } {
                            columns!(|_: usize| true);
                        } else {
                            columns!(|c: usize| opaque(there) & 1 << c != 0);
                        }
                    }
                });
            }
            finish::<V, U, false>(p, t.results, acc, c, dst.wrapping_add(c), V::LANES, past);
            weights = weights.wrapping_add(U * p.block);
            c += U * V::LANES;
        }
    }
    c
}

/// U vectors of channels, from c on; PART: of the only one `left` exist.
#[inline(always)]
unsafe fn vectors<V: GroupSimd, const U: usize, const STRIDE: usize, const SPREAD: u8, const PART: bool>(
    p: &Lanewise<V::T>,
    t: &LaneTile<V::T>,
    c: usize,
    weights: *const V::T,
    dst: *mut V::T,
    left: usize,
    past: bool,
) {
    // SAFETY: the contract of the file.
    unsafe {
        let mut acc = [[V::zero(); U]; N];
        let group = p.rows.group;
        for run in 0..p.rows.count {
            let run = &*p.rows.runs.add(run);
            if !p.rows.has(t.row + run.row) {
                continue;
            }
            if const { U == LONG } {
                let all = p.rows.columns::<STRIDE>(t, run);
                let reached = (1 << ((t.results - 1) * STRIDE + 1)) - 1;
                for k in 0..run.len {
                    let src = all.src.wrapping_offset(k as isize * all.step).wrapping_add(c);
                    let columns = Columns { src, there: all.there >> k & reached, ..all };
                    let w = weights.wrapping_add((run.first + k) * V::LANES);
                    let mut tap = [V::zero(); U];
                    for (u, tap) in tap.iter_mut().enumerate() {
                        *tap = V::load(w.wrapping_add(u * p.block));
                    }
                    let (i, pick) = (0, V::pick(1, 0));
                    run!(1, true, columns, i, left, pick, |x, j, _k| {
                        for u in 0..U {
                            acc[j][u] = tap[u].mul_add(x[u], acc[j][u]);
                        }
                    });
                }
                continue;
            }
            let mut columns = p.rows.columns::<STRIDE>(t, run);
            columns.src = columns.src.wrapping_add(c);
            let mut w = weights.wrapping_add(run.first * group * V::LANES);
            for i in 0..if const { SPREAD == OWN } { 1 } else { group } {
                let pick = V::pick(group, i);
                macro_rules! taps {
                    ($taps:literal) => {
                        let mut tap = [[V::zero(); U]; $taps];
                        for (k, tap) in tap.iter_mut().enumerate() {
                            for (u, tap) in tap.iter_mut().enumerate() {
                                *tap = V::load(w.wrapping_add(k * group * V::LANES + u * p.block));
                            }
                        }
                        run!($taps, !PART, columns, i, left, pick, |x, j, k| {
                            for u in 0..U {
                                acc[j][u] = tap[k][u].mul_add(x[u], acc[j][u]);
                            }
                        });
                    };
                }
                match run.len {
                    1 => {
                        taps!(1);
                    }
                    2 if const { STRIDE == 1 } => {
                        taps!(2);
                    }
                    _ => {
                        taps!(3);
                    }
                }
                w = w.wrapping_add(V::LANES);
            }
        }
        finish::<V, U, PART>(p, t.results, acc, c, dst, left, past);
    }
}

/// Stores a row of a tile's results; past the caches, if those are whole lines ([`Lanewise::is_past`]).
#[inline(always)]
unsafe fn finish<V: GroupSimd, const U: usize, const PART: bool>(
    p: &Lanewise<V::T>,
    results: usize,
    mut acc: [[V; U]; N],
    c: usize,
    dst: *mut V::T,
    left: usize,
    past: bool,
) {
    // SAFETY: the contract of the file.
    unsafe {
        let place = |j: usize, u: usize| dst.wrapping_offset(j as isize * p.dst_step[1]).wrapping_add(u * V::LANES);
        let finish = &p.finish;
        if finish.beta != V::T::ZERO {
            let beta = V::splat(finish.beta);
            each!(J in 0 1 2 3 4 5 6 => {
                for u in 0..if J < results { U } else { 0 } {
                    acc[J][u] = load!(place(J, u), left).mul_add(beta, acc[J][u]);
                }
            });
        }
        if !finish.bias.is_null() {
            for u in 0..U {
                let bias = load!(finish.bias.add(c + u * V::LANES), left);
                each!(J in 0 1 2 3 4 5 6 => {
                    acc[J][u] = acc[J][u].add(bias);
                });
            }
        }
        match finish.activation {
            Activation::None => {}
            Activation::Relu => {
                each!(J in 0 1 2 3 4 5 6 => {
                    for u in 0..U {
                        acc[J][u] = acc[J][u].max(V::zero());
                    }
                });
            }
            Activation::Leaky(slope) => {
                let slope = V::splat(slope);
                each!(J in 0 1 2 3 4 5 6 => {
                    for u in 0..U {
                        acc[J][u] = leaky(acc[J][u], slope);
                    }
                });
            }
        }
        if !PART && past {
            each!(J in 0 1 2 3 4 5 6 => {
                if J < results {
                    for u in 0..U {
                        acc[J][u].store_past(place(J, u));
                    }
                }
            });
            return;
        }
        each!(J in 0 1 2 3 4 5 6 => {
            if J < results {
                for u in 0..U {
                    if PART {
                        acc[J][u].store_first(place(J, u), left);
                    } else {
                        acc[J][u].store(place(J, u));
                    }
                }
            }
        });
    }
}

/// The columns of a row of pixels that are there, for a sliding window; `$body` is done for each result that meets a pixel with
/// tap k of a row of taps.
macro_rules! slid {
    ($columns:ident, $i:ident, $left:ident, $pick:ident, |$x:ident, $j:ident, $k:ident| $body:block) => {
        each!(C in 0 1 2 3 4 5 6 7 8 9 10 11 12 13 14 => {
            // Opaque: the compiler would make a vector of the bits.
            if const { C < (N - 1) * STRIDE + RUN } && opaque($columns.there) & 1 << C != 0 {
                let $x = pixels!($columns, C, $i, $left, $pick);
                each!(K in 0 1 2 => {
                    if const { met(C, K, STRIDE) < N } {
                        let ($j, $k) = const { (at(C, K, STRIDE), K) };
                        $body
                    }
                });
            }
        });
    };
}

/// The rows of taps that meet a row of pixels, and the rows of results in flight that they reach; of pixels that begin no row of
/// results (`$parity` 1) only the one in the middle.
macro_rules! in_flight {
    ($parity:literal, |$row:ident, $a:ident| $body:block) => {
        each!(ROW in 0 1 2 => {
            if const { STRIDE == 1 || ROW % 2 == $parity } {
                let ($row, $a) = const { (ROW, (RUN - 1 - ROW) / STRIDE) };
                $body
            }
        });
    };
}

/// All channels of a tile of a sliding window; their results are stored where they belong, or collected for some channels and stored
/// from there, many of a pixel at a time. (Zen 5, 1024 channels at 7x7: 51 and 101 GFLOPS.)
#[inline(always)]
unsafe fn slide_all<V: GroupSimd, const STRIDE: usize, const SPREAD: u8>(
    p: &Lanewise<V::T>,
    t: &LaneTile<V::T>,
    dst: *mut V::T,
    past: bool,
) {
    #[repr(align(64))]
    struct Room<T>(MaybeUninit<[T; HIGH * N * COLLECTED]>);
    let mut room = Room::<V::T>(MaybeUninit::uninit());
    let collects = p.collects::<V>();
    let (near, q, most) = if collects {
        let steps = [N * COLLECTED, COLLECTED].map(|n| n as isize);
        (room.0.as_mut_ptr().cast::<V::T>(), Lanewise { dst_step: steps, far: false, ..*p }, COLLECTED)
    } else {
        (dst, *p, p.rows.channels.max(1))
    };
    // SAFETY: the contract of the file; there is room for HIGH rows of N results, COLLECTED channels each.
    unsafe {
        for first in (0..p.rows.channels).step_by(most) {
            let end = p.rows.channels.min(first + most);
            for c in (first..end).step_by(V::LANES) {
                let weights = p.weights.wrapping_add(c / V::LANES * p.block);
                let dst = near.wrapping_add(if collects { c - first } else { c });
                if const { SPREAD == SPLAT } || end - c >= V::LANES {
                    slide::<V, STRIDE, SPREAD, false>(&q, t, c, weights, dst, V::LANES, past);
                } else {
                    slide::<V, STRIDE, SPREAD, true>(&q, t, c, weights, dst, end - c, past);
                }
            }
            for pixel in 0..if collects { t.rows * t.results } else { 0 } {
                let (row, column) = ((pixel / t.results) as isize, (pixel % t.results) as isize);
                let from = near.wrapping_offset(row * q.dst_step[0] + column * q.dst_step[1]);
                let to = dst.wrapping_offset(row * p.dst_step[0] + column * p.dst_step[1]).wrapping_add(first);
                let mut c = 0;
                while c + V::LANES <= end - first {
                    V::load(from.wrapping_add(c)).store(to.wrapping_add(c));
                    c += V::LANES;
                }
                if c < end - first {
                    let left = end - first - c;
                    V::load_first(from.wrapping_add(c), left).store_first(to.wrapping_add(c), left);
                }
            }
        }
    }
}

/// A vector of channels, from c on, of all rows of a tile of a sliding window; PART: `left` of them exist.
#[inline(always)]
unsafe fn slide<V: GroupSimd, const STRIDE: usize, const SPREAD: u8, const PART: bool>(
    p: &Lanewise<V::T>,
    t: &LaneTile<V::T>,
    c: usize,
    weights: *const V::T,
    dst: *mut V::T,
    left: usize,
    past: bool,
) {
    const U: usize = 1;
    // SAFETY: the contract of the file.
    unsafe {
        let run = &*p.rows.runs;
        let mut columns = p.rows.columns::<STRIDE>(t, run);
        columns.src = columns.src.wrapping_add(c);
        let (first, mut dst, group) = (dst.wrapping_sub(c), dst, p.rows.group);
        let weights = weights.wrapping_add(run.first * group * V::LANES);
        // Rows of results in flight, the oldest first.
        let mut acc = [[[V::zero(); U]; N]; RUN];
        let mut tap = [[V::zero(); RUN]; RUN];
        let (begun, reach) = (t.rows * STRIDE, (t.rows - 1) * STRIDE + RUN);
        let mut y = 0;
        macro_rules! row {
            ($parity:literal) => {
                if p.rows.asks && y < begun {
                    p.rows.ask_below::<V, STRIDE>(t, c, y);
                }
                if p.rows.has(t.row + run.row + y as isize) {
                    for i in 0..if const { SPREAD == OWN } { 1 } else { group } {
                        let pick = V::pick(group, i);
                        // Every row again: there are not enough registers to keep them beside the ends of a tile.
                        in_flight!($parity, |row, _a| {
                            for k in 0..RUN {
                                tap[row][k] = V::load(weights.wrapping_add(((row * RUN + k) * group + i) * V::LANES));
                            }
                        });
                        if RUN - 1 <= y && y < begun {
                            slid!(columns, i, left, pick, |x, j, k| {
                                in_flight!($parity, |row, a| {
                                    acc[a][j][0] = tap[row][k].mul_add(x[0], acc[a][j][0]);
                                });
                            });
                        } else {
                            // The first and last rows of pixels, which some results only meet: tap row by tap row.
                            in_flight!($parity, |row, a| {
                                if row <= y && y - row < begun {
                                    slid!(columns, i, left, pick, |x, j, k| {
                                        acc[a][j][0] = tap[row][k].mul_add(x[0], acc[a][j][0]);
                                    });
                                }
                            });
                        }
                    }
                }
                columns.src = columns.src.wrapping_offset(p.rows.src_step[0]);
            };
        }
        loop {
            row!(0);
            if y >= RUN - 1 {
                if p.far && !past {
                    let below = first.wrapping_offset(t.rows as isize * p.dst_step[0]);
                    let part = c / V::LANES * t.rows + (y - (RUN - 1)) / STRIDE;
                    ask_part::<V>(below, t.results, p.rows.channels, p.dst_step, part);
                }
                finish::<V, U, PART>(p, t.results, acc[0], c, dst, left, past);
                dst = dst.wrapping_offset(p.dst_step[0]);
            }
            y += 1;
            if y == reach {
                break;
            }
            acc = [acc[1], acc[2], [[V::zero(); U]; N]];
            if const { STRIDE == 2 } {
                row!(1);
                y += 1;
            }
        }
    }
}

mod sums;
pub use sums::{lanewise_sums, lanewise_sums_tile};
