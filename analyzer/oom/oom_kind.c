/* SPDX-License-Identifier: MIT */
/* Decides whether a failure was caught, was fatal, or is not known; see oom_kind.h. */
#include "oom_kind.h"

#include <inttypes.h>
#include <stdio.h>

/* How the program ended. It matters for a failure after which nothing was allocated. */
enum end { END_IS_UNKNOWN, END_IS_TO_COME, END_BY_STATUS, END_WITHOUT_EXIT };

static enum end find_end(const struct history *history)
{
    const struct trace_meta *meta = &history->trace->meta;
    if (history->trace->recording)
        return END_IS_TO_COME;
    if (meta->exit_status.known)
        return END_BY_STATUS;
    if (meta->imported_format.value)
        return END_IS_UNKNOWN;
    if (!history->has_exit && meta->complete.known && !meta->complete.value)
        return END_WITHOUT_EXIT;
    return END_IS_UNKNOWN;
}

enum oom_kind oom_kind_of(const struct history *history, const struct failure *failure)
{
    if (failure->went_on)
        return OOM_KIND_CAUGHT;
    switch (find_end(history)) {
    case END_BY_STATUS:
        return history->trace->meta.exit_status.value ? OOM_KIND_FATAL : OOM_KIND_CAUGHT;
    case END_WITHOUT_EXIT:
        return OOM_KIND_FATAL;
    default:
        return OOM_KIND_UNKNOWN;
    }
}

const char *oom_kind_name(enum oom_kind kind)
{
    static const char *const names[] = {
        [OOM_KIND_UNKNOWN] = "unknown", [OOM_KIND_CAUGHT] = "caught", [OOM_KIND_FATAL] = "fatal"};
    return names[kind];
}

const char *oom_kind_reason(const struct history *history, const struct failure *failure,
                            char *buffer)
{
    static const char *const ends[] = {
        [END_IS_UNKNOWN] = "nothing was allocated after it; the trace does not say how the program "
                           "ended",
        [END_IS_TO_COME] = "nothing was allocated after it; the program still runs",
        [END_WITHOUT_EXIT] = "nothing was allocated after it, and the program was aborted or "
                             "killed",
    };
    const enum end end = find_end(history);
    if (failure->went_on)
        snprintf(buffer, OOM_KIND_TEXT_BYTES, "the program went on allocating");
    else if (end == END_BY_STATUS)
        snprintf(buffer, OOM_KIND_TEXT_BYTES,
                 "nothing was allocated after it, and the program ended with status %" PRId64,
                 history->trace->meta.exit_status.value);
    else
        snprintf(buffer, OOM_KIND_TEXT_BYTES, "%s", ends[end]);
    return buffer;
}
