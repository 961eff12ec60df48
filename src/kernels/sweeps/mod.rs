//! The kernels of level 2, once for all instruction sets and types: each takes the whole matrix, as [`Lines`].
//!
//! One loop on a few lines at once does the work (`pass`): lines times factors added to a vector, lines times a vector,
//! or both. It is here; the algorithms of each kind of matrix are in the files below. The lines of a triangle or a band do
//! not begin and end together: rows that all of them have are whole vectors, the corners are vectors with a range of lanes for each line.
//! Outside its range a line is not read and its factor is zero, so that neither NaN nor infinity comes in from there.
//!
//! Vectors are at consecutive addresses. The order in which an element's terms are added depends on the shape of the
//! matrix alone. Contract as in `tile.rs`; matrix and vectors do not overlap.

// Lines are counted: an index that runs through several arrays at once says more than four zipped iterators.
#![allow(clippy::needless_range_loop)]

mod bands;
pub(super) mod flat;
mod general;
mod rank;
mod symmetric;
mod triangular;

pub use flat::LONGEST as LONGEST_FLAT;
pub use general::{SHORT, mv};
pub use rank::{ger, rank_update};
pub use symmetric::sym_mv;
pub use triangular::{tri_mv, tri_sv};

use super::elements::Elements;
use super::lines;
use super::tile::{prefetch, unrolled};
use crate::matrix::{Axis, Diag, Lines};
use crate::scalar::{Real, Scalar};

/// Bytes.
const CACHE_LINE: usize = 64;
/// How far ahead of its use a line is asked for, in bytes. Measured (Zen 3, gemv N and T of f64, GB/s without, with 256, 512
/// and 1024): 74 84 78 73 at 256 x 256 (L2), 68 69 67 65 at 1000 (L3), 30 38 36 30 at 2000, 22.6 24.9 24.3 23.3 at 4000.
const AHEAD: usize = 256;

/// Which rows the lines of a [`Group`] have.
mod rows {
    /// All of them start..end.
    pub const SAME: u8 = 0;
    /// Line l: start..bound+l. The lines of a triangle that end at its diagonal, or just before it.
    pub const HEAD: u8 = 1;
    /// Line l: start+l..end. The lines of a triangle that begin at its diagonal.
    pub const TAIL: u8 = 2;
    /// Line l: start+1+l..end. The same without the diagonal.
    pub const STRICT_TAIL: u8 = 3;
    /// Line l: those of first+l..bound+l that are in start..end.
    pub const BAND: u8 = 4;
}

/// G lines of a matrix: where the element 0 of each is, and which rows count.
struct Group<T, const G: usize, const ROWS: u8> {
    at: [*const T; G],
    start: usize,
    end: usize,
    first: isize,
    bound: isize,
}

impl<T: Scalar, const G: usize, const ROWS: u8> Group<T, G, ROWS> {
    /// Lines j..j+G.
    #[inline(always)]
    fn new(a: &Lines<T>, j: usize, start: usize, end: usize) -> Self {
        let mut at = [a.at(j); G];
        for (l, p) in at.iter_mut().enumerate() {
            *p = a.at(j + l);
        }
        let (before, after) = a.reach();
        let (mut first, mut bound) = (0, end as isize);
        if ROWS == rows::HEAD {
            bound = j as isize + 1;
        } else if ROWS == rows::BAND {
            (first, bound) = (j as isize - before, j as isize + after + 1);
            let last = bound + G as isize - 1;
            let end = if last < end as isize { last as usize } else { end };
            let start = if first > start as isize { first as usize } else { start };
            return Group { at, start, end: if start < end { end } else { start }, first, bound };
        }
        Group { at, start, end, first, bound }
    }
    /// Line l alone.
    #[inline(always)]
    fn one(&self, l: usize) -> Group<T, 1, { rows::SAME }> {
        let (first, bound) = (self.first + l as isize, self.bound + l as isize);
        let (mut start, mut end) = (self.start, self.end);
        if ROWS == rows::TAIL || ROWS == rows::STRICT_TAIL {
            start += l + (ROWS == rows::STRICT_TAIL) as usize;
        } else if ROWS == rows::HEAD {
            end = bound as usize;
        } else if ROWS == rows::BAND {
            end = if bound < end as isize { bound as usize } else { end };
            start = if first > start as isize { first as usize } else { start };
        }
        Group { at: [self.at[l]], start, end: if end > start { end } else { start }, first: 0, bound: 0 }
    }
    /// The rows that all lines have, as far as whole vectors go.
    #[inline(always)]
    fn common(&self) -> (isize, isize) {
        let (start, end, more) = (self.start as isize, self.end as isize, G as isize - 1);
        match ROWS {
            rows::SAME => (start, end),
            rows::HEAD => (start, self.bound),
            rows::TAIL => (start + more, end),
            rows::STRICT_TAIL => (start + 1 + more, end),
            _ => (self.first + more, if self.bound < end { self.bound } else { end }),
        }
    }
    /// Which of the c rows from i on line l has, counted from i.
    #[inline(always)]
    fn lanes(&self, l: usize, i: usize, c: usize) -> (usize, usize) {
        let (i, l, c) = (i as isize, l as isize, c as isize);
        let from = match ROWS {
            rows::TAIL => self.start as isize + l - i,
            rows::STRICT_TAIL => self.start as isize + 1 + l - i,
            rows::BAND => self.first + l - i,
            _ => 0,
        };
        let to = match ROWS {
            rows::HEAD => self.bound + l - i,
            rows::BAND => self.bound + l - i,
            _ => c,
        };
        let to = if to < 0 {
            0
        } else if to < c {
            to
        } else {
            c
        };
        let from = if from < 0 {
            0
        } else if from < to {
            from
        } else {
            to
        };
        (from as usize, to as usize)
    }
}

/// The first c <= LANES elements of a vector that is being added to.
#[inline(always)]
unsafe fn reload_upto<V: Elements>(p: *const V::T, c: usize) -> V {
    // SAFETY: the contract of the file.
    unsafe { if c == V::LANES { V::load(p) } else { V::reload_first(p, c) } }
}
/// The first c <= LANES elements.
#[inline(always)]
unsafe fn load_upto<V: Elements>(p: *const V::T, c: usize) -> V {
    // SAFETY: the contract of the file.
    unsafe { if c == V::LANES { V::load(p) } else { V::load_first(p, c) } }
}
#[inline(always)]
unsafe fn store_upto<V: Elements>(v: V, p: *mut V::T, c: usize) {
    // SAFETY: the contract of the file.
    unsafe { if c == V::LANES { v.store(p) } else { v.store_first(p, c) } }
}

/// One pass over the lines. If `ADD`: y := f[0] line 0 + … + y on their rows. If `DOT`: each line times x. Lines are
/// conjugated for either if asked.
#[inline(always)]
unsafe fn pass<V: Elements, const G: usize, const ROWS: u8, const ADD: bool, const DOT: bool>(
    g: &Group<V::T, G, ROWS>,
    f: [V::T; G],
    conj_add: bool,
    y: *mut V::T,
    conj_dot: bool,
    x: *const V::T,
) -> [V::T; G] {
    // SAFETY: the contract of the file.
    unsafe {
        let dots = pass_dots::<V, G, ROWS, ADD, DOT>(g, f, conj_add, y, x);
        if DOT { totals::<V, G>(dots, conj_dot) } else { f }
    }
}

/// `pass` with the products still to be summed up.
#[inline(always)]
unsafe fn pass_dots<V: Elements, const G: usize, const ROWS: u8, const ADD: bool, const DOT: bool>(
    g: &Group<V::T, G, ROWS>,
    f: [V::T; G],
    conj_add: bool,
    y: *mut V::T,
    x: *const V::T,
) -> [V::Dot; G] {
    // SAFETY: the contract of the file.
    unsafe {
        let mut s = [V::splat(f[0]); G];
        if ADD {
            for l in 1..G {
                s[l] = V::splat(f[l]);
            }
        }
        let mut dots = [V::dot_zero(); G];
        let (inner, outer) = g.common();
        let mut i = g.start;
        // A vector of the c rows from i on, with a range of lanes for each line.
        macro_rules! corner {
            ($c:expr) => {{
                let c = $c;
                let old = if ADD { reload_upto::<V>(y.add(i), c) } else { V::load_range(y, 0, 0) };
                let xv = if DOT { load_upto::<V>(x.add(i), c) } else { old };
                let mut sum = V::begin(old);
                for l in 0..G {
                    let p = g.at[l].wrapping_add(i);
                    let (from, to) = if ROWS == rows::SAME { (0, c) } else { g.lanes(l, i, c) };
                    let line = V::load_range(p, from, to);
                    if ADD && ROWS == rows::SAME {
                        // What stands in other lanes is not stored.
                        sum = V::add_line(sum, line, s[l]);
                    } else if ADD {
                        sum = V::add_line(sum, line, V::splat_range(s[l], from, to));
                    }
                    if DOT && ROWS == rows::SAME {
                        dots[l] = V::dot_step(dots[l], line, xv.turned());
                    } else if DOT {
                        dots[l] = V::dot_step(dots[l], line, xv.keep(from, to).turned());
                    }
                }
                if ADD {
                    store_upto(V::finish(sum, old, conj_add), y.add(i), c);
                }
            }};
        }
        if ROWS == rows::TAIL || ROWS == rows::STRICT_TAIL {
            // As many rows first as leave whole vectors behind.
            let c = (g.end - g.start) % V::LANES;
            if c > 0 {
                corner!(c);
                i += c;
            }
            while (i as isize) < inner && i < g.end {
                corner!(V::LANES);
                i += V::LANES;
            }
        } else if ROWS == rows::BAND {
            while (i as isize) < inner && i < g.end {
                corner!(if g.end - i < V::LANES { g.end - i } else { V::LANES });
                i += V::LANES;
            }
        }
        // The vector of rows from r on, which all lines have.
        macro_rules! whole {
            ($r:expr) => {{
                let r = $r;
                let old = if ADD { V::load(y.add(r)) } else { V::load_range(y, 0, 0) };
                let xv = if DOT { V::load(x.add(r)).turned() } else { old.turned() };
                let mut sum = V::begin(old);
                for l in 0..G {
                    let line = V::load(g.at[l].wrapping_add(r));
                    if ADD {
                        sum = V::add_line(sum, line, s[l]);
                    }
                    if DOT {
                        dots[l] = V::dot_step(dots[l], line, xv);
                    }
                }
                if ADD {
                    V::finish(sum, old, conj_add).store(y.add(r));
                }
            }};
        }
        // A cache line of each at a time: several lines at once are more streams than the hardware sees coming.
        if V::LANES < CACHE_LINE / size_of::<V::T>() {
            while (i + 2 * V::LANES) as isize <= outer {
                for l in 0..G {
                    prefetch(g.at[l].wrapping_add(i).cast::<u8>().wrapping_add(AHEAD));
                }
                whole!(i);
                whole!(i + V::LANES);
                i += 2 * V::LANES;
            }
        }
        // Vectors of a whole cache line: asking for the next ones would be as many loads again. (Zen 4, GFLOPS with and
        // without: sgemv N 1000 41.2 43.1, dsymv 64 21.5 23.1, dgemv T 100 23.7 25.5, dtrmv 1000 18.1 19.1.)
        while (i + V::LANES) as isize <= outer {
            whole!(i);
            i += V::LANES;
        }
        while i < g.end {
            corner!(if g.end - i < V::LANES { g.end - i } else { V::LANES });
            i += V::LANES;
        }
        dots
    }
}

/// `pass` that only adds.
#[inline(always)]
unsafe fn add_lines<V: Elements, const G: usize, const ROWS: u8>(
    g: &Group<V::T, G, ROWS>,
    f: [V::T; G],
    conj: bool,
    y: *mut V::T,
) {
    // SAFETY: the contract of the file.
    unsafe { pass::<V, G, ROWS, true, false>(g, f, conj, y, false, y) };
}

/// `pass` that only multiplies.
#[inline(always)]
unsafe fn dot_lines<V: Elements, const G: usize, const ROWS: u8>(
    g: &Group<V::T, G, ROWS>,
    conj: bool,
    x: *const V::T,
) -> [V::T; G] {
    // SAFETY: the contract of the file.
    unsafe { pass::<V, G, ROWS, false, true>(g, [V::T::ZERO; G], false, x.cast_mut(), conj, x) }
}

/// y := f[0] line 0 + … + y without the lines whose factor is zero, NaN in them or not, as in Reference BLAS.
#[inline(always)]
unsafe fn add_lines_but_zeros<V: Elements, const G: usize, const ROWS: u8>(
    g: &Group<V::T, G, ROWS>,
    f: [V::T; G],
    conj: bool,
    y: *mut V::T,
) {
    // SAFETY: the contract of the file.
    unsafe {
        let mut zeros = false;
        for f in f {
            zeros |= f == V::T::ZERO;
        }
        if !zeros {
            return add_lines::<V, G, ROWS>(g, f, conj, y);
        }
        for l in 0..G {
            if f[l] != V::T::ZERO {
                let line = g.one(l);
                lines::axpy::<V>(
                    line.end - line.start,
                    f[l],
                    line.at[0].wrapping_add(line.start),
                    conj,
                    y.add(line.start),
                );
            }
        }
    }
}

#[inline(always)]
unsafe fn totals<V: Elements, const G: usize>(dots: [V::Dot; G], conj: bool) -> [V::T; G] {
    // SAFETY: the contract of the file.
    unsafe {
        let mut out = [V::T::ZERO; G];
        let mut l = 0;
        while l + 4 <= G {
            let four = V::dot_totals([dots[l], dots[l + 1], dots[l + 2], dots[l + 3]], conj);
            out[l] = four[0];
            out[l + 1] = four[1];
            out[l + 2] = four[2];
            out[l + 3] = four[3];
            l += 4;
        }
        while l < G {
            out[l] = V::dot_total(dots[l], conj);
            l += 1;
        }
        out
    }
}

/// Runs the body for lines from..to in groups of the given sizes, the largest first.
macro_rules! by_groups {
    ($j:ident in $from:expr, $to:expr; $($G:literal),+; |$N:ident| $body:block) => {{
        let mut $j = $from;
        let to = $to;
        $(
            while to - $j >= $G {
                const $N: usize = $G;
                $body
                $j += $G;
            }
        )+
    }};
}
use by_groups;
