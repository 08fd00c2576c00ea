/* SPDX-License-Identifier: MIT */
/*
 * See call_stack.h.
 */
#include "call_stack.h"

#include <link.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stddef.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "frame_tree.h"
#include "gpumemtrace/compiler.h"
#include "interpose/image/image_list.h"
#include "interpose/image/known_code.h"
#include "interpose/recording/recording.h"
#include "interpose/stack/native/modules.h"
#include "merge.h"
#include "stack_memo.h"

static struct stack_parts parts;
static backtrace_function *backtrace; /* NULL: no native frames are taken */
static bool is_wanted;                /* true if an unwinder or a source is chosen */

/* The frames of one stack, innermost first, the order in which the unwinder and the sources return
 * them. */
struct raw_stack {
    unsigned native_count;
    void *native[STACK_DEPTH_MAX + STACK_OWN_MAX]; /* includes our own frames */
    struct source_frames sources[STACK_SOURCES_MAX];
};

/* A thread's memory for taking a stack, because the program's stack may have little room. */
struct taken_stack {
    _Atomic bool in_stack; /* the thread is taking a stack */
    /* The last stack is raw[raw_last] and has this id. 0: the next stack must not be compared with
     * it. */
    unsigned raw_last;
    uint32_t raw_id;
    struct raw_stack raw[2];                       /* this member and the next ones are not
                                                    * cleared */
    void *native[STACK_DEPTH_MAX + STACK_OWN_MAX]; /* without our own frames */
    uint64_t merged[STACK_FRAMES_MAX];
    struct stack_memo memo;
};
static struct thread_part part = THREAD_PART(struct taken_stack, offsetof(struct taken_stack, raw));

static struct taken_stack *taken_stack_of(struct thread *thread)
{
    return thread_part(thread, &part);
}

/* --- loaded objects --- */

/* Protects sources and label while they look at an object. Taken inside the loader's lock, never
 * around it. */
static pthread_mutex_t look_lock = PTHREAD_MUTEX_INITIALIZER;
/* The value of modules_version() when the loader's list was last looked through. */
#define NEVER_LOOKED UINT64_MAX
static _Atomic uint64_t looked_at;

static bool find_label(struct labelled_code *label, const struct dl_phdr_info *info)
{
    if (!label || atomic_load_explicit(&label->is_found, memory_order_relaxed) ||
        !code_ranges_add(&label->ranges, info, label->function))
        return false;
    known_code_note(label->ranges.ranges[0].start);
    atomic_store_explicit(&label->is_found, true, memory_order_release);
    return true;
}

static int look_at(struct dl_phdr_info *info, size_t size, void *argument)
{
    bool *found = argument;
    (void)size;
    pthread_mutex_lock(&look_lock);
    for (unsigned i = 0; i < parts.source_count; i++)
        if (parts.sources[i]->meet(info))
            *found = true;
    if (find_label(parts.label, info))
        *found = true;
    pthread_mutex_unlock(&look_lock);
    return 0;
}

/* Looks through the loader's list if it has changed. Returns true if a source or the label was
 * found. */
static bool look_again(void)
{
    const uint64_t version = modules_version();
    bool found = false;
    if (GMT_LIKELY(version == atomic_load_explicit(&looked_at, memory_order_relaxed)))
        return false;
    image_list_iterate(look_at, &found);
    atomic_store_explicit(&looked_at, version, memory_order_relaxed);
    return found;
}

static bool sources_are_settled(void)
{
    for (unsigned i = 0; i < parts.source_count; i++)
        if (!parts.sources[i]->is_settled())
            return false;
    return true;
}

void call_stack_setup(const struct stack_parts *given)
{
    parts = *given;
    backtrace = parts.unwinder->backtrace;
    is_wanted = backtrace || parts.source_count;
    thread_part_place(&part); /* placed here, because placing takes a lock, which fork handlers must
                               * not do */
    pthread_mutex_init(&look_lock, NULL);
    atomic_store(&looked_at, NEVER_LOOKED);
    for (unsigned i = 0; i < parts.source_count; i++)
        parts.sources[i]->setup();
}

const char *call_stack_unwinder_name(void)
{
    return parts.unwinder->name;
}

/* --- native frames --- */

/* Did the unwinder reach the start of the thread? Then the outermost frame is clone, or the second
 * outermost is the caller of main; both are in libc. */
static bool begins_in_libc(void *const *frames, unsigned count)
{
    return (count > 0 && modules_is_libc(frames[count - 1])) ||
           (count > 1 && modules_is_libc(frames[count - 2]));
}

/* Is this native frame of ours the frame of a hook? Such a frame may lie between frames of the
 * program, because a hooked call may run other code of the program (a backward pass). Our function
 * that libc calls in place of main is not a hook. */
static bool is_of_hook(const struct raw_stack *raw, unsigned at)
{
    return modules_is_own(raw->native[at]) &&
           (at + 1 == raw->native_count || !modules_is_libc(raw->native[at + 1]));
}

/* Returns the unwinder's frames without our own frames, up to the depth. */
static struct native_frames native_of(const struct raw_stack *raw, void **frames)
{
    unsigned at = 0, count = 0;
    while (at < raw->native_count && modules_is_own(raw->native[at]))
        at++;
    for (; at < raw->native_count; at++)
        if (!is_of_hook(raw, at))
            frames[count++] = raw->native[at];
    /* The frames beyond the depth are not recorded, but the unwinder's caches now have their
     * addresses. */
    for (unsigned i = parts.depth; i < count; i++)
        known_code_note((uintptr_t)frames[i]);
    const bool whole = count <= parts.depth && begins_in_libc(frames, count);
    return (struct native_frames){frames, count < parts.depth ? count : parts.depth, whole};
}

/* --- taking --- */

static void take_raw(struct thread *thread, struct raw_stack *raw)
{
    const unsigned source_count = parts.source_count;
    const unsigned depth = parts.depth;
    const int taken = backtrace ? backtrace(raw->native, (int)(depth + STACK_OWN_MAX)) : 0;
    raw->native_count = taken > 0 ? (unsigned)taken : 0;
    for (unsigned i = 0; i < source_count; i++)
        parts.sources[i]->walk(thread, &raw->sources[i], depth);
}

static bool same_frames(const struct source_frames *a, const struct source_frames *b)
{
    return a->count == b->count && a->whole == b->whole &&
           (!a->count || memcmp(a->items, b->items, a->count * sizeof *a->items) == 0);
}

static bool same_raw(const struct raw_stack *a, const struct raw_stack *b)
{
    for (unsigned i = 0; i < parts.source_count; i++)
        if (!same_frames(&a->sources[i], &b->sources[i]))
            return false;
    return a->native_count == b->native_count &&
           memcmp(a->native, b->native, a->native_count * sizeof *a->native) == 0;
}

/* Returns a fingerprint of everything that the id depends on: the frames, the recording, and the
 * known loaded objects. */
static struct fingerprint fingerprint_of(const struct raw_stack *raw)
{
    uint64_t numbers[FINGERPRINT_LANES] = {recording_generation(),
                                           atomic_load_explicit(&looked_at, memory_order_relaxed)};
    for (unsigned i = 0; i < parts.source_count; i++)
        numbers[2] = numbers[2] << 1 | raw->sources[i].whole;
    struct fingerprint print = fingerprint_begin(numbers);
    for (unsigned i = 0; i < parts.source_count; i++)
        fingerprint_add(&print, raw->sources[i].items, raw->sources[i].count);
    _Static_assert(sizeof *raw->native == sizeof(uint64_t), "a frame is a word");
    fingerprint_add(&print, raw->native, raw->native_count);
    return print;
}

static uint32_t intern_raw(struct thread *thread, struct taken_stack *own,
                           const struct raw_stack *raw, const struct fingerprint *print)
{
    const struct native_frames native = native_of(raw, own->native);
    const unsigned count = merge_frames(thread, &parts, &native, raw->sources, own->merged);
    bool is_whole = false;
    const uint32_t id = frame_tree_intern(thread, own->merged, count, &is_whole);
    /* The id of a stack that was cut is not reused, so that each such stack is counted as lost. */
    own->raw_id = is_whole ? id : 0;
    if (is_whole)
        stack_memo_put(&own->memo, print, id);
    return id;
}

/* Not inlined, because its registers would slow down the path that most stacks take. */
static GMT_NOINLINE uint32_t find_raw(struct thread *thread, struct taken_stack *own,
                                      const struct raw_stack *raw)
{
    const struct fingerprint print = fingerprint_of(raw);
    const uint32_t id = stack_memo_find(&own->memo, &print);
    own->raw_last = !own->raw_last;
    own->raw_id = id;
    return id ? id : intern_raw(thread, own, raw, &print);
}

/* Compares the stack with the last one first, because a loop that allocates has the same stack
 * again and again. */
static uint32_t take_stack(struct thread *thread, struct taken_stack *own)
{
    const struct raw_stack *last = &own->raw[own->raw_last];
    struct raw_stack *raw = &own->raw[!own->raw_last];
    take_raw(thread, raw);
    if (GMT_LIKELY(own->raw_id && same_raw(raw, last)))
        return own->raw_id;
    return find_raw(thread, own, raw);
}

/* A stack that was taken before a source or the label was found must not be compared with the next
 * one. */
static bool forget_last(struct taken_stack *own)
{
    own->raw_id = 0;
    return true;
}

/* --- forks ---
 *
 * A fork waits for the stacks that are being taken, and a stack waits for a fork, because the
 * unwinder and the loader have locks. If a thread held one of them during a fork, nobody in the
 * child would ever release it. Each wait has a limit, because one side may hold what the other
 * needs. */
#define WAIT_NS 100000
#define WAITS_FOR_STACKS 1000
#define WAITS_FOR_FORK 10000 /* a fork of a large process takes long */

static _Atomic bool forking;

/* A bare system call, because libc's nanosleep is a cancellation point. */
static void wait_a_little(void)
{
    const struct timespec little = {.tv_nsec = WAIT_NS};
    syscall(SYS_clock_nanosleep, CLOCK_MONOTONIC, 0, &little, NULL);
}

static bool others_take(const struct thread *own)
{
    for (struct thread *thread = thread_all(); thread; thread = thread->next_all)
        if (thread != own && atomic_load(&taken_stack_of(thread)->in_stack))
            return true;
    return false;
}

void call_stack_before_fork(void)
{
    /* Sequentially consistent, as in enter(): at least one of the two threads sees the other's
     * flag. */
    atomic_store(&forking, true);
    for (int waits = 0; waits < WAITS_FOR_STACKS && others_take(thread_self); waits++)
        wait_a_little();
}

void call_stack_after_fork(bool in_child)
{
    for (struct thread *thread = thread_all(); in_child && thread; thread = thread->next_all)
        if (thread != thread_self)
            atomic_store(&taken_stack_of(thread)->in_stack, false);
    atomic_store(&forking, false);
}

/* Returns false if no stack can be taken now. If a signal handler has interrupted this thread while
 * it was taking a stack, the handler does not wait. */
static bool enter(struct taken_stack *own)
{
    if (atomic_load_explicit(&own->in_stack, memory_order_relaxed))
        return false;
    for (int waits = 0; waits < WAITS_FOR_FORK; waits++) {
        atomic_store(&own->in_stack, true);
        if (GMT_LIKELY(!atomic_load(&forking)))
            return true;
        atomic_store(&own->in_stack, false);
        wait_a_little();
    }
    atomic_fetch_add_explicit(&recording.ring.header->lost_frames, 1, memory_order_relaxed);
    return false;
}

uint32_t call_stack_take(struct thread *thread)
{
    struct taken_stack *own = taken_stack_of(thread);
    int cancel_state;
    uint32_t id = 0;
    if (!is_wanted || !enter(own))
        return 0;
    /* libunwind may read from a pipe, which would be a new cancellation point for the program. */
    pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &cancel_state);
    /* Without native frames, nothing else notices that an interpreter was loaded. */
    if (!backtrace && !sources_are_settled())
        modules_note(thread);
    look_again();
    do /* repeat if a newly loaded object was an interpreter */
        id = take_stack(thread, own);
    while (GMT_UNLIKELY(look_again()) && forget_last(own));
    pthread_setcancelstate(cancel_state, NULL);
    atomic_store_explicit(&own->in_stack, false, memory_order_release);
    return id;
}
