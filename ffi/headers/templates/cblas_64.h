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

#endif /* CBLAS_64_H */
