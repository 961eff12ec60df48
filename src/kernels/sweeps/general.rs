//! Products of a general matrix with a vector: gemv, and gbmv where the band asks for nothing of its own.

use super::bands::*;
use super::*;

/// Columns of up to so many rows are all one caller's: y stays in registers.
pub const SHORT: usize = 64;
/// Bytes of y that stay in the first level of cache while the lines go by.
pub(super) const NEAR: usize = 16 << 10;

/// Adds rows from..to of alpha A x to y; A is a whole matrix or a band.
#[inline(always)]
pub unsafe fn mv<V: Elements>(alpha: V::T, a: &Lines<V::T>, x: *const V::T, y: *mut V::T, from: usize, to: usize) {
    // SAFETY: the contract of the file.
    unsafe {
        let conj = a.is_conj();
        match (a.axis(), a.is_whole()) {
            (Axis::Cols, true) if a.line_len() <= SHORT && a.line_len() <= 8 * V::LANES => {
                short_lines::<V>(alpha, a, x, y);
            }
            (Axis::Cols, true) => {
                let near = NEAR / size_of::<V::T>();
                let mut top = from;
                while top < to {
                    let bottom = if to - top > near { top + near } else { to };
                    if V::T::IS_COMPLEX {
                        by_groups!(j in 0, a.lines(); 4, 2, 1; |N| {
                            add_columns::<V, N>(alpha, a, j, x, y, top, bottom, conj);
                        });
                    } else {
                        by_groups!(j in 0, a.lines(); 8, 4, 2, 1; |N| {
                            add_columns::<V, N>(alpha, a, j, x, y, top, bottom, conj);
                        });
                    }
                    top = bottom;
                }
            }
            (Axis::Rows, true) => {
                if a.is_flat(LONGEST_FLAT) && V::add_flat(alpha, a.at(from), to - from, a.line_len(), x, y.add(from)) {
                    return;
                }
                if V::T::IS_COMPLEX {
                    by_groups!(j in from, to; 4; |N| {
                        dot_rows::<V, N>(alpha, a, j, x, y, conj);
                    });
                    one_by_one::<V>(alpha, a, x, y, to - (to - from) % 4, to);
                } else {
                    by_groups!(j in from, to; 8, 4; |N| {
                        dot_rows::<V, N>(alpha, a, j, x, y, conj);
                    });
                    one_by_one::<V>(alpha, a, x, y, to - (to - from) % 4, to);
                }
            }
            (Axis::Cols, false) => band_columns::<V>(alpha, a, x, y, from, to, Zeros::Count),
            (Axis::Rows, false) => band_dots::<V>(alpha, a, x, y, from, to),
        }
    }
}

#[inline(always)]
pub(super) unsafe fn add_columns<V: Elements, const G: usize>(
    alpha: V::T,
    a: &Lines<V::T>,
    j: usize,
    x: *const V::T,
    y: *mut V::T,
    from: usize,
    to: usize,
    conj: bool,
) {
    // SAFETY: the contract of the file.
    unsafe {
        let mut f = [V::T::ZERO; G];
        for (l, f) in f.iter_mut().enumerate() {
            *f = alpha * *x.add(j + l);
        }
        add_lines::<V, G, { rows::SAME }>(&Group::new(a, j, from, to), f, conj, y);
    }
}

#[inline(always)]
pub(super) unsafe fn dot_rows<V: Elements, const G: usize>(
    alpha: V::T,
    a: &Lines<V::T>,
    i: usize,
    x: *const V::T,
    y: *mut V::T,
    conj: bool,
) {
    // SAFETY: the contract of the file.
    unsafe {
        let sums = dot_lines::<V, G, { rows::SAME }>(&Group::new(a, i, 0, a.line_len()), conj, x);
        for (l, &sum) in sums.iter().enumerate() {
            *y.add(i + l) = alpha * sum + *y.add(i + l);
        }
    }
}

/// Rows from..to, each a product of its own.
#[inline(always)]
pub(super) unsafe fn one_by_one<V: Elements>(
    alpha: V::T,
    a: &Lines<V::T>,
    x: *const V::T,
    y: *mut V::T,
    from: usize,
    to: usize,
) {
    // SAFETY: the contract of the file.
    unsafe {
        for i in from..to {
            let (lo, hi) = a.range(i);
            let sum = lines::dot::<V>(hi - lo, a.at(i).wrapping_add(lo), a.is_conj(), x.add(lo));
            *y.add(i) = alpha * sum + *y.add(i);
        }
    }
}

/// Short lines, four vectors of rows at a time: y stays in registers, in several sums so that none waits for the one before.
#[inline(always)]
pub(super) unsafe fn short_lines<V: Elements>(alpha: V::T, a: &Lines<V::T>, x: *const V::T, y: *mut V::T) {
    // SAFETY: the contract of the file.
    unsafe {
        let mut top = 0;
        while top < a.line_len() {
            let left = a.line_len() - top;
            match (left.div_ceil(V::LANES), V::T::IS_COMPLEX) {
                (1, false) => short_lines_of::<V, 1, 4>(alpha, a, x, y, top),
                (2, false) => short_lines_of::<V, 2, 4>(alpha, a, x, y, top),
                (3, false) => short_lines_of::<V, 3, 2>(alpha, a, x, y, top),
                (_, false) => short_lines_of::<V, 4, 2>(alpha, a, x, y, top),
                (1, true) => short_lines_of::<V, 1, 4>(alpha, a, x, y, top),
                (2, true) => short_lines_of::<V, 2, 2>(alpha, a, x, y, top),
                (3, true) => short_lines_of::<V, 3, 1>(alpha, a, x, y, top),
                (_, true) => short_lines_of::<V, 4, 1>(alpha, a, x, y, top),
            }
            top += 4 * V::LANES;
        }
    }
}

/// N vectors high from row `top` on, S sums of each.
#[inline(always)]
pub(super) unsafe fn short_lines_of<V: Elements, const N: usize, const S: usize>(
    alpha: V::T,
    a: &Lines<V::T>,
    x: *const V::T,
    y: *mut V::T,
    top: usize,
) {
    // SAFETY: the contract of the file.
    unsafe {
        let y = y.add(top);
        let last = a.line_len() - top - (N - 1) * V::LANES;
        let last = if last < V::LANES { last } else { V::LANES };
        let mut old = [reload_upto::<V>(y.add((N - 1) * V::LANES), last); N];
        for (v, old) in old.iter_mut().enumerate().take(N - 1) {
            *old = V::load(y.add(v * V::LANES));
        }
        let mut sums = [[V::begin_zero(); N]; S];
        let mut j = 0;
        while j + S <= a.lines() {
            for (s, sums) in sums.iter_mut().enumerate() {
                short_line::<V, N>(a.at(j + s).wrapping_add(top), *x.add(j + s), last, sums);
            }
            j += S;
        }
        while j < a.lines() {
            short_line::<V, N>(a.at(j).wrapping_add(top), *x.add(j), last, &mut sums[0]);
            j += 1;
        }
        for v in 0..N {
            let mut sum = sums[0][v];
            for other in sums.iter().skip(1) {
                sum = V::join(sum, other[v]);
            }
            let new = add_scaled(old[v], alpha, sum, a.is_conj());
            store_upto(new, y.add(v * V::LANES), if v + 1 < N { V::LANES } else { last });
        }
    }
}

#[inline(always)]
pub(super) unsafe fn short_line<V: Elements, const N: usize>(
    line: *const V::T,
    f: V::T,
    last: usize,
    sums: &mut [V::Sum; N],
) {
    // SAFETY: the contract of the file.
    unsafe {
        let f = V::splat(f);
        for v in 0..N - 1 {
            sums[v] = V::add_line(sums[v], V::load(line.wrapping_add(v * V::LANES)), f);
        }
        let tail = V::load_range(line.wrapping_add((N - 1) * V::LANES), 0, last);
        sums[N - 1] = V::add_line(sums[N - 1], tail, f);
    }
}
