//! Bands: blocks of rows whose sums stay in registers while the columns that reach them go by; dot products where lines are
//! rows; narrow bands element by element.

use super::triangular::{reciprocal, solve_range};
use super::*;
use crate::kernels::tile::opaque;

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
        if narrow(alpha, a, Axis::Rows, x, Some(y.cast_const()), y, from, to, true, Zeros::Count) {
            return;
        }
        let mut i = from;
        while i < to {
            let (sums, count) = band_dots_at::<V>(a, x, i, to);
            let mut l = 0;
            while l < count {
                *y.add(i + l) = alpha * sums[l] + *y.add(i + l);
                // One by one: AVX-512's gathers and scatters are slower.
                l = opaque(l + 1);
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
        let conj = a.is_conj();
        let (before, after) = a.reach();
        let inside = i as isize >= before && i as isize + 3 + after < a.line_len() as isize;
        if !inside || i + 4 > to {
            // The same sum as that of four: which rows are at the end of a piece depends on the number of threads.
            return ([line_dot::<V>(hi - lo, a.at(i).wrapping_add(lo), conj, x.add(lo)); 4], 1);
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

/// The product of a line with x, in one sum.
#[inline(always)]
unsafe fn line_dot<V: Elements>(n: usize, line: *const V::T, conj: bool, x: *const V::T) -> V::T {
    // SAFETY: the contract of the file.
    unsafe {
        let mut dot = V::dot_zero();
        let mut k = 0;
        while k + V::LANES <= n {
            dot = V::dot_step(dot, V::load(line.wrapping_add(k)), V::load(x.add(k)).turned());
            k += V::LANES;
        }
        if k < n {
            dot = V::dot_step(dot, V::load_first(line.wrapping_add(k), n - k), V::load_first(x.add(k), n - k).turned());
        }
        V::dot_total(dot, conj)
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
        if narrow(alpha, a, Axis::Cols, x, Some(y.cast_const()), y, from, to, true, zeros) {
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

// Bands of a few diagonals go element by element: vectors would be corners for the most part. The compiler would make
// vectors of them all the same, from elements gathered one by one, with more tests before each loop than a small band has
// elements; a counter of which it knows nothing keeps it from that.
#[inline(always)]
fn next(i: isize) -> isize {
    opaque((i + 1) as usize) as isize
}

/// The elements of a row in one triangle, or in all of a band: consecutive columns, of which column c is at
/// `row i's address + c*step`. Whether lines are columns or rows is no more than that step.
#[derive(Clone, Copy)]
struct Arm<T> {
    /// The first element of row 0, and from one row's first to the next's.
    at: *const T,
    row: isize,
    step: isize,
    /// The column of row 0's first element, the number of elements, the number of columns there are.
    first: isize,
    width: isize,
    columns: isize,
    conj: bool,
}

impl<T: Scalar> Arm<T> {
    /// Of lines that are taken for columns, or for rows.
    #[inline(always)]
    fn new(a: &Lines<T>, axis: Axis, conj: bool) -> Self {
        let (before, after) = a.reach();
        let (first, step, columns) =
            if axis == Axis::Cols { (-after, a.step(), a.lines()) } else { (-before, 1, a.line_len()) };
        let at = a.at(0).wrapping_offset(first * step);
        Arm { at, row: a.step() + 1, step, first, width: before + after + 1, columns: columns as isize, conj }
    }
    /// Element times x; without x's zeros, NaN in the element or not, if they are skipped.
    #[inline(always)]
    fn term<const SKIP: bool>(&self, element: T, x: T) -> T {
        let term = element.conj_if(self.conj) * x;
        if SKIP && x == T::ZERO { T::ZERO } else { term }
    }
    /// Adds row i times x, cut off where the matrix ends.
    #[inline(always)]
    unsafe fn add_corner<const SKIP: bool>(&self, mut sum: T, i: isize, x: *const T) -> T {
        // SAFETY: the contract of the file.
        unsafe {
            let (p, first) = (self.at.wrapping_offset(i * self.row), self.first + i);
            let mut t = if first < 0 { -first } else { 0 };
            let end = if first + self.width > self.columns { self.columns - first } else { self.width };
            while t < end {
                sum += self.term::<SKIP>(*p.wrapping_offset(t * self.step), *x.offset(first + t));
                t = next(t);
            }
            sum
        }
    }
    /// The same of W elements, all of which the matrix has.
    #[inline(always)]
    unsafe fn add_row<const W: usize, const SKIP: bool>(&self, mut sum: T, i: isize, x: *const T) -> T {
        // SAFETY: the contract of the file.
        unsafe {
            let (p, x) = (self.at.wrapping_offset(i * self.row), x.wrapping_offset(self.first + i));
            for t in 0..W {
                sum += self.term::<SKIP>(*p.wrapping_offset(t as isize * self.step), *x.add(t));
            }
            sum
        }
    }
}

/// out := alpha A x + y, or without y, for rows from..to, upwards or downwards. Row i of A is W elements of `one` and, in a
/// symmetric band, V of the other triangle and one of the diagonal.
#[inline(always)]
unsafe fn narrow_rows<T: Scalar, const W: usize, const V: usize, const SKIP: bool>(
    alpha: T,
    one: Arm<T>,
    other: Arm<T>,
    diagonal: Option<(Arm<T>, bool)>,
    x: *const T,
    y: Option<*const T>,
    out: *mut T,
    from: usize,
    to: usize,
    upwards: bool,
) {
    // SAFETY: the contract of the file.
    unsafe {
        let (from, to) = (from as isize, to as isize);
        // Rows that are cut off nowhere.
        let (mut low, mut high) = (-one.first, one.columns - one.first - one.width + 1);
        if V > 0 {
            low = if -other.first > low { -other.first } else { low };
            let until = other.columns - other.first - other.width + 1;
            high = if until < high { until } else { high };
        }
        low = if low < from { from } else { low };
        low = if low > to { to } else { low };
        high = if high < low { low } else { high };
        high = if high > to { to } else { high };
        macro_rules! rows {
            ($from:expr, $to:expr, |$i:ident, $sum:ident| $add:expr) => {{
                let (from, to) = ($from, $to);
                let mut k = from;
                while k < to {
                    let $i = if upwards { k } else { from + to - 1 - k };
                    let mut $sum = T::ZERO;
                    if let Some((d, hermitian)) = diagonal {
                        let d = *d.at.wrapping_offset($i * d.row);
                        $sum = if hermitian { T::from_real(d.re()) } else { d } * *x.offset($i);
                    }
                    $add;
                    *out.offset($i) = match y {
                        Some(y) => alpha * $sum + *y.offset($i),
                        None => alpha * $sum,
                    };
                    k = next(k);
                }
            }};
        }
        macro_rules! corner {
            ($from:expr, $to:expr) => {
                rows!($from, $to, |i, sum| {
                    sum = one.add_corner::<SKIP>(sum, i, x);
                    if V > 0 {
                        sum = other.add_corner::<SKIP>(sum, i, x);
                    }
                })
            };
        }
        for part in 0..3 {
            match (part, upwards) {
                (0, true) | (2, false) => corner!(from, low),
                (1, _) => rows!(low, high, |i, sum| {
                    sum = one.add_row::<W, SKIP>(sum, i, x);
                    if V > 0 {
                        sum = other.add_row::<V, SKIP>(sum, i, x);
                    }
                }),
                _ => corner!(high, to),
            }
        }
    }
}

/// out := alpha A x + y, or without y, for rows from..to of a band, if it is narrow; says whether it was.
#[inline(always)]
pub(super) unsafe fn narrow<T: Scalar>(
    alpha: T,
    a: &Lines<T>,
    axis: Axis,
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
        let arm = Arm::new(a, axis, a.is_conj());
        // Columns fill vectors sooner than rows do, and complex numbers sooner than real ones.
        let most = match (T::IS_COMPLEX, axis) {
            (false, Axis::Rows) => 5,
            (false, Axis::Cols) => 3,
            (true, Axis::Cols) if size_of::<T>() == 16 => 3,
            (true, _) => -1,
        };
        if arm.width > most {
            return false;
        }
        macro_rules! of_width {
            ($($W:literal)+) => {
                match (arm.width, zeros) {
                    $(
                        ($W, Zeros::Count) => {
                            narrow_rows::<T, $W, 0, false>(alpha, arm, arm, None, x, y, out, from, to, upwards)
                        }
                        ($W, Zeros::Skip) => {
                            narrow_rows::<T, $W, 0, true>(alpha, arm, arm, None, x, y, out, from, to, upwards)
                        }
                    )+
                    _ => return false,
                }
            };
        }
        of_width!(0 1 2 3 4 5);
        true
    }
}

/// Adds alpha A x to y if A, a symmetric or Hermitian band with one triangle stored, is narrow; says whether it was.
#[inline(always)]
pub(super) unsafe fn narrow_symmetric<T: Scalar>(
    alpha: T,
    a: &Lines<T>,
    hermitian: bool,
    x: *const T,
    y: *mut T,
) -> bool {
    // SAFETY: the contract of the file.
    unsafe {
        // The stored triangle as columns, and as rows.
        let (conj_add, conj_dot) = super::symmetric::sym_conj(a, hermitian);
        let strict = a.strict();
        let (one, other) = (Arm::new(&strict, Axis::Cols, conj_add), Arm::new(&strict, Axis::Rows, conj_dot));
        let diagonal = Some((Arm { at: a.at(0), ..one }, hermitian));
        let (n, old) = (a.lines(), Some(y.cast_const()));
        match one.width {
            0 => narrow_rows::<T, 0, 0, false>(alpha, one, other, diagonal, x, old, y, 0, n, true),
            1 => narrow_rows::<T, 1, 1, false>(alpha, one, other, diagonal, x, old, y, 0, n, true),
            2 => narrow_rows::<T, 2, 2, false>(alpha, one, other, diagonal, x, old, y, 0, n, true),
            3 => narrow_rows::<T, 3, 3, false>(alpha, one, other, diagonal, x, old, y, 0, n, true),
            _ => return false,
        }
        true
    }
}

/// Solves A x = b, x in place of b, if A is a narrow triangular band; says whether it was.
#[inline(always)]
pub(super) unsafe fn narrow_solve<T: Scalar>(a: &Lines<T>, diag: Diag, x: *mut T) -> bool {
    // SAFETY: the contract of the file.
    unsafe {
        let (before, after) = a.reach();
        match (before + after, a.axis()) {
            (0, Axis::Cols) => narrow_solve_of::<T, 0, true>(a, diag, x),
            (0, Axis::Rows) => narrow_solve_of::<T, 0, false>(a, diag, x),
            (1, Axis::Cols) => narrow_solve_of::<T, 1, true>(a, diag, x),
            (2, Axis::Cols) => narrow_solve_of::<T, 2, true>(a, diag, x),
            (3, Axis::Cols) => narrow_solve_of::<T, 3, true>(a, diag, x),
            (1, Axis::Rows) => narrow_solve_of::<T, 1, false>(a, diag, x),
            (2, Axis::Rows) => narrow_solve_of::<T, 2, false>(a, diag, x),
            (3, Axis::Rows) => narrow_solve_of::<T, 3, false>(a, diag, x),
            _ => return false,
        }
        true
    }
}

/// W diagonals beside the main one. The last W elements of x stay in registers, and the diagonal's reciprocals wait for
/// nothing: from one element to the next it is two multiplications and a subtraction. Lines that are columns are skipped
/// where x is zero, NaN in them or not, as in Reference BLAS.
#[inline(always)]
unsafe fn narrow_solve_of<T: Scalar, const W: usize, const SKIP: bool>(a: &Lines<T>, diag: Diag, x: *mut T) {
    // SAFETY: the contract of the file.
    unsafe {
        let n = a.lines() as isize;
        let (unit, conj) = (diag == Diag::Unit, a.is_conj());
        // Upwards if the elements beside the diagonal are before it.
        let arm = Arm::new(&a.strict(), a.axis(), conj);
        let upwards = arm.first < 0;
        // The nearest of the W: the last of the row or its first.
        let (near, back) = if upwards { (arm.width - 1, -arm.step) } else { (0, arm.step) };
        let near = arm.at.wrapping_offset(near * arm.step);
        let (least, most) = solve_range::<T>();
        let mut last = [T::ZERO; W];
        let mut k = 0;
        while k < n {
            let i = if upwards { k } else { n - 1 - k };
            let mut value = *x.offset(i);
            let p = near.wrapping_offset(i * arm.row);
            // The nearest comes last: it was computed last.
            for t in (0..W).rev() {
                if (t as isize) < k {
                    value = value - arm.term::<SKIP>(*p.wrapping_offset(t as isize * back), last[t]);
                }
            }
            if !unit {
                let d = (*a.at(0).wrapping_offset(i * arm.row)).conj_if(conj);
                let (inverse, size) = (reciprocal(d), d.abs1());
                let zero = SKIP && value == T::ZERO;
                value = if size > least && size < most { value * inverse } else { value / d };
                value = if zero { T::ZERO } else { value };
            }
            *x.offset(i) = value;
            for t in (1..W).rev() {
                last[t] = last[t - 1];
            }
            if W > 0 {
                last[0] = value;
            }
            k = next(k);
        }
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
