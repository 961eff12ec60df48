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

@complex@

/* ---- Errors -------------------------------------------------------------------------------------------------- */

/* Called when argument number p is bad; prints and returns. An application may define its own. */
void cblas_xerbla(CBLAS_INT p, const char *rout, const char *form, ...);

/* ---- Level 1: vectors ---------------------------------------------------------------------------------------- */
/* Indices are returned counted from 0. */

@level1@

/* ---- Level 2: a matrix and vectors ---------------------------------------------------------------------------- */

@level2@

/* ---- Level 3: matrices ---------------------------------------------------------------------------------------- */

@level3@

/* ---- Extensions, as in OpenBLAS and MKL ------------------------------------------------------------------------ */

@extensions@

#ifdef __cplusplus
}
#endif

#endif /* CBLAS_H */
