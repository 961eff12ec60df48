/* A library that lies, preloaded over a right BLAS to show that a suite can fail.
 *
 * CORTEN_LIE says "routine lie"; every other call goes through unchanged. The lies are
 * as small as a real defect would be: one wrong element, one element too many, an error
 * that is not reported, a program that ends early with exit code 0. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>

static int lies(const char *what)
{
    const char *asked = getenv("CORTEN_LIE");
    return asked != NULL && strcmp(asked, what) == 0;
}

/* A relative error far above any rounding, far below what one would see by eye. */
static const double WRONG = 1.0 + 1e-3;

/* The routine that would have been called without this library. */
#define NEXT(name) ((__typeof__(&name))dlsym(RTLD_NEXT, #name))

double ddot_(const int *n, const double *x, const int *incx, const double *y, const int *incy)
{
    double sum = NEXT(ddot_)(n, x, incx, y, incy);
    return lies("ddot value") ? sum * WRONG : sum;
}

void dgemv_(const char *trans, const int *m, const int *n, const double *alpha, const double *a,
            const int *lda, const double *x, const int *incx, const double *beta, double *y,
            const int *incy)
{
    NEXT(dgemv_)(trans, m, n, alpha, a, lda, x, incx, beta, y, incy);
    if (lies("dgemv value") && *m > 8 && *n > 0 && *incy == 1)
        y[0] *= WRONG;
}

void dgemm_(const char *transa, const char *transb, const int *m, const int *n, const int *k,
            const double *alpha, const double *a, const int *lda, const double *b, const int *ldb,
            const double *beta, double *c, const int *ldc)
{
    NEXT(dgemm_)(transa, transb, m, n, k, alpha, a, lda, b, ldb, beta, c, ldc);
    if (*m < 1 || *n < 1)
        return;
    double *last = c + (size_t)(*n - 1) * (size_t)*ldc + (size_t)(*m - 1);
    if (lies("dgemm value") && *m > 4 && *n > 4)
        *last *= WRONG;
    if (lies("dgemm padding") && *m > 4 && *ldc > *m)
        last[1] = 0.25;
}

void cblas_dgemm(int layout, int transa, int transb, int m, int n, int k, double alpha,
                 const double *a, int lda, const double *b, int ldb, double beta, double *c,
                 int ldc)
{
    NEXT(cblas_dgemm)(layout, transa, transb, m, n, k, alpha, a, lda, b, ldb, beta, c, ldc);
    if (lies("cblas_dgemm value") && m > 0 && n > 0 && ldc > 0)
        c[0] *= WRONG;
}

void dsyrk_(const char *uplo, const char *trans, const int *n, const int *k, const double *alpha,
            const double *a, const int *lda, const double *beta, double *c, const int *ldc)
{
    if (lies("dsyrk silent") && *n < 0)
        return;
    NEXT(dsyrk_)(uplo, trans, n, k, alpha, a, lda, beta, c, ldc);
}

void dsyr2k_(const char *uplo, const char *trans, const int *n, const int *k, const double *alpha,
             const double *a, const int *lda, const double *b, const int *ldb, const double *beta,
             double *c, const int *ldc)
{
    if (lies("dsyr2k exit"))
        exit(0);
    NEXT(dsyr2k_)(uplo, trans, n, k, alpha, a, lda, b, ldb, beta, c, ldc);
}

void dsymm_(const char *side, const char *uplo, const int *m, const int *n, const double *alpha,
            const double *a, const int *lda, const double *b, const int *ldb, const double *beta,
            double *c, const int *ldc)
{
    if (lies("dsymm abort"))
        abort();
    NEXT(dsymm_)(side, uplo, m, n, alpha, a, lda, b, ldb, beta, c, ldc);
}
