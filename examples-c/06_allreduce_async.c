/* Asynchronous collectives: gradients are reduced while the next ones are computed.
 *   corten-run -np 2 ./06_allreduce_async
 * Checks itself; exit code 0 means that all is well. */
#include <corten.h>
#include <stdio.h>
#include <stdlib.h>

enum { LAYERS = 12, N = 20000 };
static float gradient[LAYERS][N];

static void must(int code, const char *what)
{
    if (code != CORTEN_OK) {
        fprintf(stderr, "%s: error %d: %s\n", what, code, corten_last_error());
        exit(1);
    }
}

int main(void)
{
    must(corten_init(), "init");
    const int rank = corten_rank(), size = corten_size();
    for (int step = 0; step < 3; step++) {
        int64_t handle[LAYERS];
        /* The backward pass: from the last layer to the first. */
        for (int layer = LAYERS - 1; layer >= 0; layer--) {
            for (int i = 0; i < N; i++)
                gradient[layer][i] = (float)(layer + rank);
            char name[32];
            snprintf(name, sizeof name, "layer %d", layer);
            /* Half the bytes on the way: bf16. Small whole numbers survive that. */
            must(corten_allreduce_async(name, gradient[layer], gradient[layer], N, CORTEN_F32,
                                        CORTEN_SUM | CORTEN_WIRE_BF16, 1.0, 1.0, CORTEN_ALL, &handle[layer]),
                 "allreduce_async");
        }
        for (int layer = 0; layer < LAYERS; layer++) {
            int code;
            /* In short waits, for a program that has something else to do meanwhile; -1.0 waits to the end. */
            while ((code = corten_wait(handle[layer], 0.1)) == CORTEN_PENDING)
                ;
            must(code, "wait");
            const float sum = (float)(layer * size + size * (size - 1) / 2);
            for (int i = 0; i < N; i++)
                if (gradient[layer][i] != sum) {
                    fprintf(stderr, "rank %d layer %d: %g, not %g\n", rank, layer, gradient[layer][i], sum);
                    return 1;
                }
        }
    }
    if (rank == 0)
        printf("%d ranks, %d layers: all is well\n", size, LAYERS);
    must(corten_shutdown(), "shutdown");
    return 0;
}
