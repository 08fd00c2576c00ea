/* SPDX-License-Identifier: MIT */
/* The answer of `frag`, and a part of the answer of `report`: says whether memory lies idle, and
 * what keeps it idle. */
#include "parts.h"

#include <stdio.h>
#include <string.h>

#include "analyzer/analysis/fragmentation/idle.h"
#include "analyzer/analysis/moment.h"
#include "analyzer/analysis/fragmentation/pins.h"
#include "analyzer/analysis/site_tables/site_rows.h"
#include "analyzer/blame/blame.h"
#include "analyzer/oom/oom.h"
#include "analyzer/remedy/remedies.h"
#include "analyzer/render/units.h"
#include "analyzer/torch/frames.h"
#include "whatif.h"
#include "analyzer/thresholds/thresholds.h"

/* A sentence's words for one account at one moment. */
struct words {
    const struct study *study;
    uint32_t account;
    const char *moment; /* "at the peak" */
    char device[STUDY_DEVICE_BYTES], layer[PAGE_LAYER_BYTES];
};

static struct words words_of(const struct study *study, uint32_t account, const char *moment)
{
    const struct account *own = &study->history.accounts[account];
    struct words words = {.study = study, .account = account, .moment = moment};
    study_device_name(own->device, words.device);
    page_layer_name(study, own, words.layer);
    return words;
}

static uint64_t card_bytes_of(const struct words *words)
{
    const struct account *account = &words->study->history.accounts[words->account];
    return study_card_bytes(words->study, account->device);
}

/* --- the cause --- */

/* Names the line of the pin. The stack of a backward has none, so its line is the one that called
 * backward. Returns 1; 0 if the blocks have no stack; -1 if there is no memory. */
static int name_pin(char name[BLAME_TEXT_BYTES], const struct study *study, const struct pins *pins,
                    const struct pin *pin, struct err *err)
{
    const struct backwards *backwards = &study->history.backwards;
    const struct blamed *blamed = blame_of(&pins->blame, pin->stack_id);
    if (!blamed->names_line && pin->backward && backwards->count - pin->backward < BACKWARDS_KEPT) {
        const uint32_t stack_id = backwards->calls[pin->backward % BACKWARDS_KEPT].stack_id;
        return blame_alone(name, study->symbols, stack_id, err);
    }
    snprintf(name, BLAME_TEXT_BYTES, "%s",
             blamed->is_known ? blamed->label : "blocks without a stack");
    return blamed->is_known;
}

/* Says which line pins most. Free memory beside blocks of several lines is pinned by none of them
 * alone, so the line that pins most alone may pin little. */
static int say_pin(struct opening *opening, const struct words *words, const struct pins *pins,
                   uint64_t idle_bytes, struct err *err)
{
    const struct pin *pin = &pins->lines.items[0];
    const uint64_t bytes = pin->alone_bytes ? pin->alone_bytes : pin->pinned_bytes;
    const char *text = BYTES_TEXT(bytes);
    const bool is_most = bytes > idle_bytes / 2;
    char name[BLAME_TEXT_BYTES], who[BLAME_TEXT_BYTES + UNITS_TEXT_BYTES + 32];
    const int is_named = name_pin(name, words->study, pins, pin, err);
    if (is_named < 0)
        return -1;
    if (is_most || !pin->alone_bytes)
        snprintf(who, sizeof who, "%s is pinned by %s: %s",
                 is_most ? "Most of it" : "The largest part", name, text);
    else
        snprintf(who, sizeof who, "%s %s most alone: %s,",
                 is_named ? name : "Blocks without a stack", is_named ? "pins" : "pin", text);
    return page_say(opening, VERDICT_who, "%s beside %llu %s of %s in all.", who,
                    (unsigned long long)pin->block_count,
                    pin->block_count == 1 ? "block" : "blocks", BYTES_TEXT(pin->block_bytes));
}

/* Names the line whose blocks pin most memory. Says nothing if no block pins a segment. */
static int say_worst_pin(struct opening *opening, const struct words *words, uint64_t index,
                         uint64_t idle_bytes, struct err *err)
{
    struct segment_list pieces;
    struct pins pins;
    if (segments_pieces_at(&pieces, &words->study->history, words->account, index, err))
        return -1;
    const int found = pins_find(&pins, words->study->symbols, &pieces, err);
    segments_release(&pieces);
    if (found)
        return -1;
    const int status = pins.lines.count ? say_pin(opening, words, &pins, idle_bytes, err) : 1;
    pins_release(&pins);
    return status;
}

static void say_why(struct opening *opening, const struct idle *idle)
{
    const char *bytes = BYTES_TEXT(idle->bytes);
    switch (idle->cause) {
    case IDLE_BY_STREAMS:
        page_say(opening, VERDICT_why,
                 "%s of it lay in segments of %zu other stream%s, and a segment serves only its "
                 "own stream.",
                 bytes, idle->streams_count, idle->streams_count == 1 ? "" : "s");
        break;
    case IDLE_STRANDED:
        page_say(opening, VERDICT_why,
                 "%s of it could not go back to the driver because live blocks lie beside it.",
                 bytes);
        break;
    case IDLE_OUTGROWN:
        page_say(opening, VERDICT_why,
                 "%s of it lay in whole segments that were too small for later requests.", bytes);
        break;
    case IDLE_CACHED:
        page_say(opening, VERDICT_why,
                 "Most of it lay in whole segments: it is cached, not fragmented.");
    }
}

static int say_who(struct opening *opening, const struct words *words, const struct idle *idle,
                   uint64_t index, struct err *err)
{
    if (idle->cause == IDLE_STRANDED)
        return words->study->history.accounts[words->account].kind == ACCOUNT_pool
                   ? say_worst_pin(opening, words, index, idle->bytes, err)
                   : 1;
    if (!*idle->label)
        return 1;
    return page_say(opening, VERDICT_who, "%s was requested by %s (%s).",
                    idle->label_bytes > idle->bytes / 2 ? "Most of the idle memory"
                                                        : "The largest part of the idle memory",
                    idle->label, BYTES_TEXT(idle->label_bytes));
}

static bool is_pytorch(const struct words *words)
{
    return torch_is_pool(study_pool(words->study, &words->study->history.accounts[words->account]));
}

/* Advises expandable segments if the model of the allocator shows that they help. */
static void say_expanded(struct opening *opening, const struct words *words)
{
    const struct remedies *remedies = words->study->remedies;
    if (remedies && remedies->expanded.helps && remedies->expanded.account == words->account)
        page_say(opening, VERDICT_do,
                 "%s: %s reserved at most, in place of %s, by the model of the allocator.",
                 remedies->setting, BYTES_TEXT(remedies->expanded.reserved_bytes),
                 BYTES_TEXT(words->study->history.accounts[words->account].peak_reserved_bytes));
}

static void say_do(struct opening *opening, const struct words *words, const struct idle *idle)
{
    if (idle->cause == IDLE_STRANDED)
        return;
    if (idle->cause == IDLE_BY_STREAMS && idle->streams_count >= FRESH_STREAMS_FEWEST)
        page_say(opening, VERDICT_do,
                 "Use fewer streams, each created once: the pool uses memory that was freed on a "
                 "stream only for the same stream.");
    else if (idle->cause == IDLE_OUTGROWN) {
        page_say(opening, VERDICT_do,
                 "Make the largest requests first (the longest batch), or allocate what grows at "
                 "its final size: later requests then fit into earlier segments.");
        say_expanded(opening, words);
    } else if (is_pytorch(words)) {
        page_say(opening, VERDICT_do,
                 "torch.cuda.empty_cache() gives it back, except memory that a MemPool keeps.");
    }
}

static int say_cause(struct opening *opening, const struct words *words, const struct idle *idle,
                     uint64_t index, struct err *err)
{
    say_why(opening, idle);
    if (say_who(opening, words, idle, index, err) < 0)
        return -1;
    say_do(opening, words, idle);
    return 1;
}

/* --- the answer of `frag` --- */

static int say_idle(struct opening *opening, const struct words *words, const struct idle *idle,
                    uint64_t index, bool is_failure, struct err *err)
{
    const uint64_t card_bytes = card_bytes_of(words);
    const char *free = BYTES_TEXT(idle->frag.free_bytes);
    const char *reserved = BYTES_TEXT(idle->frag.reserved_bytes);
    if (!is_failure && idle_is_little(&idle->frag, card_bytes)) {
        page_say(opening, VERDICT_what,
                 "On %s fragmentation is no concern: %s of the %s reserved lay idle.",
                 words->device, free, reserved);
        return page_say(opening, VERDICT_why, "Less than 5 %% of %s lay idle in the %s %s.",
                        card_bytes ? "the card" : "what was reserved", words->layer, words->moment);
    }
    page_say(opening, VERDICT_what, "On %s (%s), %s of the %s reserved lay idle %s.", words->device,
             words->layer, free, reserved, words->moment);
    return say_cause(opening, words, idle, index, err);
}

/* Finds the failure with the most idle memory among those for which `oom` finds that idle memory
 * would have been enough. */
static int find_failure(const struct failure **worst, const struct history *history,
                        uint32_t account, struct err *err)
{
    uint64_t most_bytes = 0;
    for (size_t i = 0; i < history->failure_count; i++) {
        const struct failure *failure = &history->failures[i];
        struct oom oom;

        if (history->accounts[failure->account].device != history->accounts[account].device)
            continue;
        if (oom_explain(&oom, history, failure, err))
            return -1;
        if (oom.account != account || oom.idle_bytes <= most_bytes ||
            (oom.verdict != OOM_FRAGMENTED && oom.verdict != OOM_CACHED))
            continue;
        most_bytes = oom.idle_bytes;
        *worst = failure;
    }
    return 0;
}

static int say_failure(struct opening *opening, const struct study *study, uint32_t account,
                       const struct failure *failure, struct err *err)
{
    char when[UNITS_TEXT_BYTES + 32];
    struct idle idle;
    snprintf(when, sizeof when, "when %s failed", BYTES_TEXT(failure->event.size_bytes));
    const struct words words = words_of(study, account, when);
    if (idle_at(&idle, &study->history, study->symbols, account, failure->at.index,
                failure->event.size_bytes, err))
        return -1;
    page_next(opening, "oom");
    return say_idle(opening, &words, &idle, failure->at.index, true, err);
}

/* Names the line that held most at the peak. */
static int say_peak_line(struct opening *opening, const struct study *study, uint32_t account,
                         struct err *err)
{
    const struct account *own = &study->history.accounts[account];
    char most[2 * BLAME_TEXT_BYTES];
    struct blame blame;
    struct sites sites;
    if (sites_at(&sites, &study->categories, account, own->peak.index, err))
        return -1;
    int status = site_rows_blame(&blame, study->symbols, &sites, err);
    if (!status) {
        status = page_format_most(most, sizeof most, study, &sites, &blame, err);
        blame_release(&blame);
    }
    sites_release(&sites);
    if (!status && *most)
        page_say(opening, VERDICT_who, "%s, when %s was live.", most, BYTES_TEXT(own->peak_bytes));
    return status ? -1 : 1;
}

/* Says that memory stays reserved to the end after the program needed it last. `report` opens with
 * the same sentences. */
static int say_lasting(struct opening *opening, const struct study *study,
                       const struct words *words, struct err *err)
{
    const struct account *account = &study->history.accounts[words->account];
    const struct lasting lasting = idle_lasting(&study->history, words->account,
                                                study_judged_card_bytes(study, account->device));
    if (account->kind != ACCOUNT_pool || !lasting.idle_bytes)
        return 0;
    page_say(opening, VERDICT_what,
             "%s stays reserved to the end on %s, %s of it idle since a step held %s.",
             BYTES_TEXT(account->reserved_bytes), words->device, BYTES_TEXT(lasting.idle_bytes),
             BYTES_TEXT(lasting.before_bytes));
    page_say(opening, VERDICT_why,
             "At most %s was live in the second half of the allocations, and the %s keeps what was "
             "freed before.",
             BYTES_TEXT(lasting.at_bytes), words->layer);
    if (is_pytorch(words))
        page_say(opening, VERDICT_do, "torch.cuda.empty_cache() after that step: %s less.",
                 BYTES_TEXT(lasting.idle_bytes));
    return account->peak_bytes == lasting.before_bytes
               ? say_peak_line(opening, study, words->account, err)
               : 1;
}

/* Takes the peak of the reserved bytes if more lay idle then than at *moment, the peak of the live
 * bytes. */
static int prefer_reserved_peak(struct idle *idle, struct words *words, struct moment *moment,
                                struct err *err)
{
    const struct history *history = &words->study->history;
    const struct moment *peak = &history->accounts[words->account].reserved_peak;
    struct idle at_peak;
    if (peak->index == INDEX_NONE || peak->index == moment->index)
        return 0;
    if (idle_at(&at_peak, history, words->study->symbols, words->account, peak->index, 0, err))
        return -1;
    if (!at_peak.frag.reserved_known || at_peak.frag.free_bytes <= idle->frag.free_bytes)
        return 0;
    *idle = at_peak;
    *moment = *peak;
    words->moment = "at the reserved peak";
    return 0;
}

/* is_lasting: what stays reserved to the end was said, so that little idle memory is no news. */
static int say_of_moment(struct opening *opening, const struct study *study, uint32_t account,
                         const struct view *view, struct moment moment, bool is_lasting,
                         struct err *err)
{
    struct words words = words_of(study, account, view->at ? "then" : "at the peak");
    struct idle idle;
    if (moment.index == INDEX_NONE)
        return page_say(opening, VERDICT_what, "On %s the %s held nothing.", words.device,
                        words.layer);
    if (idle_at(&idle, &study->history, study->symbols, account, moment.index, 0, err) ||
        (!view->at && prefer_reserved_peak(&idle, &words, &moment, err)))
        return -1;
    if (!idle.frag.reserved_known)
        return page_say(
            opening, VERDICT_what,
            "On %s (%s), fragmentation is not known, because no segments were recorded.",
            words.device, words.layer);
    if (is_lasting && idle_is_little(&idle.frag, card_bytes_of(&words)))
        return 1;
    /* Whether expandable segments would help is a question to the model of the allocator. */
    if (idle.cause == IDLE_OUTGROWN && is_pytorch(&words) &&
        !idle_is_little(&idle.frag, card_bytes_of(&words)))
        page_next(opening, "frag --what-if=expandable_segments");
    return say_idle(opening, &words, &idle, moment.index, false, err);
}

static int say_of_device(struct opening *opening, const struct study *study,
                         const struct device_use *use, const struct view *view, struct err *err)
{
    const struct page_frag_options *options = view->own;
    const uint32_t number = study_account(study, use, view);
    const struct failure *failure = NULL;
    struct moment moment;
    if (options->what_if)
        return page_what_if_answer(opening, study, options->what_if, use->device);
    if (number == HISTORY_NONE)
        return 0;
    if (moment_find("at", view->at, &study->history, number, &moment, err) ||
        (!view->at && find_failure(&failure, &study->history, number, err)))
        return -1;
    if (failure)
        return say_failure(opening, study, number, failure, err);
    const struct words words = words_of(study, number, NULL);
    const int lasting = view->at ? 0 : say_lasting(opening, study, &words, err);
    return lasting < 0 ? -1 : say_of_moment(opening, study, number, view, moment, lasting > 0, err);
}

/* Calls say() for each device that the user asked for. */
static int say_of_devices(struct opening *opening, const struct study *study,
                          const struct view *view, struct err *err,
                          int say(struct opening *opening, const struct study *study,
                                  const struct device_use *use, const struct view *view,
                                  struct err *err))
{
    const struct history *history = &study->history;
    int said = 0;
    for (size_t i = 0; i < history->device_count; i++) {
        if (view->device >= 0 && history->devices[i].device != view->device)
            continue;
        const int status = say(opening, study, &history->devices[i], view, err);
        if (status < 0)
            return -1;
        said |= status;
    }
    return said;
}

int page_frag_answer(struct opening *opening, const struct study *study, const struct view *view,
                     struct err *err)
{
    return say_of_devices(opening, study, view, err, say_of_device);
}

/* --- the answer of `report` --- */

static int say_excess(struct opening *opening, const struct study *study,
                      const struct device_use *use, const struct view *view, struct err *err)
{
    const struct account *account = &study->history.accounts[use->leading];
    const struct words words = words_of(study, use->leading, NULL);
    const uint64_t card_bytes = study_judged_card_bytes(study, use->device);
    struct idle idle;
    (void)view;
    const int lasting = say_lasting(opening, study, &words, err);
    if (lasting || !idle_is_excess(account, card_bytes))
        return lasting;
    if (idle_at(&idle, &study->history, study->symbols, use->leading, account->reserved_peak.index,
                0, err))
        return -1;
    if (!idle.frag.reserved_known || idle_is_little(&idle.frag, card_bytes))
        return 0;
    page_say(opening, VERDICT_what, "Reserved %s%s at its peak on %s (%s), %s of it idle.",
             BYTES_TEXT(idle.frag.reserved_bytes), OF_CARD_TEXT(card_bytes_of(&words)),
             words.device, words.layer, BYTES_TEXT(idle.frag.free_bytes));
    if (say_cause(opening, &words, &idle, account->reserved_peak.index, err) < 0)
        return -1;
    return page_join(opening, VERDICT_why, "at most %s was live", BYTES_TEXT(account->peak_bytes));
}

int page_excess_answer(struct opening *opening, const struct study *study, const struct view *view,
                       struct err *err)
{
    return say_of_devices(opening, study, view, err, say_excess);
}
