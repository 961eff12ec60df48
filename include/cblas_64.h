/* CBLAS with 64 bit integers, under Netlib's and MKL's names (cblas_dgemm_64). The library has them under OpenBLAS's too
 * (cblas_dgemm64_). May be used together with cblas.h, in which the comments on conventions are.
 *
 * Generated from ffi/src by `make headers`; do not edit.
 */
#ifndef CBLAS_64_H
#define CBLAS_64_H

#include "cblas.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ---- Errors -------------------------------------------------------------------------------------------------- */

/* Called when argument number p is bad; prints and returns. An application may define its own. */
void cblas_xerbla_64(int64_t p, const char *rout, const char *form, ...);

/* ---- Level 1: vectors ---------------------------------------------------------------------------------------- */
/* Indices are returned counted from 0. */

/* Exchanges x and y. */
void cblas_sswap_64(int64_t n, float *x, int64_t incx, float *y, int64_t incy);
void cblas_dswap_64(int64_t n, double *x, int64_t incx, double *y, int64_t incy);
void cblas_cswap_64(int64_t n, void *x, int64_t incx, void *y, int64_t incy);
void cblas_zswap_64(int64_t n, void *x, int64_t incx, void *y, int64_t incy);

/* x := alpha*x */
void cblas_sscal_64(int64_t n, float alpha, float *x, int64_t incx);
void cblas_dscal_64(int64_t n, double alpha, double *x, int64_t incx);
void cblas_cscal_64(int64_t n, const void *alpha, void *x, int64_t incx);
void cblas_zscal_64(int64_t n, const void *alpha, void *x, int64_t incx);

/* x := alpha*x with a real alpha */
void cblas_csscal_64(int64_t n, float alpha, void *x, int64_t incx);
void cblas_zdscal_64(int64_t n, double alpha, void *x, int64_t incx);

/* y := x */
void cblas_scopy_64(int64_t n, const float *x, int64_t incx, float *y, int64_t incy);
void cblas_dcopy_64(int64_t n, const double *x, int64_t incx, double *y, int64_t incy);
void cblas_ccopy_64(int64_t n, const void *x, int64_t incx, void *y, int64_t incy);
void cblas_zcopy_64(int64_t n, const void *x, int64_t incx, void *y, int64_t incy);

/* y := alpha*x + y */
void cblas_saxpy_64(int64_t n, float alpha, const float *x, int64_t incx, float *y, int64_t incy);
void cblas_daxpy_64(int64_t n, double alpha, const double *x, int64_t incx, double *y, int64_t incy);
void cblas_caxpy_64(int64_t n, const void *alpha, const void *x, int64_t incx, void *y, int64_t incy);
void cblas_zaxpy_64(int64_t n, const void *alpha, const void *x, int64_t incx, void *y, int64_t incy);

/* Returns x^T y. */
float cblas_sdot_64(int64_t n, const float *x, int64_t incx, const float *y, int64_t incy);
double cblas_ddot_64(int64_t n, const double *x, int64_t incx, const double *y, int64_t incy);

/* Returns x^T y, summed in double precision. */
double cblas_dsdot_64(int64_t n, const float *x, int64_t incx, const float *y, int64_t incy);

/* Returns sb + x^T y, summed in double precision. */
float cblas_sdsdot_64(int64_t n, float sb, const float *x, int64_t incx, const float *y, int64_t incy);

/* Returns x^T y by value; see also the _sub form. */
corten_complex_float cblas_cdotu_64(int64_t n, const void *x, int64_t incx, const void *y, int64_t incy);
corten_complex_double cblas_zdotu_64(int64_t n, const void *x, int64_t incx, const void *y, int64_t incy);

/* Returns x^H y by value; see also the _sub form. */
corten_complex_float cblas_cdotc_64(int64_t n, const void *x, int64_t incx, const void *y, int64_t incy);
corten_complex_double cblas_zdotc_64(int64_t n, const void *x, int64_t incx, const void *y, int64_t incy);

/* *dotu := x^T y */
void cblas_cdotu_sub_64(int64_t n, const void *x, int64_t incx, const void *y, int64_t incy, void *dotu);
void cblas_zdotu_sub_64(int64_t n, const void *x, int64_t incx, const void *y, int64_t incy, void *dotu);

/* *dotc := x^H y */
void cblas_cdotc_sub_64(int64_t n, const void *x, int64_t incx, const void *y, int64_t incy, void *dotc);
void cblas_zdotc_sub_64(int64_t n, const void *x, int64_t incx, const void *y, int64_t incy, void *dotc);

/* Returns the Euclidean norm of x. */
float cblas_snrm2_64(int64_t n, const float *x, int64_t incx);
double cblas_dnrm2_64(int64_t n, const double *x, int64_t incx);
float cblas_scnrm2_64(int64_t n, const void *x, int64_t incx);
double cblas_dznrm2_64(int64_t n, const void *x, int64_t incx);

/* Returns the sum of |re x[i]| + |im x[i]|. */
float cblas_sasum_64(int64_t n, const float *x, int64_t incx);
double cblas_dasum_64(int64_t n, const double *x, int64_t incx);
float cblas_scasum_64(int64_t n, const void *x, int64_t incx);
double cblas_dzasum_64(int64_t n, const void *x, int64_t incx);

/* Returns the index of the first element with the largest |re| + |im|. */
CBLAS_INDEX cblas_isamax_64(int64_t n, const float *x, int64_t incx);
CBLAS_INDEX cblas_idamax_64(int64_t n, const double *x, int64_t incx);
CBLAS_INDEX cblas_icamax_64(int64_t n, const void *x, int64_t incx);
CBLAS_INDEX cblas_izamax_64(int64_t n, const void *x, int64_t incx);

/* Makes a plane rotation that turns (a, b) into (r, 0); a becomes r, b what rebuilds the rotation. */
void cblas_srotg_64(float *a, float *b, float *c, float *s);
void cblas_drotg_64(double *a, double *b, double *c, double *s);

/* Makes a plane rotation that turns (a, b) into (r, 0); a becomes r. */
void cblas_crotg_64(void *a, const void *b, float *c, void *s);
void cblas_zrotg_64(void *a, const void *b, double *c, void *s);

/* Applies a plane rotation: (x, y) := (c*x + s*y, c*y - s*x) */
void cblas_srot_64(int64_t n, float *x, int64_t incx, float *y, int64_t incy, float c, float s);
void cblas_drot_64(int64_t n, double *x, int64_t incx, double *y, int64_t incy, double c, double s);
void cblas_csrot_64(int64_t n, void *x, int64_t incx, void *y, int64_t incy, float c, float s);
void cblas_zdrot_64(int64_t n, void *x, int64_t incx, void *y, int64_t incy, double c, double s);

/* Makes a modified plane rotation. */
void cblas_srotmg_64(float *d1, float *d2, float *x1, float y1, float *param);
void cblas_drotmg_64(double *d1, double *d2, double *x1, double y1, double *param);

/* Applies a modified plane rotation. */
void cblas_srotm_64(int64_t n, float *x, int64_t incx, float *y, int64_t incy, const float *param);
void cblas_drotm_64(int64_t n, double *x, int64_t incx, double *y, int64_t incy, const double *param);

/* Returns |re z| + |im z|. */
float cblas_scabs1_64(const void *z);
double cblas_dcabs1_64(const void *z);

/* ---- Level 2: a matrix and vectors ---------------------------------------------------------------------------- */

/* y := alpha*op(A)*x + beta*y */
void cblas_sgemv_64(CBLAS_LAYOUT layout, CBLAS_TRANSPOSE trans, int64_t m, int64_t n, float alpha,
    const float *a, int64_t lda, const float *x, int64_t incx, float beta, float *y, int64_t incy);
void cblas_dgemv_64(CBLAS_LAYOUT layout, CBLAS_TRANSPOSE trans, int64_t m, int64_t n, double alpha,
    const double *a, int64_t lda, const double *x, int64_t incx, double beta, double *y, int64_t incy);
void cblas_cgemv_64(CBLAS_LAYOUT layout, CBLAS_TRANSPOSE trans, int64_t m, int64_t n, const void *alpha,
    const void *a, int64_t lda, const void *x, int64_t incx, const void *beta, void *y, int64_t incy);
void cblas_zgemv_64(CBLAS_LAYOUT layout, CBLAS_TRANSPOSE trans, int64_t m, int64_t n, const void *alpha,
    const void *a, int64_t lda, const void *x, int64_t incx, const void *beta, void *y, int64_t incy);

/* y := alpha*op(A)*x + beta*y, A a band matrix with kl diagonals below and ku above the main one */
void cblas_sgbmv_64(CBLAS_LAYOUT layout, CBLAS_TRANSPOSE trans, int64_t m, int64_t n, int64_t kl, int64_t ku,
    float alpha, const float *a, int64_t lda, const float *x, int64_t incx, float beta, float *y,
    int64_t incy);
void cblas_dgbmv_64(CBLAS_LAYOUT layout, CBLAS_TRANSPOSE trans, int64_t m, int64_t n, int64_t kl, int64_t ku,
    double alpha, const double *a, int64_t lda, const double *x, int64_t incx, double beta, double *y,
    int64_t incy);
void cblas_cgbmv_64(CBLAS_LAYOUT layout, CBLAS_TRANSPOSE trans, int64_t m, int64_t n, int64_t kl, int64_t ku,
    const void *alpha, const void *a, int64_t lda, const void *x, int64_t incx, const void *beta, void *y,
    int64_t incy);
void cblas_zgbmv_64(CBLAS_LAYOUT layout, CBLAS_TRANSPOSE trans, int64_t m, int64_t n, int64_t kl, int64_t ku,
    const void *alpha, const void *a, int64_t lda, const void *x, int64_t incx, const void *beta, void *y,
    int64_t incy);

/* y := alpha*A*x + beta*y, A symmetric */
void cblas_ssymv_64(CBLAS_LAYOUT layout, CBLAS_UPLO uplo, int64_t n, float alpha, const float *a, int64_t lda,
    const float *x, int64_t incx, float beta, float *y, int64_t incy);
void cblas_dsymv_64(CBLAS_LAYOUT layout, CBLAS_UPLO uplo, int64_t n, double alpha, const double *a,
    int64_t lda, const double *x, int64_t incx, double beta, double *y, int64_t incy);

/* y := alpha*A*x + beta*y, A symmetric, band storage */
void cblas_ssbmv_64(CBLAS_LAYOUT layout, CBLAS_UPLO uplo, int64_t n, int64_t k, float alpha, const float *a,
    int64_t lda, const float *x, int64_t incx, float beta, float *y, int64_t incy);
void cblas_dsbmv_64(CBLAS_LAYOUT layout, CBLAS_UPLO uplo, int64_t n, int64_t k, double alpha, const double *a,
    int64_t lda, const double *x, int64_t incx, double beta, double *y, int64_t incy);

/* y := alpha*A*x + beta*y, A symmetric, packed storage */
void cblas_sspmv_64(CBLAS_LAYOUT layout, CBLAS_UPLO uplo, int64_t n, float alpha, const float *ap,
    const float *x, int64_t incx, float beta, float *y, int64_t incy);
void cblas_dspmv_64(CBLAS_LAYOUT layout, CBLAS_UPLO uplo, int64_t n, double alpha, const double *ap,
    const double *x, int64_t incx, double beta, double *y, int64_t incy);

/* y := alpha*A*x + beta*y, A Hermitian */
void cblas_chemv_64(CBLAS_LAYOUT layout, CBLAS_UPLO uplo, int64_t n, const void *alpha, const void *a,
    int64_t lda, const void *x, int64_t incx, const void *beta, void *y, int64_t incy);
void cblas_zhemv_64(CBLAS_LAYOUT layout, CBLAS_UPLO uplo, int64_t n, const void *alpha, const void *a,
    int64_t lda, const void *x, int64_t incx, const void *beta, void *y, int64_t incy);

/* y := alpha*A*x + beta*y, A Hermitian, band storage */
void cblas_chbmv_64(CBLAS_LAYOUT layout, CBLAS_UPLO uplo, int64_t n, int64_t k, const void *alpha,
    const void *a, int64_t lda, const void *x, int64_t incx, const void *beta, void *y, int64_t incy);
void cblas_zhbmv_64(CBLAS_LAYOUT layout, CBLAS_UPLO uplo, int64_t n, int64_t k, const void *alpha,
    const void *a, int64_t lda, const void *x, int64_t incx, const void *beta, void *y, int64_t incy);

/* y := alpha*A*x + beta*y, A Hermitian, packed storage */
void cblas_chpmv_64(CBLAS_LAYOUT layout, CBLAS_UPLO uplo, int64_t n, const void *alpha, const void *ap,
    const void *x, int64_t incx, const void *beta, void *y, int64_t incy);
void cblas_zhpmv_64(CBLAS_LAYOUT layout, CBLAS_UPLO uplo, int64_t n, const void *alpha, const void *ap,
    const void *x, int64_t incx, const void *beta, void *y, int64_t incy);

/* x := op(A)*x, A triangular */
void cblas_strmv_64(CBLAS_LAYOUT layout, CBLAS_UPLO uplo, CBLAS_TRANSPOSE trans, CBLAS_DIAG diag, int64_t n,
    const float *a, int64_t lda, float *x, int64_t incx);
void cblas_dtrmv_64(CBLAS_LAYOUT layout, CBLAS_UPLO uplo, CBLAS_TRANSPOSE trans, CBLAS_DIAG diag, int64_t n,
    const double *a, int64_t lda, double *x, int64_t incx);
void cblas_ctrmv_64(CBLAS_LAYOUT layout, CBLAS_UPLO uplo, CBLAS_TRANSPOSE trans, CBLAS_DIAG diag, int64_t n,
    const void *a, int64_t lda, void *x, int64_t incx);
void cblas_ztrmv_64(CBLAS_LAYOUT layout, CBLAS_UPLO uplo, CBLAS_TRANSPOSE trans, CBLAS_DIAG diag, int64_t n,
    const void *a, int64_t lda, void *x, int64_t incx);

/* x := op(A)*x, A triangular, band storage */
void cblas_stbmv_64(CBLAS_LAYOUT layout, CBLAS_UPLO uplo, CBLAS_TRANSPOSE trans, CBLAS_DIAG diag, int64_t n,
    int64_t k, const float *a, int64_t lda, float *x, int64_t incx);
void cblas_dtbmv_64(CBLAS_LAYOUT layout, CBLAS_UPLO uplo, CBLAS_TRANSPOSE trans, CBLAS_DIAG diag, int64_t n,
    int64_t k, const double *a, int64_t lda, double *x, int64_t incx);
void cblas_ctbmv_64(CBLAS_LAYOUT layout, CBLAS_UPLO uplo, CBLAS_TRANSPOSE trans, CBLAS_DIAG diag, int64_t n,
    int64_t k, const void *a, int64_t lda, void *x, int64_t incx);
void cblas_ztbmv_64(CBLAS_LAYOUT layout, CBLAS_UPLO uplo, CBLAS_TRANSPOSE trans, CBLAS_DIAG diag, int64_t n,
    int64_t k, const void *a, int64_t lda, void *x, int64_t incx);

/* x := op(A)*x, A triangular, packed storage */
void cblas_stpmv_64(CBLAS_LAYOUT layout, CBLAS_UPLO uplo, CBLAS_TRANSPOSE trans, CBLAS_DIAG diag, int64_t n,
    const float *ap, float *x, int64_t incx);
void cblas_dtpmv_64(CBLAS_LAYOUT layout, CBLAS_UPLO uplo, CBLAS_TRANSPOSE trans, CBLAS_DIAG diag, int64_t n,
    const double *ap, double *x, int64_t incx);
void cblas_ctpmv_64(CBLAS_LAYOUT layout, CBLAS_UPLO uplo, CBLAS_TRANSPOSE trans, CBLAS_DIAG diag, int64_t n,
    const void *ap, void *x, int64_t incx);
void cblas_ztpmv_64(CBLAS_LAYOUT layout, CBLAS_UPLO uplo, CBLAS_TRANSPOSE trans, CBLAS_DIAG diag, int64_t n,
    const void *ap, void *x, int64_t incx);

/* Solves op(A)*x = b, A triangular; x holds b on entry. */
void cblas_strsv_64(CBLAS_LAYOUT layout, CBLAS_UPLO uplo, CBLAS_TRANSPOSE trans, CBLAS_DIAG diag, int64_t n,
    const float *a, int64_t lda, float *x, int64_t incx);
void cblas_dtrsv_64(CBLAS_LAYOUT layout, CBLAS_UPLO uplo, CBLAS_TRANSPOSE trans, CBLAS_DIAG diag, int64_t n,
    const double *a, int64_t lda, double *x, int64_t incx);
void cblas_ctrsv_64(CBLAS_LAYOUT layout, CBLAS_UPLO uplo, CBLAS_TRANSPOSE trans, CBLAS_DIAG diag, int64_t n,
    const void *a, int64_t lda, void *x, int64_t incx);
void cblas_ztrsv_64(CBLAS_LAYOUT layout, CBLAS_UPLO uplo, CBLAS_TRANSPOSE trans, CBLAS_DIAG diag, int64_t n,
    const void *a, int64_t lda, void *x, int64_t incx);

/* Solves op(A)*x = b, A triangular, band storage; x holds b on entry. */
void cblas_stbsv_64(CBLAS_LAYOUT layout, CBLAS_UPLO uplo, CBLAS_TRANSPOSE trans, CBLAS_DIAG diag, int64_t n,
    int64_t k, const float *a, int64_t lda, float *x, int64_t incx);
void cblas_dtbsv_64(CBLAS_LAYOUT layout, CBLAS_UPLO uplo, CBLAS_TRANSPOSE trans, CBLAS_DIAG diag, int64_t n,
    int64_t k, const double *a, int64_t lda, double *x, int64_t incx);
void cblas_ctbsv_64(CBLAS_LAYOUT layout, CBLAS_UPLO uplo, CBLAS_TRANSPOSE trans, CBLAS_DIAG diag, int64_t n,
    int64_t k, const void *a, int64_t lda, void *x, int64_t incx);
void cblas_ztbsv_64(CBLAS_LAYOUT layout, CBLAS_UPLO uplo, CBLAS_TRANSPOSE trans, CBLAS_DIAG diag, int64_t n,
    int64_t k, const void *a, int64_t lda, void *x, int64_t incx);

/* Solves op(A)*x = b, A triangular, packed storage; x holds b on entry. */
void cblas_stpsv_64(CBLAS_LAYOUT layout, CBLAS_UPLO uplo, CBLAS_TRANSPOSE trans, CBLAS_DIAG diag, int64_t n,
    const float *ap, float *x, int64_t incx);
void cblas_dtpsv_64(CBLAS_LAYOUT layout, CBLAS_UPLO uplo, CBLAS_TRANSPOSE trans, CBLAS_DIAG diag, int64_t n,
    const double *ap, double *x, int64_t incx);
void cblas_ctpsv_64(CBLAS_LAYOUT layout, CBLAS_UPLO uplo, CBLAS_TRANSPOSE trans, CBLAS_DIAG diag, int64_t n,
    const void *ap, void *x, int64_t incx);
void cblas_ztpsv_64(CBLAS_LAYOUT layout, CBLAS_UPLO uplo, CBLAS_TRANSPOSE trans, CBLAS_DIAG diag, int64_t n,
    const void *ap, void *x, int64_t incx);

/* A := alpha*x*y^T + A */
void cblas_sger_64(CBLAS_LAYOUT layout, int64_t m, int64_t n, float alpha, const float *x, int64_t incx,
    const float *y, int64_t incy, float *a, int64_t lda);
void cblas_dger_64(CBLAS_LAYOUT layout, int64_t m, int64_t n, double alpha, const double *x, int64_t incx,
    const double *y, int64_t incy, double *a, int64_t lda);
void cblas_cgeru_64(CBLAS_LAYOUT layout, int64_t m, int64_t n, const void *alpha, const void *x, int64_t incx,
    const void *y, int64_t incy, void *a, int64_t lda);
void cblas_zgeru_64(CBLAS_LAYOUT layout, int64_t m, int64_t n, const void *alpha, const void *x, int64_t incx,
    const void *y, int64_t incy, void *a, int64_t lda);

/* A := alpha*x*y^H + A */
void cblas_cgerc_64(CBLAS_LAYOUT layout, int64_t m, int64_t n, const void *alpha, const void *x, int64_t incx,
    const void *y, int64_t incy, void *a, int64_t lda);
void cblas_zgerc_64(CBLAS_LAYOUT layout, int64_t m, int64_t n, const void *alpha, const void *x, int64_t incx,
    const void *y, int64_t incy, void *a, int64_t lda);

/* A := alpha*x*x^T + A, A symmetric */
void cblas_ssyr_64(CBLAS_LAYOUT layout, CBLAS_UPLO uplo, int64_t n, float alpha, const float *x, int64_t incx,
    float *a, int64_t lda);
void cblas_dsyr_64(CBLAS_LAYOUT layout, CBLAS_UPLO uplo, int64_t n, double alpha, const double *x,
    int64_t incx, double *a, int64_t lda);

/* A := alpha*x*x^T + A, A symmetric, packed storage */
void cblas_sspr_64(CBLAS_LAYOUT layout, CBLAS_UPLO uplo, int64_t n, float alpha, const float *x, int64_t incx,
    float *ap);
void cblas_dspr_64(CBLAS_LAYOUT layout, CBLAS_UPLO uplo, int64_t n, double alpha, const double *x,
    int64_t incx, double *ap);

/* A := alpha*x*x^H + A, A Hermitian */
void cblas_cher_64(CBLAS_LAYOUT layout, CBLAS_UPLO uplo, int64_t n, float alpha, const void *x, int64_t incx,
    void *a, int64_t lda);
void cblas_zher_64(CBLAS_LAYOUT layout, CBLAS_UPLO uplo, int64_t n, double alpha, const void *x, int64_t incx,
    void *a, int64_t lda);

/* A := alpha*x*x^H + A, A Hermitian, packed storage */
void cblas_chpr_64(CBLAS_LAYOUT layout, CBLAS_UPLO uplo, int64_t n, float alpha, const void *x, int64_t incx,
    void *ap);
void cblas_zhpr_64(CBLAS_LAYOUT layout, CBLAS_UPLO uplo, int64_t n, double alpha, const void *x, int64_t incx,
    void *ap);

/* A := alpha*x*y^T + alpha*y*x^T + A, A symmetric */
void cblas_ssyr2_64(CBLAS_LAYOUT layout, CBLAS_UPLO uplo, int64_t n, float alpha, const float *x,
    int64_t incx, const float *y, int64_t incy, float *a, int64_t lda);
void cblas_dsyr2_64(CBLAS_LAYOUT layout, CBLAS_UPLO uplo, int64_t n, double alpha, const double *x,
    int64_t incx, const double *y, int64_t incy, double *a, int64_t lda);

/* A := alpha*x*y^T + alpha*y*x^T + A, A symmetric, packed storage */
void cblas_sspr2_64(CBLAS_LAYOUT layout, CBLAS_UPLO uplo, int64_t n, float alpha, const float *x,
    int64_t incx, const float *y, int64_t incy, float *ap);
void cblas_dspr2_64(CBLAS_LAYOUT layout, CBLAS_UPLO uplo, int64_t n, double alpha, const double *x,
    int64_t incx, const double *y, int64_t incy, double *ap);

/* A := alpha*x*y^H + conj(alpha)*y*x^H + A, A Hermitian */
void cblas_cher2_64(CBLAS_LAYOUT layout, CBLAS_UPLO uplo, int64_t n, const void *alpha, const void *x,
    int64_t incx, const void *y, int64_t incy, void *a, int64_t lda);
void cblas_zher2_64(CBLAS_LAYOUT layout, CBLAS_UPLO uplo, int64_t n, const void *alpha, const void *x,
    int64_t incx, const void *y, int64_t incy, void *a, int64_t lda);

/* A := alpha*x*y^H + conj(alpha)*y*x^H + A, A Hermitian, packed storage */
void cblas_chpr2_64(CBLAS_LAYOUT layout, CBLAS_UPLO uplo, int64_t n, const void *alpha, const void *x,
    int64_t incx, const void *y, int64_t incy, void *ap);
void cblas_zhpr2_64(CBLAS_LAYOUT layout, CBLAS_UPLO uplo, int64_t n, const void *alpha, const void *x,
    int64_t incx, const void *y, int64_t incy, void *ap);

/* ---- Level 3: matrices ---------------------------------------------------------------------------------------- */

/* C := alpha*op(A)*op(B) + beta*C */
void cblas_sgemm_64(CBLAS_LAYOUT layout, CBLAS_TRANSPOSE transa, CBLAS_TRANSPOSE transb, int64_t m, int64_t n,
    int64_t k, float alpha, const float *a, int64_t lda, const float *b, int64_t ldb, float beta, float *c,
    int64_t ldc);
void cblas_dgemm_64(CBLAS_LAYOUT layout, CBLAS_TRANSPOSE transa, CBLAS_TRANSPOSE transb, int64_t m, int64_t n,
    int64_t k, double alpha, const double *a, int64_t lda, const double *b, int64_t ldb, double beta,
    double *c, int64_t ldc);
void cblas_cgemm_64(CBLAS_LAYOUT layout, CBLAS_TRANSPOSE transa, CBLAS_TRANSPOSE transb, int64_t m, int64_t n,
    int64_t k, const void *alpha, const void *a, int64_t lda, const void *b, int64_t ldb, const void *beta,
    void *c, int64_t ldc);
void cblas_zgemm_64(CBLAS_LAYOUT layout, CBLAS_TRANSPOSE transa, CBLAS_TRANSPOSE transb, int64_t m, int64_t n,
    int64_t k, const void *alpha, const void *a, int64_t lda, const void *b, int64_t ldb, const void *beta,
    void *c, int64_t ldc);

/* C := alpha*A*B + beta*C or alpha*B*A + beta*C, A symmetric */
void cblas_ssymm_64(CBLAS_LAYOUT layout, CBLAS_SIDE side, CBLAS_UPLO uplo, int64_t m, int64_t n, float alpha,
    const float *a, int64_t lda, const float *b, int64_t ldb, float beta, float *c, int64_t ldc);
void cblas_dsymm_64(CBLAS_LAYOUT layout, CBLAS_SIDE side, CBLAS_UPLO uplo, int64_t m, int64_t n, double alpha,
    const double *a, int64_t lda, const double *b, int64_t ldb, double beta, double *c, int64_t ldc);
void cblas_csymm_64(CBLAS_LAYOUT layout, CBLAS_SIDE side, CBLAS_UPLO uplo, int64_t m, int64_t n,
    const void *alpha, const void *a, int64_t lda, const void *b, int64_t ldb, const void *beta, void *c,
    int64_t ldc);
void cblas_zsymm_64(CBLAS_LAYOUT layout, CBLAS_SIDE side, CBLAS_UPLO uplo, int64_t m, int64_t n,
    const void *alpha, const void *a, int64_t lda, const void *b, int64_t ldb, const void *beta, void *c,
    int64_t ldc);

/* C := alpha*A*B + beta*C or alpha*B*A + beta*C, A Hermitian */
void cblas_chemm_64(CBLAS_LAYOUT layout, CBLAS_SIDE side, CBLAS_UPLO uplo, int64_t m, int64_t n,
    const void *alpha, const void *a, int64_t lda, const void *b, int64_t ldb, const void *beta, void *c,
    int64_t ldc);
void cblas_zhemm_64(CBLAS_LAYOUT layout, CBLAS_SIDE side, CBLAS_UPLO uplo, int64_t m, int64_t n,
    const void *alpha, const void *a, int64_t lda, const void *b, int64_t ldb, const void *beta, void *c,
    int64_t ldc);

/* C := alpha*A*A^T + beta*C or alpha*A^T*A + beta*C, C symmetric */
void cblas_ssyrk_64(CBLAS_LAYOUT layout, CBLAS_UPLO uplo, CBLAS_TRANSPOSE trans, int64_t n, int64_t k,
    float alpha, const float *a, int64_t lda, float beta, float *c, int64_t ldc);
void cblas_dsyrk_64(CBLAS_LAYOUT layout, CBLAS_UPLO uplo, CBLAS_TRANSPOSE trans, int64_t n, int64_t k,
    double alpha, const double *a, int64_t lda, double beta, double *c, int64_t ldc);
void cblas_csyrk_64(CBLAS_LAYOUT layout, CBLAS_UPLO uplo, CBLAS_TRANSPOSE trans, int64_t n, int64_t k,
    const void *alpha, const void *a, int64_t lda, const void *beta, void *c, int64_t ldc);
void cblas_zsyrk_64(CBLAS_LAYOUT layout, CBLAS_UPLO uplo, CBLAS_TRANSPOSE trans, int64_t n, int64_t k,
    const void *alpha, const void *a, int64_t lda, const void *beta, void *c, int64_t ldc);

/* C := alpha*A*A^H + beta*C or alpha*A^H*A + beta*C, C Hermitian */
void cblas_cherk_64(CBLAS_LAYOUT layout, CBLAS_UPLO uplo, CBLAS_TRANSPOSE trans, int64_t n, int64_t k,
    float alpha, const void *a, int64_t lda, float beta, void *c, int64_t ldc);
void cblas_zherk_64(CBLAS_LAYOUT layout, CBLAS_UPLO uplo, CBLAS_TRANSPOSE trans, int64_t n, int64_t k,
    double alpha, const void *a, int64_t lda, double beta, void *c, int64_t ldc);

/* C := alpha*A*B^T + alpha*B*A^T + beta*C or the same with A^T*B and B^T*A, C symmetric */
void cblas_ssyr2k_64(CBLAS_LAYOUT layout, CBLAS_UPLO uplo, CBLAS_TRANSPOSE trans, int64_t n, int64_t k,
    float alpha, const float *a, int64_t lda, const float *b, int64_t ldb, float beta, float *c, int64_t ldc);
void cblas_dsyr2k_64(CBLAS_LAYOUT layout, CBLAS_UPLO uplo, CBLAS_TRANSPOSE trans, int64_t n, int64_t k,
    double alpha, const double *a, int64_t lda, const double *b, int64_t ldb, double beta, double *c,
    int64_t ldc);
void cblas_csyr2k_64(CBLAS_LAYOUT layout, CBLAS_UPLO uplo, CBLAS_TRANSPOSE trans, int64_t n, int64_t k,
    const void *alpha, const void *a, int64_t lda, const void *b, int64_t ldb, const void *beta, void *c,
    int64_t ldc);
void cblas_zsyr2k_64(CBLAS_LAYOUT layout, CBLAS_UPLO uplo, CBLAS_TRANSPOSE trans, int64_t n, int64_t k,
    const void *alpha, const void *a, int64_t lda, const void *b, int64_t ldb, const void *beta, void *c,
    int64_t ldc);

/* C := alpha*A*B^H + conj(alpha)*B*A^H + beta*C or the same with A^H*B and B^H*A, C Hermitian */
void cblas_cher2k_64(CBLAS_LAYOUT layout, CBLAS_UPLO uplo, CBLAS_TRANSPOSE trans, int64_t n, int64_t k,
    const void *alpha, const void *a, int64_t lda, const void *b, int64_t ldb, float beta, void *c,
    int64_t ldc);
void cblas_zher2k_64(CBLAS_LAYOUT layout, CBLAS_UPLO uplo, CBLAS_TRANSPOSE trans, int64_t n, int64_t k,
    const void *alpha, const void *a, int64_t lda, const void *b, int64_t ldb, double beta, void *c,
    int64_t ldc);

/* B := alpha*op(A)*B or alpha*B*op(A), A triangular */
void cblas_strmm_64(CBLAS_LAYOUT layout, CBLAS_SIDE side, CBLAS_UPLO uplo, CBLAS_TRANSPOSE transa,
    CBLAS_DIAG diag, int64_t m, int64_t n, float alpha, const float *a, int64_t lda, float *b, int64_t ldb);
void cblas_dtrmm_64(CBLAS_LAYOUT layout, CBLAS_SIDE side, CBLAS_UPLO uplo, CBLAS_TRANSPOSE transa,
    CBLAS_DIAG diag, int64_t m, int64_t n, double alpha, const double *a, int64_t lda, double *b, int64_t ldb);
void cblas_ctrmm_64(CBLAS_LAYOUT layout, CBLAS_SIDE side, CBLAS_UPLO uplo, CBLAS_TRANSPOSE transa,
    CBLAS_DIAG diag, int64_t m, int64_t n, const void *alpha, const void *a, int64_t lda, void *b,
    int64_t ldb);
void cblas_ztrmm_64(CBLAS_LAYOUT layout, CBLAS_SIDE side, CBLAS_UPLO uplo, CBLAS_TRANSPOSE transa,
    CBLAS_DIAG diag, int64_t m, int64_t n, const void *alpha, const void *a, int64_t lda, void *b,
    int64_t ldb);

/* Solves op(A)*X = alpha*B or X*op(A) = alpha*B, A triangular; B becomes X. */
void cblas_strsm_64(CBLAS_LAYOUT layout, CBLAS_SIDE side, CBLAS_UPLO uplo, CBLAS_TRANSPOSE transa,
    CBLAS_DIAG diag, int64_t m, int64_t n, float alpha, const float *a, int64_t lda, float *b, int64_t ldb);
void cblas_dtrsm_64(CBLAS_LAYOUT layout, CBLAS_SIDE side, CBLAS_UPLO uplo, CBLAS_TRANSPOSE transa,
    CBLAS_DIAG diag, int64_t m, int64_t n, double alpha, const double *a, int64_t lda, double *b, int64_t ldb);
void cblas_ctrsm_64(CBLAS_LAYOUT layout, CBLAS_SIDE side, CBLAS_UPLO uplo, CBLAS_TRANSPOSE transa,
    CBLAS_DIAG diag, int64_t m, int64_t n, const void *alpha, const void *a, int64_t lda, void *b,
    int64_t ldb);
void cblas_ztrsm_64(CBLAS_LAYOUT layout, CBLAS_SIDE side, CBLAS_UPLO uplo, CBLAS_TRANSPOSE transa,
    CBLAS_DIAG diag, int64_t m, int64_t n, const void *alpha, const void *a, int64_t lda, void *b,
    int64_t ldb);

/* One triangle of C := alpha*op(A)*op(B) + beta*C (Reference BLAS 3.12.1) */
void cblas_sgemmtr_64(CBLAS_LAYOUT layout, CBLAS_UPLO uplo, CBLAS_TRANSPOSE transa, CBLAS_TRANSPOSE transb,
    int64_t n, int64_t k, float alpha, const float *a, int64_t lda, const float *b, int64_t ldb, float beta,
    float *c, int64_t ldc);
void cblas_dgemmtr_64(CBLAS_LAYOUT layout, CBLAS_UPLO uplo, CBLAS_TRANSPOSE transa, CBLAS_TRANSPOSE transb,
    int64_t n, int64_t k, double alpha, const double *a, int64_t lda, const double *b, int64_t ldb,
    double beta, double *c, int64_t ldc);
void cblas_cgemmtr_64(CBLAS_LAYOUT layout, CBLAS_UPLO uplo, CBLAS_TRANSPOSE transa, CBLAS_TRANSPOSE transb,
    int64_t n, int64_t k, const void *alpha, const void *a, int64_t lda, const void *b, int64_t ldb,
    const void *beta, void *c, int64_t ldc);
void cblas_zgemmtr_64(CBLAS_LAYOUT layout, CBLAS_UPLO uplo, CBLAS_TRANSPOSE transa, CBLAS_TRANSPOSE transb,
    int64_t n, int64_t k, const void *alpha, const void *a, int64_t lda, const void *b, int64_t ldb,
    const void *beta, void *c, int64_t ldc);

/* ---- Extensions, as in OpenBLAS and MKL ------------------------------------------------------------------------ */

/* y := alpha*x + beta*y */
void cblas_saxpby_64(int64_t n, float alpha, const float *x, int64_t incx, float beta, float *y, int64_t incy);
void cblas_daxpby_64(int64_t n, double alpha, const double *x, int64_t incx, double beta, double *y,
    int64_t incy);
void cblas_caxpby_64(int64_t n, const void *alpha, const void *x, int64_t incx, const void *beta, void *y,
    int64_t incy);
void cblas_zaxpby_64(int64_t n, const void *alpha, const void *x, int64_t incx, const void *beta, void *y,
    int64_t incy);

/* y := alpha*conj(x) + y */
void cblas_caxpyc_64(int64_t n, const void *alpha, const void *x, int64_t incx, void *y, int64_t incy);
void cblas_zaxpyc_64(int64_t n, const void *alpha, const void *x, int64_t incx, void *y, int64_t incy);

/* Returns the sum of re x[i] + im x[i]. */
float cblas_ssum_64(int64_t n, const float *x, int64_t incx);
double cblas_dsum_64(int64_t n, const double *x, int64_t incx);
float cblas_scsum_64(int64_t n, const void *x, int64_t incx);
double cblas_dzsum_64(int64_t n, const void *x, int64_t incx);

/* Returns the largest |re x[i]| + |im x[i]|. */
float cblas_samax_64(int64_t n, const float *x, int64_t incx);
double cblas_damax_64(int64_t n, const double *x, int64_t incx);
float cblas_scamax_64(int64_t n, const void *x, int64_t incx);
double cblas_dzamax_64(int64_t n, const void *x, int64_t incx);

/* Returns the smallest |re x[i]| + |im x[i]|. */
float cblas_samin_64(int64_t n, const float *x, int64_t incx);
double cblas_damin_64(int64_t n, const double *x, int64_t incx);
float cblas_scamin_64(int64_t n, const void *x, int64_t incx);
double cblas_dzamin_64(int64_t n, const void *x, int64_t incx);

/* Returns the largest x[i]. */
float cblas_smax_64(int64_t n, const float *x, int64_t incx);
double cblas_dmax_64(int64_t n, const double *x, int64_t incx);

/* Returns the smallest x[i]. */
float cblas_smin_64(int64_t n, const float *x, int64_t incx);
double cblas_dmin_64(int64_t n, const double *x, int64_t incx);

/* Returns the index of the first element with the smallest |re| + |im|. */
CBLAS_INDEX cblas_isamin_64(int64_t n, const float *x, int64_t incx);
CBLAS_INDEX cblas_idamin_64(int64_t n, const double *x, int64_t incx);
CBLAS_INDEX cblas_icamin_64(int64_t n, const void *x, int64_t incx);
CBLAS_INDEX cblas_izamin_64(int64_t n, const void *x, int64_t incx);

/* Returns the index of the first largest element. */
CBLAS_INDEX cblas_ismax_64(int64_t n, const float *x, int64_t incx);
CBLAS_INDEX cblas_idmax_64(int64_t n, const double *x, int64_t incx);

/* Returns the index of the first smallest element. */
CBLAS_INDEX cblas_ismin_64(int64_t n, const float *x, int64_t incx);
CBLAS_INDEX cblas_idmin_64(int64_t n, const double *x, int64_t incx);

/* Returns the index of the first element with the largest real part. */
CBLAS_INDEX cblas_icmax_64(int64_t n, const void *x, int64_t incx);
CBLAS_INDEX cblas_izmax_64(int64_t n, const void *x, int64_t incx);

/* Returns the index of the first element with the smallest real part. */
CBLAS_INDEX cblas_icmin_64(int64_t n, const void *x, int64_t incx);
CBLAS_INDEX cblas_izmin_64(int64_t n, const void *x, int64_t incx);

/* B := alpha*op(A), A with this many rows and columns */
void cblas_somatcopy_64(CBLAS_LAYOUT layout, CBLAS_TRANSPOSE trans, int64_t rows, int64_t cols, float alpha,
    const float *a, int64_t lda, float *b, int64_t ldb);
void cblas_domatcopy_64(CBLAS_LAYOUT layout, CBLAS_TRANSPOSE trans, int64_t rows, int64_t cols, double alpha,
    const double *a, int64_t lda, double *b, int64_t ldb);
void cblas_comatcopy_64(CBLAS_LAYOUT layout, CBLAS_TRANSPOSE trans, int64_t rows, int64_t cols,
    const void *alpha, const void *a, int64_t lda, void *b, int64_t ldb);
void cblas_zomatcopy_64(CBLAS_LAYOUT layout, CBLAS_TRANSPOSE trans, int64_t rows, int64_t cols,
    const void *alpha, const void *a, int64_t lda, void *b, int64_t ldb);

/* A := alpha*op(A) in place; lda before, ldb after */
void cblas_simatcopy_64(CBLAS_LAYOUT layout, CBLAS_TRANSPOSE trans, int64_t rows, int64_t cols, float alpha,
    float *a, int64_t lda, int64_t ldb);
void cblas_dimatcopy_64(CBLAS_LAYOUT layout, CBLAS_TRANSPOSE trans, int64_t rows, int64_t cols, double alpha,
    double *a, int64_t lda, int64_t ldb);
void cblas_cimatcopy_64(CBLAS_LAYOUT layout, CBLAS_TRANSPOSE trans, int64_t rows, int64_t cols,
    const void *alpha, void *a, int64_t lda, int64_t ldb);
void cblas_zimatcopy_64(CBLAS_LAYOUT layout, CBLAS_TRANSPOSE trans, int64_t rows, int64_t cols,
    const void *alpha, void *a, int64_t lda, int64_t ldb);

/* C := alpha*A + beta*C */
void cblas_sgeadd_64(CBLAS_LAYOUT layout, int64_t m, int64_t n, float alpha, const float *a, int64_t lda,
    float beta, float *c, int64_t ldc);
void cblas_dgeadd_64(CBLAS_LAYOUT layout, int64_t m, int64_t n, double alpha, const double *a, int64_t lda,
    double beta, double *c, int64_t ldc);
void cblas_cgeadd_64(CBLAS_LAYOUT layout, int64_t m, int64_t n, const void *alpha, const void *a, int64_t lda,
    const void *beta, void *c, int64_t ldc);
void cblas_zgeadd_64(CBLAS_LAYOUT layout, int64_t m, int64_t n, const void *alpha, const void *a, int64_t lda,
    const void *beta, void *c, int64_t ldc);

/* gemm under the name for three real products, which would be less accurate; here it is gemm. */
void cblas_cgemm3m_64(CBLAS_LAYOUT layout, CBLAS_TRANSPOSE transa, CBLAS_TRANSPOSE transb, int64_t m,
    int64_t n, int64_t k, const void *alpha, const void *a, int64_t lda, const void *b, int64_t ldb,
    const void *beta, void *c, int64_t ldc);
void cblas_zgemm3m_64(CBLAS_LAYOUT layout, CBLAS_TRANSPOSE transa, CBLAS_TRANSPOSE transb, int64_t m,
    int64_t n, int64_t k, const void *alpha, const void *a, int64_t lda, const void *b, int64_t ldb,
    const void *beta, void *c, int64_t ldc);

/* One triangle of C := alpha*op(A)*op(B) + beta*C, as gemmtr (name of MKL) */
void cblas_sgemmt_64(CBLAS_LAYOUT layout, CBLAS_UPLO uplo, CBLAS_TRANSPOSE transa, CBLAS_TRANSPOSE transb,
    int64_t n, int64_t k, float alpha, const float *a, int64_t lda, const float *b, int64_t ldb, float beta,
    float *c, int64_t ldc);
void cblas_dgemmt_64(CBLAS_LAYOUT layout, CBLAS_UPLO uplo, CBLAS_TRANSPOSE transa, CBLAS_TRANSPOSE transb,
    int64_t n, int64_t k, double alpha, const double *a, int64_t lda, const double *b, int64_t ldb,
    double beta, double *c, int64_t ldc);
void cblas_cgemmt_64(CBLAS_LAYOUT layout, CBLAS_UPLO uplo, CBLAS_TRANSPOSE transa, CBLAS_TRANSPOSE transb,
    int64_t n, int64_t k, const void *alpha, const void *a, int64_t lda, const void *b, int64_t ldb,
    const void *beta, void *c, int64_t ldc);
void cblas_zgemmt_64(CBLAS_LAYOUT layout, CBLAS_UPLO uplo, CBLAS_TRANSPOSE transa, CBLAS_TRANSPOSE transb,
    int64_t n, int64_t k, const void *alpha, const void *a, int64_t lda, const void *b, int64_t ldb,
    const void *beta, void *c, int64_t ldc);

/* Many gemm in groups: flags, sizes and scalars have one entry a group, a, b, c one a product. */
void cblas_sgemm_batch_64(CBLAS_LAYOUT layout, const CBLAS_TRANSPOSE *transa_array,
    const CBLAS_TRANSPOSE *transb_array, const int64_t *m_array, const int64_t *n_array,
    const int64_t *k_array, const float *alpha_array, const float **a_array, const int64_t *lda_array,
    const float **b_array, const int64_t *ldb_array, const float *beta_array, float **c_array,
    const int64_t *ldc_array, int64_t group_count, const int64_t *group_size);
void cblas_dgemm_batch_64(CBLAS_LAYOUT layout, const CBLAS_TRANSPOSE *transa_array,
    const CBLAS_TRANSPOSE *transb_array, const int64_t *m_array, const int64_t *n_array,
    const int64_t *k_array, const double *alpha_array, const double **a_array, const int64_t *lda_array,
    const double **b_array, const int64_t *ldb_array, const double *beta_array, double **c_array,
    const int64_t *ldc_array, int64_t group_count, const int64_t *group_size);
void cblas_cgemm_batch_64(CBLAS_LAYOUT layout, const CBLAS_TRANSPOSE *transa_array,
    const CBLAS_TRANSPOSE *transb_array, const int64_t *m_array, const int64_t *n_array,
    const int64_t *k_array, const void *alpha_array, const void **a_array, const int64_t *lda_array,
    const void **b_array, const int64_t *ldb_array, const void *beta_array, void **c_array,
    const int64_t *ldc_array, int64_t group_count, const int64_t *group_size);
void cblas_zgemm_batch_64(CBLAS_LAYOUT layout, const CBLAS_TRANSPOSE *transa_array,
    const CBLAS_TRANSPOSE *transb_array, const int64_t *m_array, const int64_t *n_array,
    const int64_t *k_array, const void *alpha_array, const void **a_array, const int64_t *lda_array,
    const void **b_array, const int64_t *ldb_array, const void *beta_array, void **c_array,
    const int64_t *ldc_array, int64_t group_count, const int64_t *group_size);

/* Many gemm on matrices at constant distances; the results must not overlap. */
void cblas_sgemm_batch_strided_64(CBLAS_LAYOUT layout, CBLAS_TRANSPOSE transa, CBLAS_TRANSPOSE transb,
    int64_t m, int64_t n, int64_t k, float alpha, const float *a, int64_t lda, int64_t stridea,
    const float *b, int64_t ldb, int64_t strideb, float beta, float *c, int64_t ldc, int64_t stridec,
    int64_t batch_size);
void cblas_dgemm_batch_strided_64(CBLAS_LAYOUT layout, CBLAS_TRANSPOSE transa, CBLAS_TRANSPOSE transb,
    int64_t m, int64_t n, int64_t k, double alpha, const double *a, int64_t lda, int64_t stridea,
    const double *b, int64_t ldb, int64_t strideb, double beta, double *c, int64_t ldc, int64_t stridec,
    int64_t batch_size);
void cblas_cgemm_batch_strided_64(CBLAS_LAYOUT layout, CBLAS_TRANSPOSE transa, CBLAS_TRANSPOSE transb,
    int64_t m, int64_t n, int64_t k, const void *alpha, const void *a, int64_t lda, int64_t stridea,
    const void *b, int64_t ldb, int64_t strideb, const void *beta, void *c, int64_t ldc, int64_t stridec,
    int64_t batch_size);
void cblas_zgemm_batch_strided_64(CBLAS_LAYOUT layout, CBLAS_TRANSPOSE transa, CBLAS_TRANSPOSE transb,
    int64_t m, int64_t n, int64_t k, const void *alpha, const void *a, int64_t lda, int64_t stridea,
    const void *b, int64_t ldb, int64_t strideb, const void *beta, void *c, int64_t ldc, int64_t stridec,
    int64_t batch_size);

#ifdef __cplusplus
}
#endif

#endif /* CBLAS_64_H */
