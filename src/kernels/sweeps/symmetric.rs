//! Symmetric and Hermitian matrices with one triangle stored: each line is used as a column and as a row in one pass.

use super::bands::*;
use super::*;

/// Bytes of a way of L1: lines so far apart, or several times, fall in one set.
const PAGE: isize = 4096;

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
        // Eight lines, x and y are more than the ways of L1, if they all fall in one set. (Zen 4, dsymv L 512: 26 GFLOPS by eights, 33
        // by fours.)
        let in_one_set = a.step().wrapping_mul(size_of::<V::T>() as isize) % PAGE == 0;
        if const { !V::T::IS_COMPLEX && V::LANES >= 8 && V::LANES * size_of::<V::T>() == CACHE_LINE } && !in_one_set {
            // Registers for eight factors and eight sums.
            match a.is_head() {
                true => by_groups!(j in from, to; 8, 4, 1; |N| {
                    sym_group::<V, N, true>(alpha, a, hermitian, j, x, y);
                }),
                false => by_groups!(j in from, to; 8, 4, 1; |N| {
                    sym_group::<V, N, false>(alpha, a, hermitian, j, x, y);
                }),
            }
            return;
        }
        match (a.is_head(), V::T::IS_COMPLEX) {
            (true, true) => by_groups!(j in from, to; 2, 1; |N| {
                sym_group::<V, N, true>(alpha, a, hermitian, j, x, y);
            }),
            (true, false) => by_groups!(j in from, to; 4, 1; |N| {
                sym_group::<V, N, true>(alpha, a, hermitian, j, x, y);
            }),
            (false, true) => by_groups!(j in from, to; 2, 1; |N| {
                sym_group::<V, N, false>(alpha, a, hermitian, j, x, y);
            }),
            (false, false) => by_groups!(j in from, to; 4, 1; |N| {
                sym_group::<V, N, false>(alpha, a, hermitian, j, x, y);
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

/// Lines j..j+G: the rows outside the square on the diagonal in one pass, then the square, in registers.
#[inline(always)]
pub(super) unsafe fn sym_group<V: Elements, const G: usize, const HEAD: bool>(
    alpha: V::T,
    a: &Lines<V::T>,
    hermitian: bool,
    j: usize,
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
        let (start, end) = if HEAD { (0, j) } else { (j + G, a.lines()) };
        let group = Group::<V::T, G, { rows::SAME }>::new(a, j, start, end);
        let mut dots = pass_dots::<V, G, { rows::SAME }, true, true>(&group, f, conj_add, y, x);
        let mut own = [V::T::ZERO; G];
        if G > V::LANES {
            // No vector holds the square.
            let sums = totals::<V, G>(dots, conj_dot);
            for l in 0..G {
                own[l] = own[l] + f[l] * diagonal(a, j + l, hermitian) + alpha * sums[l];
                for r in 0..G {
                    if if HEAD { r < l } else { r > l } {
                        let v = *group.at[l].wrapping_add(j + r);
                        own[r] += f[l] * v.conj_if(conj_add);
                        own[l] += alpha * v.conj_if(conj_dot) * *x.add(j + r);
                    }
                }
            }
            for (l, &own) in own.iter().enumerate() {
                *y.add(j + l) = *y.add(j + l) + own;
            }
            return;
        }
        let xv = load_upto::<V>(x.add(j), G);
        let mut sum = V::begin_zero();
        macro_rules! square {
            ($($l:literal)+) => {
                $(if $l < G {
                    let (from, to) = if HEAD { (0, $l) } else { ($l + 1, G) };
                    let line = V::load_range(group.at[$l].wrapping_add(j), from, to);
                    sum = V::add_line(sum, line, V::splat_range(V::splat(f[$l]), from, to));
                    dots[$l] = V::dot_step(dots[$l], line, xv.keep(from, to).turned());
                })+
            };
        }
        const { assert!(G <= 8) };
        if G > 1 {
            square!(0 1 2 3 4 5 6 7);
        }
        let sums = totals::<V, G>(dots, conj_dot);
        for l in 0..G {
            own[l] = f[l] * diagonal(a, j + l, hermitian) + alpha * sums[l] + *y.add(j + l);
        }
        // As one vector, which is how the next group reads it.
        let own = reload_upto::<V>(own.as_ptr(), G);
        store_upto(V::finish(V::join(sum, V::begin(own)), own, conj_add), y.add(j), G);
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
        if narrow_symmetric(alpha, a, hermitian, x, y) {
            return;
        }
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
