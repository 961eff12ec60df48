/* Corten's own functions: version, threads, error handler, collectives. BLAS itself is in cblas.h and blas.h.
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

/* The text of this thread's last error: which argument or rank, what was found, what was expected. Valid until the next
 * error of this thread; empty if there was none. */
const char *corten_last_error(void);

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

/* Comes together with the other ranks: those of corten-run, of an MPI launcher, or nobody (then there is one rank).
 * All ranks call it. Again after corten_shutdown, as often as one likes. */
int corten_init(void);

/* Leaves the other ranks. Waits for nobody; operations under way in this process end with an error, and buffers of
 * corten_alloc are gone. */
int corten_shutdown(void);

/* 1 between corten_init and corten_shutdown, else 0; 0 in a child of fork. */
int corten_is_initialized(void);

/* This process's number among all ranks; -1 if not initialised, as for the following. */
int corten_rank(void);

/* Number of all ranks. */
int corten_size(void);

/* This process's number among the ranks of its machine. */
int corten_local_rank(void);

/* Number of ranks of this machine. */
int corten_local_size(void);

/* The number of this machine among all. */
int corten_cross_rank(void);

/* Number of machines. */
int corten_cross_size(void);

/* out := postscale * (prescale*in of rank 0 op prescale*in of rank 1 ...), element by element, on all ranks of the set;
 * an average is divided by their number. in and out are the same buffer or apart. op is a corten_op, with
 * CORTEN_WIRE_BF16 or CORTEN_WIRE_F16 added to let f32 data travel in 16 bits. The same bits on all ranks, always. */
int corten_allreduce(const void *in, void *out, size_t count, int type, int op, double prescale,
    double postscale, int set);

/* As corten_allreduce for n tensors at once: in[i] to out[i], counts[i] elements each. */
int corten_grouped_allreduce(size_t n, const void *const *in, void *const *out, const size_t *counts,
    int type, int op, double prescale, double postscale, int set);

/* out := in of all ranks of the set, one behind the other; each may give another number of elements. out has room for
 * room elements; counts, unless null, gets the number of elements of each rank. In place: in is out's part of this
 * rank. */
int corten_allgather(const void *in, size_t count, void *out, size_t room, size_t *counts, int type, int set);

/* buffer := buffer of the rank root (its number among all ranks), on all ranks of the set. */
int corten_broadcast(void *buffer, size_t count, int type, int root, int set);

/* Gives send_counts[k] elements of in, block after block, to rank k of the set; out := the blocks from all ranks in
 * their order. out has room for room elements; recv_counts, unless null, gets the number that came from each rank. */
int corten_alltoall(const void *in, const size_t *send_counts, void *out, size_t room, size_t *recv_counts,
    int type, int set);

/* As corten_allreduce, but each rank of the set gets only its block: in has count elements, cut into counts[k] for
 * rank k, or evenly (the first ranks get one more) if counts is null. out may be in. */
int corten_reducescatter(const void *in, void *out, size_t count, const size_t *counts, int type, int op,
    double prescale, double postscale, int set);

/* Waits until all ranks of the set have come. */
int corten_barrier(int set);

/* For a rank that has no more data: takes part in asynchronous sums and averages of the other ranks with zeros (an
 * average still divides by all), until every rank has called this. last_rank, unless null, gets the rank that came last. */
int corten_join(int *last_rank);

/* Begins a corten_allreduce of the tensor name and returns at once; the buffers belong to it until corten_wait or
 * corten_poll say that it is done. Ranks may begin tensors in different orders; several are done at once where they can be. */
int corten_allreduce_async(const char *name, const void *in, void *out, size_t count, int type, int op,
    double prescale, double postscale, int set, int64_t *handle);

/* Begins a corten_grouped_allreduce: all of its tensors, or none, are ready for the other ranks. */
int corten_grouped_allreduce_async(const char *name, size_t n, const void *const *in, void *const *out,
    const size_t *counts, int type, int op, double prescale, double postscale, int set, int64_t *handle);

/* Begins a corten_allgather; counts, unless null, is written when it is done. */
int corten_allgather_async(const char *name, const void *in, size_t count, void *out, size_t room,
    size_t *counts, int type, int set, int64_t *handle);

/* Begins a corten_broadcast. */
int corten_broadcast_async(const char *name, void *buffer, size_t count, int type, int root, int set,
    int64_t *handle);

/* Begins a corten_alltoall; recv_counts, unless null, is written when it is done. */
int corten_alltoall_async(const char *name, const void *in, const size_t *send_counts, void *out, size_t room,
    size_t *recv_counts, int type, int set, int64_t *handle);

/* Begins a corten_reducescatter. */
int corten_reducescatter_async(const char *name, const void *in, void *out, size_t count,
    const size_t *counts, int type, int op, double prescale, double postscale, int set, int64_t *handle);

/* 1 if the operation is done (well or not: corten_wait says), 0 if not, -1 if there is no such handle. */
int corten_poll(int64_t handle);

/* Waits until the operation is done, at most for so many seconds (for ever if negative), and returns its outcome; then
 * the handle is gone. If the time is over before, returns CORTEN_ERROR_TIMEOUT and the handle stays. */
int corten_wait(int64_t handle, double seconds);

/* Memory that all ranks of this machine can reach: allreduce of such buffers copies nothing. Zero, aligned to a page; null
 * if there is none left. Gone after corten_shutdown. */
void *corten_alloc(size_t bytes);

/* Gives memory of corten_alloc back; null does nothing. No operation on it may be under way on any rank. */
int corten_free(void *memory);

/* Makes a process set of n ranks; set gets its number. Called by all ranks, members or not, with the same list. Set 0 is
 * all ranks. */
int corten_process_set_add(const int *ranks, int n, int *set);

/* Removes a process set; called by all ranks, members or not. */
int corten_process_set_remove(int set);

/* This process's number in a set; -1 if it is not in it or there is none. */
int corten_process_set_rank(int set);

/* Number of ranks in a set; -1 if there is none. */
int corten_process_set_size(int set);

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
