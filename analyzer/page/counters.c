/* SPDX-License-Identifier: MIT */
/* The counters of a device's accounts and pools over the whole run, as a document. */
#include "docs.h"

#include <inttypes.h>
#include <stdio.h>

#include "analyzer/analysis/frag.h"

static const struct {
    enum memory_account account;
    const char *key, *title;
} accounts[] = {
    {ACCOUNT_device, "driver", "driver"},
    {ACCOUNT_managed, "managed", "managed"},
    {ACCOUNT_host, "host", "pinned host"},
    {ACCOUNT_imported, "imported", "imported"},
    {ACCOUNT_context, "context", "modules, limits"},
};
enum { ACCOUNTS_SHOWN = sizeof accounts / sizeof *accounts };

static const char *const memory_texts[] = {
#define MEMORY(name, layer, account, text) text,
#include "gpumemtrace/schema/memory.def"
};

const char *docs_layer_name(const struct study *study, const struct stock *stock, char *buffer)
{
    const char *pool = study_pool(study, stock);

    if (pool)
        snprintf(buffer, DOCS_NAME_BYTES, "%s pool", pool);
    else
        snprintf(buffer, DOCS_NAME_BYTES, "%s", study_layer(stock));
    return buffer;
}

void docs_layer(struct doc *doc, const struct study *study, const struct view *view,
                const struct stock *stock)
{
    char name[DOCS_NAME_BYTES];

    if (view->people) {
        doc_text(doc, NULL, "Layer", docs_layer_name(study, stock, name));
        return;
    }
    doc_text(doc, "layer", NULL, study_layer(stock));
    doc_text(doc, "pool", NULL, study_pool(study, stock));
}

static void add_peak_moment(struct doc *doc, const struct study *study, const struct stock *stock,
                            const char *time_label)
{
    if (stock->peak_index == HISTORY_NONE) {
        doc_null(doc, "peak_time_ns", time_label, DOC_NS);
        doc_null(doc, "peak_seq", NULL, DOC_COUNT);
        return;
    }
    doc_integer(doc, "peak_time_ns", time_label, DOC_NS,
                (int64_t)study_time_ns(study, stock->peak_index));
    doc_count(doc, "peak_seq", NULL, study->trace.events[stock->peak_index].seq);
}

static void add_account(struct doc *doc, const struct study *study, const char *key,
                        const struct stock *stock)
{
    doc_object_begin(doc, key, NULL);
    doc_bytes(doc, "peak_bytes", NULL, stock->peak_bytes);
    add_peak_moment(doc, study, stock, NULL);
    doc_bytes(doc, "live_at_exit_bytes", NULL, stock->live_bytes);
    doc_count(doc, "allocations", NULL, stock->allocations_count);
    doc_count(doc, "frees", NULL, stock->frees_count);
    doc_count(doc, "failed", NULL, stock->failed_count);
    doc_count(doc, "implicit_frees", NULL, stock->implicit_frees_count);
    doc_object_end(doc);
}

/* The driver gives its pools no names. */
static void add_mempool_name(struct doc *doc, const struct mempool *mempool)
{
    if (mempool->memory == MEMORY_GRAPH)
        doc_text(doc, "name", NULL, "graph memory");
    else
        doc_textf(doc, "name", NULL, "0x%" PRIx64, mempool->handle);
    doc_text(doc, "memory", NULL, memory_texts[mempool->memory]);
}

static void add_mempools(struct doc *doc, const struct study *study, const struct device_use *use)
{
    const struct history *history = &study->history;

    doc_list_begin(doc, "mempools", NULL);
    for (size_t i = 0; i < history->mempool_count; i++) {
        const struct mempool *mempool = &history->mempools[i];

        if (mempool->device != use->device)
            continue;
        doc_row_begin(doc);
        add_mempool_name(doc, mempool);
        doc_bytes(doc, "peak_used_bytes", NULL,
                  mempool->reported ? mempool->peak_used_bytes : mempool->peak_live_bytes);
        doc_known_bytes(doc, "peak_reserved_bytes", NULL, mempool->reported,
                        mempool->peak_reserved_bytes);
        doc_row_end(doc);
    }
    doc_list_end(doc);
}

static int add_pools(struct doc *doc, const struct study *study, const struct device_use *use,
                     struct err *err)
{
    const struct history *history = &study->history;

    doc_list_begin(doc, "pools", NULL);
    for (uint32_t i = 0; i < history->stock_count; i++) {
        const struct stock *stock = &history->stocks[i];
        uint64_t reserved_bytes;
        bool known;

        if (stock->account != ACCOUNT_pool || stock->device != use->device)
            continue;
        if (frag_peak_reserved(history, i, &reserved_bytes, &known, err))
            return -1;
        doc_row_begin(doc);
        doc_text(doc, "name", NULL, study_pool(study, stock));
        doc_bytes(doc, "peak_live_bytes", NULL, stock->peak_bytes);
        doc_known_bytes(doc, "peak_reserved_bytes", NULL, known, reserved_bytes);
        add_peak_moment(doc, study, stock, NULL);
        doc_bytes(doc, "live_at_exit_bytes", NULL, stock->live_bytes);
        doc_count(doc, "allocations", NULL, stock->allocations_count);
        doc_count(doc, "frees", NULL, stock->frees_count);
        doc_count(doc, "failed", NULL, stock->failed_count);
        doc_row_end(doc);
    }
    doc_list_end(doc);
    return 0;
}

/* --- for people: one table --- */

static void add_line(struct doc *doc, const struct study *study, const char *name,
                     const struct stock *stock)
{
    doc_row_begin(doc);
    doc_text(doc, NULL, "Memory", name);
    doc_bytes(doc, NULL, "Peak", stock->peak_bytes);
    add_peak_moment(doc, study, stock, "At");
    doc_bytes(doc, NULL, "Left at exit", stock->live_bytes);
    doc_count(doc, NULL, "Allocations", stock->allocations_count);
    doc_count(doc, NULL, "Frees", stock->frees_count);
    doc_count(doc, NULL, "With context", stock->implicit_frees_count);
    doc_count(doc, NULL, "Failed", stock->failed_count);
    doc_row_end(doc);
}

/* Most modules take nothing that can be measured: they are no line of their own. */
static bool is_idle(const struct stock *stock)
{
    if (stock->account == ACCOUNT_context)
        return !stock->peak_bytes;
    return !stock->allocations_count && !stock->failed_count;
}

static void add_table(struct doc *doc, const struct study *study, const struct device_use *use)
{
    const struct history *history = &study->history;
    char name[DOCS_NAME_BYTES];

    doc_list_begin(doc, NULL, NULL);
    for (size_t i = 0; i < history->stock_count; i++) {
        const struct stock *stock = &history->stocks[i];

        if (stock->account == ACCOUNT_pool && stock->device == use->device)
            add_line(doc, study, docs_layer_name(study, stock, name), stock);
    }
    for (size_t i = 0; i < ACCOUNTS_SHOWN; i++) {
        const struct stock *stock = &history->stocks[use->stocks[accounts[i].account]];

        if (accounts[i].account == ACCOUNT_device || !is_idle(stock))
            add_line(doc, study, accounts[i].title, stock);
    }
    doc_list_end(doc);
}

int docs_counters(struct doc *doc, const struct study *study, const struct device_use *use,
                  const struct view *view, struct err *err)
{
    if (view->people) {
        add_table(doc, study, use);
        return 0;
    }
    for (size_t i = 0; i < ACCOUNTS_SHOWN; i++)
        add_account(doc, study, accounts[i].key,
                    &study->history.stocks[use->stocks[accounts[i].account]]);
    add_mempools(doc, study, use);
    return add_pools(doc, study, use, err);
}
