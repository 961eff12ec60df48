//! The vector kernels of level 1 and 2, once for all instruction sets and types, on consecutive elements.
//!
//! No alignment is assumed or looked for: the order of operations depends on the length alone, so neither the address of
//! a buffer nor a split of the work into pieces changes a bit. Contract as in `tile.rs`.

use super::simd::{RealSimd, Simd};
use crate::scalar::{Real, Scalar};

/// How a loop body touches memory at element i: whole vectors, or the few elements that are left.
trait Access: Copy {
    unsafe fn load<V: Simd>(self, p: *const V::T) -> V;
    unsafe fn store<V: Simd>(self, v: V, p: *mut V::T);
}
#[derive(Clone, Copy)]
struct Whole;
#[derive(Clone, Copy)]
struct First(usize);

// Sound by the contract of `Simd`: the loop below makes `First` only of what is left.
#[allow(clippy::undocumented_unsafe_blocks)]
impl Access for Whole {
    #[inline(always)]
    unsafe fn load<V: Simd>(self, p: *const V::T) -> V {
        unsafe { V::load(p) }
    }
    #[inline(always)]
    unsafe fn store<V: Simd>(self, v: V, p: *mut V::T) {
        unsafe { v.store(p) }
    }
}
// As above.
#[allow(clippy::undocumented_unsafe_blocks)]
impl Access for First {
    #[inline(always)]
    unsafe fn load<V: Simd>(self, p: *const V::T) -> V {
        unsafe { V::load_first(p, self.0) }
    }
    #[inline(always)]
    unsafe fn store<V: Simd>(self, v: V, p: *mut V::T) {
        unsafe { v.store_first(p, self.0) }
    }
}

/// Runs the body for whole vectors, then once for the elements that are left. (A macro, not a closure: closures do not
/// carry the target features of the function they stand in.)
macro_rules! for_vectors {
    ($V:ty, $n:expr, |$i:ident, $io:ident| $body:block) => {{
        let n = $n;
        let mut $i = 0;
        while $i + <$V>::LANES <= n {
            let $io = Whole;
            $body
            $i += <$V>::LANES;
        }
        if $i < n {
            let $io = First(n - $i);
            $body
        }
    }};
}

#[inline(always)]
unsafe fn conj_if<V: Simd>(v: V, yes: bool) -> V {
    // SAFETY: the contract of the file.
    if yes { unsafe { v.conj() } } else { v }
}

/// y := alpha[0] x[0] + … + alpha[N-1] x[N-1] + y, added in this order.
#[inline(always)]
pub unsafe fn axpys<V: Simd, const N: usize, const CONJ: bool>(
    n: usize,
    alpha: [V::T; N],
    x: [*const V::T; N],
    y: *mut V::T,
) {
    // SAFETY: the contract of the file: n elements behind every pointer.
    unsafe {
        let mut a = [V::zero(); N];
        for (v, &s) in a.iter_mut().zip(&alpha) {
            *v = V::splat(s);
        }
        for_vectors!(V, n, |i, io| {
            let mut sum = io.load::<V>(y.add(i));
            for l in 0..N {
                sum = conj_if(io.load::<V>(x[l].add(i)), CONJ).mul_add(a[l], sum);
            }
            io.store(sum, y.add(i));
        });
    }
}

/// The products of N vectors with y, each in U partial sums.
#[inline(always)]
pub unsafe fn dots<V: Simd, const N: usize, const U: usize, const CONJ: bool>(
    n: usize,
    x: [*const V::T; N],
    y: *const V::T,
) -> [V::T; N] {
    // SAFETY: as above.
    unsafe {
        let mut acc = [[V::zero(); N]; U];
        let mut i = 0;
        while i + U * V::LANES <= n {
            for (u, acc) in acc.iter_mut().enumerate() {
                let yv = V::load(y.add(i + u * V::LANES));
                for l in 0..N {
                    acc[l] = conj_if(V::load(x[l].add(i + u * V::LANES)), CONJ).mul_add(yv, acc[l]);
                }
            }
            i += U * V::LANES;
        }
        while i < n {
            let rest = n - i;
            let whole = rest >= V::LANES;
            let yv = if whole { V::load(y.add(i)) } else { V::load_first(y.add(i), rest) };
            for l in 0..N {
                let xv = if whole { V::load(x[l].add(i)) } else { V::load_first(x[l].add(i), rest) };
                acc[0][l] = conj_if(xv, CONJ).mul_add(yv, acc[0][l]);
            }
            i += V::LANES;
        }
        let mut out = [V::T::ZERO; N];
        for l in 0..N {
            let mut sum = acc[0][l];
            for part in acc.iter().skip(1) {
                sum = sum.add(part[l]);
            }
            out[l] = sum.sum();
        }
        out
    }
}

/// One pass over N vectors a: y := alpha[0] a[0] + … + y, and the products of each with x; either with a conjugated. What
/// `symv` does to N columns.
#[inline(always)]
pub unsafe fn axpy_dots<V: Simd, const N: usize>(
    n: usize,
    a: [*const V::T; N],
    conj_axpy: bool,
    alpha: [V::T; N],
    y: *mut V::T,
    conj_dot: bool,
    x: *const V::T,
) -> [V::T; N] {
    // SAFETY: as above.
    unsafe {
        let mut factors = [V::zero(); N];
        for (v, &s) in factors.iter_mut().zip(&alpha) {
            *v = V::splat(s);
        }
        let mut acc = [V::zero(); N];
        for_vectors!(V, n, |i, io| {
            let xv = io.load::<V>(x.add(i));
            let mut sum = io.load::<V>(y.add(i));
            for l in 0..N {
                let v = io.load::<V>(a[l].add(i));
                sum = conj_if(v, conj_axpy).mul_add(factors[l], sum);
                acc[l] = conj_if(v, conj_dot).mul_add(xv, acc[l]);
            }
            io.store(sum, y.add(i));
        });
        let mut out = [V::T::ZERO; N];
        for l in 0..N {
            out[l] = acc[l].sum();
        }
        out
    }
}

/// x := alpha x.
#[inline(always)]
pub unsafe fn scal<V: Simd>(n: usize, alpha: V::T, x: *mut V::T) {
    // SAFETY: as above.
    unsafe {
        let a = V::splat(alpha);
        for_vectors!(V, n, |i, io| { io.store(io.load::<V>(x.add(i)).mul(a), x.add(i)) });
    }
}

/// y := alpha x + beta y; beta == 0 never reads y.
#[inline(always)]
pub unsafe fn axpby<V: Simd>(n: usize, alpha: V::T, x: *const V::T, beta: V::T, y: *mut V::T) {
    // SAFETY: as above.
    unsafe {
        let (a, b) = (V::splat(alpha), V::splat(beta));
        if beta == V::T::ZERO {
            for_vectors!(V, n, |i, io| { io.store(io.load::<V>(x.add(i)).mul(a), y.add(i)) });
        } else {
            for_vectors!(V, n, |i, io| {
                io.store(io.load::<V>(x.add(i)).mul_add(a, io.load::<V>(y.add(i)).mul(b)), y.add(i))
            });
        }
    }
}

/// Exchanges x and y.
#[inline(always)]
pub unsafe fn swap<V: Simd>(n: usize, x: *mut V::T, y: *mut V::T) {
    // SAFETY: as above.
    unsafe {
        for_vectors!(V, n, |i, io| {
            let (a, b) = (io.load::<V>(x.add(i)), io.load::<V>(y.add(i)));
            io.store(b, x.add(i));
            io.store(a, y.add(i));
        });
    }
}

/// (x, y) := (c x + s y, c y - s x).
#[inline(always)]
pub unsafe fn rot<V: Simd>(n: usize, x: *mut V::T, y: *mut V::T, c: V::T, s: V::T) {
    // SAFETY: as above.
    unsafe {
        let (c, s) = (V::splat(c), V::splat(s));
        for_vectors!(V, n, |i, io| {
            let (a, b) = (io.load::<V>(x.add(i)), io.load::<V>(y.add(i)));
            io.store(a.mul_add(c, b.mul(s)), x.add(i));
            io.store(a.neg_mul_add(s, b.mul(c)), y.add(i));
        });
    }
}

/// Sum of the magnitudes, in four partial sums.
#[inline(always)]
pub unsafe fn asum<V: RealSimd>(n: usize, x: *const V::T) -> V::T {
    // SAFETY: as above.
    unsafe {
        let mut acc = [V::zero(); 4];
        let mut i = 0;
        while i + 4 * V::LANES <= n {
            for (u, a) in acc.iter_mut().enumerate() {
                *a = a.add(V::load(x.add(i + u * V::LANES)).abs());
            }
            i += 4 * V::LANES;
        }
        while i < n {
            let v = if n - i >= V::LANES { V::load(x.add(i)) } else { V::load_first(x.add(i), n - i) };
            acc[0] = acc[0].add(v.abs());
            i += V::LANES;
        }
        acc[0].add(acc[1]).add(acc[2].add(acc[3])).sum()
    }
}

/// Sum of the squares, in f64: for f32 neither overflow nor cancellation can touch it.
#[inline(always)]
pub unsafe fn sum_squares<V: RealSimd>(n: usize, x: *const V::T) -> f64 {
    // SAFETY: as above.
    unsafe {
        let mut acc = [[V::Wide::zero(); 2]; 4];
        let mut i = 0;
        while i + 4 * V::LANES <= n {
            for (u, a) in acc.iter_mut().enumerate() {
                *a = V::load(x.add(i + u * V::LANES)).add_squares(*a);
            }
            i += 4 * V::LANES;
        }
        while i < n {
            let v = if n - i >= V::LANES { V::load(x.add(i)) } else { V::load_first(x.add(i), n - i) };
            acc[0] = v.add_squares(acc[0]);
            i += V::LANES;
        }
        let [a, b, c, d] = acc.map(|[low, high]| low.add(high));
        a.add(b).add(c.add(d)).sum()
    }
}

/// The largest magnitude; NaN counts as nothing.
#[inline(always)]
pub unsafe fn max_abs<V: RealSimd>(n: usize, x: *const V::T) -> V::T {
    // SAFETY: as above.
    unsafe {
        let mut acc = [V::zero(); 4];
        let mut i = 0;
        while i + 4 * V::LANES <= n {
            for (u, a) in acc.iter_mut().enumerate() {
                *a = a.max(V::load(x.add(i + u * V::LANES)).abs());
            }
            i += 4 * V::LANES;
        }
        while i < n {
            let v = if n - i >= V::LANES { V::load(x.add(i)) } else { V::load_first(x.add(i), n - i) };
            acc[0] = acc[0].max(v.abs());
            i += V::LANES;
        }
        let mut lanes = [V::T::ZERO; super::tile::MAX_WIDTH];
        acc[0].max(acc[1]).max(acc[2].max(acc[3])).store(lanes.as_mut_ptr());
        let mut largest = lanes[0];
        for &lane in &lanes[1..V::LANES] {
            if lane > largest {
                largest = lane;
            }
        }
        largest
    }
}

/// The largest |re| + |im| of n complex numbers, given as 2n reals; NaN counts as nothing.
#[inline(always)]
pub unsafe fn max_abs1<V: RealSimd>(n: usize, x: *const V::T) -> V::T {
    // SAFETY: as above.
    unsafe {
        let mut acc = [V::zero(); 2];
        let mut i = 0;
        while i + 2 * V::LANES <= n {
            for (u, a) in acc.iter_mut().enumerate() {
                let p = x.add(2 * (i + u * V::LANES));
                let (re, im) = V::deinterleave(V::load(p), V::load(p.add(V::LANES)));
                *a = a.max(re.abs().add(im.abs()));
            }
            i += 2 * V::LANES;
        }
        let mut lanes = [V::T::ZERO; super::tile::MAX_WIDTH];
        acc[0].max(acc[1]).store(lanes.as_mut_ptr());
        let mut largest = V::T::ZERO;
        for &lane in &lanes[..V::LANES] {
            if lane > largest {
                largest = lane;
            }
        }
        while i < n {
            let sum = (*x.add(2 * i)).abs() + (*x.add(2 * i + 1)).abs();
            if sum > largest {
                largest = sum;
            }
            i += 1;
        }
        largest
    }
}
