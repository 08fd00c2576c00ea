/* SPDX-License-Identifier: MIT */
/* link: cudart12 */
/*
 * takes_batch [--batch=N | --batch N | -b N | batch=N] [--sequence=N] [WAY]: allocates 100 MiB, and
 * batch × sequence MiB in blocks of 1 MiB. If no option gives a number, it comes from the variable
 * BATCH or SEQUENCE; if that is not set, it is 1. Exits 1 when memory is refused. WAY changes this
 * behaviour; tests/fix uses each WAY.
 *
 *     odd        exits 3, before it allocates, unless the batch is a multiple of 8
 *     broken     exits 3 after an allocation
 *     nothing    makes no CUDA call
 *     caught     when memory is refused, frees all and takes half, until that fits
 *     hidden     when memory is refused, prints that and exits 0
 *     rescued    when memory is refused, frees all, allocates 1 MiB and exits 1
 *     waits      sleeps for an hour after its last allocation
 *     killed     is killed after its last allocation
 *     races      creates the file named by RACED and is killed; if the file exists, ignores WAY
 *     quadratic  allocates batch × sequence × sequence MiB
 *     folded     treats a batch above 900 as a batch of 10
 */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "gpumemtrace/cuda/abi.h"

#define MIB ((size_t)1 << 20)

enum { BLOCKS_MOST = 1 << 16, OWN_MIB = 100 };

static void *blocks[BLOCKS_MOST];
static long block_count;
static const char *way = "";

static int is_way(const char *name)
{
    return !strcmp(way, name);
}

/* Returns the number after --name=, --name, -n or name=. If there is none, returns the number in
   the variable, or 1 if the variable is not set. */
static long number_of(const char *name, const char *variable, int argc, char **argv)
{
    const size_t length = strlen(name);
    const char *value = getenv(variable);
    for (int i = 1; i < argc; i++) {
        const char *word = argv[i] + strspn(argv[i], "-");
        const int is_short = argv[i][0] == '-' && word[0] == name[0] && !word[1];
        if (!strncmp(word, name, length) && word[length] == '=')
            value = word + length + 1;
        else if ((!strcmp(word, name) || is_short) && i + 1 < argc)
            value = argv[i + 1];
    }
    return value ? strtol(value, NULL, 10) : 1;
}

static int take(long count)
{
    while (block_count < count && block_count < BLOCKS_MOST) {
        if (cudaMalloc(&blocks[block_count], MIB) != cudaSuccess)
            return -1;
        block_count++;
    }
    return 0;
}

static void give_back(void)
{
    while (block_count > 0)
        cudaFree(blocks[--block_count]);
}

static int refused(void)
{
    void *block = NULL;
    fprintf(stderr, "out of memory after %ld blocks\n", block_count);
    if (is_way("rescued")) {
        give_back();
        cudaMalloc(&block, MIB);
    }
    return is_way("hidden") ? 0 : 1;
}

static int races(void)
{
    return !access(getenv("RACED"), F_OK) ? 0 : !fclose(fopen(getenv("RACED"), "we"));
}

static int train(long batch, long sequence)
{
    void *own = NULL;
    const long each = is_way("quadratic") ? sequence * sequence : sequence;
    if (is_way("folded") && batch > 900)
        batch = 10;
    if (is_way("odd") && batch % 8)
        return 3;
    if (cudaMalloc(&own, OWN_MIB * MIB) != cudaSuccess)
        return refused();
    if (is_way("broken")) {
        fprintf(stderr, "the data set is not there\n");
        return 3;
    }
    while (take(batch * each)) {
        if (!is_way("caught"))
            return refused();
        give_back();
        batch /= 2;
    }
    if (is_way("waits"))
        sleep(3600);
    if (is_way("killed") || (is_way("races") && races()))
        raise(SIGKILL);
    return 0;
}

int main(int argc, char **argv)
{
    if (argc > 1 && !strchr(argv[argc - 1], '=') && argv[argc - 1][0] >= 'a')
        way = argv[argc - 1];
    if (is_way("nothing"))
        return 0;
    return train(number_of("batch", "BATCH", argc, argv),
                 number_of("sequence", "SEQUENCE", argc, argv));
}
