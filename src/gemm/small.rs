//! Small products on the operands where they are, or from panels on the stack if they lie across, and the smallest element
//! by element: no scratch memory, no lock, no system call, no thread.
//!
//! k fits in one pass, so the operations are those of the packed way, in the same order: the same bits. Only products that are
//! whole, which no thread shares, may have bits of their own: no passes, last rows by dot products.

use super::blocking;
use super::driver::{FEW_COLUMNS, conj_all, is_better_turned_to_dots};
use super::pack::Kernel;
use crate::kernels::Kernels;
use crate::kernels::tile::{LEAST_KC, Source, Strided, Tile, opaque};
use crate::matrix::{MatMut, MatRef};
use crate::scalar::Scalar;
use core::mem::MaybeUninit;

/// Products m*n*k that go this way. Larger ones may be read in place too, but look at threads and memory first.
const MOST: usize = 48 * 48 * 48;
/// Products m*n*k that are faster element by element than as a tile, and those that are if A would have to be packed.
const TINY: usize = 4;
const TINY_ACROSS: usize = 27;
/// Columns of A further apart than this touch a page each: packing pays sooner, from so many on.
const FAR: usize = 4096;
const FEW_STEPS: usize = 16;

/// Computes C := alpha A B + beta C if it is small and its operands lie right; says whether it did. Compiled into its
/// callers: the views of a small call become arguments of the kernel without passing through memory. `is_whole`: this is no
/// part of a larger product, which may be cut in another way; it may have bits of its own.
#[inline(always)]
pub fn run<T: Scalar>(
    alpha: T,
    a: MatRef<T>,
    b: MatRef<T>,
    beta: T,
    c: &MatMut<T>,
    kernels: &Kernels<T>,
    is_whole: bool,
) -> bool {
    let (m, n, k, kernel) = (c.rows(), c.cols(), a.cols(), kernels.gemm);
    // Neither empty nor large.
    let small = (1..=MOST).contains(&m.saturating_mul(n).saturating_mul(k)) && alpha != T::ZERO;
    // Parts are cut in passes as the whole is.
    let in_passes = k > LEAST_KC && k > kernel.kc();
    if !small || c.rs() != 1 || in_passes && !is_whole {
        return false;
    }
    let fits = (a.rs() == 1 || m == 1) && !a.is_conj() && !b.is_conj();
    if m * n * k <= if fits { TINY } else { TINY_ACROSS } && k <= 4 {
        // Strides one by one, see below.
        let word = |stride: isize| opaque(stride as usize) as isize;
        let a = Strided { ptr: a.ptr(), lane: word(a.rs()), step: word(a.cs()), conj: a.is_conj() };
        let b = Strided { ptr: b.ptr(), lane: word(b.cs()), step: word(b.rs()), conj: b.is_conj() };
        // SAFETY: views of m x k, k x n and m x n; C has unit row stride.
        unsafe { kernel.tiny(m, n, k, alpha, a, b, beta, c.ptr(), c.cs()) };
        return true;
    }
    let lanes = kernels.single.0;
    let is_single = fits && m <= lanes && n <= kernels.single.1;
    // One tile of few steps has no other way.
    if !is_single || k > FEW_STEPS {
        // A conjugated B is better copied, which is not done here.
        if T::IS_COMPLEX && is_whole && (b.is_conj() && (b.rs() == 1 || b.cs() == 1) || turns_complex(a, b)) {
            return false;
        }
        let enough = k > FEW_STEPS || k >= DOTS_OF && m * n * k >= DOTS_FOR;
        let may_be_dots = (!fits || m < lanes) && is_whole && enough && (b.rs() == 1 || a.cs() == 1);
        if may_be_dots && are_better_dots(a, b) {
            all_dots(alpha, a.anew(), b.anew(), beta, c.alias(), kernel);
            return true;
        }
        if is_better_turned_to_dots::<T>(m, n, k, lanes) && b.rs() == 1 {
            return false;
        }
        let far = a.cs().unsigned_abs().saturating_mul(size_of::<T>()) > FAR && k > FEW_STEPS;
        let is_cut = m & (lanes - 1) != 0 && n * k >= CUT_FROM;
        let has_dots = is_cut && is_whole && m > lanes && rows_before_dots((m, n, k), a, b) < m;
        if (!fits || far) && !has_dots {
            if in_passes {
                return is_half(a, kernel) && half_in_passes(alpha, a.anew(), b.anew(), beta, c.alias(), kernel);
            }
            // Two vectors of rows are not cut in parts, and the set-up of parts would take as long as such a product.
            let ld = up(n, lanes);
            if m <= 2 * lanes {
                if !T::IS_COMPLEX && b.cs() == 1 && is_better_turned::<T>((m, n, k), true, true) {
                    turned(alpha, a.anew(), b.anew(), beta, c.alias(), ld, kernel);
                    return true;
                }
                return on_the_stack(alpha, a.anew(), b.anew(), beta, c.alias(), kernel);
            }
            return in_parts(alpha, a.anew(), b.anew(), beta, c.alias(), kernels, is_whole);
        }
        // Not whole vectors, and enough to be cut in two; or columns that are better lanes.
        if has_dots || !is_single && (is_cut || b.cs() == 1 && n > m) {
            return in_parts(alpha, a.anew(), b.anew(), beta, c.alias(), kernels, is_whole);
        }
    }
    // The view of B may be in memory, where its strides were just written one by one. Read as the pair that `Source` makes
    // of them they would have to come from the cache: a stall as long as the product.
    let (lane, step) = (opaque(b.cs() as usize) as isize, opaque(b.rs() as usize) as isize);
    let (from_a, from_b) = (Source::in_place(a.ptr(), 1, a.cs()), Source::in_place(b.ptr(), lane, step));
    // SAFETY: views of m x k, k x n and m x n; A and C have unit row stride (or one row).
    unsafe {
        if is_single {
            kernel.single(n, &Tile::first(m, k, alpha, from_a, from_b, beta, c.ptr(), c.cs()));
        } else {
            kernel.block(m, n, k, alpha, from_a, from_b, beta, c.ptr(), c.cs());
        }
    }
    true
}

/// Bytes of the panels on the stack.
const STACK: usize = 32 << 10;
/// Elements of A up to which copying them one by one is faster than packing panels of full width.
const BY_ELEMENT: usize = 20;

#[repr(C, align(64))]
struct Panels(MaybeUninit<[u8; STACK]>);

/// Columns times steps from which a few rows may be computed apart. (Zen 4, dgemm NT 20³: 51.7 whole, 47.6 in parts.)
const CUT_FROM: usize = 1024;
/// What it costs to turn an element over, in multiply-adds of a lane (twice that of an operand: few lanes of many steps), and to
/// compute rows apart, in those of a vector, where operands lie right for that and where they do not. (Zen 5, 72 random products of 2 to 90, mean over OpenBLAS
/// with 4 and 200, which a Zen 4 wanted: 1.12, with 2 and 50: 1.15, with 8 and 400: 1.09. ns, before and after: dgemm NT 25 x 45 x 14 434
/// and 315, 3 x 26 x 40 190 and 99, sgemm NT 21 x 40 x 36 454 and 346.)
const TURN: usize = 2;
/// Twice what it costs that an element of C is turned over by its tile. (Zen 5, ns, as it lies and turned over: dgemm TT 8 x 200 x 20 909 and
/// 684, 10 x 500 x 3 1364 and 913, 18 x 60 x 11 425 and 373, 16 x 400 x 40 4550 and 4770, sgemm NT 13 x 100 x 30 627 and 575.)
/// Where registers are not cache lines, tiles are turned over in memory. (AVX2, dgemm TT 8 x 200 x 20 as it lies and turned over: 54 and 38 GFLOPS.)
const TURN_C: usize = 3;
const TURN_C_IN_MEMORY: usize = 8;
const APART: usize = 50;
const APART_ACROSS: usize = 200;
/// What it costs to pack an element that lies across, for each of its bytes, and a complex one. (Zen 5, ns, dgemm TN 4 x 13 x 37 packed and by
/// dot products: 131 and 80; sgemm TN 45 x 51 x 26 with 2 here and with 4: 598 and 895.)
const PACK_BYTE: usize = 2;
const PACK_COMPLEX: usize = 4;

/// What it costs to add up a dot product's lanes, in multiply-adds of a vector; what it costs to set up a tile, for each of its
/// columns, if there are several tiles, in the same; steps from which dot products are thought of at all, and multiply-adds from
/// which they are with few steps. (Zen 5, ns, 90 random products of which most have few rows or columns, mean with 3, 2, 17 and
/// half vectors counted as half, and with these: 171 and 153. dgemm NN 4 x 90 x 56 937 and 426, TN 4 x 90 x 12 258 and 199.)
const SUM: usize = 2;
const TILE: usize = 4;
const DOTS_OF: usize = 9;
const DOTS_FOR: usize = 1024;

/// Of m rows of a whole product, or of one of which all parts are so computed: how many come before the last ones, if these fill
/// so little of a vector that dot products are faster. All of them otherwise. Every way to a product asks this function, so that
/// its bits are the same on all.
pub fn rows_before_dots<T: Scalar>((m, n, k): (usize, usize, usize), a: MatRef<T>, b: MatRef<T>) -> usize {
    let lanes = T::kernels().single.0;
    let rest = m & (lanes - 1);
    let head = m - rest;
    let is_possible = !T::IS_COMPLEX && b.rs() == 1 && !a.is_conj() && !b.is_conj() && (a.rs() == 1 || a.cs() == 1);
    if !is_possible || rest == 0 || head == 0 || n * k < CUT_FROM || m > DOTS_BELOW || k > DOTS_BELOW {
        return m;
    }
    let costs = Costs::of::<T>(n, k, a.rs() != 1, false);
    let dots = costs.dots(rest) + APART_ACROSS * lanes;
    let tiles = costs.straight(m) - costs.straight(head);
    if dots >= tiles {
        return m;
    }
    let dots = dots + if a.cs() == 1 { 0 } else { 2 * TURN * rest * k };
    let tiles = tiles.min(costs.turned(rest));
    if dots < tiles { head } else { m }
}

/// Rows and steps up to which the last rows may be dot products: operands that are near, and rows that the stack holds.
const DOTS_BELOW: usize = 256;

/// A product, or its last rows, as dot products: lanes of B, whose steps are consecutive, with those of A, which are made so.
#[inline(never)]
fn by_dots<T: Scalar>(alpha: T, a: MatRef<T>, b: MatRef<T>, beta: T, c: MatMut<T>, kernel: &Kernel<T>) {
    let (m, n, k) = (c.rows(), c.cols(), a.cols());
    let width = up(k, kernel.lanes());
    let mut panels = Panels(MaybeUninit::uninit());
    let mut rows = (a.ptr(), a.rs());
    assert!(a.cs() == 1 || m * width * size_of::<T>() <= STACK);
    // SAFETY: the stack has room for m rows of `width` steps; views of m x k, k x n and m x n.
    unsafe {
        if a.cs() != 1 {
            let turned = panels.0.as_mut_ptr().cast::<T>();
            kernel.turn(k, m, a.ptr(), a.cs(), turned, width as isize);
            rows = (turned, width as isize);
        }
        kernel.dots(n, m, k, alpha, (b.ptr(), b.cs()), rows, beta, c.ptr(), (c.cs(), c.rs()));
    }
}

/// Whether all of a product is better made of dot products: its operands lie for that, or one of them, which the stack holds, can be
/// turned over. (Complex ones are not: they are busy enough meanwhile.)
#[inline(never)]
fn are_better_dots<T: Scalar>(a: MatRef<T>, b: MatRef<T>) -> bool {
    let (m, n, k) = (a.rows(), b.cols(), a.cols());
    let turned = match (a.cs() == 1, b.rs() == 1) {
        (true, true) => 0,
        (true, false) if b.cs() == 1 => n,
        (false, true) if a.rs() == 1 => m,
        _ => return false,
    };
    let fits = turned * up(k, T::kernels().single.0) * size_of::<T>() <= STACK;
    let can_turn = turned == 0 || fits && !T::IS_COMPLEX;
    can_turn && !a.is_conj() && !b.is_conj() && are_cheaper_dots::<T>((m, n, k), a, b, turned)
}

/// Whether dot products cost less than tiles, if so many lanes of an operand are turned over for them. m and n are those of the whole
/// product, of which the operands may be a part.
pub fn are_cheaper_dots<T: Scalar>(
    (m, n, k): (usize, usize, usize),
    a: MatRef<T>,
    b: MatRef<T>,
    turned: usize,
) -> bool {
    let costs = Costs::of::<T>(n, k, a.rs() != 1, b.cs() == 1 && b.rs() != 1);
    let set_up = if n > T::kernels().single.1 { TILE * costs.lanes * n } else { 0 };
    let tiles = costs.straight(m).min(costs.turned(m)) + set_up;
    // The call that turns takes its time, however little there is to turn. (sgemm NN 3 x 30 x 30: tiles 19, dots 15.)
    let turn = if turned > 0 { 2 * TURN * turned * k + APART * costs.lanes } else { 0 };
    costs.dots(m) + turn < tiles
}

/// A product by dot products; the operand that does not lie for that is turned over.
#[inline(never)]
fn all_dots<T: Scalar>(alpha: T, a: MatRef<T>, b: MatRef<T>, beta: T, c: MatMut<T>, kernel: &Kernel<T>) {
    // Lanes of the long operand go four at a time; the longer one, if neither leaves more of them.
    let (m, n) = (c.rows(), c.cols());
    let by_rows = ((m & 3) * n, n) < ((n & 3) * m, m);
    if b.rs() != 1 || a.cs() == 1 && by_rows {
        by_dots(alpha, b.t(), a.t(), beta, c.t(), kernel);
    } else {
        by_dots(alpha, a, b, beta, c, kernel);
    }
}

/// How a product's operands lie, and what its ways cost, in multiply-adds of a lane.
struct Costs {
    n: usize,
    k: usize,
    lanes: usize,
    pack: usize,
    /// What an element of C that is turned over costs twice, and what a vector of rows that is alone costs more.
    turn_c: usize,
    alone: usize,
    a_by_rows: bool,
    b_by_rows: bool,
}

/// The next multiple of a power of two: a division would take as long as a small product.
#[inline(always)]
fn up(x: usize, unit: usize) -> usize {
    debug_assert!(unit.is_power_of_two());
    (x + unit - 1) & !(unit - 1)
}

impl Costs {
    #[inline(always)]
    fn of<T: Scalar>(n: usize, k: usize, a_by_rows: bool, b_by_rows: bool) -> Costs {
        let lanes = T::kernels().single.0;
        let pack = if T::IS_COMPLEX { PACK_COMPLEX } else { PACK_BYTE * size_of::<T>() };
        let (turn_c, alone) = if lanes * size_of::<T>() >= 64 { (TURN_C, lanes / 8) } else { (TURN_C_IN_MEMORY, 0) };
        Costs { n, k, lanes, pack, turn_c, alone, a_by_rows, b_by_rows }
    }
    /// Of m rows as they lie: lanes beyond them are lost, and an A that lies across is packed. (Half a vector is half of the time on some
    /// CPUs and all of it on others; counted as a whole one.)
    #[inline(always)]
    fn straight(&self, m: usize) -> usize {
        up(m, self.lanes) * self.n * self.k + if self.a_by_rows { self.pack * m * self.k } else { 0 }
    }
    /// The same next to [`Costs::turned`]. A single vector of rows takes longer: every element of B is read for it alone, and of registers that
    /// are cache lines a core reads no more than it multiplies.
    #[inline(always)]
    fn as_they_lie(&self, m: usize) -> usize {
        self.straight(m) + if m <= self.lanes { self.alone * self.n * self.k } else { 0 }
    }
    /// Of m rows turned over, as `C^T = B^T A^T`: tiles are turned on their way into C, and B before if it lies across. Columns that are
    /// far fewer than the rows are no lanes: many short tiles (sgemm TT 500 x 2 x 16: 18 as they lie, 13 turned).
    #[inline(always)]
    fn turned(&self, m: usize) -> usize {
        let Costs { n, k, .. } = *self;
        if m > 8 * n {
            return usize::MAX / 4;
        }
        let apart = match (self.a_by_rows, self.b_by_rows) {
            // Packing A takes as long.
            (true, true) => 0,
            (false, true) => APART * self.lanes,
            _ => APART_ACROSS * self.lanes + 2 * TURN * n * k,
        };
        up(n, self.lanes) * m * k + m * n * self.turn_c / 2 + apart
    }
    /// Of m rows by dot products of operands that lie as these want them. A complex one is as many of real numbers.
    #[inline(always)]
    fn dots(&self, m: usize) -> usize {
        m * self.n * (up(self.k, self.lanes) + SUM * self.lanes)
    }
    /// How many of the first of m rows are better computed as they lie: all, none, or whole vectors of them.
    fn rows_as_they_lie(&self, m: usize) -> usize {
        let cost = |head: usize| {
            let rest = m - head;
            (if head > 0 { self.as_they_lie(head) } else { 0 }) + if rest > 0 { self.turned(rest) } else { 0 }
        };
        [0, m & !(self.lanes - 1), m].into_iter().min_by_key(|&head| cost(head)).unwrap_or(m)
    }
}

/// Whether a product of such operands takes less time turned over.
#[inline(always)]
pub fn is_better_turned<T: Scalar>((m, n, k): (usize, usize, usize), a_by_rows: bool, b_by_rows: bool) -> bool {
    let costs = Costs::of::<T>(n, k, a_by_rows, b_by_rows);
    costs.turned(m) <= costs.as_they_lie(m)
}

/// What it costs to pack a conjugated element of B, and to set up a complex product that is turned over, in vectors; vectors of rows up to
/// which it is thought of, since the strip that is computed apart must leave room in L2. (Zen 5, GFLOPS, packed and turned: zgemm NC
/// 4 x 500 x 100 33 and 119, NT 4 x 500 x 100 69 and 120, NT 8 x 500 x 100 140 and 106, NC 24 x 500 x 100 97 and 118, 32 x 500 x 100 104
/// and 93, cgemm NC 4 x 500 x 100 36 and 233, NT 8 x 500 x 100 137 and 240.)
const PACK_CONJ: usize = 8;
const APART_COMPLEX: usize = 800;
const FEW_VECTORS: usize = 3;

/// Whether a complex product with a B by rows takes less time as `C^T = B^T A^T`, turned over at the end. m, n and k are those of the
/// whole product, of which the operands may be a part.
pub fn is_better_turned_complex<T: Scalar>((m, n, k): (usize, usize, usize), a: MatRef<T>, b: MatRef<T>) -> bool {
    let lanes = T::kernels().single.0;
    if m > FEW_COLUMNS.min(FEW_VECTORS * lanes) || n < m || b.cs() != 1 || b.rs() == 1 {
        return false;
    }
    let conj = |one: bool, lanes: usize| if one { PACK_CONJ * lanes * k } else { 0 };
    let straight = up(m, lanes) * n * k + if a.rs() == 1 { 0 } else { PACK_COMPLEX * m * k } + conj(b.is_conj(), n);
    let turned = up(n, lanes) * m * k + conj(a.is_conj() != b.is_conj(), m) + PACK_COMPLEX * m * n;
    turned + turned / 8 + APART_COMPLEX * lanes < straight
}

/// The same, asked where most products have no business with it.
#[inline(always)]
fn turns_complex<T: Scalar>(a: MatRef<T>, b: MatRef<T>) -> bool {
    b.cs() == 1 && b.rs() != 1 && is_better_turned_complex((a.rows(), b.cols(), a.cols()), a, b)
}

/// As [`run`], of operands that lie across, or whose last rows are better computed apart. k is not cut. An element is the same
/// chain of operations in every part, but for last rows by dot products, which only a whole has. (Of real numbers: the terms of complex products are added in another order, so they are
/// only computed in parts as a whole.)
#[inline(never)]
pub fn in_parts<T: Scalar>(
    alpha: T,
    a: MatRef<T>,
    b: MatRef<T>,
    beta: T,
    c: MatMut<T>,
    kernels: &Kernels<T>,
    is_whole: bool,
) -> bool {
    let (m, n, k, kernel) = (c.rows(), c.cols(), a.cols(), kernels.gemm);
    let lanes = kernels.single.0;
    let (a_by_columns, b_by_rows) = (a.rs() == 1 || m == 1, b.cs() == 1 && b.rs() != 1);
    let can_turn = (b_by_rows || b.rs() == 1) && !T::IS_COMPLEX;
    let before_dots = if is_whole { rows_before_dots((m, n, k), a, b) } else { m };
    let has_dots = before_dots < m;
    let mut head = match can_turn {
        _ if has_dots => before_dots,
        true => Costs::of::<T>(n, k, !a_by_columns, b_by_rows).rows_as_they_lie(m),
        false => m,
    };
    let ld = up(n, lanes);
    if !has_dots && !b_by_rows && ld * k * size_of::<T>() > STACK {
        head = m;
    }
    if head > 0 {
        let (a, c) = (a.sub(0, 0, head, k), c.sub(0, 0, head, n));
        let far = a.cs().unsigned_abs().saturating_mul(size_of::<T>()) > FAR && k > FEW_STEPS;
        let in_place = a_by_columns && !far && !a.is_conj() && !b.is_conj();
        if in_place {
            let (from_a, from_b) = (Source::in_place(a.ptr(), 1, a.cs()), Source::in_place(b.ptr(), b.cs(), b.rs()));
            // SAFETY: views of head x k, k x n and head x n; A and C have unit row stride (or one row).
            unsafe { kernel.block(head, n, k, alpha, from_a, from_b, beta, c.ptr(), c.cs()) };
        } else if !on_the_stack(alpha, a, b, beta, c, kernel) {
            return false;
        }
    }
    if head < m {
        let (a, c) = (a.sub(head, 0, m - head, k), c.sub(head, 0, m - head, n));
        if has_dots {
            by_dots(alpha, a, b, beta, c, kernel);
        } else {
            turned(alpha, a, b, beta, c, ld, kernel);
        }
    }
    true
}

/// A product of real numbers computed as `C^T = B^T A^T` and turned over on its way into C. A B whose steps are consecutive is turned
/// over before, on the stack, which has room for it with lanes rounded up to `ld`.
fn turned<T: Scalar>(alpha: T, a: MatRef<T>, b: MatRef<T>, beta: T, c: MatMut<T>, ld: usize, kernel: &Kernel<T>) {
    if b.cs() != 1 {
        return turned_copy(alpha, a, b, beta, c, ld, kernel);
    }
    let (from_a, from_b) = (Source::in_place(a.ptr(), a.rs(), a.cs()), Source::in_place(b.ptr(), 1, b.rs()));
    // SAFETY: views of m x k, k x n and m x n; B has unit column stride, C unit row stride.
    unsafe { kernel.turned(b.cols(), a.rows(), a.cols(), alpha, from_b, from_a, beta, c.ptr(), c.cs()) };
}

#[inline(never)]
fn turned_copy<T: Scalar>(alpha: T, a: MatRef<T>, b: MatRef<T>, beta: T, c: MatMut<T>, ld: usize, kernel: &Kernel<T>) {
    let (n, k) = (b.cols(), a.cols());
    let mut panels = Panels(MaybeUninit::uninit());
    let copy = panels.0.as_mut_ptr().cast::<T>();
    assert!(k * ld * size_of::<T>() <= STACK && n <= ld);
    // SAFETY: room for k steps of `ld` lanes; B has consecutive steps, and the copy unit column stride and as many rows.
    unsafe {
        kernel.turn(n, k, b.ptr(), b.cs(), copy, ld as isize);
        turned(alpha, a, MatRef::new(copy, k, n, ld as isize, 1), beta, c, ld, kernel);
    }
}

/// Whether complex rows with consecutive steps fill no more than half a vector: that is half the work where they lie as in memory, not apart
/// as in a panel, in registers that are cache lines. (Zen 5, GFLOPS, cgemm CN 4 x 4 x 100 20 and 34, TT 8 x 12 x 40 77 and 96.)
#[inline(always)]
fn is_half<T: Scalar>(a: MatRef<T>, kernel: &Kernel<T>) -> bool {
    T::IS_COMPLEX && a.cs() == 1 && 2 * a.rows() <= kernel.lanes() && kernel.lanes() * size_of::<T>() >= 128
}

/// [`on_the_stack`] of such rows, a pass after the other.
#[inline(never)]
fn half_in_passes<T: Scalar>(alpha: T, a: MatRef<T>, b: MatRef<T>, beta: T, c: MatMut<T>, kernel: &Kernel<T>) -> bool {
    let (m, n, k) = (c.rows(), c.cols(), a.cols());
    let kc = blocking::kc(k, kernel.kc());
    (0..k).step_by(kc).all(|p| {
        let steps = kc.min(k - p);
        let beta = if p == 0 { beta } else { T::ONE };
        // The first pass, which is no shorter than the others, decides whether there is room for all.
        on_the_stack(alpha, a.sub(0, p, m, steps), b.sub(p, 0, steps, n), beta, c.alias(), kernel)
    })
}

/// As [`run`], with A packed, and B if it is conjugated; false if they do not fit. k is one pass.
#[inline(never)]
pub fn on_the_stack<T: Scalar>(
    alpha: T,
    a: MatRef<T>,
    b: MatRef<T>,
    beta: T,
    c: MatMut<T>,
    kernel: &Kernel<T>,
) -> bool {
    let (m, n, k) = (c.rows(), c.cols(), a.cols());
    let (mr, nr) = (kernel.mr(), kernel.nr());
    // One panel as wide as A is high. Complex panels have an order of their own, which only tiles up to `mr` rows know.
    let narrow = m <= mr || !T::IS_COMPLEX;
    let width = if narrow { up(m, kernel.lanes()) } else { mr };
    let half = is_half(a, kernel);
    let a_lanes = match (half, narrow) {
        (true, _) => m,
        (_, true) => width,
        _ => m.next_multiple_of(mr),
    };
    let a_room = a_lanes * k;
    let b_room = if b.is_conj() { n.next_multiple_of(nr) * k } else { 0 };
    if (a_room + b_room) * size_of::<T>() > STACK {
        return false;
    }
    let mut panels = Panels(MaybeUninit::uninit());
    let a_panel = panels.0.as_mut_ptr().cast::<T>();
    let b_panel = a_panel.wrapping_add(a_room);
    // SAFETY: the panels have room for both operands; views of m x k, k x n and m x n; C has unit row stride.
    unsafe {
        let from_a = if m * k <= BY_ELEMENT {
            for p in 0..k {
                for i in 0..m {
                    a_panel.add(p * m + i).write(a.get(i, p));
                }
            }
            Source::in_place(a_panel, 1, m as isize)
        } else {
            if half {
                kernel.turn(m, k, a.ptr(), a.rs(), a_panel, m as isize);
                conj_all(a_panel, if a.is_conj() { m * k } else { 0 });
            } else if narrow {
                kernel.pack_narrow(m, k, a.ptr(), a.rs(), a.cs(), a.is_conj(), a_panel);
            } else {
                kernel.pack_a(m, k, a.ptr(), a.rs(), a.cs(), a.is_conj(), a_panel);
            }
            match (half, T::IS_COMPLEX) {
                (true, _) => Source::in_place(a_panel, 1, m as isize),
                (_, true) => Source::panels(a_panel, k, width),
                (_, false) => Source::in_place(a_panel, 1, width as isize),
            }
        };
        let from_b = if b.is_conj() {
            kernel.pack_b(n, k, b.ptr(), b.cs(), b.rs(), true, b_panel);
            Source::panels(b_panel, k, nr)
        } else {
            Source::in_place(b.ptr(), b.cs(), b.rs())
        };
        kernel.block(m, n, k, alpha, from_a, from_b, beta, c.ptr(), c.cs());
    }
    true
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::scalar::Real;

    /// Rows apart, turned over and as they lie are the same bits as the product by tiles alone.
    fn check<T: Real>() {
        let kernels = T::kernels();
        let mut seed = 1u64;
        let mut numbers = |len: usize| {
            let mut next = || {
                seed = seed.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
                T::from_f64((seed >> 11) as f64 / (1u64 << 53) as f64 - 0.5)
            };
            (0..len).map(|_| next()).collect::<Vec<T>>()
        };
        let mut parts = 0;
        for (m, n, k) in [(1, 70, 60), (17, 33, 30), (33, 33, 33), (40, 50, 50), (50, 33, 60), (34, 64, 48)] {
            let (a, b, old) = (numbers(m * k), numbers(k * n), numbers(m * n));
            let (a_turned, b_turned) = (turned_over(m, k, &a), turned_over(k, n, &b));
            for beta in [T::ZERO, T::ONE, T::from_f64(0.3)] {
                let (mut c, alpha) = (old.clone(), T::from_f64(1.7));
                // SAFETY: matrices by columns, as large as the vectors.
                unsafe {
                    let (a, b) =
                        (Source::in_place(a.as_ptr(), 1, m as isize), Source::in_place(b.as_ptr(), k as isize, 1));
                    kernels.gemm.block(m, n, k, alpha, a, b, beta, c.as_mut_ptr(), m as isize);
                }
                for (ta, tb) in [(false, false), (false, true), (true, false), (true, true)] {
                    let mut d = old.clone();
                    // SAFETY: as above.
                    let done = unsafe {
                        let view = |x: *const T, rows: usize, cols: usize| MatRef::new(x, rows, cols, 1, rows as isize);
                        let a = if ta { view(a_turned.as_ptr(), k, m).t() } else { view(a.as_ptr(), m, k) };
                        let b = if tb { view(b_turned.as_ptr(), n, k).t() } else { view(b.as_ptr(), k, n) };
                        in_parts(alpha, a, b, beta, MatMut::new(d.as_mut_ptr(), m, n, 1, m as isize), kernels, false)
                    };
                    assert!(done && c == d, "{} {m}x{n}x{k} {ta} {tb} {beta:?}", kernels.name);
                    parts += usize::from(Costs::of::<T>(n, k, ta, tb).rows_as_they_lie(m) < m);
                }
            }
        }
        assert!(parts > 0 || kernels.narrow.is_none(), "nothing was turned");
    }

    fn turned_over<T: Scalar>(rows: usize, cols: usize, x: &[T]) -> Vec<T> {
        (0..rows * cols).map(|at| x[at / cols + at % cols * rows]).collect()
    }

    #[test]
    fn parts_are_the_same_bits() {
        check::<f32>();
        check::<f64>();
    }
}
