/* Corten's own functions: version, threads, error handler, collectives. BLAS itself is in cblas.h and blas.h.
 *
 * Generated from ffi/src by `make headers`; do not edit.
 */
#ifndef CORTEN_H
#define CORTEN_H

#include <stddef.h>
#include <stdint.h>

#define CORTEN_VERSION "@version@"
#define CORTEN_VERSION_MAJOR @major@
#define CORTEN_VERSION_MINOR @minor@
#define CORTEN_VERSION_PATCH @patch@

#ifdef __cplusplus
extern "C" {
#endif

/* ---- Version, threads ------------------------------------------------------------------------------------------ */

@corten@

/* ---- Errors -------------------------------------------------------------------------------------------------- */

@error@

@status@

/* ---- Collectives: docs/collectives.md -------------------------------------------------------------------------- */

/* What the functions below return: CORTEN_OK, or why not. After PEER and TIMEOUT of a collective nothing works until
 * corten_shutdown and corten_init; after the others the next call does. */
enum corten_status {
    CORTEN_OK = 0,
    CORTEN_ERROR_ARGUMENT = 1, /* an argument is wrong on this rank */
    CORTEN_ERROR_STATE = 2,    /* not initialised, or no such handle */
    CORTEN_ERROR_MISMATCH = 3, /* the ranks disagree; the same text on all of them */
    CORTEN_ERROR_PEER = 4,     /* a rank ended or left */
    CORTEN_ERROR_TIMEOUT = 5,  /* a rank did not come in time */
    CORTEN_ERROR_SYSTEM = 6    /* the system or MPI refused something */
};

/* Types of elements. */
enum corten_type {
    CORTEN_F32 = 0,
    CORTEN_F64 = 1,
    CORTEN_BF16 = 2,
    CORTEN_F16 = 3,
    CORTEN_I8 = 4,
    CORTEN_U8 = 5,
    CORTEN_I32 = 6,
    CORTEN_I64 = 7
};

/* How elements of several ranks become one. */
enum corten_op {
    CORTEN_SUM = 0,
    CORTEN_AVERAGE = 1,
    CORTEN_MIN = 2,
    CORTEN_MAX = 3,
    CORTEN_PRODUCT = 4,
    CORTEN_ADASUM = 5,
    /* To be added to an operation on CORTEN_F32: the data travels as ... */
    CORTEN_WIRE_BF16 = 0x100,
    CORTEN_WIRE_F16 = 0x200
};

/* The process set of all ranks. */
#define CORTEN_ALL 0

@comm@

/* ---- Names of OpenBLAS, for programs that know them -------------------------------------------------------------- */

@openblas@

#ifdef __cplusplus
}
#endif

#endif /* CORTEN_H */
