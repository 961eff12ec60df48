//! Block sizes: pure functions of the register tile, the caches and the problem.
//!
//! As in BLIS: a block of A (mc x kc) stays in L2, a micro-panel of B (kc x nr) in L1, a panel of B (kc x nc) in L3. kc is
//! chosen from k alone: how a sum is cut decides its bits, and those must not depend on how threads cut m and n.

use crate::runtime::cpu::Caches;
use crate::scalar::Scalar;

/// Sizes of the blocks of one product.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Blocks {
    pub mc: usize,
    pub kc: usize,
    pub nc: usize,
}

/// Which operands are read where they are, without packing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct InPlace {
    pub a: bool,
    pub b: bool,
    /// B's columns, not its rows, lie at consecutive addresses.
    pub b_by_columns: bool,
}

impl InPlace {
    pub const NEITHER: InPlace = InPlace { a: false, b: false, b_by_columns: true };
}

/// Columns of a B that is read in place, if A's block is packed anew for each piece of columns.
const STREAMED_TO_PACKED: usize = 384;

/// Rows of C up to which the panel of B is kept in L2.
const FEW_ROWS: usize = 96;

/// Most bytes that one thread's packed panel of B may have.
const B_PANEL: usize = 4 << 20;

/// Lines of a cache that hold elements `stride` apart: a stride that is a multiple of a large power of two puts them in a
/// few of its sets.
fn places(stride: isize, element: usize, cache: usize, ways: usize) -> usize {
    let apart = stride.unsigned_abs().saturating_mul(element);
    ((cache / ways) >> apart.trailing_zeros().clamp(6, 30)).max(1) * ways
}

/// Whether L2 holds twice so many lines that are `stride` elements apart.
pub fn spreads(stride: isize, element: usize, lines: usize, caches: &Caches) -> bool {
    2 * lines <= places(stride, element, caches.l2, 8)
}

/// Whether so many lines that are `stride` elements apart stay in L1, of which a way is a page, while a tile passes over
/// them. Complex tiles compute long enough not to mind.
pub fn stays_near<T: Scalar>(stride: isize, lines: usize, caches: &Caches) -> bool {
    T::IS_COMPLEX || lines <= places(stride, size_of::<T>(), caches.l1, (caches.l1 >> 12).max(1))
}

/// k in equal pieces of at most `kc_max`.
pub fn kc(k: usize, kc_max: usize) -> usize {
    if k <= kc_max {
        return k;
    }
    let pieces = k.div_ceil(kc_max);
    // A multiple of 4 keeps panels aligned; the last piece is the smaller one.
    k.div_ceil(pieces).next_multiple_of(4).min(kc_max)
}

/// Blocks for an m x n result (of one thread) and k steps.
pub fn blocks(
    (m, n, k): (usize, usize, usize),
    (mr, nr, kc_max): (usize, usize, usize),
    in_place: InPlace,
    element: usize,
    caches: &Caches,
) -> Blocks {
    let kc = kc(k, kc_max);
    let (mc_max, nc_max) = largest((m, k), kc, (mr, nr), in_place, element, caches);
    Blocks { mc: even_pieces(m, mc_max, mr), kc, nc: even_pieces(n, nc_max, nr) }
}

/// The most elements of scratch that any rectangle of an m x n result asks for. It grows with m and n, so a rectangle
/// never asks for more than the whole.
pub fn scratch(
    (m, n, k): (usize, usize, usize),
    (mr, nr, kc_max): (usize, usize, usize),
    in_place: InPlace,
    element: usize,
    caches: &Caches,
) -> usize {
    let kc = kc(k, kc_max);
    let (mc_max, nc_max) = largest((m, k), kc, (mr, nr), in_place, element, caches);
    let rows = if in_place.a { 0 } else { m.next_multiple_of(mr).min(mc_max) };
    let cols = if in_place.b { 0 } else { n.next_multiple_of(nr).min(nc_max) };
    kc * (rows + cols)
}

/// The largest mc and nc for a kc.
fn largest(
    (m, k): (usize, usize),
    kc: usize,
    (mr, nr): (usize, usize),
    in_place: InPlace,
    element: usize,
    caches: &Caches,
) -> (usize, usize) {
    let row = kc.max(1) * element;
    let mc = round_down(caches.l2 * 5 / 8 / row, mr).max(mr);
    // A panel of B that few rows use is better read from L2, where it was written.
    let panel = if m <= FEW_ROWS { caches.l2 / 2 } else { (caches.l3 / 4).min(B_PANEL) };
    let nc = round_down(panel / row, nr).max(nr);
    const ALL: usize = usize::MAX / 4;
    match in_place {
        InPlace { a: false, b: false, .. } => (mc, nc),
        InPlace { a: true, b: false, .. } => (round_down(ALL, mr), nc),
        InPlace { a: false, b: true, .. } => (mc, STREAMED_TO_PACKED.next_multiple_of(nr)),
        // All of k for a few columns: they stream in whole.
        InPlace { a: true, b: true, b_by_columns: true } if k > kc => (round_down(ALL, mr), 2 * nr),
        InPlace { a: true, b: true, .. } => (round_down(ALL, mr), round_down(ALL, nr)),
    }
}

/// `len` in equal pieces of at most `max`, a multiple of `unit`.
fn even_pieces(len: usize, max: usize, unit: usize) -> usize {
    let pieces = len.div_ceil(max).max(1);
    len.div_ceil(pieces).next_multiple_of(unit).clamp(unit, max)
}

fn round_down(x: usize, unit: usize) -> usize {
    x / unit * unit
}

/// Rows and columns of tasks that `threads` threads share an m x n result by: the grid with the least to pack, none
/// smaller than a register tile. Tiles that are cut in pieces have too few accumulators to keep a core busy: half a tile for
/// each task is the least.
pub fn grid(threads: usize, m: usize, n: usize, mr: usize, nr: usize) -> (usize, usize) {
    let threads = threads.min((m.saturating_mul(n) / (mr * nr).div_ceil(2)).max(1));
    let (most_rows, most_cols) = (m.div_ceil(mr).max(1), n.div_ceil(nr).max(1));
    let mut best = (1, threads.min(most_cols));
    let mut least = f64::INFINITY;
    for rows in 1..=threads.min(most_rows) {
        let cols = (threads / rows).clamp(1, most_cols);
        // time ~ work of the largest task, plus what it packs (a packed element costs about as much as 8 products)
        let (tm, tn) = (m.div_ceil(rows) as f64, n.div_ceil(cols) as f64);
        let cost = tm * tn + 8.0 * (tm + tn);
        if cost < least {
            least = cost;
            best = (rows, cols);
        }
    }
    best
}

#[cfg(test)]
mod tests {
    use super::*;
    const CACHES: Caches = Caches { l1: 32 << 10, l2: 512 << 10, l3: 32 << 20 };
    const PACKED: InPlace = InPlace::NEITHER;

    #[test]
    fn kc_covers_k_in_pieces_of_at_most_the_maximum() {
        for k in 0..3000 {
            let piece = kc(k, 256);
            assert!(piece <= 256 && (k == 0 || piece > 0), "k={k} piece={piece}");
            assert!(k <= 256 || piece * k.div_ceil(256) >= k, "k={k} piece={piece}");
        }
    }

    #[test]
    fn blocks_are_multiples_of_the_tile_and_fit_the_caches() {
        for &(m, n, k) in &[(1, 1, 1), (2048, 2048, 2048), (17, 4096, 9), (100_000, 3, 100_000), (5, 5, 0)] {
            let b = blocks((m, n, k), (16, 6, 384), PACKED, 4, &CACHES);
            assert!(b.mc.is_multiple_of(16) && b.nc.is_multiple_of(6), "{b:?}");
            assert!(b.kc * (b.mc + b.nc) <= scratch((m, n, k), (16, 6, 384), PACKED, 4, &CACHES), "{b:?}");
            assert!(b.mc * b.kc * 4 <= 512 << 10 && b.nc * b.kc * 4 <= B_PANEL, "{b:?}");
        }
    }

    #[test]
    fn grid_uses_all_threads_where_the_result_is_large() {
        assert_eq!(grid(1, 100, 100, 16, 6), (1, 1));
        for threads in [2, 3, 4, 6, 8, 16] {
            let (rows, cols) = grid(threads, 2000, 2000, 16, 6);
            assert!(rows * cols <= threads && rows * cols * 4 >= threads * 3, "{threads}: {rows}x{cols}");
        }
        assert_eq!(grid(2, 8, 8, 16, 6), (1, 1));
        assert_eq!(grid(2, 16, 16, 16, 6), (1, 2));
        assert_eq!(grid(4, 10, 4000, 16, 6), (1, 4));
        assert_eq!(grid(4, 4000, 4, 16, 6), (4, 1));
    }
}
