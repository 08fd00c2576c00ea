/* SPDX-License-Identifier: MIT */
/* The sentences about the requests before a failure, and about who held the memory. */
#include "told.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analyzer/analysis/card.h"
#include "analyzer/analysis/site_tables/site_rows.h"
#include "analyzer/page/parts.h"
#include "analyzer/remedy/remedies.h"
#include "analyzer/render/units.h"
#include "analyzer/symbol/symbols.h"
#include "analyzer/thresholds/thresholds.h"
#include "analyzer/torch/frames.h"
#include "analyzer/util/text.h"

/* --- the requests before --- */

/* Returns the remedies if they are those of this failure, else NULL. */
static const struct remedies *remedies_of(const struct study *study, const struct failure *failure)
{
    const struct remedies *remedies = study->remedies;
    return remedies && remedies->has_failed && remedies->moment.index == failure->at.index
               ? remedies
               : NULL;
}

/* Forwards that wait for one backward are no leak, though each adds to what is live. */
static bool sums_losses(const struct remedies *remedies)
{
    for (size_t i = 0; i < remedies->count; i++)
        if (remedies->items[i].key == REMEDY_each_backward)
            return true;
    return false;
}

bool page_oom_tells_cause(const struct study *study, const struct failure *failure)
{
    const struct remedies *remedies = remedies_of(study, failure);
    return remedies && (remedies->asked.grows || remedies->asked.generations.before_bytes ||
                        sums_losses(remedies));
}

/* Says how the requests of the line grew, and that the block to replace is held. */
static int say_rising(struct opening *opening, const struct asked *asked)
{
    const struct rising *rising = &asked->rising;
    char last[UNITS_TEXT_BYTES], old[64] = "";
    const bool is_even = rising_is_even(rising);
    if (asked->replaced_bytes)
        snprintf(old, sizeof old, ", beside the old block of %s",
                 units_bytes(last, asked->replaced_bytes));
    units_bytes(last, rising->last_bytes);
    if (rising_doubles(rising))
        return page_join(opening, VERDICT_why,
                         "the requests of this line doubled %" PRIu32 " times, to %s%s",
                         rising->doublings_count, last, old);
    return page_join(opening, VERDICT_why,
                     "the requests of this line grew %" PRIu32 " times%s%s, from %s to %s%s",
                     rising->rises_count, is_even ? " by " : "",
                     is_even ? BYTES_TEXT(rising->most_rise_bytes) : "",
                     BYTES_TEXT(rising->first_bytes), last, old);
}

/* Says that smaller batches were tried. If an exception holds the tensors of the failed tries, says
 * this too. */
static int say_halved(struct opening *opening, const struct remedies *remedies)
{
    uint64_t held_bytes = 0;
    for (size_t i = 0; i < remedies->count; i++)
        if (remedies->items[i].key == REMEDY_caught)
            held_bytes = remedies->items[i].gain_bytes;
    const size_t count = remedies->asked.halved_count;
    if (!held_bytes)
        return page_join(opening, VERDICT_why,
                         "%zu tries failed, each asking for half as much as the one before", count);
    return page_join(
        opening, VERDICT_why,
        "%zu tries failed, each asking for half as much as the one before, and %s of their "
        "tensors stayed live, because an exception that is still held keeps its frames",
        count, BYTES_TEXT(held_bytes));
}

/* Says that an earlier object of the same line is held beside the one that is being made. */
static int say_generations(struct opening *opening, const struct study *study,
                           const struct generations *generations)
{
    const struct trace *trace = &study->trace;
    const struct trace_location *line = &trace->locations[generations->location];
    char before[UNITS_TEXT_BYTES], name[BLAME_TEXT_BYTES];
    snprintf(name, sizeof name, "%s:%" PRIu32 " %s", path_name(trace_string(trace, line->file_id)),
             line->line, trace_string(trace, line->function_id));
    units_bytes(before, generations->before_bytes);
    const int status =
        generations->now_bytes
            ? page_join(opening, VERDICT_why,
                        "%s is of this call of %s, %s of the call before, which is still held",
                        BYTES_TEXT(generations->now_bytes), name, before)
            : page_join(opening, VERDICT_why,
                        "%s is of the call of %s before this one, and is still held", before, name);
    return status < 0
               ? -1
               : page_say(opening, VERDICT_do,
                          "Drop the old tensors of %s (del, = None) before the new ones are made.",
                          name);
}

/* True if no request of the line was nearly as large before, and nothing else tells the cause. */
static bool is_outgrown(const struct opening *opening, const struct asked *asked)
{
    return asked->outgrown_bytes && !asked->grows && !asked->times_live &&
           !opening->failure_is_told;
}

/* True if the largest request of the line in several steps would fit, and nothing else tells the
 * cause. In fewer steps, the line may ask for the first time for a larger layer. */
static bool would_fit_as_before(const struct opening *opening, const struct study *study,
                                const struct asked *asked)
{
    return asked->fitting_bytes && study->steps.step_count >= REQUEST_ROUNDS_FEWEST &&
           !asked->grows && !asked->times_live && !opening->failure_is_told;
}

static int say_times(struct opening *opening, const struct asked *asked, bool would_fit)
{
    const uint64_t before_bytes = asked->rising.most_before_bytes;
    return page_join(opening, VERDICT_why,
                     "the request is %.1f times the largest one of this line before, %s%s",
                     (double)asked->rising.last_bytes / (double)before_bytes,
                     BYTES_TEXT(before_bytes), would_fit ? ", which would fit" : "");
}

int page_oom_say_before(struct opening *opening, const struct study *study,
                        const struct failure *failure)
{
    const struct remedies *remedies = remedies_of(study, failure);
    if (!remedies)
        return 1;
    const struct asked *asked = &remedies->asked;
    const bool would_fit = would_fit_as_before(opening, study, asked);
    if ((asked->grows && say_rising(opening, asked) < 0) ||
        (asked->halved_count && say_halved(opening, remedies) < 0) ||
        (remedies->asked.generations.before_bytes &&
         say_generations(opening, study, &remedies->asked.generations) < 0) ||
        (!asked->grows && asked->replaced_bytes > remedies->need_bytes / KEPT_DIVISOR &&
         page_join(opening, VERDICT_why,
                   "the block that it was to replace, %s, is held until the new one is there",
                   BYTES_TEXT(asked->replaced_bytes)) < 0) ||
        ((would_fit || is_outgrown(opening, asked)) && say_times(opening, asked, would_fit) < 0))
        return -1;
    if (!asked->times_live)
        return 1;
    return page_join(opening, VERDICT_why,
                     "the request is %" PRIu64 " times all that was live: check its shape",
                     asked->times_live);
}

/* A size that overflowed was computed wrongly, by the line that asked or above it. So may be a size
 * that no request of the line had before. If the request itself is too large and no remedy is
 * known, only a smaller tensor helps. */
static int say_own_remedy(struct opening *opening, const struct oom *oom,
                          const struct oom_told *told, const struct remedies *remedies)
{
    const struct blamed *blamed = page_oom_asker(told, oom->failure);
    if (!blamed->is_known)
        return 1;
    const bool grew = remedies && !oom->asks_for_pool && is_outgrown(opening, &remedies->asked);
    if (grew && verdict_find(&opening->verdict, VERDICT_do) != SIZE_MAX)
        return 1;
    if (!grew && !units_request_overflowed(oom->requested_bytes))
        return remedies && oom->asks_for_pool && !remedies->count &&
                       (remedies->asked.is_beyond_card || remedies->asked.is_unproven) &&
                       !remedies->asked.makes_model
                   ? page_say(opening, VERDICT_do, "Make this tensor smaller (%s).", blamed->label)
                   : 1;
    return page_say(opening, VERDICT_do, "Check how the size is computed at %s.", blamed->label);
}

int page_oom_say_model(struct opening *opening, const struct study *study, const struct oom *oom)
{
    const struct remedies *remedies = remedies_of(study, oom->failure);
    const uint64_t left_bytes = oom->device_free_bytes + oom->idle_bytes;
    if (!remedies || !remedies->asked.makes_model ||
        verdict_find(&opening->verdict, VERDICT_do) != SIZE_MAX)
        return 1;
    if (!oom->device_known || !oom->reserved_known || oom->requested_bytes <= left_bytes)
        return page_say(opening, VERDICT_do,
                        "Run it with --dry-run=any to see how much it needs: memory ran out before "
                        "its whole model was on the card.");
    return page_say(opening, VERDICT_do,
                    "Run it with --dry-run=any to see how much it needs: memory ran out before "
                    "its whole model was on the card, which lacks at least %s.",
                    BYTES_TEXT(oom->requested_bytes - left_bytes));
}

/* --- who held the memory --- */

static const char *label_of(const struct oom_told *told, uint32_t stack_id)
{
    for (size_t i = 0; i < told->sites.count; i++)
        if (site_stack(told->sites.items[i].site_id) == stack_id)
            return blame_of(&told->blame, told->sites.items[i].site_id)->label;
    return "one line";
}

/* Says "3.54 GiB live, 3.03 GiB of it in 83 blocks by train.py:69 attend, none freed, each larger
 * than the one before". */
static int say_larger(struct opening *opening, const struct oom_told *told,
                      const struct larger_blocks *larger, const char *live)
{
    const struct larger_line *lines = larger->lines;
    char others[64] = "";
    if (larger->line_count > LARGER_LINES)
        snprintf(others, sizeof others, " and %zu more lines", larger->line_count - LARGER_LINES);
    return page_say(opening, VERDICT_who,
                    "%s live, %s of it in %" PRIu64 " blocks by %s%s%s%s, none freed, each larger "
                    "than the one before.",
                    live, BYTES_TEXT(larger->bytes), larger->count,
                    label_of(told, lines[0].stack_id), larger->line_count > 1 ? " and " : "",
                    larger->line_count > 1 ? label_of(told, lines[1].stack_id) : "", others);
}

/* Returns the row to name. An operator of autograd names no line of the program, so a row that does
 * goes first if it holds as much. */
static const struct site_row *row_to_name(const struct site_row *rows, size_t count)
{
    for (size_t i = 0; i < count && rows[i].bytes == rows[0].bytes; i++)
        if (rows[i].blamed->names_line)
            return &rows[i];
    return rows;
}

static int say_rows(struct opening *opening, const struct oom *oom, const struct oom_told *told,
                    const struct site_row *rows, size_t count, const char *live)
{
    const struct site_row *row = row_to_name(rows, count);
    const char *held = oom->has_pool ? " tensors" : "";
    /* If graphs hold more than the tensors, tensors are not to blame. */
    if (!row->blamed->site.is_found || told->sites.total_bytes < oom->graph_bytes)
        return page_say(opening, VERDICT_who, "%s live%s.", live, held);
    if (row->bytes == oom->live_bytes)
        return page_say(opening, VERDICT_who, "%s live%s, all by %s.", live, held,
                        row->blamed->label);
    return page_say(opening, VERDICT_who, "%s live%s, %s by %s (%s).", live, held,
                    row->bytes > told->sites.total_bytes / 2 ? "most" : "the largest part",
                    row->blamed->label, BYTES_TEXT(row->bytes));
}

/* Says which device refused, and which other device of the process had most free: "device 0
 * refused, and device 1 had 7.20 GiB free". */
static int say_other_devices(struct opening *opening, const struct history *history,
                             const struct failure *failure)
{
    const int device = history->accounts[failure->account].device;
    char refused[STUDY_DEVICE_BYTES], other[STUDY_DEVICE_BYTES];
    struct card_free card, most = {0};
    size_t others_count = 0;
    int found = device;
    for (size_t i = 0; i < history->device_count; i++) {
        const int number = history->devices[i].device;
        if (number < 0 || number == device)
            continue;
        if (card_free_at(&card, history, number, failure->at.index, opening->err))
            return -1;
        others_count += card.known;
        if (!card.known || (most.known && card.free_bytes <= most.free_bytes))
            continue;
        most = card;
        found = number;
    }
    if (!others_count || device < 0)
        return 1;
    return page_join(opening, VERDICT_why, "%s refused, and %s had %s%s free",
                     study_device_name(device, refused), study_device_name(found, other),
                     others_count > 1 ? "most of the others, " : "", BYTES_TEXT(most.free_bytes));
}

/* Names the operator that made the request, if it solves or decomposes matrices: its results and
 * workspace depend on the matrices alone. */
static int say_solver(struct opening *opening, const struct study *study,
                      const struct failure *failure)
{
    struct symbol_walk walk = symbols_walk_begin(study->symbols, failure->event.stack_id);
    struct torch_name solver = {0};
    struct symbol_frame frame;
    int status;
    while ((status = symbols_walk_next(&walk, &frame, opening->err)) > 0 &&
           strcmp(frame.kind, "python"))
        if (torch_is(frame.means, TORCH_solver))
            solver = torch_operator_name(frame.function);
    if (status < 0 || !solver.text)
        return status < 0 ? -1 : 1;
    return page_join(opening, VERDICT_why,
                     "the request is of %.*s, whose results and workspace grow with the size and "
                     "the number of its matrices",
                     solver.length, solver.text);
}

int page_oom_say_who(struct opening *opening, const struct study *study, const struct oom *oom,
                     const struct oom_told *told, struct err *err)
{
    const struct remedies *remedies = remedies_of(study, oom->failure);
    char live[UNITS_TEXT_BYTES];
    struct site_row *rows;
    const int count = site_rows_of(&rows, &study->history, &told->sites, &told->blame, err);
    const bool names_row = count > 0 && row_to_name(rows, (size_t)count)->blamed->site.is_found &&
                           told->sites.total_bytes >= oom->graph_bytes;
    uint32_t named_stack_id =
        names_row ? site_stack(row_to_name(rows, (size_t)count)->largest->site_id) : 0;
    int status = count < 0 ? -1 : 1;
    units_bytes(live, told->sites.total_bytes);
    if (count > 0 && remedies && remedies->account == oom->account &&
        remedies->larger.bytes >= rows[0].bytes) {
        named_stack_id = remedies->larger.lines[0].stack_id;
        status = say_larger(opening, told, &remedies->larger, live);
    } else if (count > 0)
        status = say_rows(opening, oom, told, rows, (size_t)count, live);
    free(rows);
    if (status >= 0)
        status = say_other_devices(opening, &study->history, oom->failure);
    if (status >= 0)
        status = say_solver(opening, study, oom->failure);
    if (status >= 0 && count)
        status =
            page_say_second_set(opening, study, oom->account, oom->failure->at.index, &told->blame);
    if (status >= 0 && count)
        status = page_oom_say_holder(opening, study, oom, named_stack_id, err);
    return status < 0 ? -1 : say_own_remedy(opening, oom, told, remedies);
}
