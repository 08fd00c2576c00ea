/* SPDX-License-Identifier: MIT */
/*
 * Has what the test programs of the simulated runtime share: checks that print a failure and exit,
 * and a main function that runs the case named by its argument.
 */
#ifndef GPUMEMTRACE_TESTS_PROGRAMS_SIM_RUNTIME_H
#define GPUMEMTRACE_TESTS_PROGRAMS_SIM_RUNTIME_H

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "gpumemtrace/compiler.h"
#include "gpumemtrace/cuda/abi.h"

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

#define SUCCEEDS(call) GIVES(call, cudaSuccess)

static size_t free_bytes_now(void)
{
    size_t free_bytes, total_bytes;
    SUCCEEDS(cudaMemGetInfo(&free_bytes, &total_bytes));
    return free_bytes;
}

#define CASE(name)                                                                                 \
    {                                                                                              \
#name, name                                                                                \
    }

struct test_case {
    const char *name;
    void (*run)(void);
};

static int run_case(const struct test_case *cases, size_t case_count, int count, char **arguments)
{
    for (size_t i = 0; count == 2 && i < case_count; i++)
        if (strcmp(arguments[1], cases[i].name) == 0) {
            cases[i].run();
            return 0;
        }
    fprintf(stderr, "%s: give the name of one case\n", arguments[0]);
    return 2;
}

#endif
