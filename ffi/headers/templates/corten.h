/* Corten's own functions: version, threads, convolution, error handler. BLAS itself is in cblas.h and blas.h.
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

enum {
  CORTEN_SUCCESS = 0,
  CORTEN_INVALID = 1,     /* an argument makes no sense; nothing was written */
  CORTEN_UNSUPPORTED = 2, /* it makes sense, and this version does not do it */
  CORTEN_NO_MEMORY = 3
};

@status@

/* ---- Convolution (docs/convolution.md) --------------------------------------------------------------------------- */

enum { CORTEN_F32 = 0 };                                                      /* data_type */
enum { CORTEN_CHANNELS_FIRST = 0, CORTEN_CHANNELS_LAST = 1 };                 /* layout: NCHW; NHWC */
enum { CORTEN_OIHW = 0, CORTEN_HWIO = 1, CORTEN_OHWI = 2 };                   /* weights_layout */
enum { CORTEN_NO_ACTIVATION = 0, CORTEN_RELU = 1, CORTEN_LEAKY_RELU = 2 };    /* activation */
enum { CORTEN_MATH_UNSET = 0, CORTEN_MATH_DEFAULT = 1, CORTEN_MATH_STRICT = 2 };
enum { CORTEN_FORWARD = 0, CORTEN_BACKWARD_DATA = 1, CORTEN_BACKWARD_WEIGHTS = 2 }; /* pass */

/* A convolution. corten_conv_init fills in defaults; set what differs. Spatial fields have one number a dimension, the
 * outermost first: depth, height, width of a volume; height, width of an image; length of a line.
 *
 * Weights are those of a convolution from in_channels to out_channels: O = out_channels, I = in_channels / groups. A
 * transposed convolution (the gradient of a convolution as a layer) has those of the convolution it is the transpose of:
 * O = in_channels, I = out_channels / groups, which is what PyTorch and TensorFlow keep. */
typedef struct corten_conv {
  size_t struct_size;     /* sizeof(corten_conv) */
  int32_t data_type;      /* CORTEN_F32 */
  int32_t dims;           /* spatial dimensions: 1, 2 or 3 */
  int32_t layout;         /* of x, y and their gradients */
  int32_t weights_layout; /* the 1D and 3D forms have fewer or more spatial places: OIW, ODHWI, ... */
  int32_t transposed;     /* 1: transposed convolution */
  int32_t math;           /* CORTEN_MATH_STRICT: sums of products only. _DEFAULT: Winograd too */
  int32_t activation;     /* of the forward pass */
  float slope;            /* of CORTEN_LEAKY_RELU */
  float beta;             /* factor of what the result held before; 0 never reads it */
  int32_t reserved;       /* 0 */
  int64_t batch;          /* images; 0 is legal */
  int64_t groups;         /* in_channels: depthwise */
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

/* ---- Names of OpenBLAS, for programs that know them -------------------------------------------------------------- */

@openblas@

#ifdef __cplusplus
}
#endif

#endif /* CORTEN_H */
