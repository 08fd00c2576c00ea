/* SPDX-License-Identifier: MIT */
/*
 * All bytes of a card at a failure, each once, so that they add up to what the card has: the terms
 * of the ledger, what a person calls them here, and what is free. It must not know why an allocation
 * failed.
 *
 *     counted      from recorded calls, or as the driver told in the call that failed
 *     NVML         what it told the program of each process, when the allocation failed
 *     traces       what the other processes' own traces count, with a context each
 *     difference   between two answers of the card, less what was counted
 *     assumed      by a rule: a context is at most 1 GiB, the driver hands out pieces of 2 MiB
 */
#ifndef GPUMEMTRACE_ANALYZER_OOM_OOM_SUM_H
#define GPUMEMTRACE_ANALYZER_OOM_OOM_SUM_H

#include "analyzer/analysis/ledger/ledger.h"
#include "analyzer/replay/history/history.h"

/* Contexts of 287 to 667 MB were measured, by card and driver; more than this belongs to others. */
#define OOM_CONTEXT_MOST_BYTES (UINT64_C(1) << 30)

struct oom_term {
    const char *key, *text, *source;
    int64_t bytes; /* negative: more is counted than the card had in use */
};

enum { OOM_TERMS_MAX = 12 };
struct oom_sum {
    bool is_known; /* false: the card said nothing; no terms then */
    uint64_t total_bytes;
    struct oom_term terms[OOM_TERMS_MAX]; /* none is 0, but what is free */
    size_t count;
    uint64_t outside_bytes; /* this process's driver memory that is no pool's: known in any case */
    char outside_most[64];  /* the library that holds most of that; "": the program does */
    uint64_t outside_most_bytes;
    uint64_t mempools_bytes; /* idle in the driver's pools */
    uint64_t managed_bytes;
    enum ledger_outside outside;
    int64_t unaccounted_bytes; /* ledger_beyond_bytes */
};

/* At a failure. is_fresh: the card told in the call that failed. */
int oom_sum_at(struct oom_sum *sum, const struct history *history, const struct device_use *use,
               const struct moment *moment, bool is_fresh, struct err *err);

#endif
