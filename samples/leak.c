/* SPDX-License-Identifier: MIT */
// link: cudart12
/*
 * A leak: each step keeps one buffer that it should free, because it collects the losses on the
 * device. All other memory is freed.
 *
 * Simulator:  make samples
 *             build/gpumemtrace run --dry-run -o leak.db -- build/samples/leak
 * Real GPU:   LD_LIBRARY_PATH=/usr/local/cuda/lib64 \
 *             build/gpumemtrace run -o leak.db -- build/samples/leak
 * Then:       build/gpumemtrace leaks leak.db
 */
#include "sample.h"

enum { STEPS = 20 };

static struct tensor *losses[STEPS];

static struct tensor *compute_loss(const struct tensor *activations)
{
    (void)activations;
    return floats(256 * 1024); /* one loss for each of many samples: 1 MiB */
}

/* The mistake: this keeps device memory instead of a number on the host. */
static void remember_loss(int step, struct tensor *loss)
{
    losses[step] = hold(loss);
}

static void train_step(int step)
{
    gpumemtrace_push("forward");
    struct tensor *activations = floats(4 * 1024 * 1024);
    struct tensor *loss = compute_loss(activations);
    gpumemtrace_pop();
    remember_loss(step, loss);
    drop(&activations);
    drop(&loss);
}

int main(void)
{
    struct tensor *parameters = floats(2 * 1024 * 1024);
    for (int step = 0; step < STEPS; step++) {
        train_step(step);
        gpumemtrace_step((uint64_t)step + 1);
    }
    drop(&parameters);
    printf("%d steps, and %d losses still on the device\n", STEPS, STEPS);
    return 0;
}
