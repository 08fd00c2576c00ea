/* SPDX-License-Identifier: MIT */
/*
 * The recorder's state of one thread: the thread's number, its ring segment, and parts that other
 * files declare for their own data. A thread-local pointer leads to the state. The memory comes
 * from mmap and is reused after the thread has ended.
 *
 *     struct thread | a part | another part | …             THREAD_BYTES of address space
 *
 *     static struct thread_part part = THREAD_PART(struct mine, sizeof(struct mine));
 *     struct mine *mine = thread_part(thread, &part);
 *
 * Every function is for the calling thread and callable from a hook. The functions call no malloc,
 * and take a lock only at a thread's first event, at a part's first use and at a thread's end.
 */
#pragma once

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "recording.h"
#include "trace/record.h"

/* This size is large enough for all parts, as tests/unit/interpose/life/start.c checks. Untouched
 * pages cost nothing. */
#define THREAD_BYTES ((size_t)256 << 10)

struct thread {
    uint64_t generation; /* generation of the thread's recording; never 0 */
    uint32_t thread_id;
    struct ring_segment *segment; /* NULL: none yet, or given back */

    struct thread *next_free; /* next in the list of states whose thread has ended */
    struct thread *next_all;  /* see thread_all */
};

/* A part: the bytes of one owner in each thread's state. For a new thread the first cleared_bytes
 * are zero. The rest may still hold data of an earlier thread. */
struct thread_part {
    uint32_t bytes, cleared_bytes;
    /* Offset in a thread's memory; 0: not placed yet. Relaxed, because the bytes at the offset
     * belong to one thread. */
    _Atomic uint32_t offset;
    struct thread_part *next;
};

#define THREAD_PART(type, cleared)                                                                 \
    {                                                                                              \
        .bytes = sizeof(type), .cleared_bytes = (cleared)                                          \
    }

/* Gives the part its offset, which is the same in all threads. */
uint32_t thread_part_place(struct thread_part *part);
/* Returns how many of the THREAD_BYTES the parts in use take. */
size_t thread_parts_bytes(void);

/* Returns the part's bytes in this thread's state. NULL: the part is not placed yet. */
static inline void *thread_part_if_placed(struct thread *thread, const struct thread_part *part)
{
    const uint32_t offset = atomic_load_explicit(&part->offset, memory_order_relaxed);
    return GMT_LIKELY(offset) ? (char *)thread + offset : NULL;
}

static inline void *thread_part(struct thread *thread, struct thread_part *part)
{
    void *placed = thread_part_if_placed(thread, part);
    return GMT_LIKELY(placed) ? placed : (char *)thread + thread_part_place(part);
}

extern _Thread_local struct thread *thread_self GMT_TLS_INITIAL_EXEC;

/* Makes the calling thread's state and writes its row. NULL: nothing is recorded, or out of
 * memory. */
struct thread *thread_attach(void);

/* May thread_self be used? If not, it is NULL or left over from another recording. */
static inline bool thread_is_current(const struct thread *self)
{
    return self && self->generation == recording_generation();
}

/* Returns the calling thread's state. NULL: this process has no recording (not started, ended,
 * failed), or is out of memory. */
static inline struct thread *thread_current(void)
{
    return GMT_LIKELY(thread_is_current(thread_self)) ? thread_self : thread_attach();
}

/* Does the work of thread_claim if the thread has no segment or its segment is full. */
struct ring_slot *thread_claim_elsewhere(struct thread *thread, unsigned slots);

/* Claims consecutive slots of the thread's segment. NULL: the event is lost and counted. Keeps
 * errno. */
static inline struct ring_slot *thread_claim(struct thread *thread, unsigned slots)
{
    struct ring_slot *slot =
        thread->segment ? ring_claim(&recording.ring, thread->segment, slots) : NULL;
    return GMT_LIKELY(slot != NULL) ? slot : thread_claim_elsewhere(thread, slots);
}

/* Claims, fills and publishes a definition with a text of up to RECORD_TEXT_MAX bytes. The caller
 * sets all members of `slot` except type, state and call_id. */
void thread_define(struct thread *thread, enum slot_type type, const struct ring_slot *slot,
                   const char *text, size_t text_bytes);

/* These functions are for events that another thread had before the recording began. thread_reserve
 * returns a number for that thread (0: there are too many such threads). The thread keeps this
 * number when it records its own events. thread_speak_for makes that thread the owner of the slots
 * that follow in the calling thread's segment. */
uint32_t thread_reserve(struct thread *thread, int64_t tid);
void thread_speak_for(struct thread *thread, uint32_t thread_id);

/* Returns the head of the list of all thread states of this process, in use or not. next_all links
 * them. States are never freed, so readers need no lock. */
struct thread *thread_all(void);

/* Call it once, before the first call of thread_current that may return a state. */
int thread_setup(void);
