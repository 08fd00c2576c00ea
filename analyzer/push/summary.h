/* SPDX-License-Identifier: MIT */
/*
 * The summary of a rank as rows: a few kilobytes per trace. The figures are those of `report` and
 * other commands.
 */
#pragma once

#include "analyzer/analysis/study.h"
#include "analyzer/fleet/rows.h"
#include "origin.h"

/* If a moment has more sites, one row "(other sites)" has the sums of the rest. If there are more
 * phases, only the phases that allocated most are kept. */
enum { SUMMARY_SITES = 40, SUMMARY_PHASES = 100 };

struct summary {
    struct rows tables[FLEET_TABLES]; /* rows of the tables of kind FLEET_SUMMARY, except push */
};

/* The STUDY_NEEDS_ flags that a summary needs. */
extern const unsigned summary_needs;

void summary_init(struct summary *summary, const struct fleet_key *key);
void summary_release(struct summary *summary);
static inline bool summary_has(enum fleet_table table)
{
    return fleet_tables[table].kind == FLEET_SUMMARY && table != FLEET_push;
}

/* Adds the rows of one process of the rank. */
int summary_add(struct summary *summary, const struct study *study, const struct origin *origin,
                int process, struct err *err);

/* Returns the layer of an account: "driver", or the name of a framework's pool. */
const char *summary_layer(const struct study *study, const struct account *account);
