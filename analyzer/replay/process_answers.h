/* SPDX-License-Identifier: MIT */
/*
 * Answers that the program got shortly before or after its failures: NVML's list of the processes
 * on the card, and the limit of a framework's pool.
 *
 *     refused ─► NVML's answer, one event a process ─► the pool reports out of memory ─► its limit
 *     refused ─► NVML's answer                         a failure of the driver's call
 *
 * An answer belongs to a failure if the same thread got it within a second of the failure, while
 * the process held the same number of bytes on the card.
 */
#pragma once

#include "analyzer/replay/history/cursor.h"

/* One answer of NVML, which has one event for each process: what the events read so far say. */
struct process_answer {
    struct card_processes reported;
    int device;
    uint32_t thread_id;
    uint64_t named_count, read_count;
    uint64_t time_ns, held_bytes; /* at its first event; held_bytes: of driver memory */
    bool lacks_bytes, has_own;
};

/* The last answer. If another answer interrupts an answer, the first one stays unknown. A zeroed
 * struct has no answer. */
struct process_answers {
    struct process_answer last;
};

/* Handles the current event, which is EVENT_PROCESS_MEMORY. The history must have its device. */
void process_answers_read(struct process_answers *answers, const struct cursor *at);
/* Handles the current event, which is a failure. The history must have the failure already. */
void process_answers_join(const struct process_answers *answers, const struct cursor *at);
/* Handles the current event, which is EVENT_POOL_LIMIT. */
void process_answers_set_limit(const struct cursor *at);
