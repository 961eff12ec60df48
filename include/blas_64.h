/* Fortran BLAS with 64 bit integers (dgemm_64_), to call from C and C++. May be used together with blas.h, in which the
 * comments on conventions are.
 *
 * Generated from ffi/src by `make headers`; do not edit.
 */
#ifndef CORTEN_BLAS_64_H
#define CORTEN_BLAS_64_H

#include "blas.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ---- Auxiliary ------------------------------------------------------------------------------------------------ */

/* Called when argument number info of a Fortran routine is bad; an application may define its own. */
void xerbla_64_(const char *srname, const int64_t *info, size_t srname_len);

/* Calls xerbla_ with the name that an array of characters holds. */
void xerbla_array_64_(const char *srname_array, const int64_t *srname_len, const int64_t *info);

/* Whether two characters are the same letter, in either case. */
int64_t lsame_64_(const char *ca, const char *cb);

/* ---- Level 1: vectors ---------------------------------------------------------------------------------------- */
/* Indices are returned counted from 1; 0 if there is no element. */

/* Exchanges x and y. */
void sswap_64_(const int64_t *n, float *x, const int64_t *incx, float *y, const int64_t *incy);
void dswap_64_(const int64_t *n, double *x, const int64_t *incx, double *y, const int64_t *incy);
void cswap_64_(const int64_t *n, void *x, const int64_t *incx, void *y, const int64_t *incy);
void zswap_64_(const int64_t *n, void *x, const int64_t *incx, void *y, const int64_t *incy);

/* x := alpha*x */
void sscal_64_(const int64_t *n, const float *alpha, float *x, const int64_t *incx);
void dscal_64_(const int64_t *n, const double *alpha, double *x, const int64_t *incx);
void cscal_64_(const int64_t *n, const void *alpha, void *x, const int64_t *incx);
void zscal_64_(const int64_t *n, const void *alpha, void *x, const int64_t *incx);

/* x := alpha*x with a real alpha */
void csscal_64_(const int64_t *n, const float *alpha, void *x, const int64_t *incx);
void zdscal_64_(const int64_t *n, const double *alpha, void *x, const int64_t *incx);

/* y := x */
void scopy_64_(const int64_t *n, const float *x, const int64_t *incx, float *y, const int64_t *incy);
void dcopy_64_(const int64_t *n, const double *x, const int64_t *incx, double *y, const int64_t *incy);
void ccopy_64_(const int64_t *n, const void *x, const int64_t *incx, void *y, const int64_t *incy);
void zcopy_64_(const int64_t *n, const void *x, const int64_t *incx, void *y, const int64_t *incy);

/* y := alpha*x + y */
void saxpy_64_(const int64_t *n, const float *alpha, const float *x, const int64_t *incx, float *y,
    const int64_t *incy);
void daxpy_64_(const int64_t *n, const double *alpha, const double *x, const int64_t *incx, double *y,
    const int64_t *incy);
void caxpy_64_(const int64_t *n, const void *alpha, const void *x, const int64_t *incx, void *y,
    const int64_t *incy);
void zaxpy_64_(const int64_t *n, const void *alpha, const void *x, const int64_t *incx, void *y,
    const int64_t *incy);

/* Returns x^T y. */
float sdot_64_(const int64_t *n, const float *x, const int64_t *incx, const float *y, const int64_t *incy);
double ddot_64_(const int64_t *n, const double *x, const int64_t *incx, const double *y, const int64_t *incy);

/* Returns x^T y, summed in double precision. */
double dsdot_64_(const int64_t *n, const float *x, const int64_t *incx, const float *y, const int64_t *incy);

/* Returns sb + x^T y, summed in double precision. */
float sdsdot_64_(const int64_t *n, const float *sb, const float *x, const int64_t *incx, const float *y,
    const int64_t *incy);

/* Returns x^T y by value; see also the _sub form. */
corten_complex_float cdotu_64_(const int64_t *n, const void *x, const int64_t *incx, const void *y,
    const int64_t *incy);
corten_complex_double zdotu_64_(const int64_t *n, const void *x, const int64_t *incx, const void *y,
    const int64_t *incy);

/* Returns x^H y by value; see also the _sub form. */
corten_complex_float cdotc_64_(const int64_t *n, const void *x, const int64_t *incx, const void *y,
    const int64_t *incy);
corten_complex_double zdotc_64_(const int64_t *n, const void *x, const int64_t *incx, const void *y,
    const int64_t *incy);

/* Returns the Euclidean norm of x. */
float snrm2_64_(const int64_t *n, const float *x, const int64_t *incx);
double dnrm2_64_(const int64_t *n, const double *x, const int64_t *incx);
float scnrm2_64_(const int64_t *n, const void *x, const int64_t *incx);
double dznrm2_64_(const int64_t *n, const void *x, const int64_t *incx);

/* Returns the sum of |re x[i]| + |im x[i]|. */
float sasum_64_(const int64_t *n, const float *x, const int64_t *incx);
double dasum_64_(const int64_t *n, const double *x, const int64_t *incx);
float scasum_64_(const int64_t *n, const void *x, const int64_t *incx);
double dzasum_64_(const int64_t *n, const void *x, const int64_t *incx);

/* Returns the index of the first element with the largest |re| + |im|. */
int64_t isamax_64_(const int64_t *n, const float *x, const int64_t *incx);
int64_t idamax_64_(const int64_t *n, const double *x, const int64_t *incx);
int64_t icamax_64_(const int64_t *n, const void *x, const int64_t *incx);
int64_t izamax_64_(const int64_t *n, const void *x, const int64_t *incx);

/* Makes a plane rotation that turns (a, b) into (r, 0); a becomes r, b what rebuilds the rotation. */
void srotg_64_(float *a, float *b, float *c, float *s);
void drotg_64_(double *a, double *b, double *c, double *s);

/* Makes a plane rotation that turns (a, b) into (r, 0); a becomes r. */
void crotg_64_(void *a, const void *b, float *c, void *s);
void zrotg_64_(void *a, const void *b, double *c, void *s);

/* Applies a plane rotation: (x, y) := (c*x + s*y, c*y - s*x) */
void srot_64_(const int64_t *n, float *x, const int64_t *incx, float *y, const int64_t *incy, const float *c,
    const float *s);
void drot_64_(const int64_t *n, double *x, const int64_t *incx, double *y, const int64_t *incy,
    const double *c, const double *s);
void csrot_64_(const int64_t *n, void *x, const int64_t *incx, void *y, const int64_t *incy, const float *c,
    const float *s);
void zdrot_64_(const int64_t *n, void *x, const int64_t *incx, void *y, const int64_t *incy, const double *c,
    const double *s);

/* Makes a modified plane rotation. */
void srotmg_64_(float *d1, float *d2, float *x1, const float *y1, float *param);
void drotmg_64_(double *d1, double *d2, double *x1, const double *y1, double *param);

/* Applies a modified plane rotation. */
void srotm_64_(const int64_t *n, float *x, const int64_t *incx, float *y, const int64_t *incy,
    const float *param);
void drotm_64_(const int64_t *n, double *x, const int64_t *incx, double *y, const int64_t *incy,
    const double *param);

/* Returns |re z| + |im z|. */
float scabs1_64_(const void *z);
double dcabs1_64_(const void *z);

/* ---- Level 2: a matrix and vectors ---------------------------------------------------------------------------- */

/* y := alpha*op(A)*x + beta*y */
void sgemv_64_(const char *trans, const int64_t *m, const int64_t *n, const float *alpha, const float *a,
    const int64_t *lda, const float *x, const int64_t *incx, const float *beta, float *y, const int64_t *incy);
void dgemv_64_(const char *trans, const int64_t *m, const int64_t *n, const double *alpha, const double *a,
    const int64_t *lda, const double *x, const int64_t *incx, const double *beta, double *y,
    const int64_t *incy);
void cgemv_64_(const char *trans, const int64_t *m, const int64_t *n, const void *alpha, const void *a,
    const int64_t *lda, const void *x, const int64_t *incx, const void *beta, void *y, const int64_t *incy);
void zgemv_64_(const char *trans, const int64_t *m, const int64_t *n, const void *alpha, const void *a,
    const int64_t *lda, const void *x, const int64_t *incx, const void *beta, void *y, const int64_t *incy);

/* y := alpha*op(A)*x + beta*y, A a band matrix with kl diagonals below and ku above the main one */
void sgbmv_64_(const char *trans, const int64_t *m, const int64_t *n, const int64_t *kl, const int64_t *ku,
    const float *alpha, const float *a, const int64_t *lda, const float *x, const int64_t *incx,
    const float *beta, float *y, const int64_t *incy);
void dgbmv_64_(const char *trans, const int64_t *m, const int64_t *n, const int64_t *kl, const int64_t *ku,
    const double *alpha, const double *a, const int64_t *lda, const double *x, const int64_t *incx,
    const double *beta, double *y, const int64_t *incy);
void cgbmv_64_(const char *trans, const int64_t *m, const int64_t *n, const int64_t *kl, const int64_t *ku,
    const void *alpha, const void *a, const int64_t *lda, const void *x, const int64_t *incx,
    const void *beta, void *y, const int64_t *incy);
void zgbmv_64_(const char *trans, const int64_t *m, const int64_t *n, const int64_t *kl, const int64_t *ku,
    const void *alpha, const void *a, const int64_t *lda, const void *x, const int64_t *incx,
    const void *beta, void *y, const int64_t *incy);

/* y := alpha*A*x + beta*y, A symmetric */
void ssymv_64_(const char *uplo, const int64_t *n, const float *alpha, const float *a, const int64_t *lda,
    const float *x, const int64_t *incx, const float *beta, float *y, const int64_t *incy);
void dsymv_64_(const char *uplo, const int64_t *n, const double *alpha, const double *a, const int64_t *lda,
    const double *x, const int64_t *incx, const double *beta, double *y, const int64_t *incy);

/* y := alpha*A*x + beta*y, A symmetric, band storage */
void ssbmv_64_(const char *uplo, const int64_t *n, const int64_t *k, const float *alpha, const float *a,
    const int64_t *lda, const float *x, const int64_t *incx, const float *beta, float *y, const int64_t *incy);
void dsbmv_64_(const char *uplo, const int64_t *n, const int64_t *k, const double *alpha, const double *a,
    const int64_t *lda, const double *x, const int64_t *incx, const double *beta, double *y,
    const int64_t *incy);

/* y := alpha*A*x + beta*y, A symmetric, packed storage */
void sspmv_64_(const char *uplo, const int64_t *n, const float *alpha, const float *ap, const float *x,
    const int64_t *incx, const float *beta, float *y, const int64_t *incy);
void dspmv_64_(const char *uplo, const int64_t *n, const double *alpha, const double *ap, const double *x,
    const int64_t *incx, const double *beta, double *y, const int64_t *incy);

/* y := alpha*A*x + beta*y, A Hermitian */
void chemv_64_(const char *uplo, const int64_t *n, const void *alpha, const void *a, const int64_t *lda,
    const void *x, const int64_t *incx, const void *beta, void *y, const int64_t *incy);
void zhemv_64_(const char *uplo, const int64_t *n, const void *alpha, const void *a, const int64_t *lda,
    const void *x, const int64_t *incx, const void *beta, void *y, const int64_t *incy);

/* y := alpha*A*x + beta*y, A Hermitian, band storage */
void chbmv_64_(const char *uplo, const int64_t *n, const int64_t *k, const void *alpha, const void *a,
    const int64_t *lda, const void *x, const int64_t *incx, const void *beta, void *y, const int64_t *incy);
void zhbmv_64_(const char *uplo, const int64_t *n, const int64_t *k, const void *alpha, const void *a,
    const int64_t *lda, const void *x, const int64_t *incx, const void *beta, void *y, const int64_t *incy);

/* y := alpha*A*x + beta*y, A Hermitian, packed storage */
void chpmv_64_(const char *uplo, const int64_t *n, const void *alpha, const void *ap, const void *x,
    const int64_t *incx, const void *beta, void *y, const int64_t *incy);
void zhpmv_64_(const char *uplo, const int64_t *n, const void *alpha, const void *ap, const void *x,
    const int64_t *incx, const void *beta, void *y, const int64_t *incy);

/* x := op(A)*x, A triangular */
void strmv_64_(const char *uplo, const char *trans, const char *diag, const int64_t *n, const float *a,
    const int64_t *lda, float *x, const int64_t *incx);
void dtrmv_64_(const char *uplo, const char *trans, const char *diag, const int64_t *n, const double *a,
    const int64_t *lda, double *x, const int64_t *incx);
void ctrmv_64_(const char *uplo, const char *trans, const char *diag, const int64_t *n, const void *a,
    const int64_t *lda, void *x, const int64_t *incx);
void ztrmv_64_(const char *uplo, const char *trans, const char *diag, const int64_t *n, const void *a,
    const int64_t *lda, void *x, const int64_t *incx);

/* x := op(A)*x, A triangular, band storage */
void stbmv_64_(const char *uplo, const char *trans, const char *diag, const int64_t *n, const int64_t *k,
    const float *a, const int64_t *lda, float *x, const int64_t *incx);
void dtbmv_64_(const char *uplo, const char *trans, const char *diag, const int64_t *n, const int64_t *k,
    const double *a, const int64_t *lda, double *x, const int64_t *incx);
void ctbmv_64_(const char *uplo, const char *trans, const char *diag, const int64_t *n, const int64_t *k,
    const void *a, const int64_t *lda, void *x, const int64_t *incx);
void ztbmv_64_(const char *uplo, const char *trans, const char *diag, const int64_t *n, const int64_t *k,
    const void *a, const int64_t *lda, void *x, const int64_t *incx);

/* x := op(A)*x, A triangular, packed storage */
void stpmv_64_(const char *uplo, const char *trans, const char *diag, const int64_t *n, const float *ap,
    float *x, const int64_t *incx);
void dtpmv_64_(const char *uplo, const char *trans, const char *diag, const int64_t *n, const double *ap,
    double *x, const int64_t *incx);
void ctpmv_64_(const char *uplo, const char *trans, const char *diag, const int64_t *n, const void *ap,
    void *x, const int64_t *incx);
void ztpmv_64_(const char *uplo, const char *trans, const char *diag, const int64_t *n, const void *ap,
    void *x, const int64_t *incx);

/* Solves op(A)*x = b, A triangular; x holds b on entry. */
void strsv_64_(const char *uplo, const char *trans, const char *diag, const int64_t *n, const float *a,
    const int64_t *lda, float *x, const int64_t *incx);
void dtrsv_64_(const char *uplo, const char *trans, const char *diag, const int64_t *n, const double *a,
    const int64_t *lda, double *x, const int64_t *incx);
void ctrsv_64_(const char *uplo, const char *trans, const char *diag, const int64_t *n, const void *a,
    const int64_t *lda, void *x, const int64_t *incx);
void ztrsv_64_(const char *uplo, const char *trans, const char *diag, const int64_t *n, const void *a,
    const int64_t *lda, void *x, const int64_t *incx);

/* Solves op(A)*x = b, A triangular, band storage; x holds b on entry. */
void stbsv_64_(const char *uplo, const char *trans, const char *diag, const int64_t *n, const int64_t *k,
    const float *a, const int64_t *lda, float *x, const int64_t *incx);
void dtbsv_64_(const char *uplo, const char *trans, const char *diag, const int64_t *n, const int64_t *k,
    const double *a, const int64_t *lda, double *x, const int64_t *incx);
void ctbsv_64_(const char *uplo, const char *trans, const char *diag, const int64_t *n, const int64_t *k,
    const void *a, const int64_t *lda, void *x, const int64_t *incx);
void ztbsv_64_(const char *uplo, const char *trans, const char *diag, const int64_t *n, const int64_t *k,
    const void *a, const int64_t *lda, void *x, const int64_t *incx);

/* Solves op(A)*x = b, A triangular, packed storage; x holds b on entry. */
void stpsv_64_(const char *uplo, const char *trans, const char *diag, const int64_t *n, const float *ap,
    float *x, const int64_t *incx);
void dtpsv_64_(const char *uplo, const char *trans, const char *diag, const int64_t *n, const double *ap,
    double *x, const int64_t *incx);
void ctpsv_64_(const char *uplo, const char *trans, const char *diag, const int64_t *n, const void *ap,
    void *x, const int64_t *incx);
void ztpsv_64_(const char *uplo, const char *trans, const char *diag, const int64_t *n, const void *ap,
    void *x, const int64_t *incx);

/* A := alpha*x*y^T + A */
void sger_64_(const int64_t *m, const int64_t *n, const float *alpha, const float *x, const int64_t *incx,
    const float *y, const int64_t *incy, float *a, const int64_t *lda);
void dger_64_(const int64_t *m, const int64_t *n, const double *alpha, const double *x, const int64_t *incx,
    const double *y, const int64_t *incy, double *a, const int64_t *lda);
void cgeru_64_(const int64_t *m, const int64_t *n, const void *alpha, const void *x, const int64_t *incx,
    const void *y, const int64_t *incy, void *a, const int64_t *lda);
void zgeru_64_(const int64_t *m, const int64_t *n, const void *alpha, const void *x, const int64_t *incx,
    const void *y, const int64_t *incy, void *a, const int64_t *lda);

/* A := alpha*x*y^H + A */
void cgerc_64_(const int64_t *m, const int64_t *n, const void *alpha, const void *x, const int64_t *incx,
    const void *y, const int64_t *incy, void *a, const int64_t *lda);
void zgerc_64_(const int64_t *m, const int64_t *n, const void *alpha, const void *x, const int64_t *incx,
    const void *y, const int64_t *incy, void *a, const int64_t *lda);

/* A := alpha*x*x^T + A, A symmetric */
void ssyr_64_(const char *uplo, const int64_t *n, const float *alpha, const float *x, const int64_t *incx,
    float *a, const int64_t *lda);
void dsyr_64_(const char *uplo, const int64_t *n, const double *alpha, const double *x, const int64_t *incx,
    double *a, const int64_t *lda);

/* A := alpha*x*x^T + A, A symmetric, packed storage */
void sspr_64_(const char *uplo, const int64_t *n, const float *alpha, const float *x, const int64_t *incx,
    float *ap);
void dspr_64_(const char *uplo, const int64_t *n, const double *alpha, const double *x, const int64_t *incx,
    double *ap);

/* A := alpha*x*x^H + A, A Hermitian */
void cher_64_(const char *uplo, const int64_t *n, const float *alpha, const void *x, const int64_t *incx,
    void *a, const int64_t *lda);
void zher_64_(const char *uplo, const int64_t *n, const double *alpha, const void *x, const int64_t *incx,
    void *a, const int64_t *lda);

/* A := alpha*x*x^H + A, A Hermitian, packed storage */
void chpr_64_(const char *uplo, const int64_t *n, const float *alpha, const void *x, const int64_t *incx,
    void *ap);
void zhpr_64_(const char *uplo, const int64_t *n, const double *alpha, const void *x, const int64_t *incx,
    void *ap);

/* A := alpha*x*y^T + alpha*y*x^T + A, A symmetric */
void ssyr2_64_(const char *uplo, const int64_t *n, const float *alpha, const float *x, const int64_t *incx,
    const float *y, const int64_t *incy, float *a, const int64_t *lda);
void dsyr2_64_(const char *uplo, const int64_t *n, const double *alpha, const double *x, const int64_t *incx,
    const double *y, const int64_t *incy, double *a, const int64_t *lda);

/* A := alpha*x*y^T + alpha*y*x^T + A, A symmetric, packed storage */
void sspr2_64_(const char *uplo, const int64_t *n, const float *alpha, const float *x, const int64_t *incx,
    const float *y, const int64_t *incy, float *ap);
void dspr2_64_(const char *uplo, const int64_t *n, const double *alpha, const double *x, const int64_t *incx,
    const double *y, const int64_t *incy, double *ap);

/* A := alpha*x*y^H + conj(alpha)*y*x^H + A, A Hermitian */
void cher2_64_(const char *uplo, const int64_t *n, const void *alpha, const void *x, const int64_t *incx,
    const void *y, const int64_t *incy, void *a, const int64_t *lda);
void zher2_64_(const char *uplo, const int64_t *n, const void *alpha, const void *x, const int64_t *incx,
    const void *y, const int64_t *incy, void *a, const int64_t *lda);

/* A := alpha*x*y^H + conj(alpha)*y*x^H + A, A Hermitian, packed storage */
void chpr2_64_(const char *uplo, const int64_t *n, const void *alpha, const void *x, const int64_t *incx,
    const void *y, const int64_t *incy, void *ap);
void zhpr2_64_(const char *uplo, const int64_t *n, const void *alpha, const void *x, const int64_t *incx,
    const void *y, const int64_t *incy, void *ap);

/* y := alpha*A*x + beta*y, A complex symmetric, band storage (extension) */
void csbmv_64_(const char *uplo, const int64_t *n, const int64_t *k, const void *alpha, const void *a,
    const int64_t *lda, const void *x, const int64_t *incx, const void *beta, void *y, const int64_t *incy);
void zsbmv_64_(const char *uplo, const int64_t *n, const int64_t *k, const void *alpha, const void *a,
    const int64_t *lda, const void *x, const int64_t *incx, const void *beta, void *y, const int64_t *incy);

/* A := alpha*x*y^T + alpha*y*x^T + A, A complex symmetric (extension) */
void csyr2_64_(const char *uplo, const int64_t *n, const void *alpha, const void *x, const int64_t *incx,
    const void *y, const int64_t *incy, void *a, const int64_t *lda);
void zsyr2_64_(const char *uplo, const int64_t *n, const void *alpha, const void *x, const int64_t *incx,
    const void *y, const int64_t *incy, void *a, const int64_t *lda);

/* A := alpha*x*y^T + alpha*y*x^T + A, A complex symmetric, packed storage (extension) */
void cspr2_64_(const char *uplo, const int64_t *n, const void *alpha, const void *x, const int64_t *incx,
    const void *y, const int64_t *incy, void *ap);
void zspr2_64_(const char *uplo, const int64_t *n, const void *alpha, const void *x, const int64_t *incx,
    const void *y, const int64_t *incy, void *ap);

/* ---- Level 3: matrices ---------------------------------------------------------------------------------------- */

/* C := alpha*op(A)*op(B) + beta*C */
void sgemm_64_(const char *transa, const char *transb, const int64_t *m, const int64_t *n, const int64_t *k,
    const float *alpha, const float *a, const int64_t *lda, const float *b, const int64_t *ldb,
    const float *beta, float *c, const int64_t *ldc);
void dgemm_64_(const char *transa, const char *transb, const int64_t *m, const int64_t *n, const int64_t *k,
    const double *alpha, const double *a, const int64_t *lda, const double *b, const int64_t *ldb,
    const double *beta, double *c, const int64_t *ldc);
void cgemm_64_(const char *transa, const char *transb, const int64_t *m, const int64_t *n, const int64_t *k,
    const void *alpha, const void *a, const int64_t *lda, const void *b, const int64_t *ldb, const void *beta,
    void *c, const int64_t *ldc);
void zgemm_64_(const char *transa, const char *transb, const int64_t *m, const int64_t *n, const int64_t *k,
    const void *alpha, const void *a, const int64_t *lda, const void *b, const int64_t *ldb, const void *beta,
    void *c, const int64_t *ldc);

/* C := alpha*A*B + beta*C or alpha*B*A + beta*C, A symmetric */
void ssymm_64_(const char *side, const char *uplo, const int64_t *m, const int64_t *n, const float *alpha,
    const float *a, const int64_t *lda, const float *b, const int64_t *ldb, const float *beta, float *c,
    const int64_t *ldc);
void dsymm_64_(const char *side, const char *uplo, const int64_t *m, const int64_t *n, const double *alpha,
    const double *a, const int64_t *lda, const double *b, const int64_t *ldb, const double *beta, double *c,
    const int64_t *ldc);
void csymm_64_(const char *side, const char *uplo, const int64_t *m, const int64_t *n, const void *alpha,
    const void *a, const int64_t *lda, const void *b, const int64_t *ldb, const void *beta, void *c,
    const int64_t *ldc);
void zsymm_64_(const char *side, const char *uplo, const int64_t *m, const int64_t *n, const void *alpha,
    const void *a, const int64_t *lda, const void *b, const int64_t *ldb, const void *beta, void *c,
    const int64_t *ldc);

/* C := alpha*A*B + beta*C or alpha*B*A + beta*C, A Hermitian */
void chemm_64_(const char *side, const char *uplo, const int64_t *m, const int64_t *n, const void *alpha,
    const void *a, const int64_t *lda, const void *b, const int64_t *ldb, const void *beta, void *c,
    const int64_t *ldc);
void zhemm_64_(const char *side, const char *uplo, const int64_t *m, const int64_t *n, const void *alpha,
    const void *a, const int64_t *lda, const void *b, const int64_t *ldb, const void *beta, void *c,
    const int64_t *ldc);

/* C := alpha*A*A^T + beta*C or alpha*A^T*A + beta*C, C symmetric */
void ssyrk_64_(const char *uplo, const char *trans, const int64_t *n, const int64_t *k, const float *alpha,
    const float *a, const int64_t *lda, const float *beta, float *c, const int64_t *ldc);
void dsyrk_64_(const char *uplo, const char *trans, const int64_t *n, const int64_t *k, const double *alpha,
    const double *a, const int64_t *lda, const double *beta, double *c, const int64_t *ldc);
void csyrk_64_(const char *uplo, const char *trans, const int64_t *n, const int64_t *k, const void *alpha,
    const void *a, const int64_t *lda, const void *beta, void *c, const int64_t *ldc);
void zsyrk_64_(const char *uplo, const char *trans, const int64_t *n, const int64_t *k, const void *alpha,
    const void *a, const int64_t *lda, const void *beta, void *c, const int64_t *ldc);

/* C := alpha*A*A^H + beta*C or alpha*A^H*A + beta*C, C Hermitian */
void cherk_64_(const char *uplo, const char *trans, const int64_t *n, const int64_t *k, const float *alpha,
    const void *a, const int64_t *lda, const float *beta, void *c, const int64_t *ldc);
void zherk_64_(const char *uplo, const char *trans, const int64_t *n, const int64_t *k, const double *alpha,
    const void *a, const int64_t *lda, const double *beta, void *c, const int64_t *ldc);

/* C := alpha*A*B^T + alpha*B*A^T + beta*C or the same with A^T*B and B^T*A, C symmetric */
void ssyr2k_64_(const char *uplo, const char *trans, const int64_t *n, const int64_t *k, const float *alpha,
    const float *a, const int64_t *lda, const float *b, const int64_t *ldb, const float *beta, float *c,
    const int64_t *ldc);
void dsyr2k_64_(const char *uplo, const char *trans, const int64_t *n, const int64_t *k, const double *alpha,
    const double *a, const int64_t *lda, const double *b, const int64_t *ldb, const double *beta, double *c,
    const int64_t *ldc);
void csyr2k_64_(const char *uplo, const char *trans, const int64_t *n, const int64_t *k, const void *alpha,
    const void *a, const int64_t *lda, const void *b, const int64_t *ldb, const void *beta, void *c,
    const int64_t *ldc);
void zsyr2k_64_(const char *uplo, const char *trans, const int64_t *n, const int64_t *k, const void *alpha,
    const void *a, const int64_t *lda, const void *b, const int64_t *ldb, const void *beta, void *c,
    const int64_t *ldc);

/* C := alpha*A*B^H + conj(alpha)*B*A^H + beta*C or the same with A^H*B and B^H*A, C Hermitian */
void cher2k_64_(const char *uplo, const char *trans, const int64_t *n, const int64_t *k, const void *alpha,
    const void *a, const int64_t *lda, const void *b, const int64_t *ldb, const float *beta, void *c,
    const int64_t *ldc);
void zher2k_64_(const char *uplo, const char *trans, const int64_t *n, const int64_t *k, const void *alpha,
    const void *a, const int64_t *lda, const void *b, const int64_t *ldb, const double *beta, void *c,
    const int64_t *ldc);

/* B := alpha*op(A)*B or alpha*B*op(A), A triangular */
void strmm_64_(const char *side, const char *uplo, const char *transa, const char *diag, const int64_t *m,
    const int64_t *n, const float *alpha, const float *a, const int64_t *lda, float *b, const int64_t *ldb);
void dtrmm_64_(const char *side, const char *uplo, const char *transa, const char *diag, const int64_t *m,
    const int64_t *n, const double *alpha, const double *a, const int64_t *lda, double *b, const int64_t *ldb);
void ctrmm_64_(const char *side, const char *uplo, const char *transa, const char *diag, const int64_t *m,
    const int64_t *n, const void *alpha, const void *a, const int64_t *lda, void *b, const int64_t *ldb);
void ztrmm_64_(const char *side, const char *uplo, const char *transa, const char *diag, const int64_t *m,
    const int64_t *n, const void *alpha, const void *a, const int64_t *lda, void *b, const int64_t *ldb);

/* Solves op(A)*X = alpha*B or X*op(A) = alpha*B, A triangular; B becomes X. */
void strsm_64_(const char *side, const char *uplo, const char *transa, const char *diag, const int64_t *m,
    const int64_t *n, const float *alpha, const float *a, const int64_t *lda, float *b, const int64_t *ldb);
void dtrsm_64_(const char *side, const char *uplo, const char *transa, const char *diag, const int64_t *m,
    const int64_t *n, const double *alpha, const double *a, const int64_t *lda, double *b, const int64_t *ldb);
void ctrsm_64_(const char *side, const char *uplo, const char *transa, const char *diag, const int64_t *m,
    const int64_t *n, const void *alpha, const void *a, const int64_t *lda, void *b, const int64_t *ldb);
void ztrsm_64_(const char *side, const char *uplo, const char *transa, const char *diag, const int64_t *m,
    const int64_t *n, const void *alpha, const void *a, const int64_t *lda, void *b, const int64_t *ldb);

/* One triangle of C := alpha*op(A)*op(B) + beta*C (Reference BLAS 3.12.1) */
void sgemmtr_64_(const char *uplo, const char *transa, const char *transb, const int64_t *n, const int64_t *k,
    const float *alpha, const float *a, const int64_t *lda, const float *b, const int64_t *ldb,
    const float *beta, float *c, const int64_t *ldc);
void dgemmtr_64_(const char *uplo, const char *transa, const char *transb, const int64_t *n, const int64_t *k,
    const double *alpha, const double *a, const int64_t *lda, const double *b, const int64_t *ldb,
    const double *beta, double *c, const int64_t *ldc);
void cgemmtr_64_(const char *uplo, const char *transa, const char *transb, const int64_t *n, const int64_t *k,
    const void *alpha, const void *a, const int64_t *lda, const void *b, const int64_t *ldb, const void *beta,
    void *c, const int64_t *ldc);
void zgemmtr_64_(const char *uplo, const char *transa, const char *transb, const int64_t *n, const int64_t *k,
    const void *alpha, const void *a, const int64_t *lda, const void *b, const int64_t *ldb, const void *beta,
    void *c, const int64_t *ldc);

/* ---- Extensions, as in OpenBLAS and MKL ------------------------------------------------------------------------ */

/* y := alpha*x + beta*y */
void saxpby_64_(const int64_t *n, const float *alpha, const float *x, const int64_t *incx, const float *beta,
    float *y, const int64_t *incy);
void daxpby_64_(const int64_t *n, const double *alpha, const double *x, const int64_t *incx,
    const double *beta, double *y, const int64_t *incy);
void caxpby_64_(const int64_t *n, const void *alpha, const void *x, const int64_t *incx, const void *beta,
    void *y, const int64_t *incy);
void zaxpby_64_(const int64_t *n, const void *alpha, const void *x, const int64_t *incx, const void *beta,
    void *y, const int64_t *incy);

/* y := alpha*conj(x) + y */
void caxpyc_64_(const int64_t *n, const void *alpha, const void *x, const int64_t *incx, void *y,
    const int64_t *incy);
void zaxpyc_64_(const int64_t *n, const void *alpha, const void *x, const int64_t *incx, void *y,
    const int64_t *incy);

/* Returns the sum of re x[i] + im x[i]. */
float ssum_64_(const int64_t *n, const float *x, const int64_t *incx);
double dsum_64_(const int64_t *n, const double *x, const int64_t *incx);
float scsum_64_(const int64_t *n, const void *x, const int64_t *incx);
double dzsum_64_(const int64_t *n, const void *x, const int64_t *incx);

/* Returns the largest |re x[i]| + |im x[i]|. */
float samax_64_(const int64_t *n, const float *x, const int64_t *incx);
double damax_64_(const int64_t *n, const double *x, const int64_t *incx);
float scamax_64_(const int64_t *n, const void *x, const int64_t *incx);
double dzamax_64_(const int64_t *n, const void *x, const int64_t *incx);

/* Returns the smallest |re x[i]| + |im x[i]|. */
float samin_64_(const int64_t *n, const float *x, const int64_t *incx);
double damin_64_(const int64_t *n, const double *x, const int64_t *incx);
float scamin_64_(const int64_t *n, const void *x, const int64_t *incx);
double dzamin_64_(const int64_t *n, const void *x, const int64_t *incx);

/* Returns the largest x[i]. */
float smax_64_(const int64_t *n, const float *x, const int64_t *incx);
double dmax_64_(const int64_t *n, const double *x, const int64_t *incx);

/* Returns the smallest x[i]. */
float smin_64_(const int64_t *n, const float *x, const int64_t *incx);
double dmin_64_(const int64_t *n, const double *x, const int64_t *incx);

/* Returns the index of the first element with the smallest |re| + |im|. */
int64_t isamin_64_(const int64_t *n, const float *x, const int64_t *incx);
int64_t idamin_64_(const int64_t *n, const double *x, const int64_t *incx);
int64_t icamin_64_(const int64_t *n, const void *x, const int64_t *incx);
int64_t izamin_64_(const int64_t *n, const void *x, const int64_t *incx);

/* Returns the index of the first largest element. */
int64_t ismax_64_(const int64_t *n, const float *x, const int64_t *incx);
int64_t idmax_64_(const int64_t *n, const double *x, const int64_t *incx);

/* Returns the index of the first smallest element. */
int64_t ismin_64_(const int64_t *n, const float *x, const int64_t *incx);
int64_t idmin_64_(const int64_t *n, const double *x, const int64_t *incx);

/* B := alpha*op(A), A with this many rows and columns */
void somatcopy_64_(const char *order, const char *trans, const int64_t *rows, const int64_t *cols,
    const float *alpha, const float *a, const int64_t *lda, float *b, const int64_t *ldb);
void domatcopy_64_(const char *order, const char *trans, const int64_t *rows, const int64_t *cols,
    const double *alpha, const double *a, const int64_t *lda, double *b, const int64_t *ldb);
void comatcopy_64_(const char *order, const char *trans, const int64_t *rows, const int64_t *cols,
    const void *alpha, const void *a, const int64_t *lda, void *b, const int64_t *ldb);
void zomatcopy_64_(const char *order, const char *trans, const int64_t *rows, const int64_t *cols,
    const void *alpha, const void *a, const int64_t *lda, void *b, const int64_t *ldb);

/* A := alpha*op(A) in place; lda before, ldb after */
void simatcopy_64_(const char *order, const char *trans, const int64_t *rows, const int64_t *cols,
    const float *alpha, float *a, const int64_t *lda, const int64_t *ldb);
void dimatcopy_64_(const char *order, const char *trans, const int64_t *rows, const int64_t *cols,
    const double *alpha, double *a, const int64_t *lda, const int64_t *ldb);
void cimatcopy_64_(const char *order, const char *trans, const int64_t *rows, const int64_t *cols,
    const void *alpha, void *a, const int64_t *lda, const int64_t *ldb);
void zimatcopy_64_(const char *order, const char *trans, const int64_t *rows, const int64_t *cols,
    const void *alpha, void *a, const int64_t *lda, const int64_t *ldb);

/* C := alpha*A + beta*C */
void sgeadd_64_(const int64_t *m, const int64_t *n, const float *alpha, const float *a, const int64_t *lda,
    const float *beta, float *c, const int64_t *ldc);
void dgeadd_64_(const int64_t *m, const int64_t *n, const double *alpha, const double *a, const int64_t *lda,
    const double *beta, double *c, const int64_t *ldc);
void cgeadd_64_(const int64_t *m, const int64_t *n, const void *alpha, const void *a, const int64_t *lda,
    const void *beta, void *c, const int64_t *ldc);
void zgeadd_64_(const int64_t *m, const int64_t *n, const void *alpha, const void *a, const int64_t *lda,
    const void *beta, void *c, const int64_t *ldc);

/* gemm under the name for three real products, which would be less accurate; here it is gemm. */
void cgemm3m_64_(const char *transa, const char *transb, const int64_t *m, const int64_t *n, const int64_t *k,
    const void *alpha, const void *a, const int64_t *lda, const void *b, const int64_t *ldb, const void *beta,
    void *c, const int64_t *ldc);
void zgemm3m_64_(const char *transa, const char *transb, const int64_t *m, const int64_t *n, const int64_t *k,
    const void *alpha, const void *a, const int64_t *lda, const void *b, const int64_t *ldb, const void *beta,
    void *c, const int64_t *ldc);

/* One triangle of C := alpha*op(A)*op(B) + beta*C, as gemmtr (name of MKL) */
void sgemmt_64_(const char *uplo, const char *transa, const char *transb, const int64_t *n, const int64_t *k,
    const float *alpha, const float *a, const int64_t *lda, const float *b, const int64_t *ldb,
    const float *beta, float *c, const int64_t *ldc);
void dgemmt_64_(const char *uplo, const char *transa, const char *transb, const int64_t *n, const int64_t *k,
    const double *alpha, const double *a, const int64_t *lda, const double *b, const int64_t *ldb,
    const double *beta, double *c, const int64_t *ldc);
void cgemmt_64_(const char *uplo, const char *transa, const char *transb, const int64_t *n, const int64_t *k,
    const void *alpha, const void *a, const int64_t *lda, const void *b, const int64_t *ldb, const void *beta,
    void *c, const int64_t *ldc);
void zgemmt_64_(const char *uplo, const char *transa, const char *transb, const int64_t *n, const int64_t *k,
    const void *alpha, const void *a, const int64_t *lda, const void *b, const int64_t *ldb, const void *beta,
    void *c, const int64_t *ldc);

/* Many gemm in groups: flags, sizes and scalars have one entry a group, a, b, c one a product. */
void sgemm_batch_64_(const char *transa_array, const char *transb_array, const int64_t *m_array,
    const int64_t *n_array, const int64_t *k_array, const float *alpha_array, const float **a_array,
    const int64_t *lda_array, const float **b_array, const int64_t *ldb_array, const float *beta_array,
    float **c_array, const int64_t *ldc_array, const int64_t *group_count, const int64_t *group_size);
void dgemm_batch_64_(const char *transa_array, const char *transb_array, const int64_t *m_array,
    const int64_t *n_array, const int64_t *k_array, const double *alpha_array, const double **a_array,
    const int64_t *lda_array, const double **b_array, const int64_t *ldb_array, const double *beta_array,
    double **c_array, const int64_t *ldc_array, const int64_t *group_count, const int64_t *group_size);
void cgemm_batch_64_(const char *transa_array, const char *transb_array, const int64_t *m_array,
    const int64_t *n_array, const int64_t *k_array, const void *alpha_array, const void **a_array,
    const int64_t *lda_array, const void **b_array, const int64_t *ldb_array, const void *beta_array,
    void **c_array, const int64_t *ldc_array, const int64_t *group_count, const int64_t *group_size);
void zgemm_batch_64_(const char *transa_array, const char *transb_array, const int64_t *m_array,
    const int64_t *n_array, const int64_t *k_array, const void *alpha_array, const void **a_array,
    const int64_t *lda_array, const void **b_array, const int64_t *ldb_array, const void *beta_array,
    void **c_array, const int64_t *ldc_array, const int64_t *group_count, const int64_t *group_size);

/* Many gemm on matrices at constant distances; the results must not overlap. */
void sgemm_batch_strided_64_(const char *transa, const char *transb, const int64_t *m, const int64_t *n,
    const int64_t *k, const float *alpha, const float *a, const int64_t *lda, const int64_t *stridea,
    const float *b, const int64_t *ldb, const int64_t *strideb, const float *beta, float *c,
    const int64_t *ldc, const int64_t *stridec, const int64_t *batch_size);
void dgemm_batch_strided_64_(const char *transa, const char *transb, const int64_t *m, const int64_t *n,
    const int64_t *k, const double *alpha, const double *a, const int64_t *lda, const int64_t *stridea,
    const double *b, const int64_t *ldb, const int64_t *strideb, const double *beta, double *c,
    const int64_t *ldc, const int64_t *stridec, const int64_t *batch_size);
void cgemm_batch_strided_64_(const char *transa, const char *transb, const int64_t *m, const int64_t *n,
    const int64_t *k, const void *alpha, const void *a, const int64_t *lda, const int64_t *stridea,
    const void *b, const int64_t *ldb, const int64_t *strideb, const void *beta, void *c, const int64_t *ldc,
    const int64_t *stridec, const int64_t *batch_size);
void zgemm_batch_strided_64_(const char *transa, const char *transb, const int64_t *m, const int64_t *n,
    const int64_t *k, const void *alpha, const void *a, const int64_t *lda, const int64_t *stridea,
    const void *b, const int64_t *ldb, const int64_t *strideb, const void *beta, void *c, const int64_t *ldc,
    const int64_t *stridec, const int64_t *batch_size);

#ifdef __cplusplus
}
#endif

#endif /* CORTEN_BLAS_64_H */
