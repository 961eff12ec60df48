//! The triangular kernels, once for all instruction sets and types: `X U = alpha B` solved, and `X := alpha X U`, for a
//! panel of rows that stays in L1 while the packed triangle streams by.
//!
//! X is an A panel: step j holds column j of some rows of X, as MV vectors of which lanes are rows. The rows do not depend
//! on each other, so the substitution runs down the steps with whole vectors: a register tile of NR steps first takes what
//! earlier tiles contribute (the loop of a product, with nothing packed or written between), then the small triangle on
//! the diagonal is done in registers (the fused "gemmtrsm" of Van Zee and van de Geijn, "BLIS", 2015). Every lane goes
//! through the same chain of operations, in the order of the substitution.
//!
//! A packed triangle is one panel of NR columns behind the other, each with the rows it needs: for an upper triangle rows
//! 0 to the end of its square on the diagonal, for a lower one from its square on. The last square is filled up with rows
//! and columns of a unit matrix. Elements of a square on the wrong side of the diagonal are not read. [`panels`] and
//! [`offset`] are the layout.
//!
//! Contract of all functions: as in `tile.rs`.

use super::simd::Simd;
use crate::matrix::Uplo;
use crate::scalar::Scalar;

/// What the diagonal of a packed triangle holds.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Diagonal {
    /// Nothing; it is one.
    Unit,
    /// The elements, for a product.
    Stored,
    /// Their reciprocals, for a solution.
    Inverse,
    /// The elements, for a solution in which a reciprocal would not be a normal number.
    Divisor,
}

/// Elements of a packed triangle of n columns.
pub fn panels(n: usize, nr: usize) -> usize {
    let count = n.div_ceil(nr);
    nr * nr * count * (count + 1) / 2
}

/// Where the panel of columns j, j+1, ..., j+nr-1 begins; j is a multiple of nr.
#[inline(always)]
pub fn offset(n: usize, nr: usize, uplo: Uplo, j: usize) -> usize {
    let (p, count) = (j / nr, n.div_ceil(nr));
    nr * nr
        * match uplo {
            Uplo::Upper => p * (p + 1) / 2,
            Uplo::Lower => p * count - p * p.saturating_sub(1) / 2,
        }
}

/// `X U = alpha B` for the first `lanes` rows of a panel of n steps, rounded up to whole tiles: X replaces B. Steps
/// beyond n are zero. U is a packed triangle with [`Diagonal`] other than `Stored`.
#[inline(always)]
pub unsafe fn solve<V: Simd, const MV: usize, const NR: usize>(
    lanes: usize,
    n: usize,
    u: *const V::T,
    uplo: Uplo,
    diagonal: Diagonal,
    alpha: V::T,
    x: *mut V::T,
) {
    // SAFETY: the contract above.
    unsafe {
        match (uplo, lanes <= V::LANES) {
            (Uplo::Upper, false) => solve_tiles::<V, MV, NR, false>(MV * V::LANES, n, u, diagonal, alpha, x),
            (Uplo::Lower, false) => solve_tiles::<V, MV, NR, true>(MV * V::LANES, n, u, diagonal, alpha, x),
            (Uplo::Upper, true) => solve_tiles::<V, 1, NR, false>(MV * V::LANES, n, u, diagonal, alpha, x),
            (Uplo::Lower, true) => solve_tiles::<V, 1, NR, true>(MV * V::LANES, n, u, diagonal, alpha, x),
        }
    }
}

/// `X := alpha X U` for the first `lanes` rows of a panel; otherwise as [`solve`], [`Diagonal`] is `Unit` or `Stored`.
#[inline(always)]
pub unsafe fn multiply<V: Simd, const MV: usize, const NR: usize>(
    lanes: usize,
    n: usize,
    u: *const V::T,
    uplo: Uplo,
    diagonal: Diagonal,
    alpha: V::T,
    x: *mut V::T,
) {
    // SAFETY: the contract above.
    unsafe {
        match (uplo, lanes <= V::LANES) {
            (Uplo::Upper, false) => multiply_tiles::<V, MV, NR, false>(MV * V::LANES, n, u, diagonal, alpha, x),
            (Uplo::Lower, false) => multiply_tiles::<V, MV, NR, true>(MV * V::LANES, n, u, diagonal, alpha, x),
            (Uplo::Upper, true) => multiply_tiles::<V, 1, NR, false>(MV * V::LANES, n, u, diagonal, alpha, x),
            (Uplo::Lower, true) => multiply_tiles::<V, 1, NR, true>(MV * V::LANES, n, u, diagonal, alpha, x),
        }
    }
}

/// The first MV vectors of a step.
#[inline(always)]
unsafe fn load<V: Simd, const MV: usize>(x: *const V::T) -> [V; MV] {
    // SAFETY: the contract of the callers.
    unsafe {
        let mut step = [V::zero(); MV];
        for (i, v) in step.iter_mut().enumerate() {
            *v = V::load_packed(x.add(i * V::LANES));
        }
        step
    }
}

/// The first MV vectors of a step, times alpha; as they are if it is one.
#[inline(always)]
unsafe fn store<V: Simd, const MV: usize>(step: &[V; MV], alpha: V::T, x: *mut V::T) {
    // SAFETY: the contract of the callers.
    unsafe {
        for (i, &v) in step.iter().enumerate() {
            let v = if alpha == V::T::ONE { v } else { v.mul(V::splat(alpha)) };
            v.store_packed(x.add(i * V::LANES));
        }
    }
}

#[inline(always)]
unsafe fn solve_tiles<V: Simd, const MV: usize, const NR: usize, const LOWER: bool>(
    width: usize,
    n: usize,
    u: *const V::T,
    diagonal: Diagonal,
    alpha: V::T,
    x: *mut V::T,
) {
    let count = n.div_ceil(NR);
    for tile in 0..count {
        // Of a lower triangle the last unknowns are found first.
        let j0 = NR * if LOWER { count - 1 - tile } else { tile };
        // SAFETY: the panel has the steps of whole tiles, the packed triangle the rows that its layout says.
        unsafe {
            let mut acc = [[V::zero(); MV]; NR];
            for (j, tile) in acc.iter_mut().enumerate() {
                *tile = load(x.add((j0 + j) * width));
                if alpha != V::T::ONE {
                    for v in tile.iter_mut() {
                        *v = v.mul(V::splat(alpha));
                    }
                }
            }
            let panel = u.add(offset(n, NR, if LOWER { Uplo::Lower } else { Uplo::Upper }, j0));
            let (first, steps, rows, square) = if LOWER {
                (j0 + NR, n.saturating_sub(j0 + NR), panel.add(NR * NR), panel)
            } else {
                (0, j0, panel, panel.add(j0 * NR))
            };
            let (mut a, mut b) = (x.add(first * width).cast_const(), rows);
            for _ in 0..steps {
                let step: [V; MV] = load(a);
                for (j, tile) in acc.iter_mut().enumerate() {
                    let s = V::splat(*b.add(j));
                    for i in 0..MV {
                        tile[i] = step[i].neg_mul_add(s, tile[i]);
                    }
                }
                a = a.add(width);
                b = b.add(NR);
            }
            for step in 0..NR {
                let j = if LOWER { NR - 1 - step } else { step };
                let row = square.add(j * NR);
                let mut solved = acc[j];
                match diagonal {
                    Diagonal::Unit | Diagonal::Stored => (),
                    Diagonal::Inverse => {
                        for v in solved.iter_mut() {
                            *v = v.mul(V::splat(*row.add(j)));
                        }
                    }
                    Diagonal::Divisor => {
                        for v in solved.iter_mut() {
                            *v = v.div_by(*row.add(j));
                        }
                    }
                }
                store(&solved, V::T::ONE, x.add((j0 + j) * width));
                for (l, tile) in acc.iter_mut().enumerate() {
                    if (!LOWER && l > j) || (LOWER && l < j) {
                        let s = V::splat(*row.add(l));
                        for i in 0..MV {
                            tile[i] = solved[i].neg_mul_add(s, tile[i]);
                        }
                    }
                }
            }
        }
    }
}

#[inline(always)]
unsafe fn multiply_tiles<V: Simd, const MV: usize, const NR: usize, const LOWER: bool>(
    width: usize,
    n: usize,
    u: *const V::T,
    diagonal: Diagonal,
    alpha: V::T,
    x: *mut V::T,
) {
    let count = n.div_ceil(NR);
    for tile in 0..count {
        // In the order in which no step is needed after it was replaced.
        let j0 = NR * if LOWER { tile } else { count - 1 - tile };
        // SAFETY: as in `solve_tiles`.
        unsafe {
            let panel = u.add(offset(n, NR, if LOWER { Uplo::Lower } else { Uplo::Upper }, j0));
            let (first, steps, rows, square) = if LOWER {
                (j0 + NR, n.saturating_sub(j0 + NR), panel.add(NR * NR), panel)
            } else {
                (0, j0, panel, panel.add(j0 * NR))
            };
            let mut acc = [[V::zero(); MV]; NR];
            for step in 0..NR {
                // Each row of the square begins the sum on its diagonal, and adds to those that have begun.
                let l = if LOWER { step } else { NR - 1 - step };
                let row = square.add(l * NR);
                let column: [V; MV] = load(x.add((j0 + l) * width));
                for (j, tile) in acc.iter_mut().enumerate() {
                    if j != l && (j < l) != LOWER {
                        continue;
                    }
                    let s = V::splat(*row.add(j));
                    for i in 0..MV {
                        tile[i] = if j != l {
                            column[i].mul_add(s, tile[i])
                        } else if diagonal == Diagonal::Unit {
                            column[i]
                        } else {
                            column[i].mul(s)
                        };
                    }
                }
            }
            let (mut a, mut b) = (x.add(first * width).cast_const(), rows);
            for _ in 0..steps {
                let step: [V; MV] = load(a);
                for (j, tile) in acc.iter_mut().enumerate() {
                    let s = V::splat(*b.add(j));
                    for i in 0..MV {
                        tile[i] = step[i].mul_add(s, tile[i]);
                    }
                }
                a = a.add(width);
                b = b.add(NR);
            }
            for (j, tile) in acc.iter().enumerate() {
                store(tile, alpha, x.add((j0 + j) * width));
            }
        }
    }
}
