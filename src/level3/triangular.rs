//! trmm and trsm: the triangle is halved until it is small, everything between the halves is a product.
//!
//! (Recursive formulations after Elmroth, Gustavson, Jonsson and Kågström, "Recursive Blocked Algorithms and Hybrid Data
//! Structures", 2004.) The columns of B do not depend on each other, so threads share them; each runs the whole recursion
//! on its own columns with no barrier. The right-side forms are the left-side ones of the transposed equation.
//!
//! A small triangle (see [`is_direct`]; large enough for the products between to run at full speed) is packed
//! once; then panels of columns of B are packed, solved or multiplied in L1 by one call of a kernel (`kernels/solve.rs`)
//! and put back, or worked on where they are.
//!
//! Solving multiplies by reciprocals of the diagonal, as other libraries do: a unit in the last place more error for each
//! unknown, far inside the bound of the substitution, against a division for each. A triangle with an element of which
//! the reciprocal is not a normal number (zero, infinity, NaN, almost too large or too small) is solved with divisions.

use super::dense::with_room;
use super::gemm_on;
use crate::gemm::driver::scale;
use crate::gemm::{Operand, Threads};
use crate::kernels::solve::{self, Diagonal, Rows, Triangle};
use crate::level2;
use crate::matrix::{Diag, Layout, Lines, MatMut, MatRef, Side, Uplo};
use crate::runtime::pool;
use crate::scalar::{Real, Scalar};

/// What is done with a triangle.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Task {
    Solve,
    Multiply,
}

/// B := alpha A B (left) or alpha B A (right), A triangular.
pub fn trmm<T: Scalar>(side: Side, alpha: T, a: MatRef<T>, uplo: Uplo, diag: Diag, b: MatMut<T>) {
    by_columns(Task::Multiply, side, alpha, a, uplo, diag, b);
}

/// Solves A X = alpha B (left) or X A = alpha B (right) for X, which replaces B; A triangular.
pub fn trsm<T: Scalar>(side: Side, alpha: T, a: MatRef<T>, uplo: Uplo, diag: Diag, b: MatMut<T>) {
    by_columns(Task::Solve, side, alpha, a, uplo, diag, b);
}

/// Runs the left-side routine on pieces of B that threads share.
fn by_columns<T: Scalar>(task: Task, side: Side, alpha: T, a: MatRef<T>, uplo: Uplo, diag: Diag, b: MatMut<T>) {
    let (a, uplo, b) = if side == Side::Left { (a, uplo, b) } else { (a.t(), uplo.t(), b.t()) };
    let (m, n) = (b.rows(), b.cols());
    if m == 0 || n == 0 {
        return;
    }
    if alpha == T::ZERO {
        return scale(alpha, &b, None);
    }
    if n == 1 && on_vector(task, alpha, a, uplo, diag, &b) {
        return;
    }
    if m <= TINY && m * m * n <= tiny_work::<T>(task) {
        return tiny(task, alpha, a, uplo, diag, &b);
    }
    // Small triangles run at two thirds of a product's speed.
    let work = 1.6 * m as f64 * m as f64 * n as f64 * if T::IS_COMPLEX { 4.0 } else { 1.0 };
    // Threads that share lines of columns next to each other copy their part first, and wait for those lines at the end.
    let threads = pool::threads_for(if b.cs() == 1 && !has_own_lines(&b) { work / 8.0 } else { work });
    if threads == 1 && is_direct::<T>(task, m, n) {
        return direct(task, alpha, a, uplo, diag, &b, true);
    }
    if threads == 1 {
        return on_halves(task, alpha, a, uplo, diag, &b, n);
    }
    let kernel = T::kernels().gemm;
    // Whole panels, unless that would leave one thread with half of another's work.
    let line = 64 / size_of::<T>();
    let unit = if n >= 4 * threads * kernel.mr() { kernel.mr() } else { kernel.lanes().max(line) };
    let piece = n.div_ceil(threads).next_multiple_of(unit);
    pool::run(n.div_ceil(piece), threads, &|t| {
        let j = t * piece;
        on_halves(task, alpha, a, uplo, diag, &b.sub(0, j, m, piece.min(n - j)), n);
    });
}

/// The largest triangle that is worked with element by element.
const TINY: usize = 4;

/// Columns of such a triangle times its columns times those of B up to which it is: to set up the other ways takes as long, and longer for
/// products. (Zen 5, ns, packed and so: strmm LLNN 4 x 2 70 and 34, dtrmm LLNN 3 x 8 158 and 104, dtrsm LLNN 3 x 6 138 and 110.)
fn tiny_work<T: Scalar>(task: Task) -> usize {
    let real = if task == Task::Multiply { 100 } else { 64 };
    if T::IS_COMPLEX { real / 2 } else { real }
}

/// A B or the solution of A X = B, times alpha, for a triangle of up to [`TINY`] columns.
fn tiny<T: Scalar>(task: Task, alpha: T, a: MatRef<T>, uplo: Uplo, diag: Diag, b: &MatMut<T>) {
    let (n, cols, mut b) = (b.rows(), b.cols(), b.alias());
    let is_upper = uplo == Uplo::Upper;
    let inverses = task == Task::Solve && diag != Diag::Unit && has_inverses(a);
    let mut t = [[T::ZERO; TINY]; TINY];
    for (i, row) in t.iter_mut().enumerate().take(n) {
        for (l, x) in row.iter_mut().enumerate().take(n) {
            if l == i {
                let d = if diag == Diag::Unit { T::ONE } else { a.get(i, i) };
                *x = if inverses { T::ONE / d } else { d };
            } else if (i < l) == is_upper {
                *x = a.get(i, l);
            }
        }
    }
    // As in `without_scratch`.
    let upwards = is_upper == (task == Task::Multiply);
    for j in 0..cols {
        let mut x = [T::ZERO; TINY];
        for (i, x) in x.iter_mut().enumerate().take(n) {
            *x = b.get(i, j);
        }
        for step in 0..n {
            let i = if upwards { step } else { n - 1 - step };
            let others = if is_upper { i + 1..n } else { 0..i };
            let row = &t[i];
            let new = match task {
                Task::Multiply => {
                    let mut sum = if diag == Diag::Unit { x[i] } else { row[i] * x[i] };
                    for l in others {
                        sum += row[l] * x[l];
                    }
                    alpha * sum
                }
                Task::Solve => {
                    let mut rest = alpha * x[i];
                    for l in others {
                        rest = rest - row[l] * x[l];
                    }
                    match diag {
                        Diag::Unit => rest,
                        _ if inverses => rest * row[i],
                        _ => rest / row[i],
                    }
                }
            };
            x[i] = new;
            b.set(i, j, new);
        }
    }
}

/// One column is a matter of level 2, if the triangle lies right for it; says whether it was done.
fn on_vector<T: Scalar>(task: Task, alpha: T, a: MatRef<T>, uplo: Uplo, diag: Diag, b: &MatMut<T>) -> bool {
    let (layout, ld) = match (a.rs(), a.cs()) {
        (1, ld) => (Layout::ColMajor, ld),
        (ld, 1) => (Layout::RowMajor, ld),
        _ => return false,
    };
    let Ok(ld) = usize::try_from(ld) else { return false };
    // SAFETY: the triangle of a view.
    let lines = unsafe { Lines::triangle(a.ptr(), a.rows(), ld, uplo, layout) };
    let lines = if a.is_conj() { lines.conj() } else { lines };
    match task {
        Task::Solve => {
            scale(alpha, b, None);
            level2::tri_sv(lines, diag, b.col(0));
        }
        Task::Multiply => {
            level2::tri_mv(lines, diag, b.col(0));
            scale(alpha, b, None);
        }
    }
    true
}

/// Whether a triangle of n columns is done directly: up to as many steps as the kernel's products take at a time, or fewer if
/// the columns of B, of which there are `all`, fill less than half a vector: products do not leave its other lanes empty. But some
/// small ones are solved by halves.
///
/// LAPACK's own recursive routines (RFP format) cut a triangle in half, and its tests, which go to n = 50, compare their
/// solution with one of ours, of an ill-conditioned matrix, to within a few units in the last place. Cut at the same place,
/// and each half in one piece, ours has the same bits.
fn is_direct<T: Scalar>(task: Task, n: usize, all: usize) -> bool {
    const BY_HALVES: core::ops::Range<usize> = 33..64;
    const OF_FEW: usize = 32;
    let kernels = T::kernels();
    let most = if 2 * all <= kernels.single.0 { OF_FEW } else { kernels.gemm.kc() };
    n <= most && !(task == Task::Solve && BY_HALVES.contains(&n))
}

/// Where to cut a triangle: exactly in half, see [`is_direct`].
fn half(n: usize) -> usize {
    n / 2
}

/// A B or the solution of A X = B, times alpha, for columns of B, of which there are `all`.
fn on_halves<T: Scalar>(task: Task, alpha: T, a: MatRef<T>, uplo: Uplo, diag: Diag, b: &MatMut<T>, all: usize) {
    let (n, cols) = (b.rows(), b.cols());
    if is_direct::<T>(task, n, all) {
        return direct(task, alpha, a, uplo, diag, b, cols == all);
    }
    let h = half(n);
    let (a11, a22) = (a.sub(0, 0, h, h), a.sub(h, h, n - h, n - h));
    let (b1, b2) = (b.sub(0, 0, h, cols), b.sub(h, 0, n - h, cols));
    let between = match uplo {
        Uplo::Upper => a.sub(0, h, h, n - h),
        Uplo::Lower => a.sub(h, 0, n - h, h),
    };
    // The half of B that needs nothing of the other, and the one that needs it.
    let ((a1, b1), (a2, b2)) = if uplo == Uplo::Lower { ((a11, b1), (a22, b2)) } else { ((a22, b2), (a11, b1)) };
    match task {
        Task::Solve => {
            on_halves(task, alpha, a1, uplo, diag, &b1, all);
            gemm_on(Threads::Caller { cols: all }, -T::ONE, between, b1.as_ref(), alpha, b2.alias());
            on_halves(task, T::ONE, a2, uplo, diag, &b2, all);
        }
        Task::Multiply => {
            on_halves(task, alpha, a2, uplo, diag, &b2, all);
            gemm_on(Threads::Caller { cols: all }, alpha, between, b1.as_ref(), T::ONE, b2);
            on_halves(task, alpha, a1, uplo, diag, &b1, all);
        }
    }
}

/// Columns of B go through the kernel as lanes of a panel: the equation transposed, with U the transposed triangle. `is_all`: no
/// other thread is at work on other columns.
fn direct<T: Scalar>(task: Task, alpha: T, a: MatRef<T>, uplo: Uplo, diag: Diag, b: &MatMut<T>, is_all: bool) {
    let kernel = T::kernels().gemm;
    let n = b.rows();
    let need = solve::panels(n, kernel.nr()) + kernel.mr() * n;
    with_room(need, |room| match room {
        // SAFETY: the room for both.
        Some(room) => unsafe { direct_with(task, alpha, a, uplo, diag, b, is_all, room) },
        None => without_scratch(task, alpha, a, uplo, diag, b),
    });
}

/// # Safety
/// There is room for one panel and the packed triangle.
unsafe fn direct_with<T: Scalar>(
    task: Task,
    alpha: T,
    a: MatRef<T>,
    uplo: Uplo,
    diag: Diag,
    b: &MatMut<T>,
    is_all: bool,
    room: *mut T,
) {
    let kernel = T::kernels().gemm;
    let (n, cols) = (b.rows(), b.cols());
    let mr = kernel.mr();
    // The panel first: it is aligned as the room is.
    let (x, u) = (room, room.wrapping_add(n * mr));
    // SAFETY: there is room for both; a panel of n steps of mr lanes, the view's own elements.
    unsafe {
        // Element (l, j) of U is element (j, l) of A.
        let triangle = Triangle { n, u: u.cast_const(), uplo: uplo.t(), diagonal: diagonal(task, a, diag) };
        kernel.pack_triangle(triangle, a.ptr(), a.rs(), a.cs(), a.is_conj(), u);
        let u = triangle;
        let run = |rows: Rows<T>| match task {
            Task::Solve => kernel.solve(u, alpha, rows),
            Task::Multiply => kernel.multiply(u, alpha, rows),
        };
        for j in (0..cols).step_by(mr) {
            let c = b.sub(0, j, n, mr.min(cols - j));
            let any =
                !T::IS_COMPLEX && (kernel.has_masks() || [kernel.lanes(), 2 * kernel.lanes()].contains(&c.cols()));
            if (c.cols() == mr || any) && in_place(b, is_all) {
                run(Rows { x: c.ptr(), step: c.rs(), lanes: c.cols(), packed: false });
                continue;
            }
            kernel.pack_a(c.cols(), n, c.ptr(), c.cs(), c.rs(), false, x);
            run(Rows { x, step: mr as isize, lanes: c.cols(), packed: true });
            kernel.unpack_a(c.cols(), n, x, c.ptr(), c.cs(), c.rs());
        }
    }
}

/// Whether a panel of columns of B is better worked on where it is: lanes at consecutive addresses, few rows or such that are
/// several cache lines wide, and these not so far apart that they get in each other's way in the cache. (AVX-512, three
/// lines, copied and in place: dtrmm RLNN 80 33.6 and 47.7, 200 45.6 and 53.4, strmm RLNN 1000 x 200 91 and 106.)
/// Lines of which other threads have a part would go back and forth between the cores with every step. (strsm RUTN 72 on two
/// threads: 26 GFLOPS, on one 76.)
/// Where masks are free, rows that fill no whole vectors are, too. (Zen 5, copied and in place: strmm RUNN 20 x 8 11.0 and 20.1,
/// RUTN 22 x 81 94 and 142, 67 x 33 101 and 140, dtrsm RUNN 30 x 30 49 and 69, 10 x 64 33 and 46.)
fn in_place<T: Scalar>(b: &MatMut<T>, is_all: bool) -> bool {
    let apart = b.rs().unsigned_abs().wrapping_mul(size_of::<T>());
    let wide = T::kernels().gemm.mr() * size_of::<T>() > 64;
    b.cs() == 1
        && (is_all || has_own_lines(b))
        && (b.rows() <= 8 || ((b.rows() <= IN_PLACE || wide) && !apart.is_multiple_of(1024)))
}
const IN_PLACE: usize = 64;

/// Whether rows of B, of which threads have parts in whole cache lines, begin with one.
fn has_own_lines<T: Scalar>(b: &MatMut<T>) -> bool {
    (b.rs().unsigned_abs().wrapping_mul(size_of::<T>()) | b.ptr().addr()).is_multiple_of(64)
}

/// What the diagonal of the packed triangle is to hold.
fn diagonal<T: Scalar>(task: Task, a: MatRef<T>, diag: Diag) -> Diagonal {
    match (diag, task) {
        (Diag::Unit, _) => Diagonal::Unit,
        (_, Task::Multiply) => Diagonal::Stored,
        (_, Task::Solve) if has_inverses(a) => Diagonal::Inverse,
        (_, Task::Solve) => Diagonal::Divisor,
    }
}

/// Whether multiplications with reciprocals do for divisions: all of them are normal numbers, with a little to spare.
fn has_inverses<T: Scalar>(a: MatRef<T>) -> bool {
    let range = T::Real::pow2(T::Real::MIN_EXP)..T::Real::pow2(-T::Real::MIN_EXP);
    (0..a.rows()).all(|i| range.contains(&a.get(i, i).abs1()))
}

/// The definition, for when scratch memory is not allowed, or there is none to be had.
#[cold]
fn without_scratch<T: Scalar>(task: Task, alpha: T, a: MatRef<T>, uplo: Uplo, diag: Diag, b: &MatMut<T>) {
    let (n, cols) = (b.rows(), b.cols());
    let a = Operand::Triangular(a, uplo, diag);
    let mut b = b.alias();
    // Multiplying, rows go in the order in which none is needed after it was replaced; solving, in the opposite one.
    let upwards = (uplo == Uplo::Upper) == (task == Task::Multiply);
    for j in 0..cols {
        for step in 0..n {
            let i = if upwards { step } else { n - 1 - step };
            let others = if uplo == Uplo::Upper { i + 1..n } else { 0..i };
            let x = match task {
                Task::Multiply => {
                    let mut sum = if diag == Diag::Unit { b.get(i, j) } else { a.get(i, i) * b.get(i, j) };
                    for l in others {
                        sum += a.get(i, l) * b.get(l, j);
                    }
                    alpha * sum
                }
                Task::Solve => {
                    let mut x = alpha * b.get(i, j);
                    for l in others {
                        x = x - a.get(i, l) * b.get(l, j);
                    }
                    if diag == Diag::Unit { x } else { x / a.get(i, i) }
                }
            };
            b.set(i, j, x);
        }
    }
}
