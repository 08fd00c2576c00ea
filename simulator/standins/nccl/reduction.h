/* SPDX-License-Identifier: MIT */
/*
 * The sum, product … of what ranks give; unknown as soon as one part is. And reductions that a program
 * makes (ncclRedOpCreatePreMulSum). It must not know where parts come from.
 */
#ifndef GPUMEMTRACE_SIMULATOR_STANDINS_NCCL_REDUCTION_H
#define GPUMEMTRACE_SIMULATOR_STANDINS_NCCL_REDUCTION_H

#include "contents.h"

struct reduction {
    size_t count;
    int type, reduction;
    unsigned parts;
    struct contents sum;
};

/* What a rank does to its own part before it gives it. */
void reduction_prepare(struct contents *given, int type, int reduction);

void reduction_begin(struct reduction *reduction, size_t count, int type, int how);
/* Adds the part's elements behind so many bytes. */
void reduction_add(struct reduction *reduction, const struct contents *part, size_t skipped_bytes);
/* The one part added is also that of all others. */
void reduction_repeat(struct reduction *reduction, int rank_count);
/* Belongs to the reduction. */
struct contents reduction_end(struct reduction *reduction, int rank_count);
void reduction_release(struct reduction *reduction);

#endif
