/* SPDX-License-Identifier: MIT */
/*
 * What the program was told around its failures: by NVML, who uses the card; by a framework's pool,
 * what limit it keeps to. It must not know why an allocation failed.
 *
 *     refused ─► NVML's answer, one event a process ─► the pool reports out of memory ─► its limit
 *     refused ─► NVML's answer                         a failure of the driver's call
 *
 * An answer is of a failure if the same thread got it, within a second of it, and the process held as
 * much of the card then.
 */
#ifndef GPUMEMTRACE_ANALYZER_REPLAY_PROCESS_ANSWERS_H
#define GPUMEMTRACE_ANALYZER_REPLAY_PROCESS_ANSWERS_H

#include "analyzer/replay/history/cursor.h"

/* An answer, as far as it was read. */
struct process_answer {
    struct card_processes reported;
    int device;
    uint32_t thread_id;
    uint64_t named_count, read_count;
    uint64_t time_ns, held_bytes; /* when it began; of the driver's memory */
    bool lacks_bytes, has_own;
};

/* The last answer; an answer ends before another one begins, or is not known. Zeroed is none. */
struct process_answers {
    struct process_answer last;
};

/* The current event is EVENT_PROCESS_MEMORY, of a device that the history has. */
void process_answers_read(struct process_answers *answers, const struct cursor *at);
/* The current event is a failure, which was added. */
void process_answers_join(const struct process_answers *answers, const struct cursor *at);
/* The current event is EVENT_POOL_LIMIT. */
void process_answers_set_limit(const struct cursor *at);

#endif
