/* SPDX-License-Identifier: MIT */
/*
 * See segment_wait.h.
 */
#include "segment_wait.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <time.h>

#include "clock.h"
#include "recording.h"

#define PAUSE_NS 500000 /* the writer takes a few ms to empty some segments */

struct wait {
    uint64_t generation;
    uint64_t recycled_count; /* the last value seen, and the time when it changed */
    uint64_t changed_ns;
    uint64_t now_ns;
};

/* The generation and the recycled_count at the end of the last wait that timed out. While both are
 * unchanged, no thread waits again. */
static _Atomic uint64_t vain_generation, vain_count;

static uint64_t recycled_count(void)
{
    return atomic_load_explicit(&recording.ring.recycled_count, memory_order_relaxed);
}

static bool is_in_vain(const struct wait *wait)
{
    return atomic_load_explicit(&recording.stuck, memory_order_relaxed) ||
           wait->generation != recording_generation() ||
           (atomic_load_explicit(&vain_generation, memory_order_relaxed) == wait->generation &&
            atomic_load_explicit(&vain_count, memory_order_relaxed) == wait->recycled_count);
}

static void note_progress(struct wait *wait)
{
    const uint64_t count = recycled_count();
    wait->now_ns = clock_kernel_ns();
    if (count != wait->recycled_count) {
        wait->recycled_count = count;
        wait->changed_ns = wait->now_ns;
    } else if (wait->now_ns - wait->changed_ns >= SEGMENT_WAIT_NS) {
        atomic_store_explicit(&vain_count, count, memory_order_relaxed);
        atomic_store_explicit(&vain_generation, wait->generation, memory_order_relaxed);
    }
}

struct ring_segment *segment_wait(uint64_t generation)
{
    const struct timespec pause = {.tv_nsec = PAUSE_NS};
    const uint64_t start_ns = clock_kernel_ns();
    struct wait wait = {generation, recycled_count(), start_ns, start_ns};
    struct ring_segment *segment = NULL;
    int cancel_state;
    pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &cancel_state);
    recording_wake_writer();
    while (!segment && !is_in_vain(&wait)) {
        clock_nanosleep(CLOCK_MONOTONIC, 0, &pause, NULL);
        segment = ring_take_segment(&recording.ring);
        note_progress(&wait);
    }
    pthread_setcancelstate(cancel_state, NULL);
    atomic_fetch_add_explicit(&recording.ring.header->full_ns, wait.now_ns - start_ns,
                              memory_order_relaxed);
    return segment;
}
