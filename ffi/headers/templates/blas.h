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

@complex@

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

#endif /* CORTEN_BLAS_H */
