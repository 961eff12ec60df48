/* Complex numbers returned by value; in C++ a struct of the same layout. Complex arguments are pointers to void, so that
 * arrays of float _Complex, std::complex<float> or float[2] can be passed without a cast. */
#ifndef CORTEN_COMPLEX
#define CORTEN_COMPLEX
#ifdef __cplusplus
typedef struct { float real, imag; } corten_complex_float;
typedef struct { double real, imag; } corten_complex_double;
#else
typedef float _Complex corten_complex_float;
typedef double _Complex corten_complex_double;
#endif
#endif
