/* SPDX-License-Identifier: MIT */
/* Failed allocations and their verdicts as a document. */
#include "docs.h"

#include <inttypes.h>
#include <stdio.h>

#include "analyzer/analysis/oom.h"
#include "analyzer/analysis/sites.h"
#include "analyzer/render/units.h"

/* Rows with evidence cost a look at every block each: of many, the first and the last are shown. */
enum { ROWS_AT_EACH_END = 100, HOLDERS = 10 };

/* --- the sentence --- */

/* One conversion buffer per number of the sentence. */
struct sizes {
    char asked[UNITS_TEXT_BYTES], free[UNITS_TEXT_BYTES], idle[UNITS_TEXT_BYTES];
    char hole[UNITS_TEXT_BYTES], others[UNITS_TEXT_BYTES], total[UNITS_TEXT_BYTES];
    char live[UNITS_TEXT_BYTES];
};

static struct sizes sizes_of(const struct oom *oom)
{
    struct sizes sizes = {0};

    units_bytes(sizes.asked, oom->asked_bytes);
    units_bytes(sizes.free, oom->device_free_bytes);
    units_bytes(sizes.idle, oom->idle_bytes);
    units_bytes(sizes.hole, oom->largest_hole_bytes);
    units_bytes(sizes.others, oom->others_bytes);
    units_bytes(sizes.total, oom->device_total_bytes);
    units_bytes(sizes.live, oom->driver_live_bytes);
    return sizes;
}

static void explain_unknown(char *out, size_t out_bytes, const struct oom *oom)
{
    const char *name = oom_result_name(oom->result);
    struct sizes sizes = sizes_of(oom);

    if (oom->result != RESULT_OUT_OF_MEMORY)
        snprintf(out, out_bytes, "Not a lack of memory: the call returned %" PRId32 "%s%s%s.",
                 oom->result, name ? " (" : "", name ? name : "", name ? ")" : "");
    else if (oom->account == ACCOUNT_host)
        snprintf(out, out_bytes, "%s of the host's memory was asked for and refused.", sizes.asked);
    else if (oom->account == ACCOUNT_imported)
        snprintf(out, out_bytes, "Memory of another process or API could not be opened.");
    else if (oom->account == ACCOUNT_context)
        snprintf(out, out_bytes,
                 "There was no room for a context, a module or a limit; no call says how much it "
                 "needs%s%s.",
                 oom->device_known ? ", and the card had " : "",
                 oom->device_known ? sizes.free : "");
    else
        snprintf(out, out_bytes, "The trace has no cuMemGetInfo near the failure to judge by.");
}

static void explain(char *out, size_t out_bytes, const struct oom *oom)
{
    struct sizes sizes = sizes_of(oom);

    switch (oom->verdict) {
    case OOM_FRAGMENTED:
        snprintf(out, out_bytes,
                 "%s was asked for; %s lay idle in what the process held, the largest piece %s"
                 "%s%s.",
                 sizes.asked, sizes.idle, sizes.hole,
                 oom->device_known ? ", and the card itself had " : "",
                 oom->device_known ? sizes.free : "");
        break;
    case OOM_LIMIT:
        snprintf(out, out_bytes,
                 "%s was asked for and refused%s%s: a limit of the framework or the driver.",
                 sizes.asked, oom->device_known ? ", although the card's free memory was " : "",
                 oom->device_known ? sizes.free : "");
        break;
    case OOM_OTHERS:
        snprintf(out, out_bytes,
                 "%s was asked for; the card had %s, and about %s of it was held outside this "
                 "process's memory: other processes.",
                 sizes.asked, sizes.free, sizes.others);
        break;
    case OOM_EXHAUSTED:
        snprintf(out, out_bytes, "%s was asked for; this process held %s%s%s%s%s.", sizes.asked,
                 sizes.live, oom->device_total_bytes ? " of the card's " : "",
                 oom->device_total_bytes ? sizes.total : "",
                 oom->device_known ? ", what was left of it is " : "",
                 oom->device_known ? sizes.free : "");
        break;
    case OOM_UNKNOWN:
        explain_unknown(out, out_bytes, oom);
        break;
    }
}

/* --- a row --- */

static const char *path_of(const struct study *study, uint32_t span)
{
    return span == HISTORY_NONE ? NULL : study_path(study, study->history.spans[span].path);
}

static void add_evidence(struct doc *doc, const struct oom *oom, bool people)
{
    doc_known_bytes(doc, "device_free_bytes", NULL, oom->device_known, oom->device_free_bytes);
    doc_known_bytes(doc, "device_total_bytes", NULL, oom->device_total_bytes != 0,
                    oom->device_total_bytes);
    doc_known_bytes(doc, "context_bytes", NULL, oom->context_known, oom->context_bytes);
    doc_known_bytes(doc, "others_bytes", NULL, oom->others_known, oom->others_bytes);
    doc_bytes(doc, "driver_live_bytes", NULL, oom->driver_live_bytes);
    doc_bytes(doc, "live_bytes", people ? "Live" : NULL, oom->live_bytes);
    doc_known_bytes(doc, "reserved_bytes", NULL, oom->reserved_known, oom->reserved_bytes);
    doc_known_bytes(doc, "idle_bytes", people ? "Idle" : NULL, oom->reserved_known,
                    oom->idle_bytes);
    doc_known_bytes(doc, "largest_hole_bytes", people ? "Largest hole" : NULL, oom->reserved_known,
                    oom->largest_hole_bytes);
}

static void add_categories(struct doc *doc, const struct sites *sites)
{
    uint64_t bytes[CATEGORY_COUNT];

    sites_by_category(sites, bytes);
    doc_object_begin(doc, "categories", NULL);
    for (int i = 0; i < CATEGORY_COUNT; i++)
        doc_bytes(doc, category_key((enum category)i), NULL, bytes[i]);
    doc_object_end(doc);
}

static int add_holders(struct doc *doc, const struct study *study, const struct view *view,
                       const struct oom *oom, struct err *err)
{
    struct view shown = *view;
    struct sites sites;
    struct site_list list = {.key = "holders",
                             .stocks = &oom->stock,
                             .indices = &oom->failure->event,
                             .count = 1,
                             .frames = 3};

    if (view->people)
        return 0;
    if (sites_at(&sites, &study->categories, oom->stock, oom->failure->event, err))
        return -1;
    add_categories(doc, &sites);
    sites_release(&sites);
    if (!shown.top)
        shown.top = HOLDERS;
    return docs_sites(doc, study, &shown, &list, err);
}

static int add_row(struct doc *doc, const struct study *study, const struct view *view,
                   size_t number, struct err *err)
{
    const struct history *history = &study->history;
    const struct failure *failure = &history->failures[number];
    const struct event *event = &study->trace.events[failure->event];
    const struct stock *stock = &history->stocks[failure->stock];
    bool people = view->people;
    char sentence[512];
    struct oom oom;

    if (oom_explain(&oom, history, failure, err))
        return -1;
    explain(sentence, sizeof sentence, &oom);
    doc_row_begin(doc);
    doc_count(doc, "number", people ? "No." : NULL, number + 1);
    if (stock->device == DEVICE_UNKNOWN)
        doc_null(doc, "device", NULL, DOC_COUNT);
    else
        doc_count(doc, "device", NULL, (uint64_t)stock->device);
    docs_layer(doc, study, view, stock);
    doc_count(doc, "seq", NULL, event->seq);
    doc_integer(doc, "time_ns", people ? "At" : NULL, DOC_NS, (int64_t)event->time_ns);
    doc_text(doc, "api", NULL, trace_hook(&study->trace, event->hook_id));
    doc_text(doc, "phase", people ? "Phase" : NULL, path_of(study, failure->span));
    doc_integer(doc, "result", NULL, DOC_COUNT, event->result);
    doc_known_bytes(doc, "asked_bytes", people ? "Asked" : NULL, oom.account != ACCOUNT_context,
                    oom.asked_bytes);
    doc_text(doc, "verdict", people ? "Verdict" : NULL, oom_verdict_name(oom.verdict));
    doc_text(doc, "explanation", NULL, sentence);
    add_evidence(doc, &oom, people);
    if (people)
        doc_note(doc, "%s", sentence);
    if (docs_frames(doc, study, view, event->stack_id, 3, err) ||
        add_holders(doc, study, view, &oom, err))
        return -1;
    doc_row_end(doc);
    return 0;
}

static bool is_shown(const struct study *study, const struct view *view, size_t number)
{
    const struct history *history = &study->history;
    const struct stock *stock = &history->stocks[history->failures[number].stock];

    if (view->device >= 0 && stock->device != view->device)
        return false;
    if (view->layer != LAYER_none &&
        (view->layer == LAYER_pool) != (stock->account == ACCOUNT_pool))
        return false;
    return number < ROWS_AT_EACH_END || number + ROWS_AT_EACH_END >= history->failure_count;
}

/* Who held the rest, for people as a section of its own below the table. */
static int add_people_holders(struct doc *doc, const struct study *study, const struct view *view,
                              size_t number, struct err *err)
{
    const struct failure *failure = &study->history.failures[number];
    struct view shown = *view;
    struct site_list list = {.heading = "Who held memory at the last failure",
                             .indices = &failure->event,
                             .count = 1,
                             .frames = 3};
    struct oom oom;

    if (oom_explain(&oom, &study->history, failure, err))
        return -1;
    list.stocks = &oom.stock;
    if (!shown.top)
        shown.top = 5;
    return docs_sites(doc, study, &shown, &list, err);
}

int docs_oom(struct doc *doc, const struct study *study, const struct view *view, struct err *err)
{
    size_t count = study->history.failure_count, last = count;

    doc_list_begin(doc, "oom", view->people ? "Failed allocations" : NULL);
    for (size_t i = 0; i < count; i++) {
        if (!is_shown(study, view, i))
            continue;
        if (add_row(doc, study, view, i, err))
            return -1;
        last = i;
    }
    if (view->people && last == count)
        doc_note(doc, "None.");
    doc_list_end(doc);
    return view->people && last < count ? add_people_holders(doc, study, view, last, err) : 0;
}

/* The failure that people come with is the last one, as the framework saw it if it did. */
int docs_last_oom(struct doc *doc, const struct study *study, const struct view *view,
                  struct err *err)
{
    size_t count = study->history.failure_count, last = count;

    if (!view->people)
        return docs_oom(doc, study, view, err);
    for (size_t i = 0; i < count; i++)
        if (is_shown(study, view, i))
            last = i;
    if (last == count)
        return 0;
    doc_list_begin(doc, NULL, count > 1 ? "The last failed allocation" : "Failed allocation");
    if (add_row(doc, study, view, last, err))
        return -1;
    if (count > 1)
        doc_note(doc, "%zu failed in all: see 'gpumemtrace oom'.", count);
    doc_list_end(doc);
    return 0;
}
