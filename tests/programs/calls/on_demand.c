/* SPDX-License-Identifier: MIT */
/* link: cudart12 */
/*
 * Executes each line of its stdin and prints a line after each, for which a test can wait:
 *
 *     malloc MIB      device memory, never freed; the first block is the segment of the pool
 *     take NUMBER MIB   a piece of the pool, at the place with that number
 *     give NUMBER       returns the piece at that place to the pool
 *     push NAME, pop, step
 *
 * Exits at the end of its stdin.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "gpumemtrace/cuda/abi.h"
#include "gpumemtrace/gpumemtrace.h"

#define MIB ((size_t)1 << 20)
#define PLACES 64

static char *segment;
static char names[16][64]; /* of open phases */
static int depth;

static char *place(unsigned number)
{
    return segment + number % PLACES * 16 * MIB;
}

static void take_device(unsigned size)
{
    void *memory;
    if (cudaMalloc(&memory, size * MIB) != cudaSuccess)
        exit(3);
    if (!segment)
        segment = memory;
}

static __attribute__((noinline)) void take_piece(unsigned number, unsigned size)
{
    gpumemtrace_pool_alloc("pool", 0, place(number), size * MIB);
}

int main(void)
{
    char line[128], word[32], name[64];
    while (fgets(line, sizeof line, stdin)) {
        unsigned first = 0, second = 0;
        if (sscanf(line, "%31s %u %u", word, &first, &second) < 1)
            continue;
        if (!strcmp(word, "malloc"))
            take_device(first);
        else if (!strcmp(word, "take"))
            take_piece(first, second);
        else if (!strcmp(word, "give"))
            gpumemtrace_pool_free("pool", 0, place(first));
        else if (!strcmp(word, "push") && sscanf(line, "%*s %63s", name) == 1 && depth < 16)
            gpumemtrace_push(strcpy(names[depth++], name));
        else if (!strcmp(word, "pop"))
            gpumemtrace_pop();
        else if (!strcmp(word, "step"))
            gpumemtrace_step(first);
        puts("done");
        fflush(stdout);
    }
    return 0;
}
