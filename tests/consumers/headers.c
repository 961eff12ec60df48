/* A consumer with our headers: CBLAS, the Fortran names of blas.h and the library's own functions
 * in one program. Valid C99 and C++11. Exit status 0: every value is right. */
#include <stdio.h>
#include <string.h>

#include <blas.h>
#include <cblas.h>
#include <corten.h>

int main(void)
{
    const double a[6] = {1, 2, 3, 4, 5, 6}, b[6] = {7, 8, 9, 10, 11, 12};
    const double want[4] = {58, 64, 139, 154};
    double c[4] = {-1, -1, -1, -1}, d[4] = {-1, -1, -1, -1};
    const double one = 1, zero = 0;
    const int two = 2, three = 3;
    int good = 1, i;

    cblas_dgemm(CblasRowMajor, CblasNoTrans, CblasNoTrans, 2, 2, 3, 1.0, a, 3, b, 2, 0.0, c, 2);
    /* The same product through the Fortran name: column-major sees the transposes. */
    dgemm_("N", "N", &two, &two, &three, &one, b, &two, a, &three, &zero, d, &two);
    for (i = 0; i < 4; i++)
        good = good && c[i] == want[i] && d[i] == want[i];
    good = good && strncmp(corten_get_config(), "Corten ", 7) == 0 && corten_get_num_threads() >= 1;
    printf("%s %s\n", corten_version(), good ? "OK" : "FAILED");
    return good ? 0 : 1;
}
