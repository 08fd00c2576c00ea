/* SPDX-License-Identifier: MIT */
/*
 * Splits all bytes of a card at a failure into terms that add up to the card's total. Each byte
 * counts once. The terms are those of the ledger, with plain names, and the free bytes.
 *
 *     counted      from recorded calls, or as the driver reported in the call that failed
 *     NVML         as NVML reported each process to the program, when the allocation failed
 *     difference   between two samples of the card, less the bytes that were counted
 *     assumed      by a rule: a context is at most 1 GiB; the driver hands out multiples of 2 MiB
 */
#pragma once

#include "analyzer/analysis/ledger/ledger.h"
#include "analyzer/replay/history/history.h"

struct oom_term {
    const char *key, *text, *source;
    int64_t bytes; /* negative: the counted bytes are more than the card had in use */
};

enum { OOM_TERMS_MAX = 12 };
struct oom_sum {
    bool is_known; /* false: there is no sample of the card, and there are no terms */
    uint64_t total_bytes;
    struct oom_term terms[OOM_TERMS_MAX]; /* none is 0 except "free" */
    size_t count;
    uint64_t outside_bytes; /* this process's driver memory outside of pools; always known */
    /* the library that holds most of outside_bytes; "": the program itself */
    char outside_most[64];
    uint64_t outside_most_bytes;
    uint64_t mempools_bytes;    /* idle in the driver's stream-ordered pools */
    uint64_t graphs_idle_bytes; /* idle in the device's pool for graphs */
    uint64_t rounding_bytes;
    uint64_t managed_bytes;
    bool is_by_nvml;           /* copied from the ledger */
    int64_t unaccounted_bytes; /* the result of ledger_beyond_bytes */
};

/* Computes the sum at a failure. is_fresh: the card was sampled in the call that failed. */
int oom_sum_at(struct oom_sum *sum, const struct history *history, const struct device_use *use,
               const struct moment *moment, bool is_fresh, struct err *err);
