//! What OpenBLAS and MKL have beyond Reference BLAS and programs call.
//!
//! Signatures are those of OpenBLAS (`?axpby`, `?omatcopy`, `?imatcopy`, `?geadd`, the small level-1 ones) and of MKL
//! (`?gemm_batch`, `?gemm_batch_strided`, `?gemmt`, `?gemm3m`).

use crate::error::Call;
use crate::level3::{flops, gemm, gemmt};
use crate::types::{Checked, Ints, Op, Ops, Scalar, dim, flag, leading, mat_mut, vec, vec_mut, view};
use corten_core::level3::GemmProblem;
use corten_core::matrix::Layout;
use corten_core::runtime::trace;
use corten_core::{level1, level3};

// SAFETY of all bodies below: the caller vouches that the arrays hold what the routine's documentation says for the
// sizes that were checked; nothing is followed before the sizes are known to be positive.

unsafe fn axpby<T: Scalar>(
    n: usize,
    alpha: *const T,
    x: *const T,
    incx: isize,
    beta: *const T,
    y: *mut T,
    incy: isize,
) {
    // SAFETY: see above.
    unsafe { level1::axpby(*alpha, vec(x, n, incx), *beta, vec_mut(y, n, incy)) }
}

unsafe fn axpyc<T: Scalar>(n: usize, alpha: *const T, x: *const T, incx: isize, y: *mut T, incy: isize) {
    // SAFETY: see above.
    unsafe { level1::axpy(*alpha, vec(x, n, incx), true, vec_mut(y, n, incy)) }
}

unsafe fn sum<T: Scalar>(n: usize, x: *const T, incx: isize) -> T::Real {
    if incx <= 0 {
        return T::Real::ZERO;
    }
    // SAFETY: see above.
    unsafe { level1::sum_parts(vec(x, n, incx)) }
}

/// The index, and the value at the index, of an extreme element.
macro_rules! extreme {
    ($index:ident, $value:ident, $core:ident, $measure:ident) => {
        unsafe fn $index<T: Scalar>(n: usize, x: *const T, incx: isize) -> Option<usize> {
            if incx <= 0 {
                return None;
            }
            // SAFETY: see above.
            unsafe { level1::$core(vec(x, n, incx)) }
        }
        unsafe fn $value<T: Scalar>(n: usize, x: *const T, incx: isize) -> T::Real {
            // SAFETY: see above; the index is inside the vector, and there is one only for a positive increment.
            unsafe { $index(n, x, incx).map_or(T::Real::ZERO, |i| (*x.wrapping_offset(i as isize * incx)).$measure()) }
        }
    };
}
extreme!(iamax, amax, iamax, abs1);
extreme!(iamin, amin, iamin, abs1);
extreme!(imax, max, imax, re);
extreme!(imin, min, imin, re);

unsafe fn omatcopy<T: Scalar>(
    layout: Option<Layout>,
    trans: Option<Op>,
    rows: isize,
    cols: isize,
    alpha: *const T,
    a: *const T,
    lda: isize,
    b: *mut T,
    ldb: isize,
) -> Checked {
    let (layout, trans) = (flag(1, layout)?, flag(2, trans)?);
    let (rows, cols) = (dim(3, rows)?, dim(4, cols)?);
    let result = trans.stored(rows, cols);
    let lda = leading(7, lda, (rows, cols), layout)?;
    let ldb = leading(9, ldb, result, layout)?;
    if rows > 0 && cols > 0 {
        // SAFETY: see above.
        unsafe { level3::omatcopy(*alpha, view(trans, a, result, lda, layout), mat_mut(b, result, ldb, layout)) }
    }
    Ok(())
}

unsafe fn imatcopy<T: Scalar>(
    layout: Option<Layout>,
    trans: Option<Op>,
    rows: isize,
    cols: isize,
    alpha: *const T,
    a: *mut T,
    lda: isize,
    ldb: isize,
) -> Checked {
    let (layout, trans) = (flag(1, layout)?, flag(2, trans)?);
    let (rows, cols) = (dim(3, rows)?, dim(4, cols)?);
    let lda = leading(7, lda, (rows, cols), layout)?;
    let ldb = leading(8, ldb, trans.stored(rows, cols), layout)?;
    if rows > 0 && cols > 0 {
        // The core counts by columns; in row-major order these are the rows.
        let (rows, cols) = if layout == Layout::ColMajor { (rows, cols) } else { (cols, rows) };
        // SAFETY: see above.
        unsafe { level3::imatcopy(*alpha, a, rows, cols, lda, ldb, trans.transposes(), trans.conjugates()) }
    }
    Ok(())
}

unsafe fn geadd<T: Scalar>(
    _: &Call,
    layout: Layout,
    m: isize,
    n: isize,
    alpha: *const T,
    a: *const T,
    lda: isize,
    beta: *const T,
    c: *mut T,
    ldc: isize,
) -> Checked {
    let (m, n) = (dim(1, m)?, dim(2, n)?);
    let lda = leading(5, lda, (m, n), layout)?;
    let ldc = leading(8, ldc, (m, n), layout)?;
    if m > 0 && n > 0 {
        // SAFETY: see above.
        unsafe {
            level3::geadd(*alpha, view(Op::Plain, a, (m, n), lda, layout), *beta, mat_mut(c, (m, n), ldc, layout))
        }
    }
    Ok(())
}

/// The caller vouches that the results do not overlap: the core computes them in any order and at once. They may be
/// interleaved (a distance less than a matrix, a leading dimension that spans the batch).
unsafe fn gemm_batch_strided<T: Scalar>(
    call: &Call,
    layout: Layout,
    transa: Option<Op>,
    transb: Option<Op>,
    m: isize,
    n: isize,
    k: isize,
    alpha: *const T,
    a: *const T,
    lda: isize,
    stridea: isize,
    b: *const T,
    ldb: isize,
    strideb: isize,
    beta: *const T,
    c: *mut T,
    ldc: isize,
    stridec: isize,
    batch_size: isize,
) -> Checked {
    let (transa, transb) = (flag(1, transa)?, flag(2, transb)?);
    let (m, n, k) = (dim(3, m)?, dim(4, n)?, dim(5, k)?);
    let lda = leading(8, lda, transa.stored(m, k), layout)?;
    let stridea = dim(9, stridea)?;
    let ldb = leading(11, ldb, transb.stored(k, n), layout)?;
    let strideb = dim(12, strideb)?;
    let ldc = leading(15, ldc, (m, n), layout)?;
    let stridec = dim(16, stridec)?;
    let batch_size = dim(17, batch_size)?;
    if m == 0 || n == 0 || batch_size == 0 {
        return Ok(());
    }
    // SAFETY: see above.
    let (alpha, beta) = unsafe { (*alpha, *beta) };
    let (a, b, c) = (Shared(a.cast_mut()), Shared(b.cast_mut()), Shared(c));
    let problem = move |i: usize| {
        // SAFETY: see above; the caller vouches for `batch_size` matrices at these strides.
        unsafe {
            GemmProblem {
                alpha,
                a: view(transa, a.get().wrapping_add(i * stridea), (m, k), lda, layout),
                b: view(transb, b.get().wrapping_add(i * strideb), (k, n), ldb, layout),
                beta,
                c: mat_mut(c.get().wrapping_add(i * stridec), (m, n), ldc, layout),
            }
        }
    };
    let work = flops::<T>(2.0, [m, n, k]) * batch_size as f64;
    let start = trace::start();
    level3::gemm_batch(batch_size, work, |_| (batch_size, problem));
    call.done(start, [("m", m), ("n", n), ("k", k), ("batch", batch_size)], work);
    Ok(())
}

/// A pointer of the caller that worker threads may follow.
struct Shared<P>(*mut P);
impl<P> Clone for Shared<P> {
    fn clone(&self) -> Self {
        *self
    }
}
impl<P> Copy for Shared<P> {}
// SAFETY: an address; the core keeps what is written through it apart.
unsafe impl<P> Send for Shared<P> {}
// SAFETY: as above.
unsafe impl<P> Sync for Shared<P> {}
impl<P> Shared<P> {
    fn get(self) -> *mut P {
        self.0
    }
}

/// The arrays of `?gemm_batch`: one entry a group, in `a`, `b` and `c` one a product.
struct Groups<T> {
    layout: Layout,
    transa: Ops,
    transb: Ops,
    m: Ints,
    n: Ints,
    k: Ints,
    alpha: *const T,
    a: *const *const T,
    lda: Ints,
    b: *const *const T,
    ldb: Ints,
    beta: *const T,
    c: *const *mut T,
    ldc: Ints,
    size: Ints,
}

// SAFETY: arrays that nobody writes during the call; the results are distinct, as the routine demands.
unsafe impl<T: Sync> Sync for Groups<T> {}

/// The checked values of one group.
#[derive(Clone, Copy)]
struct Group {
    transa: Op,
    transb: Op,
    m: usize,
    n: usize,
    k: usize,
    lda: usize,
    ldb: usize,
    ldc: usize,
    size: usize,
}

impl Group {
    /// Stands for a group whose arrays were changed during the call: no core may wait for its products.
    const NONE: Group =
        Group { transa: Op::Plain, transb: Op::Plain, m: 0, n: 0, k: 0, lda: 1, ldb: 1, ldc: 1, size: usize::MAX };
}

impl<T: Scalar> Groups<T> {
    /// Group `g`.
    /// # Safety
    /// `g` is less than the number of groups.
    #[inline(always)]
    unsafe fn group(&self, g: usize) -> Checked<Group> {
        // SAFETY: all arrays of the groups have an entry at `g`.
        unsafe {
            let (transa, transb) = (flag(1, self.transa.get(g))?, flag(2, self.transb.get(g))?);
            let (m, n, k) = (dim(3, self.m.get(g))?, dim(4, self.n.get(g))?, dim(5, self.k.get(g))?);
            let lda = leading(8, self.lda.get(g), transa.stored(m, k), self.layout)?;
            let ldb = leading(10, self.ldb.get(g), transb.stored(k, n), self.layout)?;
            let ldc = leading(13, self.ldc.get(g), (m, n), self.layout)?;
            let size = dim(15, self.size.get(g))?;
            Ok(Group { transa, transb, m, n, k, lda, ldb, ldc, size })
        }
    }
    /// Product number `i` of all, which belongs to group `g`.
    /// # Safety
    /// Both are inside the arrays.
    #[inline(always)]
    unsafe fn problem(&self, g: usize, group: &Group, i: usize) -> GemmProblem<'static, T> {
        let &Group { transa, transb, m, n, k, lda, ldb, ldc, .. } = group;
        // SAFETY: inside the arrays; for the matrices see above. The core drops the views before the call returns.
        unsafe {
            GemmProblem {
                alpha: *self.alpha.add(g),
                a: view(transa, *self.a.add(i), (m, k), lda, self.layout),
                b: view(transb, *self.b.add(i), (k, n), ldb, self.layout),
                beta: *self.beta.add(g),
                c: mat_mut(*self.c.add(i), (m, n), ldc, self.layout),
            }
        }
    }
}

unsafe fn gemm_batch<T: Scalar>(
    call: &Call,
    layout: Layout,
    transa: Ops,
    transb: Ops,
    m: Ints,
    n: Ints,
    k: Ints,
    alpha: *const T,
    a: *const *const T,
    lda: Ints,
    b: *const *const T,
    ldb: Ints,
    beta: *const T,
    c: *const *mut T,
    ldc: Ints,
    group_count: isize,
    size: Ints,
) -> Checked {
    let count = dim(14, group_count)?;
    let groups = Groups { layout, transa, transb, m, n, k, alpha, a, lda, b, ldb, beta, c, ldc, size };
    let (mut total, mut work) = (0usize, 0.0);
    for g in 0..count {
        // SAFETY: `g` is less than the number of groups.
        let group = unsafe { groups.group(g)? };
        work += flops::<T>(2.0, [group.m, group.n, group.k]) * group.size as f64;
        total = total.saturating_add(group.size);
    }
    let start = trace::start();
    level3::gemm_batch(total, work, |g| {
        // SAFETY: the core asks for groups only until it has seen `total` products; all passed their checks above.
        let group = unsafe { groups.group(g) }.unwrap_or(Group::NONE);
        let groups = &groups;
        (group.size, move |i| {
            // SAFETY: product `i` belongs to group `g`.
            unsafe { groups.problem(g, &group, i) }
        })
    });
    call.done(start, [("groups", count), ("batch", total)], work);
    Ok(())
}

export! { "y := alpha*x + beta*y";
both vector axpby(n: count, alpha: scalar, x: input, incx: int, beta: scalar, y: output, incy: int);
saxpby f32, daxpby f64, caxpby c32, zaxpby c64 }
export! { "y := alpha*conj(x) + y";
both vector axpyc(n: count, alpha: scalar, x: input, incx: int, y: output, incy: int);
caxpyc c32, zaxpyc c64 }
export! { "Returns the sum of re x[i] + im x[i].";
both vector sum(n: count, x: input, incx: int) -> real;
ssum f32, dsum f64, scsum c32, dzsum c64 }
export! { "Returns the largest |re x[i]| + |im x[i]|.";
both vector amax(n: count, x: input, incx: int) -> real;
samax f32, damax f64, scamax c32, dzamax c64 }
export! { "Returns the smallest |re x[i]| + |im x[i]|.";
both vector amin(n: count, x: input, incx: int) -> real;
samin f32, damin f64, scamin c32, dzamin c64 }
export! { "Returns the largest x[i].";
both vector max(n: count, x: input, incx: int) -> real;
smax f32, dmax f64 }
export! { "Returns the smallest x[i].";
both vector min(n: count, x: input, incx: int) -> real;
smin f32, dmin f64 }
export! { "Returns the index of the first element with the smallest |re| + |im|.";
both vector iamin(n: count, x: input, incx: int) -> index;
isamin f32, idamin f64, icamin c32, izamin c64 }
export! { "Returns the index of the first largest element.";
both vector imax(n: count, x: input, incx: int) -> index;
ismax f32, idmax f64 }
export! { "Returns the index of the first smallest element.";
both vector imin(n: count, x: input, incx: int) -> index;
ismin f32, idmin f64 }
export! { "Returns the index of the first element with the largest real part.";
cblas vector imax(n: count, x: input, incx: int) -> index;
icmax c32, izmax c64 }
export! { "Returns the index of the first element with the smallest real part.";
cblas vector imin(n: count, x: input, incx: int) -> index;
icmin c32, izmin c64 }
export! { "B := alpha*op(A), A with this many rows and columns";
both ordered omatcopy(trans: trans, rows: int, cols: int, alpha: scalar, a: input, lda: int,
    b: output, ldb: int);
somatcopy f32, domatcopy f64, comatcopy c32, zomatcopy c64 }
export! { "A := alpha*op(A) in place; lda before, ldb after";
both ordered imatcopy(trans: trans, rows: int, cols: int, alpha: scalar, a: output, lda: int, ldb: int);
simatcopy f32, dimatcopy f64, cimatcopy c32, zimatcopy c64 }
export! { "C := alpha*A + beta*C";
both matrix geadd(m: int, n: int, alpha: scalar, a: input, lda: int, beta: scalar, c: output, ldc: int);
sgeadd f32, dgeadd f64, cgeadd c32, zgeadd c64 }
export! { "gemm under the name for three real products, which would be less accurate; here it is gemm.";
both matrix gemm(transa: trans, transb: trans, m: int, n: int, k: int, alpha: scalar, a: input, lda: int,
    b: input, ldb: int, beta: scalar, c: output, ldc: int);
cgemm3m c32, zgemm3m c64 }
export! { "One triangle of C := alpha*op(A)*op(B) + beta*C, as gemmtr (name of MKL)";
both matrix gemmt(uplo: uplo, transa: trans, transb: trans, n: int, k: int, alpha: scalar, a: input, lda: int,
    b: input, ldb: int, beta: scalar, c: output, ldc: int);
sgemmt f32, dgemmt f64, cgemmt c32, zgemmt c64 }
export! { "Many gemm in groups: flags, sizes and scalars have one entry a group, a, b, c one a product.";
both matrix gemm_batch(transa_array: transes, transb_array: transes, m_array: ints, n_array: ints,
    k_array: ints, alpha_array: input, a_array: inputs, lda_array: ints, b_array: inputs, ldb_array: ints,
    beta_array: input, c_array: outputs, ldc_array: ints, group_count: int, group_size: ints);
sgemm_batch f32, dgemm_batch f64, cgemm_batch c32, zgemm_batch c64 }
export! { "Many gemm on matrices at constant distances; the results must not overlap.";
both matrix gemm_batch_strided(transa: trans, transb: trans, m: int, n: int, k: int, alpha: scalar,
    a: input, lda: int, stridea: int, b: input, ldb: int, strideb: int, beta: scalar,
    c: output, ldc: int, stridec: int, batch_size: int);
sgemm_batch_strided f32, dgemm_batch_strided f64, cgemm_batch_strided c32, zgemm_batch_strided c64 }
