/* 02_solve: a positive definite system A*X = B by a blocked Cholesky factorisation.
 *
 * Shows how level 3 carries an algorithm: all but the small diagonal blocks is done by dsyrk (the
 * matrix, the trailing update) and dtrsm (the panels, the solution). Column-major, lower triangle.
 * Exit status 0 means that the residual is of the size of rounding errors. */
#include <float.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cblas.h>

enum { N = 700, RHS = 5, BLOCK = 96 };

/* Element (i, j) of an N-row column-major matrix. */
#define AT(x, i, j) ((x)[(size_t)(j) * N + (size_t)(i)])

/* Cholesky of the n x n block at a, a column at a time; returns 0, or the failing column from 1. */
static int factor_block(double *a, int n)
{
    for (int j = 0; j < n; j++) {
        const double rest = AT(a, j, j) - cblas_ddot(j, &AT(a, j, 0), N, &AT(a, j, 0), N);
        if (!(rest > 0.0))
            return j + 1;
        AT(a, j, j) = sqrt(rest);
        /* Column below the diagonal: subtract what earlier columns explain, then divide. */
        cblas_dgemv(CblasColMajor, CblasNoTrans, n - j - 1, j, -1.0, &AT(a, j + 1, 0), N,
                    &AT(a, j, 0), N, 1.0, &AT(a, j + 1, j), 1);
        cblas_dscal(n - j - 1, 1.0 / AT(a, j, j), &AT(a, j + 1, j), 1);
    }
    return 0;
}

/* A = L*L^T in place, lower triangle. */
static int factor(double *a)
{
    for (int j = 0; j < N; j += BLOCK) {
        const int width = N - j < BLOCK ? N - j : BLOCK;
        const int below = N - j - width;
        const int failed = factor_block(&AT(a, j, j), width);
        if (failed)
            return j + failed;
        /* Panel: L21 := A21 * inv(L11)^T; trailing matrix: A22 := A22 - L21*L21^T */
        if (below > 0) {
            cblas_dtrsm(CblasColMajor, CblasRight, CblasLower, CblasTrans, CblasNonUnit, below, width,
                        1.0, &AT(a, j, j), N, &AT(a, j + width, j), N);
            cblas_dsyrk(CblasColMajor, CblasLower, CblasNoTrans, below, width, -1.0,
                        &AT(a, j + width, j), N, 1.0, &AT(a, j + width, j + width), N);
        }
    }
    return 0;
}

int main(void)
{
    double *m = malloc(sizeof(double) * N * N), *a = calloc((size_t)N * N, sizeof(double));
    double *l = malloc(sizeof(double) * N * N);
    double *b = malloc(sizeof(double) * N * RHS), *x = malloc(sizeof(double) * N * RHS);
    if (!m || !a || !l || !b || !x) {
        fprintf(stderr, "out of memory\n");
        return 2;
    }
    for (size_t i = 0; i < (size_t)N * N; i++)
        m[i] = 2.0 * rand() / RAND_MAX - 1.0;
    for (size_t i = 0; i < (size_t)N * RHS; i++)
        b[i] = 2.0 * rand() / RAND_MAX - 1.0;

    /* A := M*M^T + N*I is positive definite; only its lower triangle is stored. */
    for (int i = 0; i < N; i++)
        AT(a, i, i) = N;
    cblas_dsyrk(CblasColMajor, CblasLower, CblasNoTrans, N, N, 1.0, m, N, 1.0, a, N);

    memcpy(l, a, sizeof(double) * N * N);
    const int failed = factor(l);
    if (failed) {
        fprintf(stderr, "FAILED: not positive definite at column %d\n", failed);
        return 1;
    }
    /* L*(L^T*X) = B */
    memcpy(x, b, sizeof(double) * N * RHS);
    cblas_dtrsm(CblasColMajor, CblasLeft, CblasLower, CblasNoTrans, CblasNonUnit, N, RHS, 1.0, l, N, x, N);
    cblas_dtrsm(CblasColMajor, CblasLeft, CblasLower, CblasTrans, CblasNonUnit, N, RHS, 1.0, l, N, x, N);

    /* Residual by plain loops, so that a wrong BLAS cannot confirm itself. */
    double worst = 0.0;
    for (int r = 0; r < RHS; r++) {
        for (int i = 0; i < N; i++) {
            double sum = AT(b, i, r), magnitude = fabs(sum);
            for (int j = 0; j < N; j++) {
                const double term = (i >= j ? AT(a, i, j) : AT(a, j, i)) * AT(x, j, r);
                sum -= term;
                magnitude += fabs(term);
            }
            const double relative = fabs(sum) / magnitude;
            if (!(relative <= worst))
                worst = relative;
        }
    }
    const int good = worst <= 4.0 * N * DBL_EPSILON;
    printf("Cholesky solve, %d unknowns, %d right-hand sides: relative residual %.1e\n", N, RHS, worst);
    printf(good ? "OK\n" : "FAILED\n");
    free(m);
    free(a);
    free(l);
    free(b);
    free(x);
    return good ? 0 : 1;
}
