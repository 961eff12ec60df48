//! Winograd F(4x4, 3x3) and its gradient F(3x3, 4x4): Lavin and Gray, "Fast Algorithms for Convolutional Neural Networks",
//! 2016. Interpolation points 0, 1, -1, 2, -2 and infinity for both, so the image's transform is the same. Elements of a
//! transformed tile are `xi` apart; channels are rounded up to whole vectors, and what lies behind the last is zero.
//!
//! Contract of all functions: that of `conv.rs`.

// Loops over a few registers by index: iterator chains hide from the compiler that they can be unrolled.
#![allow(clippy::needless_range_loop)]

use super::super::simd::RealSimd;
use super::{Finish, put};
use crate::scalar::Real;

/// A transform of N vectors to M along the columns of a tile, then along its rows: element (y, x) is loaded as the first
/// expression says, and stored as the second does. Rows from `rows` on are left out.
macro_rules! both_ways {
    ($transform:ident, $n:literal to $m:literal, $rows:expr, |$y:ident, $x:ident| $load:expr, |$v:ident| $store:expr) => {
        let mut t = [[V::zero(); $m]; $n];
        for ($x, column) in t.iter_mut().enumerate() {
            let mut d = [V::zero(); $n];
            for ($y, d) in d.iter_mut().enumerate() {
                *d = $load;
            }
            *column = $transform(d);
        }
        for $y in 0..$rows {
            let mut line = [V::zero(); $n];
            for x in 0..$n {
                line[x] = t[x][$y];
            }
            for ($x, &$v) in $transform(line).iter().enumerate() {
                $store
            }
        }
    };
}

/// B^T d along six vectors.
#[inline(always)]
unsafe fn input6<V: RealSimd>(d: [V; 6]) -> [V; 6] {
    // SAFETY: the contract of the file.
    unsafe {
        let (two, four, five) = (V::T::from_f64(2.0), V::T::from_f64(4.0), V::T::from_f64(5.0));
        let (two, four, five) = (V::splat(two), V::splat(four), V::splat(five));
        let even = d[2].neg_mul_add(four, d[4]);
        let odd = d[1].neg_mul_add(four, d[3]);
        let far = d[4].sub(d[2]);
        let near = d[3].sub(d[1]);
        [
            d[2].neg_mul_add(five, d[0].mul_add(four, d[4])),
            even.add(odd),
            even.sub(odd),
            near.mul_add(two, far),
            near.neg_mul_add(two, far),
            d[3].neg_mul_add(five, d[1].mul_add(four, d[5])),
        ]
    }
}

/// The image's transform of one tile of 6x6 pixels, `row` and `col` elements apart.
#[inline(always)]
pub unsafe fn wino_input<V: RealSimd>(
    channels: usize,
    src: *const V::T,
    row: isize,
    col: isize,
    dst: *mut V::T,
    xi: usize,
) {
    // SAFETY: the contract of the file.
    unsafe {
        let mut c = 0;
        while c < channels {
            let from = src.wrapping_add(c);
            both_ways!(
                input6, 6 to 6, 6,
                |y, x| V::load(from.wrapping_offset(x as isize * col + y as isize * row)),
                |v| v.store(dst.add((y * 6 + x) * xi + c))
            );
            c += V::LANES;
        }
    }
}

/// A^T m along six vectors, to four.
#[inline(always)]
unsafe fn output4<V: RealSimd>(m: [V; 6]) -> [V; 4] {
    // SAFETY: the contract of the file.
    unsafe {
        let (two, four, eight) = (V::T::from_f64(2.0), V::T::from_f64(4.0), V::T::from_f64(8.0));
        let (two, four, eight) = (V::splat(two), V::splat(four), V::splat(eight));
        let (s1, d1) = (m[1].add(m[2]), m[1].sub(m[2]));
        let (s2, d2) = (m[3].add(m[4]), m[3].sub(m[4]));
        [m[0].add(s1).add(s2), d2.mul_add(two, d1), s2.mul_add(four, s1), d2.mul_add(eight, d1).add(m[5])]
    }
}

/// The result's transform of one tile, of which `rows x cols` pixels exist.
#[inline(always)]
pub unsafe fn wino_output<V: RealSimd>(
    channels: usize,
    src: *const V::T,
    xi: usize,
    dst: *mut V::T,
    row: isize,
    col: isize,
    rows: usize,
    cols: usize,
    finish: &Finish<V::T>,
) {
    // SAFETY: the contract of the file.
    unsafe {
        let mut c = 0;
        while c < channels {
            let n = V::LANES.min(channels - c);
            let bias = if finish.bias.is_null() { finish.bias } else { finish.bias.add(c) };
            both_ways!(output4, 6 to 4, rows, |y, x| V::load(src.add((y * 6 + x) * xi + c)), |v| if x < cols {
                let to = dst.wrapping_offset(y as isize * row + x as isize * col).wrapping_add(c);
                put(v, to, n, bias, finish);
            });
            c += n;
        }
    }
}

/// G g along three vectors, to six.
#[inline(always)]
unsafe fn weights6<V: RealSimd>(g: [V; 3]) -> [V; 6] {
    // SAFETY: the contract of the file.
    unsafe {
        let quarter = V::splat(V::T::from_f64(0.25));
        let sixth = V::splat(V::T::from_f64(-1.0 / 6.0));
        let (a, b, c) = (V::T::from_f64(1.0 / 24.0), V::T::from_f64(1.0 / 12.0), V::T::from_f64(1.0 / 6.0));
        let (a, b, c) = (V::splat(a), V::splat(b), V::splat(c));
        let s = g[0].add(g[2]);
        let far = g[2].mul_add(c, g[0].mul(a));
        [
            g[0].mul(quarter),
            s.add(g[1]).mul(sixth),
            s.sub(g[1]).mul(sixth),
            g[1].mul_add(b, far),
            g[1].neg_mul_add(b, far),
            g[2],
        ]
    }
}

/// The weights' transform of n elements (whole vectors): tap t at `src + t*tap`.
#[inline(always)]
pub unsafe fn wino_weights<V: RealSimd>(n: usize, src: *const V::T, tap: isize, dst: *mut V::T, xi: usize) {
    // SAFETY: the contract of the file.
    unsafe {
        let mut i = 0;
        while i < n {
            both_ways!(
                weights6, 3 to 6, 6,
                |y, x| V::load(src.wrapping_offset((y * 3 + x) as isize * tap).wrapping_add(i)),
                |v| v.store(dst.add((y * 6 + x) * xi + i))
            );
            i += V::LANES;
        }
    }
}

/// The 6x4 matrix of F(3x3, 4x4) along four vectors.
#[inline(always)]
unsafe fn gradient6<V: RealSimd>(g: [V; 4]) -> [V; 6] {
    // SAFETY: the contract of the file.
    unsafe {
        let quarter = V::splat(V::T::from_f64(0.25));
        let sixth = V::splat(V::T::from_f64(-1.0 / 6.0));
        let (a, b) = (V::T::from_f64(1.0 / 24.0), V::T::from_f64(1.0 / 12.0));
        let (c, d) = (V::T::from_f64(1.0 / 6.0), V::T::from_f64(1.0 / 3.0));
        let (a, b, c, d) = (V::splat(a), V::splat(b), V::splat(c), V::splat(d));
        let (even, odd) = (g[0].add(g[2]), g[1].add(g[3]));
        let (far, near) = (g[2].mul_add(c, g[0].mul(a)), g[3].mul_add(d, g[1].mul(b)));
        [g[0].mul(quarter), even.add(odd).mul(sixth), even.sub(odd).mul(sixth), far.add(near), far.sub(near), g[3]]
    }
}

/// The transform of one 4x4 tile of the result's gradient, into panels of `mr` channels: vector i of channels is
/// at `dst + i/MV * step + i%MV * LANES`.
#[inline(always)]
pub unsafe fn wino_gradient<V: RealSimd, const MV: usize>(
    channels: usize,
    src: *const V::T,
    row: isize,
    col: isize,
    dst: *mut V::T,
    step: usize,
    xi: usize,
) {
    // SAFETY: the contract of the file.
    unsafe {
        let mut i = 0;
        while i * V::LANES < channels {
            let (from, to) = (src.wrapping_add(i * V::LANES), dst.add(i / MV * step + i % MV * V::LANES));
            both_ways!(
                gradient6, 4 to 6, 6,
                |y, x| V::load(from.wrapping_offset(x as isize * col + y as isize * row)),
                |v| v.store(to.add((y * 6 + x) * xi))
            );
            i += 1;
        }
    }
}

/// The 3x6 matrix of F(3x3, 4x4) along six vectors.
#[inline(always)]
unsafe fn weights3<V: RealSimd>(m: [V; 6]) -> [V; 3] {
    // SAFETY: the contract of the file.
    unsafe {
        let (two, four) = (V::splat(V::T::from_f64(2.0)), V::splat(V::T::from_f64(4.0)));
        let (s1, d1) = (m[1].add(m[2]), m[1].sub(m[2]));
        let (s2, d2) = (m[3].add(m[4]), m[3].sub(m[4]));
        [m[0].add(s1).add(s2), d2.mul_add(two, d1), s2.mul_add(four, s1).add(m[5])]
    }
}

/// The weights' gradient from its transform, n elements (whole vectors): tap t to `dst + t*tap`.
#[inline(always)]
pub unsafe fn wino_weights_back<V: RealSimd>(n: usize, src: *const V::T, xi: usize, dst: *mut V::T, tap: usize) {
    // SAFETY: the contract of the file.
    unsafe {
        let mut i = 0;
        while i < n {
            both_ways!(
                weights3, 6 to 3, 3,
                |y, x| V::load(src.add((y * 6 + x) * xi + i)),
                |v| v.store(dst.add((y * 3 + x) * tap + i))
            );
            i += V::LANES;
        }
    }
}
