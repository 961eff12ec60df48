//! Level 2: a matrix and vectors.
//!
//! Every storage is [`Lines`]; six algorithms on lines are all of level 2, and each is one kernel (`kernels/sweeps/`).
//! Here vectors with other increments than one are gathered into scratch memory, factors of zero are seen to, and
//! large matrices are cut for the threads. Where there is no scratch memory the definitions at the end of this file run
//! on the strided vectors themselves.

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
    /// Room for all vectors of the given lengths that need it; `None` where there is no memory for it.
    #[inline]
    fn room<T: Scalar>(vectors: &[(usize, isize)]) -> Option<Gathered> {
        let needed: usize = vectors.iter().filter(|(_, inc)| *inc != 1).map(|(len, _)| len).sum();
        let scratch = if needed > 0 { Some(Scratch::take_for::<T>(needed)?) } else { None };
        Some(Gathered { scratch, used: 0 })
    }
    /// The vector itself if it is consecutive, else a consecutive vector for its elements.
    #[inline]
    fn place<'a, T: Scalar>(&mut self, v: VecMut<'a, T>) -> VecMut<'a, T> {
        let Some(scratch) = self.scratch.as_ref().filter(|_| v.inc() != 1) else { return v };
        let at = scratch.ptr::<T>().wrapping_add(self.used);
        self.used += v.len();
        // SAFETY: `room` counted every strided vector; each gets elements of its own, alive as long as self.
        unsafe { VecMut::new(at, v.len(), 1) }
    }
    /// The same for a vector whose elements are wanted.
    #[inline]
    fn read<'a, T: Scalar>(&mut self, v: VecRef<'a, T>) -> VecRef<'a, T> {
        if v.inc() == 1 {
            return v;
        }
        // SAFETY: a view of the same elements; it is not written through, as its increment is not one.
        let place = self.place(unsafe { VecMut::from_first(v.ptr().cast_mut(), v.len(), v.inc()) });
        let copy = place.as_ref();
        level1::copy(v, place);
        copy
    }
}

/// Work of a product with m n stored elements, as the thread pool counts it.
#[inline]
fn work<T: Scalar>(elements: f64) -> f64 {
    elements * if T::IS_COMPLEX { 8.0 } else { 2.0 }
}

/// y := beta y; beta == 0 never reads y.
#[inline]
fn scale<T: Scalar>(beta: T, y: &mut VecMut<T>) {
    if beta == T::ONE {
        return;
    }
    if beta != T::ZERO {
        return level1::scal(beta, y.sub(0, y.len()));
    }
    for i in 0..y.len() {
        y.set(i, T::ZERO);
    }
}

/// y := alpha A x + beta y.
pub fn mv<T: Scalar>(alpha: T, a: Lines<T>, x: VecRef<T>, beta: T, y: VecMut<T>) {
    let (m, n) = (a.rows(), a.cols());
    if m == 0 {
        return;
    }
    let mut result = y;
    scale(beta, &mut result);
    if alpha == T::ZERO || n == 0 {
        return;
    }
    let Some(mut room) = Gathered::room::<T>(&[(n, x.inc()), (m, result.inc())]) else {
        return mv_by_definition(alpha, a, x, result);
    };
    let x = room.read(x);
    let y = room.place(result.sub(0, m));
    let copied = y.inc() != result.inc();
    if copied {
        level1::copy(result.as_ref(), y.sub(0, m));
    }
    let threads = pool::threads_for(work::<T>(m as f64 * n as f64));
    if threads == 1 {
        // SAFETY: both vectors are consecutive and as long as the matrix is.
        unsafe { kernel::<T>().mv(alpha, &a, x.ptr(), y.ptr(), 0, m) };
    } else {
        // Rows of y are shared: every element of y is the same sum whoever computes it. Pieces of whole cache lines.
        let piece = m.div_ceil(threads).next_multiple_of(64);
        pool::run(m.div_ceil(piece), threads, &|task| {
            let i = task * piece;
            // SAFETY: as above; every task has rows of its own.
            unsafe { kernel::<T>().mv(alpha, &a, x.ptr(), y.ptr(), i, (i + piece).min(m)) };
        });
    }
    if copied {
        level1::copy(y.as_ref(), result);
    }
}

/// y := alpha A x + beta y, A symmetric or Hermitian with one triangle in `a`.
pub fn sym_mv<T: Scalar>(alpha: T, a: Lines<T>, symmetry: Symmetry, x: VecRef<T>, beta: T, y: VecMut<T>) {
    let n = a.lines();
    if n == 0 {
        return;
    }
    let mut result = y;
    scale(beta, &mut result);
    if alpha == T::ZERO {
        return;
    }
    let Some(mut room) = Gathered::room::<T>(&[(n, x.inc()), (n, result.inc())]) else {
        return sym_mv_by_definition(alpha, a, symmetry, x, result);
    };
    let x = room.read(x);
    let y = room.place(result.sub(0, n));
    let copied = y.inc() != result.inc();
    if copied {
        level1::copy(result.as_ref(), y.sub(0, n));
    }
    if n < SHARED || a.is_banded() || !sym_mv_in_parts(alpha, a, symmetry, x, y.sub(0, n)) {
        // SAFETY: both vectors are consecutive and as long as the matrix is.
        unsafe { kernel::<T>().sym_mv(alpha, &a, symmetry.is_hermitian(), x.ptr(), y.ptr(), 0, n) };
    }
    if copied {
        level1::copy(y.as_ref(), result);
    }
}

/// Triangles of at least so many lines are cut into parts; smaller ones are one thread's work.
const SHARED: usize = 1024;

/// Adds alpha A x to y, where each part of the triangle adds to a vector of its own, and these are added in order: what
/// the parts are depends on n alone. Says whether there was memory for it.
#[cold]
#[inline(never)]
fn sym_mv_in_parts<T: Scalar>(alpha: T, a: Lines<T>, symmetry: Symmetry, x: VecRef<T>, y: VecMut<T>) -> bool {
    let n = a.lines();
    let parts = (n / 512).clamp(2, 32);
    let Some(scratch) = Scratch::take_for::<T>(n * parts) else { return false };
    // SAFETY: the scratch memory has as many elements, and is alive until the end.
    let all = unsafe { VecMut::<T>::new(scratch.ptr::<T>(), n * parts, 1) };
    let own = |part: usize| all.sub(part * n, n);
    // Parts of equal area, in lines by fours: the first p parts of a triangle whose lines grow are n sqrt(p / parts) lines.
    let bound = |part: usize| match part {
        0 => 0,
        p if p == parts => n,
        p if a.is_head() => (n as f64 * (p as f64 / parts as f64).sqrt()) as usize / 4 * 4,
        p => (n - (n as f64 * (1.0 - p as f64 / parts as f64).sqrt()) as usize) / 4 * 4,
    };
    let rows = |part: usize| if a.is_head() { (0, bound(part + 1)) } else { (bound(part), n) };
    let threads = pool::threads_for(work::<T>(n as f64 * n as f64));
    pool::run(parts, threads, &|part| {
        let sum = own(part);
        let (lo, hi) = rows(part);
        scale(T::ZERO, &mut sum.sub(lo, hi - lo));
        let (from, to) = (bound(part), bound(part + 1));
        // SAFETY: every part has lines and a vector of its own; its lines reach no rows but lo..hi.
        unsafe { kernel::<T>().sym_mv(alpha, &a, symmetry.is_hermitian(), x.ptr(), sum.ptr(), from, to) };
    });
    for part in 0..parts {
        let (lo, hi) = rows(part);
        level1::axpy(T::ONE, own(part).as_ref().sub(lo, hi - lo), false, y.sub(lo, hi - lo));
    }
    true
}

/// x := A x, A triangular.
pub fn tri_mv<T: Scalar>(a: Lines<T>, diag: Diag, x: VecMut<T>) {
    triangular(a, diag, x, false);
}

/// Solves A x = b, A triangular; x replaces b.
pub fn tri_sv<T: Scalar>(a: Lines<T>, diag: Diag, x: VecMut<T>) {
    triangular(a, diag, x, true);
}

#[inline(always)]
fn triangular<T: Scalar>(a: Lines<T>, diag: Diag, x: VecMut<T>, solving: bool) {
    let n = a.lines();
    let Some(mut room) = Gathered::room::<T>(&[(n, x.inc())]) else {
        return triangular_by_definition(a, diag, x, solving);
    };
    let place = room.place(x.sub(0, n));
    let copied = place.inc() != x.inc();
    if copied {
        level1::copy(x.as_ref(), place.sub(0, n));
    }
    // SAFETY: the vector is consecutive and as long as the matrix is.
    unsafe {
        if solving {
            kernel::<T>().tri_sv(&a, diag, place.ptr());
        } else {
            kernel::<T>().tri_mv(&a, diag, place.ptr());
        }
    }
    if copied {
        level1::copy(place.as_ref(), x);
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
    let room = if a.rs() == 1 { Gathered::room::<T>(&[(m, x.inc())]) } else { None };
    let Some(mut room) = room else {
        return ger_by_definition(alpha, x, conj_x, y, conj_y, a);
    };
    let (x, a_step) = (room.read(x), a.cs());
    let threads = pool::threads_for(work::<T>(m as f64 * n as f64));
    if threads == 1 {
        // SAFETY: x is consecutive and as long as the columns.
        unsafe { kernel::<T>().ger(m, n, alpha, x.ptr(), conj_x, y.ptr(), y.inc(), conj_y, a.ptr(), a_step) };
        return;
    }
    let piece = n.div_ceil(threads);
    pool::run(n.div_ceil(piece), threads, &|task| {
        let (from, to) = (task * piece, ((task + 1) * piece).min(n));
        let (y, a) = (y.sub(from, to - from), a.col(from));
        // SAFETY: as above; every task has columns of its own.
        unsafe { kernel::<T>().ger(m, to - from, alpha, x.ptr(), conj_x, y.ptr(), y.inc(), conj_y, a.ptr(), a_step) };
    });
}

/// A := alpha x x^T + A on the stored triangle, or alpha x x^H with a real alpha.
pub fn sym_rank1<T: Scalar>(alpha: T, x: VecRef<T>, symmetry: Symmetry, a: LinesMut<T>) {
    rank_update(alpha, None, x, x, symmetry, a);
}

/// A := alpha x y^T + alpha y x^T + A on the stored triangle, or alpha x y^H + conj(alpha) y x^H.
pub fn sym_rank2<T: Scalar>(alpha: T, x: VecRef<T>, y: VecRef<T>, symmetry: Symmetry, a: LinesMut<T>) {
    rank_update(alpha, Some(alpha.conj_if(symmetry.is_hermitian())), x, y, symmetry, a);
}

/// Adds alpha x y^T + beta y x^T (y^H, x^H) to the stored triangle, or alpha x x^T where there is no beta.
#[inline(always)]
fn rank_update<T: Scalar>(alpha: T, beta: Option<T>, x: VecRef<T>, y: VecRef<T>, symmetry: Symmetry, a: LinesMut<T>) {
    let n = a.as_ref().lines();
    if n == 0 || alpha == T::ZERO {
        return;
    }
    let room = match beta {
        None => Gathered::room::<T>(&[(n, x.inc())]),
        Some(_) => Gathered::room::<T>(&[(n, x.inc()), (n, y.inc())]),
    };
    let Some(mut room) = room else {
        return rank_update_by_definition(alpha, beta, x, y, symmetry, a);
    };
    let x = room.read(x);
    let y = if beta.is_some() { room.read(y) } else { x };
    let hermitian = symmetry.is_hermitian();
    let threads = pool::threads_for(work::<T>(n as f64 * n as f64 * 0.5));
    if threads == 1 {
        // SAFETY: both vectors are consecutive and as long as the matrix is.
        unsafe { kernel::<T>().rank_update(alpha, beta, x.ptr(), y.ptr(), hermitian, &a.as_ref(), 0, n) };
        return;
    }
    // Lines have different lengths: small pieces, taken as threads come to them.
    const PIECE: usize = 64;
    pool::run(n.div_ceil(PIECE), threads, &|task| {
        let (from, to) = (task * PIECE, ((task + 1) * PIECE).min(n));
        // SAFETY: as above; every task has lines of its own.
        unsafe { kernel::<T>().rank_update(alpha, beta, x.ptr(), y.ptr(), hermitian, &a.as_ref(), from, to) };
    });
}

// ---------------------------------------------------------------------------------------------------------------------
// The definitions, for strided vectors where there is no memory to gather them

/// y := alpha A x + y.
#[cold]
fn mv_by_definition<T: Scalar>(alpha: T, a: Lines<T>, x: VecRef<T>, mut y: VecMut<T>) {
    for j in 0..a.lines() {
        let (lo, line) = a.line(j);
        let mut sum = T::ZERO;
        for k in 0..line.len() {
            let v = line.get(k).conj_if(a.is_conj());
            match a.axis() {
                Axis::Cols => y.set(lo + k, alpha * x.get(j) * v + y.get(lo + k)),
                Axis::Rows => sum += v * x.get(lo + k),
            }
        }
        if a.axis() == Axis::Rows {
            y.set(j, alpha * sum + y.get(j));
        }
    }
}

#[cold]
fn sym_mv_by_definition<T: Scalar>(alpha: T, a: Lines<T>, symmetry: Symmetry, x: VecRef<T>, mut y: VecMut<T>) {
    // Element (j, i) is what stands in a stored column's row i, conjugated if Hermitian; in a stored row as it is.
    let (hermitian, columns) = (symmetry.is_hermitian(), a.axis() == Axis::Cols);
    for j in 0..a.lines() {
        let (lo, line) = a.line(j);
        let mut sum = T::ZERO;
        for (k, i) in (lo..lo + line.len()).enumerate() {
            let v = line.get(k);
            if i == j {
                sum += if hermitian { T::from_real(v.re()) } else { v } * x.get(j);
            } else {
                y.set(i, alpha * x.get(j) * v.conj_if(hermitian && !columns) + y.get(i));
                sum += v.conj_if(hermitian && columns) * x.get(i);
            }
        }
        y.set(j, alpha * sum + y.get(j));
    }
}

/// Goes through the lines in the order in which each needs only elements of x that are still (products) or already
/// (solutions) what it wants. Head lines (0..=j) as columns change what stands before j: a product goes upwards, a
/// solution downwards. Rows, tails and solutions each turn that round.
#[cold]
fn triangular_by_definition<T: Scalar>(a: Lines<T>, diag: Diag, mut x: VecMut<T>, solving: bool) {
    let n = a.lines();
    let upwards = (a.is_head() == (a.axis() == Axis::Cols)) != solving;
    let unit = diag == Diag::Unit;
    for step in 0..n {
        let j = if upwards { step } else { n - 1 - step };
        let (lo, line) = a.line(j);
        let value = |k: usize| line.get(k).conj_if(a.is_conj());
        let old = x.get(j);
        let by_diagonal = |v: T| match (unit, solving) {
            (true, _) => v,
            (false, false) => value(j - lo) * v,
            (false, true) => v / value(j - lo),
        };
        let others = (0..line.len()).filter(|k| lo + k != j);
        match a.axis() {
            // A zero in x skips the column, NaN in it or not, as in Reference BLAS.
            Axis::Cols if old == T::ZERO => {}
            Axis::Cols => {
                let new = by_diagonal(old);
                x.set(j, new);
                let factor = if solving { -new } else { old };
                others.for_each(|k| x.set(lo + k, factor * value(k) + x.get(lo + k)));
            }
            Axis::Rows => {
                let sum = others.fold(T::ZERO, |sum, k| sum + value(k) * x.get(lo + k));
                x.set(j, if solving { by_diagonal(old - sum) } else { by_diagonal(old) + sum });
            }
        }
    }
}

#[cold]
fn ger_by_definition<T: Scalar>(alpha: T, x: VecRef<T>, conj_x: bool, y: VecRef<T>, conj_y: bool, mut a: MatMut<T>) {
    for j in 0..a.cols() {
        // A zero in y skips the column, NaN in x or not, as in Reference BLAS.
        if y.get(j) != T::ZERO {
            let factor = alpha * y.get(j).conj_if(conj_y);
            for i in 0..a.rows() {
                a.set(i, j, factor * x.get(i).conj_if(conj_x) + a.get(i, j));
            }
        }
    }
}

#[cold]
fn rank_update_by_definition<T: Scalar>(
    alpha: T,
    beta: Option<T>,
    x: VecRef<T>,
    y: VecRef<T>,
    symmetry: Symmetry,
    a: LinesMut<T>,
) {
    let (hermitian, columns) = (symmetry.is_hermitian(), a.as_ref().axis() == Axis::Cols);
    for j in 0..a.as_ref().lines() {
        let (lo, mut line) = a.line(j);
        // Zeros skip the line, NaN in the other elements or not, as in Reference BLAS.
        let skipped = x.get(j) == T::ZERO && y.get(j) == T::ZERO;
        for k in (0..line.len()).filter(|_| !skipped) {
            let (row, col) = if columns { (lo + k, j) } else { (j, lo + k) };
            let term = |f: T, x: VecRef<T>, y: VecRef<T>| f * x.get(row) * y.get(col).conj_if(hermitian);
            let sum = term(alpha, x, y) + line.get(k);
            line.set(k, beta.map_or(sum, |beta| term(beta, y, x) + sum));
        }
        if hermitian {
            let d = T::from_real(line.get(j - lo).re());
            line.set(j - lo, d);
        }
    }
}
