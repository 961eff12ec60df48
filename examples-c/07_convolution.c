/* 07_convolution: one layer of a network, forward and both gradients, with corten_conv_*.
 *
 * Usage: 07_convolution [channels]     (64 unless told)
 *
 * A 3x3 convolution with bias and ReLU on a small batch of 28x28 images. Results are compared with plain loops, the
 * gradients by their defining property: the loss changes by them. Exit status 0 means that all agreed. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include <corten.h>

enum { BATCH = 2, SIZE = 28 };

static float random_in_minus_one_one(void)
{
    return 2.0f * (float)rand() / (float)RAND_MAX - 1.0f;
}

static float *tensor(size_t n)
{
    float *t = malloc(n * sizeof *t);
    if (!t) {
        fprintf(stderr, "out of memory\n");
        exit(2);
    }
    for (size_t i = 0; i < n; i++)
        t[i] = random_in_minus_one_one();
    return t;
}

static void must(int status)
{
    if (status != CORTEN_OK) {
        fprintf(stderr, "%s\n", corten_last_error());
        exit(1);
    }
}

static double dot(size_t n, const float *a, const float *b)
{
    double sum = 0.0;
    for (size_t i = 0; i < n; i++)
        sum += (double)a[i] * b[i];
    return sum;
}

int main(int argc, char **argv)
{
    const int channels = argc > 1 ? atoi(argv[1]) : 64;
    if (channels < 1 || channels > 1024) {
        fprintf(stderr, "usage: %s [channels], 1 <= channels <= 1024\n", argv[0]);
        return 2;
    }

    /* The problem: images in NHWC, weights in HWIO as TensorFlow keeps them. */
    corten_conv conv;
    corten_conv_init(&conv, 2);
    conv.layout = CORTEN_CHANNELS_LAST;
    conv.weights_layout = CORTEN_HWIO;
    conv.batch = BATCH;
    conv.in_channels = conv.out_channels = channels;
    for (int i = 0; i < 2; i++) {
        conv.input[i] = SIZE;
        conv.kernel[i] = 3;
        conv.pad_before[i] = conv.pad_after[i] = 1;
    }
    int64_t output[3];
    must(corten_conv_output_size(&conv, output));
    char text[400];
    must(corten_conv_explain(&conv, CORTEN_FORWARD, text, sizeof text));
    printf("%s\n%s\n", corten_get_config(), text);

    const size_t c = (size_t)channels;
    const size_t pixels = (size_t)BATCH * SIZE * SIZE, images = pixels * c, weights = 9 * c * c;
    float *x = tensor(images), *y = tensor(images), *dy = tensor(images), *dx = tensor(images);
    float *w = tensor(weights), *dw = tensor(weights), *bias = tensor(c), *db = tensor(c);
    int wrong = 0;

    /* Forward with bias and ReLU, a thousand results against plain loops. Winograd's error is a few dozen roundings of
     * the sum of magnitudes; docs/convolution.md has the bound. */
    conv.activation = CORTEN_RELU;
    must(corten_conv_forward(&conv, x, w, bias, y, NULL, 0));
    for (int sample = 0; sample < 1000; sample++) {
        const int n = rand() % BATCH, oy = rand() % SIZE, ox = rand() % SIZE, o = rand() % channels;
        double sum = bias[o], magnitude = fabs(bias[o]);
        for (int ky = 0; ky < 3; ky++)
            for (int kx = 0; kx < 3; kx++) {
                const int iy = oy + ky - 1, ix = ox + kx - 1;
                if (iy < 0 || iy >= SIZE || ix < 0 || ix >= SIZE)
                    continue;
                for (size_t i = 0; i < c; i++) {
                    const double product = (double)x[((size_t)(n * SIZE + iy) * SIZE + (size_t)ix) * c + i] *
                                           w[((size_t)(ky * 3 + kx) * c + i) * c + (size_t)o];
                    sum += product;
                    magnitude += fabs(product);
                }
            }
        const double expected = sum > 0.0 ? sum : 0.0;
        const double got = y[((size_t)(n * SIZE + oy) * SIZE + (size_t)ox) * c + (size_t)o];
        if (!(fabs(got - expected) <= 1e-5 * magnitude))
            wrong++;
    }
    printf("forward: %d of 1000 results wrong\n", wrong);

    /* The layer is linear before its activation, so dy.y(x, w) = dx.x = dw.w: each gradient, multiplied by what it is the
     * gradient of, gives the same number. */
    conv.activation = CORTEN_NO_ACTIVATION;
    must(corten_conv_forward(&conv, x, w, NULL, y, NULL, 0));
    must(corten_conv_backward_data(&conv, w, dy, dx, NULL, 0));
    must(corten_conv_backward_weights(&conv, x, dy, dw, db, NULL, 0));
    const double loss = dot(images, dy, y), by_data = dot(images, dx, x), by_weights = dot(weights, dw, w);
    const double scale = sqrt(dot(images, dy, dy) * dot(images, y, y));
    printf("dy.y = %.4f, dx.x = %.4f, dw.w = %.4f\n", loss, by_data, by_weights);
    if (!(fabs(loss - by_data) <= 1e-5 * scale) || !(fabs(loss - by_weights) <= 1e-5 * scale))
        wrong++;
    for (size_t o = 0; o < c; o++) {
        double sum = 0.0;
        for (size_t p = 0; p < pixels; p++)
            sum += dy[p * c + o];
        if (!(fabs(db[o] - sum) <= 1e-3))
            wrong++;
    }

    /* A plan keeps the weights in the form that the algorithm wants: the same bits, without preparing them again. */
    corten_conv_plan *plan;
    must(corten_conv_plan_create(&conv, CORTEN_FORWARD, w, &plan));
    must(corten_conv_plan_forward(plan, x, NULL, NULL, dx, NULL, 0));
    for (size_t i = 0; i < images; i++)
        if (dx[i] != y[i])
            wrong++;
    printf("a plan of %zu bytes gives the same bits\n", corten_conv_plan_memory(plan));
    corten_conv_plan_destroy(plan);

    /* What makes no sense is refused, with a reason, and nothing is written. */
    conv.stride[1] = 0;
    if (corten_conv_forward(&conv, x, w, NULL, y, NULL, 0) != CORTEN_ERROR_ARGUMENT)
        wrong++;
    printf("refused: %s\n", corten_last_error());

    free(x); free(y); free(dy); free(dx); free(w); free(dw); free(bias); free(db);
    printf(wrong ? "FAILED\n" : "OK\n");
    return wrong ? 1 : 0;
}
