/* SPDX-License-Identifier: MIT */
/*
 * Finds the interpreter and walks its frames. See python.h.
 *
 *     unknown ──an object exports the interpreter, and it runs──► known ──► frames
 *        │                                                        └──► refused, said once
 *        └── no such object: asked again when the loader's list has changed
 */
#include "python.h"

#include <link.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdio.h>

#include "code_cache.h"
#include "elf_image.h"
#include "gpumemtrace/compiler.h"
#include "log.h"
#include "python_layout.h"
#include "python_source.h"

typedef void *state_function(void);
typedef int question_function(void);
typedef void dealloc_function(void *object);

struct python {
    struct python_exports exports;
    state_function *holder_state; /* of the thread that holds the GIL; 3.12: of the calling one */
    state_function *thread_state;
    question_function *is_initialized, *is_finalizing;
    struct python_layout layout;
    struct code_ranges loop;
};

/* Protects everything below, the cache's writing side and python_source. Taken by a hook for a
 * place in the code that was not seen before, and where a code object dies that is in the cache:
 * with the GIL held, so nothing that needs the GIL may be done under it. */
static pthread_mutex_t python_lock = PTHREAD_MUTEX_INITIALIZER;

#define CANDIDATES_MAX 4
static struct python candidates[CANDIDATES_MAX];
static _Atomic unsigned candidate_count; /* read without the lock to see whether there is any */

/* Of the candidates the one whose frames are read. Release: complete when it is seen. */
static _Atomic(const struct python *) known;
static _Atomic bool refused;
/* The cache is there for the trace that runs. Release, as above. */
static _Atomic bool ready;

void python_setup(void)
{
    pthread_mutex_init(&python_lock, NULL);
    atomic_store(&ready, false);
}

bool python_is_settled(void)
{
    return atomic_load_explicit(&known, memory_order_relaxed) ||
           atomic_load_explicit(&refused, memory_order_relaxed);
}

const struct code_ranges *python_loop(void)
{
    static const struct code_ranges none;
    const struct python *python = atomic_load_explicit(&known, memory_order_acquire);
    return python ? &python->loop : &none;
}

/* --- code objects that die -----------------------------------------------------------------------
 */

static dealloc_function *real_dealloc;

static void forget_and_dealloc(void *code)
{
    /* In a fork's child the cache and its lock are the parent's until a trace of its own starts. */
    if (recorder_generation() && atomic_load_explicit(&ready, memory_order_acquire) &&
        code_cache_knows(code)) {
        pthread_mutex_lock(&python_lock);
        code_cache_forget(code);
        pthread_mutex_unlock(&python_lock);
    }
    real_dealloc(code);
}

static _Atomic(void *) *dealloc_of(const struct python *python)
{
    return (_Atomic(void *) *)((char *)python->exports.code_type + python->layout.type_dealloc);
}

/* Nothing is in the cache yet, so a code object that dies by the function read before is none of
 * ours. */
static void watch_dealloc(const struct python *python)
{
    real_dealloc = GMT_FUNCTION(dealloc_function *,
                                atomic_load_explicit(dealloc_of(python), memory_order_relaxed));
    atomic_store_explicit(dealloc_of(python), __extension__(void *) forget_and_dealloc,
                          memory_order_release);
}

/* Has somebody put another function there? It may call ours or not: then nothing is kept. */
static bool is_watched(const struct python *python)
{
    return atomic_load_explicit(dealloc_of(python), memory_order_relaxed) == __extension__(void *)
                                                                                 forget_and_dealloc;
}

/* --- finding the interpreter ---------------------------------------------------------------------
 */

static void *first_symbol(const struct link_map *image, const char *name, const char *other)
{
    void *symbol = elf_image_symbol(image, name);
    return symbol ? symbol : elf_image_symbol(image, other);
}

static bool read_exports(const struct link_map *image, struct python *python)
{
    void *thread_state = elf_image_symbol(image, "PyGILState_GetThisThreadState");
    void *version = thread_state ? elf_image_symbol(image, "Py_GetVersion") : NULL;
    if (!version)
        return false;
    void *initialized = elf_image_symbol(image, "Py_IsInitialized");
    void *finalizing = first_symbol(image, "Py_IsFinalizing", "_Py_IsFinalizing");
    void *holder_state =
        first_symbol(image, "PyThreadState_GetUnchecked", "_PyThreadState_UncheckedGet");
    *python = (struct python){.exports = {.version = GMT_FUNCTION(const char *(*)(void), version),
                                          .code_type = elf_image_symbol(image, "PyCode_Type"),
                                          .type_type = elf_image_symbol(image, "PyType_Type"),
                                          .text_type = elf_image_symbol(image, "PyUnicode_Type"),
                                          .runtime = elf_image_symbol(image, "_PyRuntime")},
                              .thread_state = GMT_FUNCTION(state_function *, thread_state),
                              .holder_state = GMT_FUNCTION(state_function *, holder_state),
                              .is_initialized = GMT_FUNCTION(question_function *, initialized),
                              .is_finalizing = GMT_FUNCTION(question_function *, finalizing)};
    return initialized && python->exports.code_type && python->exports.type_type &&
           python->exports.text_type;
}

static bool is_candidate(const struct python *python)
{
    for (unsigned i = 0; i < candidate_count; i++)
        if (candidates[i].exports.code_type == python->exports.code_type)
            return true;
    return false;
}

static bool is_pypy(const struct link_map *image)
{
    return elf_image_symbol(image, "PyPyGILState_Ensure") != NULL;
}

bool python_meet(const struct dl_phdr_info *info)
{
    struct link_map image;
    struct python python;
    bool fresh = false;
    if (atomic_load_explicit(&refused, memory_order_relaxed) || !elf_image_from(info, &image))
        return false;
    if (is_pypy(&image))
        log_once("PyPy: recording without its Python frames");
    if (!read_exports(&image, &python))
        return false;
    pthread_mutex_lock(&python_lock);
    if (candidate_count < CANDIDATES_MAX && !is_candidate(&python)) {
        code_ranges_add(&python.loop, info, "_PyEval_EvalFrameDefault");
        candidates[candidate_count++] = python;
        fresh = true;
    }
    pthread_mutex_unlock(&python_lock);
    return fresh;
}

static bool is_readable(struct python *python, char *why, size_t why_bytes)
{
    if (!python_layout_choose(&python->layout, &python->exports, why, why_bytes))
        return false;
    snprintf(why, why_bytes, "it does not say whose thread this is, or whether it ends");
    return python->holder_state && python->is_finalizing;
}

/* python_lock is held. */
static const struct python *choose(struct python *python)
{
    char why[128];
    if (!is_readable(python, why, sizeof why)) {
        log_line("Python: %s; recording without its frames", why);
        atomic_store_explicit(&refused, true, memory_order_relaxed);
        return NULL;
    }
    if (python_layout_is_experimental(&python->layout))
        log_line("Python: reading a free-threaded 3.%u is experimental", python->layout.minor);
    watch_dealloc(python);
    atomic_store_explicit(&known, python, memory_order_release);
    return python;
}

/* The interpreter that runs; NULL: none does yet, or it is not to be read. */
static const struct python *find_running(void)
{
    const struct python *python = NULL;
    if (atomic_load_explicit(&refused, memory_order_relaxed) || !candidate_count)
        return NULL;
    pthread_mutex_lock(&python_lock);
    python = atomic_load_explicit(&known, memory_order_relaxed);
    for (unsigned i = 0; !python && i < candidate_count; i++)
        if (candidates[i].is_initialized())
            python = choose(&candidates[i]);
    pthread_mutex_unlock(&python_lock);
    return python;
}

static bool make_ready(void)
{
    pthread_mutex_lock(&python_lock);
    if (!atomic_load_explicit(&ready, memory_order_relaxed) && code_cache_setup() &&
        python_source_setup())
        atomic_store_explicit(&ready, true, memory_order_release);
    pthread_mutex_unlock(&python_lock);
    return atomic_load_explicit(&ready, memory_order_relaxed);
}

/* --- walking -------------------------------------------------------------------------------------
 */

#define OWNER_GENERATOR 1
#define OWNER_SHIM 3 /* and above */

struct walk {
    const struct python *python;
    const struct python_layout *layout;
    struct thread *thread;
    bool cached;
    unsigned frames_left, steps_left;
    unsigned count, runs;
    uint64_t *items;
};

/* A place that is not in the cache. 0: no frame to show. */
static GMT_NOINLINE uint32_t look_up(const struct walk *walk, const void *code, int64_t offset,
                                     unsigned owner, uint64_t key)
{
    const struct python_layout *layout = walk->layout;
    if (python_pointer(code, layout->object_type) != walk->python->exports.code_type)
        return 0;
    const bool early = layout->code_traceable >= 0 &&
                       offset < 2 * (int64_t)python_int(code, layout->code_traceable);
    if (early && owner != OWNER_GENERATOR)
        return 0; /* its arguments are still being put in place: no frame to Python either */
    pthread_mutex_lock(&python_lock);
    uint32_t id = key ? code_cache_find(key) : 0;
    if (!id) {
        id = python_source_location(walk->thread, layout, code, offset);
        if (key && !early && walk->cached)
            code_cache_add(key, id);
    }
    pthread_mutex_unlock(&python_lock);
    return id;
}

static inline void show(struct walk *walk, const void *code, int64_t offset, unsigned owner)
{
    const uint64_t key = code_cache_key(code, (uint64_t)(offset + 2) >> 1);
    uint32_t id = walk->cached && key ? code_cache_find(key) : 0;
    if (GMT_UNLIKELY(!id))
        id = look_up(walk, code, offset, owner, key);
    if (!id)
        return;
    walk->items[walk->count++] = id;
    walk->frames_left--;
}

static inline void end_run(struct walk *walk)
{
    walk->items[walk->count++] = PYTHON_RUN_END;
    walk->runs++;
}

static inline bool has_room(struct walk *walk)
{
    return walk->frames_left && walk->count + 2 <= PYTHON_ITEMS_MAX && walk->steps_left-- > 0;
}

/* 3.8 to 3.10: frame objects, each run by a loop of its own. */
static const void *walk_objects(struct walk *walk, const void *state)
{
    const struct python_layout *layout = walk->layout;
    const int unit_bytes = layout->lines == PYTHON_PAIRS ? 1 : 2;
    const void *frame = python_pointer(state, layout->state);
    for (; frame && has_room(walk); frame = python_pointer(frame, layout->frame_caller)) {
        const int64_t offset = (int64_t)python_int(frame, layout->frame_instr) * unit_bytes;
        show(walk, python_pointer(frame, layout->frame_code), offset, 0);
        end_run(walk);
    }
    return frame;
}

/* Where a frame's bytecode starts: in its code object, or in the thread's own copy of it where each
 * thread has one (free-threaded, from 3.14). */
static inline const char *bytecode_of(const struct python_layout *layout, const void *frame,
                                      const char *code)
{
    const void *copies =
        layout->code_threads >= 0 ? python_pointer(code, layout->code_threads) : NULL;
    if (GMT_LIKELY(!copies))
        return code + layout->code_bytecode;
    return python_pointer(copies, 8 + 8 * python_int(frame, layout->frame_thread));
}

/* From 3.11: frames without objects; a loop runs several. */
static const void *walk_frames(struct walk *walk, const void *state)
{
    const struct python_layout layout = *walk->layout; /* nothing the loop writes may change it */
    const void *frame = python_pointer(state, layout.state);
    if (layout.state_frame >= 0)
        frame = frame ? python_pointer(frame, layout.state_frame) : NULL;
    for (; frame && has_room(walk); frame = python_pointer(frame, layout.frame_caller)) {
        const unsigned owner = python_byte(frame, layout.frame_owner);
        /* The low bits of the pointer may say who owns it. */
        const uintptr_t tagged = (uintptr_t)python_pointer(frame, layout.frame_code);
        const char *code = (const char *)(tagged & ~(uintptr_t)7);
        const char *instruction = python_pointer(frame, layout.frame_instr);
        if (layout.frames == PYTHON_SHIMS && owner >= OWNER_SHIM) {
            end_run(walk);
            continue;
        }
        if (code)
            show(walk, code, instruction - bytecode_of(&layout, frame, code), owner);
        if (layout.frames == PYTHON_MARKED && python_byte(frame, layout.frame_entry))
            end_run(walk);
    }
    return frame;
}

/* Until 3.11 the "unchecked" one is the GIL's holder, which may be another thread; the other one is
 * the first that the thread had. */
#define HOLDER_IS_ANY_THREAD 11

static const void *state_of_thread(const struct python *python)
{
    const void *state = python->layout.minor > HOLDER_IS_ANY_THREAD ? python->holder_state() : NULL;
    return state ? state : python->thread_state();
}

void python_walk(struct thread *thread, struct python_stack *stack, unsigned limit)
{
    const struct python *python = atomic_load_explicit(&known, memory_order_acquire);
    stack->count = stack->runs = 0;
    stack->whole = true;
    stack->outer = python && python->layout.minor <= HOLDER_IS_ANY_THREAD;
    if (!python && !(python = find_running()))
        return;
    if (!atomic_load_explicit(&ready, memory_order_acquire) && !make_ready())
        return;
    if (!python->is_initialized() || python->is_finalizing())
        return;
    const void *state = state_of_thread(python);
    if (!state)
        return;
    struct walk walk = {.python = python,
                        .layout = &python->layout,
                        .thread = thread,
                        .cached = is_watched(python),
                        .frames_left = limit,
                        .steps_left = PYTHON_ITEMS_MAX,
                        .items = stack->items};
    const void *rest = python->layout.frames == PYTHON_OBJECTS ? walk_objects(&walk, state)
                                                               : walk_frames(&walk, state);
    /* Its end began meanwhile? Then frames may have been taken from under a daemon thread: what
     * they lay in stays mapped, but says nothing. */
    if (python->is_finalizing())
        return;
    stack->count = walk.count;
    stack->runs = walk.runs;
    stack->whole = rest == NULL;
}
