/* SPDX-License-Identifier: MIT */
/* Counters of a device's accounts and pools over the whole run, and the names of layers. */
#include "parts.h"

#include <inttypes.h>
#include <stdio.h>

#include "analyzer/analysis/fragmentation/frag.h"
#include "analyzer/render/units.h"

static const struct {
    enum account_kind kind;
    const char *key, *title;
} shown[] = {
    {ACCOUNT_device, "driver", "driver"},
    {ACCOUNT_managed, "managed", "managed"},
    {ACCOUNT_host, "host", "pinned host"},
    {ACCOUNT_imported, "imported", "imported"},
    {ACCOUNT_context, "context", "modules, limits"},
};
enum { KINDS_SHOWN = sizeof shown / sizeof *shown };

static const char *const memory_texts[] = {
#define MEMORY(name, layer, account, text) text,
#include "gpumemtrace/schema/memory.def"
};

const char *page_layer_name(const struct study *study, const struct account *account, char *buffer)
{
    const char *pool = study_pool(study, account);
    if (pool)
        snprintf(buffer, PAGE_LAYER_BYTES, "%s pool", pool);
    else
        snprintf(buffer, PAGE_LAYER_BYTES, "%s%s", account->kind == ACCOUNT_host ? "pinned " : "",
                 study_layer(account));
    return buffer;
}

const char *page_of_card(char out[PAGE_CLAUSE_BYTES], uint64_t card_bytes)
{
    if (card_bytes)
        snprintf(out, PAGE_CLAUSE_BYTES, " of %s", BYTES_TEXT(card_bytes));
    return out;
}

const char *page_after_start(char out[PAGE_CLAUSE_BYTES], const struct study *study,
                             uint64_t time_ns)
{
    if (study_has_times(study))
        snprintf(out, PAGE_CLAUSE_BYTES, ", %s after the start", DURATION_TEXT((int64_t)time_ns));
    return out;
}

void page_layer(struct doc *doc, const struct study *study, const struct account *account,
                const char *label)
{
    doc_text(doc, "layer", label, study_layer(account));
    doc_words(doc, "%s", LAYER_TEXT(study, account));
    doc_text(doc_detail(doc), "pool", "Pool", study_pool(study, account));
}

/* --- every figure --- */

void page_time(struct doc *doc, const struct study *study, const char *key, const char *label,
               uint64_t time_ns)
{
    doc_known_integer(doc, key, label, DOC_NS, study_has_times(study), (int64_t)time_ns);
}

static void add_peak_moment(struct doc *doc, const struct study *study,
                            const struct account *account)
{
    if (account->peak.index == INDEX_NONE) {
        doc_null(doc, "peak_time_ns", "At", DOC_NS);
        doc_null(doc_detail(doc), "peak_seq", "Event", DOC_COUNT);
        return;
    }
    page_time(doc, study, "peak_time_ns", "At", account->peak.time_ns);
    doc_count(doc_detail(doc), "peak_seq", "Event", account->peak.seq);
}

static void add_counts(struct doc *doc, const struct study *study, const struct account *account,
                       bool known)
{
    doc_known_count(doc, "allocations", "Allocations", known && !study_lacks(study, LACK_blocks),
                    account->allocations_count);
    doc_known_count(doc, "frees", "Frees", known && !study_lacks(study, LACK_frees),
                    account->frees_count);
    doc_known_count(doc, "failed", "Failed", known && !study_lacks(study, LACK_failures),
                    account->failed_count);
}

static void add_account(struct doc *doc, const struct study *study, const char *key,
                        const char *heading, const struct account *account)
{
    const bool known = history_knows(&study->history, account);
    doc_object_begin(doc_detail(doc), key, heading);
    doc_known_bytes(doc, "peak_bytes", "Peak", known, account->peak_bytes);
    add_peak_moment(doc, study, account);
    doc_known_bytes(doc, "live_at_exit_bytes", "Left at exit", known, account->live_bytes);
    add_counts(doc, study, account, known);
    doc_known_count(doc, "implicit_frees", "With context", !history_is_imported(&study->history),
                    account->implicit_frees_count);
    doc_object_end(doc);
}

/* Adds the handle of a pool, because the driver gives its pools no names. */
static void add_mempool_name(struct doc *doc, const struct mempool *mempool)
{
    if (mempool->memory == MEMORY_GRAPH)
        doc_text(doc, "name", "Pool", "graph memory");
    else
        doc_textf(doc, "name", "Pool", "0x%" PRIx64, mempool->handle);
    doc_text(doc, "memory", "Memory", memory_texts[mempool->memory]);
}

static void add_mempool_list(struct doc *doc, const struct study *study,
                             const struct device_use *use)
{
    const struct history *history = &study->history;
    doc_list_begin(doc_detail(doc), "mempools", "The driver's pools");
    for (size_t i = 0; i < history->mempool_count; i++) {
        const struct mempool *mempool = &history->mempools[i];

        if (mempool->device != use->device)
            continue;
        doc_row_begin(doc);
        add_mempool_name(doc, mempool);
        doc_bytes(doc, "peak_used_bytes", "Peak",
                  mempool->reported ? mempool->peak_used_bytes : mempool->peak_live_bytes);
        doc_known_bytes(doc, "peak_reserved_bytes", "Peak reserved", mempool->reported,
                        mempool->peak_reserved_bytes);
        doc_row_end(doc);
    }
    doc_list_end(doc);
}

static void add_pool(struct doc *doc, const struct study *study, const struct account *account,
                     uint64_t reserved_bytes, bool reserved_known)
{
    doc_row_begin(doc);
    doc_text(doc, "name", "Pool", study_pool(study, account));
    doc_bytes(doc, "peak_live_bytes", "Peak", account->peak_bytes);
    doc_known_bytes(doc, "peak_reserved_bytes", "Peak reserved", reserved_known, reserved_bytes);
    add_peak_moment(doc, study, account);
    doc_bytes(doc, "live_at_exit_bytes", "Left at exit", account->live_bytes);
    add_counts(doc, study, account, true);
    doc_row_end(doc);
}

static void add_pool_list(struct doc *doc, const struct study *study, const struct device_use *use)
{
    const struct history *history = &study->history;
    doc_list_begin(doc_detail(doc), "pools", "Pools of frameworks");
    for (uint32_t i = 0; i < history->account_count && doc_takes(doc, DOC_BOTH); i++) {
        const struct account *account = &history->accounts[i];
        uint64_t reserved_bytes;

        if (account->kind != ACCOUNT_pool || account->device != use->device)
            continue;
        const bool known = frag_peak_reserved(account, &reserved_bytes);
        add_pool(doc, study, account, reserved_bytes, known);
    }
    doc_list_end(doc);
}

/* --- a summary: one table --- */

static void add_counter_row(struct doc *doc, const struct study *study, const char *name,
                            const struct account *account)
{
    doc_row_begin(doc);
    doc_text(doc, NULL, "Memory", name);
    doc_bytes(doc, NULL, "Peak", account->peak_bytes);
    add_peak_moment(doc, study, account);
    doc_bytes(doc, NULL, "Left at exit", account->live_bytes);
    doc_known_count(doc, NULL, "Allocations", !study_lacks(study, LACK_blocks),
                    account->allocations_count);
    doc_known_count(doc, NULL, "Frees", !study_lacks(study, LACK_frees), account->frees_count);
    doc_known_count(doc_spare(doc), NULL, "With context", !history_is_imported(&study->history),
                    account->implicit_frees_count);
    doc_known_count(doc, NULL, "Failed", !study_lacks(study, LACK_failures), account->failed_count);
    doc_row_end(doc);
}

/* True if the account has nothing to show. A module (ACCOUNT_context) is judged by its bytes,
 * because most modules take no memory that can be measured. */
static bool is_idle(const struct account *account)
{
    if (account->kind == ACCOUNT_context)
        return !account->peak_bytes;
    return !account->allocations_count && !account->failed_count;
}

static void add_counter_table(struct doc *doc, const struct study *study,
                              const struct device_use *use)
{
    const struct history *history = &study->history;
    doc_list_begin(doc_summary(doc), NULL, NULL);
    for (size_t i = 0; i < history->account_count; i++) {
        const struct account *account = &history->accounts[i];

        if (account->kind == ACCOUNT_pool && account->device == use->device)
            add_counter_row(doc, study, LAYER_TEXT(study, account), account);
    }
    for (size_t i = 0; i < KINDS_SHOWN; i++) {
        const struct account *account = &history->accounts[use->accounts[shown[i].kind]];

        if (shown[i].kind == ACCOUNT_device ? history_knows(&study->history, account)
                                            : !is_idle(account))
            add_counter_row(doc, study, shown[i].title, account);
    }
    doc_list_end(doc);
}

int page_counters(struct doc *doc, const struct study *study, const struct device_use *use,
                  const struct view *view, struct err *err)
{
    (void)view, (void)err;
    add_counter_table(doc, study, use);
    for (size_t i = 0; i < KINDS_SHOWN; i++)
        add_account(doc, study, shown[i].key, shown[i].title,
                    &study->history.accounts[use->accounts[shown[i].kind]]);
    add_mempool_list(doc, study, use);
    add_pool_list(doc, study, use);
    return 0;
}
