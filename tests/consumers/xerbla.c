/* An application with its own xerbla_ and cblas_xerbla, as Netlib's testers have: the library must
 * call these, in a shared and in a static link, from a Fortran and from a CBLAS entry point. */
#include <stdio.h>
#include <string.h>

#include <blas.h>
#include <cblas.h>

static int fortran_info, cblas_info;

#if defined(__GNUC__)
__attribute__((used)) /* only the library calls them */
#endif
void xerbla_(const char *name, const int *info, size_t length)
{
    if (length >= 5 && strncmp(name, "DGEMM", 5) == 0)
        fortran_info = *info;
}

void cblas_xerbla(CBLAS_INT info, const char *routine, const char *format, ...)
{
    (void)format;
    if (strcmp(routine, "cblas_dgemm") == 0)
        cblas_info = (int)info;
}

int main(void)
{
    const double x[4] = {1, 2, 3, 4}, one = 1;
    const int two = 2, negative = -1;
    double c[4] = {5, 6, 7, 8};
    int good;

    dgemm_("N", "N", &negative, &two, &two, &one, x, &two, x, &two, &one, c, &two);
    cblas_dgemm(CblasColMajor, CblasNoTrans, CblasNoTrans, -1, 2, 2, 1.0, x, 2, x, 2, 1.0, c, 2);
    good = fortran_info == 3 && cblas_info == 4 && c[0] == 5 && c[3] == 8;
    printf("xerbla_ told argument %d, cblas_xerbla argument %d: %s\n", fortran_info, cblas_info,
           good ? "OK" : "FAILED");
    return good ? 0 : 1;
}
