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
            let f = factors::<V, 4>(f, conj_x);
            lines::update_lines::<V, 4, false>(m, &f, x, &f, x, &line);
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

#[inline(always)]
unsafe fn factors<V: Elements, const G: usize>(f: [V::T; G], conj: bool) -> [V::Factor; G] {
    // SAFETY: the contract of the file.
    unsafe {
        let mut out = [V::factor(f[0], conj); G];
        for l in 1..G {
            out[l] = V::factor(f[l], conj);
        }
        out
    }
}

/// Lines j..j+G: the rows outside the square on the diagonal in one pass, those in it line by line.
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
        let (fs, gs) =
            (factors::<V, G>(f, conj), if TWO { factors::<V, G>(g, conj) } else { factors::<V, G>(f, conj) });
        if all {
            let (start, end) = if HEAD { (0, j) } else { (j + G, a.line_len()) };
            let mut line = at;
            for p in line.iter_mut() {
                *p = p.wrapping_add(start);
            }
            // In the order of the addresses: heads end in the square, tails begin there.
            if HEAD {
                lines::update_lines::<V, G, TWO>(end - start, &fs, v.add(start), &gs, w.add(start), &line);
            }
            macro_rules! in_square {
                ($($l:literal)+) => {
                    $(if $l < G {
                        let (from, count) = if HEAD { (j, $l + 1) } else { (j + $l, G - $l) };
                        let p = at[$l].wrapping_add(from);
                        lines::update_few::<V, TWO>(count, fs[$l], v.add(from), gs[$l], w.add(from), p);
                    })+
                };
            }
            const { assert!(G <= 4) };
            in_square!(0 1 2 3);
            if !HEAD {
                lines::update_lines::<V, G, TWO>(end - start, &fs, v.add(start), &gs, w.add(start), &line);
            }
        } else {
            for l in 0..G {
                let (lo, hi) = a.range(j + l);
                let line = [at[l].wrapping_add(lo)];
                if !skipped[l] {
                    lines::update_lines::<V, 1, TWO>(hi - lo, &[fs[l]], v.add(lo), &[gs[l]], w.add(lo), &line);
                }
            }
        }
        if hermitian {
            for l in 0..G {
                let d = at[l].wrapping_add(j + l);
                *d = V::T::from_real((*d).re());
            }
        }
    }
}
