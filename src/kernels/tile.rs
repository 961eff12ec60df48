//! The register tiles, once for all instruction sets and types, and the loops over them.
//!
//! The tile is MV vectors high and NR columns wide (Goto and van de Geijn, "Anatomy of High-Performance Matrix
//! Multiplication", 2008; Van Zee and van de Geijn, "BLIS", 2015). Every element of the product goes through the same
//! chain of operations wherever it stands in the tile, so results do not depend on how a matrix is cut.
//!
//! Contract of all functions: the CPU has V's instruction set; pointers are valid for what the text says is read and
//! written there.

use super::simd::{ACROSS, Simd};
use crate::scalar::Scalar;
use core::marker::PhantomData;

/// An operand as the kernels read it: the lanes of A are rows, those of B columns.
///
/// A group of lanes that begins at lane l starts at `ptr + l*lane` (for a packed operand l is a multiple of the panel's
/// width, and `lane` is the panel's number of steps); each step of the group is `step` elements further. Within a group,
/// lanes of A lie side by side; those of B do if it is packed, and are `lane` elements apart if not.
#[derive(Clone, Copy)]
pub struct Source<T> {
    pub ptr: *const T,
    pub lane: isize,
    pub step: isize,
    pub packed: bool,
}

impl<T> Source<T> {
    /// Panels of `width` lanes and k steps, one behind the other.
    #[inline(always)]
    pub fn panels(ptr: *const T, k: usize, width: usize) -> Self {
        Source { ptr, lane: k as isize, step: width as isize, packed: true }
    }
    /// A matrix where the caller has it: element (l, p) at `ptr + l*lane + p*step`; as A, `lane` is 1.
    #[inline(always)]
    pub fn in_place(ptr: *const T, lane: isize, step: isize) -> Self {
        Source { ptr, lane, step, packed: false }
    }
    /// The same operand from lane l on (of panels, the first of one) and from step p on.
    #[inline(always)]
    pub fn from(self, l: usize, p: usize) -> Self {
        Source { ptr: self.ptr.wrapping_offset(l as isize * self.lane + p as isize * self.step), ..self }
    }
    #[inline(always)]
    fn group(&self, l: usize) -> *const T {
        self.ptr.wrapping_offset(l as isize * self.lane)
    }
}

/// One register tile's work: `C := alpha A B + beta C`.
pub struct Tile<T> {
    k: usize,
    alpha: T,
    beta: T,
    a: *const T,
    a_step: isize,
    b: *const T,
    b_step: isize,
    b_lane: isize,
    c: *mut T,
    cs: isize,
    /// Rows of C; the tile of the kernel may be higher.
    rows: usize,
    /// Steps of an operand that are wanted soon: every [`unroll`] steps of the product, as many are asked for from here on,
    /// `ahead_step` apart, and this place moves on by `ahead_move`.
    ahead: *const T,
    ahead_step: isize,
    ahead_move: isize,
    /// What to ask for while B's panel is read, as a distance from there: nothing new, or the next panel.
    b_ahead: usize,
}

impl<T: Scalar> Tile<T> {
    /// The tile of m rows at the beginning of a block, which asks for nothing beside it.
    #[inline(always)]
    pub fn first(m: usize, k: usize, alpha: T, a: Source<T>, b: Source<T>, beta: T, c: *mut T, cs: isize) -> Self {
        Tile {
            k,
            alpha,
            beta,
            a: a.ptr,
            a_step: a.step,
            b: b.ptr,
            b_step: b.step,
            b_lane: if b.packed { 1 } else { b.lane },
            c,
            cs,
            rows: m,
            ahead: a.ptr,
            ahead_step: 0,
            ahead_move: 0,
            b_ahead: 0,
        }
    }
}

/// Steps that a part tile's loop takes at a time. Complex steps are long enough by themselves, and two of them at once
/// make the compiler spill accumulators.
const fn unroll<V: Simd>() -> usize {
    if V::T::IS_COMPLEX { 1 } else { 4 }
}
/// Steps before the end at which the tile's part of C is asked for: at the beginning, the panels would push it out again.
const LATE: usize = 64;
/// Steps that a packed panel of A is asked for ahead of its use.
const AHEAD: usize = 12;
pub(super) const LINE: usize = 64;
/// Steps that an A which is read once, in place, is asked for ahead.
const STREAM: isize = 8;

/// A block for j = 0, 1, ... up to a constant of at most 12, each written out: the compiler unrolls short loops only, and
/// accumulators that are reached by an index live in memory from the beginning, in the loop over k, too.
macro_rules! unrolled {
    ($n:ident, |$j:ident| $body:block) => {
        unrolled!(@ $n, $j, $body, 0 1 2 3 4 5 6 7 8 9 10 11)
    };
    (@ $n:ident, $j:ident, $body:block, $($i:literal)*) => {
        $(if const { $i < $n } {
            let $j: usize = $i;
            $body
        })*
    };
}
pub(super) use unrolled;

/// How much of a part tile's last vector there is.
pub mod last {
    pub const WHOLE: u8 = 0;
    pub const PART: u8 = 1;
    /// No more than the lower half, where that saves time.
    pub const HALF: u8 = 2;
}

/// The register tiles of one scalar type, each a function of its own under the instruction set's target feature.
pub trait Tiles<V: Simd> {
    /// Accumulators that the registers hold.
    const ACCUMULATORS: usize;
    /// Accumulators of a tile of operands in place. Such products are short, and what a tile stores must find room behind
    /// what the tile before has stored.
    const STORED: usize;
    /// The most vectors of a part tile.
    const HIGHEST: usize;
    /// The most columns of a part tile.
    const WIDEST: usize;
    /// A whole tile of packed panels.
    unsafe fn whole(t: &Tile<V::T>);
    /// A tile of U vectors and N columns, of operands in place or with another shape than the whole tile's. PACKED: A's
    /// order is that of panels. LAST: how much of its last vector there is, of [`last`].
    unsafe fn part<const U: usize, const N: usize, const PACKED: bool, const LAST: u8>(t: &Tile<V::T>);
    /// The same of operands in place, C turned over: its columns are at consecutive addresses and its rows `cs` apart.
    unsafe fn turned<const U: usize, const N: usize, const LAST: u8>(t: &Tile<V::T>);
}

/// [`block`] of operands in place and of [`most_of_single`] rows and columns at most: one tile. A function of its own, called
/// with what the tile wants: the loops' frame would take as long to set up as such a product.
#[inline(always)]
pub unsafe fn single<S: Tiles<V>, V: Simd>(cols: usize, t: &Tile<V::T>) {
    // SAFETY: one tile that is the whole block, by the contract of the file; its accumulators fit the registers.
    unsafe { part_of::<S, V>(1, cols, false, t) };
}

/// Rows and columns of the largest [`single`] tile.
pub const fn most_of_single<S: Tiles<V>, V: Simd>() -> (usize, usize) {
    (V::LANES, if S::WIDEST < S::STORED { S::WIDEST } else { S::STORED })
}

/// `C := alpha A B + beta C` for m rows and n columns: loops over register tiles. C has unit row stride and column stride
/// `cs`; beta == 0 never reads it. No more than m rows of A and n columns of B are read where they are in place.
#[inline(always)]
pub unsafe fn block<S: Tiles<V>, V: Simd, const MV: usize, const NR: usize>(
    m: usize,
    n: usize,
    k: usize,
    alpha: V::T,
    a: Source<V::T>,
    b: Source<V::T>,
    beta: V::T,
    c: *mut V::T,
    cs: isize,
) {
    let mr = MV * V::LANES;
    let mut t = Tile::first(m, k, alpha, a, b, beta, c, cs);
    // SAFETY: tiles inside the m x n block, by the contract of the file; part tiles are at most HIGHEST and
    // WIDEST, and their accumulators fit the registers.
    unsafe {
        if a.packed && b.packed {
            // B's micro-panel stays in L1 while A's panels pass.
            for j in (0..n).step_by(NR) {
                let cols = NR.min(n - j);
                t.b = b.group(j);
                for i in (0..m).step_by(mr) {
                    t.rows = mr.min(m - i);
                    t.a = a.group(i);
                    t.c = c.wrapping_offset(i as isize + j as isize * cs);
                    if t.rows == mr && cols == NR {
                        t.b_ahead = if i + 2 * mr > m { k * NR } else { 0 };
                        S::whole(&t);
                    } else {
                        part::<S, V>(cols, true, &t);
                    }
                }
            }
            return;
        }
        // Tall tiles for few columns, wide ones for few rows; columns in even pieces. No division where all is one tile: it
        // would take longer than the tile.
        let vectors = m.div_ceil(V::LANES);
        let high = if a.packed || n * S::HIGHEST > S::STORED { MV } else { S::HIGHEST };
        let most = match high.min(vectors) {
            _ if b.packed => NR,
            1 => S::WIDEST.min(S::STORED),
            2 => S::WIDEST.min(S::STORED / 2),
            3 => S::WIDEST.min(S::STORED / 3),
            _ => S::WIDEST.min(S::STORED / 4),
        };
        let pieces = if n <= most { 1 } else { n.div_ceil(most) };
        let wide = match pieces {
            _ if b.packed => NR,
            1 => n,
            _ => n.div_ceil(pieces),
        };
        // Rows of the tile at row i. What is left after whole tiles is shared with the last of them: a tile of one vector has too
        // few accumulators to hide their latency. (Panels are read from their beginning only.)
        let rows_at = |i: usize| {
            let (left, most) = (m - i, high * V::LANES);
            if left <= most {
                left
            } else if !a.packed && left < 2 * most {
                left.div_ceil(2 * V::LANES) * V::LANES
            } else {
                most
            }
        };
        let (mut i, mut j) = (0, 0);
        if m > n {
            // A's tile stays in L1 while B passes; the next rows of A are asked for meanwhile, in equal parts. If all of B
            // passes at once, nothing of A is used again, and it is the next steps that are asked for.
            let far = !a.packed && m * k * size_of::<V::T>() > FAR;
            let mut next = 0;
            if far {
                let share = (const { unroll::<V>() }).div_ceil(pieces);
                t.ahead_step = a.step;
                t.ahead_move = share as isize * a.step;
                next = (share * (k / const { unroll::<V>() })) as isize * a.step;
            }
            while i < m {
                t.rows = rows_at(i);
                t.a = a.group(i);
                if far && pieces == 1 {
                    t.ahead = t.a.wrapping_offset(STREAM * a.step);
                } else if far {
                    t.ahead = a.group(i + t.rows);
                }
                j = 0;
                while j < n {
                    t.b = b.group(j);
                    t.c = c.wrapping_offset(i as isize + j as isize * cs);
                    part::<S, V>(wide.min(n - j), a.packed, &t);
                    t.ahead = t.ahead.wrapping_offset(next);
                    j += wide;
                }
                i += t.rows;
            }
        } else {
            // B's tile stays in L1 while A passes. Where the rows of B are consecutive, the next columns are asked for in
            // the first rows' tile; whole columns stream in by themselves.
            let far = !b.packed && b.lane == 1 && n * k * size_of::<V::T>() > FAR;
            while j < n {
                t.b = b.group(j);
                if far {
                    t.ahead = b.group(j + wide);
                    t.ahead_step = b.step;
                    t.ahead_move = const { unroll::<V>() } as isize * b.step;
                }
                i = 0;
                while i < m {
                    t.rows = rows_at(i);
                    t.a = a.group(i);
                    t.c = c.wrapping_offset(i as isize + j as isize * cs);
                    part::<S, V>(wide.min(n - j), a.packed, &t);
                    (t.ahead_step, t.ahead_move) = (0, 0);
                    i += t.rows;
                }
                j += wide;
            }
        }
    }
}

/// [`block`] of real operands in place with C turned over: element (i, j) is at `c + j + i*rs`.
#[inline(always)]
pub unsafe fn turned<S: Tiles<V>, V: Simd>(
    m: usize,
    n: usize,
    k: usize,
    alpha: V::T,
    a: Source<V::T>,
    b: Source<V::T>,
    beta: V::T,
    c: *mut V::T,
    rs: isize,
) {
    let tiles: &'static [[[Part<V::T>; 2]; MOST_TURNED]; MOST_VECTORS] = &Turned::<S, V>::ALL;
    let even = |len: usize, most: usize| if len <= most { len } else { len.div_ceil(len.div_ceil(most)) };
    let wide = even(n, MOST_TURNED.min(S::ACCUMULATORS));
    let high = even(m.div_ceil(V::LANES), (S::ACCUMULATORS / wide).min(S::HIGHEST));
    let mut t = Tile::first(m, k, alpha, a, b, beta, c, rs);
    // A tile of A stays in L1 while B passes, and the next one is asked for meanwhile: all steps of it are elsewhere.
    let far = m * k * size_of::<V::T>() > BEYOND_L1;
    let mut i = 0;
    while i < m {
        t.rows = (m - i).min(high * V::LANES);
        t.a = a.group(i);
        let vectors = t.rows.div_ceil(V::LANES);
        let kind = usize::from(t.rows % V::LANES != 0);
        if far {
            t.ahead = a.group(i + t.rows);
            (t.ahead_step, t.ahead_move) = (a.step, const { unroll::<V>() } as isize * a.step);
        }
        let mut j = 0;
        while j < n {
            let cols = wide.min(n - j);
            t.b = b.group(j);
            t.c = c.wrapping_offset(j as isize + i as isize * rs);
            // SAFETY: rows i.. and columns j.. of the block; the table has tiles of up to `high` vectors and `wide` columns.
            unsafe { tiles.get_unchecked(vectors - 1).get_unchecked(cols - 1).get_unchecked(kind)(&t) };
            t.ahead_step = 0;
            j += cols;
        }
        i += t.rows;
    }
}

/// The most columns of a tile whose C is turned over.
const MOST_TURNED: usize = ACROSS;

/// Tiles whose C is turned over, by vectors, by columns, and by whether the last vector is whole.
struct Turned<S, V>(PhantomData<(S, V)>);

impl<S: Tiles<V>, V: Simd> Turned<S, V> {
    const ALL: [[[Part<V::T>; 2]; MOST_TURNED]; MOST_VECTORS] =
        [Self::of_vectors::<1>(), Self::of_vectors::<2>(), Self::of_vectors::<3>(), Self::of_vectors::<4>()];

    const fn of_vectors<const U: usize>() -> [[Part<V::T>; 2]; MOST_TURNED] {
        macro_rules! columns {
            ($($n:literal)*) => {
                [$(Self::of_columns::<U, $n>()),*]
            };
        }
        columns!(1 2 3 4 5 6 7 8)
    }

    const fn of_columns<const U: usize, const N: usize>() -> [Part<V::T>; 2] {
        if V::T::IS_COMPLEX || U > S::HIGHEST || U * N > S::ACCUMULATORS {
            return [no_tile::<V::T>; 2];
        }
        let part: Part<V::T> = S::turned::<U, N, { last::PART }>;
        [if V::MASKS_ARE_FREE { part } else { S::turned::<U, N, { last::WHOLE }> }, part]
    }
}

/// The same element by element, of operands with any strides, conjugated or not: for products so small that a tile would
/// take longer to set up. Each element is one lane's work, the operations are those of a tile.
#[inline(always)]
pub unsafe fn tiny<V: Simd>(
    m: usize,
    n: usize,
    k: usize,
    alpha: V::T,
    a: Strided<V::T>,
    b: Strided<V::T>,
    beta: V::T,
    c: *mut V::T,
    cs: isize,
) {
    // SAFETY: the contract of the file.
    unsafe {
        let mut j = 0;
        while j < n {
            let mut i = 0;
            while i < m {
                let (mut from_a, mut from_b) =
                    (a.ptr.wrapping_offset(i as isize * a.lane), b.ptr.wrapping_offset(j as isize * b.lane));
                let mut acc = V::zero();
                let mut p = 0;
                while p < k {
                    acc = V::splat((*from_a).conj_if(a.conj)).mul_add(V::splat((*from_b).conj_if(b.conj)), acc);
                    from_a = from_a.wrapping_offset(a.step);
                    from_b = from_b.wrapping_offset(b.step);
                    p += 1;
                }
                let at = c.wrapping_offset(i as isize + j as isize * cs);
                let new = if beta == V::T::ZERO {
                    acc.mul(V::splat(alpha))
                } else if beta == V::T::ONE {
                    acc.mul_add(V::splat(alpha), V::splat(*at))
                } else {
                    acc.mul_add(V::splat(alpha), V::splat(*at).mul(V::splat(beta)))
                };
                new.store_first(at, 1);
                i += 1;
            }
            j += 1;
        }
    }
}

/// An operand of [`tiny`]: element (l, p) at `ptr + l*lane + p*step`.
#[derive(Clone, Copy)]
pub struct Strided<T> {
    pub ptr: *const T,
    pub lane: isize,
    pub step: isize,
    pub conj: bool,
}

/// Bytes of an operand from which it is taken to come from beyond L2, and from beyond L1.
const FAR: usize = 256 << 10;
const BEYOND_L1: usize = 32 << 10;

/// A part tile.
type Part<T> = unsafe fn(&Tile<T>);

/// The part tiles of a type: by vectors, by columns, and by how much of the last vector there is ([`last`]); of complex panels,
/// which have an order of their own, those behind. A table: where a tile was chosen by `match`, the compiler made the address of
/// each in advance, in every call of [`block`]. (Zen 4, dgemm NN 55 x 6 x 13: 65 of 250 ns.)
struct Parts<S, V>(PhantomData<(S, V)>);

impl<S: Tiles<V>, V: Simd> Parts<S, V> {
    const ALL: [[[Part<V::T>; KINDS]; MOST_COLUMNS]; MOST_VECTORS] =
        [Self::of_vectors::<1>(), Self::of_vectors::<2>(), Self::of_vectors::<3>(), Self::of_vectors::<4>()];

    const fn of_vectors<const U: usize>() -> [[Part<V::T>; KINDS]; MOST_COLUMNS] {
        macro_rules! columns {
            ($($n:literal)*) => {
                [$(Self::of_columns::<U, $n>()),*]
            };
        }
        columns!(1 2 3 4 5 6 7 8 9 10 11 12)
    }

    const fn of_columns<const U: usize, const N: usize>() -> [Part<V::T>; KINDS] {
        let part = Self::tile::<U, N, false, { last::PART }>();
        let half = if V::HALVES { Self::tile::<U, N, false, { last::HALF }>() } else { part };
        let whole = Self::tile::<U, N, false, { last::WHOLE }>();
        if !V::T::IS_COMPLEX {
            return [whole, part, half, whole, part];
        }
        [whole, part, half, Self::tile::<U, N, true, { last::WHOLE }>(), Self::tile::<U, N, true, { last::PART }>()]
    }

    /// Those that there are: of no more accumulators than the registers hold.
    const fn tile<const U: usize, const N: usize, const PACKED: bool, const LAST: u8>() -> Part<V::T> {
        if U <= S::HIGHEST && N <= S::WIDEST && U * N <= S::ACCUMULATORS {
            S::part::<U, N, PACKED, LAST>
        } else {
            no_tile::<V::T>
        }
    }
}

/// Vectors and columns of the largest part tile of any type, and how many kinds of one shape there are.
const MOST_VECTORS: usize = 4;
const MOST_COLUMNS: usize = 12;
const KINDS: usize = 5;
const _: () = assert!(last::WHOLE == 0 && last::PART == 1 && last::HALF == 2);

/// In the place of tiles that are never asked for.
unsafe fn no_tile<T>(t: &Tile<T>) {
    debug_assert!(false, "no tile of {} rows and so many columns", t.rows);
}

/// Calls the part tile for the rows of `t` and so many columns.
#[inline(always)]
unsafe fn part<S: Tiles<V>, V: Simd>(cols: usize, packed: bool, t: &Tile<V::T>) {
    // SAFETY: as the callers'; tiles are at most HIGHEST vectors high.
    unsafe { part_of::<S, V>(t.rows.div_ceil(V::LANES), cols, packed, t) };
}

#[inline(always)]
unsafe fn part_of<S: Tiles<V>, V: Simd>(vectors: usize, cols: usize, packed: bool, t: &Tile<V::T>) {
    let last = match t.rows % V::LANES {
        0 => last::WHOLE,
        rows if const { V::HALVES } && rows <= V::LANES / 2 && !(packed && V::T::IS_COMPLEX) => last::HALF,
        _ => last::PART,
    };
    let kind = usize::from(last) + if packed && V::T::IS_COMPLEX { 3 } else { 0 };
    debug_assert!((1..=MOST_VECTORS).contains(&vectors) && (1..=MOST_COLUMNS).contains(&cols) && kind < KINDS);
    let tiles: &'static [[[Part<V::T>; KINDS]; MOST_COLUMNS]; MOST_VECTORS] = &Parts::<S, V>::ALL;
    // SAFETY: inside the table by the contract of the callers, whose tile it is.
    unsafe { tiles.get_unchecked(vectors - 1).get_unchecked(cols - 1).get_unchecked(kind)(t) };
}

/// A whole tile of packed panels: A has k steps of MV vectors, B k steps of NR elements.
#[inline(always)]
pub unsafe fn whole<V: Simd, const MV: usize, const NR: usize>(t: &Tile<V::T>) {
    // SAFETY: the contract of the file.
    unsafe {
        let mut acc = [[V::zero(); MV]; NR];
        let (mut a, mut b) = (t.a, t.b);
        macro_rules! steps {
            ($n:expr) => {
                for _ in 0..$n {
                    let mut column = [V::zero(); MV];
                    for (i, v) in column.iter_mut().enumerate() {
                        *v = V::load_packed(a.add(i * V::LANES));
                    }
                    let bytes = MV * V::LANES * size_of::<V::T>();
                    let mut line = 0;
                    while line < bytes {
                        prefetch(a.cast::<u8>().wrapping_add(AHEAD * bytes + line));
                        line += LINE;
                    }
                    prefetch(b.wrapping_add(t.b_ahead));
                    for (j, tile) in acc.iter_mut().enumerate() {
                        let s = V::splat(*b.add(j));
                        for i in 0..MV {
                            tile[i] = column[i].mul_add(s, tile[i]);
                        }
                    }
                    a = a.add(MV * V::LANES);
                    b = b.add(NR);
                }
            };
        }
        let early = t.k.saturating_sub(LATE);
        let late = t.k - early;
        steps!(early);
        // Column by column: all lines at once are more than can be under way, and A would have to wait behind them.
        for j in 0..NR {
            let c = t.c.offset(j as isize * t.cs);
            let mut line = 0;
            while line < MV * V::LANES {
                prefetch(c.add(line));
                line += LINE / size_of::<V::T>();
            }
            prefetch(c.add(MV * V::LANES - 1));
            steps!(late / NR);
        }
        steps!(late % NR);
        write::<V, MV, NR, { last::WHOLE }>(&acc, t);
    }
}

/// A tile of U vectors and N columns, of operands in place or with another shape than the whole tile's.
#[inline(always)]
pub unsafe fn some<V: Simd, const U: usize, const N: usize, const PACKED: bool, const LAST: u8>(t: &Tile<V::T>) {
    // SAFETY: the contract of the file.
    unsafe {
        let acc = sum::<V, U, N, PACKED, LAST>(t);
        write::<V, U, N, LAST>(&acc, t);
    }
}

/// A tile of U vectors and N columns of operands in place, which is put into C turned over.
#[inline(always)]
pub unsafe fn some_turned<V: Simd, const U: usize, const N: usize, const LAST: u8>(t: &Tile<V::T>) {
    // SAFETY: the contract of the file; LANES rows of C for each vector, and those that are left for the last.
    unsafe {
        let acc = sum::<V, U, N, false, LAST>(t);
        let last = t.rows.wrapping_sub((U - 1) * V::LANES);
        unrolled!(U, |i| {
            let mut vectors = [V::zero(); ACROSS];
            unrolled!(N, |j| {
                // (Tiles are no larger; the compiler looks at what is left out, too.)
                vectors[j % ACROSS] = acc[j][i % U];
            });
            let c = t.c.wrapping_offset((i * V::LANES) as isize * t.cs);
            if LAST != last::WHOLE && i == U - 1 {
                V::put_across::<N, false>(vectors, last, t.alpha, t.beta, c, t.cs);
            } else {
                V::put_across::<N, true>(vectors, V::LANES, t.alpha, t.beta, c, t.cs);
            }
        });
    }
}

/// The product of a tile.
#[inline(always)]
unsafe fn sum<V: Simd, const U: usize, const N: usize, const PACKED: bool, const LAST: u8>(
    t: &Tile<V::T>,
) -> [[V; U]; N] {
    // SAFETY: the contract of the file.
    unsafe {
        let mut acc = [[V::zero(); U]; N];
        let (mut a, mut b, mut ahead) = (t.a, Columns::<_, N>::new(t.b, t.b_lane, t.b_step), t.ahead);
        let last = t.rows - (U - 1) * V::LANES;
        macro_rules! step {
            () => {
                let mut column = [V::zero(); U];
                for (i, v) in column.iter_mut().enumerate() {
                    let p = a.add(i * V::LANES);
                    *v = if PACKED {
                        V::load_packed(p)
                    } else if LAST == last::HALF && i == U - 1 {
                        V::load_first_half(p, last)
                    } else if LAST == last::PART && i == U - 1 {
                        V::load_first(p, last)
                    } else {
                        V::load(p)
                    };
                }
                // A broadcast to a register takes a turn of the units that multiply; one that is part of the multiply-add does not, even if
                // it reads the number again. With one whole vector a column that shows. (Zen 4, cycles of a whole and a half one: 1.69
                // and 1.53.)
                let again = if LAST == last::HALF && U == 2 { b.again() } else { b };
                for (j, tile) in acc.iter_mut().enumerate() {
                    let s = *b.at(j);
                    let s = if LAST == last::HALF && U > 2 { V::splat_for_halves(s) } else { V::splat(s) };
                    for i in 0..U {
                        tile[i] = if LAST == last::HALF && i == U - 1 {
                            let s = if U == 2 { V::splat(*again.at(j)) } else { s };
                            column[i].mul_add_half(s, tile[i])
                        } else {
                            column[i].mul_add(s, tile[i])
                        };
                    }
                }
                a = opaque_ptr(a.wrapping_offset(t.a_step));
                b.next();
            };
        }
        let unroll = const { unroll::<V>() };
        for _ in 0..t.k / unroll {
            // Nothing is asked for by most: a prefetch is a load.
            if t.ahead_step != 0 {
                let mut now = ahead;
                for _ in 0..unroll {
                    let mut line = 0;
                    while line < U * V::LANES * size_of::<V::T>() {
                        // The end of each: its beginning, if not at that of a line, is the end of the rows above.
                        prefetch(now.cast::<u8>().wrapping_add(line + LINE - 1));
                        line += LINE;
                    }
                    now = opaque_ptr(now.wrapping_offset(t.ahead_step));
                }
                ahead = ahead.wrapping_offset(t.ahead_move);
            }
            for _ in 0..unroll {
                step!();
            }
        }
        for _ in 0..t.k % unroll {
            step!();
        }
        acc
    }
}

/// `C := alpha acc + beta C` for a tile. All of the old C is read before anything is written: where a column ends within a vector,
/// what is stored there by a mask and what is loaded of the next column overlap as the core sees it, and the load would wait for
/// the store. (Zen 4: 7.5 ns a column instead of 0.5.)
#[inline(always)]
unsafe fn write<V: Simd, const U: usize, const N: usize, const LAST: u8>(acc: &[[V; U]; N], t: &Tile<V::T>) {
    // SAFETY: the contract of the file.
    unsafe {
        let (alpha, beta) = (V::splat(t.alpha), V::splat(t.beta));
        let mut new = *acc;
        let last = t.rows.wrapping_sub((U - 1) * V::LANES);
        // x: a vector; p: its place in C; part: whether only `last` rows of it are there.
        macro_rules! vectors {
            (|$x:ident, $p:ident, $part:ident| $body:expr) => {
                unrolled!(N, |j| {
                    let c = t.c.offset(j as isize * t.cs);
                    for (i, $x) in new[j].iter_mut().enumerate() {
                        let $p = c.add(i * V::LANES);
                        let $part = LAST != last::WHOLE && i == U - 1;
                        $body;
                    }
                });
            };
        }
        macro_rules! old {
            ($p:ident, $part:ident) => {
                if $part { V::reload_first($p, last) } else { V::load($p) }
            };
        }
        if t.beta == V::T::ZERO {
            // A product with one is what it was, but takes as long as a step of the tile.
            if t.alpha != V::T::ONE {
                vectors!(|x, _p, _part| *x = x.mul(alpha));
            }
        } else if t.beta == V::T::ONE {
            vectors!(|x, p, part| *x = x.mul_add(alpha, old!(p, part)));
        } else {
            vectors!(|x, p, part| *x = x.mul_add(alpha, old!(p, part).mul(beta)));
        }
        vectors!(|x, p, part| if part { x.store_first(p, last) } else { x.store(p) });
    }
}

/// The widest panel of any table.
pub const MAX_WIDTH: usize = 64;
/// Steps that the kernels of every table take in one pass: who has no more need not ask for `kc()`.
pub const LEAST_KC: usize = 128;
/// Elements of the largest register tile of any table.
pub const MAX_TILE: usize = 512;

/// One step of B's columns, which are `lane` apart: a pointer for every [`GROUP`] of them, and the distances inside one. Each is a
/// register of its own, and they are few: of distances from the first column alone a wide tile has more than there are registers, and
/// reads half of them from the stack in every step. The compiler left alone adds up one column after the other, and the sum is a chain.
#[derive(Clone, Copy)]
pub(super) struct Columns<T, const N: usize> {
    groups: [*const T; MOST_COLUMNS / GROUP],
    within: [isize; GROUP],
    step: isize,
}

const GROUP: usize = 4;

impl<T, const N: usize> Columns<T, N> {
    #[inline(always)]
    pub(super) fn new(b: *const T, lane: isize, step: isize) -> Self {
        let groups = [b, opaque_ptr(b.wrapping_offset(4 * lane)), opaque_ptr(b.wrapping_offset(8 * lane))];
        let one = opaque(lane as usize) as isize;
        Columns {
            groups,
            within: [0, one, opaque(2 * lane as usize) as isize, opaque(3 * lane as usize) as isize],
            step,
        }
    }
    /// Where column j is.
    #[inline(always)]
    pub(super) fn at(&self, j: usize) -> *const T {
        self.groups[j / GROUP].wrapping_offset(self.within[j % GROUP])
    }
    /// The same place, of which the compiler knows nothing.
    #[inline(always)]
    fn again(&self) -> Self {
        // (Written out: `map` with a function stays a call in every step. Zen 5, sgemm NT 54 x 30 x 8: 217 ns and 786.)
        let [a, b, c] = self.groups;
        Columns { groups: [opaque_ptr(a), opaque_ptr(b), opaque_ptr(c)], ..*self }
    }
    #[inline(always)]
    pub(super) fn next(&mut self) {
        for (g, group) in self.groups.iter_mut().enumerate() {
            if g * GROUP < N {
                *group = opaque_ptr(group.wrapping_offset(self.step));
            }
        }
    }
}

/// The same number, of which the compiler knows nothing.
#[inline(always)]
pub fn opaque(x: usize) -> usize {
    #[cfg(any(target_arch = "x86_64", target_arch = "aarch64"))]
    {
        let mut x = x;
        // SAFETY: no instruction at all.
        unsafe { core::arch::asm!("/* {0} */", inout(reg) x, options(pure, nomem, nostack, preserves_flags)) };
        x
    }
    #[cfg(not(any(target_arch = "x86_64", target_arch = "aarch64")))]
    x
}

/// The same pointer: the compiler keeps the address arithmetic of a loop as it is written.
#[inline(always)]
pub(super) fn opaque_ptr<T>(p: *const T) -> *const T {
    p.map_addr(opaque)
}

/// The same function, called and never inlined: register tiles that are inlined side by side spill their accumulators.
/// `#[inline(never)]` would say it, but rustc 1.95 drops it where there is a target feature.
#[inline(always)]
pub(super) fn opaque_fn<F: Copy>(f: F) -> F {
    const { assert!(size_of::<F>() == size_of::<*const ()>()) };
    // SAFETY: F is a pointer to a function, and it is the same address.
    unsafe { core::mem::transmute_copy(&opaque_ptr(core::mem::transmute_copy::<F, *const ()>(&f))) }
}

/// Asks for the cache line at `p`; any address will do.
#[inline(always)]
pub fn prefetch<T>(p: *const T) {
    #[cfg(target_arch = "x86_64")]
    // SAFETY: a prefetch never faults.
    unsafe {
        core::arch::x86_64::_mm_prefetch::<{ core::arch::x86_64::_MM_HINT_T0 }>(p.cast())
    };
    #[cfg(not(target_arch = "x86_64"))]
    let _ = p;
}

/// The same for a line that is needed later: L2 will do.
#[inline(always)]
pub fn prefetch_far<T>(p: *const T) {
    #[cfg(target_arch = "x86_64")]
    // SAFETY: a prefetch never faults.
    unsafe {
        core::arch::x86_64::_mm_prefetch::<{ core::arch::x86_64::_MM_HINT_T1 }>(p.cast())
    };
    #[cfg(not(target_arch = "x86_64"))]
    let _ = p;
}
