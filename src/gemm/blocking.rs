//! Block sizes: pure functions of the register tile, the caches and the problem.
//!
//! As in BLIS: a block of A (mc x kc) stays in L2, a micro-panel of B (kc x nr) in L1, a panel of B (kc x nc) in L3. kc is
//! chosen from k alone: how a sum is cut decides its bits, and those must not depend on threads or on m and n.

use crate::runtime::cpu::Caches;

/// Sizes of the blocks of one product.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Blocks {
    pub mc: usize,
    pub kc: usize,
    pub nc: usize,
}

/// Most bytes that one thread's packed panel of B may have.
const B_PANEL: usize = 4 << 20;

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
    element: usize,
    caches: &Caches,
) -> Blocks {
    let kc = kc(k, kc_max);
    let (mc_max, nc_max) = largest(kc, mr, nr, element, caches);
    Blocks { mc: even_pieces(m, mc_max, mr), kc, nc: even_pieces(n, nc_max, nr) }
}

/// The most elements of scratch that any rectangle of an m x n result asks for. It grows with m and n, so a rectangle
/// never asks for more than the whole.
pub fn scratch(
    (m, n, k): (usize, usize, usize),
    (mr, nr, kc_max): (usize, usize, usize),
    element: usize,
    caches: &Caches,
) -> usize {
    let kc = kc(k, kc_max);
    let (mc_max, nc_max) = largest(kc, mr, nr, element, caches);
    kc * (m.next_multiple_of(mr).min(mc_max) + n.next_multiple_of(nr).min(nc_max))
}

/// The largest mc and nc for a kc.
fn largest(kc: usize, mr: usize, nr: usize, element: usize, caches: &Caches) -> (usize, usize) {
    let row = kc.max(1) * element;
    let mc = round_down(caches.l2 * 5 / 8 / row, mr).max(mr);
    let nc = round_down((caches.l3 / 4).min(B_PANEL) / row, nr).max(nr);
    (mc, nc)
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
/// smaller than a register tile.
pub fn grid(threads: usize, m: usize, n: usize, mr: usize, nr: usize) -> (usize, usize) {
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
            let b = blocks((m, n, k), (16, 6, 384), 4, &CACHES);
            assert!(b.mc.is_multiple_of(16) && b.nc.is_multiple_of(6), "{b:?}");
            assert!(b.kc * (b.mc + b.nc) <= scratch((m, n, k), (16, 6, 384), 4, &CACHES), "{b:?}");
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
        assert_eq!(grid(4, 10, 4000, 16, 6), (1, 4));
        assert_eq!(grid(4, 4000, 4, 16, 6), (4, 1));
    }
}
