//! Lanewise sums of weights: the gradient of what `lanewise.rs` computes, from the same rows and columns.
//!
//! Contract of all functions: that of `conv.rs`.

use super::*;

/// [`LanewiseSums`], tile by tile.
#[inline(always)]
pub unsafe fn lanewise_sums<S: PixelTiles<V>, V: GroupSimd>(p: &LanewiseSums<V::T>) {
    type Tile<T> = unsafe fn(&LanewiseSums<T>, &LaneTile<T>, *const T);
    // SAFETY: the contract of the file.
    let slides = V::PAIRS && unsafe { p.rows.slides() };
    let mut tile: Tile<V::T> = tile_for!(lanewise_sums, p.rows);
    if const { V::PAIRS } && slides {
        tile = match p.rows.group {
            1 => S::lanewise_sums::<1, OWN, true>,
            group if group == V::LANES => S::lanewise_sums::<1, SPLAT, true>,
            _ => S::lanewise_sums::<1, PICKED, true>,
        };
    }
    let high = if slides { p.rows.size[0] } else { 1 };
    let wide = if V::PAIRS && p.rows.long { p.rows.size[1].max(1) } else { N };
    p.rows.tiles(high, wide, |row, column, t| {
        let dy = p.dy.wrapping_offset(row * p.dy_step[0] + column * p.dy_step[1]);
        // SAFETY: the contract of the file.
        unsafe { opaque_fn(tile)(p, t, dy) }
    });
}

/// All channels of a tile.
#[inline(always)]
pub unsafe fn lanewise_sums_tile<V: GroupSimd, const STRIDE: usize, const SPREAD: u8, const SLIDES: bool>(
    p: &LanewiseSums<V::T>,
    t: &LaneTile<V::T>,
    dy: *const V::T,
) {
    let mut c = 0;
    // Results of a part of a row, if it is all of one.
    let most = if t.results <= N { N } else { t.results.div_ceil(t.results.div_ceil(N)) };
    // SAFETY: the contract of the file.
    unsafe {
        while c < p.rows.channels {
            let left = p.rows.channels - c;
            if SLIDES {
                let dy = dy.wrapping_add(c);
                if const { SPREAD == SPLAT } || left >= V::LANES {
                    sliding_sums::<V, STRIDE, SPREAD, false>(p, t, c, dy, V::LANES);
                } else {
                    sliding_sums::<V, STRIDE, SPREAD, true>(p, t, c, dy, left);
                }
                c += V::LANES;
                continue;
            }
            if const { V::PAIRS && SPREAD == OWN && STRIDE == 2 } && p.rows.long && left >= LONG * V::LANES {
                if !p.bias.is_null() {
                    // L1 has them for what follows.
                    let dy = dy.wrapping_add(c);
                    add_rows::<V>(LONG * V::LANES, t.results, dy, p.dy_step[1], p.bias.wrapping_add(c));
                }
                long_sums::<V>(p, t, c, dy.wrapping_add(c));
                c += LONG * V::LANES;
                continue;
            }
            let pair = V::PAIRS && left >= 2 * V::LANES;
            for j in (0..t.results).step_by(most) {
                let column = t.column + (j * p.rows.stride[1]) as isize;
                let t = &LaneTile { column, results: most.min(t.results - j), ..*t };
                let dy = dy.wrapping_offset(j as isize * p.dy_step[1]).wrapping_add(c);
                // (Read before, as `fetch` does, they came later: AVX2, 32 channels at 112x112 46 and 37 GFLOPS.)
                p.rows.ask::<V, STRIDE>(t, c, 1 + pair as usize);
                if p.rows.asks {
                    ask::<V>(dy.wrapping_offset(p.dy_step[0]), t.results, p.dy_step[1], 1 + pair as usize);
                }
                if t.results == N && pair {
                    sums::<V, 2, STRIDE, SPREAD, false, true>(p, t, c, dy, V::LANES);
                    continue;
                }
                for u in 0..1 + pair as usize {
                    let (c, left, dy) = (c + u * V::LANES, left - u * V::LANES, dy.wrapping_add(u * V::LANES));
                    if const { SPREAD != SPLAT } && left < V::LANES {
                        sums::<V, 1, STRIDE, SPREAD, true, false>(p, t, c, dy, left);
                    } else if t.results < N {
                        sums::<V, 1, STRIDE, SPREAD, false, false>(p, t, c, dy, V::LANES);
                    } else {
                        sums::<V, 1, STRIDE, SPREAD, false, true>(p, t, c, dy, V::LANES);
                    }
                }
            }
            c += if pair { 2 } else { 1 } * V::LANES;
        }
    }
}

/// [`LONG`] vectors of channels, from c on, of a row of results two columns apart, its sums in registers for a run of taps. The last
/// tap's pixel is the first one's of the next result. (Zen 5, 16 images, GFLOPS of a loop alone that does seven results of two vectors,
/// and so: 64 channels at 112x112 to 56x56 28 and 40, 128 at 56x56 36 and 42, 256 at 28x28 64 and 74, 512 at 14x14 48 and 59.)
#[inline(always)]
unsafe fn long_sums<V: GroupSimd>(p: &LanewiseSums<V::T>, t: &LaneTile<V::T>, c: usize, dy: *const V::T) {
    const U: usize = LONG;
    // SAFETY: the contract of the file.
    unsafe {
        for run in 0..p.rows.count {
            let run = &*p.rows.runs.add(run);
            if !p.rows.has(t.row + run.row) {
                continue;
            }
            let from = t.column + run.column;
            let step = p.rows.src_step;
            let src = t.src.wrapping_offset(run.src + (t.row + run.row) * step[0] + from * step[1]).wrapping_add(c);
            // Results before the first whose tap k meets the column, or one behind it.
            let before = |k: usize, column: isize| {
                let n = (column - from - k as isize).max(0) as usize;
                n.div_ceil(2).min(t.results)
            };
            let sum = p.sums.wrapping_add(run.first * p.pitch + c);
            macro_rules! taps {
                ($taps:literal) => {
                    let begin = before(0, 0);
                    let end = before($taps - 1, p.rows.there[1] as isize).max(begin);
                    let mut acc = [[V::zero(); U]; $taps];
                    // Results that do not meet all taps.
                    let mut j = if begin > 0 { 0 } else { end };
                    while j < t.results {
                        let g = dy.wrapping_offset(j as isize * p.dy_step[1]);
                        each!(K in 0 1 2 => {
                            if K < $taps && p.rows.has_column(from + (2 * j + K) as isize) {
                                let k = const { if K < $taps { K } else { 0 } };
                                let x = src.wrapping_offset((2 * j + K) as isize * step[1]);
                                for u in 0..U {
                                    let at = u * V::LANES;
                                    acc[k][u] = V::load(x.wrapping_add(at)).mul_add(V::load(g.wrapping_add(at)), acc[k][u]);
                                }
                            }
                        });
                        j += 1;
                        if j == begin {
                            j = end;
                        }
                    }
                    let mut x = src.wrapping_offset(2 * begin as isize * step[1]);
                    let mut g = dy.wrapping_offset(begin as isize * p.dy_step[1]);
                    let mut first = [V::zero(); U];
                    for (u, first) in first.iter_mut().enumerate() {
                        if begin < end {
                            *first = V::load(x.wrapping_add(u * V::LANES));
                        }
                    }
                    for _ in begin..end {
                        for u in 0..U {
                            let at = u * V::LANES;
                            let g = V::load(g.wrapping_add(at));
                            if const { $taps == 1 } {
                                acc[0][u] = V::load(x.wrapping_add(at)).mul_add(g, acc[0][u]);
                                continue;
                            }
                            let last = V::load(x.wrapping_offset(2 * step[1]).wrapping_add(at));
                            let middle = V::load(x.wrapping_offset(step[1]).wrapping_add(at));
                            acc[0][u] = first[u].mul_add(g, acc[0][u]);
                            acc[$taps / 2][u] = middle.mul_add(g, acc[$taps / 2][u]);
                            acc[$taps - 1][u] = last.mul_add(g, acc[$taps - 1][u]);
                            first[u] = last;
                        }
                        x = x.wrapping_offset(2 * step[1]);
                        g = g.wrapping_offset(p.dy_step[1]);
                    }
                    for (k, acc) in acc.iter().enumerate() {
                        for (u, acc) in acc.iter().enumerate() {
                            let sum = sum.wrapping_add(k * p.pitch + u * V::LANES);
                            acc.add(V::load(sum)).store(sum);
                        }
                    }
                };
            }
            if run.len == RUN {
                taps!(3);
            } else {
                taps!(1);
            }
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
        let mut all = [V::zero(); U];
        each!(J in 0 1 2 3 4 5 6 => {
            if ALL || J < t.results {
                for u in 0..U {
                    g[J][u] = load!(dy.wrapping_offset(J as isize * p.dy_step[1]).wrapping_add(u * V::LANES), left);
                    all[u] = all[u].add(g[J][u]);
                }
            }
        });
        for (u, all) in all.iter().enumerate() {
            add_bias::<V, PART>(p, c + u * V::LANES, *all, left);
        }
        let group = p.rows.group;
        for run in 0..p.rows.count {
            let run = &*p.rows.runs.add(run);
            if !p.rows.has(t.row + run.row) {
                continue;
            }
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

/// A vector of channels, from c on, of a tile of a sliding window, its sums in registers for all rows (depthwise) or for a row; PART:
/// `left` of them exist. Results that are not there are left out, as above.
#[inline(always)]
unsafe fn sliding_sums<V: GroupSimd, const STRIDE: usize, const SPREAD: u8, const PART: bool>(
    p: &LanewiseSums<V::T>,
    t: &LaneTile<V::T>,
    c: usize,
    dy: *const V::T,
    left: usize,
) {
    const U: usize = 1;
    // SAFETY: the contract of the file.
    unsafe {
        let run = &*p.rows.runs;
        let mut columns = p.rows.columns::<STRIDE>(t, run);
        columns.src = columns.src.wrapping_add(c);
        let (first, mut dy, group) = (dy.wrapping_sub(c), dy, p.rows.group);
        let sums = p.sums.wrapping_add(run.first * group * p.pitch + c);
        // Rows of results that are met, the oldest first, and their sums.
        let mut g = [[V::zero(); N]; RUN];
        let mut acc = [[V::zero(); RUN]; RUN];
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
                        if const { SPREAD != OWN } {
                            acc = [[V::zero(); RUN]; RUN];
                        }
                        if RUN - 1 <= y && y < begun && t.results == N {
                            slid!(columns, i, left, pick, |x, j, k| {
                                in_flight!($parity, |row, a| {
                                    acc[row][k] = x[0].mul_add(g[a][j], acc[row][k]);
                                });
                            });
                        } else {
                            // Tap row by tap row, as above.
                            in_flight!($parity, |row, a| {
                                if row <= y && y - row < begun && t.results == N {
                                    slid!(columns, i, left, pick, |x, j, k| {
                                        acc[row][k] = x[0].mul_add(g[a][j], acc[row][k]);
                                    });
                                } else if row <= y && y - row < begun {
                                    slid!(columns, i, left, pick, |x, j, k| {
                                        if j < t.results {
                                            acc[row][k] = x[0].mul_add(g[a][j], acc[row][k]);
                                        }
                                    });
                                }
                            });
                        }
                        if const { SPREAD != OWN } {
                            in_flight!($parity, |row, _a| {
                                add_sums::<V, PART>(
                                    acc[row],
                                    sums,
                                    (row * RUN * group + i) * p.pitch,
                                    group * p.pitch,
                                    left,
                                );
                            });
                        }
                    }
                }
                columns.src = columns.src.wrapping_offset(p.rows.src_step[0]);
            };
        }
        loop {
            if y < begun {
                if p.rows.asks {
                    let below = first.wrapping_offset(t.rows as isize * p.dy_step[0]);
                    let part = c / V::LANES * t.rows + y / STRIDE;
                    ask_part::<V>(below, t.results, p.rows.channels, p.dy_step, part);
                }
                let new = const { (RUN - 1) / STRIDE };
                let mut all = V::zero();
                each!(J in 0 1 2 3 4 5 6 => {
                    if J < t.results {
                        g[new][J] = load!(dy.wrapping_offset(J as isize * p.dy_step[1]), left);
                        all = all.add(g[new][J]);
                    }
                });
                add_bias::<V, PART>(p, c, all, left);
                dy = dy.wrapping_offset(p.dy_step[0]);
            }
            row!(0);
            y += 1;
            if y == reach {
                break;
            }
            g = [g[1], g[2], g[2]];
            if const { STRIDE == 2 } {
                row!(1);
                y += 1;
            }
        }
        if const { SPREAD == OWN } {
            for row in 0..RUN {
                add_sums::<V, PART>(acc[row], sums, row * RUN * p.pitch, p.pitch, left);
            }
        }
    }
}

/// Adds a sum of the results' gradient to what the bias has, if it is wanted.
#[inline(always)]
unsafe fn add_bias<V: GroupSimd, const PART: bool>(p: &LanewiseSums<V::T>, c: usize, all: V, left: usize) {
    if p.bias.is_null() {
        return;
    }
    let bias = p.bias.wrapping_add(c);
    // SAFETY: the contract of the file.
    unsafe {
        let all = all.add(load!(bias, left));
        if PART { all.store_first(bias, left) } else { all.store(bias) }
    }
}

/// Adds sums of a row of taps, `step` apart, to those in memory from `at` on.
#[inline(always)]
unsafe fn add_sums<V: GroupSimd, const PART: bool>(
    acc: [V; RUN],
    sums: *mut V::T,
    at: usize,
    step: usize,
    left: usize,
) {
    for (k, acc) in acc.iter().enumerate() {
        let sum = sums.wrapping_add(at + k * step);
        // SAFETY: the contract of the file.
        unsafe {
            let all = acc.add(load!(sum, left));
            if PART { all.store_first(sum, left) } else { all.store(sum) }
        }
    }
}
