/* SPDX-License-Identifier: MIT */
/*
 * Carries slots from the hooks to the writer through a shared file of segments beside the trace. A
 * thread owns a segment and appends slots to it. The drain reads each segment from its tail, and
 * moves the tail only after the COMMIT that stored the slots. So database and file together hold
 * every finished event at any moment, even after SIGKILL.
 *
 *     FILE-ring.0:  | header page | segment 0 | segment 1 | …       256 KiB each, up to ring_max
 *     segment:      | header | slot | slot | slot | … | END |        head: next slot to fill
 *                              ^tail                                  (the owner's alone)
 *
 *     IDLE --(a thread takes it)--> ACTIVE --(no room left)--> FULL --(drained, wiped)--> IDLE
 *     LEFT <-----(the thread ends)----' ^
 *       '------(a thread takes it)------'
 *
 * event.seq gives the order across segments, so a thread may continue any segment without an owner.
 * An OWNER slot names the thread of the slots after it.
 *
 * If the writer is slower than the program, full segments wait in the file, not in this process's
 * memory: the pages of segments beyond RING_RESIDENT_SEGMENTS are released, and only the drain
 * touches them again, a few segments at a time. So a segment's state is stored outside of the
 * segment. When ring_max is used up, threads wait for the drain
 * (interpose/recording/segment_wait.h).
 *
 * Thread-safety: the owner of a segment may call ring_claim and ring_publish; any thread may call
 * ring_take_segment; one thread of one process at a time may call the drain's functions. The
 * producer's functions are callable from a hook: no malloc, and a lock only to make the file
 * longer.
 */
#pragma once

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "gpumemtrace/compiler.h"
#include "gpumemtrace/err.h"
#include "common/own_fd.h"
#include "record.h"

#define RING_SEGMENT_BYTES ((uint64_t)256 << 10) /* each thread with events owns one */
#define RING_SEGMENT_SLOTS (RING_SEGMENT_BYTES / sizeof(struct ring_slot) - 1)
#define RING_SEGMENT_LIMIT 16384  /* 4 GiB, the most that GPUMEMTRACE_RING_MAX allows */
#define RING_RESIDENT_SEGMENTS 64 /* 16 MiB */
#define RING_HEADER_BYTES 4096
#define RING_MAGIC "GMTRING"

/* UNKNOWN: the ring belongs to another process. IDLE: the segment has nothing to read. DRAINED: the
 * segment has nothing to read and never will, because its producer is gone. */
enum segment_state {
    SEGMENT_UNKNOWN,
    SEGMENT_IDLE,
    SEGMENT_LEFT,
    SEGMENT_ACTIVE,
    SEGMENT_FULL,
    SEGMENT_DRAINED
};

struct ring_segment {
    uint32_t index;        /* number in the file; set by the process that made the segment */
    uint32_t head;         /* slots filled or claimed; written by the owner */
    _Atomic uint64_t tail; /* thread_id << 32 | slots stored; written by the drain */
    uint64_t padding[6];
    struct ring_slot slots[RING_SEGMENT_SLOTS];
};

_Static_assert(sizeof(struct ring_segment) == RING_SEGMENT_BYTES, "a segment fills its place");

#define RING_AT_MAX (-1) /* ring_max was reached */

/* The writer's sums, for processes that watch a running recorder. Each sum has the live bytes of a
 * device's driver memory or of one pool on a device. */
struct ring_sum {
    uint64_t pool; /* string id of the pool's name; 0: the driver's memory */
    int64_t device;
    uint64_t live_bytes, peak_bytes;
};
#define RING_SUMS 64
struct ring_sums {
    _Atomic uint64_t version; /* odd: the sums are being written */
    uint64_t seq;             /* of the last event counted */
    uint64_t count;
    struct ring_sum items[RING_SUMS];
};

struct ring_header {
    char magic[8];
    uint32_t format;
    uint32_t segment_bytes;
    int64_t pid;
    uint64_t pid_start_ticks; /* /proc/PID/stat field 22: tells a reused pid apart */
    _Atomic uint32_t segment_count;
    _Atomic uint64_t lost_events;
    _Atomic uint64_t lost_frames;
    _Atomic uint64_t full_ns;      /* time that threads waited for room, summed over threads */
    _Atomic int32_t grow_errno;    /* of the last growth that failed; RING_AT_MAX; 0: none failed */
    _Atomic uint64_t shared_names; /* uses of the name that further phases and marks share */
    struct ring_sums sums;         /* all 0: the recorder has not written them, or cannot */
};

_Static_assert(sizeof(struct ring_header) <= RING_HEADER_BYTES,
               "the header fills its page at most");

struct ring {
    int fd;
    struct own_file file;
    const char *path; /* owned by the caller */
    bool writable;
    bool private; /* changes stay in this process's memory */
    /* A segment of the file could not be mapped, so a reader of a dead ring misses events. */
    _Atomic bool map_failed;
    struct ring_header *header;
    uint32_t segment_max;
    _Atomic int64_t full_until_ns; /* CLOCK_MONOTONIC_COARSE: no try to grow before this time */
    /* Protects growth: segment_count, the length of the file and the entries of segments[]. */
    pthread_mutex_t grow_lock;
    _Atomic(struct ring_segment *) segments[RING_SEGMENT_LIMIT];
    _Atomic uint8_t states[RING_SEGMENT_LIMIT];
    /* The order in which FULL segments filled; written before the state. */
    _Atomic uint64_t full_count;
    uint64_t full_order[RING_SEGMENT_LIMIT];
    /* The number of segments that the drain has emptied. Loads are relaxed, because an old value
     * costs only a short wait. */
    _Atomic uint64_t recycled_count;
};

/* Creates the file (O_EXCL, mode 0600) and takes the recorder's lock on it. path must live as long
 * as the ring. -1: *err says why. */
int ring_create(struct ring *ring, const char *path, uint64_t max_bytes, struct err *err);
/* Maps an existing file. *recording becomes true if the ring's recorder is alive. If it is not,
 * fold_lock.h decides which process may move the ring's tails. -1: *err says why. */
int ring_open(struct ring *ring, const char *path, bool *recording, struct err *err);
void ring_release(struct ring *ring);
/* Call it after ring_open and before reading. After that, moved tails change nothing on disk, and
 * tails that another process moves are not seen. */
void ring_make_private(struct ring *ring);

/* Returns a segment with room that the caller now owns. NULL: ring_max is reached or the disk is
 * full. */
struct ring_segment *ring_take_segment(struct ring *ring);
/* The caller no longer owns the segment; another thread may continue it. */
void ring_leave_segment(struct ring *ring, struct ring_segment *segment);

/* Makes the segment FULL; the caller takes another. */
void ring_close_segment(struct ring *ring, struct ring_segment *segment);

/* Slots are prefetched this far ahead, because loading a cache line that was not used lately takes
 * longer than recording a call. */
#define RING_AHEAD_BYTES 256

/* Claims `slots` consecutive slots. NULL: the segment has no room for them and is now FULL. */
static inline struct ring_slot *ring_claim(struct ring *ring, struct ring_segment *segment,
                                           unsigned slots)
{
    const uint32_t head = segment->head;
    if (GMT_UNLIKELY(head + slots > RING_SEGMENT_SLOTS)) {
        ring_close_segment(ring, segment);
        return NULL;
    }
    segment->head = head + slots;
    GMT_PREFETCH((const char *)&segment->slots[head] + RING_AHEAD_BYTES);
    return &segment->slots[head];
}

static inline void ring_publish(struct ring_slot *slot)
{
    atomic_store_explicit(&slot->state, SLOT_DONE, memory_order_release);
}

static inline uint32_t ring_segment_count(const struct ring *ring)
{
    return atomic_load_explicit(&ring->header->segment_count, memory_order_acquire);
}

/* Only the drain calls this. Returns the segment, and maps it if needed. NULL: the file does not
 * reach that far, or the segment cannot be mapped. */
struct ring_segment *ring_segment(struct ring *ring, uint32_t index);
/* Releases the pages of a segment that was read; the file keeps their contents. */
void ring_segment_unload(const struct ring *ring, struct ring_segment *segment);
/* Does the same as ring_segment_unload and makes the segment DRAINED. */
void ring_segment_retire(struct ring *ring, uint32_t index);
/* Wipes a drained FULL segment and makes it IDLE. */
void ring_recycle(struct ring *ring, struct ring_segment *segment);

/* Returns why events were lost: RING_LOSS_AT_MAX, or the system's error when the file could not
 * grow. NULL: no events were lost, or they were lost for another reason than lack of room. */
#define RING_LOSS_AT_MAX "ring-max"
const char *ring_loss_reason(const struct ring *ring);

/* The load is an acquire, so a reader that sees FULL also sees all slots of the segment. */
static inline enum segment_state ring_segment_state(const struct ring *ring, uint32_t index)
{
    return (enum segment_state)atomic_load_explicit(&ring->states[index], memory_order_acquire);
}
