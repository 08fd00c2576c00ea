/* SPDX-License-Identifier: MIT */
/* The page of `oom`, and its parts: failed allocations and their verdicts. */
#include "analyzer/page/parts.h"

#include <ctype.h>
#include <inttypes.h>
#include <stdlib.h>

#include "analyzer/oom/oom_kind.h"
#include "analyzer/analysis/sites.h"
#include "analyzer/blame/blame.h"
#include "analyzer/page/holders/kept_by.h"
#include "analyzer/render/units.h"
#include "analyzer/util/array.h"
#include "told.h"

/* --- a row --- */

static const char *others_source(const struct oom *oom)
{
    if (!oom->others_known)
        return NULL;
    return oom->sum.is_by_nvml ? "NVML" : "difference";
}

/* Adds the other processes that hold most of the card. */
static void add_other_processes(struct doc *doc, const struct oom *oom)
{
    const struct card_processes *told = &oom->failure->processes;
    doc_list_begin(doc_detail(doc), "other_processes", "Other processes");
    for (size_t i = 0; oom->sum.is_by_nvml && i < CARD_PROCESSES_NAMED && i < told->others_count;
         i++) {
        doc_row_begin(doc);
        doc_count(doc, "pid", "Process", told->largest[i].pid);
        doc_bytes(doc, "bytes", "Bytes", told->largest[i].bytes);
        doc_row_end(doc);
    }
    doc_list_end(doc);
}

static void add_evidence(struct doc *doc, const struct study *study, const struct oom *oom)
{
    const bool knows_segments = oom->reserved_known || !history_is_imported(&study->history);
    doc_known_bytes(doc_detail(doc), "device_free_bytes", "Free on the card", oom->device_known,
                    oom->device_free_bytes);
    doc_known_bytes(doc_detail(doc), "device_total_bytes", "Card size",
                    oom->device_total_bytes != 0, oom->device_total_bytes);
    doc_known_bytes(doc_detail(doc), "context_bytes", "Context", oom->context_known,
                    oom->context_bytes);
    doc_known_bytes(doc_detail(doc), "others_bytes", "Held by others", oom->others_known,
                    oom->others_bytes);
    doc_text(doc_detail(doc), "others_source", "Source of others", others_source(oom));
    doc_known_bytes(doc_detail(doc), "limit_bytes", "Limit of the pool",
                    oom->failure->limit_bytes != 0, oom->failure->limit_bytes);
    doc_known_bytes(doc_detail(doc), "driver_live_bytes", "Live in the driver",
                    !oom->driver_is_unknown, oom->driver_live_bytes);
    doc_bytes(doc, "live_bytes", "Live", oom->live_bytes);
    doc_known_bytes(doc_detail(doc), "reserved_bytes", "Reserved", oom->reserved_known,
                    oom->reserved_bytes);
    doc_known_bytes(doc, "idle_bytes", "Idle", oom->reserved_known, oom->idle_bytes);
    doc_known_bytes(doc_detail(doc), "graph_bytes", "Free in graphs", knows_segments,
                    oom->graph_bytes);
    doc_known_bytes(doc_detail(doc), "other_stream_bytes", "Idle for other streams", knows_segments,
                    oom->other_stream_bytes);
    doc_known_bytes(doc_detail(doc), "outside_bytes", "Outside the framework",
                    !oom->driver_is_unknown, oom->outside_bytes);
    doc_known_bytes(doc_spare(doc), "largest_hole_bytes", "Largest hole", oom->hole_known,
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

/* Adds the sites that held most when the allocation failed. */
static int add_held_sites(struct doc *doc, const struct study *study, const struct view *view,
                          const struct oom *oom, const struct sites *sites,
                          const struct page_site_list *list, struct err *err)
{
    struct view shown = *view;
    struct held_sums kept;
    if (!shown.top)
        shown.top = (long)list->summary_rows;
    if (page_kept_find(&kept, study, oom->account, oom->failure->at.index, err))
        return -1;
    const int status = page_sites_found(doc, study, &shown, oom->account, sites, &kept, list, err);
    held_sums_release(&kept);
    return status;
}

static int find_held_sites(struct sites *sites, const struct study *study, const struct oom *oom,
                           struct err *err)
{
    return sites_at(sites, &study->categories, oom->account, oom->failure->at.index, err);
}

static int add_failure_sites(struct doc *doc, const struct study *study, const struct view *view,
                             const struct oom *oom, struct err *err)
{
    static const struct page_site_list list = {.key = "sites",
                                               .heading = "Held by",
                                               .summary_rows = OOM_SITES,
                                               .frame_lines = OOM_SITE_FRAME_LINES};
    struct sites sites;
    if (!doc_takes(doc, DOC_DETAIL))
        return 0;
    if (find_held_sites(&sites, study, oom, err))
        return -1;
    add_held_categories(doc, &sites);
    const int status = add_held_sites(doc_detail(doc), study, view, oom, &sites, &list, err);
    sites_release(&sites);
    if (status || page_oom_add_holders(doc, study, oom, false, err))
        return -1;
    return page_oom_add_beyond(doc, study, view, oom, false, err);
}

/* Adds the request that failed, and the verdict. */
static void add_request(struct doc *doc, const struct study *study, const struct failure *failure,
                        const struct oom *oom)
{
    const struct event *event = &failure->event;
    const struct account *account = &study->history.accounts[failure->account];
    char reason[OOM_KIND_TEXT_BYTES];
    page_device_number(doc_detail(doc), "Device", account->device);
    page_layer(doc, study, account, "Layer");
    doc_count(doc_detail(doc), "seq", "Event", event->seq);
    page_time(doc_spare(doc), study, "time_ns", "At", event->time_ns);
    doc_text(doc_detail(doc), "api", "Call", trace_hook(&study->trace, event->hook_id));
    doc_text(doc, "phase", "Phase", study_path(study, failure->path));
    doc_integer(doc_detail(doc), "result", "Result", DOC_COUNT, event->result);
    doc_known_bytes(doc, "asked_bytes", "Asked", oom->account_kind != ACCOUNT_context,
                    oom->requested_bytes);
    doc_text(doc, "verdict", "Verdict", oom_verdict_name(oom->verdict));
    doc_text(doc, "kind", "Kind", oom_kind_name(oom_kind_of(&study->history, failure)));
    doc_text(doc_detail(doc), "kind_reason", "Because",
             oom_kind_reason(&study->history, failure, reason));
}

/* Lists the refused calls in order. The last one is the failed call of the row. */
static void add_refusals(struct doc *doc, const struct study *study, const struct oom *oom)
{
    const struct failure *failure = oom->failure;
    doc_known_bytes(doc_detail(doc), "flushed_bytes", "Flushed", !oom->driver_is_unknown,
                    failure->flushed_bytes);
    doc_count(doc_detail(doc), "refusals_count", "Refusals", failure->refusals_count);
    doc_list_begin(doc_detail(doc), "refusals", "Refused");
    for (uint32_t i = 0; i < failure->refusals_count && i < FAILURE_REFUSALS; i++) {
        const struct refusal *refusal = &failure->refusals[i];

        doc_row_begin(doc);
        doc_count(doc, "seq", "Event", refusal->at.seq);
        page_time(doc, study, "time_ns", "At", refusal->at.time_ns);
        doc_text(doc, "api", "Call", trace_hook(&study->trace, refusal->hook_id));
        doc_bytes(doc, "asked_bytes", "Asked", refusal->size_bytes);
        doc_integer(doc, "result", "Result", DOC_COUNT, refusal->result);
        doc_row_end(doc);
    }
    doc_list_end(doc);
}

/* Writes the explanation as a whole sentence. The caller releases it. */
static int make_sentence(struct text *sentence, const struct study *study, const struct oom *oom,
                         struct err *err)
{
    enum { SENTENCE_MOST_BYTES = 1024 };

    text_init(sentence, SENTENCE_MOST_BYTES);
    const int status = page_oom_explain(sentence, study, oom, err);
    text_add(sentence, ".");
    if (!status && text_failed(sentence))
        err_set(err, ERR_SYSTEM, "out of memory for an explanation");
    if (status || text_failed(sentence)) {
        text_release(sentence);
        return -1;
    }
    sentence->data[0] = (char)toupper((unsigned char)sentence->data[0]);
    return 0;
}

/* Adds the terms of the card's memory. They add up to the card's size. */
static void add_sum(struct doc *doc, const struct oom *oom, const char *key, const char *heading)
{
    doc_list_begin(doc, key, heading);
    for (size_t i = 0; i < oom->sum.count; i++) {
        const struct oom_term *term = &oom->sum.terms[i];

        doc_row_begin(doc);
        doc_integer(doc, "bytes", "Bytes", term->bytes < 0 ? DOC_DELTA : DOC_BYTES, term->bytes);
        doc_text(doc_detail(doc), "term", "Term", term->key);
        doc_text(doc, "what", "What", term->text);
        doc_text(doc, "source", "Source", term->source);
        doc_row_end(doc);
    }
    doc_list_end(doc);
}

static int add_failed_allocation(struct doc *doc, const struct study *study,
                                 const struct view *view, const struct oom_told *told,
                                 size_t number, struct err *err)
{
    const struct failure *failure = &study->history.failures[number];
    struct text sentence;
    struct oom oom;
    if (oom_explain(&oom, &study->history, failure, err) ||
        make_sentence(&sentence, study, &oom, err))
        return -1;
    doc_count(doc, "number", "No.", failure->number);
    add_request(doc, study, failure, &oom);
    doc_text(doc_detail(doc), "explanation", "Explanation", sentence.data);
    add_evidence(doc, study, &oom);
    add_sum(doc_detail(doc), &oom, "sum", "The card's memory");
    add_other_processes(doc, &oom);
    add_refusals(doc, study, &oom);
    doc_note(doc, "%s", sentence.data);
    text_release(&sentence);
    return page_frames_of(doc, study, view, page_oom_asker(told, failure), 0, OOM_SITE_FRAME_LINES,
                          err) ||
                   add_failure_sites(doc, study, view, &oom, err)
               ? -1
               : 0;
}

/* --- the list --- */

bool page_oom_shows(const struct study *study, const struct view *view,
                    const struct failure *failure)
{
    const struct account *account = &study->history.accounts[failure->account];
    if (view->device >= 0 && account->device != view->device)
        return false;
    return view->layer == LAYER_none ||
           (view->layer == LAYER_pool) == (account->kind == ACCOUNT_pool);
}

/* Returns the index of the last failure that is shown, or SIZE_MAX if none is shown. */
static size_t find_last_failure(const struct study *study, const struct view *view)
{
    for (size_t i = study->history.failure_count; i-- > 0;)
        if (page_oom_shows(study, view, &study->history.failures[i]))
            return i;
    return SIZE_MAX;
}

/* Adds rows for the failures from `first` on. */
static int add_rows(struct doc *doc, const struct study *study, const struct view *view,
                    const struct oom_told *told, size_t first, struct err *err)
{
    for (size_t i = first; i < study->history.failure_count; i++) {
        if (!page_oom_shows(study, view, &study->history.failures[i]))
            continue;
        doc_row_begin(doc);
        if (doc_takes(doc, DOC_BOTH) && add_failed_allocation(doc, study, view, told, i, err))
            return -1;
        doc_row_end(doc);
    }
    return 0;
}

static int add_failed_allocations(struct doc *doc, const struct study *study,
                                  const struct view *view, size_t first, struct err *err)
{
    const struct failure *chosen = page_oom_chosen(study, view);
    struct oom_told told;
    struct oom oom;
    if (!chosen)
        return 0;
    if (oom_explain(&oom, &study->history, chosen, err) || page_oom_tell(&told, study, &oom, err))
        return -1;
    const int status = add_rows(doc, study, view, &told, first, err);
    page_oom_told_release(&told);
    return status;
}

static int add_retry(struct doc *doc, const struct study *study, const struct view *view,
                     const struct retry_site *site, const struct blamed *blamed, size_t others,
                     struct err *err)
{
    page_device_number(doc, "Device", site->device);
    doc_count(doc, "retries_count", "Retries", site->retries_count);
    doc_count(study->history.done_without_in_all ? doc : doc_detail(doc), "done_without_count",
              "Done without", site->done_without_count);
    doc_bytes(doc, "asked_bytes", "Asked at most", site->requested_bytes);
    doc_bytes(doc, "flushed_bytes", "Flushed", site->flushed_bytes);
    doc_count(doc_detail(doc), "last_seq", "Last event", site->last.seq);
    page_time(doc, study, "last_time_ns", "Last at", site->last.time_ns);
    return page_frames_of(doc, study, view, blamed, others, OOM_SITE_FRAME_LINES, err);
}

/* A line to blame, with the sum of its call stacks. */
struct retry_row {
    struct retry_site sum; /* its stack is the first of them */
    size_t stack_count;
};

static void add_to_row(struct retry_row *row, const struct retry_site *site)
{
    struct retry_site *sum = &row->sum;
    if (!row->stack_count++) {
        *sum = *site;
        return;
    }
    sum->retries_count += site->retries_count;
    sum->done_without_count += site->done_without_count;
    sum->flushed_bytes += site->flushed_bytes;
    if (sum->requested_bytes < site->requested_bytes)
        sum->requested_bytes = site->requested_bytes;
    if (sum->last.seq < site->last.seq)
        sum->last = site->last;
}

/* Puts the most retries first. */
ORDER_BY(compare_retries, struct retry_row, FALLING(sum.retries_count), RISING(sum.last.seq));

/* Adds the retries of one device to a summary, with a row for each line to blame. */
static int add_retry_rows(struct doc *doc, const struct study *study, const struct view *view,
                          int device, const struct blame *blame, struct err *err)
{
    const struct history *history = &study->history;
    struct retry_row *rows = array_new(blame->texts.count, sizeof *rows, err);
    size_t count = 0;
    int status = rows ? 0 : -1;
    for (size_t i = 0; rows && i < history->retry_count; i++)
        if (history->retries[i].device == device)
            add_to_row(&rows[blame_of(blame, history->retries[i].stack_id)->row],
                       &history->retries[i]);
    for (size_t i = 0; rows && i < blame->texts.count; i++)
        if (rows[i].stack_count)
            rows[count++] = rows[i];
    SORT(rows, count, compare_retries);
    for (size_t i = 0; i < count && !status; i++) {
        const struct blamed *blamed = blame_of(blame, rows[i].sum.stack_id);

        doc_row_begin(doc_summary(doc));
        status = add_retry(doc, study, view, &rows[i].sum, blamed,
                           blamed->is_known ? rows[i].stack_count - 1 : 0, err);
        doc_row_end(doc);
    }
    free(rows);
    return status;
}

static int add_retries_by_line(struct doc *doc, const struct study *study, const struct view *view,
                               const struct blame *blame, struct err *err)
{
    const struct history *history = &study->history;
    int status = 0;
    for (size_t i = 0; i < history->device_count && !status; i++) {
        const int device = history->devices[i].device;

        if (view->device < 0 || view->device == device)
            status = add_retry_rows(doc, study, view, device, blame, err);
    }
    return status;
}

/* Adds the retries to the details, with a row for each call stack. */
static int add_retries_by_stack(struct doc *doc, const struct study *study, const struct view *view,
                                const struct blame *blame, struct err *err)
{
    const struct history *history = &study->history;
    int status = 0;
    for (size_t i = 0; i < history->retry_count && !status; i++) {
        const struct retry_site *site = &history->retries[i];

        if (view->device >= 0 && site->device != view->device)
            continue;
        doc_row_begin(doc_detail(doc));
        status = add_retry(doc, study, view, site, blame_of(blame, site->stack_id), 0, err);
        doc_row_end(doc);
    }
    return status;
}

/* Adds the refused calls after which the framework flushed its cache and succeeded, or did without
 * the memory. They are no failures, but each costs time. */
static int add_retries(struct doc *doc, const struct study *study, const struct view *view,
                       struct err *err)
{
    const struct history *history = &study->history;
    uint64_t *sites = array_new(history->retry_count, sizeof *sites, err);
    struct blame blame;
    for (size_t i = 0; sites && i < history->retry_count; i++)
        sites[i] = history->retries[i].stack_id;
    int status = sites ? blame_sites(&blame, study->symbols, sites, history->retry_count, err) : -1;
    free(sites);
    if (status)
        return -1;
    doc_list_begin(
        doc, "retries",
        history->done_without_in_all
            ? "Refused, and served after the framework flushed its cache, or done without"
            : "Retries: refused, and served after the framework flushed its cache");
    status = (doc_takes(doc, DOC_SUMMARY) && add_retries_by_line(doc, study, view, &blame, err)) ||
                     add_retries_by_stack(doc, study, view, &blame, err)
                 ? -1
                 : 0;
    doc_list_end(doc);
    blame_release(&blame);
    return status;
}

/* Lists, in a summary, the sites live at the last failure, in a section below the table. */
static int add_last_sites(struct doc *doc, const struct study *study, const struct view *view,
                          size_t last, struct err *err)
{
    static const struct page_site_list list = {.heading = "Largest call stacks at the last failure",
                                               .summary_rows = OOM_SUMMARY_SITES,
                                               .frame_lines = OOM_SITE_FRAME_LINES};
    struct sites sites;
    struct oom oom;
    if (last == SIZE_MAX || !doc_takes(doc, DOC_SUMMARY))
        return 0;
    if (oom_explain(&oom, &study->history, &study->history.failures[last], err) ||
        find_held_sites(&sites, study, &oom, err))
        return -1;
    const int status = add_held_sites(doc_summary(doc), study, view, &oom, &sites, &list, err) ||
                               page_oom_add_holders(doc, study, &oom, true, err) ||
                               page_oom_add_beyond(doc, study, view, &oom, true, err)
                           ? -1
                           : 0;
    sites_release(&sites);
    add_sum(doc_summary(doc), &oom, NULL, "The card's memory at the last failure");
    return status;
}

int page_all_failures(struct doc *doc, const struct study *study, const struct view *view,
                      struct err *err)
{
    const size_t last = find_last_failure(study, view);
    doc_list_begin(doc, "oom", "Failed allocations");
    if (add_failed_allocations(doc, study, view, 0, err))
        return -1;
    if (study->history.failures_in_all > study->history.failure_count)
        doc_note(doc, "The first and the last %d of %" PRIu64 " failed allocations are shown.",
                 FAILURES_AT_EACH_END, study->history.failures_in_all);
    doc_list_end(doc);
    return add_last_sites(doc, study, view, last, err) || add_retries(doc, study, view, err) ? -1
                                                                                             : 0;
}

/* Returns the number of failures. If there are very many, the history keeps only some of them, and
 * the devices of the others are not known. */
static uint64_t count_failures(const struct study *study, const struct view *view)
{
    const struct history *history = &study->history;
    const bool shows_all = view->device < 0 && view->layer == LAYER_none;
    uint64_t count = shows_all ? history->failures_in_all - history->failure_count : 0;
    for (size_t i = 0; i < history->failure_count; i++)
        count += page_oom_shows(study, view, &history->failures[i]);
    return count;
}

/* Says how many other failures there are, and which command shows them. */
static void add_failures_left_out(struct doc *doc, const struct study *study,
                                  const struct view *view)
{
    const uint64_t count = count_failures(study, view);
    doc_list_begin(doc_detail(doc), "oom_left_out", "Failures left out");
    if (count > 1) {
        doc_row_begin(doc);
        doc_count(doc, "failures_count", "Failures", count - 1);
        doc_text(doc, "command", "Shown by", "gpumemtrace oom");
        doc_row_end(doc);
    }
    doc_list_end(doc);
}

/* Adds the last failure to a summary, because people ask about that one. */
int page_last_failure(struct doc *doc, const struct study *study, const struct view *view,
                      struct err *err)
{
    const uint64_t count = study->history.failures_in_all;
    const size_t last = find_last_failure(study, view);
    doc_list_begin(doc, "oom", count > 1 ? "The last failed allocation" : "Failed allocation");
    if (add_failed_allocations(doc, study, view, last, err))
        return -1;
    if (count > 1)
        doc_note(doc, "%" PRIu64 " failed in all: see 'gpumemtrace oom'.", count);
    doc_list_end(doc);
    add_failures_left_out(doc, study, view);
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

/* Suggests the next command. `fix` changes no memory outside the framework. If such memory is the
 * cause, this suggests only `peak --layer=driver`, or `ledger` if it is idle. No setting helps
 * against a leak, so `leaks` is suggested. */
static int say_next(struct opening *opening, const struct study *study,
                    const struct failure *failure, struct err *err)
{
    struct oom oom;
    if (opening->failure_is_of_leak)
        return 0;
    if (oom_explain(&oom, &study->history, failure, err))
        return -1;
    if (oom.reason == OOM_ANOTHER_CALLER && !oom_unreachable_bytes(&oom, OOM_IDLE_FRAMEWORK)) {
        page_next(opening, "ledger --at=oom:%" PRIu64, failure->number);
        return 0;
    }
    const bool is_beyond = oom.verdict == OOM_OUTSIDE || oom.graph_bytes > oom.live_bytes;
    page_next(opening, "peak %s--at=oom:%" PRIu64, is_beyond ? "--layer=driver " : "",
              failure->number);
    if (!is_beyond)
        page_oom_offer(opening, study, failure);
    return 0;
}

/* Answers the page. After a failure, suggests `fix` or the sites that held the memory. If there was
 * no failure, says what nearly failed. */
static int answer_oom(struct opening *opening, const struct study *study, const struct view *view,
                      struct err *err)
{
    const struct history *history = &study->history;
    int status = page_oom_answer(opening, study, view, err);
    if (status)
        return status < 0 || say_next(opening, study, page_oom_chosen(study, view), err) ? -1
                                                                                         : status;
    if ((status = page_full_card_answer(opening, study, view, err)))
        return status;
    if (study_lacks(study, LACK_failures))
        return page_say(opening, VERDICT_what,
                        "The trace %s does not say which allocations failed.", study->trace.path);
    if (!history->retries_in_all)
        status = page_say(opening, VERDICT_what, "No allocation failed.");
    else
        status =
            page_say(opening, VERDICT_what,
                     "No allocation failed; %" PRIu64 " %s refused at first, and served after the "
                     "framework had given back %s of its cache.",
                     history->retries_in_all, history->retries_in_all == 1 ? "was" : "were",
                     BYTES_TEXT(history->retries_flushed_bytes));
    if (status < 0 || !history->done_without_in_all)
        return status;
    return page_say(opening, VERDICT_what,
                    "PyTorch ran without %" PRIu64
                    " cuDNN %s that %s refused; algorithms with a smaller workspace may be slower.",
                    history->done_without_in_all,
                    history->done_without_in_all == 1 ? "workspace" : "workspaces",
                    history->done_without_in_all == 1 ? "was" : "were");
}

const struct page page_oom = {.schema = "gpumemtrace.oom/1",
                              .needs = STUDY_NEEDS_steps | STUDY_NEEDS_growth | STUDY_NEEDS_holders,
                              .advises = true,
                              .answer = answer_oom,
                              .tail = add_oom_tail};
