//! The matrix kernels, once for all instruction sets and types: register tile, packing.
//!
//! The tile is MV vectors high and NR columns wide (Goto and van de Geijn, "Anatomy of High-Performance Matrix
//! Multiplication", 2008; Van Zee and van de Geijn, "BLIS", 2015). Every element of the product goes through the same
//! chain of operations wherever it stands in the tile, so results do not depend on how a matrix is cut.
//!
//! Contract of all functions: the CPU has V's instruction set; pointers are valid for what the text says is read and
//! written there.

use super::simd::Simd;
use crate::scalar::Scalar;

/// `C := alpha A B + beta C` for one register tile: A from a packed panel (k steps of MV vectors), B from a packed panel
/// (k steps of NR elements), the upper left m x n of the tile in C with unit row stride and column stride `cs`.
/// beta == 0 never reads C.
#[inline(always)]
pub unsafe fn product<V: Simd, const MV: usize, const NR: usize>(
    k: usize,
    alpha: V::T,
    a: *const V::T,
    b: *const V::T,
    beta: V::T,
    c: *mut V::T,
    cs: isize,
    m: usize,
    n: usize,
) {
    // SAFETY: the contract above.
    unsafe {
        let mut acc = [[V::zero(); MV]; NR];
        let (mut a, mut b) = (a, b);
        for j in 0..NR {
            if j < n {
                prefetch(c.offset(j as isize * cs));
            }
        }
        for _ in 0..k {
            let mut column = [V::zero(); MV];
            for (i, v) in column.iter_mut().enumerate() {
                *v = V::load_packed(a.add(i * V::LANES));
            }
            for (j, tile) in acc.iter_mut().enumerate() {
                let s = V::splat(*b.add(j));
                for i in 0..MV {
                    tile[i] = column[i].mul_add(s, tile[i]);
                }
            }
            a = a.add(MV * V::LANES);
            b = b.add(NR);
        }
        write::<V, MV, NR>(&acc, alpha, beta, c, cs, m, n);
    }
}

/// As [`product`] with operands where the caller has them: A with unit row stride, `a_step` elements from one column to
/// the next, B at `b + p*b_step + j*b_col`. Reads only the first m rows of A and n columns of B.
#[inline(always)]
pub unsafe fn product_in_place<V: Simd, const MV: usize, const NR: usize>(
    k: usize,
    alpha: V::T,
    a: *const V::T,
    a_step: isize,
    b: *const V::T,
    b_step: isize,
    b_col: isize,
    beta: V::T,
    c: *mut V::T,
    cs: isize,
    m: usize,
    n: usize,
) {
    // SAFETY: the contract above.
    unsafe {
        let mut acc = [[V::zero(); MV]; NR];
        let (mut a, mut b) = (a, b);
        if m == MV * V::LANES && n == NR {
            for _ in 0..k {
                let mut column = [V::zero(); MV];
                for (i, v) in column.iter_mut().enumerate() {
                    *v = V::load(a.add(i * V::LANES));
                }
                for (j, tile) in acc.iter_mut().enumerate() {
                    let s = V::splat(*b.offset(j as isize * b_col));
                    for i in 0..MV {
                        tile[i] = column[i].mul_add(s, tile[i]);
                    }
                }
                a = a.wrapping_offset(a_step);
                b = b.wrapping_offset(b_step);
            }
        } else {
            for _ in 0..k {
                let mut column = [V::zero(); MV];
                for (i, v) in column.iter_mut().enumerate() {
                    *v = load_rows::<V>(a, i, m);
                }
                for (j, tile) in acc.iter_mut().enumerate() {
                    if j < n {
                        let s = V::splat(*b.offset(j as isize * b_col));
                        for i in 0..MV {
                            tile[i] = column[i].mul_add(s, tile[i]);
                        }
                    }
                }
                a = a.wrapping_offset(a_step);
                b = b.wrapping_offset(b_step);
            }
        }
        write::<V, MV, NR>(&acc, alpha, beta, c, cs, m, n);
    }
}

/// Vector i of a column of which m rows exist.
#[inline(always)]
unsafe fn load_rows<V: Simd>(p: *const V::T, i: usize, m: usize) -> V {
    // SAFETY: no more than m rows are read.
    unsafe {
        let from = i * V::LANES;
        if from + V::LANES <= m {
            V::load(p.add(from))
        } else if from < m {
            V::load_first(p.add(from), m - from)
        } else {
            V::zero()
        }
    }
}

/// `C := alpha acc + beta C` for the upper left m x n of the tile.
#[inline(always)]
unsafe fn write<V: Simd, const MV: usize, const NR: usize>(
    acc: &[[V; MV]; NR],
    alpha: V::T,
    beta: V::T,
    c: *mut V::T,
    cs: isize,
    m: usize,
    n: usize,
) {
    // SAFETY: the contract of the callers.
    unsafe {
        let (va, vb) = (V::splat(alpha), V::splat(beta));
        let full = m == MV * V::LANES;
        for (j, tile) in acc.iter().enumerate() {
            if j >= n {
                break;
            }
            let c = c.offset(j as isize * cs);
            for (i, &x) in tile.iter().enumerate() {
                let p = c.wrapping_add(i * V::LANES);
                let rows = m.saturating_sub(i * V::LANES);
                if full || rows >= V::LANES {
                    let y = if beta == V::T::ZERO {
                        x.mul(va)
                    } else if beta == V::T::ONE {
                        x.mul_add(va, V::load(p))
                    } else {
                        x.mul_add(va, V::load(p).mul(vb))
                    };
                    y.store(p);
                } else if rows > 0 {
                    let y = if beta == V::T::ZERO {
                        x.mul(va)
                    } else if beta == V::T::ONE {
                        x.mul_add(va, V::load_first(p, rows))
                    } else {
                        x.mul_add(va, V::load_first(p, rows).mul(vb))
                    };
                    y.store_first(p, rows);
                }
            }
        }
    }
}

/// k steps of `lanes` elements, element (l, p) at `src + l*ls + p*ps`, into a panel of k steps of MV vectors, zero behind
/// the last lane.
#[inline(always)]
pub unsafe fn pack_vectors<V: Simd, const MV: usize>(
    lanes: usize,
    k: usize,
    src: *const V::T,
    ls: isize,
    ps: isize,
    conj: bool,
    dst: *mut V::T,
) {
    let width = MV * V::LANES;
    // SAFETY: the contract of the file; the panel has k*width elements.
    unsafe {
        if ls == 1 {
            for p in 0..k {
                let (from, to) = (src.wrapping_offset(p as isize * ps), dst.add(p * width));
                for i in 0..MV {
                    put(load_rows::<V>(from, i, lanes), conj, to.add(i * V::LANES));
                }
            }
            return;
        }
        // Steps are gathered eight at a time, so that a lane's consecutive elements are read together.
        const STEPS: usize = 8;
        let mut block = [V::T::ZERO; MAX_WIDTH * STEPS];
        let mut p = 0;
        while p < k {
            let steps = STEPS.min(k - p);
            for l in 0..lanes {
                let from = src.wrapping_offset(l as isize * ls + p as isize * ps);
                if steps == STEPS && ps == 1 {
                    for q in 0..STEPS {
                        block[q * width + l] = *from.add(q);
                    }
                } else {
                    for q in 0..steps {
                        block[q * width + l] = *from.wrapping_offset(q as isize * ps);
                    }
                }
            }
            for i in 0..steps * MV {
                put(V::load(block.as_ptr().add(i * V::LANES)), conj, dst.add(p * width + i * V::LANES));
            }
            p += steps;
        }
    }
}

#[inline(always)]
unsafe fn put<V: Simd>(v: V, conj: bool, dst: *mut V::T) {
    // SAFETY: the contract of the file.
    unsafe { if conj { v.conj() } else { v }.store_packed(dst) }
}

/// The widest panel of any table.
pub const MAX_WIDTH: usize = 64;
/// Elements of the largest register tile of any table.
pub const MAX_TILE: usize = 512;

/// As [`pack_vectors`] into a panel of k steps of NR single elements, for the operand that is broadcast.
#[inline(always)]
pub unsafe fn pack_elements<T: Scalar, const NR: usize>(
    lanes: usize,
    k: usize,
    src: *const T,
    ls: isize,
    ps: isize,
    conj: bool,
    dst: *mut T,
) {
    // SAFETY: the contract of the file; the panel has k*NR elements.
    unsafe {
        if lanes == NR && !conj {
            if ls == 1 {
                for p in 0..k {
                    dst.add(p * NR)
                        .cast::<[T; NR]>()
                        .write(src.wrapping_offset(p as isize * ps).cast::<[T; NR]>().read());
                }
            } else {
                for p in 0..k {
                    let from = src.wrapping_offset(p as isize * ps);
                    for l in 0..NR {
                        *dst.add(p * NR + l) = *from.wrapping_offset(l as isize * ls);
                    }
                }
            }
            return;
        }
        for p in 0..k {
            for l in 0..NR {
                *dst.add(p * NR + l) = if l < lanes {
                    (*src.wrapping_offset(l as isize * ls + p as isize * ps)).conj_if(conj)
                } else {
                    T::ZERO
                };
            }
        }
    }
}

/// The reverse of [`pack_vectors`].
#[inline(always)]
pub unsafe fn unpack_vectors<V: Simd, const MV: usize>(
    lanes: usize,
    k: usize,
    src: *const V::T,
    dst: *mut V::T,
    ls: isize,
    ps: isize,
) {
    let width = MV * V::LANES;
    let mut column = [V::T::ZERO; MAX_WIDTH];
    for p in 0..k {
        // SAFETY: the contract of the file.
        unsafe {
            for i in 0..MV {
                V::load_packed(src.add(p * width + i * V::LANES)).store(column.as_mut_ptr().add(i * V::LANES));
            }
            let to = dst.wrapping_offset(p as isize * ps);
            if ls == 1 {
                core::ptr::copy_nonoverlapping(column.as_ptr(), to, lanes);
            } else {
                for (l, x) in column.iter().enumerate().take(lanes) {
                    *to.wrapping_offset(l as isize * ls) = *x;
                }
            }
        }
    }
}

/// Asks for the cache line at `p`; any address will do.
#[inline(always)]
fn prefetch<T>(p: *const T) {
    #[cfg(target_arch = "x86_64")]
    // SAFETY: a prefetch never faults.
    unsafe {
        core::arch::x86_64::_mm_prefetch::<{ core::arch::x86_64::_MM_HINT_T0 }>(p.cast())
    };
    #[cfg(not(target_arch = "x86_64"))]
    let _ = p;
}
