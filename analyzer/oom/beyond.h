/* SPDX-License-Identifier: MIT */
/*
 * Finds who held, at a failure, the driver's memory that no tensor shows. This memory is blocks
 * that no framework's pool hands out (OOM_BEYOND_POOLS), and segments of a pool that belong to CUDA
 * graphs (OOM_BEYOND_GRAPHS).
 */
#pragma once

#include "analyzer/analysis/sites.h"
#include "oom.h"

enum oom_beyond { OOM_BEYOND_POOLS, OOM_BEYOND_GRAPHS };

/* Returns the account of the driver's memory that contains the sites. */
uint32_t oom_beyond_account(const struct history *history, const struct oom *oom);
/* Finds the sites that held the driver's memory. Finds none if no framework has a pool. */
int oom_beyond_sites(struct sites *sites, const struct categories *categories,
                     const struct oom *oom, enum oom_beyond which, struct err *err);
