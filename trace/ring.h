/* SPDX-License-Identifier: MIT */
/*
 * The way from the hooks to the writer: one shared file of segments beside the trace. A thread owns
 * a segment while it lives and appends slots to it; the drain reads each segment from its tail and
 * moves the tail only after the COMMIT that stored what it read. So database plus file hold every
 * finished event at any moment, also after SIGKILL. It must not know what the slots mean.
 *
 *     FILE-ring.0:  | header page | segment 0 | segment 1 | …       256 KiB each, up to ring_max
 *
 *     segment:      | header | slot | slot | slot | … | END |        head: next slot to fill
 *                              ^tail                                  (the owner's alone)
 *
 *     IDLE --(a thread takes it)--> ACTIVE --(no room left)--> FULL --(drained, wiped)--> IDLE
 *     LEFT <-----(the thread ends)----' ^
 *       '------(a thread takes it)------'
 *
 * Order between segments comes from event.seq, so any thread may go on in any segment that nobody
 * has; an OWNER slot says whose slots follow.
 *
 * Where the writer is slower than the program, full segments wait in the file, not in this process:
 * beyond RING_RESIDENT_SEGMENTS their pages are let go of, and nothing but the drain, which takes a
 * few of them at a time, touches them. So what is known of a segment stands outside of it.
 *
 * Thread-safety: ring_claim and ring_publish by the segment's owner; ring_take_segment by anyone;
 * the drain functions by one thread of one process at a time. Producer side callable from a hook:
 * yes, no malloc; a lock is taken only to make the file longer.
 */
#ifndef GPUMEMTRACE_TRACE_RING_H
#define GPUMEMTRACE_TRACE_RING_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "gpumemtrace/err.h"
#include "common/own_fd.h"
#include "record.h"

#define RING_SEGMENT_BYTES ((uint64_t)256 << 10) /* each thread with events holds one */
#define RING_SEGMENT_SLOTS (RING_SEGMENT_BYTES / sizeof(struct ring_slot) - 1)
#define RING_SEGMENT_LIMIT 4096   /* 1 GiB; GPUMEMTRACE_RING_MAX is cut to it */
#define RING_RESIDENT_SEGMENTS 64 /* 16 MiB */
#define RING_HEADER_BYTES 4096

/* Of another process's ring nothing is known. IDLE: nothing is in it that is to be read. */
enum segment_state { SEGMENT_UNKNOWN, SEGMENT_IDLE, SEGMENT_LEFT, SEGMENT_ACTIVE, SEGMENT_FULL };

struct ring_segment {
    uint32_t index;        /* among the segments; of this process only */
    uint32_t head;         /* slots filled or claimed; written by the owner */
    _Atomic uint64_t tail; /* thread_id << 32 | slots stored; written by the drain */
    uint64_t padding[6];
    struct ring_slot slots[RING_SEGMENT_SLOTS];
};

_Static_assert(sizeof(struct ring_segment) == RING_SEGMENT_BYTES, "a segment fills its place");

struct ring_header {
    char magic[8];
    uint32_t format;
    uint32_t segment_bytes;
    int64_t pid;
    uint64_t pid_start_ticks; /* /proc/PID/stat field 22: tells a reused pid */
    _Atomic uint32_t segment_count;
    _Atomic uint64_t lost_events;
    _Atomic uint64_t lost_frames;
};

struct ring {
    int fd;
    struct own_file file;
    const char *path; /* the caller's */
    bool writable;
    bool private; /* changes stay in this process */
    struct ring_header *header;
    uint32_t segment_max;
    _Atomic int64_t full_until_ns; /* CLOCK_MONOTONIC_COARSE: the file cannot grow */
    /* Protects growth: segment_count, the file's length and the entries of segments[]. */
    pthread_mutex_t grow_lock;
    _Atomic(struct ring_segment *) segments[RING_SEGMENT_LIMIT];
    _Atomic uint8_t states[RING_SEGMENT_LIMIT];
    /* When each FULL one became so, as a count of all that did; set before its state. */
    _Atomic uint64_t full_count;
    uint64_t full_order[RING_SEGMENT_LIMIT];
};

/* Makes the file (O_EXCL, mode 0600), takes the recorder's lock on it. path must last as long as
 * the ring. */
int ring_create(struct ring *ring, const char *path, uint64_t max_bytes, struct err *err);
/* Maps an existing file. *locked says whether its recorder is still alive; when it is not, this
 * process holds the lock until ring_release. */
int ring_open(struct ring *ring, const char *path, bool *recording, struct err *err);
void ring_release(struct ring *ring);
/* After ring_open, before anything is read: moving tails then changes nothing on disk. */
void ring_make_private(struct ring *ring);

/* A segment with room, owned by the caller from now on, or NULL: over ring_max or no disk space. */
struct ring_segment *ring_take_segment(struct ring *ring);
/* The owner's last act: another thread may go on in it. */
void ring_leave_segment(struct ring *ring, struct ring_segment *segment);

/* The next `slots` slots in a row, or NULL when the segment has no room for them; then it is marked
 * full and the caller takes another. */
struct ring_slot *ring_claim(struct ring *ring, struct ring_segment *segment, unsigned slots);

static inline void ring_publish(struct ring_slot *slot)
{
    atomic_store_explicit(&slot->state, SLOT_DONE, memory_order_release);
}

static inline uint32_t ring_segment_count(const struct ring *ring)
{
    return atomic_load_explicit(&ring->header->segment_count, memory_order_acquire);
}

/* Consumer: the segment (mapped when needed), its tail, and giving back a drained full one. */
struct ring_segment *ring_segment(struct ring *ring, uint32_t index);
void ring_recycle(struct ring *ring, struct ring_segment *segment);

/* Acquire: of a full segment all is there to be read. */
static inline enum segment_state ring_segment_state(const struct ring *ring, uint32_t index)
{
    return (enum segment_state)atomic_load_explicit(&ring->states[index], memory_order_acquire);
}

#endif
