//! Level 2: a matrix and vectors.
//!
//! Full, band and packed storage, both orders and all transpositions become [`Lines`] here; what is behind knows one
//! routine for each of `A x`, `A x` with a symmetric or triangular A, and their kin.

use crate::error::Call;
use crate::types::{
    Checked, Op, Scalar, Storage, StorageMut, dim, flag, inc, leading, leading_band, mat_mut, vec, vec_mut,
};
use corten_core::level2;
use corten_core::matrix::{Diag, Layout, Lines, Symmetry, Uplo, VecMut};

// SAFETY of all bodies below: the caller vouches that the arrays hold what the routine's documentation says for the
// sizes that were checked; nothing is followed before the sizes are known to be positive.

unsafe fn gemv<T: Scalar>(
    _: &Call,
    layout: Layout,
    trans: Option<Op>,
    m: isize,
    n: isize,
    alpha: *const T,
    a: *const T,
    lda: isize,
    x: *const T,
    incx: isize,
    beta: *const T,
    y: *mut T,
    incy: isize,
) -> Checked {
    let trans = flag(1, trans)?;
    let (m, n) = (dim(2, m)?, dim(3, n)?);
    let lda = leading(6, lda, (m, n), layout)?;
    let (incx, incy) = (inc(8, incx)?, inc(11, incy)?);
    if m == 0 || n == 0 {
        return Ok(());
    }
    // SAFETY: see above.
    unsafe { mv(trans.lines(Lines::full(a, m, n, lda, layout)), alpha, x, incx, beta, y, incy) };
    Ok(())
}

unsafe fn gbmv<T: Scalar>(
    _: &Call,
    layout: Layout,
    trans: Option<Op>,
    m: isize,
    n: isize,
    kl: isize,
    ku: isize,
    alpha: *const T,
    a: *const T,
    lda: isize,
    x: *const T,
    incx: isize,
    beta: *const T,
    y: *mut T,
    incy: isize,
) -> Checked {
    let trans = flag(1, trans)?;
    let (m, n, kl, ku) = (dim(2, m)?, dim(3, n)?, dim(4, kl)?, dim(5, ku)?);
    let lda = leading_band(8, lda, kl.saturating_add(ku))?;
    let (incx, incy) = (inc(10, incx)?, inc(13, incy)?);
    if m == 0 || n == 0 {
        return Ok(());
    }
    // SAFETY: see above.
    unsafe { mv(trans.lines(Lines::band(a, m, n, kl, ku, lda, layout)), alpha, x, incx, beta, y, incy) };
    Ok(())
}

/// y := alpha*A*x + beta*y; the lengths follow from A, which is not empty.
unsafe fn mv<T: Scalar>(
    a: Lines<T>,
    alpha: *const T,
    x: *const T,
    incx: isize,
    beta: *const T,
    y: *mut T,
    incy: isize,
) {
    // SAFETY: see above.
    unsafe {
        let (alpha, beta) = (*alpha, *beta);
        if alpha != T::ZERO || beta != T::ONE {
            level2::mv(alpha, a, vec(x, a.cols(), incx), beta, vec_mut(y, a.rows(), incy));
        }
    }
}

/// y := alpha*A*x + beta*y with a symmetric or Hermitian A.
unsafe fn sym_mv<T: Scalar>(
    symmetry: Symmetry,
    a: Lines<T>,
    alpha: *const T,
    x: *const T,
    incx: isize,
    beta: *const T,
    y: *mut T,
    incy: isize,
) {
    // SAFETY: see above.
    unsafe {
        let (alpha, beta) = (*alpha, *beta);
        if alpha != T::ZERO || beta != T::ONE {
            level2::sym_mv(alpha, a, symmetry, vec(x, a.cols(), incx), beta, vec_mut(y, a.rows(), incy));
        }
    }
}

/// The bodies of `symv`, `sbmv`, `spmv` and of their Hermitian kin.
macro_rules! symmetric_products {
    ($symmetry:ident: $full:ident $band:ident $packed:ident) => {
        unsafe fn $full<T: Scalar>(
            _: &Call,
            layout: Layout,
            uplo: Option<Uplo>,
            n: isize,
            alpha: *const T,
            a: *const T,
            lda: isize,
            x: *const T,
            incx: isize,
            beta: *const T,
            y: *mut T,
            incy: isize,
        ) -> Checked {
            let uplo = flag(1, uplo)?;
            let n = dim(2, n)?;
            let ld = leading(5, lda, (n, n), layout)?;
            let (incx, incy) = (inc(7, incx)?, inc(10, incy)?);
            if n > 0 {
                // SAFETY: see above.
                unsafe {
                    let a = Storage::Full { ld }.triangle(a, n, uplo, layout);
                    sym_mv(Symmetry::$symmetry, a, alpha, x, incx, beta, y, incy);
                }
            }
            Ok(())
        }
        unsafe fn $band<T: Scalar>(
            _: &Call,
            layout: Layout,
            uplo: Option<Uplo>,
            n: isize,
            k: isize,
            alpha: *const T,
            a: *const T,
            lda: isize,
            x: *const T,
            incx: isize,
            beta: *const T,
            y: *mut T,
            incy: isize,
        ) -> Checked {
            let uplo = flag(1, uplo)?;
            let (n, k) = (dim(2, n)?, dim(3, k)?);
            let ld = leading_band(6, lda, k)?;
            let (incx, incy) = (inc(8, incx)?, inc(11, incy)?);
            if n > 0 {
                // SAFETY: see above.
                unsafe {
                    let a = Storage::Band { k, ld }.triangle(a, n, uplo, layout);
                    sym_mv(Symmetry::$symmetry, a, alpha, x, incx, beta, y, incy);
                }
            }
            Ok(())
        }
        unsafe fn $packed<T: Scalar>(
            _: &Call,
            layout: Layout,
            uplo: Option<Uplo>,
            n: isize,
            alpha: *const T,
            ap: *const T,
            x: *const T,
            incx: isize,
            beta: *const T,
            y: *mut T,
            incy: isize,
        ) -> Checked {
            let uplo = flag(1, uplo)?;
            let n = dim(2, n)?;
            let (incx, incy) = (inc(6, incx)?, inc(9, incy)?);
            if n > 0 {
                // SAFETY: see above.
                unsafe {
                    let a = Storage::Packed.triangle(ap, n, uplo, layout);
                    sym_mv(Symmetry::$symmetry, a, alpha, x, incx, beta, y, incy);
                }
            }
            Ok(())
        }
    };
}
symmetric_products!(Symmetric: symv sbmv spmv);
symmetric_products!(Hermitian: hemv hbmv hpmv);

/// The bodies of the triangular routines: `trmv`, `tbmv`, `tpmv`, and those that solve.
macro_rules! triangular {
    ($core:ident: $full:ident $band:ident $packed:ident) => {
        unsafe fn $full<T: Scalar>(
            _: &Call,
            layout: Layout,
            uplo: Option<Uplo>,
            trans: Option<Op>,
            diag: Option<Diag>,
            n: isize,
            a: *const T,
            lda: isize,
            x: *mut T,
            incx: isize,
        ) -> Checked {
            let (uplo, trans, diag) = (flag(1, uplo)?, flag(2, trans)?, flag(3, diag)?);
            let n = dim(4, n)?;
            let ld = leading(6, lda, (n, n), layout)?;
            let incx = inc(8, incx)?;
            if n > 0 {
                // SAFETY: see above.
                let (a, x) = unsafe { (Storage::Full { ld }.triangle(a, n, uplo, layout), vec_mut(x, n, incx)) };
                triangle(level2::$core, trans, a, diag, x);
            }
            Ok(())
        }
        unsafe fn $band<T: Scalar>(
            _: &Call,
            layout: Layout,
            uplo: Option<Uplo>,
            trans: Option<Op>,
            diag: Option<Diag>,
            n: isize,
            k: isize,
            a: *const T,
            lda: isize,
            x: *mut T,
            incx: isize,
        ) -> Checked {
            let (uplo, trans, diag) = (flag(1, uplo)?, flag(2, trans)?, flag(3, diag)?);
            let (n, k) = (dim(4, n)?, dim(5, k)?);
            let ld = leading_band(7, lda, k)?;
            let incx = inc(9, incx)?;
            if n > 0 {
                // SAFETY: see above.
                let (a, x) = unsafe { (Storage::Band { k, ld }.triangle(a, n, uplo, layout), vec_mut(x, n, incx)) };
                triangle(level2::$core, trans, a, diag, x);
            }
            Ok(())
        }
        unsafe fn $packed<T: Scalar>(
            _: &Call,
            layout: Layout,
            uplo: Option<Uplo>,
            trans: Option<Op>,
            diag: Option<Diag>,
            n: isize,
            ap: *const T,
            x: *mut T,
            incx: isize,
        ) -> Checked {
            let (uplo, trans, diag) = (flag(1, uplo)?, flag(2, trans)?, flag(3, diag)?);
            let n = dim(4, n)?;
            let incx = inc(7, incx)?;
            if n > 0 {
                // SAFETY: see above.
                let (a, x) = unsafe { (Storage::Packed.triangle(ap, n, uplo, layout), vec_mut(x, n, incx)) };
                triangle(level2::$core, trans, a, diag, x);
            }
            Ok(())
        }
    };
}
triangular!(tri_mv: trmv tbmv tpmv);
triangular!(tri_sv: trsv tbsv tpsv);

/// Runs a triangular routine of the core on op(A).
fn triangle<'a, T: Scalar>(
    core: fn(Lines<'a, T>, Diag, VecMut<'a, T>),
    trans: Op,
    a: Lines<'a, T>,
    diag: Diag,
    x: VecMut<'a, T>,
) {
    core(trans.lines(a), diag, x);
}

unsafe fn geru<T: Scalar>(
    call: &Call,
    layout: Layout,
    m: isize,
    n: isize,
    alpha: *const T,
    x: *const T,
    incx: isize,
    y: *const T,
    incy: isize,
    a: *mut T,
    lda: isize,
) -> Checked {
    // SAFETY: passed on to the caller.
    unsafe { ger(call, layout, false, m, n, alpha, x, incx, y, incy, a, lda) }
}

unsafe fn gerc<T: Scalar>(
    call: &Call,
    layout: Layout,
    m: isize,
    n: isize,
    alpha: *const T,
    x: *const T,
    incx: isize,
    y: *const T,
    incy: isize,
    a: *mut T,
    lda: isize,
) -> Checked {
    // SAFETY: passed on to the caller.
    unsafe { ger(call, layout, true, m, n, alpha, x, incx, y, incy, a, lda) }
}

unsafe fn ger<T: Scalar>(
    _: &Call,
    layout: Layout,
    conj_y: bool,
    m: isize,
    n: isize,
    alpha: *const T,
    x: *const T,
    incx: isize,
    y: *const T,
    incy: isize,
    a: *mut T,
    lda: isize,
) -> Checked {
    let (m, n) = (dim(1, m)?, dim(2, n)?);
    let (incx, incy) = (inc(5, incx)?, inc(7, incy)?);
    let lda = leading(9, lda, (m, n), layout)?;
    if m == 0 || n == 0 {
        return Ok(());
    }
    // SAFETY: see above.
    unsafe {
        let alpha = *alpha;
        if alpha != T::ZERO {
            level2::ger(alpha, vec(x, m, incx), false, vec(y, n, incy), conj_y, mat_mut(a, (m, n), lda, layout));
        }
    }
    Ok(())
}

/// A := alpha*x*x^T + A or alpha*x*x^H + A, in one triangle; `n` is positive.
unsafe fn rank1<T: Scalar>(
    symmetry: Symmetry,
    storage: StorageMut,
    layout: Layout,
    uplo: Uplo,
    n: usize,
    alpha: T,
    x: *const T,
    incx: isize,
    a: *mut T,
) {
    if alpha != T::ZERO {
        // SAFETY: see above.
        unsafe { level2::sym_rank1(alpha, vec(x, n, incx), symmetry, storage.triangle(a, n, uplo, layout)) }
    }
}

/// The bodies of `syr` and `spr`, or of `her` and `hpr`: the Hermitian ones have a real alpha.
macro_rules! rank1 {
    ($symmetry:ident, $alpha:ty: $full:ident $packed:ident) => {
        unsafe fn $full<T: Scalar>(
            _: &Call,
            layout: Layout,
            uplo: Option<Uplo>,
            n: isize,
            alpha: *const $alpha,
            x: *const T,
            incx: isize,
            a: *mut T,
            lda: isize,
        ) -> Checked {
            let uplo = flag(1, uplo)?;
            let n = dim(2, n)?;
            let incx = inc(5, incx)?;
            let ld = leading(7, lda, (n, n), layout)?;
            if n > 0 {
                // SAFETY: see above.
                unsafe {
                    let alpha = T::from_real((*alpha).re());
                    rank1(Symmetry::$symmetry, StorageMut::Full { ld }, layout, uplo, n, alpha, x, incx, a);
                }
            }
            Ok(())
        }
        unsafe fn $packed<T: Scalar>(
            _: &Call,
            layout: Layout,
            uplo: Option<Uplo>,
            n: isize,
            alpha: *const $alpha,
            x: *const T,
            incx: isize,
            ap: *mut T,
        ) -> Checked {
            let uplo = flag(1, uplo)?;
            let n = dim(2, n)?;
            let incx = inc(5, incx)?;
            if n > 0 {
                // SAFETY: see above.
                unsafe {
                    let alpha = T::from_real((*alpha).re());
                    rank1(Symmetry::$symmetry, StorageMut::Packed, layout, uplo, n, alpha, x, incx, ap);
                }
            }
            Ok(())
        }
    };
}
// The symmetric ones exist for real types only (the complex ones are LAPACK's), so alpha is real in both.
rank1!(Symmetric, T: syr spr);
rank1!(Hermitian, T::Real: her hpr);

/// A := alpha*x*y^T + alpha*y*x^T + A, or its Hermitian kin, in one triangle; `n` is positive.
unsafe fn rank2<T: Scalar>(
    symmetry: Symmetry,
    storage: StorageMut,
    layout: Layout,
    uplo: Uplo,
    n: usize,
    alpha: *const T,
    (x, incx): (*const T, isize),
    (y, incy): (*const T, isize),
    a: *mut T,
) {
    // SAFETY: see above.
    unsafe {
        let alpha = *alpha;
        if alpha != T::ZERO {
            let a = storage.triangle(a, n, uplo, layout);
            level2::sym_rank2(alpha, vec(x, n, incx), vec(y, n, incy), symmetry, a);
        }
    }
}

/// The bodies of `syr2` and `spr2`, or of `her2` and `hpr2`.
macro_rules! rank2 {
    ($symmetry:ident: $full:ident $packed:ident) => {
        unsafe fn $full<T: Scalar>(
            _: &Call,
            layout: Layout,
            uplo: Option<Uplo>,
            n: isize,
            alpha: *const T,
            x: *const T,
            incx: isize,
            y: *const T,
            incy: isize,
            a: *mut T,
            lda: isize,
        ) -> Checked {
            let uplo = flag(1, uplo)?;
            let n = dim(2, n)?;
            let (x, y) = ((x, inc(5, incx)?), (y, inc(7, incy)?));
            let ld = leading(9, lda, (n, n), layout)?;
            if n > 0 {
                // SAFETY: see above.
                unsafe { rank2(Symmetry::$symmetry, StorageMut::Full { ld }, layout, uplo, n, alpha, x, y, a) }
            }
            Ok(())
        }
        unsafe fn $packed<T: Scalar>(
            _: &Call,
            layout: Layout,
            uplo: Option<Uplo>,
            n: isize,
            alpha: *const T,
            x: *const T,
            incx: isize,
            y: *const T,
            incy: isize,
            ap: *mut T,
        ) -> Checked {
            let uplo = flag(1, uplo)?;
            let n = dim(2, n)?;
            let (x, y) = ((x, inc(5, incx)?), (y, inc(7, incy)?));
            if n > 0 {
                // SAFETY: see above.
                unsafe { rank2(Symmetry::$symmetry, StorageMut::Packed, layout, uplo, n, alpha, x, y, ap) }
            }
            Ok(())
        }
    };
}
rank2!(Symmetric: syr2 spr2);
rank2!(Hermitian: her2 hpr2);

export! { "y := alpha*op(A)*x + beta*y";
both matrix gemv(trans: trans, m: int, n: int, alpha: scalar, a: input, lda: int, x: input, incx: int,
    beta: scalar, y: output, incy: int);
sgemv f32, dgemv f64, cgemv c32, zgemv c64 }
export! { "y := alpha*op(A)*x + beta*y, A a band matrix with kl diagonals below and ku above the main one";
both matrix gbmv(trans: trans, m: int, n: int, kl: int, ku: int, alpha: scalar, a: input, lda: int,
    x: input, incx: int, beta: scalar, y: output, incy: int);
sgbmv f32, dgbmv f64, cgbmv c32, zgbmv c64 }
export! { "y := alpha*A*x + beta*y, A symmetric";
both matrix symv(uplo: uplo, n: int, alpha: scalar, a: input, lda: int, x: input, incx: int,
    beta: scalar, y: output, incy: int);
ssymv f32, dsymv f64 }
export! { "y := alpha*A*x + beta*y, A symmetric, band storage";
both matrix sbmv(uplo: uplo, n: int, k: int, alpha: scalar, a: input, lda: int, x: input, incx: int,
    beta: scalar, y: output, incy: int);
ssbmv f32, dsbmv f64 }
export! { "y := alpha*A*x + beta*y, A symmetric, packed storage";
both matrix spmv(uplo: uplo, n: int, alpha: scalar, ap: input, x: input, incx: int,
    beta: scalar, y: output, incy: int);
sspmv f32, dspmv f64 }
export! { "y := alpha*A*x + beta*y, A Hermitian";
both matrix hemv(uplo: uplo, n: int, alpha: scalar, a: input, lda: int, x: input, incx: int,
    beta: scalar, y: output, incy: int);
chemv c32, zhemv c64 }
export! { "y := alpha*A*x + beta*y, A Hermitian, band storage";
both matrix hbmv(uplo: uplo, n: int, k: int, alpha: scalar, a: input, lda: int, x: input, incx: int,
    beta: scalar, y: output, incy: int);
chbmv c32, zhbmv c64 }
export! { "y := alpha*A*x + beta*y, A Hermitian, packed storage";
both matrix hpmv(uplo: uplo, n: int, alpha: scalar, ap: input, x: input, incx: int,
    beta: scalar, y: output, incy: int);
chpmv c32, zhpmv c64 }
export! { "x := op(A)*x, A triangular";
both matrix trmv(uplo: uplo, trans: trans, diag: diag, n: int, a: input, lda: int, x: output, incx: int);
strmv f32, dtrmv f64, ctrmv c32, ztrmv c64 }
export! { "x := op(A)*x, A triangular, band storage";
both matrix tbmv(uplo: uplo, trans: trans, diag: diag, n: int, k: int, a: input, lda: int,
    x: output, incx: int);
stbmv f32, dtbmv f64, ctbmv c32, ztbmv c64 }
export! { "x := op(A)*x, A triangular, packed storage";
both matrix tpmv(uplo: uplo, trans: trans, diag: diag, n: int, ap: input, x: output, incx: int);
stpmv f32, dtpmv f64, ctpmv c32, ztpmv c64 }
export! { "Solves op(A)*x = b, A triangular; x holds b on entry.";
both matrix trsv(uplo: uplo, trans: trans, diag: diag, n: int, a: input, lda: int, x: output, incx: int);
strsv f32, dtrsv f64, ctrsv c32, ztrsv c64 }
export! { "Solves op(A)*x = b, A triangular, band storage; x holds b on entry.";
both matrix tbsv(uplo: uplo, trans: trans, diag: diag, n: int, k: int, a: input, lda: int,
    x: output, incx: int);
stbsv f32, dtbsv f64, ctbsv c32, ztbsv c64 }
export! { "Solves op(A)*x = b, A triangular, packed storage; x holds b on entry.";
both matrix tpsv(uplo: uplo, trans: trans, diag: diag, n: int, ap: input, x: output, incx: int);
stpsv f32, dtpsv f64, ctpsv c32, ztpsv c64 }
export! { "A := alpha*x*y^T + A";
both matrix geru(m: int, n: int, alpha: scalar, x: input, incx: int, y: input, incy: int, a: output, lda: int);
sger f32, dger f64, cgeru c32, zgeru c64 }
export! { "A := alpha*x*y^H + A";
both matrix gerc(m: int, n: int, alpha: scalar, x: input, incx: int, y: input, incy: int, a: output, lda: int);
cgerc c32, zgerc c64 }
export! { "A := alpha*x*x^T + A, A symmetric";
both matrix syr(uplo: uplo, n: int, alpha: scalar, x: input, incx: int, a: output, lda: int);
ssyr f32, dsyr f64 }
export! { "A := alpha*x*x^T + A, A symmetric, packed storage";
both matrix spr(uplo: uplo, n: int, alpha: scalar, x: input, incx: int, ap: output);
sspr f32, dspr f64 }
export! { "A := alpha*x*x^H + A, A Hermitian";
both matrix her(uplo: uplo, n: int, alpha: real, x: input, incx: int, a: output, lda: int);
cher c32, zher c64 }
export! { "A := alpha*x*x^H + A, A Hermitian, packed storage";
both matrix hpr(uplo: uplo, n: int, alpha: real, x: input, incx: int, ap: output);
chpr c32, zhpr c64 }
export! { "A := alpha*x*y^T + alpha*y*x^T + A, A symmetric";
both matrix syr2(uplo: uplo, n: int, alpha: scalar, x: input, incx: int, y: input, incy: int,
    a: output, lda: int);
ssyr2 f32, dsyr2 f64 }
export! { "A := alpha*x*y^T + alpha*y*x^T + A, A symmetric, packed storage";
both matrix spr2(uplo: uplo, n: int, alpha: scalar, x: input, incx: int, y: input, incy: int, ap: output);
sspr2 f32, dspr2 f64 }
export! { "A := alpha*x*y^H + conj(alpha)*y*x^H + A, A Hermitian";
both matrix her2(uplo: uplo, n: int, alpha: scalar, x: input, incx: int, y: input, incy: int,
    a: output, lda: int);
cher2 c32, zher2 c64 }
export! { "A := alpha*x*y^H + conj(alpha)*y*x^H + A, A Hermitian, packed storage";
both matrix hpr2(uplo: uplo, n: int, alpha: scalar, x: input, incx: int, y: input, incy: int, ap: output);
chpr2 c32, zhpr2 c64 }
// Symmetric complex ones that OpenBLAS exports; symv, spmv, syr and spr of complex type belong to LAPACK.
export! { "y := alpha*A*x + beta*y, A complex symmetric, band storage (extension)";
fortran matrix sbmv(uplo: uplo, n: int, k: int, alpha: scalar, a: input, lda: int, x: input, incx: int,
    beta: scalar, y: output, incy: int);
csbmv c32, zsbmv c64 }
export! { "A := alpha*x*y^T + alpha*y*x^T + A, A complex symmetric (extension)";
fortran matrix syr2(uplo: uplo, n: int, alpha: scalar, x: input, incx: int, y: input, incy: int,
    a: output, lda: int);
csyr2 c32, zsyr2 c64 }
export! { "A := alpha*x*y^T + alpha*y*x^T + A, A complex symmetric, packed storage (extension)";
fortran matrix spr2(uplo: uplo, n: int, alpha: scalar, x: input, incx: int, y: input, incy: int, ap: output);
cspr2 c32, zspr2 c64 }
