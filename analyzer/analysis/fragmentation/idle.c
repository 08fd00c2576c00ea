/* SPDX-License-Identifier: MIT */
/* The cause of idle memory; see idle.h. */
#include "idle.h"

#include <stdio.h>
#include <stdlib.h>

#include "pins.h"
#include "analyzer/util/array.h"
#include "analyzer/thresholds/thresholds.h"

/* The pieces of a pool, and those among them whose idle bytes have the cause. */
struct choice {
    const struct segment_list *pieces;
    bool *chosen; /* by number of the piece */
    uint64_t bytes;
};

static void choose(struct choice *choice, size_t number, bool is_chosen)
{
    const struct pool_segment *piece = &choice->pieces->items[number];
    choice->chosen[number] = is_chosen && !piece->is_of_graph;
    choice->bytes += choice->chosen[number] ? piece->free_bytes : 0;
}

static void choose_other_streams(struct choice *choice, uint64_t main_stream)
{
    choice->bytes = 0;
    for (size_t i = 0; i < choice->pieces->count; i++)
        choose(choice, i, choice->pieces->items[i].stream != main_stream);
}

static void choose_whole(struct choice *choice)
{
    choice->bytes = 0;
    for (size_t i = 0; i < choice->pieces->count; i++)
        choose(choice, i, !choice->pieces->items[i].stranded_bytes);
}

ORDER_POINTERS_BY(compare_begins, struct pool_segment, FALLING(begin_index), RISING(size_bytes));

/* Chooses whole segments that are smaller than a later one, or than the request at this moment. A
 * request may span several mappings, so a mapping is never too small. */
static int choose_outgrown(struct choice *choice, uint64_t largest_bytes, struct err *err)
{
    const struct segment_list *pieces = choice->pieces;
    const struct pool_segment **latest_first = array_new(pieces->count, sizeof *latest_first, err);
    if (!latest_first)
        return -1;
    for (size_t i = 0; i < pieces->count; i++)
        latest_first[i] = &pieces->items[i];
    SORT(latest_first, pieces->count, compare_begins);
    choice->bytes = 0;
    for (size_t i = 0; i < pieces->count; i++) {
        const struct pool_segment *piece = latest_first[i];

        choose(choice, (size_t)(piece - pieces->items),
               !piece->mapped && !piece->stranded_bytes && piece->size_bytes < largest_bytes);
        if (piece->size_bytes > largest_bytes)
            largest_bytes = piece->size_bytes;
    }
    free(latest_first);
    return 0;
}

/* Finds the stream that works at the moment: the one with the most live bytes. Returns the number
 * of other streams with idle memory, or 0 if the stream of a segment is unknown. */
static size_t find_other_streams(const struct pool_stream_list *streams, uint64_t *main_stream)
{
    const struct pool_stream *main = &streams->items[0];
    size_t count = 0;
    for (size_t i = 0; i < streams->count; i++) {
        if (streams->items[i].stream == STREAM_UNKNOWN)
            return 0;
        if (streams->items[i].live_bytes > main->live_bytes)
            main = &streams->items[i];
        count += streams->items[i].free_bytes > 0;
    }
    *main_stream = main->stream;
    return count - (count && main->free_bytes);
}

/* True if an earlier peak of live bytes needed so much of what is reserved that segments into which
 * later requests did not fit are less than half of the idle memory. The others were full then. The
 * peak did not fill chosen segments that are younger: it may have filled some that are gone. */
static bool was_needed(const struct idle *idle, const struct choice *choice,
                       const struct account *own, uint64_t index)
{
    const uint64_t half_bytes = (idle->frag.free_bytes - idle->frag.stranded_bytes) / 2;
    const uint64_t reserved_bytes = idle->frag.reserved_bytes;
    uint64_t younger_bytes = 0;
    for (size_t i = 0; i < choice->pieces->count; i++)
        if (choice->chosen[i] && choice->pieces->items[i].begin_index > own->peak.index)
            younger_bytes += choice->pieces->items[i].free_bytes;
    return own->peak.index <= index && own->peak_bytes <= reserved_bytes &&
           reserved_bytes - own->peak_bytes <= half_bytes && younger_bytes <= half_bytes;
}

static int find_cause(struct idle *idle, struct choice *choice, const struct account *own,
                      uint64_t index, uint64_t request_bytes, struct err *err)
{
    const uint64_t half_bytes = idle->frag.free_bytes / 2;
    struct pool_stream_list streams;
    uint64_t main_stream;
    idle->cause = IDLE_STRANDED;
    if (idle->frag.stranded_bytes >= half_bytes)
        return 0;
    if (pool_streams_find(&streams, choice->pieces, err))
        return -1;
    idle->streams_count = find_other_streams(&streams, &main_stream);
    if (idle->streams_count)
        choose_other_streams(choice, main_stream);
    pool_streams_release(&streams);
    idle->cause = IDLE_BY_STREAMS;
    if (choice->bytes > half_bytes)
        return 0;
    if (choose_outgrown(choice, request_bytes, err))
        return -1;
    idle->cause = IDLE_OUTGROWN;
    if (choice->bytes > (idle->frag.free_bytes - idle->frag.stranded_bytes) / 2 &&
        (request_bytes || !was_needed(idle, choice, own, index)))
        return 0;
    idle->cause = IDLE_CACHED;
    choose_whole(choice);
    return 0;
}

/* Names the line that requested most of the chosen bytes. */
static int find_line(struct idle *idle, const struct choice *choice, struct symbols *symbols,
                     struct err *err)
{
    const struct segment_list *pieces = choice->pieces;
    uint64_t *sites = array_new(pieces->count + 1, sizeof *sites, err);
    uint64_t *bytes_by_row = array_new(pieces->count + 1, sizeof *bytes_by_row, err);
    struct blame blame = {0};
    size_t count = 0;
    int status = -1;
    for (size_t i = 0; sites && i < pieces->count; i++)
        if (choice->chosen[i])
            sites[count++] = pieces->items[i].site_id;
    if (!sites || !bytes_by_row || blame_sites(&blame, symbols, sites, count, err))
        goto out;
    for (size_t i = 0; i < pieces->count; i++) {
        if (!choice->chosen[i])
            continue;
        const struct blamed *blamed = blame_of(&blame, pieces->items[i].site_id);
        bytes_by_row[blamed->row] += pieces->items[i].free_bytes;
        if (!blamed->is_known || bytes_by_row[blamed->row] <= idle->label_bytes)
            continue;
        idle->label_bytes = bytes_by_row[blamed->row];
        snprintf(idle->label, sizeof idle->label, "%s", blamed->label);
    }
    status = 0;
out:
    blame_release(&blame);
    free(sites);
    free(bytes_by_row);
    return status;
}

static int explain_pool(struct idle *idle, const struct segment_list *pieces,
                        struct symbols *symbols, const struct account *own, uint64_t index,
                        uint64_t request_bytes, struct err *err)
{
    struct choice choice = {.pieces = pieces,
                            .chosen = array_new(pieces->count + 1, sizeof *choice.chosen, err)};
    int status = -1;
    if (!choice.chosen || find_cause(idle, &choice, own, index, request_bytes, err))
        goto out;
    idle->bytes = choice.bytes;
    if (idle->cause == IDLE_STRANDED) {
        idle->bytes = idle->frag.stranded_bytes;
        status = 0;
    } else {
        status = find_line(idle, &choice, symbols, err);
    }
out:
    free(choice.chosen);
    return status;
}

int idle_at(struct idle *idle, const struct history *history, struct symbols *symbols,
            uint32_t account, uint64_t index, uint64_t request_bytes, struct err *err)
{
    struct segment_list pieces;
    *idle = (struct idle){0};
    if (frag_at(&idle->frag, history, account, index, err))
        return -1;
    const struct frag *frag = &idle->frag;
    const bool is_stranded = frag->stranded_bytes >= frag->free_bytes / 2;
    idle->cause = is_stranded ? IDLE_STRANDED : IDLE_CACHED;
    idle->bytes = is_stranded ? frag->stranded_bytes : frag->free_bytes - frag->stranded_bytes;
    if (history->accounts[account].kind != ACCOUNT_pool || !frag->free_bytes)
        return 0;
    if (segments_pieces_at(&pieces, history, account, index, err))
        return -1;
    const int status = explain_pool(idle, &pieces, symbols, &history->accounts[account], index,
                                    request_bytes, err);
    segments_release(&pieces);
    return status;
}

bool idle_is_little(const struct frag *frag, uint64_t card_bytes)
{
    return frag->free_bytes <=
           (card_bytes ? card_bytes : frag->reserved_bytes) / IDLE_FLOOR_DIVISOR;
}

bool idle_is_excess(const struct account *account, uint64_t card_bytes)
{
    uint64_t reserved_bytes;
    if (!card_bytes || account->reserved_peak.index == INDEX_NONE ||
        !frag_peak_reserved(account, &reserved_bytes))
        return false;
    const struct frag least = {.reserved_bytes = reserved_bytes,
                               .free_bytes = reserved_bytes - account->peak_bytes};
    return least.free_bytes > account->peak_bytes / EXCESS_DIVISOR &&
           !idle_is_little(&least, card_bytes);
}

/* The second half of a training step needs less than its first half, but not so much less. */
enum { QUIET_DIVISOR = 4 };

/* True if CUDA graphs keep segments of the pool at the end. Such a segment is not idle, although no
 * tensor lives in it. */
static bool keeps_graphs(const struct history *history, uint32_t account)
{
    for (size_t i = 0; i < history->segment_slots.used; i++) {
        const struct segment *segment = &history->segments[i];
        if (segment->account == account && segment->of_graph.begin_index != INDEX_NONE &&
            segment->of_graph.end_index == INDEX_NONE)
            return true;
    }
    return false;
}

struct lasting idle_lasting(const struct history *history, uint32_t account, uint64_t card_bytes)
{
    const struct account *own = &history->accounts[account];
    const struct pool_use *use = &own->use;
    struct lasting found = {0};
    if (!card_bytes || use->run_births < 2 || use->births_count < own->allocations_count / 2 ||
        keeps_graphs(history, account))
        return found;
    for (uint64_t i = 0; i < POOL_USE_RUNS; i++) {
        const bool is_before = i < use->births_count / 2 / use->run_births;
        uint64_t *most_bytes = is_before ? &found.before_bytes : &found.at_bytes;
        if (use->high_bytes[i] > *most_bytes)
            *most_bytes = use->high_bytes[i];
    }
    const struct frag least = {.reserved_bytes = own->reserved_bytes,
                               .free_bytes = own->reserved_bytes - found.at_bytes};
    if (own->reserved_bytes > found.at_bytes &&
        found.at_bytes <= found.before_bytes / QUIET_DIVISOR && !idle_is_little(&least, card_bytes))
        found.idle_bytes = least.free_bytes;
    return found;
}
