/* Fortran BLAS with 32 bit integers, to call from C and C++. The same with 64 bit integers: blas_64.h.
 *
 * Generated from ffi/src by `make headers`; do not edit.
 *
 * All arguments are addresses, matrices are column-major. Of a character argument only the first byte is read; the
 * lengths that Fortran compilers append may be passed or left out. Flags: trans 'N', 'T', 'C' (as an extension 'R':
 * conjugate only), uplo 'U', 'L', diag 'N', 'U', side 'L', 'R', in either case. A bad argument is reported to xerbla_;
 * nothing is computed then.
 */
#ifndef CORTEN_BLAS_H
#define CORTEN_BLAS_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* As for CBLAS_INT in cblas.h: int64_t only for programs that link libblas64. */
#ifndef BLAS_INT
#define BLAS_INT int32_t
#endif
typedef BLAS_INT blas_int;

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

/* ---- Auxiliary ------------------------------------------------------------------------------------------------ */

/* Called when argument number info of a Fortran routine is bad; an application may define its own. */
void xerbla_(const char *srname, const blas_int *info, size_t srname_len);

/* Calls xerbla_ with the name that an array of characters holds. */
void xerbla_array_(const char *srname_array, const blas_int *srname_len, const blas_int *info);

/* Whether two characters are the same letter, in either case. */
blas_int lsame_(const char *ca, const char *cb);

/* ---- Level 1: vectors ---------------------------------------------------------------------------------------- */
/* Indices are returned counted from 1; 0 if there is no element. */

/* Exchanges x and y. */
void sswap_(const blas_int *n, float *x, const blas_int *incx, float *y, const blas_int *incy);
void dswap_(const blas_int *n, double *x, const blas_int *incx, double *y, const blas_int *incy);
void cswap_(const blas_int *n, void *x, const blas_int *incx, void *y, const blas_int *incy);
void zswap_(const blas_int *n, void *x, const blas_int *incx, void *y, const blas_int *incy);

/* x := alpha*x */
void sscal_(const blas_int *n, const float *alpha, float *x, const blas_int *incx);
void dscal_(const blas_int *n, const double *alpha, double *x, const blas_int *incx);
void cscal_(const blas_int *n, const void *alpha, void *x, const blas_int *incx);
void zscal_(const blas_int *n, const void *alpha, void *x, const blas_int *incx);

/* x := alpha*x with a real alpha */
void csscal_(const blas_int *n, const float *alpha, void *x, const blas_int *incx);
void zdscal_(const blas_int *n, const double *alpha, void *x, const blas_int *incx);

/* y := x */
void scopy_(const blas_int *n, const float *x, const blas_int *incx, float *y, const blas_int *incy);
void dcopy_(const blas_int *n, const double *x, const blas_int *incx, double *y, const blas_int *incy);
void ccopy_(const blas_int *n, const void *x, const blas_int *incx, void *y, const blas_int *incy);
void zcopy_(const blas_int *n, const void *x, const blas_int *incx, void *y, const blas_int *incy);

/* y := alpha*x + y */
void saxpy_(const blas_int *n, const float *alpha, const float *x, const blas_int *incx, float *y,
    const blas_int *incy);
void daxpy_(const blas_int *n, const double *alpha, const double *x, const blas_int *incx, double *y,
    const blas_int *incy);
void caxpy_(const blas_int *n, const void *alpha, const void *x, const blas_int *incx, void *y,
    const blas_int *incy);
void zaxpy_(const blas_int *n, const void *alpha, const void *x, const blas_int *incx, void *y,
    const blas_int *incy);

/* Returns x^T y. */
float sdot_(const blas_int *n, const float *x, const blas_int *incx, const float *y, const blas_int *incy);
double ddot_(const blas_int *n, const double *x, const blas_int *incx, const double *y, const blas_int *incy);

/* Returns x^T y, summed in double precision. */
double dsdot_(const blas_int *n, const float *x, const blas_int *incx, const float *y, const blas_int *incy);

/* Returns sb + x^T y, summed in double precision. */
float sdsdot_(const blas_int *n, const float *sb, const float *x, const blas_int *incx, const float *y,
    const blas_int *incy);

/* Returns x^T y by value; see also the _sub form. */
corten_complex_float cdotu_(const blas_int *n, const void *x, const blas_int *incx, const void *y,
    const blas_int *incy);
corten_complex_double zdotu_(const blas_int *n, const void *x, const blas_int *incx, const void *y,
    const blas_int *incy);

/* Returns x^H y by value; see also the _sub form. */
corten_complex_float cdotc_(const blas_int *n, const void *x, const blas_int *incx, const void *y,
    const blas_int *incy);
corten_complex_double zdotc_(const blas_int *n, const void *x, const blas_int *incx, const void *y,
    const blas_int *incy);

/* Returns the Euclidean norm of x. */
float snrm2_(const blas_int *n, const float *x, const blas_int *incx);
double dnrm2_(const blas_int *n, const double *x, const blas_int *incx);
float scnrm2_(const blas_int *n, const void *x, const blas_int *incx);
double dznrm2_(const blas_int *n, const void *x, const blas_int *incx);

/* Returns the sum of |re x[i]| + |im x[i]|. */
float sasum_(const blas_int *n, const float *x, const blas_int *incx);
double dasum_(const blas_int *n, const double *x, const blas_int *incx);
float scasum_(const blas_int *n, const void *x, const blas_int *incx);
double dzasum_(const blas_int *n, const void *x, const blas_int *incx);

/* Returns the index of the first element with the largest |re| + |im|. */
blas_int isamax_(const blas_int *n, const float *x, const blas_int *incx);
blas_int idamax_(const blas_int *n, const double *x, const blas_int *incx);
blas_int icamax_(const blas_int *n, const void *x, const blas_int *incx);
blas_int izamax_(const blas_int *n, const void *x, const blas_int *incx);

/* Makes a plane rotation that turns (a, b) into (r, 0); a becomes r, b what rebuilds the rotation. */
void srotg_(float *a, float *b, float *c, float *s);
void drotg_(double *a, double *b, double *c, double *s);

/* Makes a plane rotation that turns (a, b) into (r, 0); a becomes r. */
void crotg_(void *a, const void *b, float *c, void *s);
void zrotg_(void *a, const void *b, double *c, void *s);

/* Applies a plane rotation: (x, y) := (c*x + s*y, c*y - s*x) */
void srot_(const blas_int *n, float *x, const blas_int *incx, float *y, const blas_int *incy, const float *c,
    const float *s);
void drot_(const blas_int *n, double *x, const blas_int *incx, double *y, const blas_int *incy,
    const double *c, const double *s);
void csrot_(const blas_int *n, void *x, const blas_int *incx, void *y, const blas_int *incy, const float *c,
    const float *s);
void zdrot_(const blas_int *n, void *x, const blas_int *incx, void *y, const blas_int *incy, const double *c,
    const double *s);

/* Makes a modified plane rotation. */
void srotmg_(float *d1, float *d2, float *x1, const float *y1, float *param);
void drotmg_(double *d1, double *d2, double *x1, const double *y1, double *param);

/* Applies a modified plane rotation. */
void srotm_(const blas_int *n, float *x, const blas_int *incx, float *y, const blas_int *incy,
    const float *param);
void drotm_(const blas_int *n, double *x, const blas_int *incx, double *y, const blas_int *incy,
    const double *param);

/* Returns |re z| + |im z|. */
float scabs1_(const void *z);
double dcabs1_(const void *z);

/* ---- Level 2: a matrix and vectors ---------------------------------------------------------------------------- */

/* y := alpha*op(A)*x + beta*y */
void sgemv_(const char *trans, const blas_int *m, const blas_int *n, const float *alpha, const float *a,
    const blas_int *lda, const float *x, const blas_int *incx, const float *beta, float *y,
    const blas_int *incy);
void dgemv_(const char *trans, const blas_int *m, const blas_int *n, const double *alpha, const double *a,
    const blas_int *lda, const double *x, const blas_int *incx, const double *beta, double *y,
    const blas_int *incy);
void cgemv_(const char *trans, const blas_int *m, const blas_int *n, const void *alpha, const void *a,
    const blas_int *lda, const void *x, const blas_int *incx, const void *beta, void *y, const blas_int *incy);
void zgemv_(const char *trans, const blas_int *m, const blas_int *n, const void *alpha, const void *a,
    const blas_int *lda, const void *x, const blas_int *incx, const void *beta, void *y, const blas_int *incy);

/* y := alpha*op(A)*x + beta*y, A a band matrix with kl diagonals below and ku above the main one */
void sgbmv_(const char *trans, const blas_int *m, const blas_int *n, const blas_int *kl, const blas_int *ku,
    const float *alpha, const float *a, const blas_int *lda, const float *x, const blas_int *incx,
    const float *beta, float *y, const blas_int *incy);
void dgbmv_(const char *trans, const blas_int *m, const blas_int *n, const blas_int *kl, const blas_int *ku,
    const double *alpha, const double *a, const blas_int *lda, const double *x, const blas_int *incx,
    const double *beta, double *y, const blas_int *incy);
void cgbmv_(const char *trans, const blas_int *m, const blas_int *n, const blas_int *kl, const blas_int *ku,
    const void *alpha, const void *a, const blas_int *lda, const void *x, const blas_int *incx,
    const void *beta, void *y, const blas_int *incy);
void zgbmv_(const char *trans, const blas_int *m, const blas_int *n, const blas_int *kl, const blas_int *ku,
    const void *alpha, const void *a, const blas_int *lda, const void *x, const blas_int *incx,
    const void *beta, void *y, const blas_int *incy);

/* y := alpha*A*x + beta*y, A symmetric */
void ssymv_(const char *uplo, const blas_int *n, const float *alpha, const float *a, const blas_int *lda,
    const float *x, const blas_int *incx, const float *beta, float *y, const blas_int *incy);
void dsymv_(const char *uplo, const blas_int *n, const double *alpha, const double *a, const blas_int *lda,
    const double *x, const blas_int *incx, const double *beta, double *y, const blas_int *incy);

/* y := alpha*A*x + beta*y, A symmetric, band storage */
void ssbmv_(const char *uplo, const blas_int *n, const blas_int *k, const float *alpha, const float *a,
    const blas_int *lda, const float *x, const blas_int *incx, const float *beta, float *y,
    const blas_int *incy);
void dsbmv_(const char *uplo, const blas_int *n, const blas_int *k, const double *alpha, const double *a,
    const blas_int *lda, const double *x, const blas_int *incx, const double *beta, double *y,
    const blas_int *incy);

/* y := alpha*A*x + beta*y, A symmetric, packed storage */
void sspmv_(const char *uplo, const blas_int *n, const float *alpha, const float *ap, const float *x,
    const blas_int *incx, const float *beta, float *y, const blas_int *incy);
void dspmv_(const char *uplo, const blas_int *n, const double *alpha, const double *ap, const double *x,
    const blas_int *incx, const double *beta, double *y, const blas_int *incy);

/* y := alpha*A*x + beta*y, A Hermitian */
void chemv_(const char *uplo, const blas_int *n, const void *alpha, const void *a, const blas_int *lda,
    const void *x, const blas_int *incx, const void *beta, void *y, const blas_int *incy);
void zhemv_(const char *uplo, const blas_int *n, const void *alpha, const void *a, const blas_int *lda,
    const void *x, const blas_int *incx, const void *beta, void *y, const blas_int *incy);

/* y := alpha*A*x + beta*y, A Hermitian, band storage */
void chbmv_(const char *uplo, const blas_int *n, const blas_int *k, const void *alpha, const void *a,
    const blas_int *lda, const void *x, const blas_int *incx, const void *beta, void *y, const blas_int *incy);
void zhbmv_(const char *uplo, const blas_int *n, const blas_int *k, const void *alpha, const void *a,
    const blas_int *lda, const void *x, const blas_int *incx, const void *beta, void *y, const blas_int *incy);

/* y := alpha*A*x + beta*y, A Hermitian, packed storage */
void chpmv_(const char *uplo, const blas_int *n, const void *alpha, const void *ap, const void *x,
    const blas_int *incx, const void *beta, void *y, const blas_int *incy);
void zhpmv_(const char *uplo, const blas_int *n, const void *alpha, const void *ap, const void *x,
    const blas_int *incx, const void *beta, void *y, const blas_int *incy);

/* x := op(A)*x, A triangular */
void strmv_(const char *uplo, const char *trans, const char *diag, const blas_int *n, const float *a,
    const blas_int *lda, float *x, const blas_int *incx);
void dtrmv_(const char *uplo, const char *trans, const char *diag, const blas_int *n, const double *a,
    const blas_int *lda, double *x, const blas_int *incx);
void ctrmv_(const char *uplo, const char *trans, const char *diag, const blas_int *n, const void *a,
    const blas_int *lda, void *x, const blas_int *incx);
void ztrmv_(const char *uplo, const char *trans, const char *diag, const blas_int *n, const void *a,
    const blas_int *lda, void *x, const blas_int *incx);

/* x := op(A)*x, A triangular, band storage */
void stbmv_(const char *uplo, const char *trans, const char *diag, const blas_int *n, const blas_int *k,
    const float *a, const blas_int *lda, float *x, const blas_int *incx);
void dtbmv_(const char *uplo, const char *trans, const char *diag, const blas_int *n, const blas_int *k,
    const double *a, const blas_int *lda, double *x, const blas_int *incx);
void ctbmv_(const char *uplo, const char *trans, const char *diag, const blas_int *n, const blas_int *k,
    const void *a, const blas_int *lda, void *x, const blas_int *incx);
void ztbmv_(const char *uplo, const char *trans, const char *diag, const blas_int *n, const blas_int *k,
    const void *a, const blas_int *lda, void *x, const blas_int *incx);

/* x := op(A)*x, A triangular, packed storage */
void stpmv_(const char *uplo, const char *trans, const char *diag, const blas_int *n, const float *ap,
    float *x, const blas_int *incx);
void dtpmv_(const char *uplo, const char *trans, const char *diag, const blas_int *n, const double *ap,
    double *x, const blas_int *incx);
void ctpmv_(const char *uplo, const char *trans, const char *diag, const blas_int *n, const void *ap, void *x,
    const blas_int *incx);
void ztpmv_(const char *uplo, const char *trans, const char *diag, const blas_int *n, const void *ap, void *x,
    const blas_int *incx);

/* Solves op(A)*x = b, A triangular; x holds b on entry. */
void strsv_(const char *uplo, const char *trans, const char *diag, const blas_int *n, const float *a,
    const blas_int *lda, float *x, const blas_int *incx);
void dtrsv_(const char *uplo, const char *trans, const char *diag, const blas_int *n, const double *a,
    const blas_int *lda, double *x, const blas_int *incx);
void ctrsv_(const char *uplo, const char *trans, const char *diag, const blas_int *n, const void *a,
    const blas_int *lda, void *x, const blas_int *incx);
void ztrsv_(const char *uplo, const char *trans, const char *diag, const blas_int *n, const void *a,
    const blas_int *lda, void *x, const blas_int *incx);

/* Solves op(A)*x = b, A triangular, band storage; x holds b on entry. */
void stbsv_(const char *uplo, const char *trans, const char *diag, const blas_int *n, const blas_int *k,
    const float *a, const blas_int *lda, float *x, const blas_int *incx);
void dtbsv_(const char *uplo, const char *trans, const char *diag, const blas_int *n, const blas_int *k,
    const double *a, const blas_int *lda, double *x, const blas_int *incx);
void ctbsv_(const char *uplo, const char *trans, const char *diag, const blas_int *n, const blas_int *k,
    const void *a, const blas_int *lda, void *x, const blas_int *incx);
void ztbsv_(const char *uplo, const char *trans, const char *diag, const blas_int *n, const blas_int *k,
    const void *a, const blas_int *lda, void *x, const blas_int *incx);

/* Solves op(A)*x = b, A triangular, packed storage; x holds b on entry. */
void stpsv_(const char *uplo, const char *trans, const char *diag, const blas_int *n, const float *ap,
    float *x, const blas_int *incx);
void dtpsv_(const char *uplo, const char *trans, const char *diag, const blas_int *n, const double *ap,
    double *x, const blas_int *incx);
void ctpsv_(const char *uplo, const char *trans, const char *diag, const blas_int *n, const void *ap, void *x,
    const blas_int *incx);
void ztpsv_(const char *uplo, const char *trans, const char *diag, const blas_int *n, const void *ap, void *x,
    const blas_int *incx);

/* A := alpha*x*y^T + A */
void sger_(const blas_int *m, const blas_int *n, const float *alpha, const float *x, const blas_int *incx,
    const float *y, const blas_int *incy, float *a, const blas_int *lda);
void dger_(const blas_int *m, const blas_int *n, const double *alpha, const double *x, const blas_int *incx,
    const double *y, const blas_int *incy, double *a, const blas_int *lda);
void cgeru_(const blas_int *m, const blas_int *n, const void *alpha, const void *x, const blas_int *incx,
    const void *y, const blas_int *incy, void *a, const blas_int *lda);
void zgeru_(const blas_int *m, const blas_int *n, const void *alpha, const void *x, const blas_int *incx,
    const void *y, const blas_int *incy, void *a, const blas_int *lda);

/* A := alpha*x*y^H + A */
void cgerc_(const blas_int *m, const blas_int *n, const void *alpha, const void *x, const blas_int *incx,
    const void *y, const blas_int *incy, void *a, const blas_int *lda);
void zgerc_(const blas_int *m, const blas_int *n, const void *alpha, const void *x, const blas_int *incx,
    const void *y, const blas_int *incy, void *a, const blas_int *lda);

/* A := alpha*x*x^T + A, A symmetric */
void ssyr_(const char *uplo, const blas_int *n, const float *alpha, const float *x, const blas_int *incx,
    float *a, const blas_int *lda);
void dsyr_(const char *uplo, const blas_int *n, const double *alpha, const double *x, const blas_int *incx,
    double *a, const blas_int *lda);

/* A := alpha*x*x^T + A, A symmetric, packed storage */
void sspr_(const char *uplo, const blas_int *n, const float *alpha, const float *x, const blas_int *incx,
    float *ap);
void dspr_(const char *uplo, const blas_int *n, const double *alpha, const double *x, const blas_int *incx,
    double *ap);

/* A := alpha*x*x^H + A, A Hermitian */
void cher_(const char *uplo, const blas_int *n, const float *alpha, const void *x, const blas_int *incx,
    void *a, const blas_int *lda);
void zher_(const char *uplo, const blas_int *n, const double *alpha, const void *x, const blas_int *incx,
    void *a, const blas_int *lda);

/* A := alpha*x*x^H + A, A Hermitian, packed storage */
void chpr_(const char *uplo, const blas_int *n, const float *alpha, const void *x, const blas_int *incx,
    void *ap);
void zhpr_(const char *uplo, const blas_int *n, const double *alpha, const void *x, const blas_int *incx,
    void *ap);

/* A := alpha*x*y^T + alpha*y*x^T + A, A symmetric */
void ssyr2_(const char *uplo, const blas_int *n, const float *alpha, const float *x, const blas_int *incx,
    const float *y, const blas_int *incy, float *a, const blas_int *lda);
void dsyr2_(const char *uplo, const blas_int *n, const double *alpha, const double *x, const blas_int *incx,
    const double *y, const blas_int *incy, double *a, const blas_int *lda);

/* A := alpha*x*y^T + alpha*y*x^T + A, A symmetric, packed storage */
void sspr2_(const char *uplo, const blas_int *n, const float *alpha, const float *x, const blas_int *incx,
    const float *y, const blas_int *incy, float *ap);
void dspr2_(const char *uplo, const blas_int *n, const double *alpha, const double *x, const blas_int *incx,
    const double *y, const blas_int *incy, double *ap);

/* A := alpha*x*y^H + conj(alpha)*y*x^H + A, A Hermitian */
void cher2_(const char *uplo, const blas_int *n, const void *alpha, const void *x, const blas_int *incx,
    const void *y, const blas_int *incy, void *a, const blas_int *lda);
void zher2_(const char *uplo, const blas_int *n, const void *alpha, const void *x, const blas_int *incx,
    const void *y, const blas_int *incy, void *a, const blas_int *lda);

/* A := alpha*x*y^H + conj(alpha)*y*x^H + A, A Hermitian, packed storage */
void chpr2_(const char *uplo, const blas_int *n, const void *alpha, const void *x, const blas_int *incx,
    const void *y, const blas_int *incy, void *ap);
void zhpr2_(const char *uplo, const blas_int *n, const void *alpha, const void *x, const blas_int *incx,
    const void *y, const blas_int *incy, void *ap);

/* y := alpha*A*x + beta*y, A complex symmetric, band storage (extension) */
void csbmv_(const char *uplo, const blas_int *n, const blas_int *k, const void *alpha, const void *a,
    const blas_int *lda, const void *x, const blas_int *incx, const void *beta, void *y, const blas_int *incy);
void zsbmv_(const char *uplo, const blas_int *n, const blas_int *k, const void *alpha, const void *a,
    const blas_int *lda, const void *x, const blas_int *incx, const void *beta, void *y, const blas_int *incy);

/* A := alpha*x*y^T + alpha*y*x^T + A, A complex symmetric (extension) */
void csyr2_(const char *uplo, const blas_int *n, const void *alpha, const void *x, const blas_int *incx,
    const void *y, const blas_int *incy, void *a, const blas_int *lda);
void zsyr2_(const char *uplo, const blas_int *n, const void *alpha, const void *x, const blas_int *incx,
    const void *y, const blas_int *incy, void *a, const blas_int *lda);

/* A := alpha*x*y^T + alpha*y*x^T + A, A complex symmetric, packed storage (extension) */
void cspr2_(const char *uplo, const blas_int *n, const void *alpha, const void *x, const blas_int *incx,
    const void *y, const blas_int *incy, void *ap);
void zspr2_(const char *uplo, const blas_int *n, const void *alpha, const void *x, const blas_int *incx,
    const void *y, const blas_int *incy, void *ap);

/* ---- Level 3: matrices ---------------------------------------------------------------------------------------- */

/* C := alpha*op(A)*op(B) + beta*C */
void sgemm_(const char *transa, const char *transb, const blas_int *m, const blas_int *n, const blas_int *k,
    const float *alpha, const float *a, const blas_int *lda, const float *b, const blas_int *ldb,
    const float *beta, float *c, const blas_int *ldc);
void dgemm_(const char *transa, const char *transb, const blas_int *m, const blas_int *n, const blas_int *k,
    const double *alpha, const double *a, const blas_int *lda, const double *b, const blas_int *ldb,
    const double *beta, double *c, const blas_int *ldc);
void cgemm_(const char *transa, const char *transb, const blas_int *m, const blas_int *n, const blas_int *k,
    const void *alpha, const void *a, const blas_int *lda, const void *b, const blas_int *ldb,
    const void *beta, void *c, const blas_int *ldc);
void zgemm_(const char *transa, const char *transb, const blas_int *m, const blas_int *n, const blas_int *k,
    const void *alpha, const void *a, const blas_int *lda, const void *b, const blas_int *ldb,
    const void *beta, void *c, const blas_int *ldc);

/* C := alpha*A*B + beta*C or alpha*B*A + beta*C, A symmetric */
void ssymm_(const char *side, const char *uplo, const blas_int *m, const blas_int *n, const float *alpha,
    const float *a, const blas_int *lda, const float *b, const blas_int *ldb, const float *beta, float *c,
    const blas_int *ldc);
void dsymm_(const char *side, const char *uplo, const blas_int *m, const blas_int *n, const double *alpha,
    const double *a, const blas_int *lda, const double *b, const blas_int *ldb, const double *beta, double *c,
    const blas_int *ldc);
void csymm_(const char *side, const char *uplo, const blas_int *m, const blas_int *n, const void *alpha,
    const void *a, const blas_int *lda, const void *b, const blas_int *ldb, const void *beta, void *c,
    const blas_int *ldc);
void zsymm_(const char *side, const char *uplo, const blas_int *m, const blas_int *n, const void *alpha,
    const void *a, const blas_int *lda, const void *b, const blas_int *ldb, const void *beta, void *c,
    const blas_int *ldc);

/* C := alpha*A*B + beta*C or alpha*B*A + beta*C, A Hermitian */
void chemm_(const char *side, const char *uplo, const blas_int *m, const blas_int *n, const void *alpha,
    const void *a, const blas_int *lda, const void *b, const blas_int *ldb, const void *beta, void *c,
    const blas_int *ldc);
void zhemm_(const char *side, const char *uplo, const blas_int *m, const blas_int *n, const void *alpha,
    const void *a, const blas_int *lda, const void *b, const blas_int *ldb, const void *beta, void *c,
    const blas_int *ldc);

/* C := alpha*A*A^T + beta*C or alpha*A^T*A + beta*C, C symmetric */
void ssyrk_(const char *uplo, const char *trans, const blas_int *n, const blas_int *k, const float *alpha,
    const float *a, const blas_int *lda, const float *beta, float *c, const blas_int *ldc);
void dsyrk_(const char *uplo, const char *trans, const blas_int *n, const blas_int *k, const double *alpha,
    const double *a, const blas_int *lda, const double *beta, double *c, const blas_int *ldc);
void csyrk_(const char *uplo, const char *trans, const blas_int *n, const blas_int *k, const void *alpha,
    const void *a, const blas_int *lda, const void *beta, void *c, const blas_int *ldc);
void zsyrk_(const char *uplo, const char *trans, const blas_int *n, const blas_int *k, const void *alpha,
    const void *a, const blas_int *lda, const void *beta, void *c, const blas_int *ldc);

/* C := alpha*A*A^H + beta*C or alpha*A^H*A + beta*C, C Hermitian */
void cherk_(const char *uplo, const char *trans, const blas_int *n, const blas_int *k, const float *alpha,
    const void *a, const blas_int *lda, const float *beta, void *c, const blas_int *ldc);
void zherk_(const char *uplo, const char *trans, const blas_int *n, const blas_int *k, const double *alpha,
    const void *a, const blas_int *lda, const double *beta, void *c, const blas_int *ldc);

/* C := alpha*A*B^T + alpha*B*A^T + beta*C or the same with A^T*B and B^T*A, C symmetric */
void ssyr2k_(const char *uplo, const char *trans, const blas_int *n, const blas_int *k, const float *alpha,
    const float *a, const blas_int *lda, const float *b, const blas_int *ldb, const float *beta, float *c,
    const blas_int *ldc);
void dsyr2k_(const char *uplo, const char *trans, const blas_int *n, const blas_int *k, const double *alpha,
    const double *a, const blas_int *lda, const double *b, const blas_int *ldb, const double *beta, double *c,
    const blas_int *ldc);
void csyr2k_(const char *uplo, const char *trans, const blas_int *n, const blas_int *k, const void *alpha,
    const void *a, const blas_int *lda, const void *b, const blas_int *ldb, const void *beta, void *c,
    const blas_int *ldc);
void zsyr2k_(const char *uplo, const char *trans, const blas_int *n, const blas_int *k, const void *alpha,
    const void *a, const blas_int *lda, const void *b, const blas_int *ldb, const void *beta, void *c,
    const blas_int *ldc);

/* C := alpha*A*B^H + conj(alpha)*B*A^H + beta*C or the same with A^H*B and B^H*A, C Hermitian */
void cher2k_(const char *uplo, const char *trans, const blas_int *n, const blas_int *k, const void *alpha,
    const void *a, const blas_int *lda, const void *b, const blas_int *ldb, const float *beta, void *c,
    const blas_int *ldc);
void zher2k_(const char *uplo, const char *trans, const blas_int *n, const blas_int *k, const void *alpha,
    const void *a, const blas_int *lda, const void *b, const blas_int *ldb, const double *beta, void *c,
    const blas_int *ldc);

/* B := alpha*op(A)*B or alpha*B*op(A), A triangular */
void strmm_(const char *side, const char *uplo, const char *transa, const char *diag, const blas_int *m,
    const blas_int *n, const float *alpha, const float *a, const blas_int *lda, float *b, const blas_int *ldb);
void dtrmm_(const char *side, const char *uplo, const char *transa, const char *diag, const blas_int *m,
    const blas_int *n, const double *alpha, const double *a, const blas_int *lda, double *b,
    const blas_int *ldb);
void ctrmm_(const char *side, const char *uplo, const char *transa, const char *diag, const blas_int *m,
    const blas_int *n, const void *alpha, const void *a, const blas_int *lda, void *b, const blas_int *ldb);
void ztrmm_(const char *side, const char *uplo, const char *transa, const char *diag, const blas_int *m,
    const blas_int *n, const void *alpha, const void *a, const blas_int *lda, void *b, const blas_int *ldb);

/* Solves op(A)*X = alpha*B or X*op(A) = alpha*B, A triangular; B becomes X. */
void strsm_(const char *side, const char *uplo, const char *transa, const char *diag, const blas_int *m,
    const blas_int *n, const float *alpha, const float *a, const blas_int *lda, float *b, const blas_int *ldb);
void dtrsm_(const char *side, const char *uplo, const char *transa, const char *diag, const blas_int *m,
    const blas_int *n, const double *alpha, const double *a, const blas_int *lda, double *b,
    const blas_int *ldb);
void ctrsm_(const char *side, const char *uplo, const char *transa, const char *diag, const blas_int *m,
    const blas_int *n, const void *alpha, const void *a, const blas_int *lda, void *b, const blas_int *ldb);
void ztrsm_(const char *side, const char *uplo, const char *transa, const char *diag, const blas_int *m,
    const blas_int *n, const void *alpha, const void *a, const blas_int *lda, void *b, const blas_int *ldb);

/* One triangle of C := alpha*op(A)*op(B) + beta*C (Reference BLAS 3.12.1) */
void sgemmtr_(const char *uplo, const char *transa, const char *transb, const blas_int *n, const blas_int *k,
    const float *alpha, const float *a, const blas_int *lda, const float *b, const blas_int *ldb,
    const float *beta, float *c, const blas_int *ldc);
void dgemmtr_(const char *uplo, const char *transa, const char *transb, const blas_int *n, const blas_int *k,
    const double *alpha, const double *a, const blas_int *lda, const double *b, const blas_int *ldb,
    const double *beta, double *c, const blas_int *ldc);
void cgemmtr_(const char *uplo, const char *transa, const char *transb, const blas_int *n, const blas_int *k,
    const void *alpha, const void *a, const blas_int *lda, const void *b, const blas_int *ldb,
    const void *beta, void *c, const blas_int *ldc);
void zgemmtr_(const char *uplo, const char *transa, const char *transb, const blas_int *n, const blas_int *k,
    const void *alpha, const void *a, const blas_int *lda, const void *b, const blas_int *ldb,
    const void *beta, void *c, const blas_int *ldc);

/* ---- Extensions, as in OpenBLAS and MKL ------------------------------------------------------------------------ */

/* y := alpha*x + beta*y */
void saxpby_(const blas_int *n, const float *alpha, const float *x, const blas_int *incx, const float *beta,
    float *y, const blas_int *incy);
void daxpby_(const blas_int *n, const double *alpha, const double *x, const blas_int *incx,
    const double *beta, double *y, const blas_int *incy);
void caxpby_(const blas_int *n, const void *alpha, const void *x, const blas_int *incx, const void *beta,
    void *y, const blas_int *incy);
void zaxpby_(const blas_int *n, const void *alpha, const void *x, const blas_int *incx, const void *beta,
    void *y, const blas_int *incy);

/* y := alpha*conj(x) + y */
void caxpyc_(const blas_int *n, const void *alpha, const void *x, const blas_int *incx, void *y,
    const blas_int *incy);
void zaxpyc_(const blas_int *n, const void *alpha, const void *x, const blas_int *incx, void *y,
    const blas_int *incy);

/* Returns the sum of re x[i] + im x[i]. */
float ssum_(const blas_int *n, const float *x, const blas_int *incx);
double dsum_(const blas_int *n, const double *x, const blas_int *incx);
float scsum_(const blas_int *n, const void *x, const blas_int *incx);
double dzsum_(const blas_int *n, const void *x, const blas_int *incx);

/* Returns the largest |re x[i]| + |im x[i]|. */
float samax_(const blas_int *n, const float *x, const blas_int *incx);
double damax_(const blas_int *n, const double *x, const blas_int *incx);
float scamax_(const blas_int *n, const void *x, const blas_int *incx);
double dzamax_(const blas_int *n, const void *x, const blas_int *incx);

/* Returns the smallest |re x[i]| + |im x[i]|. */
float samin_(const blas_int *n, const float *x, const blas_int *incx);
double damin_(const blas_int *n, const double *x, const blas_int *incx);
float scamin_(const blas_int *n, const void *x, const blas_int *incx);
double dzamin_(const blas_int *n, const void *x, const blas_int *incx);

/* Returns the largest x[i]. */
float smax_(const blas_int *n, const float *x, const blas_int *incx);
double dmax_(const blas_int *n, const double *x, const blas_int *incx);

/* Returns the smallest x[i]. */
float smin_(const blas_int *n, const float *x, const blas_int *incx);
double dmin_(const blas_int *n, const double *x, const blas_int *incx);

/* Returns the index of the first element with the smallest |re| + |im|. */
blas_int isamin_(const blas_int *n, const float *x, const blas_int *incx);
blas_int idamin_(const blas_int *n, const double *x, const blas_int *incx);
blas_int icamin_(const blas_int *n, const void *x, const blas_int *incx);
blas_int izamin_(const blas_int *n, const void *x, const blas_int *incx);

/* Returns the index of the first largest element. */
blas_int ismax_(const blas_int *n, const float *x, const blas_int *incx);
blas_int idmax_(const blas_int *n, const double *x, const blas_int *incx);

/* Returns the index of the first smallest element. */
blas_int ismin_(const blas_int *n, const float *x, const blas_int *incx);
blas_int idmin_(const blas_int *n, const double *x, const blas_int *incx);

/* B := alpha*op(A), A with this many rows and columns */
void somatcopy_(const char *order, const char *trans, const blas_int *rows, const blas_int *cols,
    const float *alpha, const float *a, const blas_int *lda, float *b, const blas_int *ldb);
void domatcopy_(const char *order, const char *trans, const blas_int *rows, const blas_int *cols,
    const double *alpha, const double *a, const blas_int *lda, double *b, const blas_int *ldb);
void comatcopy_(const char *order, const char *trans, const blas_int *rows, const blas_int *cols,
    const void *alpha, const void *a, const blas_int *lda, void *b, const blas_int *ldb);
void zomatcopy_(const char *order, const char *trans, const blas_int *rows, const blas_int *cols,
    const void *alpha, const void *a, const blas_int *lda, void *b, const blas_int *ldb);

/* A := alpha*op(A) in place; lda before, ldb after */
void simatcopy_(const char *order, const char *trans, const blas_int *rows, const blas_int *cols,
    const float *alpha, float *a, const blas_int *lda, const blas_int *ldb);
void dimatcopy_(const char *order, const char *trans, const blas_int *rows, const blas_int *cols,
    const double *alpha, double *a, const blas_int *lda, const blas_int *ldb);
void cimatcopy_(const char *order, const char *trans, const blas_int *rows, const blas_int *cols,
    const void *alpha, void *a, const blas_int *lda, const blas_int *ldb);
void zimatcopy_(const char *order, const char *trans, const blas_int *rows, const blas_int *cols,
    const void *alpha, void *a, const blas_int *lda, const blas_int *ldb);

/* C := alpha*A + beta*C */
void sgeadd_(const blas_int *m, const blas_int *n, const float *alpha, const float *a, const blas_int *lda,
    const float *beta, float *c, const blas_int *ldc);
void dgeadd_(const blas_int *m, const blas_int *n, const double *alpha, const double *a, const blas_int *lda,
    const double *beta, double *c, const blas_int *ldc);
void cgeadd_(const blas_int *m, const blas_int *n, const void *alpha, const void *a, const blas_int *lda,
    const void *beta, void *c, const blas_int *ldc);
void zgeadd_(const blas_int *m, const blas_int *n, const void *alpha, const void *a, const blas_int *lda,
    const void *beta, void *c, const blas_int *ldc);

/* gemm under the name for three real products, which would be less accurate; here it is gemm. */
void cgemm3m_(const char *transa, const char *transb, const blas_int *m, const blas_int *n, const blas_int *k,
    const void *alpha, const void *a, const blas_int *lda, const void *b, const blas_int *ldb,
    const void *beta, void *c, const blas_int *ldc);
void zgemm3m_(const char *transa, const char *transb, const blas_int *m, const blas_int *n, const blas_int *k,
    const void *alpha, const void *a, const blas_int *lda, const void *b, const blas_int *ldb,
    const void *beta, void *c, const blas_int *ldc);

/* One triangle of C := alpha*op(A)*op(B) + beta*C, as gemmtr (name of MKL) */
void sgemmt_(const char *uplo, const char *transa, const char *transb, const blas_int *n, const blas_int *k,
    const float *alpha, const float *a, const blas_int *lda, const float *b, const blas_int *ldb,
    const float *beta, float *c, const blas_int *ldc);
void dgemmt_(const char *uplo, const char *transa, const char *transb, const blas_int *n, const blas_int *k,
    const double *alpha, const double *a, const blas_int *lda, const double *b, const blas_int *ldb,
    const double *beta, double *c, const blas_int *ldc);
void cgemmt_(const char *uplo, const char *transa, const char *transb, const blas_int *n, const blas_int *k,
    const void *alpha, const void *a, const blas_int *lda, const void *b, const blas_int *ldb,
    const void *beta, void *c, const blas_int *ldc);
void zgemmt_(const char *uplo, const char *transa, const char *transb, const blas_int *n, const blas_int *k,
    const void *alpha, const void *a, const blas_int *lda, const void *b, const blas_int *ldb,
    const void *beta, void *c, const blas_int *ldc);

/* Many gemm in groups: flags, sizes and scalars have one entry a group, a, b, c one a product. */
void sgemm_batch_(const char *transa_array, const char *transb_array, const blas_int *m_array,
    const blas_int *n_array, const blas_int *k_array, const float *alpha_array, const float **a_array,
    const blas_int *lda_array, const float **b_array, const blas_int *ldb_array, const float *beta_array,
    float **c_array, const blas_int *ldc_array, const blas_int *group_count, const blas_int *group_size);
void dgemm_batch_(const char *transa_array, const char *transb_array, const blas_int *m_array,
    const blas_int *n_array, const blas_int *k_array, const double *alpha_array, const double **a_array,
    const blas_int *lda_array, const double **b_array, const blas_int *ldb_array, const double *beta_array,
    double **c_array, const blas_int *ldc_array, const blas_int *group_count, const blas_int *group_size);
void cgemm_batch_(const char *transa_array, const char *transb_array, const blas_int *m_array,
    const blas_int *n_array, const blas_int *k_array, const void *alpha_array, const void **a_array,
    const blas_int *lda_array, const void **b_array, const blas_int *ldb_array, const void *beta_array,
    void **c_array, const blas_int *ldc_array, const blas_int *group_count, const blas_int *group_size);
void zgemm_batch_(const char *transa_array, const char *transb_array, const blas_int *m_array,
    const blas_int *n_array, const blas_int *k_array, const void *alpha_array, const void **a_array,
    const blas_int *lda_array, const void **b_array, const blas_int *ldb_array, const void *beta_array,
    void **c_array, const blas_int *ldc_array, const blas_int *group_count, const blas_int *group_size);

/* Many gemm on matrices at constant distances; the results must not overlap. */
void sgemm_batch_strided_(const char *transa, const char *transb, const blas_int *m, const blas_int *n,
    const blas_int *k, const float *alpha, const float *a, const blas_int *lda, const blas_int *stridea,
    const float *b, const blas_int *ldb, const blas_int *strideb, const float *beta, float *c,
    const blas_int *ldc, const blas_int *stridec, const blas_int *batch_size);
void dgemm_batch_strided_(const char *transa, const char *transb, const blas_int *m, const blas_int *n,
    const blas_int *k, const double *alpha, const double *a, const blas_int *lda, const blas_int *stridea,
    const double *b, const blas_int *ldb, const blas_int *strideb, const double *beta, double *c,
    const blas_int *ldc, const blas_int *stridec, const blas_int *batch_size);
void cgemm_batch_strided_(const char *transa, const char *transb, const blas_int *m, const blas_int *n,
    const blas_int *k, const void *alpha, const void *a, const blas_int *lda, const blas_int *stridea,
    const void *b, const blas_int *ldb, const blas_int *strideb, const void *beta, void *c,
    const blas_int *ldc, const blas_int *stridec, const blas_int *batch_size);
void zgemm_batch_strided_(const char *transa, const char *transb, const blas_int *m, const blas_int *n,
    const blas_int *k, const void *alpha, const void *a, const blas_int *lda, const blas_int *stridea,
    const void *b, const blas_int *ldb, const blas_int *strideb, const void *beta, void *c,
    const blas_int *ldc, const blas_int *stridec, const blas_int *batch_size);

#ifdef __cplusplus
}
#endif

#endif /* CORTEN_BLAS_H */
