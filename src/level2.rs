//! Level 2: a matrix and vectors.
//!
//! Every storage is [`Lines`]; six algorithms on lines are all of level 2, and each is one kernel (`kernels/sweeps/`).
//! Here vectors with other increments than one are gathered into scratch memory, factors of zero are seen to, and
//! large matrices are cut for the threads. Where there is no scratch memory the definitions at the end of this file run
//! on the strided vectors themselves.

use crate::kernels::LineKernel;
use crate::kernels::sweeps::{LONGEST_FLAT, SHORT};
use crate::level1;
use crate::matrix::{Axis, Diag, Lines, LinesMut, MatMut, Symmetry, VecMut, VecRef};
use crate::runtime::cpu;
use crate::runtime::memory::Scratch;
use crate::runtime::pool;
use crate::scalar::Scalar;

#[inline(always)]
fn kernel<T: Scalar>() -> &'static dyn LineKernel<T> {
    T::kernels().lines
}

// Lines up to so many bytes are better gone through in shorter registers, where there are such: less of one stays unused, and
// less of what was just stored is read across two stores. Zen 4, registers of 512 and of 256 bits, GFLOPS:
/// Triangles: dtrmv of 10.
const FEW: usize = 256;
/// Sums along lines: sgemv T 10 x 1000 13 and 21, 40 x 1000 39 and 49.
const SUMMED: usize = 160;
/// Columns: dgemv N 10 x 1000 17 and 24.
const ADDED: usize = 80;
/// Lines that are changed: dger 500 x 500 17 and 21, ssyr 256 21 and 30, dspr 64 7.9 and 10.9.
const CHANGED: usize = 4096;
/// Complex lines that are used as columns and as rows: chemv 64 34 and 44, 256 20 and 72, 500 73 and 56.
const BOTH_WAYS: usize = 4096;
/// Bands, unless the result stays in registers: dgbmv T 1000 8 5 6.5 and 11.0, dsbmv 1000 8 8.1 and 10.0, dtbsv UTN 64 8 2.5 and 3.3.
const BAND: usize = 256;

/// The kernel for a product with a matrix.
#[inline(always)]
fn mv_kernel<T: Scalar>(a: &Lines<T>) -> &'static dyn LineKernel<T> {
    let most = match (a.axis(), a.is_whole()) {
        (Axis::Rows, true) if a.is_flat(LONGEST_FLAT) => 0,
        (Axis::Rows, true) => SUMMED,
        (Axis::Rows, false) => BAND,
        (Axis::Cols, true) => ADDED,
        (Axis::Cols, false) => 0,
    };
    T::kernels().lines_within(a.width(), most)
}
/// The kernel for a product with a symmetric matrix.
#[inline(always)]
fn sym_kernel<T: Scalar>(a: &Lines<T>) -> &'static dyn LineKernel<T> {
    let most = if T::IS_COMPLEX && !a.is_banded() { BOTH_WAYS } else { BAND };
    T::kernels().lines_within(a.width(), most)
}
/// The kernel for a triangular matrix.
#[inline(always)]
fn triangular_kernel<T: Scalar>(a: &Lines<T>, solving: bool) -> &'static dyn LineKernel<T> {
    let most = match (a.is_banded(), solving) {
        (false, true) if !T::IS_COMPLEX => 0,
        (false, _) => FEW,
        (true, false) if a.axis() == Axis::Cols => 0,
        (true, _) => BAND,
    };
    T::kernels().lines_within(a.width(), most)
}
/// The kernel for lines of so many elements that are changed.
#[inline(always)]
fn update_kernel<T: Scalar>(n: usize) -> &'static dyn LineKernel<T> {
    T::kernels().lines_within(n, CHANGED)
}

/// Copies of strided vectors at consecutive addresses.
struct Gathered {
    scratch: Option<Scratch>,
    used: usize,
}

impl Gathered {
    /// Room for all vectors of the given lengths that need it; `None` where there is no memory for it.
    fn room<T: Scalar>(vectors: &[(usize, isize)]) -> Option<Gathered> {
        let needed: usize = vectors.iter().filter(|(_, inc)| *inc != 1).map(|(len, _)| len).sum();
        let scratch = if needed > 0 { Some(Scratch::take_for::<T>(needed)?) } else { None };
        Some(Gathered { scratch, used: 0 })
    }
    /// The vector itself if it is consecutive, else a consecutive vector for its elements.
    fn place<'a, T: Scalar>(&mut self, v: &VecMut<'a, T>) -> VecMut<'a, T> {
        let Some(scratch) = self.scratch.as_ref().filter(|_| v.inc() != 1) else { return v.sub(0, v.len()) };
        let at = scratch.ptr::<T>().wrapping_add(self.used);
        self.used += v.len();
        // SAFETY: `room` counted every strided vector; each gets elements of its own, alive as long as self.
        unsafe { VecMut::new(at, v.len(), 1) }
    }
    /// The same with the vector's elements in it.
    fn copy<'a, T: Scalar>(&mut self, v: &VecMut<'a, T>) -> VecMut<'a, T> {
        let place = self.place(v);
        if v.inc() != 1 {
            level1::copy(v.as_ref(), place.sub(0, v.len()));
        }
        place
    }
    /// The same for a vector that is only read.
    fn read<'a, T: Scalar>(&mut self, v: VecRef<'a, T>) -> VecRef<'a, T> {
        // SAFETY: a view of the same elements; it is written through only where it is a copy.
        self.copy(&unsafe { VecMut::from_first(v.ptr().cast_mut(), v.len(), v.inc()) }).as_ref()
    }
}

// What is common to the routines below. Vectors at consecutive addresses go straight to the kernel, compiled into the
// caller down to the call of it; everything else (gathering, threads, definitions) is in functions of its own, which get
// what they need by value. A view whose address is taken anywhere passes through memory everywhere, and reading 16 bytes
// of what was just written 8 at a time costs more than a matrix of four rows.

/// Threads for a matrix of so many stored elements, all of which are read once; twice their number if they are written.
#[inline(always)]
fn threads_for<T: Scalar>(elements: usize) -> usize {
    // Complex elements keep a core busy for as long as their bytes do.
    pool::threads_for_bytes((elements * size_of::<T>()) as isize as f64)
}

/// y := beta y; beta == 0 never reads y.
#[inline(always)]
fn scale<T: Scalar>(beta: T, y: &VecMut<T>) {
    if beta == T::ONE {
        return;
    }
    if beta != T::ZERO {
        return level1::scal(beta, y.sub(0, y.len()));
    }
    if y.inc() == 1 && y.len() > 8 {
        // SAFETY: the view's own elements; a zero of any type is zero bytes.
        return unsafe { y.ptr().write_bytes(0, y.len()) };
    }
    for i in 0..y.len() {
        y.sub(i, 1).set(0, T::ZERO);
    }
}

/// y := alpha A x + beta y.
#[inline(always)]
pub fn mv<T: Scalar>(alpha: T, a: Lines<T>, x: VecRef<T>, beta: T, y: VecMut<T>) {
    let (m, n) = (a.rows(), a.cols());
    if m == 0 {
        return;
    }
    scale(beta, &y);
    if alpha == T::ZERO || n == 0 {
        return;
    }
    if x.inc() == 1 && y.inc() == 1 {
        mv_consecutive(alpha, &a, x.ptr(), y.ptr());
    } else {
        mv_gathered(alpha, a, x, y);
    }
}

/// Adds alpha A x to y; both vectors are consecutive and as long as the matrix is.
#[inline(always)]
fn mv_consecutive<T: Scalar>(alpha: T, a: &Lines<T>, x: *const T, y: *mut T) {
    let m = a.rows();
    let threads = threads_for::<T>(a.stored());
    if threads == 1 {
        // SAFETY: as the text says.
        unsafe { mv_kernel(a).mv(alpha, a, x, y, 0, m) };
    } else {
        mv_on_threads(threads, alpha, a, x, y);
    }
}

/// Rows of y are shared: every element of y is the same sum whoever computes it. Pieces are whole cache lines, and so whole
/// groups of rows of the kernel: those that are left at the end are the same for any number of threads. Short columns are
/// not cut.
#[cold]
#[inline(never)]
fn mv_on_threads<T: Scalar>(threads: usize, alpha: T, a: &Lines<T>, x: *const T, y: *mut T) {
    let m = a.rows();
    let line = 64 / size_of::<T>();
    let least = if a.axis() == Axis::Cols { SHORT } else { line };
    let piece = m.div_ceil(threads).next_multiple_of(line).max(least);
    // SAFETY: consecutive and as long as the matrix is, see above.
    let (x, y) = unsafe { (VecRef::new(x, a.cols(), 1), VecMut::new(y, m, 1)) };
    pool::run(m.div_ceil(piece), threads, &|task| {
        let i = task * piece;
        // SAFETY: as above; every task has rows of its own.
        unsafe { mv_kernel(a).mv(alpha, a, x.ptr(), y.ptr(), i, (i + piece).min(m)) };
    });
}

#[inline(never)]
fn mv_gathered<T: Scalar>(alpha: T, a: Lines<T>, x: VecRef<T>, y: VecMut<T>) {
    let Some(mut room) = Gathered::room::<T>(&[(x.len(), x.inc()), (y.len(), y.inc())]) else {
        return mv_by_definition(alpha, a, x, y);
    };
    let (x, place) = (room.read(x), room.copy(&y));
    mv_consecutive(alpha, &a, x.ptr(), place.ptr());
    if y.inc() != 1 {
        level1::copy(place.as_ref(), y);
    }
}

/// y := alpha A x + beta y, A symmetric or Hermitian with one triangle in `a`.
#[inline(always)]
pub fn sym_mv<T: Scalar>(alpha: T, a: Lines<T>, symmetry: Symmetry, x: VecRef<T>, beta: T, y: VecMut<T>) {
    if a.lines() == 0 {
        return;
    }
    scale(beta, &y);
    if alpha == T::ZERO {
        return;
    }
    if x.inc() == 1 && y.inc() == 1 {
        sym_mv_consecutive(alpha, &a, symmetry, x.ptr(), y.ptr());
    } else {
        sym_mv_gathered(alpha, a, symmetry, x, y);
    }
}

/// Adds alpha A x to y; both vectors are consecutive and as long as the matrix is.
#[inline(always)]
fn sym_mv_consecutive<T: Scalar>(alpha: T, a: &Lines<T>, symmetry: Symmetry, x: *const T, y: *mut T) {
    let n = a.lines();
    if n < SHARED || a.is_banded() || !sym_mv_in_parts(alpha, a, symmetry, x, y) {
        // SAFETY: as the text says.
        unsafe { sym_kernel(a).sym_mv(alpha, a, symmetry.is_hermitian(), x, y, 0, n) };
    }
}

#[inline(never)]
fn sym_mv_gathered<T: Scalar>(alpha: T, a: Lines<T>, symmetry: Symmetry, x: VecRef<T>, y: VecMut<T>) {
    let Some(mut room) = Gathered::room::<T>(&[(x.len(), x.inc()), (y.len(), y.inc())]) else {
        return sym_mv_by_definition(alpha, a, symmetry, x, y);
    };
    let (x, place) = (room.read(x), room.copy(&y));
    sym_mv_consecutive(alpha, &a, symmetry, x.ptr(), place.ptr());
    if y.inc() != 1 {
        level1::copy(place.as_ref(), y);
    }
}

/// Triangles of at least so many lines are cut into parts; smaller ones are one thread's work.
const SHARED: usize = 256;

/// The parts of a triangle that threads share: lines, as many stored elements in each. What they are depends on n alone.
struct Parts {
    n: usize,
    count: usize,
    head: bool,
}

impl Parts {
    fn of<T: Scalar>(a: &Lines<T>) -> Parts {
        let n = a.lines();
        Parts { n, count: (n / 512 * 2).clamp(2, 32), head: a.is_head() }
    }
    /// Where a part begins, by fours: the first p parts of a triangle whose lines grow are n sqrt(p / count) lines.
    fn bound(&self, part: usize) -> usize {
        let (n, p) = (self.n as f64, part as f64 / self.count as f64);
        match part {
            0 => 0,
            _ if part == self.count => self.n,
            _ if self.head => (n * p.sqrt()) as usize / 4 * 4,
            _ => (self.n - (n * (1.0 - p).sqrt()) as usize) / 4 * 4,
        }
    }
    /// The part's lines.
    fn lines(&self, part: usize) -> (usize, usize) {
        (self.bound(part), self.bound(part + 1))
    }
    /// The rows that they reach.
    fn rows(&self, part: usize) -> (usize, usize) {
        let (from, to) = self.lines(part);
        if self.head { (0, to) } else { (from, self.n) }
    }
    fn run<T: Scalar>(&self, work: &(dyn Fn(usize) + Sync)) {
        pool::run(self.count, threads_for::<T>(self.n * self.n / 2), work);
    }
}

/// Adds alpha A x to y, where each part of the triangle adds to a vector of its own, and these are added in order. Says
/// whether there was memory for it. Vectors as above.
#[cold]
#[inline(never)]
fn sym_mv_in_parts<T: Scalar>(alpha: T, a: &Lines<T>, symmetry: Symmetry, x: *const T, y: *mut T) -> bool {
    let (n, parts) = (a.lines(), Parts::of(a));
    let Some(scratch) = Scratch::take_for::<T>(n * parts.count) else { return false };
    // SAFETY: the scratch memory has as many elements, and is alive until the end; the vectors are as long as the matrix.
    let (all, x, y) = unsafe {
        (VecMut::<T>::new(scratch.ptr::<T>(), n * parts.count, 1), VecRef::new(x, n, 1), VecMut::new(y, n, 1))
    };
    parts.run::<T>(&|part| {
        let sum = all.sub(part * n, n);
        let ((from, to), (lo, hi)) = (parts.lines(part), parts.rows(part));
        scale(T::ZERO, &sum.sub(lo, hi - lo));
        // SAFETY: every part has lines and a vector of its own; its lines reach no rows but lo..hi.
        unsafe { sym_kernel(a).sym_mv(alpha, a, symmetry.is_hermitian(), x.ptr(), sum.ptr(), from, to) };
    });
    add_parts(&parts, &all, &y);
    true
}

/// Adds each part's vector to y, in order.
fn add_parts<T: Scalar>(parts: &Parts, all: &VecMut<T>, y: &VecMut<T>) {
    for part in 0..parts.count {
        let (lo, hi) = parts.rows(part);
        level1::axpy(T::ONE, all.as_ref().sub(part * parts.n + lo, hi - lo), false, y.sub(lo, hi - lo));
    }
}

/// x := A x, A triangular.
#[inline(always)]
pub fn tri_mv<T: Scalar>(a: Lines<T>, diag: Diag, x: VecMut<T>) {
    triangular(a, diag, x, false);
}

/// Solves A x = b, A triangular; x replaces b.
#[inline(always)]
pub fn tri_sv<T: Scalar>(a: Lines<T>, diag: Diag, x: VecMut<T>) {
    triangular(a, diag, x, true);
}

#[inline(always)]
fn triangular<T: Scalar>(a: Lines<T>, diag: Diag, x: VecMut<T>, solving: bool) {
    if x.inc() == 1 {
        triangular_consecutive(&a, diag, x.ptr(), solving);
    } else {
        triangular_gathered(a, diag, x, solving);
    }
}

/// The vector is consecutive and as long as the matrix is.
#[inline(always)]
fn triangular_consecutive<T: Scalar>(a: &Lines<T>, diag: Diag, x: *mut T, solving: bool) {
    if solving {
        if a.lines() < HALVED || !solve_in_halves(a, diag, x) {
            // SAFETY: as the text says.
            unsafe { triangular_kernel(a, true).tri_sv(a, diag, x) }
        }
    } else if a.lines() < SHARED || !tri_mv_in_parts(a, diag, x) {
        // SAFETY: as the text says.
        unsafe { triangular_kernel(a, false).tri_mv(a, diag, x) }
    }
}

/// x := A x, where each part of the triangle is a smaller one and a rectangle, both times what x was. Stored rows give
/// elements of the result; stored columns add to a vector for each part, and these are added in order. False for a
/// matrix that has no such parts, and where there is no memory for it. The vector as above.
#[cold]
#[inline(never)]
fn tri_mv_in_parts<T: Scalar>(a: &Lines<T>, diag: Diag, x: *mut T) -> bool {
    let (n, parts, columns) = (a.lines(), Parts::of(a), a.axis() == Axis::Cols);
    let room = if columns { n * parts.count } else { n };
    if a.strip(0, n).is_none() {
        return false;
    }
    let Some(scratch) = Scratch::take_for::<T>(room) else { return false };
    // SAFETY: as in `sym_mv_in_parts`.
    let (all, x) = unsafe { (VecMut::<T>::new(scratch.ptr::<T>(), room, 1), VecMut::new(x, n, 1)) };
    parts.run::<T>(&|part| {
        let ((from, to), (lo, hi)) = (parts.lines(part), parts.rows(part));
        let Some((triangle, rectangle)) = a.strip(from, to) else { return };
        let own = all.sub(if columns { part * n } else { 0 }, n);
        // The rectangle's elements of a line: those of the part's rows that are not in the triangle.
        let (beside, width) = if parts.head { (lo, from - lo) } else { (to, hi - to) };
        level1::copy(x.as_ref().sub(from, to - from), own.sub(from, to - from));
        if columns {
            scale(T::ZERO, &own.sub(beside, width));
        }
        let (read, added, rows) = if columns { (from, beside, width) } else { (beside, from, to - from) };
        // SAFETY: what is written is of this part alone, and x is not written before all parts are done.
        unsafe {
            kernel::<T>().tri_mv(&triangle, diag, own.sub(from, to - from).ptr());
            if width > 0 {
                kernel::<T>().mv(T::ONE, &rectangle, x.sub(read, 1).ptr(), own.sub(added, rows).ptr(), 0, rows);
            }
        }
    });
    if columns {
        scale(T::ZERO, &x);
        add_parts(&parts, &all, &x);
    } else {
        level1::copy(all.as_ref(), x);
    }
    true
}

/// Triangles of at least so many lines are solved in halves: threads share the rectangle between them.
const HALVED: usize = 512;

/// With the halves `[a1 a12; a2]` of an upper triangle: x2 from a2, then `x1 - a12 x2`, then x1 from a1. Where it is cut
/// depends on n alone. False for a matrix that has no halves.
#[cold]
#[inline(never)]
fn solve_in_halves<T: Scalar>(a: &Lines<T>, diag: Diag, x: *mut T) -> bool {
    let h = a.lines() / 2 / 32 * 32;
    let Some([first, corner, second]) = a.halves(h) else { return false };
    let other = x.wrapping_add(h);
    let is_upper = (a.axis() == Axis::Cols) == a.is_head();
    // The half that the rectangle adds to, and the one that it reads.
    let (to, own, from, read) = if is_upper { (x, first, other, second) } else { (other, second, x, first) };
    triangular_consecutive(&read, diag, from, true);
    mv_consecutive(-T::ONE, &corner, from, to);
    triangular_consecutive(&own, diag, to, true);
    true
}

#[inline(never)]
fn triangular_gathered<T: Scalar>(a: Lines<T>, diag: Diag, x: VecMut<T>, solving: bool) {
    let Some(mut room) = Gathered::room::<T>(&[(x.len(), x.inc())]) else {
        return triangular_by_definition(a, diag, x, solving);
    };
    let place = room.copy(&x);
    triangular_consecutive(&a, diag, place.ptr(), solving);
    level1::copy(place.as_ref(), x);
}

/// A := alpha x y^T + A, either vector conjugated.
#[inline(always)]
pub fn ger<T: Scalar>(alpha: T, x: VecRef<T>, conj_x: bool, y: VecRef<T>, conj_y: bool, a: MatMut<T>) {
    // Lines of A at consecutive addresses are columns, if need be of the transposed matrix.
    let turned = a.rs() != 1 && a.cs() == 1;
    let ((x, conj_x), (y, conj_y), a) =
        if turned { ((y, conj_y), (x, conj_x), a.t()) } else { ((x, conj_x), (y, conj_y), a) };
    if a.rows() == 0 || a.cols() == 0 || alpha == T::ZERO {
        return;
    }
    if x.inc() == 1 && a.rs() == 1 {
        ger_consecutive(alpha, x.ptr(), conj_x, y, conj_y, a);
    } else {
        ger_gathered(alpha, x, conj_x, y, conj_y, a);
    }
}

/// x and the columns of A are consecutive.
#[inline(always)]
fn ger_consecutive<T: Scalar>(alpha: T, x: *const T, conj_x: bool, y: VecRef<T>, conj_y: bool, a: MatMut<T>) {
    let (m, n) = (a.rows(), a.cols());
    let threads = threads_for::<T>(m.saturating_mul(n).saturating_mul(2));
    if threads == 1 {
        // SAFETY: x is as long as the columns.
        unsafe { ger_part(alpha, x, conj_x, y, conj_y, &a, one_by_one::<T>(m, n)) };
    } else {
        ger_on_threads(threads, alpha, x, conj_x, y, conj_y, a);
    }
}

#[cold]
#[inline(never)]
fn ger_on_threads<T: Scalar>(
    threads: usize,
    alpha: T,
    x: *const T,
    conj_x: bool,
    y: VecRef<T>,
    conj_y: bool,
    a: MatMut<T>,
) {
    let (m, n) = (a.rows(), a.cols());
    let (piece, single) = (n.div_ceil(threads), one_by_one::<T>(m, n));
    // SAFETY: x is as long as the columns.
    let x = unsafe { VecRef::new(x, m, 1) };
    pool::run(n.div_ceil(piece), threads, &|task| {
        let (from, to) = (task * piece, ((task + 1) * piece).min(n));
        // SAFETY: as above; every task has columns of its own.
        unsafe {
            ger_part(alpha, x.ptr(), conj_x, y.sub(from, to - from), conj_y, &a.sub(0, from, m, to - from), single)
        };
    });
}

/// Whether columns that are changed come from further away than L2: one stream of them is then faster than four. (In fours and one by one,
/// Zen 4 with 32 MB: sger 2000 21 and 32, dger 1000 19 and 23, cgeru 1000 74 and 83; from memory, Zen 5: dger 2000 6.4 and 10.1, 3000 6.5 and
/// 7.3, sger 3000 11.3 and 17.7, 4000 11 and 14; Zen 4: dger 3000 5.7 and 4.3, where the best peer had 9.9 of 2000 that way.)
#[inline(always)]
fn one_by_one<T: Scalar>(m: usize, n: usize) -> bool {
    let bytes = m.saturating_mul(n).saturating_mul(size_of::<T>());
    // Nothing to ask about in a small call.
    bytes > 1 << 20 && bytes > 2 * cpu::caches().l2
}

/// A := alpha x y^T + A on this thread.
///
/// # Safety
/// x has as many consecutive elements as the columns of A.
#[inline(always)]
unsafe fn ger_part<T: Scalar>(
    alpha: T,
    x: *const T,
    conj_x: bool,
    y: VecRef<T>,
    conj_y: bool,
    a: &MatMut<T>,
    single: bool,
) {
    let (m, n) = (a.rows(), a.cols());
    if !single {
        // SAFETY: as the caller's.
        return unsafe { update_kernel(m).ger(m, n, alpha, x, conj_x, y.ptr(), y.inc(), conj_y, a.ptr(), a.cs()) };
    }
    let lines = T::kernels().lines_far();
    for j in 0..n {
        let (y, column) = (y.sub(j, 1), a.col(j));
        // SAFETY: as the caller's.
        unsafe { lines.ger(m, 1, alpha, x, conj_x, y.ptr(), y.inc(), conj_y, column.ptr(), a.cs()) };
    }
}

#[inline(never)]
fn ger_gathered<T: Scalar>(alpha: T, x: VecRef<T>, conj_x: bool, y: VecRef<T>, conj_y: bool, a: MatMut<T>) {
    let room = if a.rs() == 1 { Gathered::room::<T>(&[(x.len(), x.inc())]) } else { None };
    match room {
        Some(mut room) => ger_consecutive(alpha, room.read(x).ptr(), conj_x, y, conj_y, a),
        None => ger_by_definition(alpha, x, conj_x, y, conj_y, a),
    }
}

/// A := alpha x x^T + A on the stored triangle, or alpha x x^H with a real alpha.
#[inline(always)]
pub fn sym_rank1<T: Scalar>(alpha: T, x: VecRef<T>, symmetry: Symmetry, a: LinesMut<T>) {
    rank_update(alpha, None, x, x, symmetry, a);
}

/// A := alpha x y^T + alpha y x^T + A on the stored triangle, or alpha x y^H + conj(alpha) y x^H.
#[inline(always)]
pub fn sym_rank2<T: Scalar>(alpha: T, x: VecRef<T>, y: VecRef<T>, symmetry: Symmetry, a: LinesMut<T>) {
    rank_update(alpha, Some(alpha.conj_if(symmetry.is_hermitian())), x, y, symmetry, a);
}

/// Adds alpha x y^T + beta y x^T (y^H, x^H) to the stored triangle, or alpha x x^T where there is no beta.
#[inline(always)]
fn rank_update<T: Scalar>(alpha: T, beta: Option<T>, x: VecRef<T>, y: VecRef<T>, symmetry: Symmetry, a: LinesMut<T>) {
    if a.lines().lines() == 0 || alpha == T::ZERO {
        return;
    }
    if x.inc() == 1 && y.inc() == 1 {
        rank_update_consecutive(alpha, beta, x.ptr(), y.ptr(), symmetry, a.lines());
    } else {
        rank_update_gathered(alpha, beta, x, y, symmetry, a);
    }
}

/// Both vectors are consecutive and as long as the matrix, the lines are the caller's to write.
#[inline(always)]
fn rank_update_consecutive<T: Scalar>(
    alpha: T,
    beta: Option<T>,
    x: *const T,
    y: *const T,
    symmetry: Symmetry,
    a: &Lines<T>,
) {
    let n = a.lines();
    let threads = threads_for::<T>(n.saturating_mul(n));
    if threads == 1 {
        // SAFETY: as the text says.
        unsafe { update_kernel(n).rank_update(alpha, beta, x, y, symmetry.is_hermitian(), a, 0, n) };
    } else {
        rank_update_on_threads(threads, alpha, beta, x, y, symmetry, a);
    }
}

#[cold]
#[inline(never)]
fn rank_update_on_threads<T: Scalar>(
    threads: usize,
    alpha: T,
    beta: Option<T>,
    x: *const T,
    y: *const T,
    symmetry: Symmetry,
    a: &Lines<T>,
) {
    // Lines have different lengths: small pieces, taken as threads come to them.
    const PIECE: usize = 64;
    let n = a.lines();
    // SAFETY: consecutive and as long as the matrix is, see above.
    let (x, y) = unsafe { (VecRef::new(x, n, 1), VecRef::new(y, n, 1)) };
    pool::run(n.div_ceil(PIECE), threads, &|task| {
        let (from, to) = (task * PIECE, ((task + 1) * PIECE).min(n));
        // SAFETY: as above; every task has lines of its own.
        unsafe { update_kernel(n).rank_update(alpha, beta, x.ptr(), y.ptr(), symmetry.is_hermitian(), a, from, to) };
    });
}

#[inline(never)]
fn rank_update_gathered<T: Scalar>(
    alpha: T,
    beta: Option<T>,
    x: VecRef<T>,
    y: VecRef<T>,
    symmetry: Symmetry,
    a: LinesMut<T>,
) {
    let second = if beta.is_some() { (y.len(), y.inc()) } else { (0, 1) };
    let Some(mut room) = Gathered::room::<T>(&[(x.len(), x.inc()), second]) else {
        return rank_update_by_definition(alpha, beta, x, y, symmetry, a);
    };
    let x = room.read(x);
    let y = if beta.is_some() { room.read(y) } else { x };
    rank_update_consecutive(alpha, beta, x.ptr(), y.ptr(), symmetry, a.lines());
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
    let (hermitian, columns) = (symmetry.is_hermitian(), a.lines().axis() == Axis::Cols);
    for j in 0..a.lines().lines() {
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

#[cfg(test)]
mod tests {
    use super::*;

    /// A matrix whose columns come from L3 is changed one by one, and to the same numbers.
    #[test]
    fn large_rank_one_update() {
        let (m, n) = (1001, 603);
        assert!(cpu::caches().l2 > 2 << 20 || one_by_one::<f64>(m, n) || cpu::caches().l3 < 8 << 20);
        let (x, y): (Vec<f64>, Vec<f64>) =
            ((0..m).map(|i| (i % 7) as f64).collect(), (0..2 * n).map(|j| (j % 5) as f64 - 2.0).collect());
        let mut a: Vec<f64> = (0..m * n).map(|i| (i % 11) as f64).collect();
        // SAFETY: vectors and a matrix of these sizes.
        unsafe {
            let (x, y) = (VecRef::new(x.as_ptr(), m, 1), VecRef::new(y.as_ptr(), n, 2));
            ger(3.0, x, false, y, false, MatMut::new(a.as_mut_ptr(), m, n, 1, m as isize));
        }
        for (at, &got) in a.iter().enumerate() {
            let (i, j) = (at % m, at / m);
            assert_eq!(got, (at % 11) as f64 + 3.0 * x[i] * y[2 * j], "({i},{j})");
        }
    }
}
