//! The five loops, once for all types, operands and instruction sets.
//!
//! ```text
//! jc: columns of C in panels of nc                     (B panel for L3)
//!   pc: steps of k in pieces of kc                     pack B[pc, jc]
//!     ic: rows of C in blocks of mc                    pack A[ic, pc]   (A block for L2)
//!       jr: columns in nr                              (B micro-panel for L1)
//!         ir: rows in mr                               register tile: kernel
//! ```
//! (Goto and van de Geijn 2008; Van Zee and van de Geijn 2015.) Threads share C: each takes rectangles of it and runs all
//! five loops there with panels of its own. k is never split, kc depends on k alone, and which elements are dot products on the
//! shape of the whole ([`Dots`]), so every element is the same sum in the same order whatever the number of threads. There is no barrier: whoever is late delays nobody but itself.

use super::blocking::{self, Blocks, InPlace};
use super::pack::{Format, Kernel, Operand};
use super::small;
use crate::kernels::tile::{MAX_TILE, Source};
use crate::matrix::{MatMut, MatRef, Uplo};
use crate::runtime::memory::{self, Scratch};
use crate::runtime::{cpu, pool};
use crate::scalar::Scalar;
use core::mem::MaybeUninit;

/// `C := alpha A B + beta C`, or one triangle of it.
pub struct Product<'a, T> {
    pub alpha: T,
    pub a: Operand<'a, T>,
    pub b: Operand<'a, T>,
    pub beta: T,
    pub c: MatMut<'a, T>,
    /// Only this triangle (with the diagonal) of C is computed, read and written.
    pub part: Option<Uplo>,
}

/// Columns of C up to which A is read in place, for each cache line that a column of the register tile takes, and rows up to
/// which B is. Measured: with more, the packed panel's even stream is worth its making. (AVX-512, three lines, f32, packed and
/// in place: 3136 x 64 x 576 103 and 114, 4000 x 64 x 4000 90 and 106, 3136 x 128 x 576 103 and 108, x 256 107 and 105.)
pub const FEW_COLUMNS: usize = 43;
pub const FEW_ROWS: usize = 64;

/// Columns of C up to which A is read in place.
pub fn few_columns<T: Scalar>(kernel: &Kernel<T>) -> usize {
    FEW_COLUMNS * (kernel.mr() * size_of::<T>()).div_ceil(64)
}

/// Rows or columns up to which a product is made of dot products, and steps from which it is; more if the steps are many,
/// fewer if they are not consecutive and are made so first. (Zen 4, AVX-512, GFLOPS, by tiles and by dots: sgemm TN
/// 2000 x 16 x 2000 34 and 85, 2000 x 32 x 2000 43 and 98, NN 2 x 1000 x 1000 19 and 75, 6 x 100 x 500 56 and 74, dgemm NN
/// 4 x 1000 x 1000 29 and 48. More rows are only if vectors of them are far from full: sgemm TN 16 x 2000 x 2000 105 and 93,
/// 10 x 100 x 1000 61 and 112.)
const FEW_DOTS: usize = 8;
const DOTS_FROM: usize = 64;
const MORE_DOTS: (usize, usize) = (32, 256);
const TURNED_DOTS: usize = 6;
/// Lanes of the long operand from which it pays to turn the short one over.
const TURNED_FOR: usize = 32;
/// Steps from which it pays to turn a product of few rows.
const TURNED_FROM: usize = 64;

/// Whether so few rows leave so many lanes of their vectors, or halves of them, empty that dot products are faster.
#[inline(always)]
fn are_wasteful(rows: usize, k: usize, lanes: usize) -> bool {
    let taken = rows.next_multiple_of((lanes / 2).max(1));
    rows <= MORE_DOTS.0 && k >= MORE_DOTS.1 && rows * 8 < taken * 7
}

/// Whether so few rows, for many columns with consecutive steps, are better given consecutive steps too. (Complex products are
/// not: they are busy enough meanwhile.)
#[inline(always)]
pub fn is_better_turned_to_dots<T: Scalar>(rows: usize, cols: usize, k: usize, lanes: usize) -> bool {
    k >= DOTS_FROM
        && !T::IS_COMPLEX
        && rows < cols
        && (rows <= TURNED_DOTS && cols >= 8 * rows || cols >= TURNED_FOR && are_wasteful(rows, k, lanes))
}

/// Whether a product may use the other threads.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Threads {
    Shared,
    /// The caller's thread only: it is one of several at work on a product of so many columns, of which these are a part. What
    /// decides about bits must be decided for all of them alike.
    Caller {
        cols: usize,
    },
}

/// Computes the product. C shares no memory with the operands.
pub fn run<T: Scalar>(product: Product<T>, threads: Threads) {
    let whole = match threads {
        Threads::Shared => (product.c.rows(), product.c.cols()),
        Threads::Caller { cols } => (product.c.rows(), cols),
    };
    let across = product.lies_across();
    let (product, whole) = if across { (product.t(), (whole.1, whole.0)) } else { (product, whole) };
    let (m, n) = (product.c.rows(), product.c.cols());
    debug_assert!(product.a.rows() == m && product.b.cols() == n && product.b.rows() == product.a.cols());
    if m == 0 || n == 0 {
        return;
    }
    if product.a.cols() == 0 || product.alpha == T::ZERO {
        scale(product.beta, &product.c, product.part);
        return;
    }
    let dots = product.dots_of(whole, across && threads != Threads::Shared);
    // What is small and whole sees to its last rows itself.
    let is_whole = threads == Threads::Shared;
    // Of complex products this decides about bits, of others it is asked when nothing small is left.
    let turned_complex = T::IS_COMPLEX && dots.from >= m && product.is_better_turned(whole);
    if let (Operand::General(a), Operand::General(b), None) = (product.a, product.b, product.part)
        && !turned_complex
        && (dots.from >= m || dots.from > 0 && is_whole)
        && small::run(product.alpha, a, b, product.beta, &product.c, T::kernels(), is_whole)
    {
        return;
    }
    let turned = turned_complex || !T::IS_COMPLEX && dots.from >= m && product.is_better_turned(whole);
    compute(if turned { product.t() } else { product }, is_whole, dots);
}

/// Which rows of a product are dot products: those from here on. `by_rows`: the long operand, whose steps are consecutive, is A and
/// not B.
#[derive(Clone, Copy)]
struct Dots {
    from: usize,
    by_rows: bool,
}

impl Dots {
    const NONE: Dots = Dots { from: usize::MAX, by_rows: false };
}

/// Computes the product as it lies.
fn compute<T: Scalar>(product: Product<T>, shares: bool, dots: Dots) {
    let kernel = T::kernels().gemm;
    let (m, n, k) = (product.c.rows(), product.c.cols(), product.a.cols());
    let tile = (kernel.mr(), kernel.nr(), kernel.kc());
    let in_place = product.in_place(kernel);
    let work = 2.0 * m as f64 * n as f64 * k as f64 * if T::IS_COMPLEX { 4.0 } else { 1.0 };
    let threads = if shares { pool::threads_for(work) } else { 1 };
    let head = dots.from.min(m);
    if head < m && threads == 1 {
        if head > 0 {
            compute(product.rows(head), shares, Dots::NONE);
        }
        return product.dots(kernel, head, m - head, 0, n, dots.by_rows);
    }
    // All at once: what is below would take as long to be set up as a few tiles.
    if let (Operand::General(a), Operand::General(b), true) = (product.a, product.b, in_place.b)
        && threads == 1
        && k <= kernel.kc()
        && product.c.rs() == 1
    {
        // More threads would do it another way: parts of complex products would not have the same bits.
        let in_parts = !in_place.a || !T::IS_COMPLEX && (!m.is_multiple_of(kernel.lanes()) || b.cs() == 1);
        if in_parts && small::in_parts(product.alpha, a, b, product.beta, product.c.alias(), T::kernels(), false) {
            return;
        }
        if in_place.a {
            let (a, b) = (Source::in_place(a.ptr(), 1, a.cs()), Source::in_place(b.ptr(), b.cs(), b.rs()));
            let c = &product.c;
            // SAFETY: views of m x k, k x n and m x n; A and C have unit row stride (or one row).
            return unsafe { kernel.block(m, n, k, product.alpha, a, b, product.beta, c.ptr(), c.cs()) };
        }
    }
    let scratch = blocking::scratch((m, n, k), tile, in_place, size_of::<T>(), &cpu::caches());
    let scratch = scratch.max(if product.is_turned() { product.strip_rows(kernel) * n } else { 0 });
    let allowed = scratch == 0 || memory::allows::<T>(scratch);
    let (rows, cols) = if product.part.is_some() && threads > 1 {
        // Rectangles of a triangle differ in work: more of them, taken in turn.
        (1, (4 * threads).min(n.div_ceil(kernel.nr())))
    } else {
        blocking::grid(threads, m, n, kernel.mr(), kernel.nr())
    };
    let mt = m.div_ceil(rows).next_multiple_of(kernel.mr());
    let nt = n.div_ceil(cols).next_multiple_of(kernel.nr());
    let (rows, cols) = (m.div_ceil(mt), n.div_ceil(nt));
    pool::run(rows * cols, threads, &|task| {
        let (i, j) = (task % rows * mt, task / rows * nt);
        let (mt, nt) = (mt.min(m - i), nt.min(n - j));
        let end = i + mt;
        if end > head {
            product.dots(kernel, head.max(i), end - head.max(i), j, nt, dots.by_rows);
        }
        let mt = head.saturating_sub(i).min(mt);
        if mt == 0 {
            // Dot products, all of it.
        } else if allowed && product.is_turned() {
            product.strips(kernel, in_place, i, mt, j, nt);
        } else if allowed {
            product.rectangle(kernel, in_place, i, mt, j, nt);
        } else {
            product.without_scratch(i, mt, j, nt);
        }
    });
}

impl<'a, T: Scalar> Product<'a, T> {
    /// Whether the transposed product is the one whose rows of C are at consecutive addresses.
    fn lies_across(&self) -> bool {
        let (rs, cs) = (self.c.rs(), self.c.cs());
        rs != 1 && (cs == 1 || rs.unsigned_abs() > cs.unsigned_abs())
    }

    /// The transposed product: (AB)^T = B^T A^T.
    fn t(self) -> Self {
        Product { a: self.b.t(), b: self.a.t(), c: self.c.t(), part: self.part.map(Uplo::t), ..self }
    }

    /// The first rows of the product, which is of general operands.
    fn rows(&self, rows: usize) -> Product<'_, T> {
        let Operand::General(a) = self.a else { unreachable!("no other is cut") };
        let (k, n) = (a.cols(), self.c.cols());
        let (a, c) = (Operand::General(a.sub(0, 0, rows, k)), self.c.sub(0, 0, rows, n));
        Product { alpha: self.alpha, a, b: self.b, beta: self.beta, c, part: None }
    }

    /// Which rows are better computed as dot products, if the whole product has so many rows and columns: decided for it, since bits
    /// must not depend on how threads cut it. `rows_are_cut`: these are some of its rows, nobody knows which.
    fn dots_of(&self, whole: (usize, usize), rows_are_cut: bool) -> Dots {
        let (Operand::General(a), Operand::General(b), None) = (self.a, self.b, self.part) else { return Dots::NONE };
        if self.is_better_by_dots(whole) {
            return Dots { from: 0, by_rows: whole.0 >= whole.1 };
        }
        let from = small::rows_before_dots((whole.0, whole.1, a.cols()), a, b);
        if rows_are_cut || from == whole.0 { Dots::NONE } else { Dots { from, by_rows: false } }
    }

    /// Whether few dot products for each lane of the long operand, whose steps are consecutive. `rows` and `cols` are those of the
    /// whole product.
    fn is_better_by_dots(&self, (rows, cols): (usize, usize)) -> bool {
        let (Operand::General(a), Operand::General(b)) = (self.a, self.b) else { return false };
        let k = a.cols();
        // Steps of the long operand, steps and lanes of the short one.
        let (long, short, lane) = if rows >= cols { (a.cs(), b.rs(), b.cs()) } else { (b.rs(), a.cs(), a.rs()) };
        if a.is_conj() || b.is_conj() || long != 1 || self.part.is_some() || k < DOTS_FROM {
            return false;
        }
        let (few, lanes) = (rows.min(cols), T::kernels().single.0);
        let many_steps = k >= MORE_DOTS.1 && !T::IS_COMPLEX;
        match short {
            1 if rows >= cols => few <= if many_steps { MORE_DOTS.0 } else { FEW_DOTS },
            1 => few <= FEW_DOTS || many_steps && are_wasteful(rows, k, lanes),
            _ if lane != 1 => false,
            _ if rows >= cols => {
                let many_rows =
                    rows >= 8 * cols || rows <= FEW_ROWS && small::are_cheaper_dots::<T>((rows, cols, k), a, b, cols);
                few <= if many_steps { MORE_DOTS.0 } else { TURNED_DOTS } && many_rows && !T::IS_COMPLEX
            }
            _ => is_better_turned_to_dots::<T>(rows, cols, k, lanes),
        }
    }

    /// Rows i..i+m and columns j..j+n of C by dot products; see [`Dots`].
    fn dots(&self, kernel: &Kernel<T>, i: usize, m: usize, j: usize, n: usize, by_rows: bool) {
        let (Operand::General(a), Operand::General(b)) = (self.a, self.b) else { unreachable!("no other has dots") };
        let (k, alpha, beta) = (a.cols(), self.alpha, self.beta);
        let (a, b, c) = (a.sub(i, 0, m, k), b.sub(0, j, k, n), self.c.sub(i, j, m, n));
        let (rows, cols) = ((a.ptr(), a.rs()), (b.ptr(), b.cs()));
        let (lanes, long, strides) = if by_rows { (m, rows, (c.rs(), c.cs())) } else { (n, cols, (c.cs(), c.rs())) };
        // The short operand: how many, where, and from one step to the next.
        let (few, mut short, step) = if by_rows { (n, cols, b.rs()) } else { (m, rows, a.cs()) };
        let width = k.next_multiple_of(kernel.lanes());
        let scratch = if step == 1 { None } else { Scratch::take_for::<T>(few * width) };
        if let Some(scratch) = &scratch {
            // SAFETY: k steps of few lanes each; the scratch has room for as many lanes of `width` steps.
            unsafe { kernel.turn(k, few, short.0, step, scratch.ptr(), width as isize) };
            short = (scratch.ptr::<T>().cast_const(), width as isize);
        } else if step != 1 {
            return self.without_scratch(i, m, j, n);
        }
        // SAFETY: lanes of A and B with consecutive steps, and their part of C.
        unsafe { kernel.dots(lanes, few, k, alpha, long, short, beta, c.ptr(), strides) }
    }

    /// Whether few rows times a B with consecutive rows: B is better read as the operand that comes in vectors. The product
    /// is computed transposed then, although that is not how C lies.
    fn is_better_turned(&self, whole: (usize, usize)) -> bool {
        let (m, n, k) = (self.c.rows(), self.c.cols(), self.a.cols());
        let by_rows =
            matches!((self.a, self.b), (Operand::General(_), Operand::General(b)) if b.cs() == 1 && b.rs() != 1);
        if !by_rows || self.part.is_some() || self.c.rs() != 1 || m > FEW_COLUMNS {
            return false;
        }
        if let (Operand::General(a), Operand::General(b), true) = (self.a, self.b, T::IS_COMPLEX) {
            // The terms of complex products are added in another order when they change places: decided for the whole.
            return small::is_better_turned_complex((whole.0, whole.1, k), a, b);
        }
        n >= 4 * m && (k >= TURNED_FROM || small::is_better_turned::<T>((m, n, k), self.a_is_across(), true))
    }

    /// Whether the rows of a general A are not at consecutive addresses.
    fn a_is_across(&self) -> bool {
        self.a.general().is_some_and(|a| a.rs() != 1)
    }

    /// Whether this product was turned.
    fn is_turned(&self) -> bool {
        self.part.is_none() && self.c.cs() == 1 && self.c.rs() != 1 && self.c.cols() <= FEW_COLUMNS && self.c.rows() > 1
    }

    /// Rows of a turned product that are computed at a time.
    fn strip_rows(&self, kernel: &Kernel<T>) -> usize {
        let most = cpu::caches().l2 / 2 / size_of::<T>() / self.c.cols().max(1);
        most.min(self.c.rows()).next_multiple_of(kernel.mr())
    }

    /// As `rectangle`, of a turned product: by tiles that are turned over on their way into C, or of packed operands in strips of
    /// rows, which are computed apart, with unit row stride.
    fn strips(&self, kernel: &Kernel<T>, in_place: InPlace, i: usize, m: usize, j: usize, n: usize) {
        let (Operand::General(a), Operand::General(b)) = (self.a, self.b) else { unreachable!("no other is turned") };
        let (k, strip) = (a.cols(), self.strip_rows(kernel));
        // An A that is conjugated would have to be packed: the conjugate of all is computed instead.
        let conj = a.is_conj();
        let (a, b) = (a.conj_if(conj), b.conj_if(conj));
        let (alpha, beta) = (self.alpha.conj_if(conj), self.beta.conj_if(conj));
        if in_place.a && in_place.b && !T::IS_COMPLEX {
            let (a, b, c) = (a.sub(i, 0, m, k), b.sub(0, j, k, n), self.c.sub(i, j, m, n));
            let (from_a, from_b) = (Source::in_place(a.ptr(), 1, a.cs()), Source::in_place(b.ptr(), b.cs(), b.rs()));
            let (kc, mut beta) = (blocking::kc(k, kernel.kc()), self.beta);
            for p in (0..k).step_by(kc) {
                let (a, b) = (from_a.from(0, p), from_b.from(0, p));
                // SAFETY: views of m x k, k x n and m x n; A has unit row stride, C unit column stride.
                unsafe { kernel.turned(m, n, kc.min(k - p), self.alpha, a, b, beta, c.ptr(), c.rs()) };
                beta = T::ONE;
            }
            return;
        }
        let Some(scratch) = Scratch::take_for::<T>(strip * n) else {
            return self.without_scratch(i, m, j, n);
        };
        for ic in (i..i + m).step_by(strip) {
            let rows = strip.min(i + m - ic);
            // SAFETY: rows x n elements of scratch, used by this thread alone.
            let sum = unsafe { MatMut::new(scratch.ptr::<T>(), rows, n, 1, rows as isize) };
            let (a, b) = (Operand::General(a.sub(ic, 0, rows, k)), Operand::General(b.sub(0, j, k, n)));
            let part = Product { alpha, a, b, beta, c: sum.alias(), part: None };
            let c = self.c.sub(ic, j, rows, n);
            // SAFETY: rows x n elements of C, whose columns are one element apart, and of scratch, all of which are written before
            // they are read.
            unsafe {
                if beta != T::ZERO {
                    kernel.turn(rows, n, c.ptr(), c.rs(), sum.ptr(), rows as isize);
                    conj_all(sum.ptr(), if conj { rows * n } else { 0 });
                }
                part.rectangle(kernel, in_place, 0, rows, 0, n);
                conj_all(sum.ptr(), if conj { rows * n } else { 0 });
                kernel.turn(n, rows, sum.ptr(), rows as isize, c.ptr(), c.rs());
            }
        }
    }

    /// Which operands are better read where they are than packed: those that are used a few times only, and those that
    /// a cache near by holds.
    fn in_place(&self, kernel: &Kernel<T>) -> InPlace {
        let by_tiles = self.part.is_some() || self.a.is_triangular() || self.b.is_triangular();
        if by_tiles || self.c.rs() != 1 && !self.is_turned() {
            return InPlace::NEITHER;
        }
        let (m, n, k) = (self.c.rows(), self.c.cols(), self.a.cols());
        let element = size_of::<T>();
        let caches = cpu::caches();
        let bytes = |x: usize, y: usize| x.saturating_mul(y).saturating_mul(element);
        let near = |b: MatRef<T>| {
            // Rows of B across its columns: a line of the cache is used piece by piece.
            let b_near = if b.rs() == 1 { caches.l2 / 4 } else { caches.l2 / 8 };
            bytes(m, k) <= caches.l2 / 4 && bytes(k, n) <= b_near
        };
        // What [`Product::strips`] conjugates.
        let conj = self.is_turned() && self.a.general().is_some_and(|a| a.is_conj());
        let spreads = |stride: isize| blocking::spreads(stride, element, k.min(kernel.kc()), &caches);
        let a_in_place = self.a.general().is_some_and(|a| {
            let near = self.b.general().is_some_and(near);
            (a.rs() == 1 || m == 1) && a.is_conj() == conj && spreads(a.cs()) && (near || n <= few_columns(kernel))
        });
        let b_in_place = self.b.general().is_some_and(|b| {
            let few = m <= FEW_ROWS && (b.rs() == 1 || b.cs() == 1 && spreads(b.rs()));
            // Columns of a turned product that are more than packing them would read at a time. (Zen 5, GFLOPS, packed and in place: dgemm TT
            // 9 x 155 x 479 64 and 94, sgemm TT 7 x 1000 x 300 227 and 195.)
            let narrow = self.is_turned() && !T::IS_COMPLEX && n > 8 && b.rs() == 1 && bytes(k, n) <= caches.l2 / 8;
            b.is_conj() == conj && (near(b) || few || narrow)
        });
        let b_by_columns = self.b.general().is_none_or(|b| b.rs() == 1);
        InPlace { a: a_in_place, b: b_in_place, b_by_columns }
    }

    /// Rows i..i+m and columns j..j+n of C on the current thread.
    fn rectangle(&self, kernel: &Kernel<T>, in_place: InPlace, i: usize, m: usize, j: usize, n: usize) {
        let k = self.a.cols();
        let (mr, nr) = (kernel.mr(), kernel.nr());
        let Blocks { mc, kc, nc } =
            blocking::blocks((m, n, k), (mr, nr, kernel.kc()), in_place, size_of::<T>(), &cpu::caches());
        let (a_room, b_room) = (if in_place.a { 0 } else { kc * mc }, if in_place.b { 0 } else { kc * nc });
        let Some(scratch) = Scratch::take_for::<T>(a_room + b_room) else {
            return self.without_scratch(i, m, j, n);
        };
        let a_block = scratch.ptr::<T>();
        let b_panel = a_block.wrapping_add(a_room);
        let by_tiles = self.part.is_some() || self.c.rs() != 1 || self.a.is_triangular() || self.b.is_triangular();
        // Loop 5: columns
        for jc in (j..j + n).step_by(nc) {
            let n5 = nc.min(j + n - jc);
            // Loop 4: steps
            for pc in (0..k).step_by(kc) {
                let k4 = kc.min(k - pc);
                let beta = if pc == 0 { self.beta } else { T::ONE };
                let b = match self.b {
                    Operand::General(b) if in_place.b => {
                        let b = b.sub(pc, jc, k4, n5);
                        Source::in_place(b.ptr(), b.cs(), b.rs())
                    }
                    _ => {
                        // SAFETY: the panel has room for kc * nc elements, nc a multiple of nr.
                        unsafe { self.b.t().pack_block(kernel, Format::B, jc, n5, pc, k4, b_panel) };
                        Source::panels(b_panel, k4, nr)
                    }
                };
                // Loop 3: rows
                for ic in (i..i + m).step_by(mc) {
                    let m3 = mc.min(i + m - ic);
                    if self.is_outside(ic, m3, jc, n5) {
                        continue;
                    }
                    let a = match self.a {
                        Operand::General(a) if in_place.a => {
                            let a = a.sub(ic, pc, m3, k4);
                            Source::in_place(a.ptr(), 1, a.cs())
                        }
                        _ => {
                            // SAFETY: the block has room for mc * kc elements, mc a multiple of mr.
                            unsafe { self.a.pack_block(kernel, Format::A, ic, m3, pc, k4, a_block) };
                            Source::panels(a_block, k4, mr)
                        }
                    };
                    if !by_tiles {
                        let c = self.c.sub(ic, jc, m3, n5);
                        // SAFETY: panels that were packed above, or parts of the operands; C has unit row stride.
                        unsafe { kernel.block(m3, n5, k4, self.alpha, a, b, beta, c.ptr(), c.cs()) };
                        continue;
                    }
                    // Loop 2: columns of the register tile
                    for jr in (0..n5).step_by(nr) {
                        // Tiles clear of the diagonal at once.
                        let clear = self.clear_rows(ic, m3, mr, jc + jr, nr.min(n5 - jr));
                        if !clear.is_empty() {
                            let (from, m) = (clear.start, clear.len());
                            let c = self.c.sub(ic + from, jc + jr, m, nr.min(n5 - jr));
                            let a = Source::panels(a_block.wrapping_add(from * k4), k4, mr);
                            let b = Source::panels(b_panel.wrapping_add(jr * k4), k4, nr);
                            // SAFETY: the panels were packed above; C has unit row stride.
                            unsafe { kernel.block(m, c.cols(), k4, self.alpha, a, b, beta, c.ptr(), c.cs()) };
                        }
                        // Loop 1: rows of the register tile
                        for ir in (0..m3).step_by(mr).filter(|ir| !clear.contains(ir)) {
                            let tile = Tile { i: ic + ir, m: mr.min(m3 - ir), j: jc + jr, n: nr.min(n5 - jr) };
                            let steps = self.steps(tile, pc, k4);
                            let a = a_block.wrapping_add(ir * k4 + steps.start * mr);
                            let b = b_panel.wrapping_add(jr * k4 + steps.start * nr);
                            // SAFETY: the panels were packed above.
                            unsafe { self.tile(kernel, steps.len(), a, b, beta, tile) };
                        }
                    }
                }
            }
        }
    }

    /// One register tile of C.
    ///
    /// # Safety
    /// `a` and `b` are packed panels of k steps.
    #[inline]
    unsafe fn tile(&self, kernel: &Kernel<T>, k: usize, a: *const T, b: *const T, beta: T, t: Tile) {
        let (a, b) = (Source::panels(a, k, kernel.mr()), Source::panels(b, k, kernel.nr()));
        let whole = self.part.is_none() || self.is_inside(t.i, t.m, t.j, t.n);
        if whole && self.c.rs() == 1 {
            let c = self.c.ptr().wrapping_offset(t.i as isize + t.j as isize * self.c.cs());
            // SAFETY: an m x n part of C, with unit row stride.
            unsafe { kernel.block(t.m, t.n, k, self.alpha, a, b, beta, c, self.c.cs()) };
            return;
        }
        if !whole && self.is_outside(t.i, t.m, t.j, t.n) {
            return;
        }
        // On the diagonal, or with rows that are not at consecutive addresses: the same operations on a copy. Vectors of
        // rows that are not wanted at all are left out.
        let (skip, m) = match self.part {
            None => (0, t.m),
            Some(Uplo::Upper) => (0, t.m.min(t.j + t.n - t.i)),
            Some(Uplo::Lower) => (t.j.saturating_sub(t.i) / kernel.lanes() * kernel.lanes(), t.m),
        };
        let mut copy = [const { MaybeUninit::<T>::uninit() }; MAX_TILE];
        let copy = copy.as_mut_ptr().cast::<T>();
        let ld = kernel.mr();
        assert!(ld * kernel.nr() <= MAX_TILE);
        // The wanted rows of a column.
        let wanted = |j: usize| match self.part {
            None => 0..t.m,
            Some(Uplo::Upper) => 0..(t.j + j + 1).saturating_sub(t.i).min(t.m),
            Some(Uplo::Lower) => (t.j + j).saturating_sub(t.i).min(t.m)..t.m,
        };
        let (rs, cs) = (self.c.rs(), self.c.cs());
        let column = |j: usize| self.c.ptr().wrapping_offset(t.i as isize * rs + (t.j + j) as isize * cs);
        let read = beta != T::ZERO;
        // SAFETY: the copy holds ld x nr elements, ld >= m, all written before they are read; C has the wanted ones.
        unsafe {
            if read {
                for at in 0..ld * t.n {
                    copy.add(at).write(T::ZERO);
                }
                for j in 0..t.n {
                    let from = column(j);
                    for i in wanted(j) {
                        *copy.add(i + j * ld) = *from.wrapping_offset(i as isize * rs);
                    }
                }
            }
            let a = Source { ptr: a.ptr.add(skip), ..a };
            kernel.block(m - skip, t.n, k, self.alpha, a, b, beta, copy.add(skip), ld as isize);
            for j in 0..t.n {
                let to = column(j);
                for i in wanted(j) {
                    *to.wrapping_offset(i as isize * rs) = *copy.add(i + j * ld);
                }
            }
        }
    }

    /// Which of the k steps from pc on can differ from zero in this tile: all, unless an operand is triangular.
    #[inline]
    fn steps(&self, t: Tile, pc: usize, k: usize) -> core::ops::Range<usize> {
        let a = self.a.steps_of_rows(t.i, t.m);
        let b = self.b.steps_of_cols(t.j, t.n);
        let from = a.start.max(b.start).saturating_sub(pc).min(k);
        let to = a.end.min(b.end).saturating_sub(pc).min(k);
        from..to.max(from)
    }

    /// Of m rows from i on, those in tiles of which all n elements from column j on are wanted, as distances from i; none
    /// if C or an operand needs a look at each tile.
    #[inline]
    fn clear_rows(&self, i: usize, m: usize, mr: usize, j: usize, n: usize) -> core::ops::Range<usize> {
        if self.c.rs() != 1 || self.a.is_triangular() || self.b.is_triangular() {
            return 0..0;
        }
        match self.part {
            None => 0..m,
            Some(Uplo::Upper) if j + 1 >= i + m => 0..m,
            Some(Uplo::Upper) => 0..(j + 1).saturating_sub(i) / mr * mr,
            Some(Uplo::Lower) => (j + n - 1).saturating_sub(i).next_multiple_of(mr).min(m)..m,
        }
    }

    /// Whether no element of this rectangle is wanted.
    #[inline]
    fn is_outside(&self, i: usize, m: usize, j: usize, n: usize) -> bool {
        match self.part {
            None => false,
            Some(Uplo::Upper) => i > j + n - 1,
            Some(Uplo::Lower) => i + m - 1 < j,
        }
    }

    /// Whether all elements of this rectangle are wanted.
    #[inline]
    fn is_inside(&self, i: usize, m: usize, j: usize, n: usize) -> bool {
        match self.part {
            None => true,
            Some(Uplo::Upper) => i + m - 1 <= j,
            Some(Uplo::Lower) => i >= j + n - 1,
        }
    }

    /// The definition of the product, for when scratch memory is not allowed, or there is none to be had.
    #[cold]
    fn without_scratch(&self, i: usize, m: usize, j: usize, n: usize) {
        let mut c = self.c.alias();
        for col in j..j + n {
            for row in i..i + m {
                if self.is_outside(row, 1, col, 1) {
                    continue;
                }
                let mut sum = T::ZERO;
                for p in 0..self.a.cols() {
                    sum += self.a.get(row, p) * self.b.get(p, col);
                }
                let old = if self.beta == T::ZERO { T::ZERO } else { self.beta * c.get(row, col) };
                c.set(row, col, self.alpha * sum + old);
            }
        }
    }
}

/// The conjugates of n elements.
///
/// # Safety
/// As many are there.
pub unsafe fn conj_all<T: Scalar>(x: *mut T, n: usize) {
    for i in 0..n {
        // SAFETY: as this function's.
        unsafe { *x.add(i) = (*x.add(i)).conj() };
    }
}

/// A register tile's place in C.
#[derive(Clone, Copy)]
struct Tile {
    i: usize,
    m: usize,
    j: usize,
    n: usize,
}

/// C := beta C on the wanted part; beta == 0 never reads C.
pub fn scale<T: Scalar>(beta: T, c: &MatMut<T>, part: Option<Uplo>) {
    if beta == T::ONE {
        return;
    }
    if part.is_none() && c.rs() != 1 && c.cs() == 1 {
        return scale(beta, &c.alias().t(), None);
    }
    let mut c = c.alias();
    for j in 0..c.cols() {
        let (from, to) = match part {
            None => (0, c.rows()),
            Some(Uplo::Upper) => (0, c.rows().min(j + 1)),
            Some(Uplo::Lower) => (j.min(c.rows()), c.rows()),
        };
        if beta != T::ZERO && c.rs() == 1 {
            // SAFETY: rows from..to of column j, at consecutive addresses.
            unsafe { T::kernels().lines.scal(to - from, beta, c.col(j).ptr().add(from)) };
            continue;
        }
        for i in from..to {
            let x = if beta == T::ZERO { T::ZERO } else { beta * c.get(i, j) };
            c.set(i, j, x);
        }
    }
}
