//! Sums in which a lane of a vector meets channels of the same vector only: depthwise kernels, and groups of so few channels
//! that some of them share a vector.
//!
//! Images have their channels side by side. A register tile is [`N`] results of a row, one vector of channels each. Taps that
//! are neighbours in a row of the window are taken together ([`TapRun`]): a pixel is loaded once for all of them and for all
//! results that it reaches, so that 21 multiply-adds (three taps) take nine loads of pixels. With groups of g channels the same
//! is done g times, the i-th time with the i-th channel of each group spread over the group's lanes. Columns outside the
//! image are left out by number: no padding is written, and rows need not be cut.
//!
//! Contract of all functions: that of `conv.rs`.

use super::super::simd::GroupSimd;
use super::super::tile::{opaque, opaque_fn, prefetch_far};
use super::{Activation, LaneRows, Lanewise, LanewiseSums, PixelTiles, TapRun, leaky};
use crate::scalar::Scalar;

/// Results of a tile.
const N: usize = 7;
/// Taps of a run at most.
pub const RUN: usize = 3;

/// How the i-th channels of groups come to their lanes: every channel is its own, a shuffle, or one number for all lanes.
const OWN: u8 = 0;
const PICKED: u8 = 1;
const SPLAT: u8 = 2;

/// A tile's place: the source row of its results at column 0, the source column of the first result, and how many there are.
pub struct LaneTile<T> {
    src: *const T,
    column: isize,
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

impl<T> LaneRows<T> {
    #[inline(always)]
    fn columns<const STRIDE: usize>(&self, t: &LaneTile<T>, run: &TapRun) -> Columns<T> {
        let from = t.column + run.column;
        // Strides beyond those that runs are made for have runs of one tap, whose columns are a stride apart.
        let unit = self.stride / STRIDE;
        let reached = (t.results - 1) * STRIDE + run.len;
        // Columns before one of the source.
        let before = |column: isize| -> usize {
            let n = (column - from).max(0) as usize;
            if unit == 1 { n.min(reached) } else { n.div_ceil(unit).min(reached) }
        };
        Columns {
            src: t.src.wrapping_offset(run.src + from * self.src_step[1]),
            step: unit as isize * self.src_step[1],
            there: (1 << before(self.width as isize)) - (1 << before(0)),
        }
    }

    /// Asks for what the next row of results meets first below a tile, as many channels as are done at a time.
    #[inline(always)]
    unsafe fn ask<V: GroupSimd<T = T>, const STRIDE: usize>(&self, t: &LaneTile<T>, c: usize) {
        for row in 0..self.asked {
            // SAFETY: so many rows are asked for.
            let row = unsafe { *self.ahead.add(row) } + t.column * self.src_step[1];
            ask::<V>(t.src.wrapping_offset(row).wrapping_add(c), t.results * STRIDE, self.src_step[1]);
        }
    }

    /// Calls `f` for each tile: its row, its first column, and what it is.
    #[inline(always)]
    fn tiles(&self, mut f: impl FnMut(isize, isize, &LaneTile<T>)) {
        let [rows, cols] = self.size;
        let most = cols.div_ceil(cols.div_ceil(N).max(1));
        for r in 0..rows as isize {
            let mut j = 0;
            while j < cols {
                let t = LaneTile {
                    src: self.src.wrapping_offset(r * self.src_step[0]),
                    column: self.column + (j * self.stride) as isize,
                    results: most.min(cols - j),
                };
                f(r, j as isize, &t);
                j += most;
            }
        }
    }
}

/// Asks for so many pixels, as many channels as are done at a time.
#[inline(always)]
fn ask<V: GroupSimd>(mut p: *const V::T, pixels: usize, step: isize) {
    for _ in 0..pixels {
        prefetch_far(p);
        if V::PAIRS {
            prefetch_far(p.wrapping_add(V::LANES));
        }
        p = p.wrapping_offset(step);
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

/// The register tile for groups and a stride, by name.
macro_rules! tile_for {
    ($name:ident, $rows:expr) => {
        match ($rows.group, $rows.stride) {
            (1, 2) => S::$name::<2, OWN>,
            (1, _) => S::$name::<1, OWN>,
            (group, 2) if group == V::LANES => S::$name::<2, SPLAT>,
            (group, _) if group == V::LANES => S::$name::<1, SPLAT>,
            (_, 2) => S::$name::<2, PICKED>,
            _ => S::$name::<1, PICKED>,
        }
    };
}

/// [`Lanewise`], tile by tile.
#[inline(always)]
pub unsafe fn lanewise<S: PixelTiles<V>, V: GroupSimd>(p: &Lanewise<V::T>) {
    type Tile<T> = unsafe fn(&Lanewise<T>, &LaneTile<T>, *mut T);
    let tile: Tile<V::T> = tile_for!(lanewise, p.rows);
    p.rows.tiles(|row, column, t| {
        let dst = p.dst.wrapping_offset(row * p.dst_step[0] + column * p.dst_step[1]);
        // SAFETY: the contract of the file.
        unsafe { opaque_fn(tile)(p, t, dst) }
    });
}

/// All channels of a tile. Meanwhile what the next row of results meets first is asked for.
#[inline(always)]
pub unsafe fn lanewise_tile<V: GroupSimd, const STRIDE: usize, const SPREAD: u8>(
    p: &Lanewise<V::T>,
    t: &LaneTile<V::T>,
    dst: *mut V::T,
) {
    let (mut c, mut weights) = (0, p.weights);
    // SAFETY: the contract of the file.
    unsafe {
        while c < p.rows.channels {
            p.rows.ask::<V, STRIDE>(t, c);
            if p.asks_results {
                ask::<V>(dst.wrapping_offset(p.dst_step[0]).wrapping_add(c), t.results, p.dst_step[1]);
            }
            let left = p.rows.channels - c;
            let dst = dst.wrapping_add(c);
            if V::PAIRS && left >= 2 * V::LANES {
                vectors::<V, 2, STRIDE, SPREAD, false>(p, t, c, weights, dst, V::LANES);
                weights = weights.wrapping_add(2 * p.block);
                c += 2 * V::LANES;
                continue;
            }
            // Groups as wide as a vector leave none that is not full.
            if const { SPREAD == SPLAT } || left >= V::LANES {
                vectors::<V, 1, STRIDE, SPREAD, false>(p, t, c, weights, dst, V::LANES);
            } else {
                vectors::<V, 1, STRIDE, SPREAD, true>(p, t, c, weights, dst, left);
            }
            weights = weights.wrapping_add(p.block);
            c += V::LANES;
        }
    }
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
) {
    // SAFETY: the contract of the file.
    unsafe {
        let mut acc = [[V::zero(); U]; N];
        let group = p.rows.group;
        for run in 0..p.rows.count {
            let run = &*p.rows.runs.add(run);
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
        let place = |j: usize, u: usize| dst.wrapping_offset(j as isize * p.dst_step[1]).wrapping_add(u * V::LANES);
        let finish = &p.finish;
        if finish.beta != V::T::ZERO {
            let beta = V::splat(finish.beta);
            each!(J in 0 1 2 3 4 5 6 => {
                for u in 0..if J < t.results { U } else { 0 } {
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
        each!(J in 0 1 2 3 4 5 6 => {
            if J < t.results {
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

/// [`LanewiseSums`], tile by tile.
#[inline(always)]
pub unsafe fn lanewise_sums<S: PixelTiles<V>, V: GroupSimd>(p: &LanewiseSums<V::T>) {
    type Tile<T> = unsafe fn(&LanewiseSums<T>, &LaneTile<T>, *const T);
    let tile: Tile<V::T> = tile_for!(lanewise_sums, p.rows);
    p.rows.tiles(|row, column, t| {
        let dy = p.dy.wrapping_offset(row * p.dy_step[0] + column * p.dy_step[1]);
        // SAFETY: the contract of the file.
        unsafe { opaque_fn(tile)(p, t, dy) }
    });
}

/// All channels of a tile.
#[inline(always)]
pub unsafe fn lanewise_sums_tile<V: GroupSimd, const STRIDE: usize, const SPREAD: u8>(
    p: &LanewiseSums<V::T>,
    t: &LaneTile<V::T>,
    dy: *const V::T,
) {
    let mut c = 0;
    // SAFETY: the contract of the file.
    unsafe {
        while c < p.rows.channels {
            let left = p.rows.channels - c;
            p.rows.ask::<V, STRIDE>(t, c);
            let dy = dy.wrapping_add(c);
            if p.rows.asked > 0 {
                ask::<V>(dy.wrapping_offset(p.dy_step[0]), t.results, p.dy_step[1]);
            }
            if t.results == N && V::PAIRS && left >= 2 * V::LANES {
                sums::<V, 2, STRIDE, SPREAD, false, true>(p, t, c, dy, V::LANES);
                c += 2 * V::LANES;
                continue;
            }
            if const { SPREAD != SPLAT } && left < V::LANES {
                sums::<V, 1, STRIDE, SPREAD, true, false>(p, t, c, dy, left);
            } else if t.results < N {
                sums::<V, 1, STRIDE, SPREAD, false, false>(p, t, c, dy, V::LANES);
            } else {
                sums::<V, 1, STRIDE, SPREAD, false, true>(p, t, c, dy, V::LANES);
            }
            c += V::LANES;
        }
    }
}

/// U vectors of channels, from c on; PART: of the only one `left` exist; ALL: the tile has all its results. (Those it has not
/// are left out one by one: nothing times a pixel that is not a number would be one of the sums.)
#[inline(always)]
unsafe fn sums<V, const U: usize, const STRIDE: usize, const SPREAD: u8, const PART: bool, const ALL: bool>(
    p: &LanewiseSums<V::T>,
    t: &LaneTile<V::T>,
    c: usize,
    dy: *const V::T,
    left: usize,
) where
    V: GroupSimd,
{
    // SAFETY: the contract of the file.
    unsafe {
        let mut g = [[V::zero(); U]; N];
        each!(J in 0 1 2 3 4 5 6 => {
            if ALL || J < t.results {
                for u in 0..U {
                    g[J][u] = load!(dy.wrapping_offset(J as isize * p.dy_step[1]).wrapping_add(u * V::LANES), left);
                }
            }
        });
        let group = p.rows.group;
        for run in 0..p.rows.count {
            let run = &*p.rows.runs.add(run);
            let mut columns = p.rows.columns::<STRIDE>(t, run);
            columns.src = columns.src.wrapping_add(c);
            let mut sum = p.sums.wrapping_add(run.first * group * p.pitch + c);
            for i in 0..if const { SPREAD == OWN } { 1 } else { group } {
                let pick = V::pick(group, i);
                macro_rules! taps {
                    ($taps:literal) => {
                        let mut acc = [[V::zero(); U]; $taps];
                        run!($taps, ALL, columns, i, left, pick, |x, j, k| {
                            if ALL || j < t.results {
                                for u in 0..U {
                                    acc[k][u] = x[u].mul_add(g[j][u], acc[k][u]);
                                }
                            }
                        });
                        for (k, acc) in acc.iter().enumerate() {
                            for (u, acc) in acc.iter().enumerate() {
                                let sum = sum.wrapping_add(k * group * p.pitch + u * V::LANES);
                                let all = acc.add(load!(sum, left));
                                if PART { all.store_first(sum, left) } else { all.store(sum) }
                            }
                        }
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
                sum = sum.wrapping_add(p.pitch);
            }
        }
    }
}
