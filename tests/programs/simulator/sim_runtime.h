/* SPDX-License-Identifier: MIT */
/*
 * Has what the test programs of the simulated runtime share: checks that print a failure and exit,
 * and cases.
 */
#pragma once

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "gpumemtrace/compiler.h"
#include "gpumemtrace/cuda/abi.h"
#include "sim_parts.h"

#define MIB ((size_t)1 << 20)

#define CHECK(condition)                                                                           \
    do {                                                                                           \
        if (!(condition)) {                                                                        \
            fprintf(stderr, "line %d: failed: %s\n", __LINE__, #condition);                        \
            exit(1);                                                                               \
        }                                                                                          \
    } while (0)

#define GIVES(call, wanted)                                                                        \
    do {                                                                                           \
        const int got_ = (int)(call);                                                              \
        if (got_ != (int)(wanted)) {                                                               \
            fprintf(stderr, "line %d: %s gave %d, not %d\n", __LINE__, #call, got_,                \
                    (int)(wanted));                                                                \
            exit(1);                                                                               \
        }                                                                                          \
    } while (0)

/* A part that the tests run with each version of the runtime. */
#define CASE(name) PART(name)

#define SUCCEEDS(call) GIVES(call, cudaSuccess)

static size_t free_bytes_now(void)
{
    size_t free_bytes, total_bytes;
    SUCCEEDS(cudaMemGetInfo(&free_bytes, &total_bytes));
    return free_bytes;
}
