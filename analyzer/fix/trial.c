/* SPDX-License-Identifier: MIT */
/* Makes one dry run and judges it; see trial.h. */
#include "trial.h"

#include <glob.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analyzer/analysis/ledger/ledger.h"
#include "analyzer/analysis/study_open.h"
#include "analyzer/oom/oom.h"
#include "analyzer/oom/oom_kind.h"
#include "analyzer/run/run_end.h"
#include "analyzer/run/run_group.h"
#include "analyzer/util/clock.h"

const char *trial_end_key(enum trial_end end)
{
    static const char *const keys[] = {[TRIAL_FITS] = "fits",
                                       [TRIAL_NO_MEMORY] = "no_memory",
                                       [TRIAL_FAILED] = "failed",
                                       [TRIAL_NO_GPU] = "no_gpu",
                                       [TRIAL_STOPPED] = "stopped"};
    return keys[end];
}

/* --- one trace --- */

struct seen {
    bool has_ended_by_failure; /* a failed allocation ended the process of this trace */
    bool left_with_zero;       /* every process left with status 0 */
    bool is_decided;           /* a failed allocation ended the process of trial->trace */
};

static int count_failures(struct trial *trial, struct seen *seen, const struct study *study,
                          struct err *err)
{
    const struct history *history = &study->history;
    struct oom oom;
    seen->has_ended_by_failure = false;
    for (size_t i = 0; i < history->failure_count; i++) {
        const struct failure *failure = &history->failures[i];
        if (oom_explain(&oom, history, failure, err))
            return -1;
        if (!oom_is_of_card(&oom) || oom.reason == OOM_NO_LACK)
            continue;
        trial->failures_count++;
        seen->has_ended_by_failure |= !failure->went_on;
    }
    return 0;
}

struct room {
    bool is_known;
    int device;
    uint64_t spare_bytes, total_bytes, live_bytes;
};

static int find_least_spare(struct room *room, const struct study *study, struct err *err)
{
    const struct history *history = &study->history;
    *room = (struct room){0};
    for (size_t i = 0; i < history->device_count; i++) {
        const struct device_use *use = &history->devices[i];
        const struct moment moment = ledger_peak(history, use);
        struct ledger ledger;
        if (moment.index == INDEX_NONE)
            continue;
        if (ledger_at(&ledger, history, use, &moment, err))
            return -1;
        const uint64_t spare_bytes =
            ledger.total_bytes > ledger.used_bytes ? ledger.total_bytes - ledger.used_bytes : 0;
        if (ledger.used_known && ledger.total_known &&
            (!room->is_known || spare_bytes < room->spare_bytes))
            *room = (struct room){.is_known = true,
                                  .device = use->device,
                                  .spare_bytes = spare_bytes,
                                  .total_bytes = ledger.total_bytes,
                                  .live_bytes = history->accounts[use->leading].peak_bytes};
        ledger_release(&ledger);
    }
    return 0;
}

static void note_room(struct trial *trial, const struct room *room, const struct sim_spec *card)
{
    trial->is_known = room->is_known;
    trial->device = room->device;
    trial->spare_bytes = room->spare_bytes;
    trial->room_bytes = room->total_bytes - (room->is_known ? card->others_bytes : 0);
    trial->peak_bytes = trial->room_bytes - room->spare_bytes;
    trial->live_bytes = room->live_bytes;
}

/*
 * Keeps the trace that decides. It is the trace of a process that a failed allocation ended. If
 * there is none, it is the trace with the least spare memory.
 */
static int note_trace(struct trial *trial, struct seen *seen, const struct study *study,
                      const char *path, const struct sim_spec *card, struct err *err)
{
    const struct trace_meta *meta = &study->trace.meta;
    struct room room;
    if (count_failures(trial, seen, study, err) || find_least_spare(&room, study, err))
        return -1;
    const int64_t rank_count = trace_world_size(&study->trace).value;
    trial->rank_count = rank_count > trial->rank_count ? rank_count : trial->rank_count;
    seen->left_with_zero &= meta->exit_status.known && meta->exit_status.value == 0;
    const bool is_nearer =
        !trial->is_known || (room.is_known && room.spare_bytes < trial->spare_bytes);
    if (!seen->is_decided && (seen->has_ended_by_failure || is_nearer || !trial->trace[0])) {
        snprintf(trial->trace, sizeof trial->trace, "%s", path);
        note_room(trial, &room, card);
    }
    seen->is_decided |= seen->has_ended_by_failure;
    return 0;
}

static int read_trace(struct trial *trial, struct seen *seen, const char *path,
                      const struct sim_spec *card, struct err *err)
{
    struct study study;
    if (study_open(&study, path, &(struct study_ask){0}, err))
        return -1;
    trace_close_events(&study.trace);
    const int status = note_trace(trial, seen, &study, path, card, err);
    study_release(&study);
    return status;
}

/*
 * True if the program's last output says "out of memory". A library that has its own memory may
 * refuse a request without a failed call, so only the program knows of it.
 */
static bool says_out_of_memory(const char *log_path)
{
    static const char *const words[] = {"out of memory", "OutOfMemory", "ALLOC_FAILED"};
    enum { LAST_BYTES = 65536 };
    char *text = calloc(1, LAST_BYTES + 1);
    FILE *log = fopen(log_path, "re");
    bool says = false;
    if (text && log) {
        if (fseek(log, -LAST_BYTES, SEEK_END))
            rewind(log);
        const size_t length = fread(text, 1, LAST_BYTES, log);
        for (size_t i = 0; i < sizeof words / sizeof *words; i++)
            says |= memmem(text, length, words[i], strlen(words[i])) != NULL;
    }
    if (log)
        fclose(log);
    free(text);
    return says;
}

static enum trial_end judge(const struct trial *trial, const struct seen *seen)
{
    if (!trial->trace_count)
        return trial->status ? TRIAL_FAILED : TRIAL_NO_GPU;
    if (seen->is_decided)
        return TRIAL_NO_MEMORY;
    if (!trial->status || (trial_was_killed(trial) && seen->left_with_zero))
        return TRIAL_FITS;
    return trial->failures_count || says_out_of_memory(trial->log) ? TRIAL_NO_MEMORY : TRIAL_FAILED;
}

static int read_traces(struct trial *trial, const struct trial_ask *ask, struct err *err)
{
    char pattern[PATH_MAX + 32];
    struct seen seen = {.left_with_zero = true};
    glob_t found;
    int status = 0;
    snprintf(pattern, sizeof pattern, "%s/run%d.*.db", ask->folder, ask->number);
    if (!glob(pattern, 0, NULL, &found)) {
        trial->trace_count = found.gl_pathc;
        for (size_t i = 0; i < found.gl_pathc && !status; i++)
            status = read_trace(trial, &seen, found.gl_pathv[i], ask->card, err);
        globfree(&found);
    }
    if (!status)
        trial->end = judge(trial, &seen);
    return status;
}

/* --- the run --- */

int trial_run(struct trial *trial, const struct trial_ask *ask, struct err *err)
{
    char output[PATH_MAX + 32];
    struct run_ended ended;
    const uint64_t begin_ns = monotonic_ns(), kills = run_end_oom_kills("");
    *trial = (struct trial){0};
    snprintf(trial->log, sizeof trial->log, "%.4000s/run%d.log", ask->folder, ask->number);
    snprintf(output, sizeof output, "%s/run%d.%%p.db", ask->folder, ask->number);
    if (setenv("GPUMEMTRACE_OUTPUT", output, 1))
        return err_set(err, ERR_SYSTEM, "out of memory for the environment");
    const int status = run_group(ask->path, ask->argv, ask->variables, trial->log, &ended, err);
    trial->duration_ns = monotonic_ns() - begin_ns;
    if (run_group_stopped_by()) {
        trial->end = TRIAL_STOPPED;
        return 0;
    }
    if (status < 0)
        return -1;
    trial->status = status;
    trial->signal = ended.signal;
    trial->was_oom_kill = run_end_was_oom_kill(ended.signal, kills, run_end_oom_kills(""));
    return read_traces(trial, ask, err);
}
