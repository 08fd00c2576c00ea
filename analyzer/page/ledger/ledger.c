/* SPDX-License-Identifier: MIT */
/* The page of `ledger`, and its parts: the bytes of a device, split by owner. */
#include "analyzer/page/parts.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "analyzer/analysis/ledger/ledger.h"
#include "analyzer/analysis/moment.h"
#include "analyzer/render/units.h"
#include "analyzer/thresholds/thresholds.h"

enum { OWNER_TEXT_BYTES = 256, MOMENT_NAME_BYTES = 32 };

/* --- names of owners --- */

/* Returns the owner's name in the trace or in the table of libraries, or NULL if it has none. */
static const char *owner_name(const struct study *study, const struct ledger *ledger,
                              const struct ledger_term *term)
{
    if (term->account != HISTORY_NONE)
        return study_pool(study, &study->history.accounts[term->account]);
    return ledger_library(ledger, term);
}

/* Writes the owner: "pytorch: live", "cuBLAS", "the program". */
static const char *owner_text(const struct study *study, const struct ledger *ledger,
                              const struct ledger_term *term, char out[OWNER_TEXT_BYTES])
{
    const char *name = owner_name(study, ledger, term);
    if (term->kind == LEDGER_library)
        snprintf(out, OWNER_TEXT_BYTES, "%s", name);
    else if (name)
        snprintf(out, OWNER_TEXT_BYTES, "%s: %s", name, ledger_words(term->kind)->text);
    else
        snprintf(out, OWNER_TEXT_BYTES, "%s", ledger_words(term->kind)->text);
    return out;
}

/* Writes a share for a sentence: "9.10 GiB live in the pytorch pool". */
static void write_share(char out[OWNER_TEXT_BYTES], const struct study *study,
                        const struct ledger *ledger, const struct ledger_term *term)
{
    const char *name = owner_name(study, ledger, term);
    char size[UNITS_TEXT_BYTES];
    units_bytes(size, term->bytes);
    if (term->kind == LEDGER_pool_live)
        snprintf(out, OWNER_TEXT_BYTES, "%s live in the %s pool", size, name);
    else if (term->kind == LEDGER_pool_graphs)
        snprintf(out, OWNER_TEXT_BYTES, "%s held by CUDA graphs in the %s pool", size, name);
    else if (term->kind == LEDGER_pool_cached)
        snprintf(out, OWNER_TEXT_BYTES, "%s cached by the %s pool", size, name);
    else
        snprintf(out, OWNER_TEXT_BYTES, "%s %s", size,
                 name ? name : ledger_words(term->kind)->text);
}

/* --- the answer --- */

/* Lists the largest terms. The last item is the sum of all other terms. */
static void write_shares(char *out, size_t out_bytes, const struct study *study,
                         const struct ledger *ledger)
{
    enum { SHARES = 4 };
    char share[OWNER_TEXT_BYTES];
    uint64_t left_bytes = 0;
    size_t length = 0;

    for (size_t i = 0; i < ledger->count; i++) {
        const struct ledger_term *term = &ledger->terms[i];

        if (i >= SHARES && ledger->count > SHARES + 1) {
            left_bytes += term->bytes;
            continue;
        }
        write_share(share, study, ledger, term);
        length += (size_t)snprintf(out + length, out_bytes - length, "%s%s", i ? ", " : "", share);
        if (length >= out_bytes)
            return;
    }
    if (left_bytes)
        snprintf(out + length, out_bytes - length, ", %s others", BYTES_TEXT(left_bytes));
}

/* True if the card has bytes in use that NVML attributes to no process. `oom` has the same term. */
static bool is_unlisted(const struct ledger *ledger)
{
    return ledger->is_by_nvml && ledger->unaccounted_bytes > 0;
}

static bool is_worth_saying(const struct ledger *ledger)
{
    const uint64_t bytes = (uint64_t)ledger->unaccounted_bytes;
    return ledger->unaccounted_bytes > 0 && bytes >= ledger->used_bytes / TERM_WORTH_SAYING_DIVISOR;
}

static int say_ledger(struct opening *opening, const struct study *study,
                      const struct device_use *use, const struct ledger *ledger, const char *at)
{
    char device[STUDY_DEVICE_BYTES], shares[5 * OWNER_TEXT_BYTES] = "";
    char used[UNITS_TEXT_BYTES];
    const bool has_total = ledger->total_known && !study_has_no_limit(study);

    study_device_name(use->device, device);
    write_shares(shares, sizeof shares, study, ledger);
    if (!ledger->used_known)
        return page_say(opening, VERDICT_what, "On %s this process holds %s at %s.", device,
                        units_bytes(used, ledger->process_bytes), at) < 0 ||
                       page_say(opening, VERDICT_who, "%s.", shares) < 0
                   ? -1
                   : page_say(opening, VERDICT_why,
                              "The trace has no free-memory sample (cuMemGetInfo), so the card's "
                              "usage is unknown.");
    if (page_say(opening, VERDICT_what, "On %s %s%s%s is in use at %s.", device,
                 units_bytes(used, ledger->used_bytes), has_total ? " of " : "",
                 has_total ? BYTES_TEXT(ledger->total_bytes) : "", at) < 0)
        return -1;
    return page_say(opening, VERDICT_who, "%s%s%s%s.", shares, is_worth_saying(ledger) ? "; " : "",
                    is_worth_saying(ledger) ? BYTES_TEXT((uint64_t)ledger->unaccounted_bytes) : "",
                    !is_worth_saying(ledger) ? ""
                    : is_unlisted(ledger)    ? " " LEDGER_UNLISTED
                                             : " unaccounted");
}

/* --- the moments --- */

/* Finds the moment. Its index is INDEX_NONE if the driver's memory was never used, or if the
 * failure is on another device. */
static int find_moment(struct moment *moment, const struct study *study,
                       const struct device_use *use, const char *at, struct err *err)
{
    if (at && strcmp(at, "peak"))
        return moment_find("at", at, &study->history, use->accounts[ACCOUNT_device], moment, err);
    *moment = ledger_peak(&study->history, use);
    return 0;
}

struct named_moment {
    char at[MOMENT_NAME_BYTES]; /* the name that --at takes */
    struct moment moment;
};
enum { MOMENTS_MAX = 3 };

static const struct failure *last_failure(const struct study *study, int device)
{
    const struct history *history = &study->history;
    for (size_t i = history->failure_count; i-- > 0;)
        if (history->accounts[history->failures[i].account].device == device)
            return &history->failures[i];
    return NULL;
}

/* Finds the moment that the user asked for. If there is none, finds the peak, the last failure and
 * the end. Returns the number of moments, or -1. */
static int find_moments(struct named_moment *moments, const struct study *study,
                        const struct device_use *use, const struct view *view, struct err *err)
{
    const struct failure *failure = last_failure(study, use->device);
    int count = 0;
    snprintf(moments[0].at, MOMENT_NAME_BYTES, "%.31s", view->at ? view->at : "peak");
    if (find_moment(&moments[0].moment, study, use, view->at, err))
        return -1;
    count += moments[0].moment.index != INDEX_NONE;
    if (view->at)
        return count;
    if (failure) {
        snprintf(moments[count].at, MOMENT_NAME_BYTES, "oom:%" PRIu64, failure->number);
        moments[count++].moment = failure->at;
    }
    if (study->history.event_count) {
        snprintf(moments[count].at, MOMENT_NAME_BYTES, "end");
        moments[count++].moment = study->history.last;
    }
    return count;
}

/* Writes the moment for a sentence: "the peak of the driver's memory", "oom:2". Other commands call
 * another moment the peak: the one at which the pool, if there is one, has most live bytes. */
static const char *moment_text(const char *at)
{
    if (!strcmp(at, "peak"))
        return "the peak of the driver's memory";
    return !strcmp(at, "end") ? "the end" : at;
}

/* --- one ledger --- */

static void add_share_of(struct doc *doc, const struct ledger *ledger, uint64_t bytes)
{
    const double share = ledger->used_bytes ? (double)bytes / (double)ledger->used_bytes : 0;
    doc_known_ratio(doc, "share_ratio", "Share", ledger->used_known && ledger->used_bytes, share);
    doc_bar(doc, ledger->used_known ? share : 0, 0);
}

static void add_term(struct doc *doc, const struct study *study, const struct ledger *ledger,
                     const struct ledger_term *term)
{
    char owner[OWNER_TEXT_BYTES];
    doc_row_begin(doc);
    doc_text(doc, "owner", "Owner", ledger_words(term->kind)->key);
    doc_words(doc, "%s", owner_text(study, ledger, term, owner));
    doc_text(doc_detail(doc), "name", "Name", owner_name(study, ledger, term));
    doc_bytes(doc, "bytes", "Bytes", term->bytes);
    add_share_of(doc, ledger, term->bytes);
    doc_known_count(doc_spare(doc), "blocks", "Blocks", term->count != 0, term->count);
    doc_text(doc, "source", "Source", ledger_source_key(ledger_words(term->kind)->source));
    doc_text(doc_detail(doc), "title", "Owner", owner);
    doc_row_end(doc);
}

/* Adds the sum. In a summary, the rest and the sum are also rows of the table. */
static void add_sum(struct doc *doc, const char *owner, const struct ledger *ledger, bool known,
                    int64_t bytes, const char *source)
{
    doc_row_begin(doc_summary(doc));
    doc_text(doc, NULL, "Owner", owner);
    if (known) {
        doc_integer(doc, NULL, "Bytes", DOC_BYTES, bytes);
        doc_words(doc, "%s%s", bytes < 0 ? "-" : "",
                  BYTES_TEXT(bytes < 0 ? 0 - (uint64_t)bytes : (uint64_t)bytes));
    } else {
        doc_null(doc, NULL, "Bytes", DOC_BYTES);
    }
    add_share_of(doc, ledger, known && bytes > 0 ? (uint64_t)bytes : 0);
    doc_null(doc_spare(doc), NULL, "Blocks", DOC_COUNT);
    doc_text(doc, NULL, "Source", source);
    doc_row_end(doc);
}

/* Writes the moment for a heading: "At the peak of the driver's memory", "At the failure". */
static const char *moment_heading(const char *at)
{
    static const struct {
        const char *start, *heading;
    } headings[] = {{"peak", "At the peak of the driver's memory"},
                    {"oom:", "At the failure"},
                    {"end", "At the end"},
                    {"", "At the given moment"}};
    size_t i = 0;

    while (strncmp(at, headings[i].start, strlen(headings[i].start)))
        i++;
    return headings[i].heading;
}

static void add_terms(struct doc *doc, const struct study *study, const struct ledger *ledger,
                      const char *at)
{
    doc_list_begin(doc, "terms", moment_heading(at));
    for (size_t i = 0; i < ledger->count; i++)
        add_term(doc, study, ledger, &ledger->terms[i]);
    add_sum(doc, is_unlisted(ledger) ? LEDGER_UNLISTED : "unaccounted", ledger, ledger->used_known,
            ledger->unaccounted_bytes, "difference");
    add_sum(doc, "in use on the card", ledger, ledger->used_known, (int64_t)ledger->used_bytes,
            !ledger->used_known ? NULL
            : ledger->is_asked  ? "the card"
                                : "first look");
    doc_list_end(doc);
}

static bool is_dry_run(const struct study *study)
{
    return study->trace.meta.simulated.known && study->trace.meta.simulated.value;
}

static void add_notes(struct doc *doc, const struct study *study, const struct ledger *ledger)
{
    const uint64_t context_bytes = ledger_sum(ledger, LEDGER_context);
    const uint64_t others_bytes = context_bytes - ledger_context_part(ledger, context_bytes);
    char size[UNITS_TEXT_BYTES];
    if (!ledger->used_known)
        doc_note(doc, "The trace has no free-memory sample (cuMemGetInfo), so the context and "
                      "other processes are unknown.");
    else if (!ledger->is_asked)
        doc_note(doc, "The only free-memory sample is from the start of the context, so later "
                      "growth outside recorded calls is unknown.");
    if (others_bytes)
        doc_note(doc,
                 "A context takes at most 1 GiB (assumed), so other processes hold about %s of "
                 "'context and other processes'.",
                 units_bytes(size, others_bytes));
    if (is_dry_run(study) && context_bytes + ledger_sum(ledger, LEDGER_own_context) > 0)
        doc_note(doc, "In a dry run the size of the context is assumed; "
                      "--dry-run=CARD,context=SIZE sets it for your card.");
    if (context_bytes > LEDGER_CONTEXT_MOST_BYTES && ledger->limit.is_set)
        doc_note(doc, "The program set a limit (cudaDeviceSetLimit), for which a context may take "
                      "more than the 1 GiB that is assumed otherwise.");
    if (ledger_sum(ledger, LEDGER_growth))
        doc_note(doc,
                 "A context grows when kernels are first used, and by their local memory. No call "
                 "reports this growth, and the free-memory samples include other processes.");
    if (ledger->managed_bytes)
        doc_note(doc, "%s of managed memory is in no line, because its location is unknown.",
                 units_bytes(size, ledger->managed_bytes));
    if (ledger->imported_bytes)
        doc_note(doc,
                 "%s of imported memory is in no line, because the process that owns it counts it.",
                 units_bytes(size, ledger->imported_bytes));
}

static void add_known_bytes(struct doc *doc, const struct study *study,
                            const struct device_use *use, enum account_kind kind, const char *key,
                            const char *label, uint64_t bytes)
{
    doc_known_bytes(doc_detail(doc), key, label,
                    history_knows(&study->history, &study->history.accounts[use->accounts[kind]]),
                    bytes);
}

static void add_ledger(struct doc *doc, const struct study *study, const struct device_use *use,
                       const struct ledger *ledger, const char *at)
{
    doc_text(doc_detail(doc), "at", "Moment", at);
    page_time(doc_detail(doc), study, "time_ns", "At", ledger->moment.time_ns);
    doc_count(doc_detail(doc), "seq", "Event", ledger->moment.seq);
    doc_known_bytes(doc_detail(doc), "used_bytes", "In use", ledger->used_known,
                    ledger->used_bytes);
    doc_known_bytes(doc_detail(doc), "total_bytes", "Card size", ledger->total_known,
                    ledger->total_bytes);
    doc_text(doc_detail(doc), "used_source", "Source",
             !ledger->used_known ? NULL
             : ledger->is_asked  ? "card"
                                 : "first-look");
    add_known_bytes(doc, study, use, ACCOUNT_device, "process_bytes", "This process",
                    ledger->process_bytes);
    if (ledger->used_known)
        doc_integer(doc_detail(doc), "unaccounted_bytes", "Unaccounted", DOC_DELTA,
                    ledger->unaccounted_bytes);
    else
        doc_null(doc_detail(doc), "unaccounted_bytes", "Unaccounted", DOC_DELTA);
    add_known_bytes(doc, study, use, ACCOUNT_managed, "managed_bytes", "Managed",
                    ledger->managed_bytes);
    add_known_bytes(doc, study, use, ACCOUNT_imported, "imported_bytes", "Imported",
                    ledger->imported_bytes);
    add_terms(doc, study, ledger, at);
}

/* Adds "ledger" of one device, with its moments. */
static int add_moments(struct doc *doc, const struct study *study, const struct device_use *use,
                       const struct view *view, struct err *err)
{
    struct named_moment moments[MOMENTS_MAX];
    const int count = find_moments(moments, study, use, view, err);
    if (count < 0)
        return -1;
    doc_list_begin(doc, "moments", NULL);
    for (int i = 0; i < count; i++) {
        struct ledger ledger;

        if (ledger_at(&ledger, &study->history, use, &moments[i].moment, err))
            return -1;
        doc_row_begin(doc);
        add_ledger(doc, study, use, &ledger, moments[i].at);
        if (!i)
            add_notes(doc, study, &ledger);
        doc_row_end(doc);
        ledger_release(&ledger);
    }
    doc_list_end(doc);
    return 0;
}

/* --- parts and the page --- */

int page_ledgers(struct doc *doc, const struct study *study, const struct view *view,
                 struct err *err)
{
    const struct history *history = &study->history;
    int status = 0;
    doc_list_begin(doc, "ledger", NULL);
    for (size_t i = 0; i < history->device_count && !status; i++) {
        const struct device_use *use = &history->devices[i];

        if (view->device >= 0 && use->device != view->device)
            continue;
        doc_row_begin(doc);
        page_device_number(doc, "Device", use->device);
        if (doc_takes(doc, DOC_BOTH))
            status = add_moments(doc, study, use, view, err);
        doc_row_end(doc);
    }
    doc_list_end(doc);
    return status;
}

/* Adds the memory that nvidia-smi shows for the process: its pools, its other memory, its
 * context. */
static void add_note(struct doc *doc, const struct ledger *ledger)
{
    const uint64_t pools_bytes = ledger_sum(ledger, LEDGER_pool_live) +
                                 ledger_sum(ledger, LEDGER_pool_graphs) +
                                 ledger_sum(ledger, LEDGER_pool_cached);
    const uint64_t modules_bytes = ledger_sum(ledger, LEDGER_modules);
    const uint64_t context_bytes =
        ledger_sum(ledger, LEDGER_context) + ledger_sum(ledger, LEDGER_growth);
    const uint64_t own_bytes = ledger_context_part(ledger, context_bytes);
    doc_note(doc,
             "nvidia-smi shows about %s of this process at the peak of the driver's memory: %s in "
             "pools of frameworks, "
             "%s taken from the driver by libraries and the program, %s of context and modules "
             "(%s).",
             BYTES_TEXT(ledger->process_bytes + own_bytes), BYTES_TEXT(pools_bytes),
             BYTES_TEXT(ledger->process_bytes - pools_bytes - modules_bytes),
             BYTES_TEXT(own_bytes + modules_bytes),
             !ledger->used_known ? "unknown: the trace has no free-memory sample"
             : own_bytes < context_bytes
                 ? "assumed: others hold what is in use beyond the process's memory and "
                   "1 GiB"
                 : "a difference, which may include other processes");
}

int page_ledger_note(struct doc *doc, const struct study *study, const struct device_use *use,
                     const struct view *view, struct err *err)
{
    struct moment moment;
    struct ledger ledger;
    (void)view;
    if (!doc_takes(doc, DOC_SUMMARY) || history_is_imported(&study->history))
        return 0;
    if (find_moment(&moment, study, use, NULL, err))
        return -1;
    if (moment.index == INDEX_NONE)
        return 0;
    if (ledger_at(&ledger, &study->history, use, &moment, err))
        return -1;
    add_note(doc, &ledger);
    ledger_release(&ledger);
    return 0;
}

static int answer_of_device(struct opening *opening, const struct study *study,
                            const struct device_use *use, const struct view *view, struct err *err)
{
    char device[STUDY_DEVICE_BYTES];
    struct moment moment;
    struct ledger ledger;
    study_device_name(use->device, device);
    if (find_moment(&moment, study, use, view->at, err))
        return -1;
    if (moment.index == INDEX_NONE)
        return page_say(opening, VERDICT_what,
                        history_is_imported(&study->history)
                            ? "The memory that the driver gave on %s%s%s is not known, because the "
                              "trace does not record it."
                            : "On %s no device memory was allocated%s%s.",
                        device, view->at ? " by " : "", view->at ? view->at : "");
    if (ledger_at(&ledger, &study->history, use, &moment, err))
        return -1;
    const int status =
        say_ledger(opening, study, use, &ledger, moment_text(view->at ? view->at : "peak"));
    ledger_release(&ledger);
    return status;
}

static int answer_ledger(struct opening *opening, const struct study *study,
                         const struct view *view, struct err *err)
{
    const struct history *history = &study->history;
    int status = 0;
    for (size_t i = 0; i < history->device_count && status >= 0; i++)
        if (view->device < 0 || history->devices[i].device == view->device)
            status = answer_of_device(opening, study, &history->devices[i], view, err);
    if (history->device_count && status >= 0)
        page_next(opening, history->failures_in_all ? "oom" : "peak");
    return history->device_count ? status : page_say(opening, VERDICT_what, "No device was used.");
}

static int add_ledger_of_device(struct doc *doc, const struct study *study,
                                const struct device_use *use, const struct view *view,
                                struct err *err)
{
    return add_moments(doc, study, use, view, err) || page_pinned_memory(doc, study, use, view, err)
               ? -1
               : 0;
}

static int add_ledger_tail(struct doc *doc, const struct study *study, const struct view *view,
                           struct err *err)
{
    return page_host_memory(doc, study, view, err) || page_warnings(doc, study, view, err) ? -1 : 0;
}

const struct page page_ledger = {.schema = "gpumemtrace.ledger/1",
                                 .answer = answer_ledger,
                                 .device = add_ledger_of_device,
                                 .tail = add_ledger_tail};
