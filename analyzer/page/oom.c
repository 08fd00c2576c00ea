/* SPDX-License-Identifier: MIT */
/* The page of `oom`, and its parts: failed allocations and their verdicts. */
#include "parts.h"
#include "remedies.h"

#include <inttypes.h>
#include <stdio.h>

#include "analyzer/oom/oom.h"
#include "analyzer/oom/oom_kind.h"
#include "analyzer/analysis/sites.h"
#include "analyzer/render/units.h"

enum { HOLDERS = 10, SUMMARY_HOLDERS = 5, HOLDER_FRAME_LINES = 3 };

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

static void add_evidence(struct doc *doc, const struct oom *oom)
{
    doc_known_bytes(doc_detail(doc), "device_free_bytes", "Free on the card", oom->device_known,
                    oom->device_free_bytes);
    doc_known_bytes(doc_detail(doc), "device_total_bytes", "Of the card",
                    oom->device_total_bytes != 0, oom->device_total_bytes);
    doc_known_bytes(doc_detail(doc), "context_bytes", "Context", oom->context_known,
                    oom->context_bytes);
    doc_known_bytes(doc_detail(doc), "others_bytes", "Held by others", oom->others_known,
                    oom->others_bytes);
    doc_bytes(doc_detail(doc), "driver_live_bytes", "Live in the driver", oom->driver_live_bytes);
    doc_bytes(doc, "live_bytes", "Live", oom->live_bytes);
    doc_known_bytes(doc_detail(doc), "reserved_bytes", "Reserved", oom->reserved_known,
                    oom->reserved_bytes);
    doc_known_bytes(doc, "idle_bytes", "Idle", oom->reserved_known, oom->idle_bytes);
    doc_known_bytes(doc, "largest_hole_bytes", "Largest hole", oom->reserved_known,
                    oom->largest_hole_bytes);
}

static void add_held_categories(struct doc *doc, const struct sites *sites)
{
    uint64_t bytes[CATEGORY_COUNT];

    sites_by_category(sites, bytes);
    doc_object_begin(doc_detail(doc), "categories", "Held by category");
    for (int i = 0; i < CATEGORY_COUNT; i++)
        doc_bytes(doc, category_key((enum category)i), category_title((enum category)i), bytes[i]);
    doc_object_end(doc);
}

/* The sites that held most when the allocation failed. */
static int add_holders(struct doc *doc, const struct study *study, const struct view *view,
                       const struct oom *oom, const struct sites *sites,
                       const struct page_site_list *list, struct err *err)
{
    struct view shown = *view;

    if (!shown.top)
        shown.top = (long)list->summary_rows;
    return page_sites_found(doc, study, &shown, oom->stock, sites, list, err);
}

static int find_holders(struct sites *sites, const struct study *study, const struct oom *oom,
                        struct err *err)
{
    return sites_at(sites, &study->categories, oom->stock, oom->failure->at.index, err);
}

static int add_failure_holders(struct doc *doc, const struct study *study, const struct view *view,
                               const struct oom *oom, struct err *err)
{
    static const struct page_site_list list = {.key = "holders",
                                               .heading = "Held by",
                                               .summary_rows = HOLDERS,
                                               .frame_lines = HOLDER_FRAME_LINES};
    struct sites sites;

    if (!doc_takes(doc, DOC_DETAIL))
        return 0;
    if (find_holders(&sites, study, oom, err))
        return -1;
    add_held_categories(doc, &sites);
    const int status = add_holders(doc_detail(doc), study, view, oom, &sites, &list, err);
    sites_release(&sites);
    return status;
}

/* What was asked for, and what became of it. */
static void add_request(struct doc *doc, const struct study *study, const struct failure *failure,
                        const struct oom *oom)
{
    const struct event *event = &failure->event;
    const struct stock *stock = &study->history.stocks[failure->stock];
    char reason[OOM_KIND_TEXT_BYTES];

    page_device_number(doc_detail(doc), "Device", stock->device);
    page_layer(doc, study, stock, "Layer");
    doc_count(doc_detail(doc), "seq", "Event", event->seq);
    doc_integer(doc, "time_ns", "At", DOC_NS, (int64_t)event->time_ns);
    doc_text(doc_detail(doc), "api", "Call", trace_hook(&study->trace, event->hook_id));
    doc_text(doc, "phase", "Phase", study_path(study, failure->path));
    doc_integer(doc_detail(doc), "result", "Result", DOC_COUNT, event->result);
    doc_known_bytes(doc, "asked_bytes", "Asked", oom->account != ACCOUNT_context, oom->asked_bytes);
    doc_text(doc, "verdict", "Verdict", oom_verdict_name(oom->verdict));
    doc_text(doc, "kind", "Kind", oom_kind_name(oom_kind_of(&study->history, failure)));
    doc_text(doc_detail(doc), "kind_reason", "Because",
             oom_kind_reason(&study->history, failure, reason));
}

/* The calls that failed one after the other, the last of them the row's own. */
static void add_refusals(struct doc *doc, const struct study *study, const struct failure *failure)
{
    doc_bytes(doc_detail(doc), "flushed_bytes", "Flushed", failure->flushed_bytes);
    doc_count(doc_detail(doc), "refusals_count", "Refusals", failure->refusals_count);
    doc_list_begin(doc_detail(doc), "refusals", "Refused");
    for (uint32_t i = 0; i < failure->refusals_count && i < FAILURE_REFUSALS; i++) {
        const struct refusal *refusal = &failure->refusals[i];

        doc_row_begin(doc);
        doc_count(doc, "seq", "Event", refusal->at.seq);
        doc_integer(doc, "time_ns", "At", DOC_NS, (int64_t)refusal->at.time_ns);
        doc_text(doc, "api", "Call", trace_hook(&study->trace, refusal->hook_id));
        doc_bytes(doc, "asked_bytes", "Asked", refusal->size_bytes);
        doc_integer(doc, "result", "Result", DOC_COUNT, refusal->result);
        doc_row_end(doc);
    }
    doc_list_end(doc);
}

static int add_failed_allocation(struct doc *doc, const struct study *study,
                                 const struct view *view, size_t number, struct err *err)
{
    const struct failure *failure = &study->history.failures[number];
    char sentence[512];
    struct oom oom;

    if (oom_explain(&oom, &study->history, failure, err))
        return -1;
    explain(sentence, sizeof sentence, &oom);
    doc_count(doc, "number", "No.", failure->number);
    add_request(doc, study, failure, &oom);
    doc_text(doc_detail(doc), "explanation", "Explanation", sentence);
    add_evidence(doc, &oom);
    add_refusals(doc, study, failure);
    doc_note(doc, "%s", sentence);
    return page_frames(doc, study, view, failure->event.stack_id, HOLDER_FRAME_LINES, err) ||
                   add_failure_holders(doc, study, view, &oom, err)
               ? -1
               : 0;
}

/* --- the list --- */

static bool is_shown(const struct study *study, const struct view *view, size_t number)
{
    const struct history *history = &study->history;
    const struct stock *stock = &history->stocks[history->failures[number].stock];

    if (view->device >= 0 && stock->device != view->device)
        return false;
    return view->layer == LAYER_none ||
           (view->layer == LAYER_pool) == (stock->account == ACCOUNT_pool);
}

/* SIZE_MAX: none is shown. */
static size_t find_last_failure(const struct study *study, const struct view *view)
{
    for (size_t i = study->history.failure_count; i-- > 0;)
        if (is_shown(study, view, i))
            return i;
    return SIZE_MAX;
}

/* All but those from `first` on are details. */
static int add_failed_allocations(struct doc *doc, const struct study *study,
                                  const struct view *view, size_t first, struct err *err)
{
    for (size_t i = 0; i < study->history.failure_count; i++) {
        if (!is_shown(study, view, i))
            continue;
        doc_row_begin(doc_detail_if(doc, i < first));
        if (doc_takes(doc, DOC_BOTH) && add_failed_allocation(doc, study, view, i, err))
            return -1;
        doc_row_end(doc);
    }
    return 0;
}

/* Refusals that a flush answered: no failures, but each costs the program a stop. */
static int add_retries(struct doc *doc, const struct study *study, const struct view *view,
                       struct err *err)
{
    const struct history *history = &study->history;

    doc_list_begin(doc, "retries",
                   "Retries: refused, and served after the framework flushed its cache");
    for (size_t i = 0; i < history->retry_count; i++) {
        const struct retry_site *site = &history->retries[i];

        if (view->device >= 0 && site->device != view->device)
            continue;
        doc_row_begin(doc);
        page_device_number(doc, "Device", site->device);
        doc_count(doc, "retries_count", "Retries", site->retries_count);
        doc_bytes(doc, "asked_bytes", "Asked at most", site->asked_bytes);
        doc_bytes(doc, "flushed_bytes", "Flushed", site->flushed_bytes);
        doc_count(doc_detail(doc), "last_seq", "Last event", site->last.seq);
        doc_integer(doc, "last_time_ns", "Last at", DOC_NS, (int64_t)site->last.time_ns);
        if (page_frames(doc, study, view, site->stack_id, HOLDER_FRAME_LINES, err))
            return -1;
        doc_row_end(doc);
    }
    doc_list_end(doc);
    return 0;
}

/* For a summary, who held the rest is a section of its own below the table. */
static int add_last_holders(struct doc *doc, const struct study *study, const struct view *view,
                            size_t last, struct err *err)
{
    static const struct page_site_list list = {.heading = "Who held memory at the last failure",
                                               .summary_rows = SUMMARY_HOLDERS,
                                               .frame_lines = HOLDER_FRAME_LINES};
    struct sites sites;
    struct oom oom;

    if (last == SIZE_MAX || !doc_takes(doc, DOC_SUMMARY))
        return 0;
    if (oom_explain(&oom, &study->history, &study->history.failures[last], err) ||
        find_holders(&sites, study, &oom, err))
        return -1;
    const int status = add_holders(doc_summary(doc), study, view, &oom, &sites, &list, err);
    sites_release(&sites);
    return status;
}

int page_all_failures(struct doc *doc, const struct study *study, const struct view *view,
                      struct err *err)
{
    const size_t last = find_last_failure(study, view);

    doc_list_begin(doc, "oom", "Failed allocations");
    if (add_failed_allocations(doc, study, view, 0, err))
        return -1;
    if (last == SIZE_MAX)
        doc_note(doc, "None.");
    doc_list_end(doc);
    return add_last_holders(doc, study, view, last, err) || add_retries(doc, study, view, err) ? -1
                                                                                               : 0;
}

/* The failure that people come with is the last one, as the framework saw it if it did. */
int page_last_failure(struct doc *doc, const struct study *study, const struct view *view,
                      struct err *err)
{
    const uint64_t count = study->history.failures_in_all;
    const size_t last = find_last_failure(study, view);

    doc_list_begin(doc, "oom", count > 1 ? "The last failed allocation" : "Failed allocation");
    if (add_failed_allocations(doc, study, view, last, err))
        return -1;
    if (count > 1 && last != SIZE_MAX)
        doc_note(doc, "%" PRIu64 " failed in all: see 'gpumemtrace oom'.", count);
    doc_list_end(doc);
    return add_retries(doc, study, view, err);
}

static int add_oom_tail(struct doc *doc, const struct study *study, const struct view *view,
                        struct err *err)
{
    return page_all_failures(doc, study, view, err) || page_remedies(doc, study, view, err) ||
                   page_warnings(doc, study, view, err)
               ? -1
               : 0;
}

const struct page page_oom = {.schema = "gpumemtrace.oom/1", .advises = true, .tail = add_oom_tail};
