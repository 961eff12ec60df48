/* 01_gemm: C := A*B with cblas_dgemm, the most common call of a BLAS.
 *
 * Usage: 01_gemm [n]     (n x n matrices, 1500 unless told)
 *
 * Multiplies random matrices, compares some elements with a plain loop, prints the speed.
 * Exit status 0 means that every compared element agreed. */
#define _POSIX_C_SOURCE 200112L
#include <float.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include <cblas.h>
#include <corten.h>

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static double random_in_minus_one_one(void)
{
    return 2.0 * rand() / RAND_MAX - 1.0;
}

int main(int argc, char **argv)
{
    const int n = argc > 1 ? atoi(argv[1]) : 1500;
    if (n < 1 || n > 30000) {
        fprintf(stderr, "usage: %s [n], 1 <= n <= 30000\n", argv[0]);
        return 2;
    }
    const size_t count = (size_t)n * (size_t)n;
    double *a = malloc(count * sizeof *a);
    double *b = malloc(count * sizeof *b);
    double *c = malloc(count * sizeof *c);
    if (!a || !b || !c) {
        fprintf(stderr, "out of memory\n");
        return 2;
    }
    for (size_t i = 0; i < count; i++) {
        a[i] = random_in_minus_one_one();
        b[i] = random_in_minus_one_one();
        c[i] = NAN; /* beta = 0 below: what stands in C must not matter */
    }
    printf("%s, up to %d threads\n", corten_get_config(), corten_get_num_threads());

    /* The first call starts the threads; the time is taken from the best of three after it. */
    double best = HUGE_VAL;
    for (int run = 0; run < 4; run++) {
        const double start = now();
        cblas_dgemm(CblasRowMajor, CblasNoTrans, CblasNoTrans, n, n, n, 1.0, a, n, b, n, 0.0, c, n);
        const double seconds = now() - start;
        if (run > 0 && seconds < best)
            best = seconds;
    }

    /* Elements in the corners and at random, each against a plain loop. A sum of n products may
     * differ by n rounding errors of its absolute sum. */
    int wrong = 0;
    double worst = 0.0;
    for (int sample = 0; sample < 1000; sample++) {
        const size_t i = sample < 4 ? (sample & 1 ? (size_t)n - 1 : 0) : (size_t)(rand() % n);
        const size_t j = sample < 4 ? (sample & 2 ? (size_t)n - 1 : 0) : (size_t)(rand() % n);
        double sum = 0.0, magnitude = 0.0;
        for (size_t k = 0; k < (size_t)n; k++) {
            sum += a[i * (size_t)n + k] * b[k * (size_t)n + j];
            magnitude += fabs(a[i * (size_t)n + k] * b[k * (size_t)n + j]);
        }
        const double error = fabs(c[i * (size_t)n + j] - sum);
        if (!(error <= 2.0 * n * DBL_EPSILON * magnitude)) /* also true for NaN */
            wrong++;
        if (error > worst)
            worst = error;
    }
    printf("dgemm %d x %d x %d: %.4f s, %.1f GFLOPS\n", n, n, n, best, 2e-9 * n * n * n / best);
    printf("1000 elements compared with a plain loop: %d wrong, largest difference %.1e\n", wrong, worst);
    free(a);
    free(b);
    free(c);
    printf(wrong ? "FAILED\n" : "OK\n");
    return wrong ? 1 : 0;
}
