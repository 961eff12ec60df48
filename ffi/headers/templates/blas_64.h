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

@error@

/* ---- Level 1: vectors ---------------------------------------------------------------------------------------- */
/* Indices are returned counted from 1; 0 if there is no element. */

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

#endif /* CORTEN_BLAS_64_H */
