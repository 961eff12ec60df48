/* Corten's own functions: version, threads, error handler. BLAS itself is in cblas.h and blas.h.
 *
 * Generated from ffi/src by `make headers`; do not edit.
 */
#ifndef CORTEN_H
#define CORTEN_H

#include <stddef.h>
#include <stdint.h>

#define CORTEN_VERSION "0.1.0"
#define CORTEN_VERSION_MAJOR 0
#define CORTEN_VERSION_MINOR 1
#define CORTEN_VERSION_PATCH 0

#ifdef __cplusplus
extern "C" {
#endif

/* ---- Version, threads ------------------------------------------------------------------------------------------ */

/* Version of the library, like "0.1.0". */
const char *corten_version(void);

/* Version, instruction set and number of processors in one line, for logs. */
const char *corten_get_config(void);

/* The instruction set whose kernels are used: "generic", "avx2", "avx512". */
const char *corten_get_isa(void);

/* Number of threads that the next call from this thread may use. */
int corten_get_num_threads(void);

/* Sets the number of threads for the whole process, from the next call on; 0 or less restores the number of
 * processors. */
void corten_set_num_threads(int num_threads);

/* Sets the number of threads for calls from this thread; 0 follows the process again. Returns the previous setting. */
int corten_set_num_threads_local(int num_threads);

/* Number of processors that this process may use. */
int corten_get_num_procs(void);

/* Lets the host program run parallel work on its own threads.
 *
 * parallel_for(ctx, n, task, arg) must call task(arg, i) for each i from 0 to n-1, on any threads and in any order,
 * and return when all have returned. n is the number of threads the library wants to use, at most what
 * corten_set_num_threads allows. Several application threads may be in parallel_for at once. A BLAS call made
 * inside a task stays on its thread. Null takes the library's own threads again; calls under way are not affected. */
void corten_set_thread_pool(void (*parallel_for)(void *ctx, size_t n, void (*task)(void *arg, size_t i),
    void *arg), void *ctx);

/* ---- Errors -------------------------------------------------------------------------------------------------- */

/* Hands all reports of bad arguments to handler (routine: DGEMM or cblas_dgemm; info: position of the argument)
 * instead of to xerbla_ and cblas_xerbla; null undoes it. */
void corten_set_xerbla(void (*handler)(const char *routine, int info));

/* ---- Names of OpenBLAS, for programs that know them -------------------------------------------------------------- */

/* As corten_get_config. */
char *openblas_get_config(void);

/* As corten_get_isa. */
char *openblas_get_corename(void);

/* 1: the library runs threads of its own, not OpenMP's. */
int openblas_get_parallel(void);

/* As corten_get_num_procs. */
int openblas_get_num_procs(void);

/* As corten_get_num_threads. */
int openblas_get_num_threads(void);

/* As corten_set_num_threads. */
void openblas_set_num_threads(int num_threads);

/* As corten_set_num_threads_local. */
int openblas_set_num_threads_local(int num_threads);

/* As corten_set_num_threads. */
void goto_set_num_threads(int num_threads);

#ifdef __cplusplus
}
#endif

#endif /* CORTEN_H */
