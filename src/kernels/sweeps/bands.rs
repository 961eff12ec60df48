//! Bands: blocks of rows whose sums stay in registers while the columns that reach them go by; dot products where lines are
//! rows; a few diagonals element by element.

use super::*;

/// Adds alpha times the products of lines from..to of a band with x to y.
#[inline(always)]
pub(super) unsafe fn band_dots<V: Elements>(
    alpha: V::T,
    a: &Lines<V::T>,
    x: *const V::T,
    y: *mut V::T,
    from: usize,
    to: usize,
) {
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
pub(super) unsafe fn band_dots_at<V: Elements>(
    a: &Lines<V::T>,
    x: *const V::T,
    i: usize,
    to: usize,
) -> ([V::T; 4], usize) {
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

/// Whether a line whose factor is zero is added all the same (a NaN in it counts), or skipped.
#[derive(Clone, Copy, PartialEq)]
pub(super) enum Zeros {
    Count,
    Skip,
}

/// Adds rows from..to of alpha A x to y; A is a band whose lines are columns. A few vectors of rows at a time, which stay
/// in registers while the columns that cross these rows go by: y is not handed from column to column through memory.
#[inline(always)]
pub(super) unsafe fn band_columns<V: Elements>(
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
pub(super) unsafe fn band_rows<V: Elements>(
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
pub(super) unsafe fn narrow_rows<T: Scalar, const W: usize>(
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
pub(super) unsafe fn narrow<T: Scalar>(
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
pub(super) unsafe fn add_scaled<V: Elements>(y: V, alpha: V::T, sum: V::Sum, conj: bool) -> V {
    // SAFETY: the contract of the file.
    unsafe { y.add_product(V::factor(alpha, false), V::finish_zero(sum, conj).turned()) }
}

/// The same for R vectors of rows in the middle of a band that is at least as wide.
#[inline(always)]
pub(super) unsafe fn band_block<V: Elements, const R: usize>(
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
