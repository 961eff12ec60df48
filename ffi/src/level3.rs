//! Level 3: matrices.

use crate::error::Call;
use crate::types::{Checked, Op, Scalar, dim, flag, leading, mat_mut, rank_op, view};
use corten_core::level3;
use corten_core::matrix::{Diag, Layout, MatMut, MatRef, Side, Symmetry, Uplo};
use corten_core::runtime::trace;

// SAFETY of all bodies below: the caller vouches that the arrays hold what the routine's documentation says for the
// sizes that were checked; nothing is followed before the sizes are known to be positive.

/// Compiled into every entry: a small product takes no longer than passing fifteen arguments on.
#[inline(always)]
pub unsafe fn gemm<T: Scalar>(
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
    b: *const T,
    ldb: isize,
    beta: *const T,
    c: *mut T,
    ldc: isize,
) -> Checked {
    let (transa, transb) = (flag(1, transa)?, flag(2, transb)?);
    let (m, n, k) = (dim(3, m)?, dim(4, n)?, dim(5, k)?);
    let lda = leading(8, lda, transa.stored(m, k), layout)?;
    let ldb = leading(10, ldb, transb.stored(k, n), layout)?;
    let ldc = leading(13, ldc, (m, n), layout)?;
    if m == 0 || n == 0 {
        return Ok(());
    }
    // A product in rows is the transposed one in columns, factors exchanged: from here on there are columns only.
    let (left, right) = ((m, transa, a, lda), (n, transb, b, ldb));
    let (left, right) = if layout == Layout::ColMajor { (left, right) } else { (right, left) };
    // SAFETY: see above.
    let (alpha, beta, a, b, c) = unsafe {
        (
            *alpha,
            *beta,
            view(left.1, left.2, (left.0, k), left.3, Layout::ColMajor),
            view(right.1, right.2, (k, right.0), right.3, Layout::ColMajor),
            mat_mut(c, (left.0, right.0), ldc, Layout::ColMajor),
        )
    };
    if nothing_to_add(alpha, k) && beta == T::ONE {
        return Ok(());
    }
    let start = trace::start();
    level3::gemm(alpha, a, b, beta, c);
    call.done(start, [("m", m), ("n", n), ("k", k)], flops::<T>(2.0, [m, n, k]));
    Ok(())
}

pub unsafe fn gemmt<T: Scalar>(
    call: &Call,
    layout: Layout,
    uplo: Option<Uplo>,
    transa: Option<Op>,
    transb: Option<Op>,
    n: isize,
    k: isize,
    alpha: *const T,
    a: *const T,
    lda: isize,
    b: *const T,
    ldb: isize,
    beta: *const T,
    c: *mut T,
    ldc: isize,
) -> Checked {
    let (uplo, transa, transb) = (flag(1, uplo)?, flag(2, transa)?, flag(3, transb)?);
    let (n, k) = (dim(4, n)?, dim(5, k)?);
    let lda = leading(8, lda, transa.stored(n, k), layout)?;
    let ldb = leading(10, ldb, transb.stored(k, n), layout)?;
    let ldc = leading(13, ldc, (n, n), layout)?;
    if n == 0 {
        return Ok(());
    }
    // SAFETY: see above.
    let (alpha, beta, a, b, c) = unsafe {
        (
            *alpha,
            *beta,
            view(transa, a, (n, k), lda, layout),
            view(transb, b, (k, n), ldb, layout),
            mat_mut(c, (n, n), ldc, layout),
        )
    };
    if nothing_to_add(alpha, k) && beta == T::ONE {
        return Ok(());
    }
    let start = trace::start();
    level3::gemmt(alpha, a, b, beta, c, uplo);
    call.done(start, [("n", n), ("k", k)], flops::<T>(1.0, [n, n, k]));
    Ok(())
}

/// The body of `symm` and `hemm`.
unsafe fn sym_mm<T: Scalar>(
    call: &Call,
    symmetry: Symmetry,
    layout: Layout,
    side: Option<Side>,
    uplo: Option<Uplo>,
    m: isize,
    n: isize,
    alpha: *const T,
    a: *const T,
    lda: isize,
    b: *const T,
    ldb: isize,
    beta: *const T,
    c: *mut T,
    ldc: isize,
) -> Checked {
    let (side, uplo) = (flag(1, side)?, flag(2, uplo)?);
    let (m, n) = (dim(3, m)?, dim(4, n)?);
    let order = if side == Side::Left { m } else { n };
    let lda = leading(7, lda, (order, order), layout)?;
    let ldb = leading(9, ldb, (m, n), layout)?;
    let ldc = leading(12, ldc, (m, n), layout)?;
    if m == 0 || n == 0 {
        return Ok(());
    }
    // SAFETY: see above.
    let (alpha, beta, a, b, c) = unsafe {
        (
            *alpha,
            *beta,
            view(Op::Plain, a, (order, order), lda, layout),
            view(Op::Plain, b, (m, n), ldb, layout),
            mat_mut(c, (m, n), ldc, layout),
        )
    };
    if alpha == T::ZERO && beta == T::ONE {
        return Ok(());
    }
    let start = trace::start();
    level3::symm(side, symmetry, alpha, a, uplo, b, beta, c);
    call.done(start, [("m", m), ("n", n)], flops::<T>(2.0, [m, n, order]));
    Ok(())
}

macro_rules! symmetric_product {
    ($name:ident, $symmetry:ident) => {
        unsafe fn $name<T: Scalar>(
            call: &Call,
            layout: Layout,
            side: Option<Side>,
            uplo: Option<Uplo>,
            m: isize,
            n: isize,
            alpha: *const T,
            a: *const T,
            lda: isize,
            b: *const T,
            ldb: isize,
            beta: *const T,
            c: *mut T,
            ldc: isize,
        ) -> Checked {
            let symmetry = Symmetry::$symmetry;
            // SAFETY: passed on to the caller.
            unsafe { sym_mm(call, symmetry, layout, side, uplo, m, n, alpha, a, lda, b, ldb, beta, c, ldc) }
        }
    };
}
symmetric_product!(symm, Symmetric);
symmetric_product!(hemm, Hermitian);

/// The bodies of `syrk` and `herk`: the Hermitian one has real alpha and beta.
macro_rules! rank_k {
    ($name:ident, $symmetry:ident, $scalar:ty, $widen:expr) => {
        unsafe fn $name<T: Scalar>(
            call: &Call,
            layout: Layout,
            uplo: Option<Uplo>,
            trans: Option<Op>,
            n: isize,
            k: isize,
            alpha: *const $scalar,
            a: *const T,
            lda: isize,
            beta: *const $scalar,
            c: *mut T,
            ldc: isize,
        ) -> Checked {
            let symmetry = Symmetry::$symmetry;
            let (uplo, trans) = (flag(1, uplo)?, rank_op::<T>(2, trans, symmetry)?);
            let (n, k) = (dim(3, n)?, dim(4, k)?);
            let lda = leading(7, lda, trans.stored(n, k), layout)?;
            let ldc = leading(10, ldc, (n, n), layout)?;
            if n == 0 {
                return Ok(());
            }
            // SAFETY: see above.
            let (alpha, beta, a, c) = unsafe {
                let (alpha, beta): (T, T) = ($widen(*alpha), $widen(*beta));
                (alpha, beta, view(trans, a, (n, k), lda, layout), mat_mut(c, (n, n), ldc, layout))
            };
            if nothing_to_add(alpha, k) && beta == T::ONE {
                return Ok(());
            }
            let start = trace::start();
            level3::syrk(symmetry, alpha, a, beta, c, uplo);
            call.done(start, [("n", n), ("k", k)], flops::<T>(1.0, [n, n, k]));
            Ok(())
        }
    };
}
rank_k!(syrk, Symmetric, T, core::convert::identity);
rank_k!(herk, Hermitian, T::Real, T::from_real);

/// The bodies of `syr2k` and `her2k`: the Hermitian one has a real beta.
macro_rules! rank_2k {
    ($name:ident, $symmetry:ident, $scalar:ty, $widen:expr) => {
        unsafe fn $name<T: Scalar>(
            call: &Call,
            layout: Layout,
            uplo: Option<Uplo>,
            trans: Option<Op>,
            n: isize,
            k: isize,
            alpha: *const T,
            a: *const T,
            lda: isize,
            b: *const T,
            ldb: isize,
            beta: *const $scalar,
            c: *mut T,
            ldc: isize,
        ) -> Checked {
            let symmetry = Symmetry::$symmetry;
            let (uplo, trans) = (flag(1, uplo)?, rank_op::<T>(2, trans, symmetry)?);
            let (n, k) = (dim(3, n)?, dim(4, k)?);
            let lda = leading(7, lda, trans.stored(n, k), layout)?;
            let ldb = leading(9, ldb, trans.stored(n, k), layout)?;
            let ldc = leading(12, ldc, (n, n), layout)?;
            if n == 0 {
                return Ok(());
            }
            // SAFETY: see above.
            let (alpha, beta, a, b, c) = unsafe {
                (
                    *alpha,
                    $widen(*beta),
                    view(trans, a, (n, k), lda, layout),
                    view(trans, b, (n, k), ldb, layout),
                    mat_mut(c, (n, n), ldc, layout),
                )
            };
            if nothing_to_add(alpha, k) && beta == T::ONE {
                return Ok(());
            }
            let start = trace::start();
            level3::syr2k(symmetry, alpha, a, b, beta, c, uplo);
            call.done(start, [("n", n), ("k", k)], flops::<T>(2.0, [n, n, k]));
            Ok(())
        }
    };
}
rank_2k!(syr2k, Symmetric, T, core::convert::identity);
rank_2k!(her2k, Hermitian, T::Real, T::from_real);

/// The bodies of `trmm` and `trsm`.
macro_rules! triangular {
    ($name:ident) => {
        unsafe fn $name<T: Scalar>(
            call: &Call,
            layout: Layout,
            side: Option<Side>,
            uplo: Option<Uplo>,
            transa: Option<Op>,
            diag: Option<Diag>,
            m: isize,
            n: isize,
            alpha: *const T,
            a: *const T,
            lda: isize,
            b: *mut T,
            ldb: isize,
        ) -> Checked {
            let core: Triangular<T> = level3::$name;
            let (side, uplo, transa, diag) = (flag(1, side)?, flag(2, uplo)?, flag(3, transa)?, flag(4, diag)?);
            let (m, n) = (dim(5, m)?, dim(6, n)?);
            let order = if side == Side::Left { m } else { n };
            let lda = leading(9, lda, (order, order), layout)?;
            let ldb = leading(11, ldb, (m, n), layout)?;
            if m == 0 || n == 0 {
                return Ok(());
            }
            let shape = (order, order);
            // SAFETY: see above.
            let (alpha, a) = unsafe { (*alpha, view(transa, a, shape, lda, layout)) };
            // SAFETY: see above.
            let b = unsafe { mat_mut(b, (m, n), ldb, layout) };
            let start = trace::start();
            core(side, alpha, a, transa.triangle(uplo), diag, b);
            call.done(start, [("m", m), ("n", n)], flops::<T>(1.0, [m, n, order]));
            Ok(())
        }
    };
}
type Triangular<T> = fn(Side, T, MatRef<T>, Uplo, Diag, MatMut<T>);
triangular!(trmm);
triangular!(trsm);

/// The product is an empty sum or is multiplied by zero.
fn nothing_to_add<T: Scalar>(alpha: T, k: usize) -> bool {
    alpha == T::ZERO || k == 0
}

/// Operations of a real routine for `factor` times this product of sizes, or of its complex kin.
pub fn flops<T: Scalar>(factor: f64, sizes: [usize; 3]) -> f64 {
    let of_type = if T::IS_COMPLEX { 4.0 } else { 1.0 };
    sizes.iter().fold(of_type * factor, |product, &size| product * size as f64)
}

export! { "C := alpha*op(A)*op(B) + beta*C";
both matrix gemm(transa: trans, transb: trans, m: int, n: int, k: int, alpha: scalar, a: input, lda: int,
    b: input, ldb: int, beta: scalar, c: output, ldc: int);
sgemm f32, dgemm f64, cgemm c32, zgemm c64 }
export! { "C := alpha*A*B + beta*C or alpha*B*A + beta*C, A symmetric";
both matrix symm(side: side, uplo: uplo, m: int, n: int, alpha: scalar, a: input, lda: int,
    b: input, ldb: int, beta: scalar, c: output, ldc: int);
ssymm f32, dsymm f64, csymm c32, zsymm c64 }
export! { "C := alpha*A*B + beta*C or alpha*B*A + beta*C, A Hermitian";
both matrix hemm(side: side, uplo: uplo, m: int, n: int, alpha: scalar, a: input, lda: int,
    b: input, ldb: int, beta: scalar, c: output, ldc: int);
chemm c32, zhemm c64 }
export! { "C := alpha*A*A^T + beta*C or alpha*A^T*A + beta*C, C symmetric";
both matrix syrk(uplo: uplo, trans: trans, n: int, k: int, alpha: scalar, a: input, lda: int,
    beta: scalar, c: output, ldc: int);
ssyrk f32, dsyrk f64, csyrk c32, zsyrk c64 }
export! { "C := alpha*A*A^H + beta*C or alpha*A^H*A + beta*C, C Hermitian";
both matrix herk(uplo: uplo, trans: trans, n: int, k: int, alpha: real, a: input, lda: int,
    beta: real, c: output, ldc: int);
cherk c32, zherk c64 }
export! { "C := alpha*A*B^T + alpha*B*A^T + beta*C or the same with A^T*B and B^T*A, C symmetric";
both matrix syr2k(uplo: uplo, trans: trans, n: int, k: int, alpha: scalar, a: input, lda: int,
    b: input, ldb: int, beta: scalar, c: output, ldc: int);
ssyr2k f32, dsyr2k f64, csyr2k c32, zsyr2k c64 }
export! { "C := alpha*A*B^H + conj(alpha)*B*A^H + beta*C or the same with A^H*B and B^H*A, C Hermitian";
both matrix her2k(uplo: uplo, trans: trans, n: int, k: int, alpha: scalar, a: input, lda: int,
    b: input, ldb: int, beta: real, c: output, ldc: int);
cher2k c32, zher2k c64 }
export! { "B := alpha*op(A)*B or alpha*B*op(A), A triangular";
both matrix trmm(side: side, uplo: uplo, transa: trans, diag: diag, m: int, n: int, alpha: scalar,
    a: input, lda: int, b: output, ldb: int);
strmm f32, dtrmm f64, ctrmm c32, ztrmm c64 }
export! { "Solves op(A)*X = alpha*B or X*op(A) = alpha*B, A triangular; B becomes X.";
both matrix trsm(side: side, uplo: uplo, transa: trans, diag: diag, m: int, n: int, alpha: scalar,
    a: input, lda: int, b: output, ldb: int);
strsm f32, dtrsm f64, ctrsm c32, ztrsm c64 }
export! { "One triangle of C := alpha*op(A)*op(B) + beta*C (Reference BLAS 3.12.1)";
both matrix gemmt(uplo: uplo, transa: trans, transb: trans, n: int, k: int, alpha: scalar, a: input, lda: int,
    b: input, ldb: int, beta: scalar, c: output, ldc: int);
sgemmtr f32, dgemmtr f64, cgemmtr c32, zgemmtr c64 }
