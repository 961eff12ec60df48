//! The kernels of level 2, once for all instruction sets and types: each takes the whole matrix, as [`Lines`].
//!
//! Three loops on a few lines at once do the work: lines times factors added to a vector (`add_lines`), lines times a
//! vector (`dot_lines`), both in one pass (`add_dot_lines`). The lines of a triangle or a band do not begin and end
//! together: rows that all of them have are whole vectors, the corners are vectors with a range of lanes for each line.
//! Outside its range a line is not read and its factor is zero, so that neither NaN nor infinity comes in from there.
//!
//! Vectors are at consecutive addresses. The order in which an element's terms are added depends on the shape of the
//! matrix alone. Contract as in `tile.rs`; matrix and vectors do not overlap.

use super::elements::Elements;
use super::lines;
use crate::matrix::{Axis, Diag, Lines};
use crate::scalar::Scalar;

/// Lines of a matrix: where the element 0 of each is, and which rows of each count. Neither bound ever falls from one
/// line to the next.
struct Group<T, const G: usize> {
    at: [*const T; G],
    lo: [usize; G],
    hi: [usize; G],
}

impl<T: Scalar, const G: usize> Group<T, G> {
    /// Lines j..j+G, all of them with the rows from..to.
    #[inline(always)]
    fn uniform(a: &Lines<T>, j: usize, from: usize, to: usize) -> Self {
        let mut at = [a.at(j); G];
        for (l, p) in at.iter_mut().enumerate() {
            *p = a.at(j + l);
        }
        Group { at, lo: [from; G], hi: [to; G] }
    }
    /// Lines j..j+G of a triangle, with what they have of the rows from..to, less their diagonal if it is left out.
    #[inline(always)]
    fn triangle(a: &Lines<T>, j: usize, from: usize, to: usize, strict: bool) -> Self {
        let mut group = Self::uniform(a, j, from, to);
        for l in 0..G {
            let (mut lo, mut hi) = a.range(j + l);
            if strict && a.is_head() {
                hi -= 1;
            } else if strict {
                lo += 1;
            }
            group.lo[l] = if lo < from { from } else if lo < to { lo } else { to };
            group.hi[l] = if hi < group.lo[l] { group.lo[l] } else if hi < to { hi } else { to };
        }
        group
    }
    /// The lanes of the vector at row i that line l has.
    #[inline(always)]
    fn lanes<V: Elements>(&self, l: usize, i: usize) -> (usize, usize) {
        let (from, to) = (self.lo[l].saturating_sub(i), self.hi[l].saturating_sub(i));
        (if from < V::LANES { from } else { V::LANES }, if to < V::LANES { to } else { V::LANES })
    }
}

/// The first c <= LANES elements.
#[inline(always)]
unsafe fn load_upto<V: Elements>(p: *const V::T, c: usize) -> V {
    // SAFETY: the contract of the file.
    unsafe { if c == V::LANES { V::load(p) } else { V::load_first(p, c) } }
}
#[inline(always)]
unsafe fn store_upto<V: Elements>(v: V, p: *mut V::T, c: usize) {
    // SAFETY: the contract of the file.
    unsafe { if c == V::LANES { v.store(p) } else { v.store_first(p, c) } }
}

/// y := f[0] line 0 + … + y on the rows of the group; lines conjugated if asked. `UNIFORM`: all have the same rows.
#[inline(always)]
unsafe fn add_lines<V: Elements, const G: usize, const UNIFORM: bool>(
    g: &Group<V::T, G>,
    f: [V::T; G],
    conj: bool,
    y: *mut V::T,
) {
    // SAFETY: the contract of the file.
    unsafe {
        let mut s = [V::splat(f[0]); G];
        for l in 1..G {
            s[l] = V::splat(f[l]);
        }
        let (inner, outer, end) = (g.lo[G - 1], g.hi[0], g.hi[G - 1]);
        let mut i = g.lo[0];
        loop {
            if UNIFORM || i >= inner {
                while i + V::LANES <= outer {
                    let old = V::load(y.add(i));
                    let mut sum = V::begin(old);
                    for l in 0..G {
                        sum = V::add_line(sum, V::load(g.at[l].wrapping_add(i)), s[l]);
                    }
                    V::finish(sum, old, conj).store(y.add(i));
                    i += V::LANES;
                }
            }
            if i >= end {
                break;
            }
            let c = if end - i < V::LANES { end - i } else { V::LANES };
            let old = load_upto::<V>(y.add(i), c);
            let mut sum = V::begin(old);
            for l in 0..G {
                let p = g.at[l].wrapping_add(i);
                if UNIFORM {
                    sum = V::add_line(sum, V::load_first(p, c), s[l]);
                } else {
                    let (from, to) = g.lanes::<V>(l, i);
                    sum = V::add_line(sum, V::load_range(p, from, to), V::splat_range(s[l], from, to));
                }
            }
            store_upto(V::finish(sum, old, conj), y.add(i), c);
            i += V::LANES;
        }
    }
}

/// Each line of the group times x.
#[inline(always)]
unsafe fn dot_lines<V: Elements, const G: usize, const UNIFORM: bool>(
    g: &Group<V::T, G>,
    conj: bool,
    x: *const V::T,
) -> [V::T; G] {
    // SAFETY: the contract of the file.
    unsafe {
        let mut dots = [V::dot_zero(); G];
        let (inner, outer, end) = (g.lo[G - 1], g.hi[0], g.hi[G - 1]);
        let mut i = g.lo[0];
        loop {
            if UNIFORM || i >= inner {
                while i + V::LANES <= outer {
                    let xv = V::load(x.add(i)).turned();
                    for l in 0..G {
                        dots[l] = V::dot_step(dots[l], V::load(g.at[l].wrapping_add(i)), xv);
                    }
                    i += V::LANES;
                }
            }
            if i >= end {
                break;
            }
            let c = if end - i < V::LANES { end - i } else { V::LANES };
            let xv = load_upto::<V>(x.add(i), c);
            for l in 0..G {
                let p = g.at[l].wrapping_add(i);
                if UNIFORM {
                    dots[l] = V::dot_step(dots[l], V::load_first(p, c), xv.turned());
                } else {
                    let (from, to) = g.lanes::<V>(l, i);
                    dots[l] = V::dot_step(dots[l], V::load_range(p, from, to), xv.keep(from, to).turned());
                }
            }
            i += V::LANES;
        }
        totals::<V, G>(dots, conj)
    }
}

#[inline(always)]
unsafe fn totals<V: Elements, const G: usize>(dots: [V::Dot; G], conj: bool) -> [V::T; G] {
    // SAFETY: the contract of the file.
    unsafe {
        let mut out = [V::T::ZERO; G];
        let mut l = 0;
        while l + 4 <= G {
            let four = V::dot_totals([dots[l], dots[l + 1], dots[l + 2], dots[l + 3]], conj);
            out[l] = four[0];
            out[l + 1] = four[1];
            out[l + 2] = four[2];
            out[l + 3] = four[3];
            l += 4;
        }
        while l < G {
            out[l] = V::dot_total(dots[l], conj);
            l += 1;
        }
        out
    }
}

/// Both at once: y := f[0] line 0 + … + y, and each line times x.
#[inline(always)]
unsafe fn add_dot_lines<V: Elements, const G: usize>(
    g: &Group<V::T, G>,
    f: [V::T; G],
    conj_add: bool,
    y: *mut V::T,
    conj_dot: bool,
    x: *const V::T,
) -> [V::T; G] {
    // SAFETY: the contract of the file.
    unsafe {
        let mut s = [V::splat(f[0]); G];
        for l in 1..G {
            s[l] = V::splat(f[l]);
        }
        let mut dots = [V::dot_zero(); G];
        let (inner, outer, end) = (g.lo[G - 1], g.hi[0], g.hi[G - 1]);
        let mut i = g.lo[0];
        loop {
            if i >= inner {
                while i + V::LANES <= outer {
                    let (old, xv) = (V::load(y.add(i)), V::load(x.add(i)).turned());
                    let mut sum = V::begin(old);
                    for l in 0..G {
                        let line = V::load(g.at[l].wrapping_add(i));
                        sum = V::add_line(sum, line, s[l]);
                        dots[l] = V::dot_step(dots[l], line, xv);
                    }
                    V::finish(sum, old, conj_add).store(y.add(i));
                    i += V::LANES;
                }
            }
            if i >= end {
                break;
            }
            let c = if end - i < V::LANES { end - i } else { V::LANES };
            let (old, xv) = (load_upto::<V>(y.add(i), c), load_upto::<V>(x.add(i), c));
            let mut sum = V::begin(old);
            for l in 0..G {
                let (from, to) = g.lanes::<V>(l, i);
                let line = V::load_range(g.at[l].wrapping_add(i), from, to);
                sum = V::add_line(sum, line, V::splat_range(s[l], from, to));
                dots[l] = V::dot_step(dots[l], line, xv.keep(from, to).turned());
            }
            store_upto(V::finish(sum, old, conj_add), y.add(i), c);
            i += V::LANES;
        }
        totals::<V, G>(dots, conj_dot)
    }
}

/// Calls the body for `$lines` lines: groups of `$G`, then of `$H`, then one by one.
macro_rules! by_groups {
    ($j:ident in $from:expr, $to:expr; $($G:literal),+; |$N:ident| $body:block) => {{
        let mut $j = $from;
        let to = $to;
        $(
            while $j + $G <= to {
                const $N: usize = $G;
                $body
                $j += $G;
            }
        )+
    }};
}

/// Bytes of y that stay in the first level of cache while the lines go by.
const NEAR: usize = 16 << 10;

/// Adds rows from..to of alpha A x to y; A is a whole matrix or a band.
#[inline(always)]
pub unsafe fn mv<V: Elements>(alpha: V::T, a: &Lines<V::T>, x: *const V::T, y: *mut V::T, from: usize, to: usize) {
    // SAFETY: the contract of the file.
    unsafe {
        let conj = a.is_conj();
        match (a.axis(), a.is_whole()) {
            (Axis::Cols, true) if a.line_len() <= 4 * V::LANES => short_lines::<V>(alpha, a, x, y),
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
                        by_groups!(j in 0, a.lines(); 8, 4, 1; |N| {
                            add_columns::<V, N>(alpha, a, j, x, y, top, bottom, conj);
                        });
                    }
                    top = bottom;
                }
            }
            (Axis::Rows, true) => {
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
            (Axis::Rows, false) => one_by_one::<V>(alpha, a, x, y, from, to),
        }
    }
}

#[inline(always)]
unsafe fn add_columns<V: Elements, const G: usize>(
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
        add_lines::<V, G, true>(&Group::uniform(a, j, from, to), f, conj, y);
    }
}

#[inline(always)]
unsafe fn dot_rows<V: Elements, const G: usize>(
    alpha: V::T,
    a: &Lines<V::T>,
    i: usize,
    x: *const V::T,
    y: *mut V::T,
    conj: bool,
) {
    // SAFETY: the contract of the file.
    unsafe {
        let sums = dot_lines::<V, G, true>(&Group::uniform(a, i, 0, a.line_len()), conj, x);
        for (l, &sum) in sums.iter().enumerate() {
            *y.add(i + l) = alpha * sum + *y.add(i + l);
        }
    }
}

/// Rows from..to, each a product of its own.
#[inline(always)]
unsafe fn one_by_one<V: Elements>(alpha: V::T, a: &Lines<V::T>, x: *const V::T, y: *mut V::T, from: usize, to: usize) {
    // SAFETY: the contract of the file.
    unsafe {
        for i in from..to {
            let (lo, hi) = a.range(i);
            let sum = lines::dot::<V>(hi - lo, a.at(i).wrapping_add(lo), a.is_conj(), x.add(lo));
            *y.add(i) = alpha * sum + *y.add(i);
        }
    }
}

/// Lines of at most four vectors: y stays in registers, in several sums so that none waits for the one before.
#[inline(always)]
unsafe fn short_lines<V: Elements>(alpha: V::T, a: &Lines<V::T>, x: *const V::T, y: *mut V::T) {
    // SAFETY: the contract of the file.
    unsafe {
        match (a.line_len().div_ceil(V::LANES), V::T::IS_COMPLEX) {
            (0, _) => {}
            (1, false) => short_lines_of::<V, 1, 4>(alpha, a, x, y),
            (2, false) => short_lines_of::<V, 2, 4>(alpha, a, x, y),
            (3, false) => short_lines_of::<V, 3, 2>(alpha, a, x, y),
            (_, false) => short_lines_of::<V, 4, 2>(alpha, a, x, y),
            (1, true) => short_lines_of::<V, 1, 4>(alpha, a, x, y),
            (2, true) => short_lines_of::<V, 2, 2>(alpha, a, x, y),
            (3, true) => short_lines_of::<V, 3, 1>(alpha, a, x, y),
            (_, true) => short_lines_of::<V, 4, 1>(alpha, a, x, y),
        }
    }
}

/// N vectors high, S sums of each.
#[inline(always)]
unsafe fn short_lines_of<V: Elements, const N: usize, const S: usize>(
    alpha: V::T,
    a: &Lines<V::T>,
    x: *const V::T,
    y: *mut V::T,
) {
    // SAFETY: the contract of the file.
    unsafe {
        let last = a.line_len() - (N - 1) * V::LANES;
        let mut old = [load_upto::<V>(y.add((N - 1) * V::LANES), last); N];
        for (v, old) in old.iter_mut().enumerate().take(N - 1) {
            *old = V::load(y.add(v * V::LANES));
        }
        let mut sums = [[V::begin_zero(); N]; S];
        for v in 0..N {
            sums[0][v] = V::begin(old[v]);
        }
        let mut j = 0;
        while j + S <= a.lines() {
            for (s, sums) in sums.iter_mut().enumerate() {
                short_line::<V, N>(a.at(j + s), alpha * *x.add(j + s), last, sums);
            }
            j += S;
        }
        while j < a.lines() {
            short_line::<V, N>(a.at(j), alpha * *x.add(j), last, &mut sums[0]);
            j += 1;
        }
        for v in 0..N {
            let mut sum = sums[0][v];
            for other in sums.iter().skip(1) {
                sum = V::join(sum, other[v]);
            }
            let new = V::finish(sum, old[v], a.is_conj());
            store_upto(new, y.add(v * V::LANES), if v + 1 < N { V::LANES } else { last });
        }
    }
}

#[inline(always)]
unsafe fn short_line<V: Elements, const N: usize>(line: *const V::T, f: V::T, last: usize, sums: &mut [V::Sum; N]) {
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

/// Whether a line whose factor is zero is added all the same (a NaN in it counts), or skipped.
#[derive(Clone, Copy, PartialEq)]
enum Zeros {
    Count,
    Skip,
}

/// Adds rows from..to of alpha A x to y; A is a band whose lines are columns. A vector of rows at a time, which stays in a
/// register while the columns that cross these rows go by: y is not handed from column to column through memory.
#[inline(always)]
unsafe fn band_columns<V: Elements>(
    alpha: V::T,
    a: &Lines<V::T>,
    x: *const V::T,
    y: *mut V::T,
    from: usize,
    to: usize,
    zeros: Zeros,
) {
    // SAFETY: the contract of the file.
    unsafe {
        let mut i = from;
        while i < to {
            let c = if to - i < V::LANES { to - i } else { V::LANES };
            let old = load_upto::<V>(y.add(i), c);
            let sum = band_rows::<V>(V::begin(old), alpha, a, x, i, c, zeros);
            store_upto(V::finish(sum, old, a.is_conj()), y.add(i), c);
            i += V::LANES;
        }
    }
}

/// Adds c <= LANES rows from i on of alpha A x to a sum. Columns that have only some of the rows come first and last.
#[inline(always)]
unsafe fn band_rows<V: Elements>(
    sum: V::Sum,
    alpha: V::T,
    a: &Lines<V::T>,
    x: *const V::T,
    i: usize,
    c: usize,
    zeros: Zeros,
) -> V::Sum {
    // SAFETY: the contract of the file.
    unsafe {
        let (before, after) = a.reach();
        let (row, lanes, c) = (i as isize, V::LANES as isize, c as isize);
        // Column j has the rows j-before ..= j+after: the columns that have one of these rows, all of them, and none.
        let lines = a.lines() as isize;
        let mut j = if row > after { row - after } else { 0 };
        let first = if c == lanes { row + lanes - 1 - after } else { lines };
        let whole = if row.saturating_add(before) < lines { row.saturating_add(before) + 1 } else { lines };
        let end = if (row + c).saturating_add(before) < lines { row + c + before } else { lines };
        let mut sum = sum;
        while j < end {
            if j >= first {
                while j < whole {
                    let f = *x.offset(j);
                    if zeros == Zeros::Count || f != V::T::ZERO {
                        sum = V::add_line(sum, V::load(a.at(j as usize).wrapping_add(i)), V::splat(alpha * f));
                    }
                    j += 1;
                }
                if j >= end {
                    break;
                }
            }
            let f = *x.offset(j);
            if zeros == Zeros::Count || f != V::T::ZERO {
                let lo = if j - before > row { j - before - row } else { 0 };
                let hi = if j + after + 1 - row < c { j + after + 1 - row } else { c };
                let (lo, hi) = (lo as usize, hi as usize);
                let f = V::splat_range(V::splat(alpha * f), lo, hi);
                sum = V::add_line(sum, V::load_range(a.at(j as usize).wrapping_add(i), lo, hi), f);
            }
            j += 1;
        }
        sum
    }
}

/// Adds alpha A x to y, A symmetric or Hermitian with one triangle stored.
#[inline(always)]
pub unsafe fn sym_mv<V: Elements>(alpha: V::T, a: &Lines<V::T>, hermitian: bool, x: *const V::T, y: *mut V::T) {
    // SAFETY: the contract of the file.
    unsafe {
        if a.is_banded() {
            return sym_band_mv::<V>(alpha, a, hermitian, x, y);
        }
        if V::T::IS_COMPLEX {
            by_groups!(j in 0, a.lines(); 2, 1; |N| { sym_group::<V, N>(alpha, a, hermitian, j, x, y); });
        } else {
            by_groups!(j in 0, a.lines(); 4, 1; |N| { sym_group::<V, N>(alpha, a, hermitian, j, x, y); });
        }
    }
}

/// Stored columns act on y as they are and on y(j) conjugated if Hermitian; stored rows the other way round.
#[inline(always)]
fn sym_conj<T: Scalar>(a: &Lines<T>, hermitian: bool) -> (bool, bool) {
    (hermitian && a.axis() == Axis::Rows, hermitian && a.axis() == Axis::Cols)
}

/// What element (j, j) counts as.
#[inline(always)]
unsafe fn diagonal<T: Scalar>(a: &Lines<T>, j: usize, hermitian: bool) -> T {
    // SAFETY: a triangle stores its diagonal.
    let d = unsafe { *a.at(j).wrapping_add(j) };
    if hermitian { T::from_real(d.re()) } else { d }
}

#[inline(always)]
unsafe fn sym_group<V: Elements, const G: usize>(
    alpha: V::T,
    a: &Lines<V::T>,
    hermitian: bool,
    j: usize,
    x: *const V::T,
    y: *mut V::T,
) {
    // SAFETY: the contract of the file.
    unsafe {
        let (conj_add, conj_dot) = sym_conj(a, hermitian);
        let mut f = [V::T::ZERO; G];
        for (l, f) in f.iter_mut().enumerate() {
            *f = alpha * *x.add(j + l);
        }
        let group = Group::triangle(a, j, 0, a.lines(), true);
        let sums = add_dot_lines::<V, G>(&group, f, conj_add, y, conj_dot, x);
        for l in 0..G {
            let p = y.add(j + l);
            *p = *p + (f[l] * diagonal(a, j + l, hermitian) + alpha * sums[l]);
        }
    }
}

/// A band: its triangle as columns, then as rows, a few rows at a time so that the second finds it in cache.
#[inline(always)]
unsafe fn sym_band_mv<V: Elements>(alpha: V::T, a: &Lines<V::T>, hermitian: bool, x: *const V::T, y: *mut V::T) {
    // SAFETY: the contract of the file.
    unsafe {
        const ROWS: usize = 64;
        let n = a.lines();
        let (conj_add, conj_dot) = sym_conj(a, hermitian);
        let strict = a.strict();
        let (columns, rows) = (strict.with_conj(conj_add), strict.with_conj(conj_dot));
        let mut from = 0;
        while from < n {
            let to = if n - from > ROWS { from + ROWS } else { n };
            band_columns::<V>(alpha, &columns, x, y, from, to, Zeros::Count);
            one_by_one::<V>(alpha, &rows, x, y, from, to);
            for j in from..to {
                *y.add(j) = alpha * *x.add(j) * diagonal(a, j, hermitian) + *y.add(j);
            }
            from = to;
        }
    }
}

/// x := A x, A triangular: lines in the order in which each needs only elements of x that are still what they were.
#[inline(always)]
pub unsafe fn tri_mv<V: Elements>(a: &Lines<V::T>, diag: Diag, x: *mut V::T) {
    // SAFETY: the contract of the file.
    unsafe {
        let n = a.lines();
        let upwards = a.is_head() == (a.axis() == Axis::Cols);
        if a.is_banded() {
            return match a.axis() {
                Axis::Cols => tri_band_mv::<V>(a, diag, x, upwards),
                Axis::Rows => {
                    for step in 0..n {
                        tri_group::<V, 1>(a, diag, if upwards { step } else { n - 1 - step }, x);
                    }
                }
            };
        }
        let mut done = 0;
        while done + 4 <= n {
            tri_group::<V, 4>(a, diag, if upwards { done } else { n - done - 4 }, x);
            done += 4;
        }
        while done < n {
            tri_group::<V, 1>(a, diag, if upwards { done } else { n - done - 1 }, x);
            done += 1;
        }
    }
}

#[inline(always)]
unsafe fn tri_group<V: Elements, const G: usize>(a: &Lines<V::T>, diag: Diag, j: usize, x: *mut V::T) {
    // SAFETY: the contract of the file.
    unsafe {
        let unit = diag == Diag::Unit;
        let group = Group::<V::T, G>::triangle(a, j, 0, a.line_len(), unit);
        match a.axis() {
            Axis::Cols => {
                let mut f = [V::T::ZERO; G];
                let mut zeros = false;
                for (l, f) in f.iter_mut().enumerate() {
                    *f = *x.add(j + l);
                    zeros |= *f == V::T::ZERO;
                }
                if !unit {
                    for l in 0..G {
                        *x.add(j + l) = V::T::ZERO;
                    }
                }
                if !zeros {
                    return add_lines::<V, G, false>(&group, f, a.is_conj(), x);
                }
                // A zero in x skips the column, NaN in it or not, as in Reference BLAS.
                for l in 0..G {
                    if f[l] != V::T::ZERO {
                        let one = Group { at: [group.at[l]], lo: [group.lo[l]], hi: [group.hi[l]] };
                        add_lines::<V, 1, true>(&one, [f[l]], a.is_conj(), x);
                    }
                }
            }
            Axis::Rows => {
                let sums = if G == 1 {
                    let (lo, len) = (group.lo[0], group.hi[0] - group.lo[0]);
                    [lines::dot::<V>(len, group.at[0].wrapping_add(lo), a.is_conj(), x.add(lo)); G]
                } else {
                    dot_lines::<V, G, false>(&group, a.is_conj(), x)
                };
                for (l, &sum) in sums.iter().enumerate() {
                    *x.add(j + l) = if unit { *x.add(j + l) + sum } else { sum };
                }
            }
        }
    }
}

/// The product with a triangular band whose lines are columns.
#[inline(always)]
unsafe fn tri_band_mv<V: Elements>(a: &Lines<V::T>, diag: Diag, x: *mut V::T, upwards: bool) {
    // SAFETY: the contract of the file.
    unsafe {
        let n = a.lines();
        let unit = diag == Diag::Unit;
        let a = if unit { a.strict() } else { *a };
        let zero = V::T::ZERO;
        let zeros = [zero; super::tile::MAX_WIDTH];
        let mut done = 0;
        while done < n {
            let c = if n - done < V::LANES { n - done } else { V::LANES };
            let i = if upwards { done } else { n - done - c };
            let old = load_upto::<V>(if unit { x.add(i).cast_const() } else { zeros.as_ptr() }, c);
            let sum = band_rows::<V>(V::begin(old), V::T::ONE, &a, x, i, c, Zeros::Skip);
            store_upto(V::finish(sum, old, a.is_conj()), x.add(i), c);
            done += c;
        }
    }
}

/// Solves A x = b, A triangular; x replaces b.
#[inline(always)]
pub unsafe fn tri_sv<V: Elements>(a: &Lines<V::T>, diag: Diag, x: *mut V::T) {
    // SAFETY: the contract of the file.
    unsafe {
        let n = a.lines();
        let upwards = a.is_head() != (a.axis() == Axis::Cols);
        let mut done = 0;
        while done + 4 <= n {
            solve_group::<V, 4>(a, diag, if upwards { done } else { n - done - 4 }, upwards, x);
            done += 4;
        }
        while done < n {
            solve_group::<V, 1>(a, diag, if upwards { done } else { n - done - 1 }, upwards, x);
            done += 1;
        }
    }
}

#[inline(always)]
unsafe fn solve_group<V: Elements, const G: usize>(
    a: &Lines<V::T>,
    diag: Diag,
    j: usize,
    upwards: bool,
    x: *mut V::T,
) {
    // SAFETY: the contract of the file.
    unsafe {
        let (unit, conj, banded) = (diag == Diag::Unit, a.is_conj(), a.is_banded());
        // The rows outside the square on the diagonal.
        let (from, to) = if a.is_head() { (0, j) } else { (j + G, a.line_len()) };
        let group = if banded {
            Group::<V::T, G>::triangle(a, j, from, to, false)
        } else {
            Group::<V::T, G>::uniform(a, j, from, to)
        };
        let mut b = [V::T::ZERO; G];
        for (l, b) in b.iter_mut().enumerate() {
            *b = *x.add(j + l);
        }
        if a.axis() == Axis::Rows {
            if banded || G == 1 {
                for l in 0..G {
                    let (lo, len) = (group.lo[l], group.hi[l] - group.lo[l]);
                    b[l] = b[l] - lines::dot::<V>(len, group.at[l].wrapping_add(lo), conj, x.add(lo));
                }
            } else {
                let sums = dot_lines::<V, G, true>(&group, conj, x);
                for l in 0..G {
                    b[l] = b[l] - sums[l];
                }
            }
        }
        // The square: the element in line l and row r, if the band reaches so far.
        let (before, after) = a.reach();
        for step in 0..G {
            let l = if upwards { step } else { G - 1 - step };
            if a.axis() == Axis::Cols && b[l] == V::T::ZERO {
                // A zero in x skips the column, NaN in it or not, as in Reference BLAS.
                continue;
            }
            if !unit {
                b[l] = b[l] / (*group.at[l].wrapping_add(j + l)).conj_if(conj);
            }
            for r in 0..G {
                let waiting = if upwards { r > l } else { r < l };
                // As a column, line l reaches row r; as a row, line r reaches element l.
                let (line, row) = if a.axis() == Axis::Cols { (l, r) } else { (r, l) };
                let stored = line as isize - row as isize <= before && row as isize - line as isize <= after;
                if waiting && stored {
                    b[r] = b[r] - (*group.at[line].wrapping_add(j + row)).conj_if(conj) * b[l];
                }
            }
        }
        for (l, &b) in b.iter().enumerate() {
            *x.add(j + l) = b;
        }
        if a.axis() == Axis::Cols {
            let mut f = [V::T::ZERO; G];
            let mut zeros = false;
            for l in 0..G {
                f[l] = -b[l];
                zeros |= b[l] == V::T::ZERO;
            }
            if zeros {
                for l in 0..G {
                    if b[l] != V::T::ZERO {
                        let one = Group { at: [group.at[l]], lo: [group.lo[l]], hi: [group.hi[l]] };
                        add_lines::<V, 1, true>(&one, [f[l]], conj, x);
                    }
                }
            } else if banded {
                add_lines::<V, G, false>(&group, f, conj, x);
            } else {
                add_lines::<V, G, true>(&group, f, conj, x);
            }
        }
    }
}

/// Adds alpha x y^T to columns 0..n of A, whose leading dimension is `ld`; either vector conjugated.
#[inline(always)]
pub unsafe fn ger<V: Elements>(
    m: usize,
    n: usize,
    alpha: V::T,
    x: *const V::T,
    conj_x: bool,
    y: *const V::T,
    incy: isize,
    conj_y: bool,
    a: *mut V::T,
    ld: isize,
) {
    // SAFETY: the contract of the file.
    unsafe {
        let mut j = 0;
        while j < n as isize {
            let f = *y.offset(j * incy);
            // A zero in y skips the column, NaN in x or not, as in Reference BLAS.
            if f != V::T::ZERO {
                lines::axpy::<V>(m, alpha * f.conj_if(conj_y), x, conj_x, a.offset(j * ld));
            }
            j += 1;
        }
    }
}

/// Adds alpha x y^T + beta y x^T (or only alpha x x^T, with y == x and no beta) to lines from..to of a triangle; y^H and
/// x^H if Hermitian.
#[inline(always)]
pub unsafe fn rank_update<V: Elements>(
    alpha: V::T,
    beta: Option<V::T>,
    x: *const V::T,
    y: *const V::T,
    hermitian: bool,
    a: &Lines<V::T>,
    from: usize,
    to: usize,
) {
    // SAFETY: the contract of the file; the lines are the caller's to write.
    unsafe {
        let columns = a.axis() == Axis::Cols;
        // Element (i, j) of a stored column is alpha x(i) conj(y(j)); of a stored row j it is alpha x(j) conj(y(i)).
        let conj = hermitian && !columns;
        for j in from..to {
            let (lo, hi) = a.range(j);
            let line = a.at(j).cast_mut();
            let (xj, yj) = (*x.add(j), *y.add(j));
            // Zeros skip the line, NaN in the other elements or not, as in Reference BLAS.
            if xj != V::T::ZERO || yj != V::T::ZERO {
                let ((f, v), (g, w)) = if columns {
                    ((alpha * yj.conj_if(hermitian), x), (xj.conj_if(hermitian), y))
                } else {
                    ((alpha * xj, y), (yj, x))
                };
                match beta {
                    None => lines::axpy::<V>(hi - lo, f, v.add(lo), conj, line.wrapping_add(lo)),
                    Some(beta) => {
                        let (f, v) = ([f, beta * g], [v.add(lo), w.add(lo)]);
                        lines::axpy2::<V>(hi - lo, f, v, conj, line.wrapping_add(lo));
                    }
                }
            }
            if hermitian {
                let d = line.wrapping_add(j);
                *d = V::T::from_real((*d).re());
            }
        }
    }
}
