//! Complex products in registers that keep both parts of a number side by side, as memory does: small ones, where whole
//! registers of real and of imaginary parts (`tile.rs`) would be taken apart for every use, and be half empty.
//!
//! Every element has two sums, of lines times real parts and of lines times imaginary parts, which are put together at the
//! end (see [`Elements::finish`]). Conjugation is a sign there: neither operand is copied for it. Two registers an element
//! are twice as many as `tile.rs` has, and so tiles are half as large; panels, which cost nothing to take apart, want those.
//!
//! Contract of all functions: the CPU has E's instruction set; pointers are valid for what the text says is read and
//! written there.

use super::elements::Elements;
use super::tile::{Columns, Strided, opaque_ptr, unrolled};
use crate::scalar::Scalar;
use core::marker::PhantomData;

/// One tile's work: `C := alpha op(A) op(B) + beta C`.
pub struct PairTile<T> {
    k: usize,
    alpha: T,
    beta: T,
    a: Strided<T>,
    b: Strided<T>,
    c: *mut T,
    cs: isize,
    rows: usize,
}

/// The tiles of one complex type, each a function of its own under the instruction set's target feature.
pub trait PairTiles<E: Elements> {
    /// Vectors times columns of the largest tile.
    const PAIRS: usize;
    /// [`tile`].
    unsafe fn pair_tile<const U: usize, const N: usize, const WHOLE: bool>(t: &PairTile<E::T>);
}

type One<T> = unsafe fn(&PairTile<T>);

/// The most vectors and columns of a tile.
const HIGHEST: usize = 3;
const WIDEST: usize = 12;

/// Columns for which a tile is made less high.
const FEW: usize = 4;

/// All tiles, by vectors, by columns, and by whether the last vector is whole.
struct All<S, E>(PhantomData<(S, E)>);

impl<S: PairTiles<E>, E: Elements> All<S, E> {
    const TILES: [[[One<E::T>; 2]; WIDEST]; HIGHEST] =
        [Self::of_vectors::<1>(), Self::of_vectors::<2>(), Self::of_vectors::<3>()];

    const fn of_vectors<const U: usize>() -> [[One<E::T>; 2]; WIDEST] {
        macro_rules! columns {
            ($($n:literal)*) => {
                [$(Self::of_columns::<U, $n>()),*]
            };
        }
        columns!(1 2 3 4 5 6 7 8 9 10 11 12)
    }

    const fn of_columns<const U: usize, const N: usize>() -> [One<E::T>; 2] {
        if !E::T::IS_COMPLEX || U * N > S::PAIRS {
            return [no_tile::<E::T>; 2];
        }
        let part: One<E::T> = S::pair_tile::<U, N, false>;
        [part, if E::MASKS_ARE_FREE { part } else { S::pair_tile::<U, N, true> }]
    }
}

/// In the place of tiles that are never asked for.
unsafe fn no_tile<T>(t: &PairTile<T>) {
    debug_assert!(false, "no tile of {} rows and so many columns", t.rows);
}

/// `C := alpha op(A) op(B) + beta C` for m rows, n columns and k steps, operands conjugated if they say so. A's lanes are at
/// consecutive addresses, and so are the rows of C; beta == 0 never reads C.
#[inline(always)]
pub unsafe fn block<S: PairTiles<E>, E: Elements>(
    m: usize,
    n: usize,
    k: usize,
    alpha: E::T,
    a: Strided<E::T>,
    b: Strided<E::T>,
    beta: E::T,
    c: *mut E::T,
    cs: isize,
) {
    let tiles: &'static [[[One<E::T>; 2]; WIDEST]; HIGHEST] = &All::<S, E>::TILES;
    let vectors = m.div_ceil(E::LANES);
    // As tall as leaves room for a few columns: what a vector of A is loaded for.
    let few = n.min(FEW);
    let high = match S::PAIRS {
        pairs if pairs / 3 >= few => 3,
        pairs if pairs / 2 >= few => 2,
        _ => 1,
    };
    // Tiles of equal height and width. (A division takes as long as a small tile.)
    let even = |len: usize, most: usize| if len <= most { len } else { len.div_ceil(len.div_ceil(most)) };
    let high = even(vectors, high);
    let wide = match high {
        1 => even(n, S::PAIRS.min(WIDEST)),
        2 => even(n, S::PAIRS / 2),
        _ => even(n, S::PAIRS / HIGHEST),
    };
    let mut t = PairTile { k, alpha, beta, a, b, c, cs, rows: m };
    let mut j = 0;
    while j < n {
        let cols = wide.min(n - j);
        t.b.ptr = b.ptr.wrapping_offset(j as isize * b.lane);
        let mut i = 0;
        while i < m {
            t.rows = (m - i).min(high * E::LANES);
            t.a.ptr = a.ptr.wrapping_add(i);
            t.c = c.wrapping_offset(i as isize + j as isize * cs);
            let high = t.rows.div_ceil(E::LANES);
            let whole = usize::from(t.rows % E::LANES == 0);
            debug_assert!((1..=HIGHEST).contains(&high) && (1..=WIDEST).contains(&cols) && high * cols <= S::PAIRS);
            // SAFETY: inside the table by the limits above; rows i.. and columns j.. of the block.
            unsafe { tiles.get_unchecked(high - 1).get_unchecked(cols - 1).get_unchecked(whole)(&t) };
            i += t.rows;
        }
        j += cols;
    }
}

/// A tile of U vectors, of which the last is WHOLE or has the rows that are left, and N columns.
#[inline(always)]
pub unsafe fn tile<E: Elements, const U: usize, const N: usize, const WHOLE: bool>(t: &PairTile<E::T>) {
    // SAFETY: the contract of the file.
    unsafe {
        let mut sums = [[E::begin_zero(); U]; N];
        let (mut a, mut b) = (t.a.ptr, Columns::<_, N>::new(t.b.ptr, t.b.lane, t.b.step));
        let last = t.rows.wrapping_sub((U - 1) * E::LANES);
        for _ in 0..t.k {
            let mut lines = [E::zero(); U];
            for (i, line) in lines.iter_mut().enumerate() {
                let p = a.add(i * E::LANES);
                *line = if !WHOLE && i == U - 1 { E::load_first(p, last) } else { E::load(p) };
            }
            for (j, column) in sums.iter_mut().enumerate() {
                let f = E::splat(*b.at(j));
                for i in 0..U {
                    column[i] = E::add_line(column[i], lines[i], f);
                }
            }
            a = opaque_ptr(a.wrapping_offset(t.a.step));
            b.next();
        }
        // A conj(B) is what conj(A) B is conjugated, and the factor does that.
        let (conj, conj_after) = (t.a.conj != t.b.conj, t.b.conj);
        let (alpha, beta) = (E::factor(t.alpha, conj_after), E::factor(t.beta, false));
        let mut new = [[E::zero(); U]; N];
        // All of the old C is read before anything is written, see `tile.rs`. x: a vector, which begins as the product; p: its place in
        // C. (No iterator but these: one that takes the sums apart keeps them in memory. Zen 5, zgemm NN 3 x 93 x 3: 700 ns.)
        unrolled!(N, |j| {
            for (i, x) in new[j].iter_mut().enumerate() {
                *x = E::finish_zero(sums[j][i], conj);
            }
        });
        macro_rules! vectors {
            (|$x:ident, $p:ident, $part:ident| $body:expr) => {
                unrolled!(N, |j| {
                    let c = t.c.offset(j as isize * t.cs);
                    for (i, $x) in new[j].iter_mut().enumerate() {
                        let $p = c.add(i * E::LANES);
                        let $part = !WHOLE && i == U - 1;
                        $body;
                    }
                });
            };
        }
        macro_rules! old {
            ($p:ident, $part:ident) => {
                if $part { E::reload_first($p, last) } else { E::load($p) }
            };
        }
        if t.beta == E::T::ZERO {
            vectors!(|x, _p, _part| *x = E::product(alpha, x.turned()));
        } else if t.beta == E::T::ONE {
            vectors!(|x, p, part| *x = old!(p, part).add_product(alpha, x.turned()));
        } else {
            vectors!(|x, p, part| *x = E::product(beta, old!(p, part).turned()).add_product(alpha, x.turned()));
        }
        vectors!(|x, p, part| if part { x.store_first(p, last) } else { x.store(p) });
    }
}
