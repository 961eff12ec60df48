//! Small products on the operands where they are, or packed on the stack: no scratch memory, no lock, no system call, no
//! thread.
//!
//! k fits in one pass, so the operations are those of the packed way, in the same order: the same bits.

use super::pack::Kernel;
use crate::kernels::tile::Source;
use crate::matrix::{MatMut, MatRef};
use crate::scalar::Scalar;
use core::mem::MaybeUninit;

/// Products m*n*k that go this way. Larger ones may be read in place too, but look at threads and memory first.
const MOST: usize = 48 * 48 * 48;
/// Columns of A further apart than this touch a page each: packing pays sooner.
const FAR: usize = 4096;

/// Computes C := alpha A B + beta C if it is small and its operands lie right; says whether it did. Compiled into its
/// callers: the views of a small call become arguments of the kernel without passing through memory.
#[inline(always)]
pub fn run<T: Scalar>(alpha: T, a: MatRef<T>, b: MatRef<T>, beta: T, c: &MatMut<T>, kernel: &Kernel<T>) -> bool {
    let (m, n, k) = (c.rows(), c.cols(), a.cols());
    // Neither empty nor large.
    let small = (1..=MOST).contains(&m.saturating_mul(n).saturating_mul(k)) && alpha != T::ZERO;
    let fits = c.rs() == 1 && (a.rs() == 1 || m == 1) && !a.is_conj() && !b.is_conj();
    let far = a.cs().unsigned_abs().saturating_mul(size_of::<T>()) > FAR && k > 16;
    if !small || !fits || far || k > kernel.kc() {
        return false;
    }
    let (from_a, from_b) = (Source::in_place(a.ptr(), 1, a.cs()), Source::in_place(b.ptr(), b.cs(), b.rs()));
    // SAFETY: views of m x k, k x n and m x n; A and C have unit row stride (or one row).
    unsafe { kernel.block(m, n, k, alpha, from_a, from_b, beta, c.ptr(), c.cs()) };
    true
}

/// Bytes for packed panels on the stack, of which a thread may have no more than 64 KiB.
const ROOM: usize = 16 << 10;
/// Elements of A up to which copying them one by one is faster than packing panels of full width.
const BY_ELEMENT: usize = 64;

#[repr(C, align(64))]
struct Room([MaybeUninit<u8>; ROOM]);

/// The same for a small product whose operands do not lie right: A, and B if it is conjugated, are packed on the stack.
#[inline(never)]
pub fn run_packed<T: Scalar>(alpha: T, a: MatRef<T>, b: MatRef<T>, beta: T, c: &MatMut<T>, kernel: &Kernel<T>) -> bool {
    let (m, n, k) = (c.rows(), c.cols(), a.cols());
    let small = (1..=MOST).contains(&m.saturating_mul(n).saturating_mul(k)) && alpha != T::ZERO;
    if !small || k > kernel.kc() || c.rs() != 1 {
        return false;
    }
    let a_room = m.next_multiple_of(kernel.mr()).saturating_mul(k);
    let b_room = if b.is_conj() { n.next_multiple_of(kernel.nr()).saturating_mul(k) } else { 0 };
    if a_room.saturating_add(b_room) > ROOM / size_of::<T>() {
        return false;
    }
    let mut room = Room([MaybeUninit::uninit(); ROOM]);
    let a_panels = room.0.as_mut_ptr().cast::<T>();
    let b_panels = a_panels.wrapping_add(a_room);
    // SAFETY: the room holds all panels and is aligned for any type; views of m x k, k x n and m x n; C has unit row stride.
    unsafe {
        let from_a = if m * k <= BY_ELEMENT {
            for p in 0..k {
                for i in 0..m {
                    a_panels.add(p * m + i).write(a.get(i, p));
                }
            }
            Source::in_place(a_panels, 1, m as isize)
        } else {
            kernel.pack_a(m, k, a.ptr(), a.rs(), a.cs(), a.is_conj(), a_panels);
            Source::panels(a_panels, k, kernel.mr())
        };
        let from_b = if b.is_conj() {
            kernel.pack_b(n, k, b.ptr(), b.cs(), b.rs(), true, b_panels);
            Source::panels(b_panels, k, kernel.nr())
        } else {
            Source::in_place(b.ptr(), b.cs(), b.rs())
        };
        kernel.block(m, n, k, alpha, from_a, from_b, beta, c.ptr(), c.cs());
    }
    true
}
