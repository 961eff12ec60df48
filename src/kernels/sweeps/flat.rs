//! Rows of a few real elements, one behind the other: what NumPy makes of a table of many rows and few columns, times a vector.
//!
//! A row alone fills little of a register, and adding it up takes longer than multiplying it. Here registers are loaded as the elements lie
//! in memory, whole ones, and shuffled until each holds a column; the product is then a sum of columns, whose lanes are elements of y.
//! (Zen 5, sgemv T, as dot products and so: 2 x 300 6.1 and 48 GFLOPS.)

use super::*;
use crate::kernels::simd::{MOST_COLUMNS, RealSimd};

/// The longest rows.
pub const LONGEST: usize = MOST_COLUMNS;

/// Adds alpha A x to y, A of so many rows of `len` elements; says whether it did.
#[inline(always)]
pub unsafe fn add<V: RealSimd>(
    alpha: V::T,
    a: *const V::T,
    rows: usize,
    len: usize,
    x: *const V::T,
    y: *mut V::T,
) -> bool {
    // SAFETY: the contract of the file.
    unsafe {
        match len {
            1 => add_rows::<V, 1>(alpha, a, rows, x, y),
            2 => add_rows::<V, 2>(alpha, a, rows, x, y),
            3 => add_rows::<V, 3>(alpha, a, rows, x, y),
            4 => add_rows::<V, 4>(alpha, a, rows, x, y),
            5 => add_rows::<V, 5>(alpha, a, rows, x, y),
            6 => add_rows::<V, 6>(alpha, a, rows, x, y),
            7 => add_rows::<V, 7>(alpha, a, rows, x, y),
            8 => add_rows::<V, 8>(alpha, a, rows, x, y),
            _ => return false,
        }
        true
    }
}

#[inline(always)]
unsafe fn add_rows<V: RealSimd, const L: usize>(
    alpha: V::T,
    a: *const V::T,
    rows: usize,
    x: *const V::T,
    y: *mut V::T,
) {
    // SAFETY: the contract of the file.
    unsafe {
        let (mut f, alpha) = ([V::zero(); LONGEST], V::splat(alpha));
        unrolled!(L, |c| {
            f[c % LONGEST] = V::splat(*x.add(c));
        });
        macro_rules! vector {
            (|$r:ident| $load:expr) => {{
                let mut v = [V::zero(); LONGEST];
                unrolled!(L, |$r| {
                    v[$r % LONGEST] = $load;
                });
                let columns = columns::<V, L>(v);
                let mut sum = columns[0].mul(f[0]);
                unrolled!(L, |c| {
                    if c > 0 {
                        sum = columns[c % LONGEST].mul_add(f[c % LONGEST], sum);
                    }
                });
                sum
            }};
        }
        let mut i = 0;
        while i + V::LANES <= rows {
            let from = a.add(i * L);
            let sum = vector!(|r| V::load(from.add(r * V::LANES)));
            sum.mul_add(alpha, V::load(y.add(i))).store(y.add(i));
            i += V::LANES;
        }
        if i < rows {
            let (from, left) = (a.add(i * L), (rows - i) * L);
            let sum = vector!(|r| {
                let end = left.saturating_sub(r * V::LANES);
                V::load_range(from.wrapping_add(r * V::LANES), 0, if end < V::LANES { end } else { V::LANES })
            });
            let old = V::reload_first(y.add(i), rows - i);
            sum.mul_add(alpha, old).store_first(y.add(i), rows - i);
        }
    }
}

/// The columns of rows of L elements in L registers.
#[inline(always)]
unsafe fn columns<V: RealSimd, const L: usize>(v: [V; LONGEST]) -> [V; LONGEST] {
    // SAFETY: the contract of the file.
    unsafe {
        let none = V::zero();
        // Rows of an even number are rows of half as many pairs: the first of each pair, and the second.
        macro_rules! pairs {
            ($a:expr, $b:expr) => {{
                let [first, second, ..] = V::columns::<2>([$a, $b, none, none, none, none, none, none]);
                (first, second)
            }};
        }
        macro_rules! threes {
            ($a:expr, $b:expr, $c:expr) => {{
                let [a, b, c, ..] = V::columns::<3>([$a, $b, $c, none, none, none, none, none]);
                (a, b, c)
            }};
        }
        match L {
            4 => {
                let ((e, f), (g, h)) = (pairs!(v[0], v[1]), pairs!(v[2], v[3]));
                let ((a, c), (b, d)) = (pairs!(e, g), pairs!(f, h));
                [a, b, c, d, none, none, none, none]
            }
            6 => {
                let ((g, h), (i, j), (k, l)) = (pairs!(v[0], v[1]), pairs!(v[2], v[3]), pairs!(v[4], v[5]));
                let ((a, c, e), (b, d, f)) = (threes!(g, i, k), threes!(h, j, l));
                [a, b, c, d, e, f, none, none]
            }
            8 => {
                let ((i, j), (k, l)) = (pairs!(v[0], v[1]), pairs!(v[2], v[3]));
                let ((m, n), (o, p)) = (pairs!(v[4], v[5]), pairs!(v[6], v[7]));
                let (((q, s), (r, t)), ((u, w), (x, z))) = ((pairs!(i, k), pairs!(j, l)), (pairs!(m, o), pairs!(n, p)));
                let ((a, e), (b, f)) = (pairs!(q, u), pairs!(r, x));
                let ((c, g), (d, h)) = (pairs!(s, w), pairs!(t, z));
                [a, b, c, d, e, f, g, h]
            }
            1 => v,
            _ => V::columns::<L>(v),
        }
    }
}
