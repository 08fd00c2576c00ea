/* SPDX-License-Identifier: MIT */
/*
 * Finds who held the driver's memory that no tensor shows, at a failure: blocks that no framework's
 * pool hands out (OOM_BEYOND_POOLS), and a pool's segments that belong to CUDA graphs
 * (OOM_BEYOND_GRAPHS).
 */
#ifndef GPUMEMTRACE_ANALYZER_OOM_BEYOND_H
#define GPUMEMTRACE_ANALYZER_OOM_BEYOND_H

#include "analyzer/analysis/sites.h"
#include "oom.h"

enum oom_beyond { OOM_BEYOND_POOLS, OOM_BEYOND_GRAPHS };

/* The account of the driver's memory that the sites are in. */
uint32_t oom_beyond_account(const struct history *history, const struct oom *oom);
/* Finds no sites if no framework has a pool. */
int oom_beyond_sites(struct sites *sites, const struct categories *categories,
                     const struct oom *oom, enum oom_beyond which, struct err *err);

#endif
