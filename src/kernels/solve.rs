//! The triangular kernels, once for all instruction sets and types: `X U = alpha B` solved, and `X := alpha X U`, for some
//! rows of X that stay in L1 while the packed triangle streams by.
//!
//! Step j of X is column j of these rows, as MV vectors of which lanes are rows: an A panel, or X where it is. The rows do
//! not depend on each other, so the substitution runs down the steps with whole vectors: a register tile of NR steps first
//! takes what earlier tiles contribute (the loop of a product, with nothing packed or written between), then the small
//! triangle on the diagonal is done in registers (the fused "gemmtrsm" of Van Zee and van de Geijn, "BLIS", 2015). Every
//! lane goes through the same chain of operations, in the order of the substitution.
//!
//! A packed triangle is one panel of NR columns behind the other, each with the rows it needs: for an upper triangle rows
//! 0 to the end of its square on the diagonal, for a lower one from its square on. What lies beyond n, and elements of a
//! square on the wrong side of the diagonal, are not read. [`panels`] and [`offset`] are the layout.
//!
//! Contract of all functions: as in `tile.rs`.

use super::simd::Simd;
use super::tile::unrolled;
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

/// Rows of X: n steps of which `step` elements lie between one and the next.
#[derive(Clone, Copy)]
pub struct Rows<T> {
    pub x: *mut T,
    pub step: isize,
    /// How many rows are wanted: of a panel at most its width, in place exactly as many as a panel has, or, of reals, as one
    /// vector has or two, or any number up to a panel's where masks are free.
    pub lanes: usize,
    /// In the order of a panel, or where the caller has them, at consecutive addresses.
    pub packed: bool,
}

/// A triangle packed as the head of the file says, of n columns.
#[derive(Clone, Copy)]
pub struct Triangle<T> {
    pub n: usize,
    pub u: *const T,
    pub uplo: Uplo,
    pub diagonal: Diagonal,
}

/// Packs a triangle to `to`, which has room for [`panels`]: element (l, j) of U is at `src + j*ls + l*ps`, conjugated if
/// asked. Reads only the triangle, without the diagonal if that is `Unit`.
#[inline(always)]
pub unsafe fn pack<T: Scalar, const NR: usize>(
    u: Triangle<T>,
    src: *const T,
    ls: isize,
    ps: isize,
    conj: bool,
    to: *mut T,
) {
    macro_rules! panel {
        ($j:expr, $cols:expr, $($n:literal)*) => {
            match $cols {
                cols if cols == NR => pack_panel::<T, NR, NR>(&u, src, ls, ps, conj, to, $j),
                $($n if const { $n < NR } => pack_panel::<T, NR, $n>(&u, src, ls, ps, conj, to, $j),)*
                _ => debug_assert!(false, "no panel of so many columns"),
            }
        };
    }
    for j in (0..u.n).step_by(NR) {
        // SAFETY: a panel of the triangle; no tile is wider than eight columns.
        unsafe { panel!(j, NR.min(u.n - j), 1 2 3 4 5 6 7) }
    }
}

/// The panel of columns j..j+N. Every element of its square is written out: with the loops that a triangle asks for, a
/// small one would take longer to pack than to solve.
#[inline(always)]
unsafe fn pack_panel<T: Scalar, const NR: usize, const N: usize>(
    u: &Triangle<T>,
    src: *const T,
    ls: isize,
    ps: isize,
    conj: bool,
    to: *mut T,
    j: usize,
) {
    // SAFETY: elements of the triangle to their places in the layout.
    unsafe {
        let panel = to.add(offset(u.n, NR, u.uplo, j));
        let (square, mut row, first, rows) = match u.uplo {
            Uplo::Upper => (panel.add(j * NR), panel, 0, j),
            Uplo::Lower => (panel, panel.add(NR * NR), j + N, u.n - j - N),
        };
        let mut from = src.wrapping_offset(j as isize * ls + first as isize * ps);
        if ls == 1 && !conj {
            for _ in 0..rows {
                row.cast::<[T; N]>().write(from.cast::<[T; N]>().read());
                from = from.wrapping_offset(ps);
                row = row.add(NR);
            }
        } else {
            for _ in 0..rows {
                for q in 0..N {
                    *row.add(q) = (*from.wrapping_offset(q as isize * ls)).conj_if(conj);
                }
                from = from.wrapping_offset(ps);
                row = row.add(NR);
            }
        }
        let from = src.wrapping_offset(j as isize * (ls + ps));
        let element = |l: usize, q: usize| (*from.wrapping_offset(l as isize * ps + q as isize * ls)).conj_if(conj);
        if u.uplo == Uplo::Upper {
            unrolled!(N, |l| {
                unrolled!(N, |q| {
                    if q > l {
                        *square.add(l * NR + q) = element(l, q);
                    }
                });
            });
        } else {
            unrolled!(N, |l| {
                unrolled!(N, |q| {
                    if q < l {
                        *square.add(l * NR + q) = element(l, q);
                    }
                });
            });
        }
        if u.diagonal != Diagonal::Unit {
            let inverse = u.diagonal == Diagonal::Inverse;
            unrolled!(N, |l| {
                let d = element(l, l);
                *square.add(l * (NR + 1)) = if inverse { T::ONE / d } else { d };
            });
        }
    }
}

/// How the rows lie.
mod order {
    /// In that of a panel; of reals, also where the caller has them, in whole vectors.
    pub const PANEL: u8 = 0;
    /// Where the caller has them, in whole vectors.
    pub const PLACE: u8 = 1;
    /// There, and the last vector is not whole.
    pub const PART: u8 = 2;
}

/// Calls `$f` with the constants: vectors in use, direction, order.
macro_rules! choose {
    ($f:ident, $V:ty, $MV:ident, $NR:ident, $u:ident, $alpha:ident, $rows:ident) => {
        match (<$V as Simd>::T::IS_COMPLEX, $rows.packed, $rows.lanes % <$V>::LANES) {
            (true, false, _) => choose!(@order $f, $V, $MV, $NR, { order::PLACE }, $u, $alpha, $rows),
            (false, false, 1..) if const { <$V>::MASKS_ARE_FREE } => {
                choose!(@vectors $f, $V, $MV, $NR, { order::PART }, $u, $alpha, $rows)
            }
            _ => choose!(@vectors $f, $V, $MV, $NR, { order::PANEL }, $u, $alpha, $rows),
        }
    };
    (@vectors $f:ident, $V:ty, $MV:ident, $NR:ident, $order:tt, $u:ident, $alpha:ident, $rows:ident) => {
        match $rows.lanes.div_ceil(<$V>::LANES) {
            1 => choose!(@order $f, $V, 1, $NR, $order, $u, $alpha, $rows),
            2 if const { $MV > 2 } => choose!(@order $f, $V, 2, $NR, $order, $u, $alpha, $rows),
            _ => choose!(@order $f, $V, $MV, $NR, $order, $u, $alpha, $rows),
        }
    };
    (@order $f:ident, $V:ty, $MV:tt, $NR:ident, $order:tt, $u:ident, $alpha:ident, $rows:ident) => {
        match $u.uplo {
            Uplo::Upper => $f::<$V, $MV, $NR, false, $order>(&$u, $alpha, &$rows),
            Uplo::Lower => $f::<$V, $MV, $NR, true, $order>(&$u, $alpha, &$rows),
        }
    };
}

/// Calls `$f` for a tile of so many columns, at most NR.
macro_rules! columns {
    ($f:ident, $V:ty, $MV:ident, $NR:ident, $LOWER:ident, $ORDER:ident, $cols:expr, $args:tt) => {
        match $cols {
            cols if cols == $NR => columns!(@ $f, $V, $MV, $NR, $NR, $LOWER, $ORDER, $args),
            1 if const { 1 < $NR } => columns!(@ $f, $V, $MV, $NR, 1, $LOWER, $ORDER, $args),
            2 if const { 2 < $NR } => columns!(@ $f, $V, $MV, $NR, 2, $LOWER, $ORDER, $args),
            3 if const { 3 < $NR } => columns!(@ $f, $V, $MV, $NR, 3, $LOWER, $ORDER, $args),
            4 if const { 4 < $NR } => columns!(@ $f, $V, $MV, $NR, 4, $LOWER, $ORDER, $args),
            5 if const { 5 < $NR } => columns!(@ $f, $V, $MV, $NR, 5, $LOWER, $ORDER, $args),
            6 if const { 6 < $NR } => columns!(@ $f, $V, $MV, $NR, 6, $LOWER, $ORDER, $args),
            7 if const { 7 < $NR } => columns!(@ $f, $V, $MV, $NR, 7, $LOWER, $ORDER, $args),
            _ => debug_assert!(false, "no tile of so many columns"),
        }
    };
    (@ $f:ident, $V:ty, $MV:ident, $NR:ident, $n:tt, $LOWER:ident, $ORDER:ident, ($($arg:expr),*)) => {
        $f::<$V, $MV, $NR, $n, $LOWER, $ORDER>($($arg),*)
    };
}

/// `X U = alpha B`: X replaces B. U has a [`Diagonal`] other than `Stored`.
#[inline(always)]
pub unsafe fn solve<V: Simd, const MV: usize, const NR: usize>(u: Triangle<V::T>, alpha: V::T, rows: Rows<V::T>) {
    // SAFETY: the contract of the file.
    unsafe { choose!(solve_tiles, V, MV, NR, u, alpha, rows) }
}

/// `X := alpha X U`. U has the [`Diagonal`] `Unit` or `Stored`.
#[inline(always)]
pub unsafe fn multiply<V: Simd, const MV: usize, const NR: usize>(u: Triangle<V::T>, alpha: V::T, rows: Rows<V::T>) {
    // SAFETY: the contract of the file.
    unsafe { choose!(multiply_tiles, V, MV, NR, u, alpha, rows) }
}

/// The MV vectors of a step, of which there are so many lanes.
#[inline(always)]
unsafe fn load<V: Simd, const MV: usize, const ORDER: u8>(x: *const V::T, lanes: usize) -> [V; MV] {
    // SAFETY: the contract of the callers.
    unsafe {
        let mut step = [V::zero(); MV];
        for (i, v) in step.iter_mut().enumerate() {
            let x = x.add(i * V::LANES);
            *v = match ORDER {
                order::PANEL => V::load_packed(x),
                order::PART if i == MV - 1 => V::load_first(x, lanes - i * V::LANES),
                _ => V::load(x),
            };
        }
        step
    }
}

#[inline(always)]
unsafe fn store<V: Simd, const MV: usize, const ORDER: u8>(step: &[V; MV], x: *mut V::T, lanes: usize) {
    // SAFETY: the contract of the callers.
    unsafe {
        for (i, v) in step.iter().enumerate() {
            let x = x.add(i * V::LANES);
            match ORDER {
                order::PANEL => v.store_packed(x),
                order::PART if i == MV - 1 => v.store_first(x, lanes - i * V::LANES),
                _ => v.store(x),
            }
        }
    }
}

/// Times alpha; as they are if it is one.
#[inline(always)]
unsafe fn scale<V: Simd, const MV: usize>(step: &mut [V; MV], alpha: V::T) {
    if alpha != V::T::ONE {
        for v in step.iter_mut() {
            // SAFETY: the contract of the callers.
            *v = unsafe { v.mul(V::splat(alpha)) };
        }
    }
}

/// A tile's place: its square, and the rows of U beside that with the first step of X that they meet.
#[inline(always)]
unsafe fn place<T: Scalar, const NR: usize, const LOWER: bool>(
    u: &Triangle<T>,
    j: usize,
) -> (*const T, *const T, usize, usize) {
    // SAFETY: inside the packed triangle, by its layout.
    unsafe {
        let panel = u.u.add(offset(u.n, NR, if LOWER { Uplo::Lower } else { Uplo::Upper }, j));
        if LOWER {
            (panel, panel.add(NR * NR), j + NR, u.n.saturating_sub(j + NR))
        } else {
            (panel.add(j * NR), panel, 0, j)
        }
    }
}

#[inline(always)]
unsafe fn solve_tiles<V: Simd, const MV: usize, const NR: usize, const LOWER: bool, const ORDER: u8>(
    u: &Triangle<V::T>,
    alpha: V::T,
    rows: &Rows<V::T>,
) {
    let count = u.n.div_ceil(NR);
    for tile in 0..count {
        // Of a lower triangle the last unknowns are found first.
        let j = NR * if LOWER { count - 1 - tile } else { tile };
        // SAFETY: a tile of the panel.
        unsafe { columns!(solve_tile, V, MV, NR, LOWER, ORDER, NR.min(u.n - j), (u, alpha, rows, j)) }
    }
}

/// Steps j..j+N of X.
#[inline(always)]
unsafe fn solve_tile<V: Simd, const MV: usize, const NR: usize, const N: usize, const LOWER: bool, const ORDER: u8>(
    u: &Triangle<V::T>,
    alpha: V::T,
    rows: &Rows<V::T>,
    j: usize,
) {
    // SAFETY: the steps exist; the packed triangle has the rows that its layout says.
    unsafe {
        let (square, mut b, first, steps) = place::<V::T, NR, LOWER>(u, j);
        let x = rows.x.wrapping_offset(j as isize * rows.step);
        let mut acc = [[V::zero(); MV]; N];
        unrolled!(N, |l| {
            acc[l] = load::<V, MV, ORDER>(x.offset(l as isize * rows.step), rows.lanes);
            scale(&mut acc[l], alpha);
        });
        let mut a = rows.x.wrapping_offset(first as isize * rows.step).cast_const();
        for _ in 0..steps {
            let step = load::<V, MV, ORDER>(a, rows.lanes);
            for (l, tile) in acc.iter_mut().enumerate() {
                let s = V::splat(*b.add(l));
                for i in 0..MV {
                    tile[i] = step[i].neg_mul_add(s, tile[i]);
                }
            }
            a = a.wrapping_offset(rows.step);
            b = b.add(NR);
        }
        unrolled!(N, |step| {
            let p = if LOWER { N - 1 - step } else { step };
            let row = square.add(p * NR);
            let mut solved = acc[p];
            for v in solved.iter_mut() {
                match u.diagonal {
                    Diagonal::Unit | Diagonal::Stored => (),
                    Diagonal::Inverse => *v = v.mul(V::splat(*row.add(p))),
                    Diagonal::Divisor => *v = v.div_by(*row.add(p)),
                }
            }
            store::<V, MV, ORDER>(&solved, x.offset(p as isize * rows.step), rows.lanes);
            for (l, tile) in acc.iter_mut().enumerate() {
                if (!LOWER && l > p) || (LOWER && l < p) {
                    let s = V::splat(*row.add(l));
                    for i in 0..MV {
                        tile[i] = solved[i].neg_mul_add(s, tile[i]);
                    }
                }
            }
        });
    }
}

#[inline(always)]
unsafe fn multiply_tiles<V: Simd, const MV: usize, const NR: usize, const LOWER: bool, const ORDER: u8>(
    u: &Triangle<V::T>,
    alpha: V::T,
    rows: &Rows<V::T>,
) {
    let count = u.n.div_ceil(NR);
    for tile in 0..count {
        // In the order in which no step is needed after it was replaced.
        let j = NR * if LOWER { tile } else { count - 1 - tile };
        // SAFETY: a tile of the panel.
        unsafe { columns!(multiply_tile, V, MV, NR, LOWER, ORDER, NR.min(u.n - j), (u, alpha, rows, j)) }
    }
}

/// Steps j..j+N of X.
#[inline(always)]
unsafe fn multiply_tile<
    V: Simd,
    const MV: usize,
    const NR: usize,
    const N: usize,
    const LOWER: bool,
    const ORDER: u8,
>(
    u: &Triangle<V::T>,
    alpha: V::T,
    rows: &Rows<V::T>,
    j: usize,
) {
    // SAFETY: as in `solve_tile`.
    unsafe {
        let (square, mut b, first, steps) = place::<V::T, NR, LOWER>(u, j);
        let x = rows.x.wrapping_offset(j as isize * rows.step);
        let mut acc = [[V::zero(); MV]; N];
        unrolled!(N, |step| {
            // Each row of the square begins the sum on its diagonal, and adds to those that have begun.
            let p = if LOWER { step } else { N - 1 - step };
            let row = square.add(p * NR);
            let column = load::<V, MV, ORDER>(x.offset(p as isize * rows.step), rows.lanes);
            unrolled!(N, |l| {
                if l == p {
                    for i in 0..MV {
                        let unit = u.diagonal == Diagonal::Unit;
                        acc[l][i] = if unit { column[i] } else { column[i].mul(V::splat(*row.add(l))) };
                    }
                } else if (l < p) == LOWER {
                    for i in 0..MV {
                        acc[l][i] = column[i].mul_add(V::splat(*row.add(l)), acc[l][i]);
                    }
                }
            });
        });
        let mut a = rows.x.wrapping_offset(first as isize * rows.step).cast_const();
        for _ in 0..steps {
            let step = load::<V, MV, ORDER>(a, rows.lanes);
            for (l, tile) in acc.iter_mut().enumerate() {
                let s = V::splat(*b.add(l));
                for i in 0..MV {
                    tile[i] = step[i].mul_add(s, tile[i]);
                }
            }
            a = a.wrapping_offset(rows.step);
            b = b.add(NR);
        }
        unrolled!(N, |l| {
            scale(&mut acc[l], alpha);
            store::<V, MV, ORDER>(&acc[l], x.offset(l as isize * rows.step), rows.lanes);
        });
    }
}
