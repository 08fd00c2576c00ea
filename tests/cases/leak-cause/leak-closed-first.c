/* SPDX-License-Identifier: MIT */
/* link: cudart12 */
/*
 * Relaxes one structure after the other; each opens a simulation with device arrays of its own and
 * closes it again. "arrays-first" gives the arrays back before the simulation is marked as closed.
 */
#include <stdio.h>
#include <string.h>

#ifdef USE_CUDA_HEADERS
#include <cuda_runtime_api.h>
#else
#include "gpumemtrace/cuda/abi.h"
#endif

enum { STRUCTURES = 24, ATOMS = 262144, NEIGHBOURS_PER_ATOM = 96, STEPS = 3 };

struct simulation;

struct array {
    struct simulation *owner;
    void *data;
};

struct simulation {
    int open;
    struct array positions, forces, neighbours;
};

static int array_create(struct array *array, struct simulation *owner, size_t bytes)
{
    array->owner = owner;
    return cudaMalloc(&array->data, bytes) == cudaSuccess;
}

static void array_destroy(struct array *array)
{
    if (array->owner->open)
        cudaFree(array->data);
}

static int simulation_open(struct simulation *simulation)
{
    simulation->open = 1;
    if (!array_create(&simulation->positions, simulation, (size_t)ATOMS * 16))
        return 0;
    if (!array_create(&simulation->forces, simulation, (size_t)ATOMS * 64))
        return 0;
    return array_create(&simulation->neighbours, simulation,
                        (size_t)ATOMS * NEIGHBOURS_PER_ATOM * 4);
}

static void simulation_close(struct simulation *simulation, int arrays_first)
{
    if (!arrays_first)
        simulation->open = 0;
    array_destroy(&simulation->neighbours);
    array_destroy(&simulation->forces);
    array_destroy(&simulation->positions);
    simulation->open = 0;
}

int main(int argc, char **argv)
{
    const int arrays_first = argc > 1 && strcmp(argv[1], "arrays-first") == 0;
    for (int structure = 0; structure < STRUCTURES; structure++) {
        struct simulation simulation;
        size_t free_bytes, total_bytes;
        if (!simulation_open(&simulation))
            return 1;
        for (int step = 0; step < STEPS; step++)
            cudaMemset(simulation.forces.data, 0, (size_t)ATOMS * 64);
        simulation_close(&simulation, arrays_first);
        cudaMemGetInfo(&free_bytes, &total_bytes);
        printf("structure %d: %zu MiB free\n", structure, free_bytes >> 20);
    }
    return 0;
}
