//! Products with triangles and their solution: a square on the diagonal element by element, the rest by passes.

use super::bands::*;
use super::*;

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
pub(super) unsafe fn tri_group<V: Elements, const G: usize, const ROWS: u8, const COLS: bool>(
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
pub(super) unsafe fn tri_band_dots<V: Elements>(a: &Lines<V::T>, diag: Diag, x: *mut V::T, upwards: bool) {
    // SAFETY: the contract of the file.
    unsafe {
        let n = a.lines();
        let unit = diag == Diag::Unit;
        let a = if unit { a.strict() } else { *a };
        let old = if unit { Some(x.cast_const()) } else { None };
        if narrow(V::T::ONE, &a, Axis::Rows, x, old, x, 0, n, upwards, Zeros::Count) {
            return;
        }
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
pub(super) unsafe fn tri_band_mv<V: Elements>(a: &Lines<V::T>, diag: Diag, x: *mut V::T, upwards: bool) {
    // SAFETY: the contract of the file.
    unsafe {
        let n = a.lines();
        let unit = diag == Diag::Unit;
        let a = if unit { a.strict() } else { *a };
        let old = if unit { Some(x.cast_const()) } else { None };
        if narrow(V::T::ONE, &a, Axis::Cols, x, old, x, 0, n, upwards, Zeros::Skip) {
            return;
        }
        let nothing = [V::T::ZERO; crate::kernels::tile::MAX_WIDTH];
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
        if a.is_banded() && narrow_solve(a, diag, x) {
            return;
        }
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

/// The reciprocal of a diagonal element whose magnitude is within [`solve_range`]: one division of reals.
#[inline(always)]
pub(super) fn reciprocal<T: Scalar>(d: T) -> T {
    if !T::IS_COMPLEX {
        return T::ONE / d;
    }
    let (re, im) = (d.re(), d.im());
    let by = T::Real::ONE / (re * re + im * im);
    T::from_parts(re * by, -(im * by))
}

/// Magnitudes of a diagonal element between which nothing on the way to its reciprocal leaves the range of normal numbers.
#[inline(always)]
pub(super) fn solve_range<T: Scalar>() -> (T::Real, T::Real) {
    let most = match (size_of::<T::Real>() == 8, T::IS_COMPLEX) {
        (true, false) => 1e300,
        (true, true) => 1e150,
        (false, false) => 1e36,
        (false, true) => 1e18,
    };
    (Real::from_f64(1.0 / most), Real::from_f64(most))
}

/// Lines j..j+G: the square on the diagonal element by element, the rows outside it in one pass.
#[inline(always)]
pub(super) unsafe fn solve_group<V: Elements, const G: usize, const HEAD: bool, const COLS: bool, const ROWS: u8>(
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
        // The divisions do not wait for each other: reciprocals of the diagonal, where all are in range.
        let mut inverse = [V::T::ONE; G];
        let mut normal = G > 1 && !unit;
        if normal {
            let (least, most) = solve_range::<V::T>();
            for l in 0..G {
                let d = (*group.at[l].wrapping_add(j + l)).conj_if(conj);
                inverse[l] = reciprocal(d);
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
