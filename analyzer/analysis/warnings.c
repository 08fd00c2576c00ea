/* SPDX-License-Identifier: MIT */
/*
 * Writes the warnings that a reader should know before using the figures: lost events, a process
 * that was killed, frees that match no allocation. Only reports what the history has counted.
 */
#include "study.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "analyzer/torch/frames.h"
#include "analyzer/util/text.h"
#include "gpumemtrace/limits.h"
#include "trace/ring.h"
#include "analyzer/thresholds/thresholds.h"

/* At most this many of the functions that a dry run does not model are named. */
#define NAMES_SHOWN 5
#define NAMES_BYTES_MAX 1024

/* If events were lost, the exit event may be among the lost ones. In this case its absence does not
 * show that the process was killed. */
static int warn_end(const struct study *study, struct text_list *list, struct err *err)
{
    const bool lossy = study->trace.meta.lost_events.value > 0;
    if (study->history.has_exit)
        return lossy ? 0
                     : text_list_add(
                           list, err,
                           "the end of the recording is missing (killed after exit, or the disk "
                           "had no room): events after the exit may be missing, too");
    return text_list_add(list, err, "%s: the last state is taken for the state at exit",
                         lossy ? "no exit of the process is recorded"
                               : "the process ended without exit (killed, or by a raw exit_group)");
}

/* Warns that no figure contains memory from before the recording, or memory that the other tool
 * does not watch. */
static int warn_import(const struct trace_meta *meta, struct text_list *list, struct err *err)
{
    return text_list_add(list, err, "imported from %.200s (%.64s), which does not say: %s",
                         meta->imported_from.value ? meta->imported_from.value : "a file",
                         meta->imported_format.value,
                         meta->not_known.value ? meta->not_known.value : "more than it shows");
}

static int warn_losses(const struct trace_meta *meta, struct text_list *list, struct err *err)
{
    const char *reason = meta->lost_reason.value;
    if (reason && !strcmp(reason, RING_LOSS_AT_MAX))
        return text_list_add(list, err,
                             "%" PRId64
                             " events were lost, as the ring was full: figures are incomplete; "
                             "record with a larger --ring-max",
                             meta->lost_events.value);
    if (reason)
        return text_list_add(
            list, err,
            "%" PRId64 " events were lost, as the disk had no room for the ring (%s): figures "
            "are incomplete; record to a disk with more room",
            meta->lost_events.value, reason);
    return text_list_add(list, err, "%" PRId64 " events were lost: figures are incomplete",
                         meta->lost_events.value);
}

static int warn_recording(const struct study *study, struct text_list *list, struct err *err)
{
    const struct trace_meta *meta = &study->trace.meta;
    if (study->trace.recording &&
        text_list_add(list, err, "the program is still running, so figures are up to now"))
        return -1;
    if (history_is_imported(&study->history) && warn_import(meta, list, err))
        return -1;
    if (!study->trace.recording && !history_is_imported(&study->history) &&
        !(meta->complete.known && meta->complete.value) && warn_end(study, list, err))
        return -1;
    if (meta->lost_events.value > 0 && warn_losses(meta, list, err))
        return -1;
    if (meta->ring_full_ns.value >= NOTABLE_WAIT_NS &&
        text_list_add(
            list, err,
            "threads of the program waited %.1f s for room in the ring, so times are longer than "
            "they were without the recorder: record with a larger --ring-max",
            (double)meta->ring_full_ns.value / 1e9))
        return -1;
    if (meta->lost_frames.value > 0 &&
        text_list_add(list, err, "%" PRId64 " stacks are cut short", meta->lost_frames.value))
        return -1;
    if (meta->shared_names.value > 0 &&
        text_list_add(list, err,
                      "%" PRId64 " phases or marks are listed as (more names), because the program "
                      "used more names than are kept",
                      meta->shared_names.value))
        return -1;
    if (study->trace.cut_texts_count &&
        text_list_add(list, err,
                      "%" PRIu64 " texts of the file are longer than %d bytes and are cut",
                      study->trace.cut_texts_count, LIMIT_text_bytes))
        return -1;
    return 0;
}

/* The name by which a program knows the result of a call. */
static const char *result_name(int32_t result)
{
    switch (result) {
#define CUDA_ERROR(number, driver_name, runtime_name, text)                                        \
    case number:                                                                                   \
        return #runtime_name;
#define CUDA_ERROR_OF_DRIVER(number, name, text)                                                   \
    case number:                                                                                   \
        return #name;
#define CUDA_ERROR_OF_RUNTIME CUDA_ERROR_OF_DRIVER
#include "gpumemtrace/cuda/errors.def"
    default:
        return "unknown";
    }
}

static uint64_t count_unfreed(const struct history *history)
{
    uint64_t count = 0;
    for (size_t i = 0; i < history->block_slots.used; i++)
        count += history->blocks[i].account != HISTORY_NONE && history->blocks[i].free_failed;
    return count;
}

static int warn_frees(const struct history *history, struct text_list *list, struct err *err)
{
    const uint64_t count = count_unfreed(history);
    if (count &&
        text_list_add(list, err,
                      "%" PRIu64 " block%s stayed although the program freed %s: the last "
                      "such free failed with error %" PRId32 " (%s)",
                      count, count > 1 ? "s" : "", count > 1 ? "them" : "it",
                      history->failed_free_result, result_name(history->failed_free_result)))
        return -1;
    if (history->unknown_frees_count &&
        text_list_add(list, err,
                      "%" PRIu64 " frees of memory whose allocation was not recorded are not "
                      "counted",
                      history->unknown_frees_count))
        return -1;
    return 0;
}

static int warn_replay(const struct study *study, struct text_list *list, struct err *err)
{
    const struct history *history = &study->history;
    uint64_t lost_frees_count = 0;
    /* Reserved address space is left out: it holds no memory, and ends with the mappings in it. */
    for (size_t i = 0; i < history->account_count; i++)
        if (history->accounts[i].kind != ACCOUNT_none)
            lost_frees_count += history->accounts[i].lost_frees_count;
    if (lost_frees_count &&
        text_list_add(list, err,
                      "%" PRIu64 " blocks ended without a recorded free: their addresses were "
                      "handed out again",
                      lost_frees_count))
        return -1;
    if (warn_frees(history, list, err))
        return -1;
    if (history->unmatched_pops_count &&
        text_list_add(list, err, "%" PRIu64 " phase ends had no beginning",
                      history->unmatched_pops_count))
        return -1;
    return 0;
}

static int warn_coverage(const struct study *study, struct text_list *list, struct err *err)
{
    size_t count = study->trace.coverage_count;
    if (!count)
        return 0;
    return text_list_add(list, err,
                         "the program looked up %zu allocation entry point%s that %s not recorded "
                         "(%s%s): see 'gpumemtrace info'",
                         count, count > 1 ? "s" : "", count > 1 ? "are" : "is",
                         study->trace.coverage[0].name, count > 1 ? " …" : "");
}

/* Warns of the functions that returned "not supported" in a dry run, because no figure contains the
 * memory that they would take on a real card. */
static int warn_not_modelled(const struct study *study, struct text_list *list, struct err *err)
{
    const struct trace *trace = &study->trace;
    const size_t count = trace->not_modelled_count;
    const struct trace_coverage *rows;
    struct text names;
    int result = 0;
    if (!count)
        return 0;
    rows = trace->coverage + trace->coverage_count;
    text_init(&names, NAMES_BYTES_MAX);
    for (size_t i = 0; i < count && i < NAMES_SHOWN; i++)
        text_addf(&names, "%s%s %" PRIu64, i ? ", " : "", rows[i].name, rows[i].count);
    result = text_list_add(list, err,
                           "the dry run does not model %zu function%s that the program called, "
                           "which returned \"not supported\": the memory that %s on a card is "
                           "missing from every figure (calls: %s%s)",
                           count, count > 1 ? "s" : "", count > 1 ? "they take" : "it takes",
                           text_failed(&names) ? "" : names.data, count > NAMES_SHOWN ? ", …" : "");
    text_release(&names);
    return result;
}

static bool has_library(const struct trace *trace, const char *name)
{
    for (size_t i = 0; i < trace->module_count; i++) {
        if (!strncmp(path_name(trace->modules[i].path), name, strlen(name)))
            return true;
    }
    return false;
}

#define DRY_RUN_WITH_VALUES                                                                        \
    "a dry run: values of small tensors are computed, those of large ones are not known, so "      \
    "shapes that depend on them may differ"
#define DRY_RUN_WITHOUT_PYTHON                                                                     \
    "a dry run: no values are computed in a program without Python, so shapes that "               \
    "depend on them may differ"
#define DRY_RUN_OF_ZEROS "a dry run: values are zeros, so shapes that depend on values may differ"
#define DRY_RUN_DOES_NOT_KNOW                                                                      \
    "; not known are memory inside kernels, NCCL's buffers, and the workspaces that heuristics "   \
    "of "                                                                                          \
    "cuBLAS and cuDNN choose (a convolution's is assumed)"

/* In a dry run, a program loses values only if it computes with libraries. A program that only
 * calls the driver loses none. */
const char *study_dry_run(const struct study *study)
{
    const struct trace *trace = &study->trace;
    if (!(trace->meta.simulated.known && trace->meta.simulated.value) ||
        !has_library(trace, TORCH_ALLOCATOR_LIBRARY))
        return NULL;
    const char *values = trace->meta.dry_run_values.value;
    if (!values || strcmp(values, "small") != 0)
        return DRY_RUN_OF_ZEROS DRY_RUN_DOES_NOT_KNOW;
    return has_library(trace, TORCH_PYTHON_LIBRARY) ? DRY_RUN_WITH_VALUES DRY_RUN_DOES_NOT_KNOW
                                                    : DRY_RUN_WITHOUT_PYTHON DRY_RUN_DOES_NOT_KNOW;
}

/* Warns of missing names in the frames that were shown so far. Therefore this warning must come
 * after the stacks. */
static int warn_names(const struct study *study, struct text_list *list, struct err *err)
{
    struct symbol_gaps gaps = symbols_gaps(study->symbols);
    if (gaps.other_build_count &&
        text_list_add(
            list, err,
            "%s%s on this machine %s not the build that was recorded: rows by call stack, function "
            "and operator show module and offset there, and their category may be 'other'; "
            "--debug-dir=DIR finds the right one",
            gaps.other_build, gaps.other_build_count > 1 ? " and others" : "",
            gaps.other_build_count > 1 ? "are" : "is"))
        return -1;
    if (gaps.missing_count &&
        text_list_add(
            list, err,
            "%s%s %s not on this machine: rows by call stack, function and operator show module "
            "and offset there, and their category may be 'other'; run 'gpumemtrace resolve' where "
            "the program ran, or give --debug-dir=DIR",
            gaps.missing, gaps.missing_count > 1 ? " and others" : "",
            gaps.missing_count > 1 ? "are" : "is"))
        return -1;
    return 0;
}

int study_warnings(const struct study *study, struct text_list *warnings, struct err *err)
{
    *warnings = (struct text_list){0};
    if (warn_recording(study, warnings, err) || warn_replay(study, warnings, err) ||
        warn_coverage(study, warnings, err) || warn_not_modelled(study, warnings, err) ||
        warn_names(study, warnings, err)) {
        text_list_release(warnings);
        return -1;
    }
    return 0;
}
