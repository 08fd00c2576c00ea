/* SPDX-License-Identifier: MIT */
/*
 * Whether calls of backward left the graph itself (retain_graph=True), not an output of it that somebody keeps: what
 * they left is then of most of the lines that a graph has. It must not know names.
 */
#ifndef GPUMEMTRACE_ANALYZER_DIFF_KEPT_GRAPH_H
#define GPUMEMTRACE_ANALYZER_DIFF_KEPT_GRAPH_H

#include "analyzer/analysis/births.h"
#include "analyzer/analysis/sites.h"

/* Where they did not, sites of a graph that was left are of a graph. Of stacks in the account. */
int kept_graph_tell(struct sites *sites, const struct births *births, uint32_t account,
                    struct err *err);

#endif
