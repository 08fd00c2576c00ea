/* SPDX-License-Identifier: MIT */
/* Finds the devices of ranks that stand out; see stand_out.h. */
#include "stand_out.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analyzer/render/units.h"
#include "analyzer/util/array.h"
#include "analyzer/thresholds/thresholds.h"

#define OF_ALL INT64_MIN
enum { SAID = 5 };

static bool is_of(const struct stand_out *one, int64_t rank, int64_t process, int64_t device)
{
    return one->rank == rank && one->process == process &&
           (one->device == device || one->device == OF_ALL || device == OF_ALL);
}

/* Returns the entry for the row's rank, process and device. Adds the entry if it is new. Returns
 * NULL if there is no memory. */
static struct stand_out *reach(struct stand_outs *found, const struct answer_table *answer,
                               size_t row, bool has_device, struct err *err)
{
    const int64_t rank = answer_integer(answer, row, "rank"),
                  process = answer_integer(answer, row, "process");
    const int64_t device = has_device ? answer_integer(answer, row, "device") : OF_ALL;
    for (size_t i = 0; i < found->count; i++)
        if (is_of(&found->items[i], rank, process, device))
            return &found->items[i];
    if (ARRAY_GROW(found->items, found->capacity, found->count, err))
        return NULL;
    struct stand_out *added = &found->items[found->count++];
    *added = (struct stand_out){.rank = rank,
                                .process = process,
                                .device = device,
                                .difference = SIZE_MAX,
                                .growth = SIZE_MAX,
                                .failure = SIZE_MAX,
                                .ending = SIZE_MAX};
    return added;
}

/* --- the findings of each table --- */

static int find_peaks(struct stand_outs *found, const struct fleet *fleet, struct err *err)
{
    const struct answer_table *peaks = &fleet->answers[QUERY_peaks];
    const int64_t median = answer_integer(&fleet->answers[QUERY_spread], 0, "median_bytes");
    for (size_t i = 0; i < peaks->row_count; i++) {
        const int64_t peak = answer_integer(peaks, i, "peak_bytes"), more = peak - median;

        found->names_devices |= answer_integer(peaks, i, "device") > 0;
        found->names_processes |= answer_integer(peaks, i, "process") > 0;
        if (!peak || !((more > 0 ? more : -more) > median / FLEET_ALIKE_DIVISOR))
            continue;
        struct stand_out *one = reach(found, peaks, i, true, err);
        if (!one)
            return -1;
        one->peak_bytes = (uint64_t)peak;
        one->more_bytes = more;
    }
    return 0;
}

/* Finds the largest difference of each device. The rows of a device begin with its largest
 * difference, so this goes backwards and the first row is set last. */
static void find_differences(struct stand_outs *found, const struct fleet *fleet)
{
    const struct answer_table *rows = &fleet->answers[QUERY_difference];
    for (size_t i = rows->row_count; i-- > 0;)
        for (size_t n = 0; n < found->count; n++)
            if (is_of(&found->items[n], answer_integer(rows, i, "rank"),
                      answer_integer(rows, i, "process"), answer_integer(rows, i, "device")))
                found->items[n].difference = i;
}

static int find_growth(struct stand_outs *found, const struct fleet *fleet, struct err *err)
{
    const struct answer_table *rows = &fleet->answers[QUERY_growth],
                              *spread = &fleet->answers[QUERY_spread];
    found->all_grow = 2 * answer_count(spread, 0, "leaking") > answer_count(spread, 0, "places");
    for (size_t i = 0; i < rows->row_count && !found->all_grow; i++) {
        if (!answer_count(rows, i, "leak_bytes_per_step"))
            continue;
        struct stand_out *one = reach(found, rows, i, true, err);
        if (!one)
            return -1;
        one->growth = i;
    }
    return 0;
}

static int find_failures(struct stand_outs *found, const struct fleet *fleet, struct err *err)
{
    const struct answer_table *rows = &fleet->answers[QUERY_failures];
    for (size_t i = 0; i < rows->row_count; i++) {
        const char *kind = answer_text(rows, i, "kind");

        if (!kind || strcmp(kind, "fatal"))
            continue;
        struct stand_out *one = reach(found, rows, i, true, err);
        if (!one)
            return -1;
        if (one->failure == SIZE_MAX)
            one->failure = i;
    }
    return 0;
}

static int find_endings(struct stand_outs *found, const struct fleet *fleet, struct err *err)
{
    const struct answer_table *rows = &fleet->answers[QUERY_endings];
    for (size_t i = 0; i < rows->row_count; i++) {
        const char *ended = answer_text(rows, i, "ended");

        if (!ended || strcmp(ended, "killed"))
            continue;
        struct stand_out *one = reach(found, rows, i, false, err);
        if (!one)
            return -1;
        one->ending = i;
    }
    return 0;
}

/* --- the order of the entries --- */

static int64_t weight_of(const struct stand_out *one)
{
    if (one->failure != SIZE_MAX)
        return 0;
    if (one->more_bytes > 0)
        return 1;
    return one->growth != SIZE_MAX ? 2 : one->ending != SIZE_MAX ? 3 : 4;
}

ORDER_BY(compare, struct stand_out, RISING_IN(weight_of), RISING(failure),
         ORDER(llabs(b->more_bytes), llabs(a->more_bytes)), RISING(rank), RISING(device));

int stand_outs_find(struct stand_outs *found, const struct fleet *fleet, struct err *err)
{
    *found = (struct stand_outs){0};
    if (find_peaks(found, fleet, err) || find_growth(found, fleet, err) ||
        find_failures(found, fleet, err) || find_endings(found, fleet, err)) {
        stand_outs_release(found);
        return -1;
    }
    find_differences(found, fleet);
    SORT(found->items, found->count, compare);
    return 0;
}

void stand_outs_release(struct stand_outs *found)
{
    free(found->items);
    *found = (struct stand_outs){0};
}

/* --- the sentences --- */

const char *stand_out_label(const struct stand_outs *found, const struct stand_out *one,
                            char label[STAND_OUT_LABEL_BYTES])
{
    int length = snprintf(label, STAND_OUT_LABEL_BYTES, "rank %" PRId64, one->rank);
    if (found->names_processes)
        length += snprintf(label + length, STAND_OUT_LABEL_BYTES - (size_t)length,
                           " process %" PRId64, one->process);
    if (found->names_devices && one->device != OF_ALL)
        snprintf(label + length, STAND_OUT_LABEL_BYTES - (size_t)length, " device %" PRId64,
                 one->device);
    return label;
}

enum { CLAUSE_BYTES = 1024 };

static void write_peak(char clause[CLAUSE_BYTES], const struct stand_out *one,
                       const struct fleet *fleet)
{
    const uint64_t ranks = answer_count(&fleet->answers[QUERY_spread], 0, "ranks");
    *clause = '\0';
    if (!one->more_bytes)
        return;
    snprintf(clause, CLAUSE_BYTES, " peaks at %s, %s %s the median of %" PRIu64 " rank%s",
             BYTES_TEXT(one->peak_bytes), BYTES_TEXT((uint64_t)llabs(one->more_bytes)),
             one->more_bytes > 0 ? "above" : "below", ranks, ranks == 1 ? "" : "s");
}

/* Names the line that explains the difference to the median. */
static void write_held(char clause[CLAUSE_BYTES], const struct stand_out *one,
                       const struct fleet *fleet)
{
    const struct answer_table *rows = &fleet->answers[QUERY_difference];
    const int64_t more =
        one->difference == SIZE_MAX ? 0 : answer_integer(rows, one->difference, "more_bytes");
    *clause = '\0';
    if (one->more_bytes && more)
        snprintf(clause, CLAUSE_BYTES, "%.600s: it holds %s %s",
                 answer_text(rows, one->difference, "site"), BYTES_TEXT((uint64_t)llabs(more)),
                 more > 0 ? "more" : "less");
}

/* Names the line that grows. Names nothing if this line already explains the difference to the
 * median. */
static void write_growth(char clause[CLAUSE_BYTES], const struct stand_out *one,
                         const struct fleet *fleet)
{
    const struct answer_table *rows = &fleet->answers[QUERY_growth];
    const char *held = one->difference == SIZE_MAX ? NULL
                                                   : answer_text(&fleet->answers[QUERY_difference],
                                                                 one->difference, "site");
    *clause = '\0';
    if (one->growth == SIZE_MAX)
        return;
    const char *site = answer_text(rows, one->growth, "site");
    const bool is_said = site && held && one->more_bytes > 0 && !strcmp(site, held);
    snprintf(clause, CLAUSE_BYTES, "%s grows by %s with each step%s%.600s",
             is_said           ? ", which"
             : one->more_bytes ? ", and"
                               : "",
             BYTES_TEXT(answer_count(rows, one->growth, "leak_bytes_per_step")),
             site && *site && !is_said ? ": " : "", site && !is_said ? site : "");
}

static void write_ending(char clause[CLAUSE_BYTES], const struct stand_out *one,
                         const struct fleet *fleet)
{
    const char *why = one->ending == SIZE_MAX
                          ? NULL
                          : answer_text(&fleet->answers[QUERY_endings], one->ending, "ended_why");
    const bool follows = one->more_bytes || one->growth != SIZE_MAX;
    *clause = '\0';
    if (one->ending != SIZE_MAX)
        snprintf(clause, CLAUSE_BYTES, "%s was killed%s%.600s", follows ? ", and" : "",
                 why && *why ? ": " : "", why ? why : "");
}

static void say_failure(struct verdict *said, const char *label, const struct stand_out *one,
                        const struct fleet *fleet, bool is_first)
{
    const struct answer_table *rows = &fleet->answers[QUERY_failures];
    const char *phase = answer_text(rows, one->failure, "phase"),
               *site = answer_text(rows, one->failure, "site");
    verdict_say(said, VERDICT_what, "%s ran out of memory%s: %s asked for %s%s%s.", label,
                is_first ? " first" : "", site ? site : "it",
                BYTES_TEXT(answer_count(rows, one->failure, "asked_bytes")),
                phase && *phase ? " in " : "", phase ? phase : "");
    verdict_say(said, VERDICT_why, "%s.", answer_text(rows, one->failure, "explanation"));
}

static void say_one(struct verdict *said, const struct stand_outs *found,
                    const struct stand_out *one, const struct fleet *fleet)
{
    char label[STAND_OUT_LABEL_BYTES], peak[CLAUSE_BYTES], held[CLAUSE_BYTES], growth[CLAUSE_BYTES],
        ending[CLAUSE_BYTES];
    stand_out_label(found, one, label);
    *label = 'R';
    if (one->failure != SIZE_MAX)
        say_failure(said, label, one, fleet, one == found->items);
    write_peak(peak, one, fleet);
    write_held(held, one, fleet);
    write_growth(growth, one, fleet);
    write_ending(ending, one, fleet);
    if (!*peak && !*growth && !*ending)
        return;
    verdict_say(said, VERDICT_what, "%s%s%s%s.", label, peak, *held ? "" : growth, ending);
    if (*held)
        verdict_say(said, VERDICT_who, "%s%s.", held, growth);
}

static void say_spread(struct verdict *said, const struct stand_outs *found,
                       const struct fleet *fleet)
{
    const struct answer_table *spread = &fleet->answers[QUERY_spread];
    const uint64_t ranks = answer_count(spread, 0, "ranks");
    if (!ranks) {
        verdict_say(said, VERDICT_what, "No GPU memory was allocated.");
        return;
    }
    verdict_say(said, VERDICT_what,
                "%" PRIu64 " rank%s of job '%s', run '%s', peak%s at %s to %s, the median at %s%s.",
                ranks, ranks == 1 ? "" : "s", fleet->job, fleet->run, ranks == 1 ? "s" : "",
                BYTES_TEXT(answer_count(spread, 0, "lowest_bytes")),
                BYTES_TEXT(answer_count(spread, 0, "highest_bytes")),
                BYTES_TEXT(answer_count(spread, 0, "median_bytes")),
                found->count ? "" : "; none stands out");
}

static void say_growing(struct verdict *said, const struct fleet *fleet)
{
    const struct answer_table *rows = &fleet->answers[QUERY_growth];
    verdict_say(said, VERDICT_what,
                "%" PRIu64 " of %" PRIu64 " devices grow with each step, the most by %s: %s.",
                answer_count(&fleet->answers[QUERY_spread], 0, "leaking"),
                answer_count(&fleet->answers[QUERY_spread], 0, "places"),
                BYTES_TEXT(answer_count(rows, 0, "leak_bytes_per_step")),
                answer_text(rows, 0, "site"));
}

void stand_outs_say(struct verdict *said, const struct stand_outs *found, const struct fleet *fleet)
{
    for (size_t i = 0; i < found->count && i < SAID; i++)
        say_one(said, found, &found->items[i], fleet);
    if (found->count > SAID)
        verdict_say(said, VERDICT_what, "%zu others stand out, too.", found->count - SAID);
    if (found->all_grow)
        say_growing(said, fleet);
    say_spread(said, found, fleet);
}
