/* SPDX-License-Identifier: MIT */
/*
 * Who held the driver's memory at a failure that no tensor shows: blocks that no framework's pool hands
 * out, and a pool's segments that belong to CUDA graphs. It must not know how this is shown.
 */
#ifndef GPUMEMTRACE_ANALYZER_OOM_BEYOND_H
#define GPUMEMTRACE_ANALYZER_OOM_BEYOND_H

#include "analyzer/analysis/sites.h"
#include "oom.h"

enum oom_beyond { OOM_BEYOND_POOLS, OOM_BEYOND_GRAPHS };

/* The account of the driver's memory that they are blocks of. */
uint32_t oom_beyond_account(const struct history *history, const struct oom *oom);
/* No sites where no framework has a pool. */
int oom_beyond_sites(struct sites *sites, const struct categories *categories,
                     const struct oom *oom, enum oom_beyond which, struct err *err);

#endif
