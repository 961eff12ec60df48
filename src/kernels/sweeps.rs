//! The kernels of level 2, once for all instruction sets and types: each takes the whole matrix, as [`Lines`].
//!
//! One loop on a few lines at once does the work (`pass`): lines times factors added to a vector, lines times a vector,
//! or both. The lines of a triangle or a band do not begin and end
//! together: rows that all of them have are whole vectors, the corners are vectors with a range of lanes for each line.
//! Outside its range a line is not read and its factor is zero, so that neither NaN nor infinity comes in from there.
//!
//! Vectors are at consecutive addresses. The order in which an element's terms are added depends on the shape of the
//! matrix alone. Contract as in `tile.rs`; matrix and vectors do not overlap.

// Lines are counted: an index that runs through several arrays at once says more than four zipped iterators.
#![allow(clippy::needless_range_loop)]

use super::elements::Elements;
use super::lines;
use crate::matrix::{Axis, Diag, Lines};
use crate::scalar::{Real, Scalar};

/// Which rows the lines of a [`Group`] have.
mod rows {
    /// All of them start..end.
    pub const SAME: u8 = 0;
    /// Line l: start..bound+l. The lines of a triangle that end at its diagonal, or just before it.
    pub const HEAD: u8 = 1;
    /// Line l: start+l..end. The lines of a triangle that begin at its diagonal.
    pub const TAIL: u8 = 2;
    /// Line l: start+1+l..end. The same without the diagonal.
    pub const STRICT_TAIL: u8 = 3;
    /// Line l: those of first+l..bound+l that are in start..end.
    pub const BAND: u8 = 4;
}

/// G lines of a matrix: where the element 0 of each is, and which rows count.
struct Group<T, const G: usize, const ROWS: u8> {
    at: [*const T; G],
    start: usize,
    end: usize,
    first: isize,
    bound: isize,
}

impl<T: Scalar, const G: usize, const ROWS: u8> Group<T, G, ROWS> {
    /// Lines j..j+G.
    #[inline(always)]
    fn new(a: &Lines<T>, j: usize, start: usize, end: usize) -> Self {
        let mut at = [a.at(j); G];
        for (l, p) in at.iter_mut().enumerate() {
            *p = a.at(j + l);
        }
        let (before, after) = a.reach();
        let (mut first, mut bound) = (0, end as isize);
        if ROWS == rows::HEAD {
            bound = j as isize + 1;
        } else if ROWS == rows::BAND {
            (first, bound) = (j as isize - before, j as isize + after + 1);
            let last = bound + G as isize - 1;
            let end = if last < end as isize { last as usize } else { end };
            let start = if first > start as isize { first as usize } else { start };
            return Group { at, start, end: if start < end { end } else { start }, first, bound };
        }
        Group { at, start, end, first, bound }
    }
    /// Line l alone.
    #[inline(always)]
    fn one(&self, l: usize) -> Group<T, 1, { rows::SAME }> {
        let (first, bound) = (self.first + l as isize, self.bound + l as isize);
        let (mut start, mut end) = (self.start, self.end);
        if ROWS == rows::TAIL || ROWS == rows::STRICT_TAIL {
            start += l + (ROWS == rows::STRICT_TAIL) as usize;
        } else if ROWS == rows::HEAD {
            end = bound as usize;
        } else if ROWS == rows::BAND {
            end = if bound < end as isize { bound as usize } else { end };
            start = if first > start as isize { first as usize } else { start };
        }
        Group { at: [self.at[l]], start, end: if end > start { end } else { start }, first: 0, bound: 0 }
    }
    /// The rows that all lines have, as far as whole vectors go.
    #[inline(always)]
    fn common(&self) -> (isize, isize) {
        let (start, end, more) = (self.start as isize, self.end as isize, G as isize - 1);
        match ROWS {
            rows::SAME => (start, end),
            rows::HEAD => (start, self.bound),
            rows::TAIL => (start + more, end),
            rows::STRICT_TAIL => (start + 1 + more, end),
            _ => (self.first + more, if self.bound < end { self.bound } else { end }),
        }
    }
    /// Which of the c rows from i on line l has, counted from i.
    #[inline(always)]
    fn lanes(&self, l: usize, i: usize, c: usize) -> (usize, usize) {
        let (i, l, c) = (i as isize, l as isize, c as isize);
        let from = match ROWS {
            rows::TAIL => self.start as isize + l - i,
            rows::STRICT_TAIL => self.start as isize + 1 + l - i,
            rows::BAND => self.first + l - i,
            _ => 0,
        };
        let to = match ROWS {
            rows::HEAD => self.bound + l - i,
            rows::BAND => self.bound + l - i,
            _ => c,
        };
        let to = if to < 0 {
            0
        } else if to < c {
            to
        } else {
            c
        };
        let from = if from < 0 {
            0
        } else if from < to {
            from
        } else {
            to
        };
        (from as usize, to as usize)
    }
}

/// The first c <= LANES elements of a vector that is being added to.
#[inline(always)]
unsafe fn reload_upto<V: Elements>(p: *const V::T, c: usize) -> V {
    // SAFETY: the contract of the file.
    unsafe { if c == V::LANES { V::load(p) } else { V::reload_first(p, c) } }
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

/// One pass over the lines. If `ADD`: y := f[0] line 0 + … + y on their rows. If `DOT`: each line times x. Lines are
/// conjugated for either if asked.
#[inline(always)]
unsafe fn pass<V: Elements, const G: usize, const ROWS: u8, const ADD: bool, const DOT: bool>(
    g: &Group<V::T, G, ROWS>,
    f: [V::T; G],
    conj_add: bool,
    y: *mut V::T,
    conj_dot: bool,
    x: *const V::T,
) -> [V::T; G] {
    // SAFETY: the contract of the file.
    unsafe {
        let mut s = [V::splat(f[0]); G];
        if ADD {
            for l in 1..G {
                s[l] = V::splat(f[l]);
            }
        }
        let mut dots = [V::dot_zero(); G];
        let (inner, outer) = g.common();
        let mut i = g.start;
        // A vector of the c rows from i on, with a range of lanes for each line.
        macro_rules! corner {
            ($c:expr) => {{
                let c = $c;
                let old = if ADD { reload_upto::<V>(y.add(i), c) } else { V::load_range(y, 0, 0) };
                let xv = if DOT { load_upto::<V>(x.add(i), c) } else { old };
                let mut sum = V::begin(old);
                for l in 0..G {
                    let p = g.at[l].wrapping_add(i);
                    let (from, to) = if ROWS == rows::SAME { (0, c) } else { g.lanes(l, i, c) };
                    let line = V::load_range(p, from, to);
                    if ADD && ROWS == rows::SAME {
                        // What stands in other lanes is not stored.
                        sum = V::add_line(sum, line, s[l]);
                    } else if ADD {
                        sum = V::add_line(sum, line, V::splat_range(s[l], from, to));
                    }
                    if DOT && ROWS == rows::SAME {
                        dots[l] = V::dot_step(dots[l], line, xv.turned());
                    } else if DOT {
                        dots[l] = V::dot_step(dots[l], line, xv.keep(from, to).turned());
                    }
                }
                if ADD {
                    store_upto(V::finish(sum, old, conj_add), y.add(i), c);
                }
            }};
        }
        if ROWS == rows::TAIL || ROWS == rows::STRICT_TAIL {
            // As many rows first as leave whole vectors behind.
            let c = (g.end - g.start) % V::LANES;
            if c > 0 {
                corner!(c);
                i += c;
            }
            while (i as isize) < inner && i < g.end {
                corner!(V::LANES);
                i += V::LANES;
            }
        } else if ROWS == rows::BAND {
            while (i as isize) < inner && i < g.end {
                corner!(if g.end - i < V::LANES { g.end - i } else { V::LANES });
                i += V::LANES;
            }
        }
        while (i + V::LANES) as isize <= outer {
            let old = if ADD { V::load(y.add(i)) } else { V::load_range(y, 0, 0) };
            let xv = if DOT { V::load(x.add(i)).turned() } else { old.turned() };
            let mut sum = V::begin(old);
            for l in 0..G {
                let line = V::load(g.at[l].wrapping_add(i));
                if ADD {
                    sum = V::add_line(sum, line, s[l]);
                }
                if DOT {
                    dots[l] = V::dot_step(dots[l], line, xv);
                }
            }
            if ADD {
                V::finish(sum, old, conj_add).store(y.add(i));
            }
            i += V::LANES;
        }
        while i < g.end {
            corner!(if g.end - i < V::LANES { g.end - i } else { V::LANES });
            i += V::LANES;
        }
        if DOT { totals::<V, G>(dots, conj_dot) } else { f }
    }
}

/// `pass` that only adds.
#[inline(always)]
unsafe fn add_lines<V: Elements, const G: usize, const ROWS: u8>(
    g: &Group<V::T, G, ROWS>,
    f: [V::T; G],
    conj: bool,
    y: *mut V::T,
) {
    // SAFETY: the contract of the file.
    unsafe { pass::<V, G, ROWS, true, false>(g, f, conj, y, false, y) };
}

/// `pass` that only multiplies.
#[inline(always)]
unsafe fn dot_lines<V: Elements, const G: usize, const ROWS: u8>(
    g: &Group<V::T, G, ROWS>,
    conj: bool,
    x: *const V::T,
) -> [V::T; G] {
    // SAFETY: the contract of the file.
    unsafe { pass::<V, G, ROWS, false, true>(g, [V::T::ZERO; G], false, x.cast_mut(), conj, x) }
}

/// y := f[0] line 0 + … + y without the lines whose factor is zero, NaN in them or not, as in Reference BLAS.
#[inline(always)]
unsafe fn add_lines_but_zeros<V: Elements, const G: usize, const ROWS: u8>(
    g: &Group<V::T, G, ROWS>,
    f: [V::T; G],
    conj: bool,
    y: *mut V::T,
) {
    // SAFETY: the contract of the file.
    unsafe {
        let mut zeros = false;
        for f in f {
            zeros |= f == V::T::ZERO;
        }
        if !zeros {
            return add_lines::<V, G, ROWS>(g, f, conj, y);
        }
        for l in 0..G {
            if f[l] != V::T::ZERO {
                let line = g.one(l);
                lines::axpy::<V>(
                    line.end - line.start,
                    f[l],
                    line.at[0].wrapping_add(line.start),
                    conj,
                    y.add(line.start),
                );
            }
        }
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

/// Runs the body for lines from..to in groups of the given sizes, the largest first.
macro_rules! by_groups {
    ($j:ident in $from:expr, $to:expr; $($G:literal),+; |$N:ident| $body:block) => {{
        let mut $j = $from;
        let to = $to;
        $(
            while to - $j >= $G {
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
            (Axis::Rows, false) => band_dots::<V>(alpha, a, x, y, from, to),
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
        add_lines::<V, G, { rows::SAME }>(&Group::new(a, j, from, to), f, conj, y);
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
        let sums = dot_lines::<V, G, { rows::SAME }>(&Group::new(a, i, 0, a.line_len()), conj, x);
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

/// Adds alpha times the products of lines from..to of a band with x to y.
#[inline(always)]
unsafe fn band_dots<V: Elements>(alpha: V::T, a: &Lines<V::T>, x: *const V::T, y: *mut V::T, from: usize, to: usize) {
    // SAFETY: the contract of the file.
    unsafe {
        let mut i = from;
        while i < to {
            let (sums, count) = band_dots_at::<V>(a, x, i, to);
            for (l, &sum) in sums.iter().enumerate().take(count) {
                *y.add(i + l) = alpha * sum + *y.add(i + l);
            }
            i += count;
        }
    }
}

/// The products of line i of a band with x and, if they all have the same length, of the three lines behind it.
#[inline(always)]
unsafe fn band_dots_at<V: Elements>(a: &Lines<V::T>, x: *const V::T, i: usize, to: usize) -> ([V::T; 4], usize) {
    // SAFETY: the contract of the file.
    unsafe {
        let (lo, hi) = a.range(i);
        let (conj, n) = (a.is_conj(), hi - lo);
        let (before, after) = a.reach();
        let inside = i as isize >= before && i as isize + 3 + after < a.line_len() as isize;
        if !inside || i + 4 > to {
            let sum = lines::dot::<V>(n, a.at(i).wrapping_add(lo), conj, x.add(lo));
            return ([sum; 4], 1);
        }
        let at = [a.at(i), a.at(i + 1), a.at(i + 2), a.at(i + 3)];
        let mut dots = [V::dot_zero(); 4];
        let mut k = lo;
        while k + V::LANES <= hi {
            for l in 0..4 {
                let line = V::load(at[l].wrapping_add(k + l));
                dots[l] = V::dot_step(dots[l], line, V::load(x.add(k + l)).turned());
            }
            k += V::LANES;
        }
        if k < hi {
            for l in 0..4 {
                let line = V::load_first(at[l].wrapping_add(k + l), hi - k);
                dots[l] = V::dot_step(dots[l], line, V::load_first(x.add(k + l), hi - k).turned());
            }
        }
        (V::dot_totals(dots, conj), 4)
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
        let mut old = [reload_upto::<V>(y.add((N - 1) * V::LANES), last); N];
        for (v, old) in old.iter_mut().enumerate().take(N - 1) {
            *old = V::load(y.add(v * V::LANES));
        }
        let mut sums = [[V::begin_zero(); N]; S];
        let mut j = 0;
        while j + S <= a.lines() {
            for (s, sums) in sums.iter_mut().enumerate() {
                short_line::<V, N>(a.at(j + s), *x.add(j + s), last, sums);
            }
            j += S;
        }
        while j < a.lines() {
            short_line::<V, N>(a.at(j), *x.add(j), last, &mut sums[0]);
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

/// Adds rows from..to of alpha A x to y; A is a band whose lines are columns. A few vectors of rows at a time, which stay
/// in registers while the columns that cross these rows go by: y is not handed from column to column through memory.
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
        if narrow(alpha, a, x, Some(y.cast_const()), y, from, to, true, zeros) {
            return;
        }
        let mut i = from;
        while i < to {
            i += band_rows::<V>(alpha, a, x, y, y, i, to - i, zeros);
        }
    }
}

/// out := alpha A x + y for as many of the `rest` rows from i on as one step takes; says how many that were.
#[inline(always)]
unsafe fn band_rows<V: Elements>(
    alpha: V::T,
    a: &Lines<V::T>,
    x: *const V::T,
    y: *const V::T,
    out: *mut V::T,
    i: usize,
    rest: usize,
    zeros: Zeros,
) -> usize {
    // SAFETY: the contract of the file.
    unsafe {
        let (before, after) = a.reach();
        // Column j has the rows j-before ..= j+after: columns of which it is the last row that these rows begin with.
        let (row, first, width) = (i as isize, i as isize - after, before + after + 1);
        let high = if V::LANES < 8 { 8 } else { V::LANES };
        for rows in [high, V::LANES] {
            if rows <= rest
                && first >= 0
                && row + rows as isize + before <= a.lines() as isize
                && width >= rows as isize
            {
                match rows / V::LANES {
                    1 => band_block::<V, 1>(alpha, a, x, y, out, i, zeros),
                    2 => band_block::<V, 2>(alpha, a, x, y, out, i, zeros),
                    _ => band_block::<V, 4>(alpha, a, x, y, out, i, zeros),
                }
                return if rows / V::LANES > 2 { 4 * V::LANES } else { rows };
            }
        }
        let c = if rest < V::LANES { rest } else { V::LANES };
        let mut sum = V::begin_zero();
        let mut j = if first > 0 { first } else { 0 };
        let end = row + c as isize + before;
        let end = if end < a.lines() as isize { end } else { a.lines() as isize };
        while j < end {
            let lo = if j - before > row { (j - before - row) as usize } else { 0 };
            let hi = (j + after + 1 - row) as usize;
            let hi = if hi < c { hi } else { c };
            let f = *x.offset(j);
            if zeros == Zeros::Count || f != V::T::ZERO {
                let line = V::load_range(a.at(j as usize).wrapping_add(i), lo, hi);
                sum = V::add_line(sum, line, V::splat_range(V::splat(f), lo, hi));
            }
            j += 1;
        }
        let new = add_scaled::<V>(reload_upto(y.wrapping_add(i), c), alpha, sum, a.is_conj());
        store_upto(new, out.add(i), c);
        c
    }
}

/// out := alpha A x + y, or without y, for rows from..to, upwards or downwards, of a real band of W diagonals whose lines are columns.
#[inline(always)]
unsafe fn narrow_rows<T: Scalar, const W: usize>(
    alpha: T,
    a: &Lines<T>,
    x: *const T,
    y: Option<*const T>,
    out: *mut T,
    from: usize,
    to: usize,
    upwards: bool,
    zeros: Zeros,
) {
    // SAFETY: the contract of the file.
    unsafe {
        let (before, after) = a.reach();
        let lines = a.lines() as isize;
        let step = a.step();
        for k in from..to {
            let i = if upwards { k } else { to - 1 - (k - from) };
            let row = i as isize;
            let first = row - after;
            let mut sum = T::ZERO;
            if first >= 0 && row + before < lines {
                let p = a.at(first as usize).wrapping_add(i);
                for t in 0..W as isize {
                    let f = *x.offset(first + t);
                    let term = *p.wrapping_offset(t * step) * f;
                    sum += if zeros == Zeros::Skip && f == T::ZERO { T::ZERO } else { term };
                }
            } else {
                let end = if row + before < lines { row + before + 1 } else { lines };
                let mut j = if first > 0 { first } else { 0 };
                while j < end {
                    let f = *x.offset(j);
                    if zeros == Zeros::Count || f != T::ZERO {
                        sum += *a.at(j as usize).wrapping_add(i) * f;
                    }
                    j += 1;
                }
            }
            *out.add(i) = match y {
                Some(y) => alpha * sum + *y.add(i),
                None => alpha * sum,
            };
        }
    }
}

/// Does the same if the band is that narrow; says whether it was.
#[inline(always)]
unsafe fn narrow<T: Scalar>(
    alpha: T,
    a: &Lines<T>,
    x: *const T,
    y: Option<*const T>,
    out: *mut T,
    from: usize,
    to: usize,
    upwards: bool,
    zeros: Zeros,
) -> bool {
    // SAFETY: the contract of the file.
    unsafe {
        let (before, after) = a.reach();
        match (T::IS_COMPLEX, before + after + 1) {
            (false, 1) => narrow_rows::<T, 1>(alpha, a, x, y, out, from, to, upwards, zeros),
            (false, 2) => narrow_rows::<T, 2>(alpha, a, x, y, out, from, to, upwards, zeros),
            (false, 3) => narrow_rows::<T, 3>(alpha, a, x, y, out, from, to, upwards, zeros),
            _ => return false,
        }
        true
    }
}

/// y + alpha times a sum that began with nothing.
#[inline(always)]
unsafe fn add_scaled<V: Elements>(y: V, alpha: V::T, sum: V::Sum, conj: bool) -> V {
    // SAFETY: the contract of the file.
    unsafe { y.add_product(V::factor(alpha, false), V::finish_zero(sum, conj).turned()) }
}

/// The same for R vectors of rows in the middle of a band that is at least as wide.
#[inline(always)]
unsafe fn band_block<V: Elements, const R: usize>(
    alpha: V::T,
    a: &Lines<V::T>,
    x: *const V::T,
    y: *const V::T,
    out: *mut V::T,
    i: usize,
    zeros: Zeros,
) {
    // SAFETY: the contract of the file.
    unsafe {
        let (before, after) = a.reach();
        let mut sums = [V::begin_zero(); R];
        // Rows lo..hi of column j.
        macro_rules! column {
            ($j:expr, $lo:expr, $hi:expr) => {{
                let j = $j;
                let f = *x.offset(j);
                if zeros == Zeros::Count || f != V::T::ZERO {
                    let (f, p) = (V::splat(f), a.at(j as usize).wrapping_add(i));
                    for r in 0..R {
                        let top = r * V::LANES;
                        let lo: usize = $lo;
                        let lo = lo.saturating_sub(top);
                        let hi = if $hi < top + V::LANES { $hi } else { top + V::LANES };
                        if lo == 0 && hi == top + V::LANES {
                            sums[r] = V::add_line(sums[r], V::load(p.wrapping_add(top)), f);
                        } else if hi > top && lo < V::LANES {
                            let line = V::load_range(p.wrapping_add(top), lo, hi - top);
                            sums[r] = V::add_line(sums[r], line, V::splat_range(f, lo, hi - top));
                        }
                    }
                }
            }};
        }
        let rows = R * V::LANES;
        let first = i as isize - after;
        let mut t = 1;
        while t < rows {
            column!(first + t as isize - 1, 0, t);
            t += 1;
        }
        let mut j = first + rows as isize - 1;
        while j <= i as isize + before {
            column!(j, 0, rows);
            j += 1;
        }
        t = 1;
        while t < rows {
            column!(i as isize + before + t as isize, t, rows);
            t += 1;
        }
        for r in 0..R {
            let at = i + r * V::LANES;
            add_scaled::<V>(V::load(y.wrapping_add(at)), alpha, sums[r], a.is_conj()).store(out.add(at));
        }
    }
}

/// Adds alpha A x to y, A symmetric or Hermitian with one triangle stored; or what lines from..to of a full or packed
/// triangle contribute to it.
#[inline(always)]
pub unsafe fn sym_mv<V: Elements>(
    alpha: V::T,
    a: &Lines<V::T>,
    hermitian: bool,
    x: *const V::T,
    y: *mut V::T,
    from: usize,
    to: usize,
) {
    // SAFETY: the contract of the file.
    unsafe {
        if a.is_banded() {
            return sym_band_mv::<V>(alpha, a, hermitian, x, y);
        }
        match (a.is_head(), V::T::IS_COMPLEX) {
            (true, true) => by_groups!(j in from, to; 2, 1; |N| {
                sym_group::<V, N, { rows::HEAD }>(alpha, a, hermitian, j, 0, x, y);
            }),
            (true, false) => by_groups!(j in from, to; 4, 1; |N| {
                sym_group::<V, N, { rows::HEAD }>(alpha, a, hermitian, j, 0, x, y);
            }),
            (false, true) => by_groups!(j in from, to; 2, 1; |N| {
                sym_group::<V, N, { rows::STRICT_TAIL }>(alpha, a, hermitian, j, j, x, y);
            }),
            (false, false) => by_groups!(j in from, to; 4, 1; |N| {
                sym_group::<V, N, { rows::STRICT_TAIL }>(alpha, a, hermitian, j, j, x, y);
            }),
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
unsafe fn sym_group<V: Elements, const G: usize, const ROWS: u8>(
    alpha: V::T,
    a: &Lines<V::T>,
    hermitian: bool,
    j: usize,
    start: usize,
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
        let mut group =
            Group::<V::T, G, ROWS>::new(a, j, start, if ROWS == rows::HEAD { j + G - 1 } else { a.lines() });
        group.bound -= 1;
        let sums = pass::<V, G, ROWS, true, true>(&group, f, conj_add, y, conj_dot, x);
        let mut own = [V::T::ZERO; G];
        for l in 0..G {
            own[l] = f[l] * diagonal(a, j + l, hermitian) + alpha * sums[l];
        }
        if G == V::LANES {
            // As one vector, which is how the next group reads it.
            let unit = V::factor(V::T::ONE, false);
            V::load(y.add(j)).add_product(unit, V::load(own.as_ptr()).turned()).store(y.add(j));
        } else {
            for (l, &own) in own.iter().enumerate() {
                *y.add(j + l) = *y.add(j + l) + own;
            }
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
        // The diagonal goes with the rows, unless only its real part counts.
        let rows = if hermitian { strict.with_conj(conj_dot) } else { *a };
        let columns = strict.with_conj(conj_add);
        let mut from = 0;
        while from < n {
            let to = if n - from > ROWS { from + ROWS } else { n };
            band_columns::<V>(alpha, &columns, x, y, from, to, Zeros::Count);
            band_dots::<V>(alpha, &rows, x, y, from, to);
            if hermitian {
                for j in from..to {
                    *y.add(j) = alpha * *x.add(j) * diagonal(a, j, hermitian) + *y.add(j);
                }
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
                Axis::Rows => tri_band_dots::<V>(a, diag, x, upwards),
            };
        }
        macro_rules! groups {
            ($ROWS:expr, $COLS:literal) => {{
                let mut done = 0;
                while done + 4 <= n {
                    tri_group::<V, 4, { $ROWS }, $COLS>(a, diag, if upwards { done } else { n - done - 4 }, x);
                    done += 4;
                }
                while done < n {
                    tri_group::<V, 1, { $ROWS }, $COLS>(a, diag, if upwards { done } else { n - done - 1 }, x);
                    done += 1;
                }
            }};
        }
        match (a.is_head(), a.axis(), diag) {
            (true, Axis::Cols, _) => groups!(rows::HEAD, true),
            (true, Axis::Rows, _) => groups!(rows::HEAD, false),
            (false, Axis::Cols, Diag::Stored) => groups!(rows::TAIL, true),
            (false, Axis::Rows, Diag::Stored) => groups!(rows::TAIL, false),
            (false, Axis::Cols, Diag::Unit) => groups!(rows::STRICT_TAIL, true),
            (false, Axis::Rows, Diag::Unit) => groups!(rows::STRICT_TAIL, false),
        }
    }
}

#[inline(always)]
unsafe fn tri_group<V: Elements, const G: usize, const ROWS: u8, const COLS: bool>(
    a: &Lines<V::T>,
    diag: Diag,
    j: usize,
    x: *mut V::T,
) {
    // SAFETY: the contract of the file.
    unsafe {
        let unit = diag == Diag::Unit;
        let (start, end) = if ROWS == rows::HEAD { (0, j + G - unit as usize) } else { (j, a.line_len()) };
        let mut group = Group::<V::T, G, ROWS>::new(a, j, start, end);
        group.bound -= unit as isize;
        if COLS {
            let mut f = [V::T::ZERO; G];
            for (l, f) in f.iter_mut().enumerate() {
                *f = *x.add(j + l);
            }
            if !unit {
                for l in 0..G {
                    *x.add(j + l) = V::T::ZERO;
                }
            }
            add_lines_but_zeros::<V, G, ROWS>(&group, f, a.is_conj(), x);
        } else {
            let sums = if G == 1 {
                let one = group.one(0);
                let line = one.at[0].wrapping_add(one.start);
                [lines::dot::<V>(one.end - one.start, line, a.is_conj(), x.add(one.start)); G]
            } else {
                dot_lines::<V, G, ROWS>(&group, a.is_conj(), x)
            };
            for (l, &sum) in sums.iter().enumerate() {
                *x.add(j + l) = if unit { *x.add(j + l) + sum } else { sum };
            }
        }
    }
}

/// The product with a triangular band whose lines are rows.
#[inline(always)]
unsafe fn tri_band_dots<V: Elements>(a: &Lines<V::T>, diag: Diag, x: *mut V::T, upwards: bool) {
    // SAFETY: the contract of the file.
    unsafe {
        let n = a.lines();
        let unit = diag == Diag::Unit;
        let a = if unit { a.strict() } else { *a };
        let mut done = 0;
        while done < n {
            // Downwards, four lines are asked for from the one that is four further on.
            let ahead = if upwards || n - done < 4 { 1 } else { 4 };
            let mut i = if upwards { done } else { n - done - ahead };
            let (mut sums, mut count) = band_dots_at::<V>(&a, x, i, if upwards { n } else { n - done });
            if !upwards && count < ahead {
                i = n - done - 1;
                (sums, count) = band_dots_at::<V>(&a, x, i, i + 1);
            }
            for (l, &sum) in sums.iter().enumerate().take(count) {
                *x.add(i + l) = if unit { *x.add(i + l) + sum } else { sum };
            }
            done += count;
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
        let old = if unit { Some(x.cast_const()) } else { None };
        if narrow(V::T::ONE, &a, x, old, x, 0, n, upwards, Zeros::Skip) {
            return;
        }
        let nothing = [V::T::ZERO; super::tile::MAX_WIDTH];
        let mut done = 0;
        while done < n {
            // Downwards a step must end where the one before began.
            let left = n - done;
            let rest = if upwards || left < V::LANES { left } else { V::LANES };
            let i = if upwards { done } else { left - rest };
            let y = if unit { x.cast_const() } else { nothing.as_ptr().wrapping_sub(i) };
            done += band_rows::<V>(V::T::ONE, &a, x, y, x, i, rest, Zeros::Skip);
        }
    }
}

/// Solves A x = b, A triangular; x replaces b.
#[inline(always)]
pub unsafe fn tri_sv<V: Elements>(a: &Lines<V::T>, diag: Diag, x: *mut V::T) {
    // SAFETY: the contract of the file.
    unsafe {
        let n = a.lines();
        macro_rules! groups {
            ($HEAD:literal, $COLS:literal, $ROWS:expr) => {{
                let upwards = $HEAD != $COLS;
                let mut done = 0;
                while done + 4 <= n {
                    let j = if upwards { done } else { n - done - 4 };
                    solve_group::<V, 4, $HEAD, $COLS, { $ROWS }>(a, diag, j, x);
                    done += 4;
                }
                while done < n {
                    let j = if upwards { done } else { n - done - 1 };
                    solve_group::<V, 1, $HEAD, $COLS, { $ROWS }>(a, diag, j, x);
                    done += 1;
                }
            }};
        }
        match (a.is_head(), a.axis(), a.is_banded()) {
            (true, Axis::Cols, false) => groups!(true, true, rows::SAME),
            (true, Axis::Rows, false) => groups!(true, false, rows::SAME),
            (false, Axis::Cols, false) => groups!(false, true, rows::SAME),
            (false, Axis::Rows, false) => groups!(false, false, rows::SAME),
            (true, Axis::Cols, true) => groups!(true, true, rows::BAND),
            (true, Axis::Rows, true) => groups!(true, false, rows::BAND),
            (false, Axis::Cols, true) => groups!(false, true, rows::BAND),
            (false, Axis::Rows, true) => groups!(false, false, rows::BAND),
        }
    }
}

/// Lines j..j+G: the square on the diagonal element by element, the rows outside it in one pass.
#[inline(always)]
unsafe fn solve_group<V: Elements, const G: usize, const HEAD: bool, const COLS: bool, const ROWS: u8>(
    a: &Lines<V::T>,
    diag: Diag,
    j: usize,
    x: *mut V::T,
) {
    // SAFETY: the contract of the file.
    unsafe {
        let (unit, conj, upwards) = (diag == Diag::Unit, a.is_conj(), HEAD != COLS);
        let (start, end) = if HEAD { (0, j) } else { (j + G, a.line_len()) };
        let group = Group::<V::T, G, ROWS>::new(a, j, start, end);
        let mut b = [V::T::ZERO; G];
        for (l, b) in b.iter_mut().enumerate() {
            *b = *x.add(j + l);
        }
        if !COLS {
            if ROWS == rows::BAND || G == 1 {
                for l in 0..G {
                    let one = group.one(l);
                    let line = one.at[0].wrapping_add(one.start);
                    b[l] = b[l] - lines::dot::<V>(one.end - one.start, line, conj, x.add(one.start));
                }
            } else {
                let sums = dot_lines::<V, G, ROWS>(&group, conj, x);
                for l in 0..G {
                    b[l] = b[l] - sums[l];
                }
            }
        }
        // The divisions do not wait for each other: reciprocals of the diagonal, where none leaves the range of normal
        // numbers.
        let mut inverse = [V::T::ONE; G];
        let mut normal = G > 1 && !unit;
        if normal {
            let (least, most) = if size_of::<<V::T as Scalar>::Real>() == 8 { (1e-300, 1e300) } else { (1e-36, 1e36) };
            let (least, most) = (Real::from_f64(least), Real::from_f64(most));
            for l in 0..G {
                let d = (*group.at[l].wrapping_add(j + l)).conj_if(conj);
                inverse[l] = V::T::ONE / d;
                let size = d.abs1();
                normal &= size > least && size < most;
            }
        }
        let (before, after) = a.reach();
        let reach = if HEAD { before } else { after };
        for step in 0..G {
            let l = if upwards { step } else { G - 1 - step };
            // A zero in x skips the column, NaN in it or not, as in Reference BLAS.
            if COLS && b[l] == V::T::ZERO {
                continue;
            }
            if normal {
                b[l] = b[l] * inverse[l];
            } else if !unit {
                b[l] = b[l] / (*group.at[l].wrapping_add(j + l)).conj_if(conj);
            }
            for r in 0..G {
                let waiting = if upwards { r > l } else { r < l };
                // As a column, line l reaches row r; as a row, line r reaches element l.
                let (line, row) = if COLS { (l, r) } else { (r, l) };
                if waiting && (ROWS != rows::BAND || l.abs_diff(r) as isize <= reach) {
                    b[r] = b[r] - (*group.at[line].wrapping_add(j + row)).conj_if(conj) * b[l];
                }
            }
        }
        for (l, &b) in b.iter().enumerate() {
            *x.add(j + l) = b;
        }
        if COLS {
            for b in b.iter_mut() {
                *b = -*b;
            }
            add_lines_but_zeros::<V, G, ROWS>(&group, b, conj, x);
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
        while j + 4 <= n as isize {
            let mut f = [V::T::ZERO; 4];
            let mut line = [a; 4];
            let mut zeros = false;
            for l in 0..4 {
                let v = *y.offset((j + l as isize) * incy);
                zeros |= v == V::T::ZERO;
                f[l] = alpha * v.conj_if(conj_y);
                line[l] = a.offset((j + l as isize) * ld);
            }
            if zeros {
                break;
            }
            lines::update_lines::<V, 4, false>(m, f, x, f, x, conj_x, line);
            j += 4;
        }
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
        macro_rules! groups {
            ($HEAD:literal, $TWO:literal, $beta:expr) => {{
                by_groups!(j in from, to; 4, 1; |N| {
                    rank_group::<V, N, $HEAD, $TWO>(alpha, $beta, x, y, hermitian, a, j);
                })
            }};
        }
        match (a.is_head(), beta) {
            (true, None) => groups!(true, false, alpha),
            (false, None) => groups!(false, false, alpha),
            (true, Some(beta)) => groups!(true, true, beta),
            (false, Some(beta)) => groups!(false, true, beta),
        }
    }
}

/// Lines j..j+G: the square on the diagonal element by element, the rows outside it in one pass.
#[inline(always)]
unsafe fn rank_group<V: Elements, const G: usize, const HEAD: bool, const TWO: bool>(
    alpha: V::T,
    beta: V::T,
    x: *const V::T,
    y: *const V::T,
    hermitian: bool,
    a: &Lines<V::T>,
    j: usize,
) {
    // SAFETY: as above.
    unsafe {
        let columns = a.axis() == Axis::Cols;
        // Element (i, j) of a stored column is alpha x(i) conj(y(j)); of a stored row j it is alpha x(j) conj(y(i)).
        let conj = hermitian && !columns;
        let (v, w) = if columns { (x, y) } else { (y, x) };
        let (mut f, mut g) = ([V::T::ZERO; G], [V::T::ZERO; G]);
        let mut at = [a.at(j).cast_mut(); G];
        // Zeros skip the line, NaN in the other elements or not, as in Reference BLAS.
        let mut skipped = [false; G];
        let mut all = true;
        for l in 0..G {
            let (own, other) = (*w.add(j + l), *v.add(j + l));
            f[l] = alpha * own.conj_if(hermitian && columns);
            g[l] = beta * other.conj_if(hermitian && columns);
            at[l] = a.at(j + l).cast_mut();
            skipped[l] = own == V::T::ZERO && other == V::T::ZERO;
            all &= !skipped[l];
        }
        let (start, end) = if HEAD { (0, j) } else { (j + G, a.line_len()) };
        let (vs, ws) = (v.add(start), w.add(start));
        if all {
            let mut line = at;
            for p in line.iter_mut() {
                *p = p.wrapping_add(start);
            }
            lines::update_lines::<V, G, TWO>(end - start, f, vs, g, ws, conj, line);
        }
        for l in 0..G {
            if skipped[l] {
                // nothing but the diagonal's imaginary part, below
            } else if !all {
                let (lo, hi) = a.range(j + l);
                let (vs, ws, line) = (v.add(lo), w.add(lo), at[l].wrapping_add(lo));
                lines::update_lines::<V, 1, TWO>(hi - lo, [f[l]], vs, [g[l]], ws, conj, [line]);
            } else {
                let (lo, hi) = if HEAD { (0, l + 1) } else { (l, G) };
                for r in 0..G {
                    if r >= lo && r < hi {
                        let p = at[l].wrapping_add(j + r);
                        let mut sum = *p + f[l] * (*v.add(j + r)).conj_if(conj);
                        if TWO {
                            sum += g[l] * (*w.add(j + r)).conj_if(conj);
                        }
                        *p = sum;
                    }
                }
            }
            if hermitian {
                let d = at[l].wrapping_add(j + l);
                *d = V::T::from_real((*d).re());
            }
        }
    }
}
