/* SPDX-License-Identifier: MIT */
// link: cudart12
/*
 * A rank of a job: `fleet_rank SEED [leak|double|killed]` trains a few layers for 20 steps. The
 * second argument names a fault. SEED changes the size of a small buffer of each step.
 */
#include "samples/sample.h"

#include <signal.h>
#include <string.h>
#include <unistd.h>

enum { STEPS = 20, KILLED_AT = 12, WEIGHTS = 1 << 20, ROW = 1 << 10, ROWS = 1 << 9 };

static const char *fault = "";
static size_t batch = ROWS;
static unsigned seed;
static struct tensor *weights, *gradient, *activations, *losses[STEPS];

static void make_model(void)
{
    weights = floats(WEIGHTS);
}

static void run_forward(void)
{
    activations = floats(batch * ROW);
    struct tensor *noise = floats(256 + rand_r(&seed) % 4096);
    drop(&noise);
}

static void run_backward(void)
{
    gradient = floats(WEIGHTS);
    drop(&activations);
    drop(&gradient);
}

static void keep_loss(int step)
{
    losses[step] = floats(64 << 10);
}

int main(int count, char **arguments)
{
    seed = count > 1 ? (unsigned)atoi(arguments[1]) : 0;
    fault = count > 2 ? arguments[2] : "";
    if (!strcmp(fault, "double"))
        batch *= 2;
    phase("init", make_model);
    for (int step = 0; step < STEPS; step++) {
        phase("forward", run_forward);
        phase("backward", run_backward);
        if (!strcmp(fault, "leak"))
            keep_loss(step);
        gpumemtrace_step((uint64_t)step + 1);
        if (!strcmp(fault, "killed") && step == KILLED_AT)
            kill(getpid(), SIGKILL);
    }
    drop(&weights);
    return 0;
}
