/* Corten's own functions: version, threads, error handler, convolution, collectives. BLAS itself is in cblas.h and
 * blas.h.
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

/* Number of threads that the next call from this thread may use, as set; no more than there are processors take part. */
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

/* ---- Status of functions that return one ------------------------------------------------------------------------- */

/* Errors are greater than 0. After PEER and TIMEOUT of a collective nothing works until corten_shutdown and corten_init;
 * after the others the next call does. */
enum corten_status {
  CORTEN_PENDING = -1,          /* corten_wait: not done yet, and no error */
  CORTEN_OK = 0,
  CORTEN_ERROR_ARGUMENT = 1,    /* an argument or a field makes no sense; nothing was written */
  CORTEN_ERROR_STATE = 2,       /* not initialised, no such handle, or ended by a shutdown or with its set */
  CORTEN_ERROR_MISMATCH = 3,    /* the ranks disagree; the same text on all of them */
  CORTEN_ERROR_PEER = 4,        /* a rank ended or left */
  CORTEN_ERROR_TIMEOUT = 5,     /* a rank did not come in time */
  CORTEN_ERROR_SYSTEM = 6,      /* the system or MPI refused something */
  CORTEN_ERROR_UNSUPPORTED = 7, /* it makes sense, and this version does not do it */
  CORTEN_ERROR_NO_MEMORY = 8
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

/* What was wrong with this thread's last call that returned an error: which argument or rank, what was found, what was
 * expected. The text stays until the next such call of this thread; "" if there was none. */
const char *corten_last_error(void);

/* ---- Convolution (docs/convolution.md) --------------------------------------------------------------------------- */

enum { CORTEN_CHANNELS_FIRST = 0, CORTEN_CHANNELS_LAST = 1 };                 /* layout: NCHW; NHWC */
enum { CORTEN_OIHW = 0, CORTEN_HWIO = 1, CORTEN_OHWI = 2 };                   /* weights_layout */
enum { CORTEN_NO_ACTIVATION = 0, CORTEN_RELU = 1, CORTEN_LEAKY_RELU = 2 };    /* activation */
enum { CORTEN_MATH_UNSET = 0, CORTEN_MATH_DEFAULT = 1, CORTEN_MATH_STRICT = 2 };
enum { CORTEN_FORWARD = 0, CORTEN_BACKWARD_DATA = 1, CORTEN_BACKWARD_WEIGHTS = 2 }; /* pass */

/* A convolution. corten_conv_init fills in defaults; set what differs. Spatial fields have one number a dimension, the
 * outermost first: depth, height, width of a volume; height, width of an image; length of a line.
 *
 * Weights are those of a convolution from in_channels to out_channels: O = out_channels, I = in_channels / groups. A
 * transposed convolution (deconvolution) has those of the convolution it is the transpose of:
 * O = in_channels, I = out_channels / groups, which is what PyTorch and TensorFlow keep. */
typedef struct corten_conv {
  size_t struct_size;     /* sizeof(corten_conv) */
  int32_t data_type;      /* CORTEN_F32, no other yet */
  int32_t dims;           /* spatial dimensions: 1, 2 or 3 */
  int32_t layout;         /* of x, y and their gradients */
  int32_t weights_layout; /* the 1D and 3D forms have fewer or more spatial places: OIW, ODHWI, ... */
  int32_t transposed;     /* 1: transposed convolution */
  int32_t math;           /* CORTEN_MATH_STRICT: sums of products only. _DEFAULT: Winograd too. _UNSET: that of
                             corten_conv_set_math or CORTEN_CONV_MATH */
  int32_t activation;     /* of the forward pass */
  float slope;            /* of CORTEN_LEAKY_RELU */
  float beta;             /* factor of what the result held before; 0 never reads it */
  int32_t reserved;       /* 0 */
  int64_t batch;          /* images; 0 is legal */
  int64_t groups;         /* 1, or a divisor of both numbers of channels; in_channels is a depthwise convolution */
  int64_t in_channels;    /* of all groups */
  int64_t out_channels;
  int64_t input[3];
  int64_t output[3];      /* 0: what follows from the rest; else it is checked. Of a transposed convolution with a stride,
                             several sizes are possible, and 0 stands for the least */
  int64_t kernel[3];
  int64_t stride[3];
  int64_t dilation[3];    /* 1: a dense kernel */
  int64_t pad_before[3];
  int64_t pad_after[3];
} corten_conv;

/* A plan: a problem, a pass and its algorithm, perhaps with weights. */
typedef struct corten_conv_plan corten_conv_plan;

/* Fills a problem with defaults: one image of one channel and one pixel, kernel 1, stride 1, dilation 1, no padding, one
 * group, output sizes that follow from the rest, channels first, weights in OIHW order, beta 0, no activation, the
 * process's math mode. dims: spatial dimensions, 1 to 3. */
void corten_conv_init(corten_conv *conv, int dims);

/* Checks a problem and writes the size of its output: as many numbers as it has dimensions, the rest 1. */
int corten_conv_output_size(const corten_conv *conv, int64_t *output);

/* y := act(conv(x, weights) + bias + beta*y). bias may be NULL. What a call writes (here y and the workspace) must not
 * overlap anything else that it is given; if it does, the call is refused. workspace may be NULL with workspace_bytes 0:
 * the library has its own. */
int corten_conv_forward(const corten_conv *conv, const void *x, const void *weights, const void *bias,
    void *y, void *workspace, size_t workspace_bytes);

/* dx := gradient of the input + beta*dx. The activation does not count: dy is the gradient of what came before it. */
int corten_conv_backward_data(const corten_conv *conv, const void *weights, const void *dy, void *dx,
    void *workspace, size_t workspace_bytes);

/* dweights := gradient of the weights + beta*dweights, and the same for dbias, which may be NULL. */
int corten_conv_backward_weights(const corten_conv *conv, const void *x, const void *dy, void *dweights,
    void *dbias, void *workspace, size_t workspace_bytes);

/* Writes how many bytes of workspace a call wants, at the present number of threads, to use no memory of the library.
 * With less it uses fewer threads; an error says the least. */
int corten_conv_workspace_size(const corten_conv *conv, int pass, size_t *workspace_bytes);

/* Writes one line that says which algorithm and kernel a problem gets from a call without a workspace, and why: at most
 * text_bytes with the final zero. A longer line ends with three dots there; 400 bytes hold any. */
int corten_conv_explain(const corten_conv *conv, int pass, char *text, size_t text_bytes);

/* Sets the math mode of problems that leave theirs at CORTEN_MATH_UNSET, for the whole process: CORTEN_MATH_DEFAULT or
 * CORTEN_MATH_STRICT. The environment variable CORTEN_CONV_MATH (default, strict) does the same from outside. */
int corten_conv_set_math(int math);

/* Makes a plan for one pass of a problem, for those who call it again and again. Given weights, it keeps them in the
 * form that the algorithm wants; with NULL they are given at each call. A plan may be used by several threads at once. */
int corten_conv_plan_create(const corten_conv *conv, int pass, const void *weights, corten_conv_plan **plan);

/* Replaces the weights that a plan keeps, after a training step; one that kept none keeps these from now on. No call may
 * be using the plan. */
int corten_conv_plan_set_weights(corten_conv_plan *plan, const void *weights);

/* corten_conv_forward by a plan. weights may be NULL if the plan keeps them, and are not looked at then. */
int corten_conv_plan_forward(const corten_conv_plan *plan, const void *x, const void *weights,
    const void *bias, void *y, void *workspace, size_t workspace_bytes);

/* corten_conv_backward_data by a plan. weights may be NULL if the plan keeps them, and are not looked at then. */
int corten_conv_plan_backward_data(const corten_conv_plan *plan, const void *weights, const void *dy,
    void *dx, void *workspace, size_t workspace_bytes);

/* corten_conv_backward_weights by a plan. */
int corten_conv_plan_backward_weights(const corten_conv_plan *plan, const void *x, const void *dy,
    void *dweights, void *dbias, void *workspace, size_t workspace_bytes);

/* Bytes of memory that a plan holds. */
size_t corten_conv_plan_memory(const corten_conv_plan *plan);

/* Gives a plan back; NULL is allowed. */
void corten_conv_plan_destroy(corten_conv_plan *plan);

/* ---- Errors -------------------------------------------------------------------------------------------------- */

/* Hands all reports of bad arguments to handler (routine: DGEMM or cblas_dgemm; info: position of the argument)
 * instead of to xerbla_ and cblas_xerbla; null undoes it. */
void corten_set_xerbla(void (*handler)(const char *routine, int info));

/* ---- Collectives: docs/collectives.md -------------------------------------------------------------------------- */

/* How elements of several ranks become one. */
enum corten_op {
    CORTEN_SUM = 0,
    CORTEN_AVERAGE = 1,
    CORTEN_MIN = 2,
    CORTEN_MAX = 3,
    CORTEN_PRODUCT = 4,
    CORTEN_ADASUM = 5,
    /* To be added to an operation on CORTEN_F32: the data travels in 16 bits. */
    CORTEN_WIRE_BF16 = 0x100,
    CORTEN_WIRE_F16 = 0x200
};

/* The process set of all ranks. */
#define CORTEN_ALL 0

/* Joins the other ranks: those of corten-run, of an MPI launcher, or nobody (then there is one rank).
 * All ranks call it. Again after corten_shutdown, as often as one likes. */
int corten_init(void);

/* Leaves the other ranks. Waits for nobody; operations under way in this process end with an error, and buffers of
 * corten_alloc are gone. */
int corten_shutdown(void);

/* 1 between corten_init and corten_shutdown, else 0; 0 in a child of fork. */
int corten_is_initialized(void);

/* This process's number among all ranks; -1 if not initialised, as for the following. They leave corten_last_error as it
 * is. */
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
 * corten_poll say that it is done. Ranks may begin tensors in different orders; several are done at once where they can be.
 * A tensor that a rank refuses for its arguments is an error on all ranks that begin it. */
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

/* Waits until the operation is done, at most for so many seconds (for ever if negative or infinite), and returns its
 * outcome; then the handle is gone. If the time is over before, returns CORTEN_PENDING: no error, so corten_last_error
 * stays as it is, and so does the handle. It stays too if seconds is not a number, which is CORTEN_ERROR_ARGUMENT. */
int corten_wait(int64_t handle, double seconds);

/* Memory that all ranks of this machine can reach: allreduce of such buffers copies nothing. Zero, aligned to a page; null
 * if there is none left. Gone after corten_shutdown. */
void *corten_alloc(size_t bytes);

/* Gives memory of corten_alloc back; null does nothing. No operation on it may be under way on any rank. */
int corten_free(void *memory);

/* Makes a process set of n ranks; set gets its number. Called by all ranks, members or not, with the same list. Set 0 is
 * all ranks; a list that there is a set of gives the number of that one. */
int corten_process_set_add(const int *ranks, int n, int *set);

/* Removes a process set; called by all ranks, members or not. Asynchronous operations of it that are under way end with
 * CORTEN_ERROR_STATE. */
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
