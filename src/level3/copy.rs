//! Copies of matrices: scaled, transposed, conjugated, added. OpenBLAS's `omatcopy`, `imatcopy`, `geadd`.

use crate::gemm::driver::scale;
use crate::matrix::{MatMut, MatRef};
use crate::runtime::memory::Scratch;
use crate::scalar::Scalar;

/// Side of the squares in which a transposed copy works, so that both sides stay in cache.
const SQUARE: usize = 32;

/// B := alpha A.
pub fn omatcopy<T: Scalar>(alpha: T, a: MatRef<T>, b: MatMut<T>) {
    geadd(alpha, a, T::ZERO, b);
}

/// C := alpha A + beta C; neither is read if its factor is zero.
pub fn geadd<T: Scalar>(alpha: T, a: MatRef<T>, beta: T, c: MatMut<T>) {
    if c.rs() != 1 && c.cs() == 1 {
        return geadd(alpha, a.t(), beta, c.t());
    }
    if alpha == T::ZERO {
        return scale(beta, &c, None);
    }
    let mut c = c;
    let (m, n) = (c.rows(), c.cols());
    if a.rs() == 1 && c.rs() == 1 && !a.is_conj() {
        for j in 0..n {
            // SAFETY: column j of both, m elements at consecutive addresses.
            unsafe { T::kernels().lines.axpby(m, alpha, a.col(j).ptr(), beta, c.col(j).ptr()) };
        }
        return;
    }
    for j0 in (0..n).step_by(SQUARE) {
        for i0 in (0..m).step_by(SQUARE) {
            for j in j0..n.min(j0 + SQUARE) {
                for i in i0..m.min(i0 + SQUARE) {
                    let old = if beta == T::ZERO { T::ZERO } else { beta * c.get(i, j) };
                    c.set(i, j, alpha * a.get(i, j) + old);
                }
            }
        }
    }
}

/// A column-major matrix at `ptr` (rows x cols, leading dimension `ld_in`) replaced by alpha op(A) with leading dimension
/// `ld_out`.
///
/// # Safety
/// Both forms of the matrix are readable and writable at `ptr`.
pub unsafe fn imatcopy<T: Scalar>(
    alpha: T,
    ptr: *mut T,
    rows: usize,
    cols: usize,
    ld_in: usize,
    ld_out: usize,
    trans: bool,
    conj: bool,
) {
    let op = |x: T| if alpha == T::ZERO { T::ZERO } else { alpha * x.conj_if(conj) };
    if !trans {
        // Columns move towards the front or towards the back: in the order in which none is overwritten before its turn.
        let column = |j: usize| {
            let (from, to) = (j * ld_in, j * ld_out);
            let one = |i: usize| {
                // SAFETY: inside both forms of the matrix.
                unsafe { *ptr.add(to + i) = op(*ptr.add(from + i)) }
            };
            if ld_out <= ld_in { (0..rows).for_each(one) } else { (0..rows).rev().for_each(one) }
        };
        if ld_out <= ld_in {
            (0..cols).for_each(column)
        } else {
            (0..cols).rev().for_each(column)
        }
        return;
    }
    if rows == cols && ld_in == ld_out {
        for j in 0..cols {
            for i in 0..=j {
                // SAFETY: inside the matrix.
                unsafe {
                    let (p, q) = (ptr.add(i + j * ld_in), ptr.add(j + i * ld_in));
                    let (x, y) = (op(*p), op(*q));
                    (*p, *q) = (y, x);
                }
            }
        }
        return;
    }
    // SAFETY: the matrix as it is, as it will be, and a dense copy in between.
    unsafe {
        let view = MatRef::new(ptr, rows, cols, 1, ld_in as isize);
        let out = MatMut::new(ptr, cols, rows, 1, ld_out as isize);
        match Scratch::take_for::<T>(rows * cols) {
            Some(scratch) => {
                let copy = MatMut::new(scratch.ptr::<T>(), cols, rows, 1, cols as isize);
                omatcopy(alpha, view.conj_if(conj).t(), copy.alias());
                omatcopy(T::ONE, copy.as_ref(), out);
            }
            None => transpose_without_scratch(ptr, rows, cols, ld_in, ld_out, &op),
        }
    }
}

/// Transposition in place with no memory and without touching what lies between the columns. Slow.
///
/// First the elements change places among the old positions until they stand in the order of the result, by following the
/// cycles of the permutation; then they move, in that order, to the new positions. Both sets of positions ascend, so an
/// element that moves backwards can only meet earlier ones, one that moves forwards only later ones that move forwards too.
///
/// # Safety
/// As for `imatcopy`.
#[cold]
unsafe fn transpose_without_scratch<T: Scalar>(
    ptr: *mut T,
    rows: usize,
    cols: usize,
    ld_in: usize,
    ld_out: usize,
    op: &dyn Fn(T) -> T,
) {
    let total = rows * cols;
    let old = |at: usize| at % rows + at / rows * ld_in;
    let new = |at: usize| at % cols + at / cols * ld_out;
    // Element i + j*rows is wanted as number j + i*cols.
    let target = |at: usize| at / rows + at % rows * cols;
    for start in 0..total {
        // Each cycle is moved once, from its smallest member.
        let mut at = target(start);
        while at > start {
            at = target(at);
        }
        if at < start {
            continue;
        }
        // SAFETY: old positions.
        let mut carried = unsafe { *ptr.add(old(start)) };
        loop {
            at = target(at);
            // SAFETY: as above.
            unsafe { core::ptr::swap(&mut carried, ptr.add(old(at))) };
            if at == start {
                break;
            }
        }
    }
    let step = |at: usize| {
        // SAFETY: an old and a new position.
        unsafe { *ptr.add(new(at)) = op(*ptr.add(old(at))) }
    };
    let forwards = |at: usize| new(at) > old(at);
    let mut at = 0;
    while at < total {
        if !forwards(at) {
            step(at);
            at += 1;
            continue;
        }
        let end = (at..total).find(|&t| !forwards(t)).unwrap_or(total);
        (at..end).rev().for_each(step);
        at = end;
    }
}
