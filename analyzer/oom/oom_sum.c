/* SPDX-License-Identifier: MIT */
/* Sums the bytes of a card at a failure; see oom_sum.h. */
#include "oom_sum.h"

#include <stdio.h>

static void add_term(struct oom_sum *sum, const char *key, const char *text, const char *source,
                     int64_t bytes)
{
    if (bytes)
        sum->terms[sum->count++] =
            (struct oom_term){.key = key, .text = text, .source = source, .bytes = bytes};
}

static void add_counted(struct oom_sum *sum, const struct ledger *ledger)
{
    add_term(sum, "live", "live in the framework's pools", "counted",
             (int64_t)ledger_sum(ledger, LEDGER_pool_live));
    add_term(sum, "idle", "idle in pools", "counted",
             (int64_t)(ledger_sum(ledger, LEDGER_pool_cached) + sum->mempools_bytes +
                       sum->graphs_idle_bytes));
    add_term(sum, "graphs", "CUDA graphs' private pools", "counted",
             (int64_t)(ledger_sum(ledger, LEDGER_pool_graphs) + ledger_sum(ledger, LEDGER_graphs)));
    add_term(sum, "libraries", "other libraries", "counted",
             (int64_t)ledger_sum(ledger, LEDGER_library));
    add_term(sum, "program", "the program's own calls", "counted",
             (int64_t)(ledger_sum(ledger, LEDGER_program) + ledger_sum(ledger, LEDGER_unknown)));
    add_term(sum, "rounding", "rounding to 2 MiB", "assumed",
             (int64_t)ledger_sum(ledger, LEDGER_rounding));
    add_term(sum, "modules", "modules and limits", "difference",
             (int64_t)ledger_sum(ledger, LEDGER_modules));
}

/* A negative rest gets another text, because no owner holds less than nothing. */
static void add_beyond(struct oom_sum *sum, const char *key, const char *text,
                       const struct ledger *ledger)
{
    const int64_t bytes = ledger_beyond_bytes(ledger);
    add_term(sum, key, bytes < 0 ? "counted here, but not in use on the card" : text, "difference",
             bytes);
}

/* Adds what NVML reported to the program that each process holds. */
static void add_told(struct oom_sum *sum, const struct ledger *ledger)
{
    add_term(sum, "context", "the context", "NVML",
             (int64_t)ledger_sum(ledger, LEDGER_own_context));
    add_term(sum, "others", "other processes", "NVML", (int64_t)ledger_sum(ledger, LEDGER_others));
    add_beyond(sum, "unlisted", LEDGER_UNLISTED, ledger);
}

/* Adds the context and other processes. The first sample gave the two as one number. A context may
 * be larger than usual if the program raised a limit. */
static void add_looked(struct oom_sum *sum, const struct ledger *ledger)
{
    const uint64_t looked_bytes = ledger_sum(ledger, LEDGER_context);
    const uint64_t context_bytes = ledger_context_part(ledger, looked_bytes);
    const bool is_context = context_bytes == looked_bytes;
    add_term(sum, "context", is_context ? "the context" : "the context, at most",
             is_context ? "difference" : "assumed", (int64_t)context_bytes);
    add_term(sum, "others", "other processes, from the start, at least", "assumed",
             (int64_t)(looked_bytes - context_bytes));
    add_beyond(sum, "growth_or_others",
               ledger->managed_bytes ? "managed memory, this context's growth or other processes"
                                     : "this context's growth or other processes",
               ledger);
}

/* Finds the library that holds most. Terms are sorted by size, so the first one that matches is the
 * largest. */
static void find_outside(struct oom_sum *sum, const struct ledger *ledger)
{
    for (size_t i = 0; i < ledger->count; i++) {
        const struct ledger_term *term = &ledger->terms[i];
        const char *library = ledger_library(ledger, term);

        if (term->kind != LEDGER_library && term->kind != LEDGER_program &&
            term->kind != LEDGER_unknown)
            continue;
        sum->outside_bytes += term->bytes;
        if (sum->outside_most_bytes)
            continue;
        sum->outside_most_bytes = term->bytes;
        snprintf(sum->outside_most, sizeof sum->outside_most, "%s", library ? library : "");
    }
}

static void add_free(struct oom_sum *sum, const struct ledger *ledger, bool is_corrected)
{
    sum->terms[sum->count++] =
        (struct oom_term){.key = "free",
                          .text = "free",
                          .source = is_corrected ? "difference" : "counted",
                          .bytes = (int64_t)(ledger->total_bytes - ledger->used_bytes)};
}

int oom_sum_at(struct oom_sum *sum, const struct history *history, const struct device_use *use,
               const struct moment *moment, bool is_fresh, struct err *err)
{
    struct ledger ledger;
    *sum = (struct oom_sum){0};
    if (ledger_at(&ledger, history, use, moment, err))
        return -1;
    find_outside(sum, &ledger);
    sum->mempools_bytes = ledger_sum(&ledger, LEDGER_mempools);
    sum->graphs_idle_bytes = ledger_sum(&ledger, LEDGER_graphs_idle);
    sum->rounding_bytes = ledger_sum(&ledger, LEDGER_rounding);
    sum->managed_bytes = ledger.managed_bytes;
    sum->is_by_nvml = ledger.is_by_nvml;
    sum->unaccounted_bytes = ledger_beyond_bytes(&ledger);
    sum->is_known =
        ledger.is_asked && ledger.total_known && ledger.used_bytes <= ledger.total_bytes;
    if (sum->is_known) {
        sum->total_bytes = ledger.total_bytes;
        add_counted(sum, &ledger);
        if (ledger.is_by_nvml)
            add_told(sum, &ledger);
        else
            add_looked(sum, &ledger);
        add_free(sum, &ledger, !is_fresh);
    }
    ledger_release(&ledger);
    return 0;
}
