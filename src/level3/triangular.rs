//! trmm and trsm: the triangle is halved until it is small, everything between the halves is a product.
//!
//! (Recursive formulations after Elmroth, Gustavson, Jonsson and Kågström, "Recursive Blocked Algorithms and Hybrid Data
//! Structures", 2004.) The columns of B do not depend on each other, so threads share them; each runs the whole recursion
//! on its own columns with no barrier. The right-side forms are the left-side ones of the transposed equation.

use super::gemm_on;
use crate::gemm::driver::scale;
use crate::gemm::{Operand, Product, Threads, run};
use crate::matrix::{Diag, MatMut, MatRef, Side, Uplo};
use crate::runtime::memory::Scratch;
use crate::runtime::pool;
use crate::scalar::Scalar;

/// Triangles up to this size are solved directly.
const SOLVED: usize = 32;
/// Triangles up to this size are multiplied as one operand.
const MULTIPLIED: usize = 256;

/// B := alpha A B (left) or alpha B A (right), A triangular.
pub fn trmm<T: Scalar>(side: Side, alpha: T, a: MatRef<T>, uplo: Uplo, diag: Diag, b: MatMut<T>) {
    by_columns(side, a, uplo, b, |a, uplo, b| {
        if alpha == T::ZERO {
            scale(alpha, &b, None);
        } else {
            multiply(alpha, a, uplo, diag, &b);
        }
    });
}

/// Solves A X = alpha B (left) or X A = alpha B (right) for X, which replaces B; A triangular.
pub fn trsm<T: Scalar>(side: Side, alpha: T, a: MatRef<T>, uplo: Uplo, diag: Diag, b: MatMut<T>) {
    by_columns(side, a, uplo, b, |a, uplo, b| {
        scale(alpha, &b, None);
        if alpha != T::ZERO {
            solve(a, uplo, diag, &b);
        }
    });
}

/// Runs the left-side routine on pieces of B that threads share.
fn by_columns<T: Scalar>(
    side: Side,
    a: MatRef<T>,
    uplo: Uplo,
    b: MatMut<T>,
    routine: impl Fn(MatRef<T>, Uplo, MatMut<T>) + Sync,
) {
    let (a, uplo, b) = if side == Side::Left { (a, uplo, b) } else { (a.t(), uplo.t(), b.t()) };
    let (m, n) = (b.rows(), b.cols());
    if m == 0 || n == 0 {
        return;
    }
    let work = m as f64 * m as f64 * n as f64 * if T::IS_COMPLEX { 4.0 } else { 1.0 };
    let threads = pool::threads_for(work);
    let piece = n.div_ceil(threads).next_multiple_of(T::kernels().gemm.mr());
    pool::run(n.div_ceil(piece), threads, &|task| {
        let j = task * piece;
        routine(a, uplo, b.sub(0, j, m, piece.min(n - j)));
    });
}

/// Where to cut a triangle: exactly in half. LAPACK's own recursive routines (RFP format) cut there too, and its tests
/// compare a whole solution with one from halves to within a few units in the last place.
fn half(n: usize) -> usize {
    n / 2
}

fn multiply<T: Scalar>(alpha: T, a: MatRef<T>, uplo: Uplo, diag: Diag, b: &MatMut<T>) {
    let (n, cols) = (b.rows(), b.cols());
    if n <= MULTIPLIED {
        return multiply_small(alpha, a, uplo, diag, b);
    }
    let h = half(n);
    let (a11, a22) = (a.sub(0, 0, h, h), a.sub(h, h, n - h, n - h));
    let (b1, b2) = (b.sub(0, 0, h, cols), b.sub(h, 0, n - h, cols));
    match uplo {
        Uplo::Upper => {
            multiply(alpha, a11, uplo, diag, &b1);
            gemm_on(Threads::Caller, alpha, a.sub(0, h, h, n - h), b2.as_ref(), T::ONE, b1);
            multiply(alpha, a22, uplo, diag, &b2);
        }
        Uplo::Lower => {
            multiply(alpha, a22, uplo, diag, &b2);
            gemm_on(Threads::Caller, alpha, a.sub(h, 0, n - h, h), b1.as_ref(), T::ONE, b2);
            multiply(alpha, a11, uplo, diag, &b1);
        }
    }
}

fn multiply_small<T: Scalar>(alpha: T, a: MatRef<T>, uplo: Uplo, diag: Diag, b: &MatMut<T>) {
    let (n, cols) = (b.rows(), b.cols());
    // A bounded copy of B at a time becomes the operand. Its size does not depend on how threads share the columns.
    const COLUMNS: usize = 256;
    let Some(scratch) = Scratch::take_for::<T>(n * COLUMNS) else {
        return multiply_without_scratch(alpha, a, uplo, diag, b);
    };
    for j in (0..cols).step_by(COLUMNS) {
        let width = COLUMNS.min(cols - j);
        let c = b.sub(0, j, n, width);
        // The copy keeps B's order of storage, so that neither copying nor packing crosses lines.
        let (rs, cs) = if b.rs().unsigned_abs() <= b.cs().unsigned_abs() { (1, n) } else { (width, 1) };
        // SAFETY: n x width elements of scratch.
        let copy = unsafe { MatMut::new(scratch.ptr::<T>(), n, width, rs as isize, cs as isize) };
        super::omatcopy(T::ONE, c.as_ref(), copy.alias());
        if !all_finite(&copy) {
            // The packed triangle has zeros beyond its diagonal; infinity times those must not count.
            multiply_without_scratch(alpha, a, uplo, diag, &c);
            continue;
        }
        let (a, b) = (Operand::Triangular(a, uplo, diag), Operand::General(copy.as_ref()));
        run(Product { alpha, a, b, beta: T::ZERO, c, part: None }, Threads::Caller);
    }
}

fn all_finite<T: Scalar>(b: &MatMut<T>) -> bool {
    let mut zero = T::Real::ZERO;
    for j in 0..b.cols() {
        for i in 0..b.rows() {
            let x = b.get(i, j);
            zero += x.re() * T::Real::ZERO + x.im() * T::Real::ZERO;
        }
    }
    zero == T::Real::ZERO
}

#[cold]
fn multiply_without_scratch<T: Scalar>(alpha: T, a: MatRef<T>, uplo: Uplo, diag: Diag, b: &MatMut<T>) {
    let (n, cols) = (b.rows(), b.cols());
    let a = Operand::Triangular(a, uplo, diag);
    let mut b = b.alias();
    for j in 0..cols {
        for step in 0..n {
            // Rows in the order in which none is needed after it was replaced.
            let (i, terms) = match uplo {
                Uplo::Upper => (step, step..n),
                Uplo::Lower => (n - 1 - step, 0..n - step),
            };
            let mut sum = T::ZERO;
            for l in terms {
                sum += a.get(i, l) * b.get(l, j);
            }
            b.set(i, j, alpha * sum);
        }
    }
}

fn solve<T: Scalar>(a: MatRef<T>, uplo: Uplo, diag: Diag, b: &MatMut<T>) {
    let (n, cols) = (b.rows(), b.cols());
    if n <= SOLVED {
        return solve_small(a, uplo, diag, b);
    }
    let h = half(n);
    let (a11, a22) = (a.sub(0, 0, h, h), a.sub(h, h, n - h, n - h));
    let (b1, b2) = (b.sub(0, 0, h, cols), b.sub(h, 0, n - h, cols));
    match uplo {
        Uplo::Upper => {
            solve(a22, uplo, diag, &b2);
            gemm_on(Threads::Caller, -T::ONE, a.sub(0, h, h, n - h), b2.as_ref(), T::ONE, b1.alias());
            solve(a11, uplo, diag, &b1);
        }
        Uplo::Lower => {
            solve(a11, uplo, diag, &b1);
            gemm_on(Threads::Caller, -T::ONE, a.sub(h, 0, n - h, h), b1.as_ref(), T::ONE, b2.alias());
            solve(a22, uplo, diag, &b2);
        }
    }
}

/// Columns of B go through the kernel as lanes of a panel: X^T U = B^T with U the transposed triangle.
fn solve_small<T: Scalar>(a: MatRef<T>, uplo: Uplo, diag: Diag, b: &MatMut<T>) {
    // An upper triangle solved from its end is a lower one in reverse order.
    let (a, b) = match uplo {
        Uplo::Lower => (a, b.alias()),
        Uplo::Upper => (a.reversed(), b.alias().rows_reversed()),
    };
    let (n, cols) = (b.rows(), b.cols());
    let kernel = T::kernels().gemm;
    let mr = kernel.mr();
    let ld = n.next_multiple_of(kernel.nr());
    let Some(scratch) = Scratch::take_for::<T>(n * (ld + mr)) else {
        return solve_without_scratch(a, diag, b);
    };
    let u = scratch.ptr::<T>();
    let panel = u.wrapping_add(n * ld);
    for l in 0..n {
        for j in 0..ld {
            let wanted = (l < j || (l == j && diag == Diag::Stored)) && j < n;
            // SAFETY: n rows of ld elements.
            unsafe { *u.add(l * ld + j) = if wanted { a.get(j, l) } else { T::ZERO } };
        }
    }
    for j in (0..cols).step_by(mr) {
        let c = b.sub(0, j, n, mr.min(cols - j));
        // SAFETY: a panel of n steps of mr lanes; the view's own elements.
        unsafe {
            kernel.pack_a(c.cols(), n, c.ptr(), c.cs(), c.rs(), false, panel);
            kernel.solve(n, u, ld, diag == Diag::Unit, panel);
            kernel.unpack_a(c.cols(), n, panel, c.ptr(), c.cs(), c.rs());
        }
    }
}

/// Forward substitution by definition; `a` is lower triangular.
#[cold]
fn solve_without_scratch<T: Scalar>(a: MatRef<T>, diag: Diag, b: MatMut<T>) {
    let mut b = b;
    for j in 0..b.cols() {
        for i in 0..b.rows() {
            let mut x = b.get(i, j);
            for l in 0..i {
                x = x - a.get(i, l) * b.get(l, j);
            }
            b.set(i, j, if diag == Diag::Unit { x } else { x / a.get(i, i) });
        }
    }
}
