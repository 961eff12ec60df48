/* CBLAS with 32 bit integers. The same with 64 bit integers: cblas_64.h.
 *
 * Generated from ffi/src by `make headers`; do not edit.
 *
 * op(A) is A, A^T, A^H or, for CblasConjNoTrans (an extension), conj(A). "Hermitian", "symmetric" and "triangular"
 * matrices are read and written in the triangle that uplo names. A leading dimension (lda) is the distance between
 * columns in column-major, between rows in row-major order. A bad argument is reported to cblas_xerbla; nothing is
 * computed then.
 */
#ifndef CBLAS_H
#define CBLAS_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* The integers of the plain names in libcorten are these; for 64 bit integers include cblas_64.h instead. To define
 * CBLAS_INT as int64_t is right only for programs that link libblas64 (pkg-config blas64 does it). */
#ifndef CBLAS_INT
#define CBLAS_INT int32_t
#endif
#ifndef CBLAS_INDEX
#define CBLAS_INDEX size_t
#endif

typedef enum CBLAS_LAYOUT { CblasRowMajor = 101, CblasColMajor = 102 } CBLAS_LAYOUT;
typedef enum CBLAS_TRANSPOSE {
    CblasNoTrans = 111,
    CblasTrans = 112,
    CblasConjTrans = 113,
    CblasConjNoTrans = 114
} CBLAS_TRANSPOSE;
typedef enum CBLAS_UPLO { CblasUpper = 121, CblasLower = 122 } CBLAS_UPLO;
typedef enum CBLAS_DIAG { CblasNonUnit = 131, CblasUnit = 132 } CBLAS_DIAG;
typedef enum CBLAS_SIDE { CblasLeft = 141, CblasRight = 142 } CBLAS_SIDE;
#define CBLAS_ORDER CBLAS_LAYOUT /* its name in older programs */

/* Complex numbers returned by value; in C++ a struct of the same layout. Complex arguments are pointers to void, so that
 * arrays of float _Complex, std::complex<float> or float[2] can be passed without a cast. */
#ifndef CORTEN_COMPLEX
#define CORTEN_COMPLEX
#ifdef __cplusplus
typedef struct { float real, imag; } corten_complex_float;
typedef struct { double real, imag; } corten_complex_double;
#else
typedef float _Complex corten_complex_float;
typedef double _Complex corten_complex_double;
#endif
#endif

/* ---- Errors -------------------------------------------------------------------------------------------------- */

/* Called when argument number p is bad; prints and returns. An application may define its own. */
void cblas_xerbla(CBLAS_INT p, const char *rout, const char *form, ...);

/* ---- Level 1: vectors ---------------------------------------------------------------------------------------- */
/* Indices are returned counted from 0. */

/* Exchanges x and y. */
void cblas_sswap(CBLAS_INT n, float *x, CBLAS_INT incx, float *y, CBLAS_INT incy);
void cblas_dswap(CBLAS_INT n, double *x, CBLAS_INT incx, double *y, CBLAS_INT incy);
void cblas_cswap(CBLAS_INT n, void *x, CBLAS_INT incx, void *y, CBLAS_INT incy);
void cblas_zswap(CBLAS_INT n, void *x, CBLAS_INT incx, void *y, CBLAS_INT incy);

/* x := alpha*x */
void cblas_sscal(CBLAS_INT n, float alpha, float *x, CBLAS_INT incx);
void cblas_dscal(CBLAS_INT n, double alpha, double *x, CBLAS_INT incx);
void cblas_cscal(CBLAS_INT n, const void *alpha, void *x, CBLAS_INT incx);
void cblas_zscal(CBLAS_INT n, const void *alpha, void *x, CBLAS_INT incx);

/* x := alpha*x with a real alpha */
void cblas_csscal(CBLAS_INT n, float alpha, void *x, CBLAS_INT incx);
void cblas_zdscal(CBLAS_INT n, double alpha, void *x, CBLAS_INT incx);

/* y := x */
void cblas_scopy(CBLAS_INT n, const float *x, CBLAS_INT incx, float *y, CBLAS_INT incy);
void cblas_dcopy(CBLAS_INT n, const double *x, CBLAS_INT incx, double *y, CBLAS_INT incy);
void cblas_ccopy(CBLAS_INT n, const void *x, CBLAS_INT incx, void *y, CBLAS_INT incy);
void cblas_zcopy(CBLAS_INT n, const void *x, CBLAS_INT incx, void *y, CBLAS_INT incy);

/* y := alpha*x + y */
void cblas_saxpy(CBLAS_INT n, float alpha, const float *x, CBLAS_INT incx, float *y, CBLAS_INT incy);
void cblas_daxpy(CBLAS_INT n, double alpha, const double *x, CBLAS_INT incx, double *y, CBLAS_INT incy);
void cblas_caxpy(CBLAS_INT n, const void *alpha, const void *x, CBLAS_INT incx, void *y, CBLAS_INT incy);
void cblas_zaxpy(CBLAS_INT n, const void *alpha, const void *x, CBLAS_INT incx, void *y, CBLAS_INT incy);

/* Returns x^T y. */
float cblas_sdot(CBLAS_INT n, const float *x, CBLAS_INT incx, const float *y, CBLAS_INT incy);
double cblas_ddot(CBLAS_INT n, const double *x, CBLAS_INT incx, const double *y, CBLAS_INT incy);

/* Returns x^T y, summed in double precision. */
double cblas_dsdot(CBLAS_INT n, const float *x, CBLAS_INT incx, const float *y, CBLAS_INT incy);

/* Returns sb + x^T y, summed in double precision. */
float cblas_sdsdot(CBLAS_INT n, float sb, const float *x, CBLAS_INT incx, const float *y, CBLAS_INT incy);

/* Returns x^T y by value; see also the _sub form. */
corten_complex_float cblas_cdotu(CBLAS_INT n, const void *x, CBLAS_INT incx, const void *y, CBLAS_INT incy);
corten_complex_double cblas_zdotu(CBLAS_INT n, const void *x, CBLAS_INT incx, const void *y, CBLAS_INT incy);

/* Returns x^H y by value; see also the _sub form. */
corten_complex_float cblas_cdotc(CBLAS_INT n, const void *x, CBLAS_INT incx, const void *y, CBLAS_INT incy);
corten_complex_double cblas_zdotc(CBLAS_INT n, const void *x, CBLAS_INT incx, const void *y, CBLAS_INT incy);

/* *dotu := x^T y */
void cblas_cdotu_sub(CBLAS_INT n, const void *x, CBLAS_INT incx, const void *y, CBLAS_INT incy, void *dotu);
void cblas_zdotu_sub(CBLAS_INT n, const void *x, CBLAS_INT incx, const void *y, CBLAS_INT incy, void *dotu);

/* *dotc := x^H y */
void cblas_cdotc_sub(CBLAS_INT n, const void *x, CBLAS_INT incx, const void *y, CBLAS_INT incy, void *dotc);
void cblas_zdotc_sub(CBLAS_INT n, const void *x, CBLAS_INT incx, const void *y, CBLAS_INT incy, void *dotc);

/* Returns the Euclidean norm of x. */
float cblas_snrm2(CBLAS_INT n, const float *x, CBLAS_INT incx);
double cblas_dnrm2(CBLAS_INT n, const double *x, CBLAS_INT incx);
float cblas_scnrm2(CBLAS_INT n, const void *x, CBLAS_INT incx);
double cblas_dznrm2(CBLAS_INT n, const void *x, CBLAS_INT incx);

/* Returns the sum of |re x[i]| + |im x[i]|. */
float cblas_sasum(CBLAS_INT n, const float *x, CBLAS_INT incx);
double cblas_dasum(CBLAS_INT n, const double *x, CBLAS_INT incx);
float cblas_scasum(CBLAS_INT n, const void *x, CBLAS_INT incx);
double cblas_dzasum(CBLAS_INT n, const void *x, CBLAS_INT incx);

/* Returns the index of the first element with the largest |re| + |im|. */
CBLAS_INDEX cblas_isamax(CBLAS_INT n, const float *x, CBLAS_INT incx);
CBLAS_INDEX cblas_idamax(CBLAS_INT n, const double *x, CBLAS_INT incx);
CBLAS_INDEX cblas_icamax(CBLAS_INT n, const void *x, CBLAS_INT incx);
CBLAS_INDEX cblas_izamax(CBLAS_INT n, const void *x, CBLAS_INT incx);

/* Makes a plane rotation that turns (a, b) into (r, 0); a becomes r, b what rebuilds the rotation. */
void cblas_srotg(float *a, float *b, float *c, float *s);
void cblas_drotg(double *a, double *b, double *c, double *s);

/* Makes a plane rotation that turns (a, b) into (r, 0); a becomes r. */
void cblas_crotg(void *a, const void *b, float *c, void *s);
void cblas_zrotg(void *a, const void *b, double *c, void *s);

/* Applies a plane rotation: (x, y) := (c*x + s*y, c*y - s*x) */
void cblas_srot(CBLAS_INT n, float *x, CBLAS_INT incx, float *y, CBLAS_INT incy, float c, float s);
void cblas_drot(CBLAS_INT n, double *x, CBLAS_INT incx, double *y, CBLAS_INT incy, double c, double s);
void cblas_csrot(CBLAS_INT n, void *x, CBLAS_INT incx, void *y, CBLAS_INT incy, float c, float s);
void cblas_zdrot(CBLAS_INT n, void *x, CBLAS_INT incx, void *y, CBLAS_INT incy, double c, double s);

/* Makes a modified plane rotation. */
void cblas_srotmg(float *d1, float *d2, float *x1, float y1, float *param);
void cblas_drotmg(double *d1, double *d2, double *x1, double y1, double *param);

/* Applies a modified plane rotation. */
void cblas_srotm(CBLAS_INT n, float *x, CBLAS_INT incx, float *y, CBLAS_INT incy, const float *param);
void cblas_drotm(CBLAS_INT n, double *x, CBLAS_INT incx, double *y, CBLAS_INT incy, const double *param);

/* Returns |re z| + |im z|. */
float cblas_scabs1(const void *z);
double cblas_dcabs1(const void *z);

/* ---- Level 2: a matrix and vectors ---------------------------------------------------------------------------- */

/* y := alpha*op(A)*x + beta*y */
void cblas_sgemv(CBLAS_LAYOUT layout, CBLAS_TRANSPOSE trans, CBLAS_INT m, CBLAS_INT n, float alpha,
    const float *a, CBLAS_INT lda, const float *x, CBLAS_INT incx, float beta, float *y, CBLAS_INT incy);
void cblas_dgemv(CBLAS_LAYOUT layout, CBLAS_TRANSPOSE trans, CBLAS_INT m, CBLAS_INT n, double alpha,
    const double *a, CBLAS_INT lda, const double *x, CBLAS_INT incx, double beta, double *y, CBLAS_INT incy);
void cblas_cgemv(CBLAS_LAYOUT layout, CBLAS_TRANSPOSE trans, CBLAS_INT m, CBLAS_INT n, const void *alpha,
    const void *a, CBLAS_INT lda, const void *x, CBLAS_INT incx, const void *beta, void *y, CBLAS_INT incy);
void cblas_zgemv(CBLAS_LAYOUT layout, CBLAS_TRANSPOSE trans, CBLAS_INT m, CBLAS_INT n, const void *alpha,
    const void *a, CBLAS_INT lda, const void *x, CBLAS_INT incx, const void *beta, void *y, CBLAS_INT incy);

/* y := alpha*op(A)*x + beta*y, A a band matrix with kl diagonals below and ku above the main one */
void cblas_sgbmv(CBLAS_LAYOUT layout, CBLAS_TRANSPOSE trans, CBLAS_INT m, CBLAS_INT n, CBLAS_INT kl,
    CBLAS_INT ku, float alpha, const float *a, CBLAS_INT lda, const float *x, CBLAS_INT incx, float beta,
    float *y, CBLAS_INT incy);
void cblas_dgbmv(CBLAS_LAYOUT layout, CBLAS_TRANSPOSE trans, CBLAS_INT m, CBLAS_INT n, CBLAS_INT kl,
    CBLAS_INT ku, double alpha, const double *a, CBLAS_INT lda, const double *x, CBLAS_INT incx, double beta,
    double *y, CBLAS_INT incy);
void cblas_cgbmv(CBLAS_LAYOUT layout, CBLAS_TRANSPOSE trans, CBLAS_INT m, CBLAS_INT n, CBLAS_INT kl,
    CBLAS_INT ku, const void *alpha, const void *a, CBLAS_INT lda, const void *x, CBLAS_INT incx,
    const void *beta, void *y, CBLAS_INT incy);
void cblas_zgbmv(CBLAS_LAYOUT layout, CBLAS_TRANSPOSE trans, CBLAS_INT m, CBLAS_INT n, CBLAS_INT kl,
    CBLAS_INT ku, const void *alpha, const void *a, CBLAS_INT lda, const void *x, CBLAS_INT incx,
    const void *beta, void *y, CBLAS_INT incy);

/* y := alpha*A*x + beta*y, A symmetric */
void cblas_ssymv(CBLAS_LAYOUT layout, CBLAS_UPLO uplo, CBLAS_INT n, float alpha, const float *a,
    CBLAS_INT lda, const float *x, CBLAS_INT incx, float beta, float *y, CBLAS_INT incy);
void cblas_dsymv(CBLAS_LAYOUT layout, CBLAS_UPLO uplo, CBLAS_INT n, double alpha, const double *a,
    CBLAS_INT lda, const double *x, CBLAS_INT incx, double beta, double *y, CBLAS_INT incy);

/* y := alpha*A*x + beta*y, A symmetric, band storage */
void cblas_ssbmv(CBLAS_LAYOUT layout, CBLAS_UPLO uplo, CBLAS_INT n, CBLAS_INT k, float alpha, const float *a,
    CBLAS_INT lda, const float *x, CBLAS_INT incx, float beta, float *y, CBLAS_INT incy);
void cblas_dsbmv(CBLAS_LAYOUT layout, CBLAS_UPLO uplo, CBLAS_INT n, CBLAS_INT k, double alpha,
    const double *a, CBLAS_INT lda, const double *x, CBLAS_INT incx, double beta, double *y, CBLAS_INT incy);

/* y := alpha*A*x + beta*y, A symmetric, packed storage */
void cblas_sspmv(CBLAS_LAYOUT layout, CBLAS_UPLO uplo, CBLAS_INT n, float alpha, const float *ap,
    const float *x, CBLAS_INT incx, float beta, float *y, CBLAS_INT incy);
void cblas_dspmv(CBLAS_LAYOUT layout, CBLAS_UPLO uplo, CBLAS_INT n, double alpha, const double *ap,
    const double *x, CBLAS_INT incx, double beta, double *y, CBLAS_INT incy);

/* y := alpha*A*x + beta*y, A Hermitian */
void cblas_chemv(CBLAS_LAYOUT layout, CBLAS_UPLO uplo, CBLAS_INT n, const void *alpha, const void *a,
    CBLAS_INT lda, const void *x, CBLAS_INT incx, const void *beta, void *y, CBLAS_INT incy);
void cblas_zhemv(CBLAS_LAYOUT layout, CBLAS_UPLO uplo, CBLAS_INT n, const void *alpha, const void *a,
    CBLAS_INT lda, const void *x, CBLAS_INT incx, const void *beta, void *y, CBLAS_INT incy);

/* y := alpha*A*x + beta*y, A Hermitian, band storage */
void cblas_chbmv(CBLAS_LAYOUT layout, CBLAS_UPLO uplo, CBLAS_INT n, CBLAS_INT k, const void *alpha,
    const void *a, CBLAS_INT lda, const void *x, CBLAS_INT incx, const void *beta, void *y, CBLAS_INT incy);
void cblas_zhbmv(CBLAS_LAYOUT layout, CBLAS_UPLO uplo, CBLAS_INT n, CBLAS_INT k, const void *alpha,
    const void *a, CBLAS_INT lda, const void *x, CBLAS_INT incx, const void *beta, void *y, CBLAS_INT incy);

/* y := alpha*A*x + beta*y, A Hermitian, packed storage */
void cblas_chpmv(CBLAS_LAYOUT layout, CBLAS_UPLO uplo, CBLAS_INT n, const void *alpha, const void *ap,
    const void *x, CBLAS_INT incx, const void *beta, void *y, CBLAS_INT incy);
void cblas_zhpmv(CBLAS_LAYOUT layout, CBLAS_UPLO uplo, CBLAS_INT n, const void *alpha, const void *ap,
    const void *x, CBLAS_INT incx, const void *beta, void *y, CBLAS_INT incy);

/* x := op(A)*x, A triangular */
void cblas_strmv(CBLAS_LAYOUT layout, CBLAS_UPLO uplo, CBLAS_TRANSPOSE trans, CBLAS_DIAG diag, CBLAS_INT n,
    const float *a, CBLAS_INT lda, float *x, CBLAS_INT incx);
void cblas_dtrmv(CBLAS_LAYOUT layout, CBLAS_UPLO uplo, CBLAS_TRANSPOSE trans, CBLAS_DIAG diag, CBLAS_INT n,
    const double *a, CBLAS_INT lda, double *x, CBLAS_INT incx);
void cblas_ctrmv(CBLAS_LAYOUT layout, CBLAS_UPLO uplo, CBLAS_TRANSPOSE trans, CBLAS_DIAG diag, CBLAS_INT n,
    const void *a, CBLAS_INT lda, void *x, CBLAS_INT incx);
void cblas_ztrmv(CBLAS_LAYOUT layout, CBLAS_UPLO uplo, CBLAS_TRANSPOSE trans, CBLAS_DIAG diag, CBLAS_INT n,
    const void *a, CBLAS_INT lda, void *x, CBLAS_INT incx);

/* x := op(A)*x, A triangular, band storage */
void cblas_stbmv(CBLAS_LAYOUT layout, CBLAS_UPLO uplo, CBLAS_TRANSPOSE trans, CBLAS_DIAG diag, CBLAS_INT n,
    CBLAS_INT k, const float *a, CBLAS_INT lda, float *x, CBLAS_INT incx);
void cblas_dtbmv(CBLAS_LAYOUT layout, CBLAS_UPLO uplo, CBLAS_TRANSPOSE trans, CBLAS_DIAG diag, CBLAS_INT n,
    CBLAS_INT k, const double *a, CBLAS_INT lda, double *x, CBLAS_INT incx);
void cblas_ctbmv(CBLAS_LAYOUT layout, CBLAS_UPLO uplo, CBLAS_TRANSPOSE trans, CBLAS_DIAG diag, CBLAS_INT n,
    CBLAS_INT k, const void *a, CBLAS_INT lda, void *x, CBLAS_INT incx);
void cblas_ztbmv(CBLAS_LAYOUT layout, CBLAS_UPLO uplo, CBLAS_TRANSPOSE trans, CBLAS_DIAG diag, CBLAS_INT n,
    CBLAS_INT k, const void *a, CBLAS_INT lda, void *x, CBLAS_INT incx);

/* x := op(A)*x, A triangular, packed storage */
void cblas_stpmv(CBLAS_LAYOUT layout, CBLAS_UPLO uplo, CBLAS_TRANSPOSE trans, CBLAS_DIAG diag, CBLAS_INT n,
    const float *ap, float *x, CBLAS_INT incx);
void cblas_dtpmv(CBLAS_LAYOUT layout, CBLAS_UPLO uplo, CBLAS_TRANSPOSE trans, CBLAS_DIAG diag, CBLAS_INT n,
    const double *ap, double *x, CBLAS_INT incx);
void cblas_ctpmv(CBLAS_LAYOUT layout, CBLAS_UPLO uplo, CBLAS_TRANSPOSE trans, CBLAS_DIAG diag, CBLAS_INT n,
    const void *ap, void *x, CBLAS_INT incx);
void cblas_ztpmv(CBLAS_LAYOUT layout, CBLAS_UPLO uplo, CBLAS_TRANSPOSE trans, CBLAS_DIAG diag, CBLAS_INT n,
    const void *ap, void *x, CBLAS_INT incx);

/* Solves op(A)*x = b, A triangular; x holds b on entry. */
void cblas_strsv(CBLAS_LAYOUT layout, CBLAS_UPLO uplo, CBLAS_TRANSPOSE trans, CBLAS_DIAG diag, CBLAS_INT n,
    const float *a, CBLAS_INT lda, float *x, CBLAS_INT incx);
void cblas_dtrsv(CBLAS_LAYOUT layout, CBLAS_UPLO uplo, CBLAS_TRANSPOSE trans, CBLAS_DIAG diag, CBLAS_INT n,
    const double *a, CBLAS_INT lda, double *x, CBLAS_INT incx);
void cblas_ctrsv(CBLAS_LAYOUT layout, CBLAS_UPLO uplo, CBLAS_TRANSPOSE trans, CBLAS_DIAG diag, CBLAS_INT n,
    const void *a, CBLAS_INT lda, void *x, CBLAS_INT incx);
void cblas_ztrsv(CBLAS_LAYOUT layout, CBLAS_UPLO uplo, CBLAS_TRANSPOSE trans, CBLAS_DIAG diag, CBLAS_INT n,
    const void *a, CBLAS_INT lda, void *x, CBLAS_INT incx);

/* Solves op(A)*x = b, A triangular, band storage; x holds b on entry. */
void cblas_stbsv(CBLAS_LAYOUT layout, CBLAS_UPLO uplo, CBLAS_TRANSPOSE trans, CBLAS_DIAG diag, CBLAS_INT n,
    CBLAS_INT k, const float *a, CBLAS_INT lda, float *x, CBLAS_INT incx);
void cblas_dtbsv(CBLAS_LAYOUT layout, CBLAS_UPLO uplo, CBLAS_TRANSPOSE trans, CBLAS_DIAG diag, CBLAS_INT n,
    CBLAS_INT k, const double *a, CBLAS_INT lda, double *x, CBLAS_INT incx);
void cblas_ctbsv(CBLAS_LAYOUT layout, CBLAS_UPLO uplo, CBLAS_TRANSPOSE trans, CBLAS_DIAG diag, CBLAS_INT n,
    CBLAS_INT k, const void *a, CBLAS_INT lda, void *x, CBLAS_INT incx);
void cblas_ztbsv(CBLAS_LAYOUT layout, CBLAS_UPLO uplo, CBLAS_TRANSPOSE trans, CBLAS_DIAG diag, CBLAS_INT n,
    CBLAS_INT k, const void *a, CBLAS_INT lda, void *x, CBLAS_INT incx);

/* Solves op(A)*x = b, A triangular, packed storage; x holds b on entry. */
void cblas_stpsv(CBLAS_LAYOUT layout, CBLAS_UPLO uplo, CBLAS_TRANSPOSE trans, CBLAS_DIAG diag, CBLAS_INT n,
    const float *ap, float *x, CBLAS_INT incx);
void cblas_dtpsv(CBLAS_LAYOUT layout, CBLAS_UPLO uplo, CBLAS_TRANSPOSE trans, CBLAS_DIAG diag, CBLAS_INT n,
    const double *ap, double *x, CBLAS_INT incx);
void cblas_ctpsv(CBLAS_LAYOUT layout, CBLAS_UPLO uplo, CBLAS_TRANSPOSE trans, CBLAS_DIAG diag, CBLAS_INT n,
    const void *ap, void *x, CBLAS_INT incx);
void cblas_ztpsv(CBLAS_LAYOUT layout, CBLAS_UPLO uplo, CBLAS_TRANSPOSE trans, CBLAS_DIAG diag, CBLAS_INT n,
    const void *ap, void *x, CBLAS_INT incx);

/* A := alpha*x*y^T + A */
void cblas_sger(CBLAS_LAYOUT layout, CBLAS_INT m, CBLAS_INT n, float alpha, const float *x, CBLAS_INT incx,
    const float *y, CBLAS_INT incy, float *a, CBLAS_INT lda);
void cblas_dger(CBLAS_LAYOUT layout, CBLAS_INT m, CBLAS_INT n, double alpha, const double *x, CBLAS_INT incx,
    const double *y, CBLAS_INT incy, double *a, CBLAS_INT lda);
void cblas_cgeru(CBLAS_LAYOUT layout, CBLAS_INT m, CBLAS_INT n, const void *alpha, const void *x,
    CBLAS_INT incx, const void *y, CBLAS_INT incy, void *a, CBLAS_INT lda);
void cblas_zgeru(CBLAS_LAYOUT layout, CBLAS_INT m, CBLAS_INT n, const void *alpha, const void *x,
    CBLAS_INT incx, const void *y, CBLAS_INT incy, void *a, CBLAS_INT lda);

/* A := alpha*x*y^H + A */
void cblas_cgerc(CBLAS_LAYOUT layout, CBLAS_INT m, CBLAS_INT n, const void *alpha, const void *x,
    CBLAS_INT incx, const void *y, CBLAS_INT incy, void *a, CBLAS_INT lda);
void cblas_zgerc(CBLAS_LAYOUT layout, CBLAS_INT m, CBLAS_INT n, const void *alpha, const void *x,
    CBLAS_INT incx, const void *y, CBLAS_INT incy, void *a, CBLAS_INT lda);

/* A := alpha*x*x^T + A, A symmetric */
void cblas_ssyr(CBLAS_LAYOUT layout, CBLAS_UPLO uplo, CBLAS_INT n, float alpha, const float *x,
    CBLAS_INT incx, float *a, CBLAS_INT lda);
void cblas_dsyr(CBLAS_LAYOUT layout, CBLAS_UPLO uplo, CBLAS_INT n, double alpha, const double *x,
    CBLAS_INT incx, double *a, CBLAS_INT lda);

/* A := alpha*x*x^T + A, A symmetric, packed storage */
void cblas_sspr(CBLAS_LAYOUT layout, CBLAS_UPLO uplo, CBLAS_INT n, float alpha, const float *x,
    CBLAS_INT incx, float *ap);
void cblas_dspr(CBLAS_LAYOUT layout, CBLAS_UPLO uplo, CBLAS_INT n, double alpha, const double *x,
    CBLAS_INT incx, double *ap);

/* A := alpha*x*x^H + A, A Hermitian */
void cblas_cher(CBLAS_LAYOUT layout, CBLAS_UPLO uplo, CBLAS_INT n, float alpha, const void *x, CBLAS_INT incx,
    void *a, CBLAS_INT lda);
void cblas_zher(CBLAS_LAYOUT layout, CBLAS_UPLO uplo, CBLAS_INT n, double alpha, const void *x,
    CBLAS_INT incx, void *a, CBLAS_INT lda);

/* A := alpha*x*x^H + A, A Hermitian, packed storage */
void cblas_chpr(CBLAS_LAYOUT layout, CBLAS_UPLO uplo, CBLAS_INT n, float alpha, const void *x, CBLAS_INT incx,
    void *ap);
void cblas_zhpr(CBLAS_LAYOUT layout, CBLAS_UPLO uplo, CBLAS_INT n, double alpha, const void *x,
    CBLAS_INT incx, void *ap);

/* A := alpha*x*y^T + alpha*y*x^T + A, A symmetric */
void cblas_ssyr2(CBLAS_LAYOUT layout, CBLAS_UPLO uplo, CBLAS_INT n, float alpha, const float *x,
    CBLAS_INT incx, const float *y, CBLAS_INT incy, float *a, CBLAS_INT lda);
void cblas_dsyr2(CBLAS_LAYOUT layout, CBLAS_UPLO uplo, CBLAS_INT n, double alpha, const double *x,
    CBLAS_INT incx, const double *y, CBLAS_INT incy, double *a, CBLAS_INT lda);

/* A := alpha*x*y^T + alpha*y*x^T + A, A symmetric, packed storage */
void cblas_sspr2(CBLAS_LAYOUT layout, CBLAS_UPLO uplo, CBLAS_INT n, float alpha, const float *x,
    CBLAS_INT incx, const float *y, CBLAS_INT incy, float *ap);
void cblas_dspr2(CBLAS_LAYOUT layout, CBLAS_UPLO uplo, CBLAS_INT n, double alpha, const double *x,
    CBLAS_INT incx, const double *y, CBLAS_INT incy, double *ap);

/* A := alpha*x*y^H + conj(alpha)*y*x^H + A, A Hermitian */
void cblas_cher2(CBLAS_LAYOUT layout, CBLAS_UPLO uplo, CBLAS_INT n, const void *alpha, const void *x,
    CBLAS_INT incx, const void *y, CBLAS_INT incy, void *a, CBLAS_INT lda);
void cblas_zher2(CBLAS_LAYOUT layout, CBLAS_UPLO uplo, CBLAS_INT n, const void *alpha, const void *x,
    CBLAS_INT incx, const void *y, CBLAS_INT incy, void *a, CBLAS_INT lda);

/* A := alpha*x*y^H + conj(alpha)*y*x^H + A, A Hermitian, packed storage */
void cblas_chpr2(CBLAS_LAYOUT layout, CBLAS_UPLO uplo, CBLAS_INT n, const void *alpha, const void *x,
    CBLAS_INT incx, const void *y, CBLAS_INT incy, void *ap);
void cblas_zhpr2(CBLAS_LAYOUT layout, CBLAS_UPLO uplo, CBLAS_INT n, const void *alpha, const void *x,
    CBLAS_INT incx, const void *y, CBLAS_INT incy, void *ap);

/* ---- Level 3: matrices ---------------------------------------------------------------------------------------- */

/* C := alpha*op(A)*op(B) + beta*C */
void cblas_sgemm(CBLAS_LAYOUT layout, CBLAS_TRANSPOSE transa, CBLAS_TRANSPOSE transb, CBLAS_INT m,
    CBLAS_INT n, CBLAS_INT k, float alpha, const float *a, CBLAS_INT lda, const float *b, CBLAS_INT ldb,
    float beta, float *c, CBLAS_INT ldc);
void cblas_dgemm(CBLAS_LAYOUT layout, CBLAS_TRANSPOSE transa, CBLAS_TRANSPOSE transb, CBLAS_INT m,
    CBLAS_INT n, CBLAS_INT k, double alpha, const double *a, CBLAS_INT lda, const double *b, CBLAS_INT ldb,
    double beta, double *c, CBLAS_INT ldc);
void cblas_cgemm(CBLAS_LAYOUT layout, CBLAS_TRANSPOSE transa, CBLAS_TRANSPOSE transb, CBLAS_INT m,
    CBLAS_INT n, CBLAS_INT k, const void *alpha, const void *a, CBLAS_INT lda, const void *b, CBLAS_INT ldb,
    const void *beta, void *c, CBLAS_INT ldc);
void cblas_zgemm(CBLAS_LAYOUT layout, CBLAS_TRANSPOSE transa, CBLAS_TRANSPOSE transb, CBLAS_INT m,
    CBLAS_INT n, CBLAS_INT k, const void *alpha, const void *a, CBLAS_INT lda, const void *b, CBLAS_INT ldb,
    const void *beta, void *c, CBLAS_INT ldc);

/* C := alpha*A*B + beta*C or alpha*B*A + beta*C, A symmetric */
void cblas_ssymm(CBLAS_LAYOUT layout, CBLAS_SIDE side, CBLAS_UPLO uplo, CBLAS_INT m, CBLAS_INT n, float alpha,
    const float *a, CBLAS_INT lda, const float *b, CBLAS_INT ldb, float beta, float *c, CBLAS_INT ldc);
void cblas_dsymm(CBLAS_LAYOUT layout, CBLAS_SIDE side, CBLAS_UPLO uplo, CBLAS_INT m, CBLAS_INT n,
    double alpha, const double *a, CBLAS_INT lda, const double *b, CBLAS_INT ldb, double beta, double *c,
    CBLAS_INT ldc);
void cblas_csymm(CBLAS_LAYOUT layout, CBLAS_SIDE side, CBLAS_UPLO uplo, CBLAS_INT m, CBLAS_INT n,
    const void *alpha, const void *a, CBLAS_INT lda, const void *b, CBLAS_INT ldb, const void *beta, void *c,
    CBLAS_INT ldc);
void cblas_zsymm(CBLAS_LAYOUT layout, CBLAS_SIDE side, CBLAS_UPLO uplo, CBLAS_INT m, CBLAS_INT n,
    const void *alpha, const void *a, CBLAS_INT lda, const void *b, CBLAS_INT ldb, const void *beta, void *c,
    CBLAS_INT ldc);

/* C := alpha*A*B + beta*C or alpha*B*A + beta*C, A Hermitian */
void cblas_chemm(CBLAS_LAYOUT layout, CBLAS_SIDE side, CBLAS_UPLO uplo, CBLAS_INT m, CBLAS_INT n,
    const void *alpha, const void *a, CBLAS_INT lda, const void *b, CBLAS_INT ldb, const void *beta, void *c,
    CBLAS_INT ldc);
void cblas_zhemm(CBLAS_LAYOUT layout, CBLAS_SIDE side, CBLAS_UPLO uplo, CBLAS_INT m, CBLAS_INT n,
    const void *alpha, const void *a, CBLAS_INT lda, const void *b, CBLAS_INT ldb, const void *beta, void *c,
    CBLAS_INT ldc);

/* C := alpha*A*A^T + beta*C or alpha*A^T*A + beta*C, C symmetric */
void cblas_ssyrk(CBLAS_LAYOUT layout, CBLAS_UPLO uplo, CBLAS_TRANSPOSE trans, CBLAS_INT n, CBLAS_INT k,
    float alpha, const float *a, CBLAS_INT lda, float beta, float *c, CBLAS_INT ldc);
void cblas_dsyrk(CBLAS_LAYOUT layout, CBLAS_UPLO uplo, CBLAS_TRANSPOSE trans, CBLAS_INT n, CBLAS_INT k,
    double alpha, const double *a, CBLAS_INT lda, double beta, double *c, CBLAS_INT ldc);
void cblas_csyrk(CBLAS_LAYOUT layout, CBLAS_UPLO uplo, CBLAS_TRANSPOSE trans, CBLAS_INT n, CBLAS_INT k,
    const void *alpha, const void *a, CBLAS_INT lda, const void *beta, void *c, CBLAS_INT ldc);
void cblas_zsyrk(CBLAS_LAYOUT layout, CBLAS_UPLO uplo, CBLAS_TRANSPOSE trans, CBLAS_INT n, CBLAS_INT k,
    const void *alpha, const void *a, CBLAS_INT lda, const void *beta, void *c, CBLAS_INT ldc);

/* C := alpha*A*A^H + beta*C or alpha*A^H*A + beta*C, C Hermitian */
void cblas_cherk(CBLAS_LAYOUT layout, CBLAS_UPLO uplo, CBLAS_TRANSPOSE trans, CBLAS_INT n, CBLAS_INT k,
    float alpha, const void *a, CBLAS_INT lda, float beta, void *c, CBLAS_INT ldc);
void cblas_zherk(CBLAS_LAYOUT layout, CBLAS_UPLO uplo, CBLAS_TRANSPOSE trans, CBLAS_INT n, CBLAS_INT k,
    double alpha, const void *a, CBLAS_INT lda, double beta, void *c, CBLAS_INT ldc);

/* C := alpha*A*B^T + alpha*B*A^T + beta*C or the same with A^T*B and B^T*A, C symmetric */
void cblas_ssyr2k(CBLAS_LAYOUT layout, CBLAS_UPLO uplo, CBLAS_TRANSPOSE trans, CBLAS_INT n, CBLAS_INT k,
    float alpha, const float *a, CBLAS_INT lda, const float *b, CBLAS_INT ldb, float beta, float *c,
    CBLAS_INT ldc);
void cblas_dsyr2k(CBLAS_LAYOUT layout, CBLAS_UPLO uplo, CBLAS_TRANSPOSE trans, CBLAS_INT n, CBLAS_INT k,
    double alpha, const double *a, CBLAS_INT lda, const double *b, CBLAS_INT ldb, double beta, double *c,
    CBLAS_INT ldc);
void cblas_csyr2k(CBLAS_LAYOUT layout, CBLAS_UPLO uplo, CBLAS_TRANSPOSE trans, CBLAS_INT n, CBLAS_INT k,
    const void *alpha, const void *a, CBLAS_INT lda, const void *b, CBLAS_INT ldb, const void *beta, void *c,
    CBLAS_INT ldc);
void cblas_zsyr2k(CBLAS_LAYOUT layout, CBLAS_UPLO uplo, CBLAS_TRANSPOSE trans, CBLAS_INT n, CBLAS_INT k,
    const void *alpha, const void *a, CBLAS_INT lda, const void *b, CBLAS_INT ldb, const void *beta, void *c,
    CBLAS_INT ldc);

/* C := alpha*A*B^H + conj(alpha)*B*A^H + beta*C or the same with A^H*B and B^H*A, C Hermitian */
void cblas_cher2k(CBLAS_LAYOUT layout, CBLAS_UPLO uplo, CBLAS_TRANSPOSE trans, CBLAS_INT n, CBLAS_INT k,
    const void *alpha, const void *a, CBLAS_INT lda, const void *b, CBLAS_INT ldb, float beta, void *c,
    CBLAS_INT ldc);
void cblas_zher2k(CBLAS_LAYOUT layout, CBLAS_UPLO uplo, CBLAS_TRANSPOSE trans, CBLAS_INT n, CBLAS_INT k,
    const void *alpha, const void *a, CBLAS_INT lda, const void *b, CBLAS_INT ldb, double beta, void *c,
    CBLAS_INT ldc);

/* B := alpha*op(A)*B or alpha*B*op(A), A triangular */
void cblas_strmm(CBLAS_LAYOUT layout, CBLAS_SIDE side, CBLAS_UPLO uplo, CBLAS_TRANSPOSE transa,
    CBLAS_DIAG diag, CBLAS_INT m, CBLAS_INT n, float alpha, const float *a, CBLAS_INT lda, float *b,
    CBLAS_INT ldb);
void cblas_dtrmm(CBLAS_LAYOUT layout, CBLAS_SIDE side, CBLAS_UPLO uplo, CBLAS_TRANSPOSE transa,
    CBLAS_DIAG diag, CBLAS_INT m, CBLAS_INT n, double alpha, const double *a, CBLAS_INT lda, double *b,
    CBLAS_INT ldb);
void cblas_ctrmm(CBLAS_LAYOUT layout, CBLAS_SIDE side, CBLAS_UPLO uplo, CBLAS_TRANSPOSE transa,
    CBLAS_DIAG diag, CBLAS_INT m, CBLAS_INT n, const void *alpha, const void *a, CBLAS_INT lda, void *b,
    CBLAS_INT ldb);
void cblas_ztrmm(CBLAS_LAYOUT layout, CBLAS_SIDE side, CBLAS_UPLO uplo, CBLAS_TRANSPOSE transa,
    CBLAS_DIAG diag, CBLAS_INT m, CBLAS_INT n, const void *alpha, const void *a, CBLAS_INT lda, void *b,
    CBLAS_INT ldb);

/* Solves op(A)*X = alpha*B or X*op(A) = alpha*B, A triangular; B becomes X. */
void cblas_strsm(CBLAS_LAYOUT layout, CBLAS_SIDE side, CBLAS_UPLO uplo, CBLAS_TRANSPOSE transa,
    CBLAS_DIAG diag, CBLAS_INT m, CBLAS_INT n, float alpha, const float *a, CBLAS_INT lda, float *b,
    CBLAS_INT ldb);
void cblas_dtrsm(CBLAS_LAYOUT layout, CBLAS_SIDE side, CBLAS_UPLO uplo, CBLAS_TRANSPOSE transa,
    CBLAS_DIAG diag, CBLAS_INT m, CBLAS_INT n, double alpha, const double *a, CBLAS_INT lda, double *b,
    CBLAS_INT ldb);
void cblas_ctrsm(CBLAS_LAYOUT layout, CBLAS_SIDE side, CBLAS_UPLO uplo, CBLAS_TRANSPOSE transa,
    CBLAS_DIAG diag, CBLAS_INT m, CBLAS_INT n, const void *alpha, const void *a, CBLAS_INT lda, void *b,
    CBLAS_INT ldb);
void cblas_ztrsm(CBLAS_LAYOUT layout, CBLAS_SIDE side, CBLAS_UPLO uplo, CBLAS_TRANSPOSE transa,
    CBLAS_DIAG diag, CBLAS_INT m, CBLAS_INT n, const void *alpha, const void *a, CBLAS_INT lda, void *b,
    CBLAS_INT ldb);

/* One triangle of C := alpha*op(A)*op(B) + beta*C (Reference BLAS 3.12.1) */
void cblas_sgemmtr(CBLAS_LAYOUT layout, CBLAS_UPLO uplo, CBLAS_TRANSPOSE transa, CBLAS_TRANSPOSE transb,
    CBLAS_INT n, CBLAS_INT k, float alpha, const float *a, CBLAS_INT lda, const float *b, CBLAS_INT ldb,
    float beta, float *c, CBLAS_INT ldc);
void cblas_dgemmtr(CBLAS_LAYOUT layout, CBLAS_UPLO uplo, CBLAS_TRANSPOSE transa, CBLAS_TRANSPOSE transb,
    CBLAS_INT n, CBLAS_INT k, double alpha, const double *a, CBLAS_INT lda, const double *b, CBLAS_INT ldb,
    double beta, double *c, CBLAS_INT ldc);
void cblas_cgemmtr(CBLAS_LAYOUT layout, CBLAS_UPLO uplo, CBLAS_TRANSPOSE transa, CBLAS_TRANSPOSE transb,
    CBLAS_INT n, CBLAS_INT k, const void *alpha, const void *a, CBLAS_INT lda, const void *b, CBLAS_INT ldb,
    const void *beta, void *c, CBLAS_INT ldc);
void cblas_zgemmtr(CBLAS_LAYOUT layout, CBLAS_UPLO uplo, CBLAS_TRANSPOSE transa, CBLAS_TRANSPOSE transb,
    CBLAS_INT n, CBLAS_INT k, const void *alpha, const void *a, CBLAS_INT lda, const void *b, CBLAS_INT ldb,
    const void *beta, void *c, CBLAS_INT ldc);

/* ---- Extensions, as in OpenBLAS and MKL ------------------------------------------------------------------------ */

/* y := alpha*x + beta*y */
void cblas_saxpby(CBLAS_INT n, float alpha, const float *x, CBLAS_INT incx, float beta, float *y,
    CBLAS_INT incy);
void cblas_daxpby(CBLAS_INT n, double alpha, const double *x, CBLAS_INT incx, double beta, double *y,
    CBLAS_INT incy);
void cblas_caxpby(CBLAS_INT n, const void *alpha, const void *x, CBLAS_INT incx, const void *beta, void *y,
    CBLAS_INT incy);
void cblas_zaxpby(CBLAS_INT n, const void *alpha, const void *x, CBLAS_INT incx, const void *beta, void *y,
    CBLAS_INT incy);

/* y := alpha*conj(x) + y */
void cblas_caxpyc(CBLAS_INT n, const void *alpha, const void *x, CBLAS_INT incx, void *y, CBLAS_INT incy);
void cblas_zaxpyc(CBLAS_INT n, const void *alpha, const void *x, CBLAS_INT incx, void *y, CBLAS_INT incy);

/* Returns the sum of re x[i] + im x[i]. */
float cblas_ssum(CBLAS_INT n, const float *x, CBLAS_INT incx);
double cblas_dsum(CBLAS_INT n, const double *x, CBLAS_INT incx);
float cblas_scsum(CBLAS_INT n, const void *x, CBLAS_INT incx);
double cblas_dzsum(CBLAS_INT n, const void *x, CBLAS_INT incx);

/* Returns the largest |re x[i]| + |im x[i]|. */
float cblas_samax(CBLAS_INT n, const float *x, CBLAS_INT incx);
double cblas_damax(CBLAS_INT n, const double *x, CBLAS_INT incx);
float cblas_scamax(CBLAS_INT n, const void *x, CBLAS_INT incx);
double cblas_dzamax(CBLAS_INT n, const void *x, CBLAS_INT incx);

/* Returns the smallest |re x[i]| + |im x[i]|. */
float cblas_samin(CBLAS_INT n, const float *x, CBLAS_INT incx);
double cblas_damin(CBLAS_INT n, const double *x, CBLAS_INT incx);
float cblas_scamin(CBLAS_INT n, const void *x, CBLAS_INT incx);
double cblas_dzamin(CBLAS_INT n, const void *x, CBLAS_INT incx);

/* Returns the largest x[i]. */
float cblas_smax(CBLAS_INT n, const float *x, CBLAS_INT incx);
double cblas_dmax(CBLAS_INT n, const double *x, CBLAS_INT incx);

/* Returns the smallest x[i]. */
float cblas_smin(CBLAS_INT n, const float *x, CBLAS_INT incx);
double cblas_dmin(CBLAS_INT n, const double *x, CBLAS_INT incx);

/* Returns the index of the first element with the smallest |re| + |im|. */
CBLAS_INDEX cblas_isamin(CBLAS_INT n, const float *x, CBLAS_INT incx);
CBLAS_INDEX cblas_idamin(CBLAS_INT n, const double *x, CBLAS_INT incx);
CBLAS_INDEX cblas_icamin(CBLAS_INT n, const void *x, CBLAS_INT incx);
CBLAS_INDEX cblas_izamin(CBLAS_INT n, const void *x, CBLAS_INT incx);

/* Returns the index of the first largest element. */
CBLAS_INDEX cblas_ismax(CBLAS_INT n, const float *x, CBLAS_INT incx);
CBLAS_INDEX cblas_idmax(CBLAS_INT n, const double *x, CBLAS_INT incx);

/* Returns the index of the first smallest element. */
CBLAS_INDEX cblas_ismin(CBLAS_INT n, const float *x, CBLAS_INT incx);
CBLAS_INDEX cblas_idmin(CBLAS_INT n, const double *x, CBLAS_INT incx);

/* Returns the index of the first element with the largest real part. */
CBLAS_INDEX cblas_icmax(CBLAS_INT n, const void *x, CBLAS_INT incx);
CBLAS_INDEX cblas_izmax(CBLAS_INT n, const void *x, CBLAS_INT incx);

/* Returns the index of the first element with the smallest real part. */
CBLAS_INDEX cblas_icmin(CBLAS_INT n, const void *x, CBLAS_INT incx);
CBLAS_INDEX cblas_izmin(CBLAS_INT n, const void *x, CBLAS_INT incx);

/* B := alpha*op(A), A with this many rows and columns */
void cblas_somatcopy(CBLAS_LAYOUT layout, CBLAS_TRANSPOSE trans, CBLAS_INT rows, CBLAS_INT cols, float alpha,
    const float *a, CBLAS_INT lda, float *b, CBLAS_INT ldb);
void cblas_domatcopy(CBLAS_LAYOUT layout, CBLAS_TRANSPOSE trans, CBLAS_INT rows, CBLAS_INT cols, double alpha,
    const double *a, CBLAS_INT lda, double *b, CBLAS_INT ldb);
void cblas_comatcopy(CBLAS_LAYOUT layout, CBLAS_TRANSPOSE trans, CBLAS_INT rows, CBLAS_INT cols,
    const void *alpha, const void *a, CBLAS_INT lda, void *b, CBLAS_INT ldb);
void cblas_zomatcopy(CBLAS_LAYOUT layout, CBLAS_TRANSPOSE trans, CBLAS_INT rows, CBLAS_INT cols,
    const void *alpha, const void *a, CBLAS_INT lda, void *b, CBLAS_INT ldb);

/* A := alpha*op(A) in place; lda before, ldb after */
void cblas_simatcopy(CBLAS_LAYOUT layout, CBLAS_TRANSPOSE trans, CBLAS_INT rows, CBLAS_INT cols, float alpha,
    float *a, CBLAS_INT lda, CBLAS_INT ldb);
void cblas_dimatcopy(CBLAS_LAYOUT layout, CBLAS_TRANSPOSE trans, CBLAS_INT rows, CBLAS_INT cols, double alpha,
    double *a, CBLAS_INT lda, CBLAS_INT ldb);
void cblas_cimatcopy(CBLAS_LAYOUT layout, CBLAS_TRANSPOSE trans, CBLAS_INT rows, CBLAS_INT cols,
    const void *alpha, void *a, CBLAS_INT lda, CBLAS_INT ldb);
void cblas_zimatcopy(CBLAS_LAYOUT layout, CBLAS_TRANSPOSE trans, CBLAS_INT rows, CBLAS_INT cols,
    const void *alpha, void *a, CBLAS_INT lda, CBLAS_INT ldb);

/* C := alpha*A + beta*C */
void cblas_sgeadd(CBLAS_LAYOUT layout, CBLAS_INT m, CBLAS_INT n, float alpha, const float *a, CBLAS_INT lda,
    float beta, float *c, CBLAS_INT ldc);
void cblas_dgeadd(CBLAS_LAYOUT layout, CBLAS_INT m, CBLAS_INT n, double alpha, const double *a, CBLAS_INT lda,
    double beta, double *c, CBLAS_INT ldc);
void cblas_cgeadd(CBLAS_LAYOUT layout, CBLAS_INT m, CBLAS_INT n, const void *alpha, const void *a,
    CBLAS_INT lda, const void *beta, void *c, CBLAS_INT ldc);
void cblas_zgeadd(CBLAS_LAYOUT layout, CBLAS_INT m, CBLAS_INT n, const void *alpha, const void *a,
    CBLAS_INT lda, const void *beta, void *c, CBLAS_INT ldc);

/* gemm under the name for three real products, which would be less accurate; here it is gemm. */
void cblas_cgemm3m(CBLAS_LAYOUT layout, CBLAS_TRANSPOSE transa, CBLAS_TRANSPOSE transb, CBLAS_INT m,
    CBLAS_INT n, CBLAS_INT k, const void *alpha, const void *a, CBLAS_INT lda, const void *b, CBLAS_INT ldb,
    const void *beta, void *c, CBLAS_INT ldc);
void cblas_zgemm3m(CBLAS_LAYOUT layout, CBLAS_TRANSPOSE transa, CBLAS_TRANSPOSE transb, CBLAS_INT m,
    CBLAS_INT n, CBLAS_INT k, const void *alpha, const void *a, CBLAS_INT lda, const void *b, CBLAS_INT ldb,
    const void *beta, void *c, CBLAS_INT ldc);

/* One triangle of C := alpha*op(A)*op(B) + beta*C, as gemmtr (name of MKL) */
void cblas_sgemmt(CBLAS_LAYOUT layout, CBLAS_UPLO uplo, CBLAS_TRANSPOSE transa, CBLAS_TRANSPOSE transb,
    CBLAS_INT n, CBLAS_INT k, float alpha, const float *a, CBLAS_INT lda, const float *b, CBLAS_INT ldb,
    float beta, float *c, CBLAS_INT ldc);
void cblas_dgemmt(CBLAS_LAYOUT layout, CBLAS_UPLO uplo, CBLAS_TRANSPOSE transa, CBLAS_TRANSPOSE transb,
    CBLAS_INT n, CBLAS_INT k, double alpha, const double *a, CBLAS_INT lda, const double *b, CBLAS_INT ldb,
    double beta, double *c, CBLAS_INT ldc);
void cblas_cgemmt(CBLAS_LAYOUT layout, CBLAS_UPLO uplo, CBLAS_TRANSPOSE transa, CBLAS_TRANSPOSE transb,
    CBLAS_INT n, CBLAS_INT k, const void *alpha, const void *a, CBLAS_INT lda, const void *b, CBLAS_INT ldb,
    const void *beta, void *c, CBLAS_INT ldc);
void cblas_zgemmt(CBLAS_LAYOUT layout, CBLAS_UPLO uplo, CBLAS_TRANSPOSE transa, CBLAS_TRANSPOSE transb,
    CBLAS_INT n, CBLAS_INT k, const void *alpha, const void *a, CBLAS_INT lda, const void *b, CBLAS_INT ldb,
    const void *beta, void *c, CBLAS_INT ldc);

/* Many gemm in groups: flags, sizes and scalars have one entry a group, a, b, c one a product. */
void cblas_sgemm_batch(CBLAS_LAYOUT layout, const CBLAS_TRANSPOSE *transa_array,
    const CBLAS_TRANSPOSE *transb_array, const CBLAS_INT *m_array, const CBLAS_INT *n_array,
    const CBLAS_INT *k_array, const float *alpha_array, const float **a_array, const CBLAS_INT *lda_array,
    const float **b_array, const CBLAS_INT *ldb_array, const float *beta_array, float **c_array,
    const CBLAS_INT *ldc_array, CBLAS_INT group_count, const CBLAS_INT *group_size);
void cblas_dgemm_batch(CBLAS_LAYOUT layout, const CBLAS_TRANSPOSE *transa_array,
    const CBLAS_TRANSPOSE *transb_array, const CBLAS_INT *m_array, const CBLAS_INT *n_array,
    const CBLAS_INT *k_array, const double *alpha_array, const double **a_array, const CBLAS_INT *lda_array,
    const double **b_array, const CBLAS_INT *ldb_array, const double *beta_array, double **c_array,
    const CBLAS_INT *ldc_array, CBLAS_INT group_count, const CBLAS_INT *group_size);
void cblas_cgemm_batch(CBLAS_LAYOUT layout, const CBLAS_TRANSPOSE *transa_array,
    const CBLAS_TRANSPOSE *transb_array, const CBLAS_INT *m_array, const CBLAS_INT *n_array,
    const CBLAS_INT *k_array, const void *alpha_array, const void **a_array, const CBLAS_INT *lda_array,
    const void **b_array, const CBLAS_INT *ldb_array, const void *beta_array, void **c_array,
    const CBLAS_INT *ldc_array, CBLAS_INT group_count, const CBLAS_INT *group_size);
void cblas_zgemm_batch(CBLAS_LAYOUT layout, const CBLAS_TRANSPOSE *transa_array,
    const CBLAS_TRANSPOSE *transb_array, const CBLAS_INT *m_array, const CBLAS_INT *n_array,
    const CBLAS_INT *k_array, const void *alpha_array, const void **a_array, const CBLAS_INT *lda_array,
    const void **b_array, const CBLAS_INT *ldb_array, const void *beta_array, void **c_array,
    const CBLAS_INT *ldc_array, CBLAS_INT group_count, const CBLAS_INT *group_size);

/* Many gemm on matrices at constant distances; the results must not overlap. */
void cblas_sgemm_batch_strided(CBLAS_LAYOUT layout, CBLAS_TRANSPOSE transa, CBLAS_TRANSPOSE transb,
    CBLAS_INT m, CBLAS_INT n, CBLAS_INT k, float alpha, const float *a, CBLAS_INT lda, CBLAS_INT stridea,
    const float *b, CBLAS_INT ldb, CBLAS_INT strideb, float beta, float *c, CBLAS_INT ldc, CBLAS_INT stridec,
    CBLAS_INT batch_size);
void cblas_dgemm_batch_strided(CBLAS_LAYOUT layout, CBLAS_TRANSPOSE transa, CBLAS_TRANSPOSE transb,
    CBLAS_INT m, CBLAS_INT n, CBLAS_INT k, double alpha, const double *a, CBLAS_INT lda, CBLAS_INT stridea,
    const double *b, CBLAS_INT ldb, CBLAS_INT strideb, double beta, double *c, CBLAS_INT ldc,
    CBLAS_INT stridec, CBLAS_INT batch_size);
void cblas_cgemm_batch_strided(CBLAS_LAYOUT layout, CBLAS_TRANSPOSE transa, CBLAS_TRANSPOSE transb,
    CBLAS_INT m, CBLAS_INT n, CBLAS_INT k, const void *alpha, const void *a, CBLAS_INT lda, CBLAS_INT stridea,
    const void *b, CBLAS_INT ldb, CBLAS_INT strideb, const void *beta, void *c, CBLAS_INT ldc,
    CBLAS_INT stridec, CBLAS_INT batch_size);
void cblas_zgemm_batch_strided(CBLAS_LAYOUT layout, CBLAS_TRANSPOSE transa, CBLAS_TRANSPOSE transb,
    CBLAS_INT m, CBLAS_INT n, CBLAS_INT k, const void *alpha, const void *a, CBLAS_INT lda, CBLAS_INT stridea,
    const void *b, CBLAS_INT ldb, CBLAS_INT strideb, const void *beta, void *c, CBLAS_INT ldc,
    CBLAS_INT stridec, CBLAS_INT batch_size);

#ifdef __cplusplus
}
#endif

#endif /* CBLAS_H */
