/* SPDX-License-Identifier: MIT */
/* The sentences of `oom`: why an allocation failed, for its row and for the opening of a page. */
#include "analyzer/page/parts.h"

#include <ctype.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analyzer/analysis/site_tables/site_rows.h"
#include "analyzer/oom/oom.h"
#include "analyzer/oom/oom_kind.h"
#include "analyzer/render/units.h"
#include "analyzer/util/array.h"
#include "analyzer/util/text.h"
#include "analyzer/util/utf8.h"
#include "told.h"
#include "analyzer/thresholds/thresholds.h"

/* --- why one allocation failed --- */

/* A buffer for each number of the sentence, as text. */
struct sizes {
    char asked[UNITS_TEXT_BYTES], free[UNITS_TEXT_BYTES];
    char hole[UNITS_TEXT_BYTES], others[UNITS_TEXT_BYTES], total[UNITS_TEXT_BYTES];
    char live[UNITS_TEXT_BYTES], outside[UNITS_TEXT_BYTES], managed[UNITS_TEXT_BYTES];
    char graphs[UNITS_TEXT_BYTES], stream[UNITS_TEXT_BYTES], whole[UNITS_TEXT_BYTES];
    char unlisted[UNITS_TEXT_BYTES], limit[UNITS_TEXT_BYTES];
    char pool[UNITS_TEXT_BYTES], tensors[UNITS_TEXT_BYTES];
};

static struct sizes sizes_of(const struct oom *oom)
{
    struct sizes sizes = {0};
    units_request(sizes.asked, oom->requested_bytes);
    units_bytes(sizes.free, oom->device_free_bytes);
    units_bytes(sizes.hole, oom->largest_hole_bytes);
    units_bytes(sizes.others, oom->others_bytes);
    units_bytes(sizes.total, oom->device_total_bytes);
    units_bytes(sizes.live, oom->driver_live_bytes);
    units_bytes(sizes.outside, oom->outside_bytes);
    units_bytes(sizes.managed, oom->managed_bytes);
    units_bytes(sizes.graphs, oom->graph_bytes);
    units_bytes(sizes.stream, oom->other_stream_bytes);
    units_bytes(sizes.whole, oom->whole_segments_bytes);
    units_bytes(sizes.unlisted, (uint64_t)oom->sum.unaccounted_bytes);
    units_bytes(sizes.limit, oom->failure->limit_bytes);
    units_bytes(sizes.pool, oom->reserved_bytes);
    units_bytes(sizes.tensors, oom->live_bytes);
    return sizes;
}

static void explain_other_memory(struct text *out, const struct oom *oom, const struct sizes *sizes)
{
    switch (oom->account_kind) {
    case ACCOUNT_host:
        text_addf(out, "a request for %s of host memory was refused", sizes->asked);
        break;
    case ACCOUNT_imported:
        text_add(out, "memory of another process or API could not be opened");
        break;
    case ACCOUNT_managed:
        text_addf(
            out,
            "%s of managed memory was refused, and the trace does not say where managed memory "
            "lies",
            sizes->asked);
        break;
    default:
        text_add(out, "there was no room for a context, a module or a limit, and no call reports "
                      "how much that needs");
        if (oom->device_known)
            text_addf(out, "; the card had %s free", sizes->free);
    }
}

static void explain_unknown(struct text *out, const struct oom *oom, const struct sizes *sizes)
{
    const char *name = oom_result_name(oom->result);
    switch (oom->reason) {
    case OOM_NO_LACK:
        text_addf(out, "not a lack of memory: the call returned %" PRId32, oom->result);
        if (name)
            text_addf(out, " (%s)", name);
        break;
    case OOM_NOT_OF_CARD:
        explain_other_memory(out, oom, sizes);
        break;
    case OOM_OLD_ANSWER:
        text_addf(
            out, "the last free-memory sample of the card (%s free) is older than the refused call",
            sizes->free);
        break;
    case OOM_CONTEXT_OR_OTHERS:
        text_add(out, "this context's growth or other processes hold the missing memory, and the "
                      "trace has no NVML sample to tell them apart; the other processes' traces, "
                      "given after this one, show what these held");
        break;
    case OOM_NOT_LISTED:
        text_addf(out,
                  "NVML attributes %s in use on the card to no process: other containers, graphics "
                  "or the driver hold it",
                  sizes->unlisted);
        break;
    case OOM_MANAGED_OR_OTHERS:
        text_addf(out,
                  "this process's managed memory (%s, location unknown) or other processes hold "
                  "the missing memory",
                  sizes->managed);
        break;
    case OOM_LOST_EVENTS:
        text_add(out, "the trace lost events, so this process or other processes may hold the "
                      "missing memory");
        break;
    default:
        text_add(out, "the trace has no free-memory sample (cuMemGetInfo) near the failure");
    }
}

static void explain_cached(struct text *out, const struct oom *oom, const struct sizes *sizes)
{
    switch (oom->reason) {
    case OOM_ANOTHER_STREAM:
        text_addf(out,
                  "%s lay idle in the pool, with a large enough hole, but for other streams than "
                  "the request's",
                  sizes->stream);
        break;
    case OOM_NOT_GIVEN_BACK:
        text_addf(out,
                  "%s lay idle in whole segments that the pool neither used nor gave back, as with "
                  "a MemPool or during the capture of a CUDA graph",
                  sizes->whole);
        break;
    default:
        page_oom_add_idle(out, "", oom);
    }
}

/* Explains a refusal by the framework's own limit. */
static void explain_own_limit(struct text *out, const struct oom *oom, const struct sizes *sizes)
{
    const uint64_t limit_bytes = oom->failure->limit_bytes;
    if (!limit_bytes) {
        text_add(out, "the framework refused without asking the driver, as under "
                      "set_per_process_memory_fraction");
        return;
    }
    text_addf(out, "the framework's limit is %s", sizes->limit);
    if (oom->device_total_bytes)
        text_addf(out, ", %.3g of the card", (double)limit_bytes / (double)oom->device_total_bytes);
    text_add(out, " (set_per_process_memory_fraction)");
    if (oom->reserved_known)
        text_addf(out, ", and it held %s", sizes->pool);
}

static void explain_fragmented(struct text *out, const struct oom *oom, const struct sizes *sizes)
{
    text_addf(out, "%s of the process's memory lay idle, ", BYTES_TEXT(oom->idle_bytes));
    if (oom->hole_known)
        text_addf(out, "the largest piece %s", sizes->hole);
    else
        text_add(out, "in pieces that were too small");
    if (oom->reason != OOM_BY_FRAMEWORK)
        return;
    text_add(out, "; ");
    explain_own_limit(out, oom, sizes);
}

/* Writes "process 4242 held 5.00 GiB", or "other processes held 6.00 GiB (process 4242 5.00 GiB,
 * …)". */
static void name_processes(struct text *out, const struct card_processes *told)
{
    char size[UNITS_TEXT_BYTES];
    if (told->others_count == 1) {
        text_addf(out, "process %" PRIu64 " held %s of the card", told->largest[0].pid,
                  units_bytes(size, told->others_bytes));
        return;
    }
    text_addf(out, "other processes held %s of the card", units_bytes(size, told->others_bytes));
    for (size_t i = 0; i < CARD_PROCESSES_NAMED && i < told->others_count; i++)
        text_addf(out, "%s %" PRIu64 " %s", i ? "," : " (process", told->largest[i].pid,
                  units_bytes(size, told->largest[i].bytes));
    if (told->others_count > CARD_PROCESSES_NAMED)
        text_addf(out, ", and %" PRIu64 " more", told->others_count - CARD_PROCESSES_NAMED);
    text_add(out, ")");
}

static void explain_others(struct text *out, const struct oom *oom, const struct sizes *sizes)
{
    if (oom->reason == OOM_BY_NVML) {
        name_processes(out, &oom->failure->processes);
        text_add(out, ", as NVML reported");
        return;
    }
    text_addf(out,
              "this process's memory and a context leave about %s in use unexplained: other "
              "processes hold it, unless this context grew by as much; the trace has no NVML "
              "sample that says which",
              sizes->others);
}

static void explain_limit(struct text *out, const struct oom *oom, const struct sizes *sizes)
{
    switch (oom->reason) {
    case OOM_BY_SLICE:
        text_addf(out, "this process held %s of the %s of its slice of the card", sizes->live,
                  sizes->total);
        break;
    case OOM_BY_FRAMEWORK:
        explain_own_limit(out, oom, sizes);
        break;
    default:
        text_addf(
            out,
            "the driver refused although the card had %s free: a limit of a memory pool or of "
            "the driver",
            sizes->free);
    }
}

static void explain_exhausted(struct text *out, const struct oom *oom, const struct sizes *sizes)
{
    if (oom->reason == OOM_MORE_THAN_CARD) {
        text_addf(out,
                  units_request_overflowed(oom->requested_bytes)
                      ? "a request for %s has a size that overflowed (negative or wrapped)"
                      : "%s is more than the card has",
                  sizes->asked);
        return;
    }
    if (oom->reason == OOM_MORE_THAN_GIVEN) {
        text_addf(out, "%s is live", sizes->tensors);
        return;
    }
    if (oom->reason == OOM_BY_LAUNCH)
        text_add(out, "no call reports how much a launch of a CUDA graph needs; ");
    text_addf(out, "this process held %s", sizes->live);
    if (oom->device_total_bytes)
        text_addf(out, " of the card's %s", sizes->total);
}

/* Explains memory outside the framework. If a line is known, names the line, which says more than
 * "the program". */
static int explain_outside(struct text *out, const struct study *study, const struct oom *oom,
                           const struct sizes *sizes, struct err *err)
{
    const char *library = oom->sum.outside_most;
    char most[UNITS_TEXT_BYTES];
    units_bytes(most, oom->sum.outside_most_bytes);
    text_addf(out, "libraries and the program's own calls held %s", sizes->outside);
    if (*library)
        text_addf(out, ", most of it %s (%s)", library, most);
    const int added = page_oom_add_most(out, ", most by ", study, oom, OOM_BEYOND_POOLS, err);
    if (!added && !*library)
        text_addf(out, ", most of it the program (%s)", most);
    return added < 0 ? -1 : 0;
}

/* Explains memory that graphs hold. Suggests one pool for all of them, because graphs that are
 * replayed one after the other can share a pool. */
static int explain_graphs(struct text *out, const struct study *study, const struct oom *oom,
                          const struct sizes *sizes, struct err *err)
{
    const bool is_one = oom->graph_pools_count == 1;
    if (is_one)
        text_addf(out, "; the private pool of CUDA graphs holds %s", sizes->graphs);
    else
        text_addf(out, "; %zu private pools of CUDA graphs hold %s", oom->graph_pools_count,
                  sizes->graphs);
    if (page_oom_add_most(out, ", most by ", study, oom, OOM_BEYOND_GRAPHS, err) < 0)
        return -1;
    text_add(out, ", until the graphs are reset or destroyed");
    if (!is_one && oom->graph_bytes >= oom->driver_live_bytes / GRAPHS_WORTH_SAYING_DIVISOR)
        text_add(out, ": one pool for all of them (torch.cuda.graph(g, pool=...)), or a reset() of "
                      "graphs that are no longer replayed, would take less");
    return 0;
}

static int explain_out_of_reach(struct text *out, const struct study *study, const struct oom *oom,
                                const struct sizes *sizes, struct err *err)
{
    if (oom->graph_bytes && explain_graphs(out, study, oom, sizes, err))
        return -1;
    if (oom->other_stream_bytes >= oom->requested_bytes / IDLE_WORTH_SAYING_DIVISOR &&
        oom->other_stream_bytes && oom->reason != OOM_ANOTHER_STREAM)
        text_addf(out, "; %s lay idle for other streams than the request's", sizes->stream);
    if (oom->verdict == OOM_EXHAUSTED || oom->verdict == OOM_OTHERS)
        page_oom_add_idle(out, "; ", oom);
    return 0;
}

int page_oom_explain(struct text *out, const struct study *study, const struct oom *oom,
                     struct err *err)
{
    const struct sizes sizes = sizes_of(oom);
    int status = 0;
    switch (oom->verdict) {
    case OOM_FRAGMENTED:
        explain_fragmented(out, oom, &sizes);
        break;
    case OOM_CACHED:
        explain_cached(out, oom, &sizes);
        break;
    case OOM_LIMIT:
        explain_limit(out, oom, &sizes);
        break;
    case OOM_OUTSIDE:
        status = explain_outside(out, study, oom, &sizes, err);
        break;
    case OOM_OTHERS:
        explain_others(out, oom, &sizes);
        break;
    case OOM_EXHAUSTED:
        explain_exhausted(out, oom, &sizes);
        break;
    case OOM_UNKNOWN:
        explain_unknown(out, oom, &sizes);
        return 0;
    }
    return status ? status : explain_out_of_reach(out, study, oom, &sizes, err);
}

/* --- the answer --- */

int page_oom_tell(struct oom_told *told, const struct study *study, const struct oom *oom,
                  struct err *err)
{
    const struct history *history = &study->history;
    size_t count = 0;
    *told = (struct oom_told){0};
    if (sites_at(&told->sites, &study->categories, oom->account, oom->failure->at.index, err))
        return -1;
    const size_t limit = told->sites.count + history->failure_count;
    uint64_t *sites = array_new(limit, sizeof *sites, err);
    for (size_t i = 0; sites && i < told->sites.count; i++)
        sites[count++] = told->sites.items[i].site_id;
    for (size_t i = 0; sites && i < history->failure_count; i++)
        sites[count++] = history->failures[i].site_id;
    const int status = sites ? blame_sites(&told->blame, study->symbols, sites, count, err) : -1;
    if (status)
        sites_release(&told->sites);
    free(sites);
    return status;
}

const struct blamed *page_oom_asker(const struct oom_told *told, const struct failure *failure)
{
    return blame_of(&told->blame, failure->site_id);
}

void page_oom_told_release(struct oom_told *told)
{
    sites_release(&told->sites);
    blame_release(&told->blame);
}

/* Names the caller: the line of the stack. If no line is known, names the pool or the call. */
static void add_asker(struct text *out, const struct study *study, const struct failure *failure,
                      const struct oom_told *told)
{
    const struct blamed *blamed = page_oom_asker(told, failure);
    const struct account *account = &study->history.accounts[failure->account];
    const char *api = trace_hook(&study->trace, failure->event.hook_id);
    char layer[PAGE_LAYER_BYTES];
    if (blamed->is_known)
        text_add(out, blamed->label);
    else if (account->kind == ACCOUNT_pool)
        text_addf(out, "the %s", page_layer_name(study, account, layer));
    else
        text_add(out, *api ? api : "a call without a stack");
}

/* Returns the words for the verdict. Other processes that no source names are judged by size
 * alone. */
static const char *verdict_words(const struct oom *oom)
{
    static const char *const words[] = {
        [OOM_UNKNOWN] = "Not known",
        [OOM_EXHAUSTED] = "Exhausted",
        [OOM_FRAGMENTED] = "Fragmented",
        [OOM_CACHED] = "Cached out of reach",
        [OOM_OUTSIDE] = "Held outside the framework",
        [OOM_OTHERS] = "Held by other processes",
        [OOM_LIMIT] = "A limit",
    };
    if (oom->reason == OOM_MORE_THAN_CARD)
        return "Larger than the whole card";
    if (oom->reason == OOM_MORE_THAN_GIVEN)
        return "This one request is larger than the card can give";
    if (oom->verdict == OOM_OTHERS && oom->reason == OOM_REASON_NONE)
        return "Held by this context or other processes";
    return words[oom->verdict];
}

/* Returns what the failure did to the program: "Out of memory, and the program died". */
static const char *kind_words(const struct study *study, const struct oom *oom)
{
    const bool of_card = oom->reason != OOM_NO_LACK && oom->reason != OOM_NOT_OF_CARD;
    switch (oom_kind_of(&study->history, oom->failure)) {
    case OOM_KIND_FATAL:
        return of_card ? "Out of memory, and the program died"
                       : "An allocation failed, and the program died";
    case OOM_KIND_CAUGHT:
        return of_card ? "Out of memory, caught" : "An allocation failed, caught";
    default:
        return of_card ? "Out of memory" : "An allocation failed";
    }
}

/* Says "Out of memory (failure 2 of 2): train.py:88 forward asked for 2.00 GiB in forward". If this
 * is too long, leaves out the phase, the end of the function and the number of the failure, in this
 * order. The tables have them, too. */
static int say_asked(struct opening *opening, const struct study *study, const struct oom *oom,
                     const struct oom_told *told, struct text *text)
{
    const char *kind = kind_words(study, oom), *path = study_path(study, oom->failure->path);
    char name[VERDICT_NAME_BYTES], asked[UNITS_TEXT_BYTES + 16] = "";
    char number[64] = "";
    add_asker(text, study, oom->failure, told);
    if (oom->reason == OOM_BY_LAUNCH)
        snprintf(asked, sizeof asked, " launched a CUDA graph");
    else if (oom->account_kind != ACCOUNT_context)
        snprintf(asked, sizeof asked, " asked for %s", REQUEST_TEXT(oom->requested_bytes));
    if (study->history.failures_in_all > 1)
        snprintf(number, sizeof number, " (failure %" PRIu64 " of %" PRIu64 ")",
                 oom->failure->number, study->history.failures_in_all);
    /* The page of a job writes the rank before the sentence. */
    const size_t rank = study->trace.meta.rank.known ? strlen("Rank 1023: ") : 0;
    const size_t others = rank + strlen(kind) + strlen(": .") + strlen(asked) + strlen(number);
    const char *asker = verdict_fit(
        name, text->data, others < VERDICT_WHAT_CHARACTERS ? VERDICT_WHAT_CHARACTERS - others : 0);
    const size_t length = others + utf8_text_columns(asker);
    const bool has_path =
        path && length + strlen(" in ") + utf8_text_columns(path) <= VERDICT_WHAT_CHARACTERS;
    return page_say(opening, VERDICT_what, "%s%s: %s%s%s%s.", kind,
                    length <= VERDICT_WHAT_CHARACTERS ? number : "", asker, asked,
                    has_path ? " in " : "", has_path ? path : "");
}

/* True if the failed step needs more than is free and idle, so that no better use of the idle
 * memory would have served it. */
static bool needs_more_than_idle(const struct opening *opening, const struct oom *oom)
{
    return oom->verdict == OOM_FRAGMENTED && oom->reason != OOM_BY_FRAMEWORK && oom->device_known &&
           opening->failed_step_bytes >
               (double)(oom->live_bytes + oom->idle_bytes + oom->device_free_bytes);
}

/* Says how little was free and idle, but not that it was fragmented: that is no cause. */
static int say_idle(struct opening *opening, const struct oom *oom)
{
    const struct sizes sizes = sizes_of(oom);
    return page_join(opening, VERDICT_why,
                     "the card had %s%s%s free, and %s of the process's memory lay idle, but the "
                     "rest of the step needs more",
                     sizes.free, oom->device_total_bytes ? " of " : "",
                     oom->device_total_bytes ? sizes.total : "", BYTES_TEXT(oom->idle_bytes));
}

/* Says "Exhausted: the card had 0.31 GiB of 16.00 GiB free". */
static int say_why(struct opening *opening, const struct study *study, const struct oom *oom,
                   struct text *text, struct err *err)
{
    opening->failure_needs_more = needs_more_than_idle(opening, oom);
    if (opening->failure_needs_more)
        return say_idle(opening, oom);
    const bool has_free = oom->device_known && oom_is_of_card(oom);
    const bool is_of_pool = oom->driver_requested_bytes >
                            oom->requested_bytes + oom->requested_bytes / VISIBLY_MORE_DIVISOR;
    const struct sizes sizes = sizes_of(oom);
    const bool is_first = verdict_find(&opening->verdict, VERDICT_why) == SIZE_MAX;
    const char *words = verdict_words(oom);
    text_addf(text, "%c%s", is_first ? *words : tolower((unsigned char)*words), words + 1);
    if (has_free)
        text_addf(text, ": the card had %s%s%s free", sizes.free,
                  oom->device_total_bytes ? " of " : "",
                  oom->device_total_bytes ? sizes.total : "");
    const bool is_explained = oom->verdict != OOM_EXHAUSTED || oom->reason != OOM_REASON_NONE;
    if (is_of_pool)
        text_addf(text, "%s the pool asked the driver for %s",
                  !has_free      ? ":"
                  : is_explained ? ","
                                 : ", and",
                  BYTES_TEXT(oom->driver_requested_bytes));
    if (is_explained) {
        text_add(text, has_free || is_of_pool ? ", and " : ": ");
        if (page_oom_explain(text, study, oom, err))
            return -1;
    } else if (explain_out_of_reach(text, study, oom, &sizes, err)) {
        return -1;
    }
    return page_join_clauses(opening, VERDICT_why, text->data);
}

/* True if the process filled the card, or the framework's limit, with blocks of its own. */
static bool may_be_of_leak(const struct oom *oom)
{
    return oom->reason != OOM_MORE_THAN_CARD && oom->reason != OOM_MORE_THAN_GIVEN &&
           (oom->verdict == OOM_EXHAUSTED || oom->verdict == OOM_FRAGMENTED ||
            oom->verdict == OOM_LIMIT);
}

/* Says a leak before the state of the card, because a person mends the leak; 0: there is none. */
static int say_leak(struct opening *opening, const struct study *study, const struct view *view,
                    const struct oom *oom, struct err *err)
{
    return may_be_of_leak(oom) && !page_oom_tells_cause(study, oom->failure)
               ? page_leak_of_failure(opening, study, view, oom->account, oom->live_bytes, err)
               : 0;
}

/* Says that the step asked for more than other steps did. This comes before the state of the card,
 * because a larger batch also leaves holes of the wrong sizes. */
static int say_step(struct opening *opening, const struct study *study, const struct view *view,
                    const struct oom *oom, struct err *err)
{
    return oom_is_of_card(oom) && oom->reason != OOM_NO_LACK &&
                   !page_oom_tells_cause(study, oom->failure)
               ? page_step_of_failure(opening, study, view, oom->failure, err)
               : 0;
}

static int say_told(struct opening *opening, const struct study *study, const struct view *view,
                    const struct oom *oom, const struct oom_told *told, struct err *err)
{
    enum { SENTENCE_MOST_BYTES = 8192 };
    struct text text;

    text_init(&text, SENTENCE_MOST_BYTES);
    int status = say_asked(opening, study, oom, told, &text);
    const bool is_cut = text_failed(&text);
    text_clear(&text);
    if (status >= 0)
        status = say_leak(opening, study, view, oom, err);
    opening->failure_is_of_leak = status > 0;
    if (!status)
        status = say_step(opening, study, view, oom, err);
    opening->failure_is_told = status > 0;
    if (status >= 0)
        status = say_why(opening, study, oom, &text, err);
    if (status >= 0 && (is_cut || text_failed(&text))) {
        err_set(err, ERR_SYSTEM, "out of memory for the answer");
        status = -1;
    }
    if (status >= 0 && oom_is_of_card(oom) && oom->reason != OOM_NO_LACK)
        status = page_oom_say_before(opening, study, oom->failure) < 0 ||
                         page_oom_say_limit_holder(opening, study, oom, err) < 0
                     ? -1
                     : page_oom_say_who(opening, study, oom, told, err);
    text_release(&text);
    return status;
}

/* Returns the last failure that the program did not catch. If it caught all failures, returns the
 * last one. */
const struct failure *page_oom_chosen(const struct study *study, const struct view *view)
{
    const struct history *history = &study->history;
    const struct failure *chosen = NULL;
    for (size_t i = 0; i < history->failure_count; i++) {
        const struct failure *failure = &history->failures[i];

        if (page_oom_shows(study, view, failure) &&
            (!chosen || oom_kind_of(history, chosen) == OOM_KIND_CAUGHT ||
             oom_kind_of(history, failure) != OOM_KIND_CAUGHT))
            chosen = failure;
    }
    return chosen;
}

int page_oom_answer(struct opening *opening, const struct study *study, const struct view *view,
                    struct err *err)
{
    const struct failure *failure = page_oom_chosen(study, view);
    struct oom_told told;
    struct oom oom;
    if (!failure)
        return 0;
    if (oom_explain(&oom, &study->history, failure, err) || page_oom_tell(&told, study, &oom, err))
        return -1;
    int status = say_told(opening, study, view, &oom, &told, err);
    page_oom_told_release(&told);
    if (status >= 0 && oom_is_of_card(&oom) && oom.reason != OOM_NO_LACK &&
        (page_oom_say_idle(opening, &oom) < 0 || page_oom_say_limit_remedy(opening, &oom) < 0 ||
         page_oom_say_remedies(opening, study, &oom, err) < 0))
        status = -1;
    opening->failure = failure;
    page_next(opening, opening->failure_is_of_leak ? "leaks" : "oom");
    return status;
}
