/* A consumer that knows no header and no name of ours: it declares the BLAS it needs, as most
 * programs do. WIDE=1 is a program built for a BLAS with 64-bit integers: the upper halves of its
 * integers are set where a BLAS that reads only 32 bits would go wrong. Exit status 0: right. */
#include <stdint.h>
#include <stdio.h>

#ifndef WIDE
#define WIDE 0
#endif
#if WIDE
typedef int64_t blas_int;
#else
typedef int32_t blas_int;
#endif

extern void sgemm_(const char *, const char *, const blas_int *, const blas_int *, const blas_int *,
                   const float *, const float *, const blas_int *, const float *, const blas_int *,
                   const float *, float *, const blas_int *);
extern blas_int idamax_(const blas_int *, const double *, const blas_int *);

int main(void)
{
    const float a[4] = {1, 2, 3, 4}, b[4] = {5, 6, 7, 8}, one = 1, zero = 0;
    const float want[4] = {23, 34, 31, 46};
    const double x[3] = {1, -9, 3};
    float c[4] = {-1, -1, -1, -1};
    const blas_int two = 2, three = 3, inc = 1;
    int good = 1, i;

    sgemm_("N", "N", &two, &two, &two, &one, a, &two, b, &two, &zero, c, &two);
    for (i = 0; i < 4; i++)
        good = good && c[i] == want[i];
    good = good && idamax_(&three, x, &inc) == 2;
#if WIDE
    {
        /* As 32 bits this is n = 3; as 64 bits it is negative, so there is nothing to find. */
        const blas_int negative = (blas_int)UINT64_C(0xffffffff00000003);
        good = good && idamax_(&negative, x, &inc) == 0;
    }
#endif
    printf("%s\n", good ? "OK" : "FAILED");
    return good ? 0 : 1;
}
