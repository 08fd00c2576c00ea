/* SPDX-License-Identifier: MIT */
/* link: cudart12 */
/*
 * A viewer that keeps meshes of different sizes, together at most 600 MiB. The oldest leave when a
 * new one needs their room. "small" keeps 300 MiB.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#ifdef USE_CUDA_HEADERS
#include <cuda_runtime_api.h>
#else
#include "gpumemtrace/cuda/abi.h"
#endif

#define MIB ((size_t)1 << 20)
enum { VIEWS = 150, LEAST_MIB = 4, MOST_MIB = 28 };

struct mesh {
    void *triangles;
    size_t bytes;
};

static struct mesh meshes[VIEWS];
static size_t held_bytes;
static int held, begin;

static int load(size_t bytes, size_t most_bytes)
{
    while (held_bytes + bytes > most_bytes) {
        held_bytes -= meshes[begin].bytes;
        cudaFree(meshes[begin++].triangles);
    }
    meshes[held].bytes = bytes;
    held_bytes += bytes;
    return cudaMalloc(&meshes[held++].triangles, bytes) == cudaSuccess ? 0 : -1;
}

int main(int count, char **arguments)
{
    const size_t most_bytes = (count > 1 && strcmp(arguments[1], "small") == 0 ? 300 : 600) * MIB;
    srand(11);
    for (int view = 0; view < VIEWS; view++) {
        void *picture = NULL;
        if (cudaMalloc(&picture, 32 * MIB) != cudaSuccess)
            return 1;
        if (view % 3 == 0 &&
            load((LEAST_MIB + rand() % (MOST_MIB - LEAST_MIB + 1)) * MIB, most_bytes))
            return 1;
        cudaFree(picture);
    }
    printf("%d meshes were loaded, %d are held\n", held, held - begin);
    return 0;
}
