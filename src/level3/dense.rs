//! Small operands made dense: a copy with rows at consecutive addresses, nothing conjugated, nothing left out.
//!
//! Small products run on operands where they are (`gemm/small.rs`), if these lie right. What does not (a symmetric matrix,
//! a transposed or conjugated one) is brought into that form, the latter by the kernel's own packing.

use crate::gemm::Operand;
use crate::gemm::pack::Format;
use crate::matrix::{MatMut, MatRef, Uplo};
use crate::runtime::memory::Scratch;
use crate::scalar::Scalar;
use core::mem::MaybeUninit;

/// Bytes of room that are taken from the stack.
const ON_STACK: usize = 12 << 10;

/// Calls `f` with room for n elements, on the stack if they are few, or without any if there is none to be had.
pub fn with_room<T, R>(n: usize, f: impl FnOnce(Option<*mut T>) -> R) -> R {
    #[repr(align(64))]
    struct Stack(MaybeUninit<[u8; ON_STACK]>);
    if n.saturating_mul(size_of::<T>()) <= ON_STACK {
        let mut stack = Stack(MaybeUninit::uninit());
        return f(Some(stack.0.as_mut_ptr().cast()));
    }
    let scratch = Scratch::take_for::<T>(n);
    f(scratch.as_ref().map(Scratch::ptr))
}

/// Elements that [`dense`] needs for an operand.
pub fn room<T: Scalar>(operand: &Operand<T>) -> usize {
    operand.cols() * (operand.rows() + T::kernels().gemm.mr())
}

/// The operand as a matrix of its own, with rows at consecutive addresses.
///
/// # Safety
/// `to` has [`room`] for it, for as long as the result lives.
pub unsafe fn dense<'a, T: Scalar>(operand: &Operand<T>, to: *mut T) -> MatRef<'a, T> {
    let kernel = T::kernels().gemm;
    let (m, k) = (operand.rows(), operand.cols());
    if let Operand::Symmetric(a, uplo, symmetry) = *operand {
        // SAFETY: the copy has m x m elements.
        let mut copy = unsafe { MatMut::new(to, m, m, 1, m as isize) };
        for j in 0..m {
            for i in if uplo == Uplo::Lower { j..m } else { 0..j + 1 } {
                let x = a.get(i, j);
                copy.set(j, i, x.conj_if(symmetry.is_hermitian()));
                copy.set(i, j, x);
            }
            if symmetry.is_hermitian() {
                copy.set(j, j, T::from_real(a.get(j, j).re()));
            }
        }
        return copy.as_ref();
    }
    let panel = to.wrapping_add(m * k);
    // SAFETY: the copy has m x k elements, behind it is a panel of k steps.
    unsafe {
        for i in (0..m).step_by(kernel.mr()) {
            let lanes = kernel.mr().min(m - i);
            operand.pack_panel(kernel, Format::A, i, lanes, 0, k, panel);
            kernel.unpack_a(lanes, k, panel, to.add(i), 1, m as isize);
        }
        MatMut::new(to, m, k, 1, m as isize).as_ref()
    }
}
