/* Blocking collectives: every rank has a vector, all want the average.
 *   corten-run -np 4 ./05_allreduce        or under mpirun, or alone
 * Checks itself; exit code 0 means that all is well. */
#include <corten.h>
#include <stdio.h>
#include <stdlib.h>

static void must(int code, const char *what)
{
    if (code != CORTEN_OK) {
        fprintf(stderr, "%s: error %d: %s\n", what, code, corten_last_error());
        exit(1);
    }
}

int main(void)
{
    enum { N = 100000 };
    must(corten_init(), "init");
    const int rank = corten_rank(), size = corten_size();

    /* Gradients of this rank; the average of 0, 1, 2, ... is (size - 1) / 2. */
    static float gradient[N];
    for (int i = 0; i < N; i++)
        gradient[i] = (float)rank;
    must(corten_allreduce(gradient, gradient, N, CORTEN_F32, CORTEN_AVERAGE, 1.0, 1.0, CORTEN_ALL), "allreduce");
    for (int i = 0; i < N; i++)
        if (gradient[i] != (float)(size - 1) / 2) {
            fprintf(stderr, "rank %d: element %d is %g\n", rank, i, gradient[i]);
            return 1;
        }

    /* Rank 0's parameters to all. */
    double parameters[3] = {rank, rank, rank};
    must(corten_broadcast(parameters, 3, CORTEN_F64, 0, CORTEN_ALL), "broadcast");
    if (parameters[0] != 0 || parameters[2] != 0)
        return 1;

    /* The same without copies: memory that all ranks of the machine have mapped. */
    float *shared = corten_alloc(N * sizeof *shared);
    if (!shared) {
        fprintf(stderr, "alloc: %s\n", corten_last_error());
        return 1;
    }
    for (int i = 0; i < N; i++)
        shared[i] = 1;
    must(corten_allreduce(shared, shared, N, CORTEN_F32, CORTEN_SUM, 1.0, 1.0, CORTEN_ALL), "allreduce");
    if (shared[0] != (float)size || shared[N - 1] != (float)size)
        return 1;

    /* A disagreement is the same error everywhere, and the next call works. */
    if (size > 1) {
        int code = corten_allreduce(gradient, gradient, rank == 0 ? 10 : 20, CORTEN_F32, CORTEN_SUM, 1, 1, CORTEN_ALL);
        if (code != CORTEN_ERROR_MISMATCH)
            return 1;
        if (rank == 0)
            printf("as it should be: %s\n", corten_last_error());
    }
    must(corten_barrier(CORTEN_ALL), "barrier");
    if (rank == 0)
        printf("ranks: %d, machines: %d; all is well\n", size, corten_cross_size());
    must(corten_shutdown(), "shutdown");
    return 0;
}
