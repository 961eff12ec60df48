//! Packing, once for all instruction sets and types: matrices to panels that the kernels read from end to end, and back.
//!
//! A source with consecutive lanes is gone through a few steps at a time, over all panels: long runs of memory are read
//! in order, and a stride of a power of two (which puts all steps of a panel in the same few sets of the cache) does no
//! harm. A source with consecutive steps is transposed in registers, a cache line of each lane at a time.
//!
//! Contract of all functions: the CPU has V's instruction set; pointers are valid for what the text says is read and
//! written there.

use super::simd::{MOST_COLUMNS, RealSimd, Simd};
use super::tile::{MAX_WIDTH, opaque, opaque_ptr, prefetch, unrolled};
use crate::scalar::Scalar;

/// Steps that are taken over all panels at once.
const STEPS: usize = 8;
/// Lanes of the widest register.
const MOST_LANES: usize = 16;

/// k steps of `lanes` elements, element (l, p) at `src + l*ls + p*ps`, into panels of k steps of `mv` vectors, one behind the
/// other, zero behind the last lane.
#[inline(always)]
pub unsafe fn vectors<V: Simd, R: RealSimd>(
    mv: usize,
    lanes: usize,
    k: usize,
    src: *const V::T,
    ls: isize,
    ps: isize,
    conj: bool,
    dst: *mut V::T,
) {
    let width = mv * V::LANES;
    // SAFETY: the contract of the file; each panel has k*width elements.
    unsafe {
        if ls == 1 {
            for p in (0..k).step_by(STEPS) {
                for l in (0..lanes).step_by(width) {
                    let mut from = src.wrapping_offset(l as isize + p as isize * ps);
                    let mut to = dst.add(l * k + p * width);
                    let rows = width.min(lanes - l);
                    for _ in p..k.min(p + STEPS) {
                        // The same rows of the steps to come.
                        let next = from.wrapping_offset(STEPS as isize * ps);
                        for i in 0..mv {
                            prefetch(next.wrapping_add(i * V::LANES));
                            put(rows_of::<V>(from, i, rows), conj, to.add(i * V::LANES));
                        }
                        from = from.wrapping_offset(ps);
                        to = to.add(width);
                    }
                }
            }
            return;
        }
        for l in (0..lanes).step_by(width) {
            let (from, to) = (src.wrapping_offset(l as isize * ls), dst.add(l * k));
            across::<V, R>(mv, width.min(lanes - l), k, from, ls, ps, conj, to);
        }
    }
}

/// One panel of [`vectors`] from a source whose lanes are not consecutive.
#[inline(always)]
unsafe fn across<V: Simd, R: RealSimd>(
    mv: usize,
    lanes: usize,
    k: usize,
    src: *const V::T,
    ls: isize,
    ps: isize,
    conj: bool,
    dst: *mut V::T,
) {
    let width = mv * V::LANES;
    let some = lanes.div_ceil(V::LANES);
    let rows = |i: usize| (lanes - i * V::LANES).min(V::LANES);
    // SAFETY: the contract of the file; the panel has k*width elements.
    unsafe {
        if ps == 1 && !V::T::IS_COMPLEX {
            // Lanes that are not there are vectors of zeros, of which the last lanes take what they need.
            for i in lanes / V::LANES..mv {
                for p in 0..k {
                    V::zero().store_packed(dst.add(p * width + i * V::LANES));
                }
            }
            // A cache line of each lane at a time.
            let run = 64 / size_of::<V::T>();
            let mut p = 0;
            while p < k {
                let steps = if k - p < 2 * run { k - p } else { run };
                turn::<V::T, R>(lanes, steps, src.wrapping_add(p), ls, dst.add(p * width), width as isize);
                p += steps;
            }
            return;
        }
        // Whole squares, a cache line of each lane at a time.
        let squares = ps == 1 && V::SQUARE > 0;
        let whole = if squares { k / V::SQUARE * V::SQUARE } else { 0 };
        let run = (64 / size_of::<V::T>()).max(V::SQUARE);
        let mut done = 0;
        while done < whole {
            let end = (done + run).min(whole);
            for i in 0..some {
                let mut p = done;
                while p < end {
                    let from = src.wrapping_offset((i * V::LANES) as isize * ls + p as isize);
                    let to = dst.add(p * width + i * V::LANES);
                    V::transpose(rows(i), from, ls, to, width);
                    for q in 0..if conj { V::SQUARE } else { 0 } {
                        put(V::load_packed(to.add(q * width)), true, to.add(q * width));
                    }
                    p += V::SQUARE;
                }
            }
            done = end;
        }
        // A last square that reaches back over steps which are there already.
        let last = if done > 0 && done < k && !conj { k - V::SQUARE } else { k };
        for i in 0..mv {
            let from = src.wrapping_offset((i * V::LANES) as isize * ls);
            let to = dst.add(i * V::LANES);
            if i >= some {
                for p in 0..k {
                    V::zero().store_packed(to.add(p * width));
                }
            } else if last < k {
                V::transpose(rows(i), from.wrapping_add(last), ls, to.add(last * width), width);
            } else {
                // Element by element.
                for p in done..k {
                    let mut one = [V::T::ZERO; MOST_LANES];
                    for (l, x) in one.iter_mut().enumerate().take(rows(i)) {
                        *x = *from.wrapping_offset(l as isize * ls + p as isize * ps);
                    }
                    put(V::load(one.as_ptr()), conj, to.add(p * width));
                }
            }
        }
    }
}

/// Vector i of a column of which m rows exist.
#[inline(always)]
unsafe fn rows_of<V: Simd>(p: *const V::T, i: usize, m: usize) -> V {
    // SAFETY: no more than m rows are read.
    unsafe {
        let from = i * V::LANES;
        if from + V::LANES <= m {
            V::load(p.add(from))
        } else if from < m {
            V::load_first(p.add(from), m - from)
        } else {
            V::zero()
        }
    }
}

#[inline(always)]
unsafe fn put<V: Simd>(v: V, conj: bool, dst: *mut V::T) {
    // SAFETY: the contract of the file.
    unsafe { if conj { v.conj() } else { v }.store_packed(dst) }
}

/// As [`vectors`] into panels of k steps of NR single elements, for the operand that is broadcast. R: vector of its parts.
#[inline(always)]
pub unsafe fn elements<T: Scalar, R: RealSimd, const NR: usize>(
    lanes: usize,
    k: usize,
    src: *const T,
    ls: isize,
    ps: isize,
    conj: bool,
    dst: *mut T,
) {
    // SAFETY: the contract of the file; each panel has k*NR elements.
    unsafe {
        let whole = lanes / NR * NR;
        if ls == 1 && conj {
            few_steps::<T, R, NR, true>(whole, k, src, ps, dst);
        } else if ls == 1 {
            few_steps::<T, R, NR, false>(whole, k, src, ps, dst);
        } else {
            for l in (0..whole).step_by(NR) {
                let (from, to) = (src.wrapping_offset(l as isize * ls), dst.add(l * k));
                let done = if ps == 1 && !T::IS_COMPLEX { squares::<R, NR>(k, from.cast(), ls, to.cast()) } else { 0 };
                let mut p = done;
                while p < k {
                    for q in 0..NR {
                        let x = *from.wrapping_offset(q as isize * ls + p as isize * ps);
                        *to.add(p * NR + q) = if conj { x.conj() } else { x };
                    }
                    // Step by step: AVX-512's scatters are slower.
                    p = opaque(p + 1);
                }
            }
        }
        for l in (whole..lanes).step_by(NR) {
            let (from, to) = (src.wrapping_offset(l as isize * ls), dst.add(l * k));
            for p in 0..k {
                for q in 0..NR {
                    *to.add(p * NR + q) = if l + q < lanes {
                        (*from.wrapping_offset(q as isize * ls + p as isize * ps)).conj_if(conj)
                    } else {
                        T::ZERO
                    };
                }
            }
        }
    }
}

/// [`elements`] of whole panels from consecutive lanes.
#[inline(always)]
unsafe fn few_steps<T: Scalar, R: RealSimd, const NR: usize, const CONJ: bool>(
    lanes: usize,
    k: usize,
    src: *const T,
    ps: isize,
    dst: *mut T,
) {
    // SAFETY: the contract of the file; each panel has k*NR elements, of which complex ones are two numbers of R.
    unsafe {
        let sign = R::interleave(R::splat(R::T::ONE), R::splat(-R::T::ONE)).0;
        for p in (0..k).step_by(STEPS) {
            for l in (0..lanes).step_by(NR) {
                let mut from = src.wrapping_offset(l as isize + p as isize * ps);
                let mut to = dst.add(l * k + p * NR);
                for _ in p..k.min(p + STEPS) {
                    prefetch(from.wrapping_offset(STEPS as isize * ps));
                    if CONJ && T::IS_COMPLEX {
                        // (The compiler leaves this element by element. Zen 5, GFLOPS, so and here: zgemm CC 36 x 24 x 531 78 and 82.)
                        let (parts, conjugates) = (from.cast::<R::T>(), to.cast::<R::T>());
                        let mut at = 0;
                        while at + R::LANES <= 2 * NR {
                            R::load(parts.add(at)).mul(sign).store(conjugates.add(at));
                            at += R::LANES;
                        }
                        if at < 2 * NR {
                            R::load_first(parts.add(at), 2 * NR - at)
                                .mul(sign)
                                .store_first(conjugates.add(at), 2 * NR - at);
                        }
                    } else {
                        to.cast::<[T; NR]>().write(from.cast::<[T; NR]>().read());
                    }
                    from = from.wrapping_offset(ps);
                    to = to.add(NR);
                }
            }
        }
    }
}

/// Transposes the first steps of NR lanes with consecutive steps into a panel; says how many. Squares that are wider than
/// the panel write into the step behind them, so they go from the last lanes to the first and from the first step to
/// the last, and at least one step is left.
#[inline(always)]
unsafe fn squares<R: RealSimd, const NR: usize>(k: usize, src: *const R::T, ls: isize, dst: *mut R::T) -> usize {
    if R::SIDE == 0 {
        return 0;
    }
    let done = k.saturating_sub(1) / R::SIDE * R::SIDE;
    let mut p = 0;
    while p < done {
        // The same steps of the next panel, a cache line at a time.
        if p * size_of::<R::T>() % 64 == 0 {
            for q in NR..2 * NR {
                prefetch(src.wrapping_offset(q as isize * ls + p as isize));
            }
        }
        let mut l = NR.next_multiple_of(R::SIDE);
        while l > 0 {
            l -= R::SIDE;
            let (mut from, mut to) = ([src; 8], [dst; 8]);
            let mut q = 0;
            while q < R::SIDE {
                // A lane that is not there: another one, to be written over.
                from[q] = src.wrapping_offset((l + q).min(NR - 1) as isize * ls + p as isize);
                to[q] = dst.wrapping_add((p + q) * NR + l);
                q += 1;
            }
            // SAFETY: SIDE steps of lanes of the source; of the panel at most the step behind them is touched, too.
            unsafe { R::square(from, to) };
        }
        p += R::SIDE;
    }
    done
}

/// The reverse of [`vectors`] for one panel.
#[inline(always)]
pub unsafe fn unpack<V: Simd, const MV: usize>(
    lanes: usize,
    k: usize,
    src: *const V::T,
    dst: *mut V::T,
    ls: isize,
    ps: isize,
) {
    let width = MV * V::LANES;
    let mut column = [V::T::ZERO; MAX_WIDTH];
    let mut p = 0;
    // SAFETY: the contract of the file.
    unsafe {
        if ps == 1 && lanes.is_multiple_of(V::LANES) && V::SQUARE > 0 {
            while p + V::SQUARE <= k {
                for i in 0..lanes / V::LANES {
                    let to = dst.wrapping_offset((i * V::LANES) as isize * ls + p as isize);
                    V::transpose_back(src.add(p * width + i * V::LANES), width, to, ls);
                }
                p += V::SQUARE;
            }
        }
        while p < k {
            let to = dst.wrapping_offset(p as isize * ps);
            for i in 0..MV {
                V::load_packed(src.add(p * width + i * V::LANES)).store(column.as_mut_ptr().add(i * V::LANES));
            }
            if ls == 1 {
                core::ptr::copy_nonoverlapping(column.as_ptr(), to, lanes);
            } else {
                for (l, x) in column.iter().enumerate().take(lanes) {
                    *to.wrapping_offset(l as isize * ls) = *x;
                }
            }
            p += 1;
        }
    }
}

/// Element p of line l, at `src + l*ss + p`, goes to `dst + p*ds + l`: lines of `lanes` elements out of as many lines of k.
/// Nothing else is touched; the two share no memory. R: vector of T's parts.
#[inline(always)]
pub unsafe fn turn<T: Scalar, R: RealSimd>(lanes: usize, k: usize, src: *const T, ss: isize, dst: *mut T, ds: isize) {
    // SAFETY: the contract of the file. Nothing is computed, so a complex number of two f32 is moved as if it were an f64.
    unsafe {
        let has_columns = R::COLUMNS && ss == k as isize && lanes >= R::LANES && size_of::<T>() == size_of::<R::T>();
        if has_columns && k == 2 {
            turn_columns::<R, 2>(lanes, src.cast(), dst.cast(), ds);
        } else if has_columns && k == 3 {
            turn_columns::<R, 3>(lanes, src.cast(), dst.cast(), ds);
        } else if size_of::<T>() == size_of::<R::T>() {
            turn_squares::<R>(lanes, k, src.cast(), ss, dst.cast(), ds);
        } else if size_of::<T>() == size_of::<f64>() {
            turn_squares::<R::Wide>(lanes, k, src.cast(), ss, dst.cast(), ds);
        } else {
            turn_elements(lanes, k, src, ss, dst, ds);
        }
    }
}

/// [`turn`] of lines of two or three elements, one behind the other, by registers that hold their columns. (Zen 5, sgemm NN 2 x 20 x 176, of
/// which A is turned, element by element and so: 58 and 98 GFLOPS.)
#[inline(always)]
unsafe fn turn_columns<R: RealSimd, const K: usize>(lanes: usize, src: *const R::T, dst: *mut R::T, ds: isize) {
    let mut l = 0;
    while l < lanes {
        // The last registers reach back over what is there already.
        l = l.min(lanes - R::LANES);
        let (from, to) = (src.wrapping_add(l * K), dst.wrapping_add(l));
        // SAFETY: LANES lines of the source, and as many elements of K lines.
        unsafe {
            let mut lines = [R::zero(); MOST_COLUMNS];
            unrolled!(K, |r| {
                lines[r % MOST_COLUMNS] = R::load(from.add(r * R::LANES));
            });
            let columns = R::columns::<K>(lines);
            unrolled!(K, |c| {
                columns[c % MOST_COLUMNS].store(to.wrapping_offset(c as isize * ds));
            });
        }
        l += R::LANES;
    }
}

/// [`turn`] by squares. The last ones reach back over what is there already.
#[inline(always)]
unsafe fn turn_squares<R: RealSimd>(lanes: usize, k: usize, src: *const R::T, ss: isize, dst: *mut R::T, ds: isize) {
    let half = R::SIDE / 2;
    // Multiples that addresses cannot be made of by themselves.
    let (ss3, ds3) = (opaque(3 * ss as usize) as isize, opaque(3 * ds as usize) as isize);
    macro_rules! squares {
        ($side:expr, |$from:ident, $to:ident| $square:expr) => {
            let mut l = 0;
            while l < lanes {
                l = l.min(lanes - $side);
                let mut p = 0;
                while p < k {
                    p = p.min(k - $side);
                    let $from = opaque_ptr(src.wrapping_offset(l as isize * ss + p as isize));
                    let $to = opaque_ptr(dst.wrapping_offset(p as isize * ds + l as isize)).cast_mut();
                    $square;
                    p += $side;
                }
                l += $side;
            }
        };
    }
    macro_rules! four {
        ($p:expr, $one:ident, $three:ident) => {
            [$p, $p.wrapping_offset($one), $p.wrapping_offset(2 * $one), $p.wrapping_offset($three)]
        };
    }
    // SAFETY: squares inside the lines that there are.
    unsafe {
        if R::SIDE == 0 || lanes.min(k) < half {
            turn_elements(lanes, k, src, ss, dst, ds);
        } else if lanes.min(k) < R::SIDE {
            squares!(half, |from, to| R::half_square(four!(from, ss, ss3), four!(to, ds, ds3)));
        } else {
            squares!(R::SIDE, |from, to| {
                let ([a, b, c, d], [e, f, g, h]) = (four!(from, ss, ss3), four!(from.wrapping_offset(4 * ss), ss, ss3));
                let ([i, j, k, l], [m, n, o, p]) = (four!(to, ds, ds3), four!(to.wrapping_offset(4 * ds), ds, ds3));
                R::square([a, b, c, d, e, f, g, h], [i, j, k, l, m, n, o, p])
            });
        }
    }
}

/// [`turn`] element by element, along the longer side.
#[inline(always)]
unsafe fn turn_elements<T: Copy>(lanes: usize, k: usize, src: *const T, ss: isize, dst: *mut T, ds: isize) {
    // How many, and how far apart in either: of the shorter and of the longer side.
    let (outer, inner, (out_from, out_to), (from_step, to_step)) =
        if lanes < k { (lanes, k, (ss, 1), (1, ds)) } else { (k, lanes, (1, ds), (ss, 1)) };
    for i in 0..outer as isize {
        let (mut from, mut to) = (src.wrapping_offset(i * out_from), dst.wrapping_offset(i * out_to));
        for _ in 0..inner {
            // SAFETY: the contract of the file.
            unsafe { *to = *from };
            // Hidden, or it becomes gathers and scatters, which are slower.
            (from, to) = (from.wrapping_offset(from_step), opaque_ptr(to.wrapping_offset(to_step)).cast_mut());
        }
    }
}
