/* SPDX-License-Identifier: MIT */
// link: cudart12
/*
 * A training loop that allocates memory as a framework would: a small network (train.json), trained
 * with Adam. No kernel runs; memory is only allocated and freed.
 *
 * Simulator: make samples
 *             build/gpumemtrace run --dry-run -o train.db -- build/samples/train
 * Real GPU: LD_LIBRARY_PATH=/usr/local/cuda/lib64 \
 *             build/gpumemtrace run -o train.db -- build/samples/train
 * Then: build/gpumemtrace report train.db
 */
#include "sample.h"

enum { BATCH = 8192, FEATURES = 1024, HIDDEN = 4096, CLASSES = 1000 };
static const struct layer {
    enum { LINEAR, NORM, RELU, LOSS } kind;
    size_t in, out, sizes[2]; /* sizes of weight and bias */
} layers[] = {
    {LINEAR, FEATURES, HIDDEN, {FEATURES * HIDDEN, HIDDEN}},
    {NORM, HIDDEN, HIDDEN, {HIDDEN, HIDDEN}},
    {RELU, HIDDEN, HIDDEN, {0}},
    {LINEAR, HIDDEN, CLASSES, {HIDDEN * CLASSES, CLASSES}},
    {LOSS, CLASSES, 1, {0}},
};
enum { LAYERS = sizeof layers / sizeof layers[0] };
static struct tensor *parameters[LAYERS][2], *gradients[LAYERS][2], *states[2][LAYERS][2];
static struct tensor *buffers[3], *saved[LAYERS][3]; /* saved: kept for backward */
static struct tensor *batch, *classes, *prediction, *loss;

/* Makes the tensors for weights and biases that do not exist yet. */
static void make(struct tensor *tensors[LAYERS][2])
{
    for (int layer = 0; layer < LAYERS; layer++)
        for (int i = 0; i < 2 && layers[layer].sizes[i]; i++)
            if (!tensors[layer][i])
                tensors[layer][i] = floats(layers[layer].sizes[i]);
}

static void init(void)
{
    make(parameters);
    buffers[0] = floats(HIDDEN); /* running mean */
    buffers[1] = floats(HIDDEN); /* running variance */
    buffers[2] = tensor_new(sizeof(int64_t));
}

static void load(void)
{
    batch = floats((size_t)BATCH * FEATURES);
    classes = tensor_new(BATCH * sizeof(int64_t));
}

/* A layer's input stays alive only if the layer saves it or the main loop holds it. */
static void forward(void)
{
    static const int statistics[] = {[NORM] = 2, [LOSS] = 1}; /* mean, deviation; weight */
    loss = hold(batch);
    for (int i = 0; i < LAYERS; i++) {
        const struct layer *layer = &layers[i];
        struct tensor *input = loss;
        struct tensor *output = floats(layer->kind == LOSS ? 1 : BATCH * layer->out);
        if (layer->kind == LINEAR || layer->kind == NORM)
            saved[i][0] = hold(input);
        else /* the result, or the logarithms of all probabilities */
            saved[i][0] = layer->kind == RELU ? hold(output) : floats(BATCH * layer->in);
        for (int j = 0; j < statistics[layer->kind]; j++)
            saved[i][1 + j] = floats(layer->out);
        if (layer->kind == LOSS)
            prediction = hold(input);
        drop(&input);
        loss = output;
    }
}

/* Computes the gradient of each layer's input from the output's; the first layer has none. */
static void backward(void)
{
    struct tensor *gradient = floats(1);
    for (int i = LAYERS - 1; i >= 0; i--) {
        const struct layer *layer = &layers[i];
        if (layer->kind == LOSS) /* the gradient of the logarithms */
            saved[i][2] = floats(BATCH * layer->in);
        struct tensor *passed = i > 0 ? floats(BATCH * layer->in) : NULL;
        for (int j = 0; j < 2 && layer->sizes[j]; j++)
            gradients[i][j] = floats(layer->sizes[j]);
        drop_all(saved[i], 3);
        drop(&gradient);
        gradient = passed;
    }
}

/* Adam: the first step makes two states for each parameter; every step takes a square root. */
static void optimizer(void)
{
    static struct tensor *roots[LAYERS][2];
    make(states[0]);
    make(states[1]);
    make(roots);
    drop_all(roots[0], 2 * LAYERS);
    drop_all(gradients[0], 2 * LAYERS);
}

int main(void)
{
    phase("init", init);
    for (int step = 1; step <= 5; step++) {
        phase("data", load);
        phase("forward", forward);
        phase("backward", backward);
        phase("optimizer", optimizer);
        drop(&prediction);
        drop(&loss);
        drop(&batch);
        drop(&classes);
        gpumemtrace_step((uint64_t)step);
    }
    return 0;
}
