/* SPDX-License-Identifier: MIT */
/* The page of `fix`: changes that a run has shown to fit, changes of code, and every run. */
#include "analyzer/page/parts.h"

#include <stdlib.h>
#include <string.h>

#include "analyzer/fix/fix.h"
#include "analyzer/oom/oom.h"
#include "analyzer/page/oom/told.h"
#include "runs.h"
#include "analyzer/remedy/remedies.h"
#include "analyzer/render/units.h"
#include "analyzer/util/text.h"

enum { TEXT_MAX = 1 << 20 };

static const struct page_fix_options *options_of(const struct view *view)
{
    return view->own;
}

static const char *kind_of(const struct fix_change *change)
{
    if (change->setting == SETTING_NONE)
        return "number";
    return change->value ? "setting_and_number" : "setting";
}

/* --- the answer --- */

static void add_fits(struct text *text, const struct trial *trial)
{
    text_add(text, "Fits: ");
    page_runs_room(text, trial);
    text_add(text, "; nothing was tried");
}

static void add_best(struct text *text, const struct fix *fix)
{
    text_add(text, "Out of memory; fits with ");
    fix_change_text(text, fix, &fix->runs[fix->remedies[0].run].change);
}

/* Adds the change that was seen to fit, with its gain. */
static void add_seen(struct text *text, const struct fix *fix)
{
    const struct fix_run *run = &fix->runs[fix->remedies[0].run];
    text_add(text, "Run it with ");
    fix_change_text(text, fix, &run->change);
    text_add(text, ", seen in one run: ");
    page_runs_room(text, &run->trial);
    text_add(text, page_runs_scarce(&run->trial));
}

/* Adds numbers of the program's command line that could be varied: their names suggest the size of
 * a batch or of a sequence. */
static void add_numbers_to_vary(struct text *text, const struct fix *fix)
{
    enum { OFFERS_MAX = 3 };
    struct text names;
    text_init(&names, TEXT_MAX);
    if (vary_offer(&names, fix->argv, fix->argc, fix_may_be_size, OFFERS_MAX) &&
        !text_failed(&names))
        text_addf(text, "%s tries smaller values", names.data + strspn(names.data, " "));
    else
        text_add(text, "--vary=NAME tries smaller values of an option or variable, as the batch's "
                       "size, once the program takes that from there");
    text_release(&names);
}

static void add_none(struct text *text, const struct fix *fix, const struct page_fix_options *own)
{
    text_addf(text, "Out of memory on %s, and no remedy was found: ",
              BYTES_TEXT(fix->card.total_bytes - fix->card.others_bytes));
    size_t tried = 0;
    for (size_t i = 1; i < fix->count; i++)
        tried += fix->runs[i].trial.end != TRIAL_STOPPED;
    if (tried == 1)
        text_add(text, "the one change that was tried does not fit");
    else if (tried)
        text_addf(text, "none of the %zu changes that were tried fits", tried);
    else if (own->stopped_by)
        text_add(text, "no change was tried to its end");
    else
        text_add(text, "nothing that can be tried from outside has a chance");
    if (own->stopped_by)
        text_add(text, " so far");
}

/* Says why the allocation failed, like `oom` but without the remedies. */
static int say_why(struct opening *opening, const struct study *study, const struct view *view,
                   struct err *err)
{
    struct opening why = {.err = err};
    const int status = page_oom_answer(&why, study, view, err);
    for (size_t i = 1; i < why.verdict.texts.count && status > 0; i++)
        if (why.verdict.roles[i] != VERDICT_do)
            page_say(opening, why.verdict.roles[i], "%s", why.verdict.texts.items[i]);
    if (why.verdict.texts.count && status > 0) {
        const char *text = why.verdict.texts.items[0], *asker = strstr(text, ": ");
        page_say(opening, VERDICT_why, "As it was, %s", asker ? asker + 2 : text);
    }
    verdict_release(&why.verdict);
    return status;
}

/* Says that no setting helped, if memory was fragmented, because people expect a setting to help in
 * this case. */
static int say_settings(struct opening *opening, const struct fix *fix, const struct study *study,
                        const struct view *view, struct err *err)
{
    const struct failure *failure = page_oom_chosen(study, view);
    size_t tried = 0, ruled_out = 0;
    struct oom oom;
    for (size_t i = 0; i < fix->remedy_count; i++)
        if (fix->runs[fix->remedies[i].run].change.setting != SETTING_NONE)
            return 1;
    for (size_t i = 0; i < SETTING_COUNT; i++)
        ruled_out += fix->settings[i].text[0] && fix->settings[i].is_ruled_out;
    for (size_t i = 1; i < fix->count; i++)
        tried += !strcmp(kind_of(&fix->runs[i].change), "setting");
    if (!failure || !(tried + ruled_out))
        return 1;
    if (oom_explain(&oom, &study->history, failure, err))
        return -1;
    if (oom.verdict != OOM_FRAGMENTED)
        return 1;
    return page_say(opening, VERDICT_do,
                    "No setting of the allocator helps: %zu tried in a run, %zu by its model. The "
                    "program has to need less.",
                    tried, ruled_out);
}

static void say_refusals(struct opening *opening, const struct trial *trial, struct text *text)
{
    page_runs_refusals(text, trial);
    if (*text->data)
        page_say(opening, VERDICT_why, "%s.", text->data);
}

/* Says why the program ran out of memory, and why the search ended. */
static int say_failure(struct opening *opening, const struct page_fix_options *own,
                       const struct study *study, const struct view *view, struct err *err)
{
    if (say_why(opening, study, view, err) < 0 ||
        say_settings(opening, own->fix, study, view, err) < 0)
        return -1;
    if (own->stopped_by)
        return page_say(opening, VERDICT_why, "Stopped by signal %d in run %zu.", own->stopped_by,
                        own->fix->count);
    return !own->fix->remedy_count && own->fix->is_out_of_runs
               ? page_say(opening, VERDICT_why, "--max-runs=%zu ended the search.",
                          own->fix->max_runs)
               : 1;
}

/* Says the change that was seen to fit. If there is none, says what was computed to help, and which
 * numbers could be tried. */
static int say_action(struct opening *opening, const struct page_fix_options *own,
                      const struct study *study, struct text *text, struct err *err)
{
    const struct fix *fix = own->fix;
    if (!fix->remedy_count) {
        if (page_remedies_say(opening, study, 1U << REMEDY_BY_code,
                              "Not tried, but computed to help: ", err) < 0)
            return -1;
        if (fix->vary_count)
            return 1;
        add_numbers_to_vary(text, fix);
    } else {
        add_seen(text, fix);
    }
    return page_say(opening, VERDICT_do, "%s.",
                    text_failed(text) ? "The tables have the changes" : text->data);
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
    page_say(opening, VERDICT_what, "%s.", text_failed(&text) ? "Out of memory" : text.data);
    text_clear(&text);
    int status = 1;
    if (fits)
        say_refusals(opening, &fix->runs[0].trial, &text);
    else
        status = say_failure(opening, own, study, view, err) < 0
                     ? -1
                     : say_action(opening, own, study, &text, err);
    text_release(&text);
    return status;
}

/* --- changes that a run has shown to fit --- */

/* Adds the price of the change: first that of the setting, then for example "batch-size 24 in place
 * of 64: …". */
static void add_price(struct text *text, const struct fix *fix, const struct fix_change *change)
{
    const struct vary *vary = &fix->varies[change->number];
    const bool has_setting = change->setting != SETTING_NONE;
    if (has_setting)
        text_add(text, fix_setting_words(change->setting)->price);
    if (change->value)
        text_addf(text, "%s%s %ld in place of %ld: %s", has_setting ? "; " : "", vary->name,
                  change->value, vary->value, fix_price_of(vary->name));
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

static void add_remedies(struct doc *doc, const struct fix *fix)
{
    doc_list_begin(doc, "remedies", "Seen to fit, the cheapest first");
    for (size_t i = 0; i < fix->remedy_count; i++) {
        const struct fix_remedy *remedy = &fix->remedies[i];
        const struct fix_run *run = &fix->runs[remedy->run];
        doc_row_begin(doc);
        doc_text(doc_detail(doc), "kind", "Kind", kind_of(&run->change));
        doc_count(doc, "run", "Run", remedy->run + 1);
        page_runs_figures(doc, &run->trial);
        page_runs_change(doc, fix, &run->change, NULL);
        doc_count(doc_detail(doc), "seen_runs_count", "Seen", 1);
        doc_known_count(doc_detail(doc), "refused_value", "Refused", remedy->refused > 0,
                        (uint64_t)remedy->refused);
        add_texts(doc, fix, remedy);
        doc_row_end(doc);
    }
    doc_list_end(doc);
}

/* Adds the settings that were not run, because the model of the allocator says that the program
 * also fails with them. */
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
    page_runs(doc, fix, own->is_kept);
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
