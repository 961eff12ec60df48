/* 03_error_handler: what happens at a bad argument, and how a program takes it over.
 *
 * A BLAS reports a bad argument by its position, to xerbla. By default Corten prints a line on
 * stderr and the routine returns with its output untouched; it never stops the program. A program
 * may define xerbla_ or cblas_xerbla itself (the linker then takes that one), or, where it cannot,
 * hand over a function as here. Exit status 0 means that all of this held. */
#include <stdio.h>
#include <string.h>

#include <cblas.h>
#include <corten.h>

static int calls, last_info;
static char last_routine[32];

static void on_error(const char *routine, int info)
{
    calls++;
    last_info = info;
    strncpy(last_routine, routine, sizeof last_routine - 1);
    printf("handler: argument %d of %s is not legal\n", info, routine);
}

int main(void)
{
    const double a[4] = {1, 2, 3, 4};
    double c[4] = {-1, -1, -1, -1};

    corten_set_xerbla(on_error);
    /* lda, the 9th argument, is smaller than a row. */
    cblas_dgemm(CblasRowMajor, CblasNoTrans, CblasNoTrans, 2, 2, 2, 1.0, a, 1, a, 2, 0.0, c, 2);
    int good = calls == 1 && last_info == 9 && strstr(last_routine, "dgemm") != NULL;
    for (int i = 0; i < 4; i++)
        good = good && c[i] == -1;

    /* The same call with a legal lda works, and the handler stays silent. */
    cblas_dgemm(CblasRowMajor, CblasNoTrans, CblasNoTrans, 2, 2, 2, 1.0, a, 2, a, 2, 0.0, c, 2);
    good = good && calls == 1 && c[0] == 7 && c[1] == 10 && c[2] == 15 && c[3] == 22;

    corten_set_xerbla(NULL); /* back to the default */
    printf(good ? "OK\n" : "FAILED: %d calls, last one argument %d of %s\n", calls, last_info, last_routine);
    return good ? 0 : 1;
}
