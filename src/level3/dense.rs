//! Small operands in room of their own, on the stack if they fit: symmetric ones as whole matrices, conjugated ones as what
//! they stand for.
//!
//! Small products run on operands where they are (`gemm/small.rs`), if nothing of these is left out.

use crate::matrix::{MatMut, MatRef, Symmetry, Uplo};
use crate::runtime::memory::Scratch;
use crate::scalar::Scalar;
use core::mem::MaybeUninit;

/// Bytes of room that are taken from the stack.
const ON_STACK: usize = 12 << 10;

/// Calls `f` with room for n elements, on the stack if they are few, or without any if there is none to be had.
pub fn with_room<T, R>(n: usize, f: impl FnOnce(Option<*mut T>) -> R) -> R {
    if n.saturating_mul(size_of::<T>()) <= ON_STACK {
        return with_stack(f);
    }
    let scratch = Scratch::take_for::<T>(n);
    f(scratch.as_ref().map(Scratch::ptr))
}

/// A function of its own: compiled into its callers, the room would be part of their frames, needed or not, and those of two
/// callers and of a small product are more than a small stack has.
#[inline(never)]
fn with_stack<T, R>(f: impl FnOnce(Option<*mut T>) -> R) -> R {
    #[repr(align(64))]
    struct Stack(MaybeUninit<[u8; ON_STACK]>);
    let mut stack = Stack(MaybeUninit::uninit());
    f(Some(stack.0.as_mut_ptr().cast()))
}

/// Columns of a symmetric matrix that are mirrored together, and those of one that is mirrored element by element.
const MIRRORED: usize = 16;
const BY_ELEMENT: usize = 24;

/// A symmetric or Hermitian matrix of which one triangle is stored, with both.
///
/// # Safety
/// `to` has room for as many elements as the matrix has, for as long as the result lives.
pub unsafe fn whole<'a, T: Scalar>(a: MatRef<T>, uplo: Uplo, symmetry: Symmetry, to: *mut T) -> MatRef<'a, T> {
    if a.rs() != 1 && a.cs() == 1 {
        // SAFETY: as many elements.
        return unsafe { whole(a.t(), uplo.t(), symmetry, to) }.t();
    }
    let (n, hermitian) = (a.rows(), symmetry.is_hermitian());
    // SAFETY: the copy has n x n elements.
    let mut copy = unsafe { MatMut::new(to, n, n, 1, n as isize) };
    // The square of both triangles on the diagonal, element by element.
    let square = |copy: &mut MatMut<T>, from: usize, end: usize| {
        for j in from..end {
            for i in if uplo == Uplo::Lower { j..end } else { from..j + 1 } {
                let x = a.get(i, j);
                copy.set(j, i, x.conj_if(hermitian));
                copy.set(i, j, x);
            }
            if hermitian {
                copy.set(j, j, T::from_real(a.get(j, j).re()));
            }
        }
    };
    if n <= BY_ELEMENT || a.rs() != 1 {
        square(&mut copy, 0, n);
        return copy.as_ref();
    }
    // Columns j to end and the rows beside their square: those of the triangle, which are columns of the other one.
    for j in (0..n).step_by(MIRRORED) {
        let end = (j + MIRRORED).min(n);
        let beside = if uplo == Uplo::Lower { end..n } else { 0..j };
        square(&mut copy, j, end);
        for col in j..end {
            for row in beside.clone() {
                copy.set(row, col, a.get(row, col));
            }
        }
        let from = a.col(j).ptr().wrapping_add(beside.start);
        // SAFETY: rows of columns of A, at consecutive addresses, and as many columns and rows of the copy.
        unsafe {
            T::kernels().gemm.turn(
                end - j,
                beside.len(),
                from,
                a.cs(),
                to.wrapping_add(beside.start * n + j),
                n as isize,
            )
        };
        for row in if hermitian { beside } else { 0..0 } {
            for col in j..end {
                let x = copy.get(col, row);
                copy.set(col, row, x.conj());
            }
        }
    }
    copy.as_ref()
}

/// What a conjugated matrix stands for, lying as it does: its lines one behind the other.
///
/// # Safety
/// `to` has room for as many elements as the matrix has, for as long as the result lives.
pub unsafe fn conjugated<'a, T: Scalar>(a: MatRef<T>, to: *mut T) -> MatRef<'a, T> {
    if a.rs() != 1 {
        // SAFETY: as many elements.
        return unsafe { conjugated(a.t(), to) }.t();
    }
    let (m, n) = (a.rows(), a.cols());
    for j in 0..n {
        let from = a.col(j).ptr();
        for i in 0..m {
            // SAFETY: column j of both, at consecutive addresses.
            unsafe { to.add(j * m + i).write((*from.add(i)).conj()) };
        }
    }
    // SAFETY: the m x n elements that were just written.
    unsafe { MatRef::new(to, m, n, 1, m as isize) }
}
