/* SPDX-License-Identifier: MIT */
/* Describes runs in rows and sentences; see runs.h. */
#include "runs.h"

#include <inttypes.h>

#include "analyzer/render/units.h"
#include "analyzer/thresholds/thresholds.h"

enum { TEXT_MAX = 1 << 20 };
/* Adds "peak 1.20 GiB of 1.31 GiB, 112.00 MiB spare". */
void page_runs_room(struct text *text, const struct trial *trial)
{
    if (!trial->is_known) {
        text_add(text, "its peak is not known");
        return;
    }
    text_addf(text, "peak %s of %s", BYTES_TEXT(trial->peak_bytes), BYTES_TEXT(trial->room_bytes));
    if (trial->device > 0)
        text_addf(text, " on device %d", trial->device);
    text_addf(text, ", %s spare", BYTES_TEXT(trial->spare_bytes));
}

const char *page_runs_scarce(const struct trial *trial)
{
    return trial->is_known && trial->spare_bytes < trial->room_bytes / SCARCE_DIVISOR
               ? ", so little that a card whose context takes more may still refuse it"
               : "";
}

void page_runs_refusals(struct text *text, const struct trial *trial)
{
    if (trial->failures_count)
        text_addf(text,
                  "%" PRIu64 " allocation%s failed for want of memory, and the program went on",
                  trial->failures_count, trial->failures_count == 1 ? "" : "s");
}

void page_runs_figures(struct doc *doc, const struct trial *trial)
{
    doc_known_bytes(doc, "peak_bytes", "Peak", trial->is_known, trial->peak_bytes);
    doc_known_bytes(doc, "spare_bytes", "Spare", trial->is_known, trial->spare_bytes);
    doc_known_bytes(doc_detail(doc), "room_bytes", "Of", trial->is_known, trial->room_bytes);
    doc_known_bytes(doc, "live_peak_bytes", "Live", trial->is_known, trial->live_bytes);
}

void page_runs_change(struct doc *doc, const struct fix *fix, const struct fix_change *change,
                      const char *nothing)
{
    struct text text;
    text_init(&text, TEXT_MAX);
    fix_change_text(&text, fix, change);
    doc_text(doc, "change", "Change", text_failed(&text) ? NULL : *text.data ? text.data : nothing);
    text_release(&text);
}

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

void page_runs(struct doc *doc, const struct fix *fix, bool is_kept)
{
    doc_list_begin(doc, "runs", "Runs");
    for (size_t i = 0; i < fix->count; i++) {
        const struct trial *trial = &fix->runs[i].trial;
        doc_row_begin(doc);
        doc_count(doc, "run", "Run", i + 1);
        add_end(doc, trial);
        page_runs_figures(doc, trial);
        doc_integer(doc, "duration_ns", "Took", DOC_NS, (int64_t)trial->duration_ns);
        page_runs_change(doc, fix, &fix->runs[i].change, "nothing: as it was");
        doc_text(doc_detail(doc), "trace", "Trace", is_kept && *trial->trace ? trial->trace : NULL);
        doc_row_end(doc);
    }
    doc_list_end(doc);
}
