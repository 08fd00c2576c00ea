/* SPDX-License-Identifier: MIT */
/*
 * Decides whether calls to backward left the graph itself (retain_graph=True), or whether the
 * program only keeps an output. A kept graph has most of the lines that graphs have.
 */
#pragma once

#include "analyzer/analysis/births.h"
#include "analyzer/analysis/sites.h"

/*
 * If the graph was not kept, changes sites of kind SITE_GRAPH_LEFT to SITE_GRAPH. account: the
 * account of the stacks.
 */
int kept_graph_tell(struct sites *sites, const struct births *births, uint32_t account,
                    struct err *err);
