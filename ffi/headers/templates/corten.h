/* Corten's own functions: version, threads, error handler, convolution, collectives. BLAS itself is in cblas.h and
 * blas.h.
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

@status@

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

@conv@

/* ---- Errors -------------------------------------------------------------------------------------------------- */

@error@

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

@comm@

/* ---- Names of OpenBLAS, for programs that know them -------------------------------------------------------------- */

@openblas@

#ifdef __cplusplus
}
#endif

#endif /* CORTEN_H */
