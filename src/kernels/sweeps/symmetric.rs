//! Symmetric and Hermitian matrices with one triangle stored: each line is used as a column and as a row in one pass.

use super::bands::*;
use super::*;

/// Adds alpha A x to y, A symmetric or Hermitian with one triangle stored; or what lines from..to of a full or packed
/// triangle contribute to it.
#[inline(always)]
pub unsafe fn sym_mv<V: Elements>(
    alpha: V::T,
    a: &Lines<V::T>,
    hermitian: bool,
    x: *const V::T,
    y: *mut V::T,
    from: usize,
    to: usize,
) {
    // SAFETY: the contract of the file.
    unsafe {
        if a.is_banded() {
            return sym_band_mv::<V>(alpha, a, hermitian, x, y);
        }
        match (a.is_head(), V::T::IS_COMPLEX) {
            (true, true) => by_groups!(j in from, to; 2, 1; |N| {
                sym_group::<V, N, { rows::HEAD }>(alpha, a, hermitian, j, 0, x, y);
            }),
            (true, false) => by_groups!(j in from, to; 4, 1; |N| {
                sym_group::<V, N, { rows::HEAD }>(alpha, a, hermitian, j, 0, x, y);
            }),
            (false, true) => by_groups!(j in from, to; 2, 1; |N| {
                sym_group::<V, N, { rows::STRICT_TAIL }>(alpha, a, hermitian, j, j, x, y);
            }),
            (false, false) => by_groups!(j in from, to; 4, 1; |N| {
                sym_group::<V, N, { rows::STRICT_TAIL }>(alpha, a, hermitian, j, j, x, y);
            }),
        }
    }
}

/// Stored columns act on y as they are and on y(j) conjugated if Hermitian; stored rows the other way round.
#[inline(always)]
pub(super) fn sym_conj<T: Scalar>(a: &Lines<T>, hermitian: bool) -> (bool, bool) {
    (hermitian && a.axis() == Axis::Rows, hermitian && a.axis() == Axis::Cols)
}

/// What element (j, j) counts as.
#[inline(always)]
pub(super) unsafe fn diagonal<T: Scalar>(a: &Lines<T>, j: usize, hermitian: bool) -> T {
    // SAFETY: a triangle stores its diagonal.
    let d = unsafe { *a.at(j).wrapping_add(j) };
    if hermitian { T::from_real(d.re()) } else { d }
}

#[inline(always)]
pub(super) unsafe fn sym_group<V: Elements, const G: usize, const ROWS: u8>(
    alpha: V::T,
    a: &Lines<V::T>,
    hermitian: bool,
    j: usize,
    start: usize,
    x: *const V::T,
    y: *mut V::T,
) {
    // SAFETY: the contract of the file.
    unsafe {
        let (conj_add, conj_dot) = sym_conj(a, hermitian);
        let mut f = [V::T::ZERO; G];
        for (l, f) in f.iter_mut().enumerate() {
            *f = alpha * *x.add(j + l);
        }
        let mut group =
            Group::<V::T, G, ROWS>::new(a, j, start, if ROWS == rows::HEAD { j + G - 1 } else { a.lines() });
        group.bound -= 1;
        let sums = pass::<V, G, ROWS, true, true>(&group, f, conj_add, y, conj_dot, x);
        let mut own = [V::T::ZERO; G];
        for l in 0..G {
            own[l] = f[l] * diagonal(a, j + l, hermitian) + alpha * sums[l];
        }
        if G == V::LANES {
            // As one vector, which is how the next group reads it.
            let unit = V::factor(V::T::ONE, false);
            V::load(y.add(j)).add_product(unit, V::load(own.as_ptr()).turned()).store(y.add(j));
        } else {
            for (l, &own) in own.iter().enumerate() {
                *y.add(j + l) = *y.add(j + l) + own;
            }
        }
    }
}

/// A band: its triangle as columns, then as rows, a few rows at a time so that the second finds it in cache.
#[inline(always)]
pub(super) unsafe fn sym_band_mv<V: Elements>(
    alpha: V::T,
    a: &Lines<V::T>,
    hermitian: bool,
    x: *const V::T,
    y: *mut V::T,
) {
    // SAFETY: the contract of the file.
    unsafe {
        const ROWS: usize = 64;
        let n = a.lines();
        let (conj_add, conj_dot) = sym_conj(a, hermitian);
        let strict = a.strict();
        // The diagonal goes with the rows, unless only its real part counts.
        let rows = if hermitian { strict.with_conj(conj_dot) } else { *a };
        let columns = strict.with_conj(conj_add);
        let mut from = 0;
        while from < n {
            let to = if n - from > ROWS { from + ROWS } else { n };
            band_columns::<V>(alpha, &columns, x, y, from, to, Zeros::Count);
            band_dots::<V>(alpha, &rows, x, y, from, to);
            if hermitian {
                for j in from..to {
                    *y.add(j) = alpha * *x.add(j) * diagonal(a, j, hermitian) + *y.add(j);
                }
            }
            from = to;
        }
    }
}
