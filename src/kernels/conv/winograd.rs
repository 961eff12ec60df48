//! The transforms of Winograd's algorithm F(m x m', r x r') and its gradient F(r x r', m x m'), m results and r taps along
//! a side of a tile: Lavin and Gray, "Fast Algorithms for Convolutional Neural Networks", 2016.
//!
//! A side of m results and r taps has n = m + r - 1 interpolation points, the first n of infinity, 0, 1, -1, 2, -2: the points
//! of a smaller tile are among those of a larger one. So tiles at the end of an image have fewer points, not results that
//! nobody wants, and all tiles share the transformed weights: those are divided by what six points would ask for (4 for
//! 0, -6 for 1 and -1, 24 for 2 and -2), and the image's transform makes up for the difference. A side of one tap is not
//! transformed: its points are its elements.
//!
//! A tile is transformed along its columns, then along its rows, from memory to memory ([`lines`]). Point (y, x) of a tile is
//! `(y * width + x) * xi` elements behind the first; channels are rounded up to whole vectors, and what lies behind the
//! last is zero.
//!
//! Contract of all functions: that of `conv.rs`.

// Loops over a few registers by index: iterator chains hide from the compiler that they can be unrolled.
// The same holds for copies of slices, which may stay calls: 512 channels at 7x7, one image, 157 and 270 GFLOPS.
#![allow(clippy::needless_range_loop, clippy::manual_memcpy)]

use super::super::simd::RealSimd;
use super::{Finish, put};
use crate::scalar::Real;
use core::mem::MaybeUninit;

/// Results of a side of a tile, and points, at most.
pub const RESULTS: usize = 4;
pub const POINTS: usize = 6;
/// Taps along a side at most.
const TAPS: usize = 3;
/// Tiles side by side that are transformed in one call at most.
pub const TOGETHER: usize = 4;

/// A side of a tile: its results, at most [`RESULTS`], and the taps of the kernel along it, at most three.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Side {
    pub results: usize,
    pub taps: usize,
}

impl Side {
    /// A whole tile's.
    pub const fn whole(taps: usize) -> Side {
        Side { results: RESULTS, taps }
    }
    /// Points, and elements of the image that they are made of.
    pub const fn points(&self) -> usize {
        if self.results == 0 { 0 } else { self.results + self.taps - 1 }
    }
    /// Points that have weights of their own.
    pub const fn weights(&self) -> usize {
        if self.taps == 1 { 1 } else { self.points() }
    }
}

/// Columns of tiles that are transformed together.
const COLUMNS: usize = (TOGETHER - 1) * RESULTS + POINTS;

/// Vectors where a tile is between its two transforms.
struct Between<V, const N: usize>([MaybeUninit<V>; N]);

impl<V: RealSimd, const N: usize> Between<V, N> {
    #[inline(always)]
    fn new() -> Self {
        Between([const { MaybeUninit::uninit() }; N])
    }
    #[inline(always)]
    fn ptr(&mut self) -> *mut V::T {
        self.0.as_mut_ptr().cast()
    }
}

/// Lines of vectors in memory: element j of line i at `ptr + i*line + j*step`.
#[derive(Clone, Copy)]
struct Lines<T> {
    ptr: *mut T,
    line: isize,
    step: isize,
}

impl<T> Lines<T> {
    #[inline(always)]
    fn at(&self, i: usize, j: usize) -> *mut T {
        self.ptr.wrapping_offset(i as isize * self.line + j as isize * self.step)
    }
}

/// Transforms `count` lines of n vectors, `$d`, to lines of what the expression says. (A closure would be a function without
/// the instruction set's target feature.)
macro_rules! lines {
    ($count:expr, $src:expr, $dst:expr, |$d:ident: $n:tt| $result:expr) => {
        for i in 0..$count {
            let mut $d = [V::zero(); $n];
            for (j, d) in $d.iter_mut().enumerate() {
                *d = V::load($src.at(i, j));
            }
            let r = $result;
            for (j, r) in r.iter().enumerate() {
                r.store($dst.at(i, j));
            }
        }
    };
}

/// Lines of n vectors as they are.
#[inline(always)]
unsafe fn copies<V: RealSimd>(n: usize, count: usize, src: Lines<V::T>, dst: Lines<V::T>) {
    for i in 0..count {
        for j in 0..n {
            // SAFETY: the contract of the file.
            unsafe { V::load(src.at(i, j)).store(dst.at(i, j)) };
        }
    }
}

#[inline(always)]
unsafe fn number<V: RealSimd>(x: f64) -> V {
    // SAFETY: the contract of the file.
    unsafe { V::splat(V::T::from_f64(x)) }
}

/// The image's transform along `count` lines.
#[inline(always)]
unsafe fn to_points<V: RealSimd>(side: Side, count: usize, src: Lines<V::T>, dst: Lines<V::T>) {
    // SAFETY: the contract of the file.
    unsafe {
        let (two, three, four) = (number::<V>(2.0), number::<V>(3.0), number::<V>(4.0));
        match side.points() {
            n if side.taps == 1 => copies::<V>(n, count, src, dst),
            2 => lines!(count, src, dst, |d: 2| [d[1], d[0].mul(four)]),
            3 => lines!(count, src, dst, |d: 3| [d[2].sub(d[1]), d[0].sub(d[1]).mul(four), d[1].mul(number(-6.0))]),
            4 => lines!(count, src, dst, |d: 4| {
                let minus = number::<V>(-3.0);
                [d[3].sub(d[1]), d[0].sub(d[2]).mul(four), d[2].add(d[1]).mul(minus), d[2].sub(d[1]).mul(minus)]
            }),
            5 => lines!(count, src, dst, |d: 5| {
                let near = d[3].sub(d[1]);
                let far = d[3].sub(d[2]);
                [
                    near.neg_mul_add(two, d[4].sub(d[2])),
                    near.mul_add(two, d[0].sub(d[2]).mul(four)),
                    d[1].neg_mul_add(two, far).mul(three),
                    d[2].sub(d[1]).neg_mul_add(two, far),
                    near.mul(four),
                ]
            }),
            6 => lines!(count, src, dst, |d: 6| {
                let five = number::<V>(5.0);
                let even = d[2].neg_mul_add(four, d[4]);
                let odd = d[1].neg_mul_add(four, d[3]);
                let far = d[4].sub(d[2]);
                let near = d[3].sub(d[1]);
                [
                    d[3].neg_mul_add(five, d[1].mul_add(four, d[5])),
                    d[2].neg_mul_add(five, d[0].mul_add(four, d[4])),
                    even.add(odd),
                    even.sub(odd),
                    near.mul_add(two, far),
                    near.neg_mul_add(two, far),
                ]
            }),
            _ => {}
        }
    }
}

/// The values at N points of the polynomial with K coefficients, divided.
#[inline(always)]
unsafe fn values<V: RealSimd, const K: usize, const N: usize>(d: [V; K]) -> [V; N] {
    // SAFETY: the contract of the file.
    unsafe {
        let (quarter, sixth) = (number::<V>(0.25), number::<V>(-1.0 / 6.0));
        let power = [number::<V>(1.0 / 24.0), number(1.0 / 12.0), number(1.0 / 6.0), number(1.0 / 3.0)];
        let mut c = [V::zero(); RESULTS];
        for i in 0..K {
            c[i] = d[i];
        }
        let mut r = [V::zero(); N];
        r[0] = d[K - 1];
        r[1] = c[0].mul(quarter);
        let even = if K > 2 { c[0].add(c[2]) } else { c[0] };
        let odd = if K > 3 { c[1].add(c[3]) } else { c[1] };
        if N > 2 {
            r[2] = even.add(odd).mul(sixth);
        }
        if N > 3 {
            r[3] = even.sub(odd).mul(sixth);
        }
        let far = c[2].mul_add(power[2], c[0].mul(power[0]));
        let near = c[3].mul_add(power[3], c[1].mul(power[1]));
        if N > 4 {
            r[4] = far.add(near);
        }
        if N > 5 {
            r[5] = far.sub(near);
        }
        r
    }
}

/// [`values`] of `count` lines.
#[inline(always)]
unsafe fn value_lines<V: RealSimd, const K: usize, const N: usize>(count: usize, src: Lines<V::T>, dst: Lines<V::T>) {
    // SAFETY: the contract of the file.
    unsafe {
        lines!(count, src, dst, |d: K| values::<V, K, N>(d));
    }
}

/// [`values`] of k coefficients at n points; one that stays as it is if there is no other.
#[inline(always)]
unsafe fn to_values<V: RealSimd>(taps: usize, k: usize, n: usize, count: usize, src: Lines<V::T>, dst: Lines<V::T>) {
    // SAFETY: the contract of the file.
    unsafe {
        match (k, n) {
            _ if taps == 1 => copies::<V>(k, count, src, dst),
            (1, 2) => value_lines::<V, 1, 2>(count, src, dst),
            (1, 3) => value_lines::<V, 1, 3>(count, src, dst),
            (2, 3) => value_lines::<V, 2, 3>(count, src, dst),
            (2, 4) => value_lines::<V, 2, 4>(count, src, dst),
            (2, 5) => value_lines::<V, 2, 5>(count, src, dst),
            (3, 4) => value_lines::<V, 3, 4>(count, src, dst),
            (3, 5) => value_lines::<V, 3, 5>(count, src, dst),
            (3, 6) => value_lines::<V, 3, 6>(count, src, dst),
            (4, 5) => value_lines::<V, 4, 5>(count, src, dst),
            (4, 6) => value_lines::<V, 4, 6>(count, src, dst),
            _ => debug_assert!(k == 0, "no values of {k} coefficients at {n} points"),
        }
    }
}

/// M results of the products at N points.
#[inline(always)]
unsafe fn results<V: RealSimd, const N: usize, const M: usize>(count: usize, src: Lines<V::T>, dst: Lines<V::T>) {
    // SAFETY: the contract of the file.
    unsafe {
        let power = [number::<V>(1.0), number(2.0), number(4.0), number(8.0)];
        lines!(count, src, dst, |d: N| {
            let mut m = [V::zero(); POINTS];
            for i in 0..N {
                m[i] = d[i];
            }
            // Even and odd powers of 1 and -1, and of 2 and -2; those of one point are the same.
            let ones = if N > 3 { [m[2].add(m[3]), m[2].sub(m[3])] } else { [m[2]; 2] };
            let twos = if N > 5 { [m[4].add(m[5]), m[4].sub(m[5])] } else { [m[4]; 2] };
            let mut r = [V::zero(); M];
            for i in 0..M {
                r[i] = if N > 4 { twos[i % 2].mul_add(power[i], ones[i % 2]) } else { ones[i % 2] };
            }
            r[0] = r[0].add(m[1]);
            r[M - 1] = r[M - 1].add(m[0]);
            r
        });
    }
}

/// [`results`] by the numbers of points and results; one tap: as they are.
#[inline(always)]
unsafe fn to_results<V: RealSimd>(taps: usize, n: usize, m: usize, count: usize, src: Lines<V::T>, dst: Lines<V::T>) {
    // SAFETY: the contract of the file.
    unsafe {
        match (n, m) {
            _ if taps == 1 => copies::<V>(m, count, src, dst),
            (2, 1) => results::<V, 2, 1>(count, src, dst),
            (3, 1) => results::<V, 3, 1>(count, src, dst),
            (3, 2) => results::<V, 3, 2>(count, src, dst),
            (4, 2) => results::<V, 4, 2>(count, src, dst),
            (5, 2) => results::<V, 5, 2>(count, src, dst),
            (4, 3) => results::<V, 4, 3>(count, src, dst),
            (5, 3) => results::<V, 5, 3>(count, src, dst),
            (6, 3) => results::<V, 6, 3>(count, src, dst),
            (5, 4) => results::<V, 5, 4>(count, src, dst),
            (6, 4) => results::<V, 6, 4>(count, src, dst),
            _ => debug_assert!(m == 0, "no {m} results of {n} points"),
        }
    }
}

/// The image's transform of tiles side by side, at most [`TOGETHER`] of them, pixels `row` and `col` elements apart; tile t
/// goes to `dst + t*tile`. Columns that two tiles share are transformed once.
#[inline(always)]
pub unsafe fn wino_input<V: RealSimd>(
    channels: usize,
    tiles: usize,
    src: *const V::T,
    (row, col): (isize, isize),
    [high, wide]: [Side; 2],
    dst: *mut V::T,
    tile: usize,
    (width, xi): (usize, usize),
) {
    let mut between = Between::<V, { POINTS * COLUMNS }>::new();
    let step = V::LANES as isize;
    let t = Lines { ptr: between.ptr(), line: step, step: COLUMNS as isize * step };
    for c in (0..channels).step_by(V::LANES) {
        let columns = (tiles - 1) * RESULTS + wide.points();
        let from = Lines { ptr: src.wrapping_add(c).cast_mut(), line: col, step: row };
        // SAFETY: the contract of the file; there is room for all columns of the tiles.
        unsafe {
            to_points::<V>(high, columns, from, t);
            for i in 0..tiles {
                let lines = Lines { ptr: t.at(i * RESULTS, 0), line: t.step, step: t.line };
                let to = dst.wrapping_add(i * tile + c);
                let to = Lines { ptr: to, line: (width * xi) as isize, step: xi as isize };
                to_points::<V>(wide, high.points(), lines, to);
            }
        }
    }
}

/// A transformed tile of which results are made.
#[derive(Clone, Copy)]
pub struct Term<T> {
    pub src: *const T,
    pub sides: [Side; 2],
    pub width: usize,
}

/// The results of one tile, the sum of its terms, all of which have as many results.
#[inline(always)]
pub unsafe fn wino_output<V: RealSimd>(
    channels: usize,
    terms: &[Term<V::T>],
    xi: usize,
    dst: *mut V::T,
    (row, col): (isize, isize),
    finish: &Finish<V::T>,
) {
    const TILE: usize = RESULTS * RESULTS;
    let mut between = Between::<V, { RESULTS * POINTS }>::new();
    let mut sums = Between::<V, { 2 * TILE }>::new();
    let [rows, cols] = terms[0].sides.map(|s| s.results);
    let step = V::LANES as isize;
    let t = Lines { ptr: between.ptr(), line: step, step: POINTS as isize * step };
    let sum = Lines { ptr: sums.ptr(), line: RESULTS as isize * step, step };
    let next = Lines { ptr: sum.ptr.wrapping_add(TILE * V::LANES), ..sum };
    for c in (0..channels).step_by(V::LANES) {
        let n = V::LANES.min(channels - c);
        // SAFETY: the contract of the file.
        unsafe {
            let bias = if finish.bias.is_null() { finish.bias } else { finish.bias.add(c) };
            for (i, term) in terms.iter().enumerate() {
                let [high, wide] = term.sides;
                let from = term.src.wrapping_add(c).cast_mut();
                let from = Lines { ptr: from, line: xi as isize, step: (term.width * xi) as isize };
                to_results::<V>(high.taps, high.points(), rows, wide.points(), from, t);
                let lines = Lines { ptr: t.ptr, line: t.step, step: t.line };
                to_results::<V>(wide.taps, wide.points(), cols, rows, lines, if i == 0 { sum } else { next });
                for y in 0..if i == 0 { 0 } else { rows } {
                    for x in 0..cols {
                        V::load(sum.at(y, x)).add(V::load(next.at(y, x))).store(sum.at(y, x));
                    }
                }
            }
            for y in 0..rows {
                for x in 0..cols {
                    let to = dst.wrapping_offset(y as isize * row + x as isize * col).wrapping_add(c);
                    put(V::load(sum.at(y, x)), to, n, bias, finish);
                }
            }
        }
    }
}

/// The transform of n weights (whole vectors) of a whole tile: tap (y, x) at `src + y*row + x*col`.
#[inline(always)]
pub unsafe fn wino_weights<V: RealSimd>(
    n: usize,
    src: *const V::T,
    (row, col): (isize, isize),
    [high, wide]: [Side; 2],
    dst: *mut V::T,
    xi: usize,
) {
    let mut between = Between::<V, { 3 * POINTS }>::new();
    let step = V::LANES as isize;
    let t = Lines { ptr: between.ptr(), line: step, step: 3 * step };
    for i in (0..n).step_by(V::LANES) {
        let from = Lines { ptr: src.wrapping_add(i).cast_mut(), line: col, step: row };
        let to = Lines { ptr: dst.wrapping_add(i), line: (wide.weights() * xi) as isize, step: xi as isize };
        let lines = Lines { ptr: t.ptr, line: t.step, step: t.line };
        // SAFETY: the contract of the file.
        unsafe {
            if high.taps == TAPS && wide.taps == TAPS {
                // All of it in registers.
                let mut columns = [[V::zero(); POINTS]; TAPS];
                for x in 0..TAPS {
                    let d = [V::load(from.at(x, 0)), V::load(from.at(x, 1)), V::load(from.at(x, 2))];
                    columns[x] = values::<V, TAPS, POINTS>(d);
                }
                for y in 0..POINTS {
                    let r = values::<V, TAPS, POINTS>([columns[0][y], columns[1][y], columns[2][y]]);
                    for x in 0..POINTS {
                        r[x].store(to.at(y, x));
                    }
                }
                continue;
            }
            to_values::<V>(high.taps, high.taps, high.points(), wide.taps, from, t);
            to_values::<V>(wide.taps, wide.taps, wide.points(), high.weights(), lines, to);
        }
    }
}

/// The transform of one tile of the result's gradient, into panels of `mr` channels: vector i of channels is
/// at `dst + i/MV * step + i%MV * LANES`.
#[inline(always)]
pub unsafe fn wino_gradient<V: RealSimd, const MV: usize>(
    channels: usize,
    src: *const V::T,
    (row, col): (isize, isize),
    [high, wide]: [Side; 2],
    dst: *mut V::T,
    step: usize,
    (width, xi): (usize, usize),
) {
    let mut between = Between::<V, { RESULTS * POINTS }>::new();
    let vector = V::LANES as isize;
    let t = Lines { ptr: between.ptr(), line: vector, step: RESULTS as isize * vector };
    for i in 0..channels.div_ceil(V::LANES) {
        let from = Lines { ptr: src.wrapping_add(i * V::LANES).cast_mut(), line: col, step: row };
        let to = dst.wrapping_add(i / MV * step + i % MV * V::LANES);
        let to = Lines { ptr: to, line: (width * xi) as isize, step: xi as isize };
        let lines = Lines { ptr: t.ptr, line: t.step, step: t.line };
        // SAFETY: the contract of the file.
        unsafe {
            to_values::<V>(high.taps, high.results, high.points(), wide.results, from, t);
            to_values::<V>(wide.taps, wide.results, wide.points(), high.points(), lines, to);
        }
    }
}

/// The gradient of n weights (whole vectors) from its transform: tap (y, x) to `dst + y*row + x*col`.
#[inline(always)]
pub unsafe fn wino_weights_back<V: RealSimd>(
    n: usize,
    src: *const V::T,
    xi: usize,
    [high, wide]: [Side; 2],
    dst: *mut V::T,
    (row, col): (isize, isize),
) {
    let mut between = Between::<V, { 3 * POINTS }>::new();
    let step = V::LANES as isize;
    let t = Lines { ptr: between.ptr(), line: step, step: POINTS as isize * step };
    for i in (0..n).step_by(V::LANES) {
        let from = src.wrapping_add(i).cast_mut();
        let from = Lines { ptr: from, line: xi as isize, step: (wide.weights() * xi) as isize };
        let to = Lines { ptr: dst.wrapping_add(i), line: row, step: col };
        let lines = Lines { ptr: t.ptr, line: t.step, step: t.line };
        // SAFETY: the contract of the file.
        unsafe {
            to_results::<V>(high.taps, high.points(), high.taps, wide.weights(), from, t);
            to_results::<V>(wide.taps, wide.points(), wide.taps, high.taps, lines, to);
        }
    }
}
