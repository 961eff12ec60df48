//! The vector kernels of level 1, once for all instruction sets and types, on consecutive elements.
//!
//! No alignment is assumed or looked for: the order of operations depends on the length alone, so neither the address of
//! a buffer nor a split of the work into pieces changes a bit. Contract as in `tile.rs`.

use super::elements::Elements;
use super::simd::{RealSimd, Simd};
use crate::scalar::Scalar;

/// How a loop body touches memory at element i: whole vectors, or the few elements that are left.
trait Access: Copy {
    unsafe fn load<V: Elements>(self, p: *const V::T) -> V;
    unsafe fn store<V: Elements>(self, v: V, p: *mut V::T);
}
#[derive(Clone, Copy)]
struct Whole;
#[derive(Clone, Copy)]
struct First(usize);

// Sound by the contract of `Elements`: the loop below makes `First` only of what is left.
#[allow(clippy::undocumented_unsafe_blocks)]
impl Access for Whole {
    #[inline(always)]
    unsafe fn load<V: Elements>(self, p: *const V::T) -> V {
        unsafe { V::load(p) }
    }
    #[inline(always)]
    unsafe fn store<V: Elements>(self, v: V, p: *mut V::T) {
        unsafe { v.store(p) }
    }
}
// As above.
#[allow(clippy::undocumented_unsafe_blocks)]
impl Access for First {
    #[inline(always)]
    unsafe fn load<V: Elements>(self, p: *const V::T) -> V {
        unsafe { V::reload_first(p, self.0) }
    }
    #[inline(always)]
    unsafe fn store<V: Elements>(self, v: V, p: *mut V::T) {
        unsafe { v.store_first(p, self.0) }
    }
}

/// Runs a macro `$run!(access, size)` for the less than LANES elements that are left: at once where that is free, else in
/// pieces of powers of two. (Pieces, not one vector that reaches back over elements which are done: whoever reads those
/// next, in the vectors that they were in, would wait until both stores are in the cache, and a call on few elements is
/// often followed by another on the same.)
macro_rules! in_few_pieces {
    ($V:ty, $left:expr, $run:ident) => {{
        let (left, lanes) = ($left, <$V as Elements>::LANES);
        if <$V as Elements>::MASKS_ARE_FREE || lanes > 8 {
            if left > 0 {
                $run!(First(left), left);
            }
        } else {
            if lanes > 4 && left & 4 != 0 {
                $run!(First(4), 4);
            }
            if lanes > 2 && left & 2 != 0 {
                $run!(First(2), 2);
            }
            if lanes > 1 && left & 1 != 0 {
                $run!(First(1), 1);
            }
        }
    }};
}

/// Elements in front of the first whole vector of `p` that does not begin in the middle of one of the cache's: stores across
/// two lines take twice as long. Few elements are not worth the question.
#[inline(always)]
fn lead<V: Elements>(n: usize, p: *const V::T) -> usize {
    let size = size_of::<V::T>();
    let over = p as usize % (V::LANES * size);
    if n < 16 * V::LANES || over == 0 || !over.is_multiple_of(size) { 0 } else { V::LANES - over / size }
}

/// Computes and stores, vector by vector: a few elements until `$to` is at the beginning of a vector, blocks of `$U` vectors
/// that are all computed before the first is stored, then single vectors, then what is left. (A macro, not a closure: closures do not carry the target features of the function
/// they stand in.)
macro_rules! sweep {
    ($V:ty, $U:literal, $n:expr, $to:expr, |$i:ident, $io:ident| $value:expr => |$v:ident| $store:expr) => {{
        let (n, lanes) = ($n, <$V as Elements>::LANES);
        let mut $i = 0;
        macro_rules! piece {
            ($access:expr, $size:expr) => {{
                let $io = $access;
                let $v = $value;
                $store;
                $i += $size;
            }};
        }
        let lead = lead::<$V>(n, $to);
        if lead > 0 {
            in_few_pieces!($V, lead, piece);
        }
        {
            let $io = Whole;
            while $i + $U * lanes <= n {
                let start = $i;
                let mut values = [$value; $U];
                let mut u = 1;
                while u < $U {
                    $i = start + u * lanes;
                    values[u] = $value;
                    u += 1;
                }
                u = 0;
                while u < $U {
                    $i = start + u * lanes;
                    let $v = values[u];
                    $store;
                    u += 1;
                }
                $i = start + $U * lanes;
            }
            while $i + lanes <= n {
                let $v = $value;
                $store;
                $i += lanes;
            }
        }
        in_few_pieces!($V, n - $i, piece);
        let _ = $i;
    }};
}

/// y := alpha x + y, or alpha conj(x) + y.
#[inline(always)]
pub unsafe fn axpy<V: Elements>(n: usize, alpha: V::T, x: *const V::T, conj: bool, y: *mut V::T) {
    // SAFETY: the contract of the file: n elements behind every pointer.
    unsafe {
        let f = V::factor(alpha, conj);
        sweep!(V, 4, n, y, |i, io| io.load::<V>(y.add(i)).add_product(f, io.load::<V>(x.add(i)).turned())
            => |v| io.store(v, y.add(i)));
    }
}

/// N lines at once: line l := f[l] x + line l, and with y also g[l] y.
#[inline(always)]
pub unsafe fn update_lines<V: Elements, const N: usize, const TWO: bool>(
    n: usize,
    f: &[V::Factor; N],
    x: *const V::T,
    g: &[V::Factor; N],
    y: *const V::T,
    line: &[*mut V::T; N],
) {
    // SAFETY: as above.
    unsafe {
        let mut i = 0;
        macro_rules! rows {
            ($io:expr, $size:expr) => {{
                let io = $io;
                let xv = io.load::<V>(x.add(i)).turned();
                let yv = if TWO { io.load::<V>(y.add(i)).turned() } else { xv };
                // All are read before the first is stored: lines a multiple of 4096 bytes apart look like one to the CPU, and
                // a load would wait for the store before it. (dger 512 on AVX-512: 12.8 GFLOPS one by one.)
                let mut new = [io.load::<V>(line[0].wrapping_add(i)); N];
                for l in 1..N {
                    new[l] = io.load::<V>(line[l].wrapping_add(i));
                }
                for l in 0..N {
                    new[l] = new[l].add_product(f[l], xv);
                    if TWO {
                        new[l] = new[l].add_product(g[l], yv);
                    }
                }
                for l in 0..N {
                    io.store(new[l], line[l].wrapping_add(i));
                }
                i += $size;
            }};
        }
        while i + V::LANES <= n {
            rows!(Whole, V::LANES);
        }
        in_few_pieces!(V, n - i, rows);
        let _ = i;
    }
}

/// The same of one line of n <= 4 elements; n is a constant where it is called, so that nothing is asked.
#[inline(always)]
pub unsafe fn update_few<V: Elements, const TWO: bool>(
    n: usize,
    f: V::Factor,
    x: *const V::T,
    g: V::Factor,
    y: *const V::T,
    line: *mut V::T,
) {
    // SAFETY: as above.
    unsafe {
        macro_rules! row {
            ($i:expr, $io:expr) => {{
                let (i, io) = ($i, $io);
                let mut v = io.load::<V>(line.wrapping_add(i)).add_product(f, io.load::<V>(x.add(i)).turned());
                if TWO {
                    v = v.add_product(g, io.load::<V>(y.add(i)).turned());
                }
                io.store(v, line.wrapping_add(i));
            }};
        }
        let mut i = 0;
        while i + V::LANES <= n {
            row!(i, Whole);
            i += V::LANES;
        }
        if i < n {
            row!(i, First(n - i));
        }
    }
}

/// The product of x, conjugated or not, with y, in four partial sums.
#[inline(always)]
pub unsafe fn dot<V: Elements>(n: usize, x: *const V::T, conj: bool, y: *const V::T) -> V::T {
    // SAFETY: as above.
    unsafe {
        const U: usize = 4;
        let mut acc = [V::dot_zero(); U];
        let mut i = 0;
        if n >= U * V::LANES {
            while i + U * V::LANES <= n {
                for (u, acc) in acc.iter_mut().enumerate() {
                    let at = i + u * V::LANES;
                    *acc = V::dot_step(*acc, V::load(x.add(at)), V::load(y.add(at)).turned());
                }
                i += U * V::LANES;
            }
            acc[0] = V::dot_add(V::dot_add(acc[0], acc[1]), V::dot_add(acc[2], acc[3]));
        }
        while i + V::LANES <= n {
            acc[0] = V::dot_step(acc[0], V::load(x.add(i)), V::load(y.add(i)).turned());
            i += V::LANES;
        }
        if i < n {
            let (a, b) = (V::load_first(x.add(i), n - i), V::load_first(y.add(i), n - i));
            acc[0] = V::dot_step(acc[0], a, b.turned());
        }
        V::dot_total(acc[0], conj)
    }
}

/// x := alpha x.
#[inline(always)]
pub unsafe fn scal<V: Elements>(n: usize, alpha: V::T, x: *mut V::T) {
    // SAFETY: as above.
    unsafe {
        let f = V::factor(alpha, false);
        sweep!(V, 8, n, x, |i, io| V::product(f, io.load::<V>(x.add(i)).turned()) => |v| io.store(v, x.add(i)));
    }
}

/// y := alpha x + beta y; beta == 0 never reads y.
#[inline(always)]
pub unsafe fn axpby<V: Elements>(n: usize, alpha: V::T, x: *const V::T, beta: V::T, y: *mut V::T) {
    // SAFETY: as above.
    unsafe {
        let (f, g) = (V::factor(alpha, false), V::factor(beta, false));
        if beta == V::T::ZERO {
            sweep!(V, 4, n, y, |i, io| V::product(f, io.load::<V>(x.add(i)).turned()) => |v| io.store(v, y.add(i)));
        } else {
            sweep!(V, 4, n, y, |i, io| {
                V::product(g, io.load::<V>(y.add(i)).turned()).add_product(f, io.load::<V>(x.add(i)).turned())
            } => |v| io.store(v, y.add(i)));
        }
    }
}

/// Bytes from which a copy is the C library's: two vectors that L1 does not hold. (Zen 5, GB/s read and written, our loop and
/// memmove: 16 KB 572 and 351, 32 KB 221 and 360, 64 KB 216 and 277, 128 KB 215 and 280, 1 MB and more the same.)
const FAR_COPY: usize = 24 << 10;

/// y := x.
#[inline(always)]
pub unsafe fn copy<V: Elements>(n: usize, x: *const V::T, y: *mut V::T) {
    // SAFETY: as above.
    unsafe {
        if n >= FAR_COPY / size_of::<V::T>() {
            return core::ptr::copy(x, y, n);
        }
        sweep!(V, 8, n, y, |i, io| io.load::<V>(x.add(i)) => |v| io.store(v, y.add(i)));
    }
}

/// Exchanges x and y.
#[inline(always)]
pub unsafe fn swap<V: Elements>(n: usize, x: *mut V::T, y: *mut V::T) {
    // SAFETY: as above.
    unsafe {
        sweep!(V, 4, n, y, |i, io| (io.load::<V>(x.add(i)), io.load::<V>(y.add(i))) => |v| {
            io.store(v.1, x.add(i));
            io.store(v.0, y.add(i));
        });
    }
}

/// (x, y) := (c x + s y, c y - s x).
#[inline(always)]
pub unsafe fn rot<V: Elements>(n: usize, x: *mut V::T, y: *mut V::T, c: V::T, s: V::T) {
    // SAFETY: as above.
    unsafe {
        let (c, minus, s) = (V::factor(c, false), V::factor(-s, false), V::factor(s, false));
        sweep!(V, 4, n, y, |i, io| {
            let (a, b) = (io.load::<V>(x.add(i)).turned(), io.load::<V>(y.add(i)).turned());
            (V::product(s, b).add_product(c, a), V::product(c, b).add_product(minus, a))
        } => |v| {
            io.store(v.0, x.add(i));
            io.store(v.1, y.add(i));
        });
    }
}

/// Sum of the magnitudes, in four partial sums.
#[inline(always)]
pub unsafe fn asum<V: RealSimd>(n: usize, x: *const V::T) -> V::T {
    // SAFETY: as above.
    unsafe {
        let mut sum = V::zero();
        let mut i = 0;
        if n >= 4 * V::LANES {
            let mut acc = [V::zero(); 4];
            while i + 4 * V::LANES <= n {
                for (u, a) in acc.iter_mut().enumerate() {
                    *a = a.add(V::load(x.add(i + u * V::LANES)).abs());
                }
                i += 4 * V::LANES;
            }
            sum = acc[0].add(acc[1]).add(acc[2].add(acc[3]));
        }
        while i + V::LANES <= n {
            sum = sum.add(V::load(x.add(i)).abs());
            i += V::LANES;
        }
        if i < n {
            sum = sum.add(V::load_first(x.add(i), n - i).abs());
        }
        sum.sum()
    }
}

/// Sum of the squares, in f64: for f32 neither overflow nor cancellation can touch it.
#[inline(always)]
pub unsafe fn sum_squares<V: RealSimd>(n: usize, x: *const V::T) -> f64 {
    // SAFETY: as above.
    unsafe {
        let mut sum = [V::Wide::zero(); 2];
        let mut i = 0;
        if n >= 4 * V::LANES {
            let mut acc = [sum; 4];
            while i + 4 * V::LANES <= n {
                for (u, a) in acc.iter_mut().enumerate() {
                    *a = V::load(x.add(i + u * V::LANES)).add_squares(*a);
                }
                i += 4 * V::LANES;
            }
            for part in 0..2 {
                sum[part] = acc[0][part].add(acc[1][part]).add(acc[2][part].add(acc[3][part]));
            }
        }
        while i + V::LANES <= n {
            sum = V::load(x.add(i)).add_squares(sum);
            i += V::LANES;
        }
        if i < n {
            sum = V::load_first(x.add(i), n - i).add_squares(sum);
        }
        sum[0].add(sum[1]).sum()
    }
}

/// Elements that `iamax` looks through before it asks whether the largest so far is among them.
const PIECE: usize = 1024;

/// The first element of the largest magnitude among n >= 1 reals, of which the first is not NaN; other NaNs count as
/// nothing. One pass for the piece in which it stands, then a look at that piece alone.
#[inline(always)]
pub unsafe fn iamax<V: RealSimd>(n: usize, x: *const V::T) -> usize {
    // SAFETY: as above.
    unsafe {
        let (mut largest, mut piece) = (-V::T::ONE, 0);
        let mut from = 0;
        while from < n {
            let to = if n - from > PIECE { from + PIECE } else { n };
            let mut acc = [V::zero(); 4];
            let mut i = from;
            while i + 4 * V::LANES <= to {
                for (u, a) in acc.iter_mut().enumerate() {
                    *a = a.max(V::load(x.add(i + u * V::LANES)).abs());
                }
                i += 4 * V::LANES;
            }
            while i + V::LANES <= to {
                acc[0] = acc[0].max(V::load(x.add(i)).abs());
                i += V::LANES;
            }
            if i < to {
                acc[1] = acc[1].max(V::load_first(x.add(i), to - i).abs());
            }
            let most = acc[0].max(acc[1]).max(acc[2].max(acc[3])).largest();
            if most > largest {
                (largest, piece) = (most, from);
            }
            from = to;
        }
        let wanted = V::splat(largest);
        let mut i = piece;
        while i + V::LANES <= n {
            let hits = V::load(x.add(i)).abs().equals(wanted);
            if hits != 0 {
                return i + hits.trailing_zeros() as usize;
            }
            i += V::LANES;
        }
        // Lanes without an element are zero: they come last.
        i + V::load_first(x.add(i), n - i).abs().equals(wanted).trailing_zeros() as usize
    }
}

/// The same for |re| + |im| of n complex numbers, given as 2n reals.
#[inline(always)]
pub unsafe fn iamax_complex<V: RealSimd>(n: usize, x: *const V::T) -> usize {
    // SAFETY: as above.
    unsafe {
        let (mut largest, mut piece) = (-V::T::ONE, 0);
        let n = 2 * n;
        let mut from = 0;
        while from < n {
            let to = if n - from > PIECE { from + PIECE } else { n };
            let mut acc = [V::zero(); 4];
            let mut i = from;
            while i + 4 * V::LANES <= to {
                for (u, a) in acc.iter_mut().enumerate() {
                    *a = a.max(magnitudes(V::load(x.add(i + u * V::LANES))));
                }
                i += 4 * V::LANES;
            }
            while i + V::LANES <= to {
                acc[0] = acc[0].max(magnitudes(V::load(x.add(i))));
                i += V::LANES;
            }
            if i < to {
                acc[1] = acc[1].max(magnitudes(V::load_first(x.add(i), to - i)));
            }
            let most = acc[0].max(acc[1]).max(acc[2].max(acc[3])).largest();
            if most > largest {
                (largest, piece) = (most, from);
            }
            from = to;
        }
        let wanted = V::splat(largest);
        let mut i = piece;
        while i + V::LANES <= n {
            let hits = magnitudes(V::load(x.add(i))).equals(wanted);
            if hits != 0 {
                return (i + hits.trailing_zeros() as usize) / 2;
            }
            i += V::LANES;
        }
        (i + magnitudes(V::load_first(x.add(i), n - i)).equals(wanted).trailing_zeros() as usize) / 2
    }
}

/// |re| + |im| of each number, in both of its lanes.
#[inline(always)]
unsafe fn magnitudes<V: RealSimd>(v: V) -> V {
    // SAFETY: as above.
    unsafe {
        let parts = v.abs();
        parts.add(parts.swap_pairs())
    }
}
