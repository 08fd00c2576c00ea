/* SPDX-License-Identifier: MIT */
/* link: cudart12 */
/*
 * A service that keeps the decoded tiles of a map, at most 40 of them. The oldest leaves when a new
 * one comes. It is full after three quarters of the run. "small" keeps 20.
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
enum { REQUESTS = 160, TILES = 200, TILE_MIB = 16 };

static void *tiles[TILES];
static int order[TILES], held, begin;

static void *decode(void)
{
    void *tile = NULL;
    return cudaMalloc(&tile, TILE_MIB * MIB) == cudaSuccess ? tile : NULL;
}

static void *tile_of(int number, int most)
{
    if (tiles[number])
        return tiles[number];
    tiles[number] = decode();
    order[held++] = number;
    if (held - begin > most) {
        const int oldest = order[begin++];
        cudaFree(tiles[oldest]);
        tiles[oldest] = NULL;
    }
    return tiles[number];
}

int main(int count, char **arguments)
{
    const int most = count > 1 && strcmp(arguments[1], "small") == 0 ? 20 : 40;
    int next = 0;
    for (int request = 0; request < REQUESTS; request++) {
        void *picture = NULL;
        if (cudaMalloc(&picture, 24 * MIB) != cudaSuccess)
            return 1;
        /* One request in three shows a part of the map that nobody has seen before. */
        if (!tile_of(request % 3 == 0 ? next++ : next - 1, most))
            return 1;
        cudaFree(picture);
    }
    printf("%d tiles were decoded\n", held);
    return 0;
}
