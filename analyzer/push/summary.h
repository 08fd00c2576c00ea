/* SPDX-License-Identifier: MIT */
/*
 * What a rank amounts to, as rows: a few kilobytes of each trace, whose figures are those of `report` and other commands. It
 * must not know where rows go.
 */
#ifndef GPUMEMTRACE_ANALYZER_PUSH_SUMMARY_H
#define GPUMEMTRACE_ANALYZER_PUSH_SUMMARY_H

#include "analyzer/analysis/study.h"
#include "analyzer/fleet/rows.h"
#include "origin.h"

/* More sites of a moment are one row, "(other sites)"; of more phases those that allocated most are kept. */
enum { SUMMARY_SITES = 40, SUMMARY_PHASES = 100 };

struct summary {
    struct rows tables[FLEET_TABLES]; /* of the kind FLEET_SUMMARY, but push */
};

/* What the study has to look at. */
extern const unsigned summary_needs;

void summary_init(struct summary *summary, const struct fleet_key *key);
void summary_release(struct summary *summary);
static inline bool summary_has(enum fleet_table table)
{
    return fleet_tables[table].kind == FLEET_SUMMARY && table != FLEET_push;
}

/* Adds the rows of a process of the rank. */
int summary_add(struct summary *summary, const struct study *study, const struct origin *origin,
                int process, struct err *err);

/* "driver", or the name of a framework's pool: the layer of an account. */
const char *summary_layer(const struct study *study, const struct account *account);

#endif
