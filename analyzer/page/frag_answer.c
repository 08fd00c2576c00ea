/* SPDX-License-Identifier: MIT */
/* The answer of `frag`: says whether memory lies idle, and what keeps it idle. */
#include "parts.h"

#include <stdio.h>
#include <string.h>

#include "analyzer/analysis/fragmentation/frag.h"
#include "analyzer/analysis/moment.h"
#include "analyzer/analysis/fragmentation/pins.h"
#include "analyzer/blame/blame.h"
#include "analyzer/render/units.h"
#include "whatif.h"

/* Idle memory needs no action if it is less than this share of the card, because every allocator
 * keeps some. If the card's size is unknown, it is a share of the reserved bytes. */
enum { FLOOR_DIVISOR = 20 };

struct idle {
    const struct study *study;
    const struct account *account;
    const struct frag *frag;
    const char *moment; /* "at the peak" */
    char device[STUDY_DEVICE_BYTES], layer[PAGE_LAYER_BYTES];
    char free[UNITS_TEXT_BYTES], reserved[UNITS_TEXT_BYTES], stranded[UNITS_TEXT_BYTES];
};

static uint64_t card_bytes(const struct study *study, int device)
{
    for (size_t i = 0; i < study->trace.device_count; i++)
        if (study->trace.devices[i].device == device)
            return study->trace.devices[i].total_bytes;
    return 0;
}

static int say_pin(struct opening *opening, const struct pins *pins)
{
    const struct pin *pin = &pins->lines.items[0];
    const struct blamed *blamed = blame_of(&pins->blame, pin->stack_id);
    char pinned[UNITS_TEXT_BYTES], bytes[UNITS_TEXT_BYTES];

    return page_say(
        opening, VERDICT_who, "Most of it is pinned by %s: %s beside %llu %s of %s in all.",
        blamed->is_known ? blamed->label : "blocks without a stack",
        units_bytes(pinned, pin->alone_bytes ? pin->alone_bytes : pin->pinned_bytes),
        (unsigned long long)pin->block_count, pin->block_count == 1 ? "block" : "blocks",
        units_bytes(bytes, pin->block_bytes));
}

/* Names the line whose blocks pin most memory. Says nothing if no block pins a segment. */
static int say_worst_pin(struct opening *opening, const struct study *study, uint32_t account,
                         uint64_t index, struct err *err)
{
    struct segment_list pieces;
    struct pins pins;

    if (segments_pieces_at(&pieces, &study->history, account, index, err))
        return -1;
    const int found = pins_find(&pins, study->symbols, &pieces, err);
    segments_release(&pieces);
    if (found)
        return -1;
    const int status = pins.lines.count ? say_pin(opening, &pins) : 1;
    pins_release(&pins);
    return status;
}

static int say_stranded(struct opening *opening, const struct idle *idle, uint64_t index,
                        struct err *err)
{
    const struct history *history = &idle->study->history;
    const uint32_t account = (uint32_t)(idle->account - history->accounts);

    if (page_say(opening, VERDICT_what, "On %s, %s of the %s that the %s had reserved lay idle %s.",
                 idle->device, idle->free, idle->reserved, idle->layer, idle->moment) < 0 ||
        page_say(opening, VERDICT_why,
                 "%s of it could not go back to the driver because live blocks lie beside it.",
                 idle->stranded) < 0)
        return -1;
    return idle->account->kind == ACCOUNT_pool
               ? say_worst_pin(opening, idle->study, account, index, err)
               : 1;
}

static bool is_pytorch(const struct idle *idle)
{
    const char *pool = study_pool(idle->study, idle->account);

    return pool && !strcmp(pool, "pytorch");
}

static int say_idle(struct opening *opening, const struct idle *idle, uint64_t index,
                    struct err *err)
{
    const struct frag *frag = idle->frag;
    const uint64_t card = card_bytes(idle->study, idle->account->device);
    const uint64_t floor = (card ? card : frag->reserved_bytes) / FLOOR_DIVISOR;

    if (frag->free_bytes <= floor)
        return page_say(
            opening, VERDICT_what,
            "On %s fragmentation is no concern: %s of the %s that the %s had reserved lay "
            "idle %s, less than 5 %% of %s.",
            idle->device, idle->free, idle->reserved, idle->layer, idle->moment,
            card ? "the card" : "it");
    if (frag->stranded_bytes >= frag->free_bytes / 2)
        return say_stranded(opening, idle, index, err);
    if (page_say(opening, VERDICT_what, "On %s, %s of the %s that the %s had reserved lay idle %s.",
                 idle->device, idle->free, idle->reserved, idle->layer, idle->moment) < 0 ||
        page_say(opening, VERDICT_why,
                 "Most of it lay in whole segments: it is cached, not fragmented.") < 0)
        return -1;
    return is_pytorch(idle)
               ? page_say(opening, VERDICT_do,
                          "torch.cuda.empty_cache() gives it back, except memory that a MemPool "
                          "keeps.")
               : 1;
}

/*
 * Finds the failed allocation with the most idle memory, if the idle memory was enough for the
 * request. Such a failure shows that memory was fragmented, not short, so the answer is about this
 * failure.
 */
static int find_failure(const struct failure **worst, struct frag *frag,
                        const struct history *history, uint32_t account, struct err *err)
{
    uint64_t most_bytes = 0;

    for (size_t i = 0; i < history->failure_count; i++) {
        const struct failure *failure = &history->failures[i];
        struct frag then;

        if (history->accounts[failure->account].device != history->accounts[account].device)
            continue;
        if (frag_at(&then, history, account, failure->at.index, err))
            return -1;
        if (!then.reserved_known || then.free_bytes < failure->event.size_bytes ||
            then.free_bytes <= most_bytes)
            continue;
        most_bytes = then.free_bytes;
        *worst = failure;
        *frag = then;
    }
    return 0;
}

static int say_of_device(struct opening *opening, const struct study *study,
                         const struct device_use *use, const struct view *view, struct err *err)
{
    const struct page_frag_options *options = view->own;
    const uint32_t number = study_account(study, use, view);
    struct idle idle = {.study = study, .moment = view->at ? "then" : "at the peak"};
    const struct failure *failure = NULL;
    char asked[UNITS_TEXT_BYTES], when[UNITS_TEXT_BYTES + 32];
    struct moment moment;
    struct frag frag;

    if (options->what_if)
        return page_what_if_answer(opening, study, options->what_if, use->device);
    if (number == HISTORY_NONE)
        return 0;
    idle.account = &study->history.accounts[number];
    idle.frag = &frag;
    study_device_name(use->device, idle.device);
    page_layer_name(study, idle.account, idle.layer);
    if (moment_find("at", view->at, &study->history, number, &moment, err))
        return -1;
    if (moment.index == INDEX_NONE)
        return page_say(opening, VERDICT_what, "On %s the %s held nothing.", idle.device,
                        idle.layer);
    if (frag_at(&frag, &study->history, number, moment.index, err) ||
        (!view->at && find_failure(&failure, &frag, &study->history, number, err)))
        return -1;
    if (!frag.reserved_known)
        return page_say(
            opening, VERDICT_what,
            "On %s, how fragmented the %s was is not known, because the segments behind it "
            "were not recorded.",
            idle.device, idle.layer);
    units_bytes(idle.free, frag.free_bytes);
    units_bytes(idle.reserved, frag.reserved_bytes);
    units_bytes(idle.stranded, frag.stranded_bytes);
    if (!failure)
        return say_idle(opening, &idle, moment.index, err);
    units_bytes(asked, failure->event.size_bytes);
    snprintf(when, sizeof when, "when %s failed", asked);
    idle.moment = when;
    page_next(opening, "oom");
    return say_idle(opening, &idle, failure->at.index, err);
}

int page_frag_answer(struct opening *opening, const struct study *study, const struct view *view,
                     struct err *err)
{
    const struct history *history = &study->history;
    int said = 0;

    for (size_t i = 0; i < history->device_count; i++) {
        if (view->device >= 0 && history->devices[i].device != view->device)
            continue;
        const int status = say_of_device(opening, study, &history->devices[i], view, err);
        if (status < 0)
            return -1;
        said |= status;
    }
    return said;
}
