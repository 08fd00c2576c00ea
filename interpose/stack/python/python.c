/* SPDX-License-Identifier: MIT */
/*
 * The source of Python frames. Walks the frames of the calling thread without the GIL, because a
 * thread inside a hook cannot change its own frames. The only functions of Python that it calls are
 * functions that read a word.
 */
#include <stddef.h>

#include "code_cache.h"
#include "find.h"
#include "gpumemtrace/compiler.h"
#include "interpose/stack/take/stack_source.h"
#include "locations.h"
#include "places.h"

#define OWNER_GENERATOR 1
#define OWNER_SHIM 3 /* this value and all above it are shims */

struct walk {
    const struct python *python;
    const struct python_layout *layout;
    struct thread *thread;
    bool cached;
    unsigned frames_left, steps_left;
    unsigned count, run_count;
    uint64_t *items;
};

/* Returns the location of a place that is not in the cache. 0: the frame is not shown. */
static GMT_NOINLINE uint32_t look_up(const struct walk *walk, const void *code, int64_t offset,
                                     unsigned owner, uint64_t key)
{
    const struct python_layout *layout = walk->layout;
    if (python_pointer(code, layout->object_type) != walk->python->exports.code_type)
        return 0;
    const bool early = layout->code_traceable >= 0 &&
                       offset < 2 * (int64_t)python_int(code, layout->code_traceable);
    if (early && owner != OWNER_GENERATOR)
        return 0; /* the frame's arguments are still being stored; Python does not show it either */
    /* A place before the first instruction is looked up each time, because the frame's owner
     * decides whether the frame is shown. */
    return python_places_look_up(walk->thread, walk->python, code, offset, key,
                                 walk->cached && !early);
}

static inline void show(struct walk *walk, const void *code, int64_t offset, unsigned owner)
{
    const uint64_t key = code_cache_key(code, (uint64_t)(offset + 2) >> 1);
    uint32_t id = walk->cached && key ? code_cache_find(key) : 0;
    if (GMT_UNLIKELY(!id))
        id = look_up(walk, code, offset, owner, key);
    if (!id || id == PYTHON_LOCATION_HIDDEN)
        return;
    walk->items[walk->count++] = frame_word(FRAME_PYTHON, id);
    walk->frames_left--;
}

static inline void end_run(struct walk *walk)
{
    walk->items[walk->count++] = SOURCE_RUN_END;
    walk->run_count++;
}

static inline bool has_room(struct walk *walk)
{
    return walk->frames_left && walk->count + 2 <= SOURCE_ITEMS_MAX && walk->steps_left-- > 0;
}

/* Python 3.8 to 3.10: each frame is an object, and each frame is run by its own call of the
 * loop. */
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

/* Returns the start of a frame's bytecode. The bytecode lies in the code object, or in the thread's
 * own copy if each thread has a copy (free-threaded builds, since 3.14). */
static inline const char *bytecode_of(const struct python_layout *layout, const void *frame,
                                      const char *code)
{
    const void *copies =
        layout->code_threads >= 0 ? python_pointer(code, layout->code_threads) : NULL;
    if (GMT_LIKELY(!copies))
        return code + layout->code_bytecode;
    return python_pointer(copies, 8 + 8 * python_int(frame, layout->frame_thread));
}

/* Since Python 3.11: frames are not objects, and one call of the loop runs several frames. */
static const void *walk_frames(struct walk *walk, const void *state)
{
    const struct python_layout layout = *walk->layout; /* a copy, which no store in the loop can
                                                        * change */
    const void *frame = python_pointer(state, layout.state);
    if (layout.state_frame >= 0)
        frame = frame ? python_pointer(frame, layout.state_frame) : NULL;
    for (; frame && has_room(walk); frame = python_pointer(frame, layout.frame_caller)) {
        const unsigned owner = python_byte(frame, layout.frame_owner);
        /* The low bits of the pointer may hold a tag. */
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

/* Up to 3.11 holder_state returns the state of the GIL's holder, which may be another thread.
 * thread_state returns the first state that the thread had. */
#define HOLDER_IS_ANY_THREAD 11

static const void *state_of_thread(const struct python *python)
{
    const void *state = python->layout.minor > HOLDER_IS_ANY_THREAD ? python->holder_state() : NULL;
    return state ? state : python->thread_state();
}

static void walk_thread(struct thread *thread, struct source_frames *frames, unsigned limit)
{
    const struct python *python = python_find();
    frames->count = frames->run_count = 0;
    frames->whole = true;
    frames->outer = python && python->layout.minor <= HOLDER_IS_ANY_THREAD;
    if (!python || !python_places_ready() || !python->is_initialized() || python->is_finalizing())
        return;
    const void *state = state_of_thread(python);
    if (!state)
        return;
    struct walk walk = {.python = python,
                        .layout = &python->layout,
                        .thread = thread,
                        .cached = python_places_watched(python),
                        .frames_left = limit,
                        .steps_left = SOURCE_ITEMS_MAX,
                        .items = frames->items};
    const void *rest = python->layout.frames == PYTHON_OBJECTS ? walk_objects(&walk, state)
                                                               : walk_frames(&walk, state);
    /* If the interpreter began to finalize meanwhile, the frames of a daemon thread may be gone:
     * their memory stays mapped, but its contents are meaningless. */
    if (python->is_finalizing())
        return;
    frames->count = walk.count;
    frames->run_count = walk.run_count;
    frames->whole = rest == NULL;
}

static void setup(void)
{
    python_find_setup();
    python_places_setup();
}

const struct stack_source python_source = {
    .name = "python",
    .unplaced_label = "native frames, whose place among the Python frames is not known",
    .setup = setup,
    .meet = python_meet,
    .is_settled = python_is_settled,
    .walk = walk_thread,
    .loop = python_loop,
};
