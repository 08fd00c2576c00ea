/* SPDX-License-Identifier: MIT */
/* The page of the largest value that fits; see largest.h. */
#include "largest.h"

#include "analyzer/need/need.h"
#include "analyzer/page/verdict/verdict.h"
#include "analyzer/render/units.h"
#include "runs.h"

enum { TEXT_MAX = 1 << 20 };

struct said {
    struct doc *doc;
    const struct fix *fix;
    const struct largest *largest;
    const struct page_largest_options *own;
    const struct vary *vary;
    struct verdict *verdict;
};

static const struct trial *trial_of(const struct said *said, size_t run)
{
    return &said->fix->runs[run].trial;
}

static void add_room(struct text *text, const struct trial *trial)
{
    page_runs_room(text, trial);
    text_add(text, page_runs_scarce(trial));
}

static void say(const struct said *said, enum verdict_role role, struct text *text)
{
    verdict_say(said->verdict, role, "%s", text_failed(text) ? "out of memory" : text->data);
    text_clear(text);
}

/* Adds "625 is out of memory". */
static void add_refused(struct text *text, const struct said *said)
{
    const size_t run = said->largest->refused;
    const struct trial *trial = trial_of(said, run);
    text_addf(text, "%ld ", largest_value(said->fix, run));
    if (trial->end == TRIAL_NO_MEMORY)
        text_add(text, "is out of memory");
    else if (trial->signal)
        text_addf(text, "was killed by signal %d, not for want of the card's memory",
                  trial->signal);
    else
        text_addf(text, "failed with status %d, not for want of the card's memory", trial->status);
}

/* True if no value is left between the one that fits and the one that lacks memory. */
static bool is_sure(const struct said *said)
{
    return said->largest->is_closed &&
           trial_of(said, said->largest->refused)->end == TRIAL_NO_MEMORY;
}

/* Says "batch-size 512 is the largest of 1..512 that fits on 24GiB". */
static void say_verdict(const struct said *said, struct text *text)
{
    const struct largest *largest = said->largest;
    const struct vary *vary = said->vary;
    const char *card = said->own->card;
    switch (largest->end) {
    case LARGEST_FOUND:
        text_addf(text, "%s %ld is the largest of %ld..%ld that %s on %s", vary->name,
                  largest_value(said->fix, largest->fits), vary->low, vary->high,
                  is_sure(said) ? "fits" : "was seen to fit", card);
        break;
    case LARGEST_ALL:
        text_addf(text, "%s %ld, the largest that was asked for, fits on %s", vary->name,
                  largest_value(said->fix, largest->fits), card);
        break;
    case LARGEST_NONE:
        text_addf(text, "No %s was seen to fit on %s: %ld is out of memory", vary->name, card,
                  vary->low);
        break;
    case LARGEST_UNEVEN:
        text_addf(text, "More %s does not need more, and nothing between was tried", vary->name);
        break;
    case LARGEST_FAILED:
        break;
    }
    text_add(text, ".");
    say(said, VERDICT_what, text);
}

/* Says "512 fits: peak 21.30 GiB of 23.50 GiB, 2.20 GiB spare; 513 is out of memory". */
static void say_evidence(const struct said *said, struct text *text)
{
    const struct largest *largest = said->largest;
    if (largest->end == LARGEST_FAILED ||
        (largest->end == LARGEST_NONE &&
         largest_value(said->fix, largest->refused) == said->vary->low))
        return;
    if (largest->fits != LARGEST_NO_RUN) {
        text_addf(text, "%ld fits: ", largest_value(said->fix, largest->fits));
        add_room(text, trial_of(said, largest->fits));
    }
    if (largest->refused != LARGEST_NO_RUN && largest->end != LARGEST_ALL) {
        text_add(text, largest->fits != LARGEST_NO_RUN ? "; " : "");
        add_refused(text, said);
    }
    text_add(text, ".");
    say(said, VERDICT_why, text);
}

/* Says that larger values may fit, if the refused value failed for another reason than memory. */
static void say_of_other_failure(const struct said *said, struct text *text)
{
    const struct largest *largest = said->largest;
    if (largest->end != LARGEST_FOUND || largest->refused == LARGEST_NO_RUN ||
        trial_of(said, largest->refused)->end == TRIAL_NO_MEMORY)
        return;
    text_addf(text,
              "More may fit: values that the program does not take are left out by a step, as "
              "--vary=%s:8..512/8.",
              said->vary->name);
    say(said, VERDICT_why, text);
}

/* Adds the refused allocations of the run that fits, and the memory that the run did not count. */
static void say_of_run(const struct said *said, struct text *text)
{
    if (said->largest->fits == LARGEST_NO_RUN)
        return;
    const struct trial *trial = trial_of(said, said->largest->fits);

    if (trial->failures_count) {
        page_runs_refusals(text, trial);
        text_add(text, ".");
        say(said, VERDICT_why, text);
    }
    if (trial->rank_count > 1) {
        text_add(text, NEED_OF_NCCL ".");
        say(said, VERDICT_why, text);
    }
}

static void say_of_evenness(const struct said *said, struct text *text)
{
    const struct largest *largest = said->largest;
    if (largest->is_flat) {
        text_addf(text,
                  "The peak is the same with all that was run: the program may not take %s %s.",
                  said->vary->name,
                  said->vary->argument ? "from its command line" : "from its environment");
        say(said, VERDICT_why, text);
    }
    if (largest->higher == LARGEST_NO_RUN)
        return;
    text_addf(text,
              "The peak does not rise with %s: %ld had %s, and %ld had %s, so that values between "
              "those that were run may do otherwise than their neighbours.",
              said->vary->name, largest_value(said->fix, largest->higher),
              BYTES_TEXT(trial_of(said, largest->higher)->peak_bytes),
              largest_value(said->fix, largest->lower),
              BYTES_TEXT(trial_of(said, largest->lower)->peak_bytes));
    say(said, VERDICT_why, text);
}

static void say_why_it_ended(const struct said *said, struct text *text)
{
    if (said->own->stopped_by)
        text_addf(text, "Stopped by signal %d in run %zu.", said->own->stopped_by,
                  said->fix->count);
    else if (said->fix->is_out_of_runs)
        text_addf(text, "--max-runs=%zu ended the search.", said->fix->max_runs);
    else
        return;
    say(said, VERDICT_why, text);
}

static void add_answer(const struct said *said)
{
    struct text text;
    text_init(&text, TEXT_MAX);
    say_verdict(said, &text);
    say_evidence(said, &text);
    say_of_other_failure(said, &text);
    say_of_run(said, &text);
    say_of_evenness(said, &text);
    say_why_it_ended(said, &text);
    verdict_finish(said->doc, said->verdict);
    text_release(&text);
}

static void add_line(const struct said *said)
{
    const size_t fits = said->largest->fits;
    struct text line;
    text_init(&line, TEXT_MAX);
    if (fits != LARGEST_NO_RUN)
        fix_change_line(&line, said->fix, &said->fix->runs[fits].change);
    const bool is_known = fits != LARGEST_NO_RUN && !text_failed(&line);
    doc_text(doc_detail(said->doc), "line", "Line to paste", is_known ? line.data : NULL);
    doc_object_begin(doc_summary(said->doc), "paste", "Line to paste");
    if (is_known)
        doc_line(said->doc, "%s", line.data);
    doc_object_end(said->doc);
    text_release(&line);
}

static void add_value(struct doc *doc, const char *key, const struct said *said, size_t run)
{
    const bool is_known = run != LARGEST_NO_RUN;
    doc_known_count(doc_detail(doc), key, "value", is_known,
                    is_known ? (uint64_t)largest_value(said->fix, run) : 0);
}

static const char *end_key(enum largest_end end)
{
    static const char *const keys[] = {[LARGEST_FOUND] = "found",
                                       [LARGEST_ALL] = "all_fit",
                                       [LARGEST_NONE] = "none_fits",
                                       [LARGEST_UNEVEN] = "not_monotonic",
                                       [LARGEST_FAILED] = "failed"};
    return keys[end];
}

struct doc *page_largest(enum doc_level reads, const struct fix *fix, const struct largest *largest,
                         const struct page_largest_options *own)
{
    struct verdict verdict = {0};
    const struct said said = {
        doc_new("gpumemtrace.largest/1", reads), fix, largest, own, &fix->varies[0], &verdict};
    struct doc *doc = said.doc;
    if (!doc)
        return NULL;
    add_answer(&said);
    doc_text(doc_detail(doc), "name", "name", said.vary->name);
    doc_text(doc_detail(doc), "card", "card", own->card);
    doc_text(doc_detail(doc), "result", "result", end_key(largest->end));
    add_value(doc, "fits_value", &said, largest->fits);
    add_value(doc, "refused_value", &said, largest->refused);
    doc_bool(doc_detail(doc), "closed", "closed", largest->is_closed);
    doc_bool(doc_detail(doc), "peak_falls", "peak falls", largest->higher != LARGEST_NO_RUN);
    doc_bool(doc_detail(doc), "peak_is_flat", "peak is flat", largest->is_flat);
    add_line(&said);
    page_runs(doc, fix, own->is_kept);
    doc_bool(doc_detail(doc), "stopped", "stopped", own->stopped_by != 0);
    doc_bool(doc_detail(doc), "out_of_runs", "out of runs", fix->is_out_of_runs);
    return doc;
}
