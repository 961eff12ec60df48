//! Small products on the operands where they are, or from panels on the stack if they lie across, and the smallest element
//! by element: no scratch memory, no lock, no system call, no thread.
//!
//! k fits in one pass, so the operations are those of the packed way, in the same order: the same bits.

use super::driver::is_better_turned_to_dots;
use super::pack::Kernel;
use crate::kernels::Kernels;
use crate::kernels::tile::{LEAST_KC, Source, Strided, Tile, opaque};
use crate::matrix::{MatMut, MatRef};
use crate::scalar::Scalar;
use core::mem::MaybeUninit;

/// Products m*n*k that go this way. Larger ones may be read in place too, but look at threads and memory first.
const MOST: usize = 48 * 48 * 48;
/// Products m*n*k that are faster element by element than as a tile, and those that are if A would have to be packed.
const TINY: usize = 4;
const TINY_ACROSS: usize = 27;
/// Columns of A further apart than this touch a page each: packing pays sooner.
const FAR: usize = 4096;

/// Computes C := alpha A B + beta C if it is small and its operands lie right; says whether it did. Compiled into its
/// callers: the views of a small call become arguments of the kernel without passing through memory.
#[inline(always)]
pub fn run<T: Scalar>(alpha: T, a: MatRef<T>, b: MatRef<T>, beta: T, c: &MatMut<T>, kernels: &Kernels<T>) -> bool {
    let (m, n, k, kernel) = (c.rows(), c.cols(), a.cols(), kernels.gemm);
    // Neither empty nor large.
    let small = (1..=MOST).contains(&m.saturating_mul(n).saturating_mul(k)) && alpha != T::ZERO;
    if !small || c.rs() != 1 || (k > LEAST_KC && k > kernel.kc()) {
        return false;
    }
    let fits = (a.rs() == 1 || m == 1) && !a.is_conj() && !b.is_conj();
    if m * n * k <= if fits { TINY } else { TINY_ACROSS } && k <= 4 {
        // Strides one by one, see below.
        let word = |stride: isize| opaque(stride as usize) as isize;
        let a = Strided { ptr: a.ptr(), lane: word(a.rs()), step: word(a.cs()), conj: a.is_conj() };
        let b = Strided { ptr: b.ptr(), lane: word(b.cs()), step: word(b.rs()), conj: b.is_conj() };
        // SAFETY: views of m x k, k x n and m x n; C has unit row stride.
        unsafe { kernel.tiny(m, n, k, alpha, a, b, beta, c.ptr(), c.cs()) };
        return true;
    }
    if is_better_turned_to_dots::<T>(m, n, k) && b.rs() == 1 {
        return false;
    }
    let far = a.cs().unsigned_abs().saturating_mul(size_of::<T>()) > FAR && k > 16;
    if !fits || far {
        return on_the_stack(alpha, a.anew(), b.anew(), beta, c.alias(), kernel);
    }
    // The view of B may be in memory, where its strides were just written one by one. Read as the pair that `Source` makes
    // of them they would have to come from the cache: a stall as long as the product.
    let (lane, step) = (opaque(b.cs() as usize) as isize, opaque(b.rs() as usize) as isize);
    let (from_a, from_b) = (Source::in_place(a.ptr(), 1, a.cs()), Source::in_place(b.ptr(), lane, step));
    // SAFETY: views of m x k, k x n and m x n; A and C have unit row stride (or one row).
    unsafe {
        if m <= kernels.single.0 && n <= kernels.single.1 {
            kernel.single(n, &Tile::first(m, k, alpha, from_a, from_b, beta, c.ptr(), c.cs()));
        } else {
            kernel.block(m, n, k, alpha, from_a, from_b, beta, c.ptr(), c.cs());
        }
    }
    true
}

/// Bytes of the panels on the stack.
const STACK: usize = 16 << 10;
/// Elements of A up to which copying them one by one is faster than packing panels of full width.
const BY_ELEMENT: usize = 20;

#[repr(C, align(64))]
struct Panels(MaybeUninit<[u8; STACK]>);

/// As [`run`], with A packed, and B if it is conjugated; false if they do not fit. k is one pass.
#[inline(never)]
pub fn on_the_stack<T: Scalar>(
    alpha: T,
    a: MatRef<T>,
    b: MatRef<T>,
    beta: T,
    c: MatMut<T>,
    kernel: &Kernel<T>,
) -> bool {
    let (m, n, k) = (c.rows(), c.cols(), a.cols());
    let (mr, nr) = (kernel.mr(), kernel.nr());
    // One panel as wide as A is high. Complex panels have an order of their own, which only tiles up to `mr` rows know.
    let narrow = m <= mr || !T::IS_COMPLEX;
    let width = if narrow { m.next_multiple_of(kernel.lanes()) } else { mr };
    let a_room = m.next_multiple_of(width) * k;
    let b_room = if b.is_conj() { n.next_multiple_of(nr) * k } else { 0 };
    if (a_room + b_room) * size_of::<T>() > STACK {
        return false;
    }
    let mut panels = Panels(MaybeUninit::uninit());
    let a_panel = panels.0.as_mut_ptr().cast::<T>();
    let b_panel = a_panel.wrapping_add(a_room);
    // SAFETY: the panels have room for both operands; views of m x k, k x n and m x n; C has unit row stride.
    unsafe {
        let from_a = if m * k <= BY_ELEMENT {
            for p in 0..k {
                for i in 0..m {
                    a_panel.add(p * m + i).write(a.get(i, p));
                }
            }
            Source::in_place(a_panel, 1, m as isize)
        } else {
            if narrow {
                kernel.pack_narrow(m, k, a.ptr(), a.rs(), a.cs(), a.is_conj(), a_panel);
            } else {
                kernel.pack_a(m, k, a.ptr(), a.rs(), a.cs(), a.is_conj(), a_panel);
            }
            if T::IS_COMPLEX { Source::panels(a_panel, k, width) } else { Source::in_place(a_panel, 1, width as isize) }
        };
        let from_b = if b.is_conj() {
            kernel.pack_b(n, k, b.ptr(), b.cs(), b.rs(), true, b_panel);
            Source::panels(b_panel, k, nr)
        } else {
            Source::in_place(b.ptr(), b.cs(), b.rs())
        };
        kernel.block(m, n, k, alpha, from_a, from_b, beta, c.ptr(), c.cs());
    }
    true
}
