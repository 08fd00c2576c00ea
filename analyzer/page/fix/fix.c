/* SPDX-License-Identifier: MIT */
/* The page of `fix`: what was seen to fit, what needs a change of code, and every run. */
#include "analyzer/page/parts.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "analyzer/fix/fix.h"
#include "analyzer/remedy/remedies.h"
#include "analyzer/render/units.h"
#include "analyzer/util/text.h"

enum { TEXT_MAX = 1 << 20 };
/* Less than this share of the card is next to nothing: drivers and contexts differ by as much. */
enum { SCARCE_SHARE = 50 };

static const struct page_fix_options *options_of(const struct view *view)
{
    return view->own;
}

/* --- the answer --- */

/* "peak 1.20 GiB of 1.31 GiB, 112.00 MiB spare". */
static void add_room(struct text *text, const struct trial *trial)
{
    char peak[UNITS_TEXT_BYTES], room[UNITS_TEXT_BYTES], spare[UNITS_TEXT_BYTES];
    if (!trial->is_known) {
        text_add(text, "its peak is not known");
        return;
    }
    text_addf(text, "peak %s of %s", units_bytes(peak, trial->peak_bytes),
              units_bytes(room, trial->room_bytes));
    if (trial->device > 0)
        text_addf(text, " on device %d", trial->device);
    text_addf(text, ", %s spare", units_bytes(spare, trial->spare_bytes));
}

static void add_fits(struct text *text, const struct trial *trial)
{
    text_add(text, "Fits: ");
    add_room(text, trial);
    text_add(text, "; nothing was tried");
    if (trial->failures_count)
        text_addf(text,
                  ". %" PRIu64 " allocation%s failed for want of memory, and the program went on",
                  trial->failures_count, trial->failures_count == 1 ? "" : "s");
}

static void add_best(struct text *text, const struct fix *fix)
{
    const struct fix_run *run = &fix->runs[fix->remedies[0].run];
    text_add(text, "Out of memory; fits with ");
    fix_change_text(text, fix, &run->change);
    text_add(text, ", seen in one run: ");
    add_room(text, &run->trial);
    if (run->trial.is_known && run->trial.spare_bytes < run->trial.room_bytes / SCARCE_SHARE)
        text_add(text, ", so little that a card whose context takes more may still refuse it");
}

static void add_none(struct text *text, const struct fix *fix, const struct page_fix_options *own)
{
    char room[UNITS_TEXT_BYTES];
    text_addf(text, "Out of memory on %s, and no remedy was found: ",
              units_bytes(room, fix->card.total_bytes - fix->card.others_bytes));
    size_t tried = 0;
    for (size_t i = 1; i < fix->count; i++)
        tried += fix->runs[i].trial.end != TRIAL_STOPPED;
    if (tried)
        text_addf(text, "none of the %zu change%s that %s tried fits", tried, tried == 1 ? "" : "s",
                  tried == 1 ? "was" : "were");
    else if (own->stopped_by)
        text_add(text, "no change was tried to its end");
    else
        text_add(text, "nothing that can be tried from outside has a chance");
    if (own->stopped_by)
        text_add(text, " so far");
    else if (fix->is_out_of_runs)
        text_addf(text, "; --max-runs=%zu ended the search", fix->max_runs);
    if (!fix->vary_count)
        text_add(text,
                 "; --vary=NAME tries smaller values of an option or variable, as the batch's "
                 "size");
}

/* Why, as `oom` says it, without what would have helped. */
static int say_why(struct opening *opening, const struct study *study, const struct view *view,
                   struct err *err)
{
    struct opening why = {.err = err};
    int status = page_oom_answer(&why, study, view, err);
    if (status > 0 && why.sentences.count) {
        const char *asker = strstr(why.sentences.items[0], ": ");
        status = page_say(opening, "As it was, %s", asker ? asker + 2 : why.sentences.items[0]);
    }
    text_list_release(&why.sentences);
    return status;
}

static int fix_answer(struct opening *opening, const struct study *study, const struct view *view,
                      struct err *err)
{
    const struct page_fix_options *own = options_of(view);
    const struct fix *fix = own->fix;
    const bool fits = fix->runs[0].trial.end == TRIAL_FITS;
    struct text text;
    text_init(&text, TEXT_MAX);
    if (fits)
        add_fits(&text, &fix->runs[0].trial);
    else if (fix->remedy_count)
        add_best(&text, fix);
    else
        add_none(&text, fix, own);
    int status = page_say(opening, "%s.", text_failed(&text) ? "Out of memory" : text.data);
    text_release(&text);
    if (status > 0 && own->stopped_by && !fits)
        status = page_say(opening, "Stopped by signal %d in run %zu.", own->stopped_by, fix->count);
    if (status < 0 || fits)
        return status;
    if (say_why(opening, study, view, err) < 0)
        return -1;
    if (!fix->remedy_count && page_remedies_say(opening, study, 1U << REMEDY_BY_code,
                                                "Not tried, but computed to help", err) < 0)
        return -1;
    return 1;
}

/* --- what was seen to fit --- */

/* "24 of 64 as batch-size: …; and of the setting …". */
static void add_price(struct text *text, const struct fix *fix, const struct fix_change *change)
{
    const char *between = "";
    if (change->setting != SETTING_NONE) {
        text_add(text, fix_setting_words(change->setting)->price);
        between = "; ";
    }
    for (size_t i = 0; i < fix->vary_count; i++)
        if (fix_is_varied(fix, change, i)) {
            text_addf(text, "%s%s %ld in place of %ld: %s", between, fix->varies[i].name,
                      change->values[i], fix->varies[i].value, fix_price_of(fix->varies[i].name));
            between = "; ";
        }
}

static const char *kind_of(const struct fix *fix, const struct fix_change *change)
{
    size_t numbers = 0;
    for (size_t i = 0; i < fix->vary_count; i++)
        numbers += fix_is_varied(fix, change, i);
    if (change->setting != SETTING_NONE)
        return numbers ? "setting_and_number" : "setting";
    return numbers > 1 ? "numbers" : "number";
}

static void add_trial_room(struct doc *doc, const struct trial *trial)
{
    doc_known_bytes(doc, "peak_bytes", "Peak", trial->is_known, trial->peak_bytes);
    doc_known_bytes(doc, "spare_bytes", "Spare", trial->is_known, trial->spare_bytes);
    doc_known_bytes(doc_detail(doc), "room_bytes", "Of", trial->is_known, trial->room_bytes);
    doc_known_bytes(doc, "live_peak_bytes", "Live", trial->is_known, trial->live_bytes);
}

static void add_texts(struct doc *doc, const struct fix *fix, const struct fix_remedy *remedy)
{
    const struct fix_change *change = &fix->runs[remedy->run].change;
    struct text line, price;
    text_init(&line, TEXT_MAX);
    text_init(&price, TEXT_MAX);
    fix_change_line(&line, fix, change);
    add_price(&price, fix, change);
    doc_text(doc_detail(doc), "price", "Price", text_failed(&price) ? NULL : price.data);
    doc_text(doc_detail(doc), "line", "Line to paste", text_failed(&line) ? NULL : line.data);
    doc_line(doc, "%s", text_failed(&line) ? "" : line.data);
    doc_note(doc, "price: %s", text_failed(&price) ? "" : price.data);
    if (remedy->refused)
        doc_note(doc, "%ld did not run through", remedy->refused);
    text_release(&line);
    text_release(&price);
}

static void add_change(struct doc *doc, const struct fix *fix, const struct fix_change *change,
                       const char *nothing)
{
    struct text text;
    text_init(&text, TEXT_MAX);
    fix_change_text(&text, fix, change);
    doc_text(doc, "change", "Change", text_failed(&text) ? NULL : *text.data ? text.data : nothing);
    text_release(&text);
}

static void add_remedies(struct doc *doc, const struct fix *fix)
{
    doc_list_begin(doc, "remedies", "Seen to fit, the cheapest first");
    for (size_t i = 0; i < fix->remedy_count; i++) {
        const struct fix_remedy *remedy = &fix->remedies[i];
        const struct fix_run *run = &fix->runs[remedy->run];
        doc_row_begin(doc);
        doc_text(doc_detail(doc), "kind", "Kind", kind_of(fix, &run->change));
        doc_count(doc, "run", "Run", remedy->run + 1);
        add_trial_room(doc, &run->trial);
        add_change(doc, fix, &run->change, NULL);
        doc_count(doc_detail(doc), "seen_runs_count", "Seen", 1);
        doc_known_count(doc_detail(doc), "refused_value", "Refused", remedy->refused > 0,
                        (uint64_t)remedy->refused);
        add_texts(doc, fix, remedy);
        doc_row_end(doc);
    }
    doc_list_end(doc);
}

/* --- what was run --- */

static void add_end(struct doc *doc, const struct trial *trial)
{
    doc_text(doc, "end", "End", trial_end_key(trial->end));
    if (trial->end == TRIAL_FAILED && trial->signal)
        doc_words(doc, "failed: signal %d%s", trial->signal,
                  trial->was_oom_kill ? ", the host's memory was full" : "");
    else if (trial->end == TRIAL_FAILED)
        doc_words(doc, "failed: status %d", trial->status);
    else if (trial->end == TRIAL_NO_MEMORY)
        doc_words(doc, "out of memory");
    else if (trial->end == TRIAL_NO_GPU)
        doc_words(doc, "no CUDA call");
    doc_integer(doc_detail(doc), "exit_status", "Status", DOC_COUNT, trial->status);
    doc_count(doc_detail(doc), "failed_allocations", "Failures", trial->failures_count);
}

static void add_runs(struct doc *doc, const struct fix *fix, bool is_kept)
{
    doc_list_begin(doc, "runs", "Runs");
    for (size_t i = 0; i < fix->count; i++) {
        const struct trial *trial = &fix->runs[i].trial;
        doc_row_begin(doc);
        doc_count(doc, "run", "Run", i + 1);
        add_end(doc, trial);
        add_trial_room(doc, trial);
        doc_integer(doc, "duration_ns", "Took", DOC_NS, (int64_t)trial->duration_ns);
        add_change(doc, fix, &fix->runs[i].change, "nothing: as it was");
        doc_text(doc_detail(doc), "trace", "Trace", is_kept && *trial->trace ? trial->trace : NULL);
        doc_row_end(doc);
    }
    doc_list_end(doc);
}

/* Settings that were not run because the model of the allocator says that they fail as well. */
static void add_ruled_out(struct doc *doc, const struct fix *fix)
{
    doc_list_begin(doc, "ruled_out",
                   "Not run: by the model of PyTorch's allocator it fails as well");
    for (size_t i = 0; i < SETTING_COUNT; i++)
        if (fix->settings[i].text[0] && fix->settings[i].is_ruled_out)
            doc_text(doc, "setting", "", fix->settings[i].text);
    doc_list_end(doc);
}

static int fix_tail(struct doc *doc, const struct study *study, const struct view *view,
                    struct err *err)
{
    const struct page_fix_options *own = options_of(view);
    const struct fix *fix = own->fix;
    const unsigned code = 1U << REMEDY_BY_code, input = 1U << REMEDY_BY_input;
    add_remedies(doc, fix);
    if (page_remedies_by(doc, study, fix->vary_count ? code : code | input, "not_tried",
                         "Not tried, as it needs a change of code: the gain is computed", err))
        return -1;
    add_runs(doc, fix, own->is_kept);
    add_ruled_out(doc, fix);
    doc_count(doc_detail(doc), "max_runs", "most runs", fix->max_runs);
    doc_bool(doc_detail(doc), "stopped", "stopped", own->stopped_by != 0);
    doc_bool(doc_detail(doc), "out_of_runs", "out of runs", fix->is_out_of_runs);
    doc_bool(doc_detail(doc), "traces_kept", "traces kept", own->is_kept);
    if (!own->is_kept)
        doc_note(doc, "The traces of the runs are deleted; --keep=FOLDER keeps them.");
    return page_warnings(doc, study, view, err);
}

const struct page page_fix = {.schema = "gpumemtrace.fix/1",
                              .needs = STUDY_NEEDS_steps,
                              .advises = true,
                              .answer = fix_answer,
                              .tail = fix_tail};
