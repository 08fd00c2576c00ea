/* SPDX-License-Identifier: MIT */
/* The opening of a job's page; see answer.h. */
#include "answer.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "analyzer/job/strays.h"
#include "analyzer/page/diff/rows.h"
#include "analyzer/page/verdict/verdict.h"
#include "analyzer/render/units.h"
#include "analyzer/util/array.h"
#include "analyzer/util/clock.h"
#include "analyzer/util/text.h"
#include "analyzer/util/utf8.h"
#include "gpumemtrace/limits.h"
#include "who.h"

/* Names the ranks without memory. Returns how many there are, or -1 if there is no memory. */
static int name_unused(char label[WHO_BYTES], const struct job *job, struct err *err)
{
    struct who *whos = array_new((size_t)job->count, sizeof *whos, err);
    size_t count = 0;
    if (!whos)
        return -1;
    for (int i = 0; i < job->count; i++)
        if (!job_used_memory(job, i))
            whos[count++] = who_of(job, i, 0);
    who_name(label, job, whos, count, false);
    free(whos);
    return (int)count;
}

/* The room that a finding leaves for a list of ranks; the table below has the whole list. */
enum { WHO_CHARACTERS = 30 };

static int say_groups(struct verdict *said, const struct job *job, struct err *err)
{
    /* If no group is typical, the highest one is said. */
    const struct job_group *typical =
        &job->groups[job_has_typical(job) ? job->typical : job->group_count - 1];
    const struct job_group *low = &job->groups[0];
    char who[WHO_BYTES];
    const struct job_place *place = job_highest(job, typical);
    const bool is_range = typical->lowest_bytes != typical->peak_bytes;

    if (who_name_group(who, job, typical, err))
        return -1;
    if (*who >= 'a' && who_has_ranks(job))
        *who = (char)(*who - 'a' + 'A');
    who_fit(who, WHO_CHARACTERS);
    verdict_say(said, said->texts.count ? VERDICT_who : VERDICT_what, "%s %s at %s%s%s (%s).",
                FIT_TEXT(who, WHO_CHARACTERS), typical->count > 1 ? "peak" : "peaks",
                BYTES_TEXT(typical->lowest_bytes), is_range ? " to " : "",
                is_range ? BYTES_TEXT(typical->peak_bytes) : "", place->layer);
    if (low == typical || job_outlier(job))
        return 0;
    if (who_name_group(who, job, low, err))
        return -1;
    verdict_say(said, VERDICT_who, "The lowest: %s at %s.", who, BYTES_TEXT(low->peak_bytes));
    return 0;
}

static int say_outlier(struct verdict *said, const struct job *job, struct err *err)
{
    const struct job_group *group = job_outlier(job), *typical = &job->groups[job->typical];
    char who[WHO_BYTES], others[WHO_BYTES];
    char held[PAGE_MORE_BYTES];
    if (who_name_group(who, job, group, err) || who_name_group(others, job, typical, err))
        return -1;
    if (who_has_ranks(job))
        *who = 'R';
    who_fit(who, WHO_CHARACTERS);
    const char *name = FIT_TEXT(who, WHO_CHARACTERS);
    const size_t room = 2 * WHO_CHARACTERS - utf8_text_columns(name);
    who_fit(others, room);
    verdict_say(said, VERDICT_what, "%s %s at %s, %s above %s.", name,
                group->count > 1 ? "peak" : "peaks", BYTES_TEXT(group->peak_bytes),
                BYTES_TEXT(group->peak_bytes - job_middle(job, typical)->peak_bytes),
                FIT_TEXT(others, room));
    if (*page_more(&group->more, held))
        verdict_say(said, VERDICT_who, "%s.", held);
    return 0;
}

static int say_unused(struct verdict *said, const struct job *job, struct err *err)
{
    char who[WHO_BYTES];
    const int count = name_unused(who, job, err);
    if (count <= 0)
        return count;
    if (who_has_ranks(job))
        *who = 'R';
    if (count == job->count)
        verdict_say(said, VERDICT_what, "No GPU memory was allocated.");
    else
        verdict_say(said, VERDICT_who, "%s used no GPU memory.", who);
    return 0;
}

static int count_holders(const struct shared_card *card)
{
    int count = 0;
    for (int i = 0; i < card->count; i++)
        count += card->processes[i].then_bytes > 0;
    return count;
}

/* Counts only the processes that held memory at the moment of the highest sum. A process that had
 * ended, or not begun, held nothing together with the others. */
static void say_cards(struct verdict *said, const struct job *job)
{
    for (size_t i = 0; i < job->cards.count; i++) {
        const struct shared_card *card = &job->cards.items[i];
        const int holders = count_holders(card);

        if (holders < 2)
            continue;
        verdict_say(
            said, VERDICT_who,
            "%d processes on %s held %s%s%s%s together at one moment, without their contexts.",
            holders, card->uuid, card->is_known ? "" : "at least ", BYTES_TEXT(card->highest_bytes),
            card->total_bytes ? " of its " : "",
            card->total_bytes ? BYTES_TEXT(card->total_bytes) : "");
    }
}

/* --- memory on the card of another rank --- */

static int say_strays(struct verdict *said, const struct job *job, const struct strays *strays,
                      struct err *err)
{
    const struct job_place *largest = &job->places[strays->largest];
    struct who *whos = array_new(strays->count, sizeof *whos, err),
               owner = who_of(job, strays->owner, 0);
    char who[WHO_BYTES], owner_label[WHO_BYTES];
    if (!whos)
        return -1;
    for (size_t i = 0; i < strays->count; i++)
        whos[i] = who_of(job, job->places[strays->items[i]].trace, 0);
    who_name(who, job, whos, strays->count, false);
    free(whos);
    who_name(owner_label, job, &owner, 1, false);
    if (who_has_ranks(job))
        *who = 'R';
    who_fit(who, WHO_CHARACTERS);
    verdict_say(said, VERDICT_what, "%s %s %s on device %d, which %s uses.",
                FIT_TEXT(who, WHO_CHARACTERS), strays->count > 1 ? "hold" : "holds",
                BYTES_TEXT(strays->bytes), largest->device, FIT_TEXT(owner_label, WHO_CHARACTERS));
    if (*strays->site)
        verdict_say(said, VERDICT_who, "Made by %s%s.", strays->site,
                    strays->is_loaded ? ", through torch.load" : "");
    verdict_say(said, VERDICT_do, "%s",
                strays->is_loaded  ? "Give torch.load a map_location: \"cpu\", or the rank's own "
                                     "device."
                : largest->is_pool ? "Call torch.cuda.set_device with the rank's own device before "
                                     "the first CUDA call."
                                   : "Call cudaSetDevice with the rank's own device before the "
                                     "first CUDA call.");
    return 0;
}

/* *first becomes the largest place of the card that is said first. */
static int say_all_strays(struct verdict *said, struct job *job, const struct job_place **first,
                          struct err *err)
{
    int status = 0;
    for (size_t i = 0; i < job->cards.count && status >= 0; i++) {
        struct strays strays;

        status = strays_on_card(&strays, job, &job->cards.items[i], err);
        if (status > 0 && !*first)
            *first = &job->places[strays.largest];
        if (status > 0)
            status = say_strays(said, job, &strays, err);
        free(strays.items);
    }
    return status < 0 ? -1 : 0;
}

/* --- the rank that failed --- */

static bool is_before(const struct opening_failure *a, const struct opening_failure *b)
{
    if ((a->kind == OOM_KIND_FATAL) != (b->kind == OOM_KIND_FATAL))
        return a->kind == OOM_KIND_FATAL;
    return a->unix_ns < b->unix_ns;
}

/* True if the failure is one of the job. A failure that the program caught is not. */
static bool is_failed(const struct opening_failure *failure)
{
    return failure->verdict.texts.count && failure->kind != OOM_KIND_CAUGHT;
}

int page_job_failed(const struct job *job, const struct opening_failure *failures)
{
    int first = -1;
    for (int i = 0; i < job->count; i++)
        if (is_failed(&failures[i]) && (first < 0 || is_before(&failures[i], &failures[first])))
            first = i;
    return first;
}

/* Names the ranks that failed. If of_first is set, names only the ranks that trace `first` stands
 * for. If it is not set, names all other ranks. */
static int name_failed(char label[WHO_BYTES], const struct job *job,
                       const struct opening_failure *failures, int first, bool of_first,
                       struct err *err)
{
    struct who *whos = array_new((size_t)job->count, sizeof *whos, err);
    size_t count = 0;
    if (!whos)
        return -1;
    for (int i = 0; i < job->count; i++)
        if (is_failed(&failures[job->like[i]]) && (job->like[i] == first) == of_first)
            whos[count++] = who_of(job, i, 0);
    who_name(label, job, whos, count, false);
    free(whos);
    return (int)count;
}

static const struct shared_card *card_of(const struct job *job, int trace, int device)
{
    for (size_t i = 0; i < job->cards.count; i++)
        for (int n = 0; n < job->cards.items[i].count; n++) {
            const struct card_sharer *process = &job->cards.items[i].processes[n];

            if (process->trace == trace && process->device == device)
                return &job->cards.items[i];
        }
    return NULL;
}

/* Returns the time of the failure since the start of the other process. It is negative if the other
 * process had not begun. */
static int64_t time_in_other(const struct survey *own, const struct survey *other,
                             const struct opening_failure *failure)
{
    const int64_t own_ns = clock_since_ns(failure->unix_ns, own->start_unix_ns.value);
    return clock_since_ns(clock_after_ns(own_ns, own->start_monotonic_ns.value),
                          other->start_monotonic_ns.value);
}

/* Names the other processes that ran on the card of the failure, and for each the command that
 * shows its memory at that time. */
static int say_others_on_card(struct verdict *said, const struct job *job, int failed,
                              const struct opening_failure *failure, struct err *err)
{
    enum { NAMED = 4 };
    const struct shared_card *card = card_of(job, failed, failure->device);
    int named = 0, status = 0;

    for (int i = 0; card && i < card->count && named < NAMED && !status; i++) {
        const struct survey *other = &job->surveys[card->processes[i].trace];
        const int64_t then_ns = time_in_other(&job->surveys[failed], other, failure);
        struct text line;

        if (card->processes[i].trace == failed || !other->pid.known || then_ns < 0 ||
            (other->end_ns.known && then_ns > other->end_ns.value))
            continue;
        text_init(&line, 2 * LIMIT_text_bytes);
        text_addf(&line, "gpumemtrace ledger --at=%" PRId64 "ns ", then_ns);
        text_add_word(&line, other->path);
        if (text_failed(&line)) {
            err_set(err, ERR_SYSTEM, "out of memory for the answer");
            status = -1;
        } else {
            verdict_say(said, VERDICT_who,
                        "Process %" PRId64 " ran on the same card then; its memory: %s",
                        other->pid.value, line.data);
        }
        text_release(&line);
        named++;
    }
    return status;
}

static int say_failed(struct verdict *said, const struct job *job,
                      const struct opening_failure *failures, int first, struct err *err)
{
    char who[WHO_BYTES], others[WHO_BYTES];
    if (name_failed(who, job, failures, first, true, err) < 0)
        return -1;
    const int count = name_failed(others, job, failures, first, false, err);
    if (count < 0)
        return -1;
    if (who_has_ranks(job))
        *who = 'R';
    const struct verdict *verdict = &failures[first].verdict;
    for (size_t i = 0; i < verdict->texts.count; i++)
        verdict_say(said, verdict->roles[i], "%s%s%s", i ? "" : who, i ? "" : ": ",
                    verdict->texts.items[i]);
    if (say_others_on_card(said, job, first, &failures[first], err))
        return -1;
    if (count)
        verdict_say(said, VERDICT_who, "Allocations of %s failed, too.", others);
    return 0;
}

/* --- the whole answer --- */

/* Writes the verdict and the command to run next: that of the rank that failed, one that shows the
 * memory on the card of another rank, or one that shows what sets the outlier apart. */
static int add_answer(struct doc *doc, const struct job *job, const struct verdict *said,
                      const char *of_failed, const struct job_place *stray, struct err *err)
{
    const struct job_group *outlier = job_outlier(job);
    struct text line;
    if (of_failed || (!stray && !outlier)) {
        verdict_write(doc, said, of_failed, false);
        return 0;
    }
    text_init(&line, 2 * LIMIT_text_bytes);
    if (stray) {
        text_addf(&line, "gpumemtrace peak --device=%d ", stray->device);
        text_add_word(&line, job->surveys[stray->trace].path);
    } else {
        const char *typical = job->surveys[job_middle(job, &job->groups[job->typical])->like].path;
        const char *other = job->surveys[job_highest(job, outlier)->trace].path;
        const bool is_one = !strcmp(typical, other);

        text_addf(&line, "gpumemtrace %s %s%s%s", is_one ? "peak" : "diff", typical,
                  is_one ? "" : " ", is_one ? "" : other);
    }
    verdict_write(doc, said, line.data, false);
    const int status = text_failed(&line) ? -1 : 0;
    if (status)
        err_set(err, ERR_SYSTEM, "out of memory for the answer");
    text_release(&line);
    return status;
}

int page_job_answer(struct doc *doc, struct job *job, const struct opening_failure *failures,
                    struct err *err)
{
    const int failed = page_job_failed(job, failures);
    const struct job_place *stray = NULL;
    struct verdict said = {0};
    int status = (failed >= 0 && say_failed(&said, job, failures, failed, err)) ||
                         say_all_strays(&said, job, &stray, err) ||
                         (job_outlier(job) && say_outlier(&said, job, err)) ||
                         (job->used_count && say_groups(&said, job, err)) ||
                         say_unused(&said, job, err)
                     ? -1
                     : 0;
    say_cards(&said, job);
    if (!status)
        status = add_answer(doc, job, &said, failed < 0 ? NULL : failures[failed].next, stray, err);
    verdict_release(&said);
    return status;
}
