/* SPDX-License-Identifier: MIT */
/* Adds figures of the same run under another setting of PyTorch's allocator. */
#include "whatif.h"

#include <inttypes.h>

#include "analyzer/render/units.h"
#include "parts.h"

const char *page_difference(const struct difference *found, char out[PAGE_DIFFERENCE_BYTES])
{
    const size_t size = PAGE_DIFFERENCE_BYTES;
    const char *bytes = BYTES_TEXT(found->size_bytes);
    switch (found->kind) {
    case DIFFERENCE_NO_BLOCK:
        snprintf(out, size,
                 "%s at 0x%" PRIx64
                 " lie where the model has no free block, and not in a new segment of the size "
                 "that it would request: perhaps in a MemPool, which the trace does not record",
                 bytes, found->address);
        break;
    case DIFFERENCE_OTHER:
        snprintf(out, size,
                 "PyTorch took %s at 0x%" PRIx64 ", although a free block at 0x%" PRIx64
                 " would have done: that one waits for another stream's event, or belongs to a "
                 "MemPool",
                 bytes, found->address, found->other);
        break;
    case DIFFERENCE_SIZE:
        snprintf(out, size, "PyTorch counts %s for the block at 0x%" PRIx64 ", the model %s", bytes,
                 found->address, BYTES_TEXT(found->other));
        break;
    case DIFFERENCE_KEPT:
        snprintf(out, size,
                 "PyTorch kept %s of free memory that the model gives back: it waits for an event, "
                 "or belongs to a MemPool",
                 bytes);
        break;
    case DIFFERENCE_REFUSED:
        snprintf(out, size,
                 "PyTorch had no room for %s, although a free block at 0x%" PRIx64
                 " would have done: that one waits for another stream's event, or belongs to a "
                 "MemPool",
                 bytes, found->other);
        break;
    case DIFFERENCE_GAVE_BACK:
        snprintf(out, size,
                 "PyTorch gave %s at 0x%" PRIx64
                 " back to the driver, although the model has live memory there",
                 bytes, found->address);
        break;
    default:
        *out = 0;
    }
    return out;
}

/* Returns the device, or NULL if the trace has no memory of PyTorch's allocator on it. */
static const struct whatif_device *find_device(const struct study *study, int device)
{
    const struct whatif_device *found = study->whatif.devices[DEVICE_SLOT(device)];
    return found && found->has_pool ? found : NULL;
}

/* True if the recording or the run has a failure. The program might have gone on in a different
 * way, so the figures are lower bounds. */
static bool is_least(const struct whatif_run *run)
{
    return run->served_failures_count || run->unknown_failures_count ||
           run->failure.at.index != INDEX_NONE;
}

static void add_difference(struct doc *doc, const struct difference *found)
{
    char words[PAGE_DIFFERENCE_BYTES];
    doc_bool(doc, "replayed", "replayed", found->kind == DIFFERENCE_NONE);
    doc_words(doc, "%s",
              found->kind == DIFFERENCE_NONE ? "yes, the recorded segments to the byte" : "no");
    if (found->kind == DIFFERENCE_NONE) {
        doc_null(doc_detail(doc), "differs_at_seq", "first difference", DOC_COUNT);
        doc_null(doc_detail(doc), "difference", "difference", DOC_TEXT);
        return;
    }
    doc_count(doc, "differs_at_seq", "first difference at event", found->seq);
    doc_text(doc_detail(doc), "difference", "difference", page_difference(found, words));
    doc_note(doc, "%s. So no figure is given.", words);
}

static void add_run(struct doc *doc, const struct whatif_device *device,
                    const struct whatif_run *run)
{
    const bool known = device->recorded.difference.kind == DIFFERENCE_NONE;
    const struct allocator *allocator = &run->allocator;
    const bool fails = known && run->failure.at.index != INDEX_NONE;
    const uint64_t idle_bytes = allocator->peak_reserved_bytes > run->live_at_peak_bytes
                                    ? allocator->peak_reserved_bytes - run->live_at_peak_bytes
                                    : 0;
    doc_known_bytes(doc, "peak_reserved_bytes", "peak reserved", known,
                    allocator->peak_reserved_bytes);
    doc_known_bytes(doc, "live_at_peak_bytes", "live then", known, run->live_at_peak_bytes);
    doc_known_bytes(doc, "idle_at_peak_bytes", "idle then", known, idle_bytes);
    doc_known_count(doc, "retries", "retries", known, allocator->retry_count);
    doc_known_count(doc, "failures_served", "failures that it would have served", known,
                    run->served_failures_count);
    doc_known_count(doc, "failures_left", "failures that would have been the same", known,
                    run->same_failures_count);
    doc_known_count(doc_detail_if(doc, !run->unknown_failures_count), "failures_unknown",
                    "failures that it may have served", known, run->unknown_failures_count);
    doc_known_count(doc, "fails_at_seq", "runs out of memory at event", fails,
                    fails ? run->failure.at.seq : 0);
    doc_known_bytes(doc_detail_if(doc, !fails), "fails_asking_bytes", "asking for", fails,
                    run->failure.requested_bytes);
    doc_known_bool(doc_detail(doc), "at_least", "at least", known, is_least(run));
}

int page_what_if(struct doc *doc, const struct study *study, const struct device_use *use,
                 const struct view *view, struct err *err)
{
    const struct page_frag_options *options = view->own;
    const struct whatif_device *device = find_device(study, use->device);
    (void)err;
    if (!options->what_if)
        return 0;
    if (!device) {
        doc_null(doc, "what_if", "What if", DOC_TEXT);
        return 0;
    }
    const bool known = device->recorded.difference.kind == DIFFERENCE_NONE;
    doc_object_begin(doc, "what_if", "What if");
    doc_text(doc, "setting", "setting", options->what_if);
    add_difference(doc, &device->recorded.difference);
    doc_known_bytes(doc, "recorded_peak_reserved_bytes", "peak reserved as it was", known,
                    device->recorded.allocator.peak_reserved_bytes);
    add_run(doc, device, &device->runs[0]);
    doc_bool(doc_detail(doc), "estimated", "estimated", true);
    doc_object_end(doc);
    return 0;
}

/* --- as an answer --- */

static void say_change(struct opening *opening, const char *name, const char *what_if,
                       const struct whatif_device *device, const struct whatif_run *run)
{
    enum { SETTING_CHARACTERS = 28 }; /* the table has the whole setting */
    page_say(opening, VERDICT_what, "With %s the pool on %s would reserve %s%s, not %s.",
             FIT_TEXT(what_if, SETTING_CHARACTERS), name, is_least(run) ? "at least " : "",
             BYTES_TEXT(run->allocator.peak_reserved_bytes),
             BYTES_TEXT(device->recorded.allocator.peak_reserved_bytes));
}

static void say_failures(struct opening *opening, const struct whatif_run *run)
{
    const uint64_t failures_count =
        run->served_failures_count + run->same_failures_count + run->unknown_failures_count;
    if (run->failure.at.index != INDEX_NONE)
        page_say(opening, VERDICT_why, "It would have run out of memory at event %" PRIu64 "%s%s.",
                 run->failure.at.seq, run->failure.is_outside ? ": " : ", asking for ",
                 run->failure.is_outside ? "memory outside the pool finds no room"
                                         : BYTES_TEXT(run->failure.requested_bytes));
    else if (run->unknown_failures_count)
        page_say(opening, VERDICT_why,
                 "PyTorch refused under a memory fraction that the trace does not record, "
                 "so it is unknown whether %" PRIu64 " of the %" PRIu64
                 " failed allocations would have been served.",
                 run->unknown_failures_count, failures_count);
    else if (run->served_failures_count)
        page_say(opening, VERDICT_why,
                 "%" PRIu64 " of the %" PRIu64 " allocations that failed would have been "
                 "served; the program's requests after that are not known.",
                 run->served_failures_count, failures_count);
    else if (run->same_failures_count)
        page_say(opening, VERDICT_why, "The allocations that failed would have failed as well.");
}

int page_what_if_answer(struct opening *opening, const struct study *study, const char *what_if,
                        int number)
{
    const struct whatif_device *device = find_device(study, number);
    char words[PAGE_DIFFERENCE_BYTES];
    const char *name = DEVICE_TEXT(number);
    if (!device)
        return page_say(opening, VERDICT_what,
                        "On %s nothing was recorded of PyTorch's allocator that could be replayed.",
                        name);
    const struct difference *found = &device->recorded.difference;
    if (found->kind != DIFFERENCE_NONE) {
        page_say(opening, VERDICT_what,
                 "The result on %s is unknown: the model of the allocator differs.", name);
        return page_say(opening, VERDICT_why, "At event %" PRIu64 " %s.", found->seq,
                        page_difference(found, words));
    }
    say_change(opening, name, what_if, device, &device->runs[0]);
    say_failures(opening, &device->runs[0]);
    if (device->runs[0].allocator.settings.garbage_threshold > 0 &&
        whatif_fraction(device, &device->runs[0]) <= 0)
        page_say(opening, VERDICT_why,
                 "Garbage is collected only under a memory fraction "
                 "(set_per_process_memory_fraction). The trace has none, and a "
                 "fraction that a call sets is recorded only when memory is "
                 "refused under it; memory_fraction=SHARE sets it.");
    return 1;
}
