/* SPDX-License-Identifier: MIT */
/*
 * See merge.h.
 */
#include "merge.h"

#include "interpose/recording/string_ids.h"

/* A source, and how many of its frames have been placed. */
struct placing {
    const struct source_frames *frames;
    const struct code_ranges *loop;
    unsigned next;        /* index of the next item */
    unsigned other_loops; /* number of inner loops of another interpreter */
};

struct merge {
    struct thread *thread;
    uint64_t *words;
    unsigned count;
    unsigned source_count;
    struct placing sources[STACK_SOURCES_MAX];
};

static void add_word(struct merge *merge, uint64_t word)
{
    if (merge->count < STACK_FRAMES_MAX)
        merge->words[merge->count++] = word;
}

static void add_label(struct merge *merge, const char *text)
{
    add_word(merge, frame_word(FRAME_LABEL, strings_intern(merge->thread, text)));
}

/* Adds the frames up to the end of a run, or all remaining frames. */
static void add_source(struct merge *merge, struct placing *source, bool all)
{
    while (source->next < source->frames->count) {
        const uint64_t item = source->frames->items[source->next++];
        if (item != SOURCE_RUN_END)
            add_word(merge, item);
        else if (!all)
            return;
    }
}

static bool has_frames_left(const struct placing *source)
{
    for (unsigned i = source->next; i < source->frames->count; i++)
        if (source->frames->items[i] != SOURCE_RUN_END)
            return true;
    return false;
}

static unsigned count_in(const struct native_frames *native, const struct code_ranges *ranges)
{
    unsigned count = 0;
    for (unsigned i = 0; i < native->count; i++)
        count += code_ranges_have(ranges, (uintptr_t)native->frames[i]);
    return count;
}

/* --- placing a source's frames --- */

/* Does the source have frames after its first `loops` runs? */
static bool has_frames_beyond(const struct source_frames *frames, unsigned loops)
{
    unsigned runs = 0;
    for (unsigned i = 0; i < frames->count; i++) {
        if (frames->items[i] == SOURCE_RUN_END)
            runs++;
        else if (runs >= loops)
            return true;
    }
    return false;
}

/* Returns true if the source's frames cannot be placed among the native frames. If the native
 * frames are complete and hold too few loops, some loop was not recognized. */
static bool is_unplaced(const struct placing *source, const struct native_frames *native,
                        unsigned loops)
{
    const bool has_frames = source->frames->count > source->frames->run_count;
    if (!source->loop || !has_frames || !native->count)
        return false;
    return !source->loop->count || (native->whole && has_frames_beyond(source->frames, loops));
}

/* Returns the number of inner loops to skip. If there are more loops than runs, the remaining loops
 * belong to another interpreter on this thread. That interpreter is the inner one if the source
 * walked the outer one; if not, it is the outer one. */
static unsigned other_loops(const struct source_frames *frames, unsigned loops)
{
    const bool inner_ones = frames->outer && frames->whole && loops > frames->run_count;
    return inner_ones ? loops - frames->run_count : 0;
}

/* For each source that cannot be placed, adds its frames and its label. Returns true if there was
 * such a source. */
static bool add_unplaced(struct merge *merge, const struct stack_parts *parts,
                         const struct native_frames *native)
{
    bool some = false;
    for (unsigned i = 0; i < merge->source_count; i++) {
        struct placing *source = &merge->sources[i];
        const unsigned loops = source->loop ? count_in(native, source->loop) : 0;
        source->other_loops = other_loops(source->frames, loops);
        if (!is_unplaced(source, native, loops))
            continue;
        add_source(merge, source, true);
        add_label(merge, parts->sources[i]->unplaced_label);
        source->loop = NULL;
        some = true;
    }
    return some;
}

/* --- in order --- */

static void add_runs_of_loop(struct merge *merge, uintptr_t address)
{
    for (unsigned i = 0; i < merge->source_count; i++) {
        struct placing *source = &merge->sources[i];
        if (source->loop && code_ranges_have(source->loop, address) &&
            !(source->other_loops && source->other_loops--))
            add_source(merge, source, false);
    }
}

/* Adds the label, unless a source has frames further out. Such frames already show what the thread
 * does. */
static void add_label_of_code(struct merge *merge, const char *text)
{
    for (unsigned i = 0; i < merge->source_count; i++)
        if (has_frames_left(&merge->sources[i]))
            return;
    add_label(merge, text);
}

/* Adds the frames that a loop ran before the loop's own frame. If frames of a source are left at
 * the end, they lie further out than the frames that the unwinder reached. labelled: number of
 * native frames in the labelled code. */
static void add_in_order(struct merge *merge, const struct native_frames *native,
                         const struct labelled_code *label, unsigned labelled)
{
    for (unsigned i = 0; i < native->count; i++) {
        const uintptr_t address = (uintptr_t)native->frames[i];
        add_runs_of_loop(merge, address);
        add_word(merge, frame_word(FRAME_NATIVE, address));
        if (labelled && code_ranges_have(&label->ranges, address) && !--labelled)
            add_label_of_code(merge, label->text);
    }
    for (unsigned i = 0; i < merge->source_count; i++)
        add_source(merge, &merge->sources[i], true);
}

unsigned merge_frames(struct thread *thread, const struct stack_parts *parts,
                      const struct native_frames *native, const struct source_frames *sources,
                      uint64_t *words)
{
    struct merge merge = {.thread = thread, .words = words, .source_count = parts->source_count};
    const struct labelled_code *label = parts->label;
    unsigned labelled = 0;
    for (unsigned i = 0; i < parts->source_count; i++)
        merge.sources[i] =
            (struct placing){.frames = &sources[i],
                             .loop = parts->sources[i]->loop ? parts->sources[i]->loop() : NULL};
    const bool unplaced = add_unplaced(&merge, parts, native);
    if (!unplaced && label && atomic_load_explicit(&label->is_found, memory_order_acquire))
        labelled = count_in(native, &label->ranges);
    add_in_order(&merge, native, label, labelled);
    return merge.count;
}
