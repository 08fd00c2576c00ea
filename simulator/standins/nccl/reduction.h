/* SPDX-License-Identifier: MIT */
/*
 * Computes the sum, product … of the ranks' contents. The result is unknown if any rank's part is
 * unknown. Also has the reductions that a program creates (ncclRedOpCreatePreMulSum).
 */
#pragma once

#include "contents.h"

struct reduction {
    size_t count;
    int type, reduction;
    unsigned parts;
    struct contents sum;
};

/* Scales a rank's own part before the rank gives it. */
void reduction_prepare(struct contents *given, int type, int reduction);

void reduction_begin(struct reduction *reduction, size_t count, int type, int how);
/* Adds the part's elements after skipped_bytes. */
void reduction_add(struct reduction *reduction, const struct contents *part, size_t skipped_bytes);
/* Uses the one added part as that of all ranks. */
void reduction_repeat(struct reduction *reduction, int rank_count);
/* Returns the result, which the reduction owns. */
struct contents reduction_end(struct reduction *reduction, int rank_count);
void reduction_release(struct reduction *reduction);
