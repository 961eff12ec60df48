/* Corten's own functions: version, threads, error handler. BLAS itself is in cblas.h and blas.h.
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

/* ---- Names of OpenBLAS, for programs that know them -------------------------------------------------------------- */

@openblas@

#ifdef __cplusplus
}
#endif

#endif /* CORTEN_H */
