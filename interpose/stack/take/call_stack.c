/* SPDX-License-Identifier: MIT */
/*
 * Puts the stack of a call together. See call_stack.h.
 */
#include "call_stack.h"

#include <link.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "interpose/stack/native/code_ranges.h"
#include "gpumemtrace/compiler.h"
#include "interpose/image/image_list.h"
#include "interpose/image/known_code.h"
#include "interpose/recording/log.h"
#include "interpose/stack/native/modules.h"
#include "interpose/stack/python/python.h"
#include "interpose/recording/recording.h"
#include "interpose/stack/native/limits.h"
#include "frame_tree.h"
#include "interpose/recording/string_ids.h"
#include "interpose/stack/native/unwind.h"

static bool want_native, want_python;
static const struct unwinder *unwinder;

/* What a stack is put together from, innermost first. */
struct raw_stack {
    unsigned native_count;
    void *native[STACK_DEPTH_MAX + STACK_OWN_MAX]; /* as the unwinder gives it, ours included */
    struct python_stack python;
};

/* A thread's own. Here a stack is taken and put together: the program's own may have little room.
 */
struct taken_stack {
    _Atomic bool in_stack; /* taking one */
    /* Of raw[] the last one taken, and its id; 0: none that the next one may be compared with. */
    unsigned raw_last;
    uint32_t raw_id;
    struct raw_stack raw[2]; /* from here on not cleared */
    uint64_t merged[STACK_FRAMES_MAX];
};
static struct thread_part part = THREAD_PART(struct taken_stack, offsetof(struct taken_stack, raw));

static struct taken_stack *taken_stack_of(struct thread *thread)
{
    return thread_part(thread, &part);
}

/* --- what is loaded --- */

/* PyTorch's autograd engine, whose threads have no Python frames. Release of engine_found: ranges
 * are complete when it is seen; only a caller that holds look_lock changes them. */
static struct code_ranges engine;
static _Atomic bool engine_found;

static pthread_mutex_t look_lock = PTHREAD_MUTEX_INITIALIZER;
/* modules_version at the last look; what was not in the list then need not be looked for. */
#define NEVER_LOOKED UINT64_MAX
static _Atomic uint64_t looked_at;

#define ENGINE_MAIN "_ZN5torch8autograd6Engine11thread_mainERKSt10shared_ptrINS0_9GraphTaskEE"

/* The lock inside the loader's, never around it. */
static int look_at(struct dl_phdr_info *info, size_t size, void *argument)
{
    bool *found = argument;
    (void)size;
    pthread_mutex_lock(&look_lock);
    if (want_python && python_meet(info))
        *found = true;
    if (!atomic_load_explicit(&engine_found, memory_order_relaxed) &&
        code_ranges_add(&engine, info, ENGINE_MAIN)) {
        known_code_note(engine.ranges[0].start);
        atomic_store_explicit(&engine_found, true, memory_order_release);
        *found = true;
    }
    pthread_mutex_unlock(&look_lock);
    return 0;
}

/* Looks through the loader's list if it has changed since the last look; true: there was something
 * new that matters here. */
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

void call_stack_setup(const char *kind)
{
    const bool all = strcmp(kind, "all") == 0;
    want_native = all || strcmp(kind, "native") == 0;
    want_python = all || strcmp(kind, "python") == 0;
    if (!want_native && !want_python && strcmp(kind, "none") != 0) {
        log_line("GPUMEMTRACE_STACKS=%s makes no sense; going on with all", kind);
        want_native = want_python = true;
    }
    if (recording.config.depth < 1 || recording.config.depth > STACK_DEPTH_MAX) {
        log_line("GPUMEMTRACE_DEPTH is 1 to %d; going on with 128", STACK_DEPTH_MAX);
        recording.config.depth = 128;
    }
    unwinder = unwind_choose(kind);
    pthread_mutex_init(&look_lock, NULL);
    atomic_store(&looked_at, NEVER_LOOKED);
    python_setup();
}

const char *call_stack_unwinder_name(void)
{
    return unwinder->name;
}

/* --- native frames --- */

struct native_stack {
    void *const *frames;
    unsigned count;
    bool whole; /* up to where the thread, or main, was started */
};

/* clone, or the caller of main and the program's first instructions: an unwinder that comes no
 * further has come to the end. */
static bool begins_in_libc(void *const *frames, unsigned count)
{
    return (count > 0 && modules_is_libc(frames[count - 1])) ||
           (count > 1 && modules_is_libc(frames[count - 2]));
}

/* What the unwinder gave, less our own frames and what is beyond the limit. */
static struct native_stack native_of(const struct raw_stack *raw)
{
    const unsigned depth = (unsigned)recording.config.depth;
    unsigned own = 0;
    while (own < raw->native_count && modules_is_own(raw->native[own]))
        own++;
    const unsigned count = raw->native_count - own;
    for (unsigned i = depth; i < count; i++) /* no frames of ours, but the unwinder has met them */
        known_code_note((uintptr_t)raw->native[own + i]);
    const bool whole = count <= depth && begins_in_libc(raw->native + own, count);
    return (struct native_stack){raw->native + own, count < depth ? count : depth, whole};
}

/* --- merging --- */

struct merge {
    struct thread *thread;
    uint64_t *frames;
    unsigned count;
    const struct python_stack *python;
    unsigned next; /* item of it */
};

static void add_frame(struct merge *merge, enum frame_kind kind, uint64_t address)
{
    if (merge->count < STACK_FRAMES_MAX)
        merge->frames[merge->count++] = frame_word(kind, address);
}

static void add_label(struct merge *merge, const char *text)
{
    add_frame(merge, FRAME_LABEL, strings_intern(merge->thread, text));
}

/* The Python frames up to the end of a run, or all that are left. */
static void add_python(struct merge *merge, bool all)
{
    const struct python_stack *python = merge->python;
    while (merge->next < python->count) {
        const uint64_t item = python->items[merge->next++];
        if (item != PYTHON_RUN_END)
            add_frame(merge, FRAME_PYTHON, item);
        else if (!all)
            return;
    }
}

static unsigned count_in(const struct native_stack *native, const struct code_ranges *ranges)
{
    unsigned count = 0;
    for (unsigned i = 0; i < native->count; i++)
        count += code_ranges_have(ranges, (uintptr_t)native->frames[i]);
    return count;
}

/* Behind the outermost frame of autograd's engine, where no line of Python has called it: that is
 * what the thread is doing for the program. */
static void label_engine(struct merge *merge, uintptr_t address, unsigned *engine_frames)
{
    if (!*engine_frames || !code_ranges_have(&engine, address) || --*engine_frames)
        return;
    for (unsigned i = merge->next; i < merge->python->count; i++)
        if (merge->python->items[i] != PYTHON_RUN_END)
            return;
    add_label(merge, "backward (autograd)");
}

/* Every frame of the loop comes after what it ran; what is left is further out than the unwinder
 * came. Loops that the Python frames do not tell of belong to another interpreter of this thread:
 * the inner one where what was found is what the thread began with, else the outer one. */
static void merge_in_order(struct merge *merge, const struct native_stack *native,
                           const struct code_ranges *loop)
{
    const struct python_stack *python = merge->python;
    const unsigned loops = python->outer && python->whole ? count_in(native, loop) : 0;
    unsigned others = loops > python->runs ? loops - python->runs : 0;
    unsigned engine_frames =
        atomic_load_explicit(&engine_found, memory_order_acquire) ? count_in(native, &engine) : 0;
    for (unsigned i = 0; i < native->count; i++) {
        const uintptr_t address = (uintptr_t)native->frames[i];
        if (code_ranges_have(loop, address) && !(others && others--))
            add_python(merge, false);
        add_frame(merge, FRAME_NATIVE, address);
        label_engine(merge, address, &engine_frames);
    }
    add_python(merge, true);
}

static void merge_as_blocks(struct merge *merge, const struct native_stack *native)
{
    add_python(merge, true);
    add_label(merge, "native frames, whose place among the Python frames is not known");
    for (unsigned i = 0; i < native->count; i++)
        add_frame(merge, FRAME_NATIVE, (uintptr_t)native->frames[i]);
}

/* Were there Python frames that no loop among all native frames ran? Then some loop was not
 * recognized as one. */
static bool has_frames_beyond(const struct python_stack *python, unsigned loops)
{
    unsigned runs = 0;
    for (unsigned i = 0; i < python->count; i++) {
        if (python->items[i] == PYTHON_RUN_END)
            runs++;
        else if (runs >= loops)
            return true;
    }
    return false;
}

static void merge_stacks(struct merge *merge, const struct native_stack *native)
{
    const struct code_ranges *loop = python_loop();
    const bool has_python = merge->python->count > merge->python->runs;
    const bool known_loops =
        loop->count && !(native->whole && has_frames_beyond(merge->python, count_in(native, loop)));
    if (has_python && native->count && !known_loops)
        merge_as_blocks(merge, native);
    else
        merge_in_order(merge, native, loop);
}

/* --- taking --- */

static void take_raw(struct thread *thread, struct raw_stack *raw)
{
    const unsigned depth = (unsigned)recording.config.depth;
    raw->native_count = 0;
    raw->python.count = raw->python.runs = 0;
    if (want_native) {
        const int taken = unwinder->backtrace(raw->native, (int)(depth + STACK_OWN_MAX));
        raw->native_count = taken > 0 ? (unsigned)taken : 0;
    }
    if (want_python)
        python_walk(thread, &raw->python, depth);
}

static bool same_raw(const struct raw_stack *a, const struct raw_stack *b)
{
    const struct python_stack *left = &a->python, *right = &b->python;
    return a->native_count == b->native_count && left->count == right->count &&
           left->whole == right->whole &&
           memcmp(a->native, b->native, a->native_count * sizeof *a->native) == 0 &&
           memcmp(left->items, right->items, left->count * sizeof *left->items) == 0;
}

/* A loop that allocates has the same stack again and again. */
static uint32_t take_stack(struct thread *thread, struct taken_stack *own)
{
    const struct raw_stack *last = &own->raw[own->raw_last];
    struct raw_stack *raw = &own->raw[!own->raw_last];
    struct merge merge = {.thread = thread, .frames = own->merged, .python = &raw->python};
    take_raw(thread, raw);
    if (own->raw_id && same_raw(raw, last))
        return own->raw_id;
    const struct native_stack native = native_of(raw);
    merge_stacks(&merge, &native);
    own->raw_last = !own->raw_last;
    const uint32_t id = merge.count ? frame_tree_intern(thread, merge.frames, merge.count) : 0;
    own->raw_id =
        frame_tree_last_depth(thread) ? id : 0; /* a stack that was cut is counted each time */
    return id;
}

/* What was taken before all was known that it holds is not what the next one is compared with. */
static bool forget_last(struct taken_stack *own)
{
    own->raw_id = 0;
    return true;
}

/* --- forks ---
 *
 * The unwinder has locks of its own, and so has the loader, which it asks: in the child of a fork
 * that came while another thread held one, nobody would ever free it. So a fork waits for stacks
 * that are being taken, and a stack for a fork; neither for ever, for one may hold what the other
 * needs.
 */
#define WAIT_NS 100000
#define WAITS_FOR_STACKS 1000
#define WAITS_FOR_FORK 10000 /* copying the tables of a large process takes its time */

static _Atomic bool forking;

/* libc's nanosleep is a place to be cancelled at. */
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
    /* Sequentially consistent, as in enter: one of both sees the other. */
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

/* false: no stack can be taken now. */
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
    if (!(want_native || want_python) || !enter(own))
        return 0;
    /* libunwind's cold path reads from a pipe, which must not become a place to be cancelled at. */
    pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &cancel_state);
    /* Without native frames nothing else notices that an interpreter was loaded. */
    if (!want_native && !python_is_settled())
        modules_note(thread);
    look_again();
    do /* once, but where an interpreter came with these frames */
        id = take_stack(thread, own);
    while (GMT_UNLIKELY(look_again()) && forget_last(own));
    pthread_setcancelstate(cancel_state, NULL);
    atomic_store_explicit(&own->in_stack, false, memory_order_release);
    return id;
}
