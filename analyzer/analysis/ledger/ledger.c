/* SPDX-License-Identifier: MIT */
/* The bytes of a card by owner; see ledger.h. */
#include "ledger.h"

#include <stdlib.h>

#include "analyzer/analysis/fragmentation/frag.h"
#include "analyzer/analysis/fragmentation/stretches.h"
#include "analyzer/replay/history/live_walk.h"
#include "analyzer/util/array.h"

static const struct ledger_words kinds[] = {
#define TERM(name, source, text) {#name, text, LEDGER_SOURCE_##source},
#define SOURCE(name, text)
#include "ledger_terms.def"
};

static const char *const sources[] = {
#define TERM(name, source, text)
#define SOURCE(name, text) #name,
#include "ledger_terms.def"
};

const struct ledger_words *ledger_words(enum ledger_kind kind)
{
    return &kinds[kind];
}

const char *ledger_source_key(enum ledger_source source)
{
    return sources[source];
}

/* --- terms --- */

static int add_bytes(struct ledger *ledger, const struct ledger_term *added, struct err *err)
{
    for (size_t i = 0; i < ledger->count && added->bytes; i++) {
        struct ledger_term *term = &ledger->terms[i];

        if (term->kind != added->kind || term->account != added->account ||
            term->library != added->library)
            continue;
        term->bytes += added->bytes;
        term->count += added->count;
        return 0;
    }
    if (!added->bytes)
        return 0;
    if (ARRAY_GROW(ledger->terms, ledger->capacity, ledger->count, err))
        return -1;
    ledger->terms[ledger->count++] = *added;
    return 0;
}

/* Adds bytes that belong to no block and no pool. */
static int add_rest(struct ledger *ledger, enum ledger_kind kind, uint64_t bytes, struct err *err)
{
    const struct ledger_term term = {.kind = kind, .account = HISTORY_NONE, .bytes = bytes};
    return add_bytes(ledger, &term, err);
}

uint64_t ledger_sum(const struct ledger *ledger, enum ledger_kind kind)
{
    uint64_t bytes = 0;
    for (size_t i = 0; i < ledger->count; i++)
        if (ledger->terms[i].kind == kind)
            bytes += ledger->terms[i].bytes;
    return bytes;
}

uint64_t ledger_context_part(const struct ledger *ledger, uint64_t bytes)
{
    return bytes <= LEDGER_CONTEXT_MOST_BYTES || ledger->limit.is_set ? bytes
                                                                      : LEDGER_CONTEXT_MOST_BYTES;
}

int64_t ledger_beyond_bytes(const struct ledger *ledger)
{
    return ledger->unaccounted_bytes + (int64_t)ledger_sum(ledger, LEDGER_growth);
}

const char *ledger_library(const struct ledger *ledger, const struct ledger_term *term)
{
    return term->library ? ledger->owners.names.texts[term->library] : NULL;
}

/* --- framework pools --- */

/* The bytes that a pool holds from the driver, and how many of them are live. */
struct pool_share {
    uint64_t held_bytes, mapped_bytes, live_bytes, live_count;
    uint64_t graph_bytes; /* free bytes in segments of graphs, for no other request */
};

struct pools {
    const struct history *history;
    const struct device_use *use;
    uint64_t index;
    struct pool_share *shares;  /* by account */
    struct pair_map by_address; /* account of each plain segment */
    uint32_t first_mapped;      /* first pool with virtual segments; HISTORY_NONE: no pool */
    uint64_t virtual_bytes;     /* of the VMM objects that pools use */
};

static bool is_pool_of(const struct pools *pools, uint32_t account)
{
    const struct account *known = &pools->history->accounts[account];
    return known->kind == ACCOUNT_pool && known->device == pools->use->device;
}

static int look_at_pool(struct pools *pools, uint32_t account, struct err *err)
{
    struct live_walk tensors = live_walk_begin(pools->history, account, pools->index);
    struct live_walk walk = tensors;
    struct pool_share *share = &pools->shares[account];
    const struct segment *segment;
    const struct block *block;
    while ((segment = live_walk_next_segment(&walk))) {
        if (segment->mapped)
            share->mapped_bytes += segment->size_bytes;
        else if (pair_map_put(&pools->by_address, 0, segment->address, account, err))
            return -1;
    }
    while ((block = live_walk_next(&tensors))) {
        share->live_bytes += block->size_bytes;
        share->live_count++;
    }
    return 0;
}

/* Counts the bytes in segments of graphs' private pools that no live tensor uses. */
static int look_at_graphs(struct pools *pools, uint32_t account, struct err *err)
{
    struct live_walk tensors = live_walk_begin(pools->history, account, pools->index);
    struct live_walk walk = tensors;
    struct stretches held = {0}, live = {0};
    const struct segment *segment;
    const struct block *block;
    int status = -1;
    while ((segment = live_walk_next_segment(&walk)))
        if (segment_is_of_graph(segment, pools->index) &&
            stretches_add(&held, segment->address, segment->size_bytes, false, err))
            goto out;
    while (held.count && (block = live_walk_next(&tensors)))
        if (stretches_add(&live, block->address, block->size_bytes, false, err))
            goto out;
    if (stretches_sort(&held, err) || stretches_sort(&live, err))
        goto out;
    pools->shares[account].graph_bytes = holes_between(&held, &live).total_bytes;
    status = 0;
out:
    stretches_release(&held);
    stretches_release(&live);
    return status;
}

static int look_at_pools(struct pools *pools, struct err *err)
{
    pools->shares = array_new(pools->history->account_count, sizeof *pools->shares, err);
    if (!pools->shares)
        return -1;
    for (uint32_t i = 0; i < pools->history->account_count; i++) {
        if (is_pool_of(pools, i) && (look_at_pool(pools, i, err) || look_at_graphs(pools, i, err)))
            return -1;
        if (pools->first_mapped == HISTORY_NONE && pools->shares[i].mapped_bytes)
            pools->first_mapped = i;
    }
    return 0;
}

/* Gives each pool as many bytes as it has mapped, until the bytes of VMM objects are used up. If
 * bytes remain, the first pool with virtual segments gets them. */
static void share_virtual_memory(struct pools *pools)
{
    uint64_t left_bytes = pools->virtual_bytes;
    for (uint32_t i = 0; i < pools->history->account_count; i++) {
        struct pool_share *share = &pools->shares[i];
        const uint64_t bytes = share->mapped_bytes < left_bytes ? share->mapped_bytes : left_bytes;

        share->held_bytes += bytes;
        left_bytes -= bytes;
    }
    if (pools->first_mapped != HISTORY_NONE)
        pools->shares[pools->first_mapped].held_bytes += left_bytes;
}

/* Adds the terms of the pools. If more bytes are live than a pool's segments hold, only the bytes
 * of the segments count as live, because the calls that made the other segments were not recorded.
 * */
static int add_pools(struct ledger *ledger, struct pools *pools, struct err *err)
{
    share_virtual_memory(pools);
    for (uint32_t i = 0; i < pools->history->account_count; i++) {
        const struct pool_share *share = &pools->shares[i];
        const uint64_t live_bytes =
            share->live_bytes < share->held_bytes ? share->live_bytes : share->held_bytes;
        const struct ledger_term live = {.kind = LEDGER_pool_live,
                                         .account = i,
                                         .bytes = live_bytes,
                                         .count = share->live_count};
        const uint64_t free_bytes = share->held_bytes - live_bytes;
        const uint64_t graph_bytes =
            share->graph_bytes < free_bytes ? share->graph_bytes : free_bytes;
        const struct ledger_term graphs = {
            .kind = LEDGER_pool_graphs, .account = i, .bytes = graph_bytes};
        const struct ledger_term cached = {
            .kind = LEDGER_pool_cached, .account = i, .bytes = free_bytes - graph_bytes};

        if (add_bytes(ledger, &live, err) || add_bytes(ledger, &graphs, err) ||
            add_bytes(ledger, &cached, err))
            return -1;
    }
    return 0;
}

/* --- the driver's memory --- */

/* True if the block is a segment of a pool. Its bytes are counted with the pool. */
static bool is_of_pool(struct pools *pools, const struct block *block)
{
    if (!block->is_segment)
        return false;
    if (block->memory == MEMORY_VMM) {
        if (pools->first_mapped == HISTORY_NONE)
            return false;
        pools->virtual_bytes += block->size_bytes;
        return true;
    }
    const uint32_t account = pair_map_get(&pools->by_address, 0, block->address);
    if (account == PAIR_MAP_NONE)
        return false;
    pools->shares[account].held_bytes += block->size_bytes;
    return true;
}

static int add_owned(struct ledger *ledger, const struct block *block, struct err *err)
{
    struct ledger_term term = {
        .kind = LEDGER_graphs, .account = HISTORY_NONE, .bytes = block->size_bytes, .count = 1};
    if (block->memory != MEMORY_GRAPH) {
        const int64_t owner = owners_find(&ledger->owners, site_stack(block->site_id), err);

        if (owner < 0)
            return -1;
        term.library = owner >= OWNER_LIBRARIES ? (uint32_t)owner : 0;
        term.kind = owner == OWNER_UNKNOWN   ? LEDGER_unknown
                    : owner == OWNER_PROGRAM ? LEDGER_program
                                             : LEDGER_library;
    }
    return add_bytes(ledger, &term, err);
}

static int add_driver_blocks(struct ledger *ledger, struct pools *pools, struct err *err)
{
    struct live_walk walk =
        live_walk_begin(pools->history, pools->use->accounts[ACCOUNT_device], pools->index);
    const struct block *block;
    while ((block = live_walk_next(&walk)))
        if (!is_of_pool(pools, block) && add_owned(ledger, block, err))
            return -1;
    return 0;
}

/* Adds the bytes that the driver holds in addition to live bytes: free bytes in its pools, and
 * bytes lost by rounding up. */
static int add_kept_by_driver(struct ledger *ledger, const struct frag *driver, struct err *err)
{
    const uint64_t graphs_bytes = driver->graph_mempool_free_bytes;
    const uint64_t mempools_bytes = driver->mempools_free_bytes - graphs_bytes;
    const uint64_t rounding_bytes = driver->free_bytes - driver->mempools_free_bytes;
    return add_rest(ledger, LEDGER_mempools, mempools_bytes, err) ||
                   add_rest(ledger, LEDGER_graphs_idle, graphs_bytes, err) ||
                   add_rest(ledger, LEDGER_rounding, rounding_bytes, err)
               ? -1
               : 0;
}

/* --- the card --- */

static const struct trace_device *find_trace_device(const struct trace *trace, int device)
{
    for (size_t i = 0; i < trace->device_count; i++)
        if (trace->devices[i].device == device)
            return &trace->devices[i];
    return NULL;
}

/* The smaller of `bytes`, and of what remains of the whole without the part. */
static uint64_t at_most(uint64_t bytes, uint64_t whole_bytes, uint64_t part_bytes)
{
    const uint64_t left_bytes = whole_bytes > part_bytes ? whole_bytes - part_bytes : 0;
    return bytes < left_bytes ? bytes : left_bytes;
}

/* Cuts a term so that this process holds no more than `most_bytes`. */
static void cut_term(struct ledger *ledger, enum ledger_kind kind, uint64_t most_bytes)
{
    for (size_t i = ledger->count; i-- > 0 && ledger->process_bytes > most_bytes;) {
        struct ledger_term *term = &ledger->terms[i];
        const uint64_t excess_bytes = ledger->process_bytes - most_bytes;
        const uint64_t cut_bytes = term->bytes < excess_bytes ? term->bytes : excess_bytes;

        if (term->kind != kind)
            continue;
        term->bytes -= cut_bytes;
        ledger->process_bytes -= cut_bytes;
        if (!term->bytes)
            *term = ledger->terms[--ledger->count];
    }
}

/*
 * Cuts the terms that may be out of date. A stream-ordered pool reports its size only at some
 * calls, and gives memory back without a call, so it gets only what the context leaves. The pool
 * for graphs and rounding get what the other terms of this process leave.
 */
static void cut_kept(struct ledger *ledger, uint64_t context_bytes)
{
    const uint64_t used_bytes = ledger->used_bytes;
    cut_term(ledger, LEDGER_mempools, used_bytes > context_bytes ? used_bytes - context_bytes : 0);
    cut_term(ledger, LEDGER_graphs_idle, used_bytes);
    cut_term(ledger, LEDGER_rounding, used_bytes);
}

/* Adds the terms of the context and, if they are known, of other processes. */
static int add_outside(struct ledger *ledger, const struct pools *pools, uint64_t context_bytes,
                       struct err *err)
{
    const struct failure *failure =
        history_failure_at(pools->history, pools->use->device, pools->index);
    enum ledger_kind context = LEDGER_context;
    uint64_t others_bytes = 0;
    if (failure && failure->processes.is_known) {
        const uint64_t own_bytes = failure->processes.own_bytes;
        ledger->is_by_nvml = true;
        context = LEDGER_own_context;
        context_bytes = own_bytes > ledger->process_bytes ? own_bytes - ledger->process_bytes : 0;
        others_bytes = failure->processes.others_bytes;
    }
    /* The context and other processes may have given back memory since, or they were reported at
     * another moment than the card's sample. Therefore they get at most what is left. */
    others_bytes = at_most(others_bytes, ledger->used_bytes, ledger->process_bytes);
    context_bytes =
        at_most(context_bytes, ledger->used_bytes, ledger->process_bytes + others_bytes);
    const int64_t beyond_bytes =
        (int64_t)(ledger->used_bytes - ledger->process_bytes - context_bytes - others_bytes);
    const bool is_growth = beyond_bytes > 0 && !ledger->is_by_nvml;
    ledger->unaccounted_bytes = is_growth ? 0 : beyond_bytes;
    return add_rest(ledger, context, context_bytes, err) ||
                   add_rest(ledger, LEDGER_others, others_bytes, err) ||
                   add_rest(ledger, LEDGER_growth, is_growth ? (uint64_t)beyond_bytes : 0, err)
               ? -1
               : 0;
}

/* Adds the rest of the card: its bytes in use, less what this process is known to hold, belong to
 * the context and to other processes. */
static int add_card(struct ledger *ledger, const struct pools *pools, uint64_t held_bytes,
                    struct err *err)
{
    const struct memory_sample *sample =
        history_sample_at(pools->history, pools->use->device, pools->index);
    const struct trace_device *device =
        find_trace_device(pools->history->trace, pools->use->device);
    const bool looked = device && device->context_known;
    uint64_t context_bytes = looked ? device->context_bytes : 0;
    struct card_free card = {0};
    if (sample &&
        card_free_since(&card, pools->history, pools->use, sample, pools->index, held_bytes, err))
        return -1;
    card.known = card.known && card.total_bytes; /* an imported trace may know only free_bytes */
    ledger->is_asked = card.known;
    ledger->used_known = card.known || looked;
    ledger->total_bytes = card.known ? card.total_bytes : device ? device->total_bytes : 0;
    ledger->total_known = ledger->total_bytes != 0;
    if (!ledger->used_known)
        return 0;
    ledger->used_bytes =
        card.known ? card.total_bytes - card.free_bytes : ledger->process_bytes + context_bytes;
    if (ledger->total_known && ledger->used_bytes > ledger->total_bytes)
        ledger->used_bytes = ledger->total_bytes;
    cut_kept(ledger, context_bytes);
    if (!looked && ledger->used_bytes > ledger->process_bytes)
        context_bytes = ledger->used_bytes - ledger->process_bytes;
    return add_outside(ledger, pools, context_bytes, err);
}

static uint64_t live_bytes_of(const struct pools *pools, enum account_kind kind)
{
    struct live_walk walk =
        live_walk_begin(pools->history, pools->use->accounts[kind], pools->index);
    const struct block *block;
    uint64_t bytes = 0;
    while (pools->history->accounts[walk.account].has_begun && (block = live_walk_next(&walk)))
        bytes += block->size_bytes;
    return bytes;
}

ORDER_BY(compare_terms, struct ledger_term, FALLING(bytes), RISING(kind), RISING(account),
         RISING(library));

static int add_all(struct ledger *ledger, struct pools *pools, struct err *err)
{
    const uint64_t modules_bytes = card_modules_bytes(pools->history, pools->use, pools->index);
    struct frag driver;
    if (frag_at(&driver, pools->history, pools->use->accounts[ACCOUNT_device], pools->index, err) ||
        look_at_pools(pools, err) || add_driver_blocks(ledger, pools, err) ||
        add_pools(ledger, pools, err) || add_kept_by_driver(ledger, &driver, err) ||
        add_rest(ledger, LEDGER_modules, modules_bytes, err))
        return -1;
    for (size_t i = 0; i < ledger->count; i++)
        ledger->process_bytes += ledger->terms[i].bytes;
    ledger->limit = card_limit_at(pools->history, pools->use, pools->index);
    ledger->managed_bytes = live_bytes_of(pools, ACCOUNT_managed);
    ledger->imported_bytes = live_bytes_of(pools, ACCOUNT_imported);
    return add_card(ledger, pools, driver.reserved_bytes + modules_bytes, err);
}

struct moment ledger_peak(const struct history *history, const struct device_use *use)
{
    return history->accounts[use->accounts[ACCOUNT_device]].fullest;
}

int ledger_at(struct ledger *ledger, const struct history *history, const struct device_use *use,
              const struct moment *moment, struct err *err)
{
    struct pools pools = {
        .history = history, .use = use, .index = moment->index, .first_mapped = HISTORY_NONE};
    *ledger = (struct ledger){.moment = *moment};
    const int status =
        owners_init(&ledger->owners, history->trace, err) || add_all(ledger, &pools, err) ? -1 : 0;
    SORT(ledger->terms, ledger->count, compare_terms);
    free(pools.shares);
    pair_map_release(&pools.by_address);
    if (status)
        ledger_release(ledger);
    return status;
}

void ledger_release(struct ledger *ledger)
{
    free(ledger->terms);
    owners_release(&ledger->owners);
    *ledger = (struct ledger){0};
}
