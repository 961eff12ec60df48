//! Rank updates: ger, and one triangle of the symmetric and Hermitian ones.

use super::*;

/// Adds alpha x y^T to columns 0..n of A, whose leading dimension is `ld`; either vector conjugated.
#[inline(always)]
pub unsafe fn ger<V: Elements>(
    m: usize,
    n: usize,
    alpha: V::T,
    x: *const V::T,
    conj_x: bool,
    y: *const V::T,
    incy: isize,
    conj_y: bool,
    a: *mut V::T,
    ld: isize,
) {
    // SAFETY: the contract of the file.
    unsafe {
        let mut j = 0;
        while j + 4 <= n as isize {
            let mut f = [V::T::ZERO; 4];
            let mut line = [a; 4];
            let mut zeros = false;
            for l in 0..4 {
                let v = *y.offset((j + l as isize) * incy);
                zeros |= v == V::T::ZERO;
                f[l] = alpha * v.conj_if(conj_y);
                line[l] = a.offset((j + l as isize) * ld);
            }
            if zeros {
                break;
            }
            lines::update_lines::<V, 4, false>(m, f, x, f, x, conj_x, line);
            j += 4;
        }
        while j < n as isize {
            let f = *y.offset(j * incy);
            // A zero in y skips the column, NaN in x or not, as in Reference BLAS.
            if f != V::T::ZERO {
                lines::axpy::<V>(m, alpha * f.conj_if(conj_y), x, conj_x, a.offset(j * ld));
            }
            j += 1;
        }
    }
}

/// Adds alpha x y^T + beta y x^T (or only alpha x x^T, with y == x and no beta) to lines from..to of a triangle; y^H and
/// x^H if Hermitian.
#[inline(always)]
pub unsafe fn rank_update<V: Elements>(
    alpha: V::T,
    beta: Option<V::T>,
    x: *const V::T,
    y: *const V::T,
    hermitian: bool,
    a: &Lines<V::T>,
    from: usize,
    to: usize,
) {
    // SAFETY: the contract of the file; the lines are the caller's to write.
    unsafe {
        macro_rules! groups {
            ($HEAD:literal, $TWO:literal, $beta:expr) => {{
                by_groups!(j in from, to; 4, 1; |N| {
                    rank_group::<V, N, $HEAD, $TWO>(alpha, $beta, x, y, hermitian, a, j);
                })
            }};
        }
        match (a.is_head(), beta) {
            (true, None) => groups!(true, false, alpha),
            (false, None) => groups!(false, false, alpha),
            (true, Some(beta)) => groups!(true, true, beta),
            (false, Some(beta)) => groups!(false, true, beta),
        }
    }
}

/// Lines j..j+G: the square on the diagonal element by element, the rows outside it in one pass.
#[inline(always)]
pub(super) unsafe fn rank_group<V: Elements, const G: usize, const HEAD: bool, const TWO: bool>(
    alpha: V::T,
    beta: V::T,
    x: *const V::T,
    y: *const V::T,
    hermitian: bool,
    a: &Lines<V::T>,
    j: usize,
) {
    // SAFETY: as above.
    unsafe {
        let columns = a.axis() == Axis::Cols;
        // Element (i, j) of a stored column is alpha x(i) conj(y(j)); of a stored row j it is alpha x(j) conj(y(i)).
        let conj = hermitian && !columns;
        let (v, w) = if columns { (x, y) } else { (y, x) };
        let (mut f, mut g) = ([V::T::ZERO; G], [V::T::ZERO; G]);
        let mut at = [a.at(j).cast_mut(); G];
        // Zeros skip the line, NaN in the other elements or not, as in Reference BLAS.
        let mut skipped = [false; G];
        let mut all = true;
        for l in 0..G {
            let (own, other) = (*w.add(j + l), *v.add(j + l));
            f[l] = alpha * own.conj_if(hermitian && columns);
            g[l] = beta * other.conj_if(hermitian && columns);
            at[l] = a.at(j + l).cast_mut();
            skipped[l] = own == V::T::ZERO && other == V::T::ZERO;
            all &= !skipped[l];
        }
        let (start, end) = if HEAD { (0, j) } else { (j + G, a.line_len()) };
        let (vs, ws) = (v.add(start), w.add(start));
        if all {
            let mut line = at;
            for p in line.iter_mut() {
                *p = p.wrapping_add(start);
            }
            lines::update_lines::<V, G, TWO>(end - start, f, vs, g, ws, conj, line);
        }
        for l in 0..G {
            if skipped[l] {
                // nothing but the diagonal's imaginary part, below
            } else if !all {
                let (lo, hi) = a.range(j + l);
                let (vs, ws, line) = (v.add(lo), w.add(lo), at[l].wrapping_add(lo));
                lines::update_lines::<V, 1, TWO>(hi - lo, [f[l]], vs, [g[l]], ws, conj, [line]);
            } else {
                let (lo, hi) = if HEAD { (0, l + 1) } else { (l, G) };
                for r in 0..G {
                    if r >= lo && r < hi {
                        let p = at[l].wrapping_add(j + r);
                        let mut sum = *p + f[l] * (*v.add(j + r)).conj_if(conj);
                        if TWO {
                            sum += g[l] * (*w.add(j + r)).conj_if(conj);
                        }
                        *p = sum;
                    }
                }
            }
            if hermitian {
                let d = at[l].wrapping_add(j + l);
                *d = V::T::from_real((*d).re());
            }
        }
    }
}
