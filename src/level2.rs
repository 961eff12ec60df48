//! Level 2: a matrix and vectors.
//!
//! Every storage is [`Lines`]; six algorithms on lines are all of level 2. Vectors with other increments than one are
//! gathered into scratch memory first, so the inner loops are always the line kernels; where there is no scratch memory
//! the same algorithms run on the strided vectors themselves.

use crate::kernels::LineKernel;
use crate::level1;
use crate::matrix::{Axis, Diag, Lines, LinesMut, MatMut, Symmetry, VecMut, VecRef};
use crate::runtime::memory::Scratch;
use crate::runtime::pool;
use crate::scalar::Scalar;

#[inline(always)]
fn kernel<T: Scalar>() -> &'static dyn LineKernel<T> {
    T::kernels().lines
}

/// Copies of strided vectors at consecutive addresses.
struct Gathered {
    scratch: Option<Scratch>,
    used: usize,
}

impl Gathered {
    /// Room for all vectors of the given lengths that need it.
    fn room<T: Scalar>(vectors: &[(usize, isize)]) -> Gathered {
        let needed: usize = vectors.iter().filter(|(_, inc)| *inc != 1).map(|(len, _)| len).sum();
        Gathered { scratch: if needed > 0 { Scratch::take_for::<T>(needed) } else { None }, used: 0 }
    }
    /// `len` consecutive elements, if there is room.
    fn reserve<'a, T: Scalar>(&mut self, len: usize) -> Option<VecMut<'a, T>> {
        let at = self.scratch.as_ref()?.ptr::<T>().wrapping_add(self.used);
        self.used += len;
        // SAFETY: `room` counted every strided vector; each gets elements of its own, alive as long as self.
        Some(unsafe { VecMut::new(at, len, 1) })
    }
    /// The vector itself if it is consecutive or there is no room, else a consecutive vector for its elements.
    fn place<'a, T: Scalar>(&mut self, v: VecMut<'a, T>) -> VecMut<'a, T> {
        if v.inc() == 1 {
            return v;
        }
        self.reserve(v.len()).unwrap_or(v)
    }
    /// The same for a vector that is only read, with its elements.
    fn read<'a, T: Scalar>(&mut self, v: VecRef<'a, T>) -> VecRef<'a, T> {
        if v.inc() == 1 {
            return v;
        }
        let Some(place) = self.reserve(v.len()) else { return v };
        let copy = place.as_ref();
        level1::copy(v, place);
        copy
    }
}

/// y := beta y; beta == 0 never reads y.
fn scale<T: Scalar>(beta: T, y: &mut VecMut<T>) {
    if beta == T::ONE {
        return;
    }
    if beta != T::ZERO && y.inc() == 1 {
        // SAFETY: the view's own elements.
        unsafe { kernel::<T>().scal(y.len(), beta, y.ptr()) };
        return;
    }
    for i in 0..y.len() {
        let v = if beta == T::ZERO { T::ZERO } else { beta * y.get(i) };
        y.set(i, v);
    }
}

/// y := alpha A x + beta y.
pub fn mv<T: Scalar>(alpha: T, a: Lines<T>, x: VecRef<T>, beta: T, y: VecMut<T>) {
    let (m, n) = (a.rows(), a.cols());
    if m == 0 {
        return;
    }
    let mut room = Gathered::room::<T>(&[(n, x.inc()), (m, y.inc())]);
    let mut result = y;
    scale(beta, &mut result);
    if alpha == T::ZERO || n == 0 {
        return;
    }
    let x = room.read(x);
    let y = room.place(result.sub(0, m));
    let copied = y.ptr() != result.ptr();
    if copied {
        level1::copy(result.as_ref(), y.sub(0, m));
    }
    let threads = pool::threads_for(2.0 * m as f64 * n as f64 * if T::IS_COMPLEX { 4.0 } else { 1.0 });
    // Rows of y are shared: every element of y is the same sum whoever computes it. Pieces of whole cache lines.
    let piece = m.div_ceil(threads).next_multiple_of(64);
    pool::run(m.div_ceil(piece), threads, &|task| {
        let i = task * piece;
        mv_rows(alpha, a, x, y.sub(0, m), i, (i + piece).min(m));
    });
    if copied {
        level1::copy(y.as_ref(), result);
    }
}

/// Adds rows from..to of alpha A x to y. Four lines at a time where all lines cover the same elements.
fn mv_rows<T: Scalar>(alpha: T, a: Lines<T>, x: VecRef<T>, y: VecMut<T>, from: usize, to: usize) {
    let mut y = y;
    let by_fours = a.whole().is_some() && x.inc() == 1 && y.inc() == 1;
    match a.axis() {
        Axis::Cols => {
            let fours = if by_fours { a.lines() / 4 * 4 } else { 0 };
            for j in (0..fours).step_by(4) {
                let factors = core::array::from_fn(|l| alpha * x.get(j + l));
                // SAFETY: each line has elements from..to, so has y.
                unsafe { kernel::<T>().axpy4(to - from, factors, a.four(j, from), a.is_conj(), y.ptr().add(from)) };
            }
            for j in fours..a.lines() {
                let (lo, line) = clip(a.line(j), from, to);
                add_line(alpha * x.get(j), line, a.is_conj(), &y.sub(lo, line.len()));
            }
        }
        Axis::Rows => {
            let fours = if by_fours { from + (to - from) / 4 * 4 } else { from };
            for i in (from..fours).step_by(4) {
                // SAFETY: each line has as many elements as x.
                let sums = unsafe { kernel::<T>().dot4(x.len(), a.four(i, 0), a.is_conj(), x.ptr()) };
                for (l, sum) in sums.into_iter().enumerate() {
                    y.set(i + l, alpha * sum + y.get(i + l));
                }
            }
            for i in fours..to {
                let (lo, line) = a.line(i);
                let sum = line_dot(line, a.is_conj(), x.sub(lo, line.len()));
                y.set(i, alpha * sum + y.get(i));
            }
        }
    }
}

/// The part of a line inside from..to.
#[inline]
fn clip<T: Scalar>((lo, line): (usize, VecRef<T>), from: usize, to: usize) -> (usize, VecRef<T>) {
    let hi = (lo + line.len()).min(to);
    let start = lo.max(from).min(hi.max(lo));
    (start, line.sub(start - lo, hi.saturating_sub(start)))
}

/// y := factor line + y, whatever the factor: a NaN in the line counts even times zero, as in one pass over four columns.
#[inline]
fn add_line<T: Scalar>(factor: T, line: VecRef<T>, conj: bool, y: &VecMut<T>) {
    if y.inc() == 1 {
        // SAFETY: the views' own elements.
        unsafe { kernel::<T>().axpy(line.len(), factor, line.ptr(), conj, y.ptr()) };
        return;
    }
    let mut y = y.sub(0, y.len());
    for i in 0..line.len() {
        y.set(i, factor * line.get(i).conj_if(conj) + y.get(i));
    }
}

/// The product of a line with as many elements of x.
#[inline]
fn line_dot<T: Scalar>(line: VecRef<T>, conj: bool, x: VecRef<T>) -> T {
    if x.inc() == 1 {
        // SAFETY: the views' own elements.
        return unsafe { kernel::<T>().dot1(line.len(), line.ptr(), conj, x.ptr()) };
    }
    level1::dot(line, conj, x)
}

/// y := alpha A x + beta y, A symmetric or Hermitian with one triangle in `a`.
pub fn sym_mv<T: Scalar>(alpha: T, a: Lines<T>, symmetry: Symmetry, x: VecRef<T>, beta: T, y: VecMut<T>) {
    let n = a.lines();
    if n == 0 {
        return;
    }
    let mut room = Gathered::room::<T>(&[(n, x.inc()), (n, y.inc())]);
    let mut result = y;
    scale(beta, &mut result);
    if alpha == T::ZERO {
        return;
    }
    let x = room.read(x);
    let mut y = room.place(result.sub(0, n));
    let copied = y.ptr() != result.ptr();
    if copied {
        level1::copy(result.as_ref(), y.sub(0, n));
    }
    let hermitian = symmetry.is_hermitian();
    // Stored columns act on y as they are and on y(j) conjugated; stored rows the other way round.
    let (conj_axpy, conj_dot) =
        if !hermitian { (false, false) } else { (a.axis() == Axis::Rows, a.axis() == Axis::Cols) };
    let diagonal = |d: T| if hermitian { T::from_real(d.re()) } else { d };
    let fours = if !a.is_banded() && x.inc() == 1 && y.inc() == 1 { n / 4 * 4 } else { 0 };
    for j in (0..fours).step_by(4) {
        // Four lines share all rows before (or behind) the square on the diagonal, which is done element by element.
        let (lo, len) = shared_rows(a, j);
        let ax: [T; 4] = core::array::from_fn(|l| alpha * x.get(j + l));
        // SAFETY: all four lines, x and y have rows lo..lo+len; the lines lie in A, apart from x and y.
        let sums = unsafe {
            let (yl, xl) = (y.ptr().add(lo), x.ptr().add(lo));
            kernel::<T>().axpy_dot4(len, a.four(j, lo), conj_axpy, ax, yl, conj_dot, xl)
        };
        for l in 0..4 {
            let (first, line, d) = off_diagonal(a, j + l);
            let (at, inside) = clip((first, line), j, j + 4);
            let mut own = alpha * sums[l] + ax[l] * diagonal(d);
            for (i, row) in (at..at + inside.len()).enumerate() {
                let v = inside.get(i);
                y.set(row, y.get(row) + ax[l] * v.conj_if(conj_axpy));
                own += alpha * (v.conj_if(conj_dot) * x.get(row));
            }
            y.set(j + l, y.get(j + l) + own);
        }
    }
    for j in fours..n {
        let (lo, line, d) = off_diagonal(a, j);
        let ax = alpha * x.get(j);
        let (yl, xl) = (y.sub(lo, line.len()), x.sub(lo, line.len()));
        let sum = if yl.inc() == 1 && xl.inc() == 1 {
            // SAFETY: the views' own elements; the line lies in A, apart from x and y.
            unsafe { kernel::<T>().axpy_dot(line.len(), line.ptr(), conj_axpy, ax, yl.ptr(), conj_dot, xl.ptr()) }
        } else {
            add_line(ax, line, conj_axpy, &yl);
            level1::dot(line, conj_dot, xl)
        };
        y.set(j, y.get(j) + ax * diagonal(d) + alpha * sum);
    }
    if copied {
        level1::copy(y.as_ref(), result);
    }
}

/// Line j of a triangle without its diagonal element, and that element.
#[inline]
fn off_diagonal<T: Scalar>(a: Lines<T>, j: usize) -> (usize, VecRef<T>, T) {
    let (lo, line) = a.line(j);
    let rest = line.len() - 1;
    if a.is_head() { (lo, line.sub(0, rest), line.get(rest)) } else { (lo + 1, line.sub(1, rest), line.get(0)) }
}

/// The rows that lines j..j+4 of a triangle in full or packed storage have in common, clear of the diagonal: the first
/// and how many.
#[inline]
fn shared_rows<T: Scalar>(a: Lines<T>, j: usize) -> (usize, usize) {
    if a.is_head() { (0, j) } else { (j + 4, a.lines() - (j + 4)) }
}

/// x := A x, A triangular.
pub fn tri_mv<T: Scalar>(a: Lines<T>, diag: Diag, x: VecMut<T>) {
    triangular(a, diag, x, false);
}

/// Solves A x = b, A triangular; x replaces b.
pub fn tri_sv<T: Scalar>(a: Lines<T>, diag: Diag, x: VecMut<T>) {
    triangular(a, diag, x, true);
}

/// Goes through the lines in the order in which each needs only elements of x that are still (products) or already
/// (solutions) what it wants; four at a time where they share rows.
fn triangular<T: Scalar>(a: Lines<T>, diag: Diag, x: VecMut<T>, solving: bool) {
    let n = a.lines();
    let mut room = Gathered::room::<T>(&[(n, x.inc())]);
    let mut work = room.place(x.sub(0, n));
    let copied = work.ptr() != x.ptr();
    if copied {
        level1::copy(x.as_ref(), work.sub(0, n));
    }
    // Head lines (0..=j) as columns change what stands before j: a product goes upwards, a solution downwards. Rows, tails
    // and solutions each turn that round.
    let upwards = (a.is_head() == (a.axis() == Axis::Cols)) != solving;
    let by_fours = !a.is_banded() && work.inc() == 1;
    let t = Triangle { a, diag, solving };
    let mut done = 0;
    while done < n {
        if by_fours && n - done >= 4 {
            t.four_lines(if upwards { done } else { n - done - 4 }, upwards, &mut work);
            done += 4;
        } else {
            t.line(if upwards { done } else { n - done - 1 }, 0, n, T::ZERO, &mut work);
            done += 1;
        }
    }
    if copied {
        level1::copy(work.as_ref(), x);
    }
}

#[derive(Clone, Copy)]
struct Triangle<'a, T> {
    a: Lines<'a, T>,
    diag: Diag,
    solving: bool,
}

impl<T: Scalar> Triangle<'_, T> {
    /// What line j does to x, or x to element j, within elements from..to; `rest` is the product of a row with those
    /// outside.
    #[inline]
    fn line(self, j: usize, from: usize, to: usize, rest: T, x: &mut VecMut<T>) {
        let conj = self.a.is_conj();
        let (first, line, d) = off_diagonal(self.a, j);
        let (lo, line) = clip((first, line), from, to);
        let others = x.sub(lo, line.len());
        let (old, unit) = (x.get(j), self.diag == Diag::Unit);
        match self.a.axis() {
            // A zero in x skips the column, NaN in it or not, as in Reference BLAS.
            Axis::Cols if old == T::ZERO => {}
            Axis::Cols => {
                let new = match (unit, self.solving) {
                    (true, _) => old,
                    (false, false) => d.conj_if(conj) * old,
                    (false, true) => old / d.conj_if(conj),
                };
                x.set(j, new);
                add_line(if self.solving { -new } else { old }, line, conj, &others);
            }
            Axis::Rows => {
                let sum = line_dot(line, conj, others.as_ref()) + rest;
                let new = match (unit, self.solving) {
                    (true, false) => old + sum,
                    (true, true) => old - sum,
                    (false, false) => d.conj_if(conj) * old + sum,
                    (false, true) => (old - sum) / d.conj_if(conj),
                };
                x.set(j, new);
            }
        }
    }

    /// Lines j..j+4: the rows that they share in one pass, the square on the diagonal line by line.
    fn four_lines(self, j: usize, upwards: bool, x: &mut VecMut<T>) {
        let (lo, len) = shared_rows(self.a, j);
        let four = self.a.four(j, lo);
        let conj = self.a.is_conj();
        let mut rest = [T::ZERO; 4];
        let each = |x: &mut VecMut<T>, from: usize, to: usize, rest: [T; 4]| {
            for step in 0..4 {
                let l = if upwards { step } else { 3 - step };
                self.line(j + l, from, to, rest[l], x);
            }
        };
        if self.a.axis() == Axis::Rows {
            if len > 0 {
                // SAFETY: the four lines and x have rows lo..lo+len.
                rest = unsafe { kernel::<T>().dot4(len, four, conj, x.ptr().add(lo)) };
            }
            return each(x, j, j + 4, rest);
        }
        if self.solving {
            each(x, j, j + 4, rest);
        }
        let factors: [T; 4] = core::array::from_fn(|l| if self.solving { -x.get(j + l) } else { x.get(j + l) });
        if factors.contains(&T::ZERO) {
            // Zeros skip their columns: one at a time.
            for (l, &factor) in factors.iter().enumerate().filter(|(_, f)| **f != T::ZERO) {
                let (_, line) = clip(self.a.line(j + l), lo, lo + len);
                add_line(factor, line, conj, &x.sub(lo, line.len()));
            }
        } else if len > 0 {
            // SAFETY: the four lines and x have rows lo..lo+len.
            unsafe { kernel::<T>().axpy4(len, factors, four, conj, x.ptr().add(lo)) };
        }
        if !self.solving {
            each(x, j, j + 4, rest);
        }
    }
}

/// A := alpha x y^T + A, either vector conjugated.
pub fn ger<T: Scalar>(alpha: T, x: VecRef<T>, conj_x: bool, y: VecRef<T>, conj_y: bool, a: MatMut<T>) {
    if a.rs() != 1 && a.cs() == 1 {
        return ger(alpha, y, conj_y, x, conj_x, a.t());
    }
    let (m, n) = (a.rows(), a.cols());
    if m == 0 || n == 0 || alpha == T::ZERO {
        return;
    }
    let mut room = Gathered::room::<T>(&[(m, x.inc())]);
    let x = room.read(x);
    let threads = pool::threads_for(2.0 * m as f64 * n as f64 * if T::IS_COMPLEX { 4.0 } else { 1.0 });
    let piece = n.div_ceil(threads);
    pool::run(n.div_ceil(piece), threads, &|task| {
        for j in task * piece..((task + 1) * piece).min(n) {
            // A zero in y skips the column, NaN in x or not, as in Reference BLAS.
            if y.get(j) != T::ZERO {
                rank_one_line(alpha * y.get(j).conj_if(conj_y), x, conj_x, &a.col(j));
            }
        }
    });
}

/// line := factor x + line.
#[inline]
fn rank_one_line<T: Scalar>(factor: T, x: VecRef<T>, conj_x: bool, line: &VecMut<T>) {
    if x.inc() == 1 && line.inc() == 1 {
        // SAFETY: the views' own elements.
        unsafe { kernel::<T>().axpy(x.len(), factor, x.ptr(), conj_x, line.ptr()) };
        return;
    }
    let mut line = line.sub(0, line.len());
    for i in 0..x.len() {
        line.set(i, factor * x.get(i).conj_if(conj_x) + line.get(i));
    }
}

/// A := alpha x x^T + A on the stored triangle, or alpha x x^H with a real alpha.
pub fn sym_rank1<T: Scalar>(alpha: T, x: VecRef<T>, symmetry: Symmetry, a: LinesMut<T>) {
    rank_update(&[(alpha, x, x)], symmetry, a);
}

/// A := alpha x y^T + alpha y x^T + A on the stored triangle, or alpha x y^H + conj(alpha) y x^H.
pub fn sym_rank2<T: Scalar>(alpha: T, x: VecRef<T>, y: VecRef<T>, symmetry: Symmetry, a: LinesMut<T>) {
    let mirrored = alpha.conj_if(symmetry.is_hermitian());
    rank_update(&[(alpha, x, y), (mirrored, y, x)], symmetry, a);
}

/// Adds the terms alpha x y^T (y^H) to the stored triangle.
fn rank_update<T: Scalar>(terms: &[(T, VecRef<T>, VecRef<T>)], symmetry: Symmetry, a: LinesMut<T>) {
    let n = a.as_ref().lines();
    let hermitian = symmetry.is_hermitian();
    if n == 0 || terms[0].0 == T::ZERO {
        return;
    }
    let mut room = match terms {
        [(_, x, _)] => Gathered::room::<T>(&[(n, x.inc())]),
        _ => Gathered::room::<T>(&[(n, terms[0].1.inc()), (n, terms[0].2.inc())]),
    };
    let first = room.read(terms[0].1);
    let second = if terms.len() > 1 { room.read(terms[1].1) } else { first };
    let columns = a.as_ref().axis() == Axis::Cols;
    for j in 0..n {
        let (lo, line) = a.line(j);
        // Zeros skip the line, NaN in the other elements or not, as in Reference BLAS.
        let skipped = first.get(j) == T::ZERO && second.get(j) == T::ZERO;
        // Element (i, j) of a stored column is alpha x(i) conj(y(j)); of a stored row j it is alpha x(j) conj(y(i)).
        let conj = hermitian && !columns;
        let term = |t: usize| {
            let (x, y) = if t == 0 { (first, second) } else { (second, first) };
            let alpha = terms[t].0;
            if columns {
                (alpha * y.get(j).conj_if(hermitian), x.sub(lo, line.len()))
            } else {
                (alpha * x.get(j), y.sub(lo, line.len()))
            }
        };
        if skipped {
        } else if terms.len() == 2 && first.inc() == 1 && second.inc() == 1 {
            let ((f0, v0), (f1, v1)) = (term(0), term(1));
            // SAFETY: the views' own elements.
            unsafe { kernel::<T>().axpy2(line.len(), [f0, f1], [v0.ptr(), v1.ptr()], conj, line.ptr()) };
        } else {
            for t in 0..terms.len() {
                let (factor, v) = term(t);
                rank_one_line(factor, v, conj, &line);
            }
        }
        if hermitian {
            let mut diagonal = line.sub(j - lo, 1);
            let d = T::from_real(diagonal.get(0).re());
            diagonal.set(0, d);
        }
    }
}
