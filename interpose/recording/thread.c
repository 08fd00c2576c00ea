/* SPDX-License-Identifier: MIT */
/*
 * Thread states and their ring segments. See thread.h.
 */
#include "thread.h"

#include <errno.h>
#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "segment_wait.h"

_Thread_local struct thread *thread_self GMT_TLS_INITIAL_EXEC;

/* Limit on the numbers reserved for threads that have not recorded an event yet, see
 * thread_reserve. */
#define RESERVED_LIMIT 64
static struct reserved {
    int64_t tid;
    uint32_t thread_id;
} reserved[RESERVED_LIMIT];
static unsigned reserved_count;

/* Protects free_threads, next_thread_id, reserved[], parts and parts_end. */
static pthread_mutex_t threads_lock = PTHREAD_MUTEX_INITIALIZER;
static struct thread *free_threads;
static _Atomic(struct thread *) all_threads;
static uint32_t next_thread_id = 1;
static pthread_key_t end_key;

#define ALIGNED(bytes)                                                                             \
    (uint32_t)(((bytes) + _Alignof(max_align_t) - 1) / _Alignof(max_align_t) *                     \
               _Alignof(max_align_t))

/* The list of parts in use, newest first, and the offset of the next new part. A part is listed
 * before it gets its offset. If the process forks in between, the child gives the part an offset
 * later and does not list it again. */
static struct thread_part *_Atomic parts;
static uint32_t parts_end = ALIGNED(sizeof(struct thread));

uint32_t thread_part_place(struct thread_part *part)
{
    pthread_mutex_lock(&threads_lock);
    uint32_t offset = atomic_load_explicit(&part->offset, memory_order_relaxed);
    if (!offset) {
        if (parts != part) {
            part->next = parts;
            atomic_store_explicit(&parts, part, memory_order_release);
        }
        offset = parts_end;
        parts_end += ALIGNED(part->bytes);
        atomic_store_explicit(&part->offset, offset, memory_order_release);
    }
    pthread_mutex_unlock(&threads_lock);
    return offset;
}

size_t thread_parts_bytes(void)
{
    pthread_mutex_lock(&threads_lock);
    const size_t bytes = parts_end;
    pthread_mutex_unlock(&threads_lock);
    return bytes;
}

static void thread_end(void *argument)
{
    struct thread *thread = argument;
    thread_self = NULL;
    if (thread->generation == recording_generation() && thread->segment)
        ring_leave_segment(&recording.ring, thread->segment);
    pthread_mutex_lock(&threads_lock);
    thread->next_free = free_threads;
    free_threads = thread;
    pthread_mutex_unlock(&threads_lock);
}

int thread_setup(void)
{
    static bool made;
    /* In a fork's child, a thread of the parent may hold the lock. */
    pthread_mutex_init(&threads_lock, NULL);
    next_thread_id = 1;
    reserved_count = 0;
    if (!made && pthread_key_create(&end_key, thread_end) != 0)
        return -1;
    made = true;
    return 0;
}

/* Returns the number of a thread. The caller holds threads_lock. */
static uint32_t number_of(int64_t tid)
{
    for (unsigned i = 0; i < reserved_count; i++)
        if (reserved[i].tid == tid)
            return reserved[i].thread_id;
    return next_thread_id++;
}

/* Returns a free state, or else a new one; NULL: out of memory. */
static struct thread *take_state(void)
{
    pthread_mutex_lock(&threads_lock);
    struct thread *thread = free_threads;
    if (thread)
        free_threads = thread->next_free;
    pthread_mutex_unlock(&threads_lock);
    if (thread)
        return thread;
    thread = mmap(NULL, THREAD_BYTES, PROT_READ | PROT_WRITE,
                  MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (thread == MAP_FAILED)
        return NULL;
    /* Release: a reader that finds the state also finds the rest of the list. */
    thread->next_all = atomic_load_explicit(&all_threads, memory_order_relaxed);
    while (!atomic_compare_exchange_weak_explicit(&all_threads, &thread->next_all, thread,
                                                  memory_order_release, memory_order_relaxed))
        ;
    return thread;
}

struct thread *thread_all(void)
{
    return atomic_load_explicit(&all_threads, memory_order_acquire);
}

static void introduce(struct thread *thread, uint32_t thread_id, int64_t tid, const char *name)
{
    const struct ring_slot slot = {.seq = thread_id, .address = (uint64_t)tid};
    thread_define(thread, SLOT_THREAD, &slot, name, strlen(name));
}

/* Clears all placed parts of the state. The caller holds threads_lock. A part that gets its offset
 * later is zero already, because no thread has used its bytes in this state. */
static void clear_parts(struct thread *thread)
{
    for (const struct thread_part *part = parts; part; part = part->next) {
        const uint32_t offset = atomic_load_explicit(&part->offset, memory_order_relaxed);
        if (offset)
            memset((char *)thread + offset, 0, part->cleared_bytes);
    }
}

static struct thread *attach(uint64_t generation)
{
    /* thread_self may be left over from before a fork, or from an earlier recording. */
    struct thread *thread = thread_self ? thread_self : take_state();
    const int64_t tid = syscall(SYS_gettid);
    char name[17] = "";
    if (!thread)
        return NULL;
    thread->segment = NULL;
    pthread_mutex_lock(&threads_lock);
    clear_parts(thread);
    thread->thread_id = number_of(tid);
    pthread_mutex_unlock(&threads_lock);
    thread->generation = generation;
    thread_self = thread;
    pthread_setspecific(end_key, thread);
    prctl(PR_GET_NAME, name);
    introduce(thread, thread->thread_id, tid, name);
    return thread;
}

uint32_t thread_reserve(struct thread *thread, int64_t tid)
{
    if (tid == syscall(SYS_gettid))
        return thread->thread_id;
    pthread_mutex_lock(&threads_lock);
    const uint32_t next = next_thread_id;
    uint32_t thread_id = reserved_count < RESERVED_LIMIT ? number_of(tid) : 0;
    const bool fresh = thread_id == next;
    if (fresh)
        reserved[reserved_count++] = (struct reserved){tid, thread_id};
    pthread_mutex_unlock(&threads_lock);
    if (fresh)
        introduce(thread, thread_id, tid, "");
    return thread_id;
}

void thread_speak_for(struct thread *thread, uint32_t thread_id)
{
    struct ring_slot *owner = thread_claim(thread, 1);
    if (!owner)
        return;
    owner->type = SLOT_OWNER;
    owner->seq = thread_id;
    ring_publish(owner);
}

static void count_lost(void)
{
    atomic_fetch_add_explicit(&recording.ring.header->lost_events, 1, memory_order_relaxed);
}

/* If there is no memory for a thread's state, each event of the thread is lost and counted. */
struct thread *thread_attach(void)
{
    const int saved_errno = errno;
    const uint64_t generation = recording_generation();
    struct thread *thread = generation ? attach(generation) : NULL;
    if (generation && !thread)
        count_lost();
    errno = saved_errno;
    return thread;
}

/* --- slots --- */

/* Takes a segment and writes the owner of the slots that follow. false: there is no segment. */
static bool enter_segment(struct thread *thread)
{
    const int saved_errno = errno;
    thread->segment = ring_take_segment(&recording.ring);
    if (!thread->segment)
        thread->segment = segment_wait(thread->generation);
    recording_wake_writer();
    errno = saved_errno;
    if (!thread->segment)
        return false;
    struct ring_slot *owner = ring_claim(&recording.ring, thread->segment, 1);
    if (!owner) { /* another thread left the segment full, and ring_claim has marked it so */
        thread->segment = NULL;
        return true;
    }
    owner->type = SLOT_OWNER;
    owner->seq = thread->thread_id;
    ring_publish(owner);
    return true;
}

struct ring_slot *thread_claim_elsewhere(struct thread *thread, unsigned slots)
{
    struct ring_slot *slot = NULL;
    while (!slot) {
        /* The segment is full: from now on the drain may give it to another thread. */
        thread->segment = NULL;
        if (!enter_segment(thread)) {
            count_lost();
            return NULL;
        }
        if (thread->segment)
            slot = ring_claim(&recording.ring, thread->segment, slots);
    }
    return slot;
}

void thread_define(struct thread *thread, enum slot_type type, const struct ring_slot *slot,
                   const char *text, size_t text_bytes)
{
    if (text_bytes > RECORD_TEXT_MAX)
        text_bytes = RECORD_TEXT_MAX;
    const unsigned text_slots = record_text_slots((unsigned)text_bytes);
    struct ring_slot *made = thread_claim(thread, 1 + text_slots);
    if (!made)
        return;
    for (unsigned i = 0; i < text_slots; i++) {
        const size_t done = (size_t)i * SLOT_TEXT_BYTES;
        const size_t part =
            text_bytes - done < SLOT_TEXT_BYTES ? text_bytes - done : SLOT_TEXT_BYTES;
        memcpy(made[1 + i].text, text + done, part);
    }
    memcpy(made, slot, offsetof(struct ring_slot, type));
    made->type = (uint8_t)type;
    made->call_id = (uint16_t)text_bytes;
    ring_publish(made);
}
