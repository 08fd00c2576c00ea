/* SPDX-License-Identifier: MIT */
/* Phases from stacks; see inferred.h. */
#include "inferred.h"

#include <stdlib.h>

#include "analyzer/torch/frames.h"
#include "analyzer/util/array.h"

enum tier { TIER_FIRST, TIER_INNER, TIER_LAST, TIER_COUNT };

/* The phase of a stack in each tier: from its innermost frame that matches a rule of this tier. */
struct inferred_stack {
    uint8_t says[TIER_COUNT]; /* enum inferred_phase */
    uint8_t rank;             /* of caller, enum inferred_caller_rank */
    bool known, has_python, is_call;
    /* Hashes of all Python frames, of the innermost one, and of those outside the frame of
     * `rank`. */
    uint32_t python, line, caller;
    struct inferred_call call;
};

static const struct {
    uint8_t tier, phase;
    enum torch_meaning meaning;
} rules[] = {
#define PHASE(name)
#define FIRST(phase, meaning) {TIER_FIRST, INFERRED_##phase, TORCH_##meaning},
#define INNER(phase, meaning) {TIER_INNER, INFERRED_##phase, TORCH_##meaning},
#define LAST(phase, meaning) {TIER_LAST, INFERRED_##phase, TORCH_##meaning},
#define RECORDED(phase)
#define AFTER(before, phase)
#include "inferred_phases.def"
};

static const uint8_t after[INFERRED_COUNT] = {
#define PHASE(name)
#define FIRST(phase, meaning)
#define INNER(phase, meaning)
#define LAST(phase, meaning)
#define RECORDED(phase)
#define AFTER(before, phase) [INFERRED_##before] = INFERRED_##phase,
#include "inferred_phases.def"
};

static const enum inferred_phase recorded =
#define PHASE(name)
#define FIRST(phase, meaning)
#define INNER(phase, meaning)
#define LAST(phase, meaning)
#define RECORDED(phase) INFERRED_##phase;
#define AFTER(before, phase)
#include "inferred_phases.def"

    const char * inferred_name(enum inferred_phase phase)
{
    static const char *const names[] = {
        "",
#define PHASE(name) #name,
#define FIRST(phase, meaning)
#define INNER(phase, meaning)
#define LAST(phase, meaning)
#define RECORDED(phase)
#define AFTER(before, phase)
#include "inferred_phases.def"
    };
    return names[phase];
}

/* --- frames --- */

#define HASH_OF_NOTHING 2166136261U

/* Rank of a Python frame as a caller: a backward, or an optimizer's step, is CALLER_KNOWN. */
static enum inferred_caller_rank rank_of(const struct inferred_stack *said, uint64_t means)
{
    if (said->says[TIER_FIRST] == INFERRED_backward)
        return CALLER_KNOWN;
    if (said->says[TIER_INNER] != INFERRED_optimizer)
        return CALLER_UNKNOWN;
    return torch_is(means, TORCH_step) ? CALLER_KNOWN : CALLER_SOME;
}

/* Matches the rules against a location or a label. */
static struct inferred_stack match_frame(const struct trace *trace, const struct trace_frame *frame)
{
    struct inferred_stack said = {.known = true, .has_python = frame->kind == FRAME_PYTHON};
    const uint64_t means = said.has_python
                               ? trace->locations[frame->address].means
                               : torch_python_means("", trace_string(trace, frame->address));
    for (size_t i = 0; means && i < sizeof rules / sizeof *rules; i++)
        if (!said.says[rules[i].tier] && torch_is(means, rules[i].meaning))
            said.says[rules[i].tier] = rules[i].phase;
    if (said.has_python)
        said.rank = (uint8_t)rank_of(&said, means);
    said.is_call = said.has_python && torch_is(means, TORCH_module_call);
    return said;
}

/* Results of match_frame, by location and by label. */
struct memo {
    struct inferred_stack *locations, *labels;
    bool has_framework; /* a FIRST or INNER rule matched */
};

/* The phases of the frame alone, without the frames outside it. */
static struct inferred_stack match_once(const struct trace *trace, struct memo *memo, uint32_t id)
{
    const struct trace_frame *frame = &trace->frames[id];
    struct inferred_stack *said = NULL;
    if (frame->kind == FRAME_PYTHON && frame->address < trace->location_limit)
        said = &memo->locations[frame->address];
    if (frame->kind == FRAME_LABEL && frame->address < trace->string_limit)
        said = &memo->labels[frame->address];
    if (!said)
        return (struct inferred_stack){.known = true};
    if (!said->known)
        *said = match_frame(trace, frame);
    memo->has_framework |= said->says[TIER_FIRST] || said->says[TIER_INNER];
    return *said;
}

/* --- stacks --- */

/* For each tier that the stack does not decide, takes the phase of the frames outside it. */
static void inherit_from_outer(struct inferred_stack *stack, const struct inferred_stack *outer)
{
    for (int tier = 0; tier < TIER_COUNT; tier++)
        if (!stack->says[tier])
            stack->says[tier] = outer->says[tier];
    stack->has_python |= outer->has_python;
    stack->call = outer->call.hash || !stack->is_call
                      ? outer->call
                      : (struct inferred_call){outer->python, outer->line};
    if (stack->rank > outer->rank) {
        stack->caller = outer->python;
    } else {
        stack->caller = outer->caller;
        stack->rank = outer->rank;
    }
}

/*
 * Adds a frame to the hash of Python frames. Native frames are left out, because those of the
 * interpreter differ from one call to the next.
 */
static uint32_t add_python(uint32_t outside, const struct trace *trace, uint32_t id)
{
    const struct trace_frame *frame = &trace->frames[id];
    if (frame->kind != FRAME_PYTHON || frame->address >= trace->location_limit)
        return outside;
    const struct trace_location *location = &trace->locations[frame->address];
    const uint32_t parts[] = {location->function_id, location->file_id, (uint32_t)location->line};
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++)
        outside = (outside ^ parts[i]) * 16777619U; /* FNV-1a, by words */
    return outside;
}

static uint32_t parent_of(const struct trace *trace, uint32_t id)
{
    uint32_t parent = trace->frames[id].parent_id;
    return parent < trace->frame_limit && trace->frames[parent].present ? parent : 0;
}

/*
 * Walks outwards to the first known frame, then fills in the frames on the way back. In a broken
 * table frames may form a ring: the first frame that is met again counts as the outermost.
 */
static void fill_stack(struct inferred *inferred, const struct trace *trace, struct memo *memo,
                       uint32_t id, uint32_t *way)
{
    size_t count = 0;
    for (; id && !inferred->stacks[id].known; id = parent_of(trace, id)) {
        inferred->stacks[id].known = true;
        way[count++] = id;
    }
    while (count-- > 0) {
        const struct inferred_stack outermost = {.python = HASH_OF_NOTHING};
        const uint32_t parent = parent_of(trace, way[count]);
        const struct inferred_stack *outer = parent ? &inferred->stacks[parent] : &outermost;
        inferred->stacks[way[count]] = match_once(trace, memo, way[count]);
        inherit_from_outer(&inferred->stacks[way[count]], outer);
        inferred->stacks[way[count]].python = add_python(outer->python, trace, way[count]);
        inferred->stacks[way[count]].line = trace->frames[way[count]].kind == FRAME_PYTHON
                                                ? add_python(HASH_OF_NOTHING, trace, way[count])
                                                : outer->line;
    }
}

int inferred_build(struct inferred *inferred, const struct trace *trace, struct err *err)
{
    struct memo memo = {
        .locations = array_new(trace->location_limit, sizeof *memo.locations, err),
        .labels = array_new(trace->string_limit, sizeof *memo.labels, err),
    };
    uint32_t *way = array_new(trace->frame_limit, sizeof *way, err);
    int status = -1;
    inferred->count = trace->frame_limit;
    inferred->stacks = array_new(trace->frame_limit, sizeof *inferred->stacks, err);
    if (!memo.locations || !memo.labels || !way || !inferred->stacks)
        goto out;
    for (uint32_t id = 1; id < trace->frame_limit; id++)
        if (trace->frames[id].present)
            fill_stack(inferred, trace, &memo, id, way);
    if (!memo.has_framework) /* LAST rules mean nothing without PyTorch */
        inferred->count = 0;
    status = 0;
out:
    free(memo.locations);
    free(memo.labels);
    free(way);
    return status;
}

void inferred_release(struct inferred *inferred)
{
    free(inferred->stacks);
    *inferred = (struct inferred){0};
}

enum inferred_phase inferred_next(const struct inferred *inferred, enum inferred_phase now,
                                  uint32_t stack_id, bool is_recorded)
{
    if (!stack_id || stack_id >= inferred->count)
        return now;
    const struct inferred_stack *stack = &inferred->stacks[stack_id];
    const int tiers = now == INFERRED_forward ? TIER_LAST : TIER_COUNT;
    for (int tier = 0; tier < tiers; tier++)
        if (stack->says[tier])
            return (enum inferred_phase)stack->says[tier];
    if (!stack->has_python)
        return now;
    return is_recorded ? recorded : after[now] ? (enum inferred_phase)after[now] : now;
}

bool inferred_is_in_backward(const struct inferred *inferred, uint32_t stack_id)
{
    return stack_id < inferred->count &&
           inferred->stacks[stack_id].says[TIER_FIRST] == INFERRED_backward;
}

bool inferred_is_certain(const struct inferred *inferred, uint32_t stack_id)
{
    return stack_id < inferred->count && (inferred->stacks[stack_id].says[TIER_FIRST] ||
                                          inferred->stacks[stack_id].says[TIER_INNER]);
}

bool inferred_leads(const struct inferred *inferred, uint32_t stack_id)
{
    if (stack_id >= inferred->count)
        return false;
    const uint8_t *says = inferred->stacks[stack_id].says;
    return !says[TIER_FIRST] && says[TIER_INNER] && says[TIER_INNER] != INFERRED_data;
}

bool inferred_is_own(const struct inferred *inferred, uint32_t stack_id)
{
    return stack_id < inferred->count && inferred->stacks[stack_id].has_python &&
           !inferred_is_certain(inferred, stack_id);
}

struct inferred_call inferred_call_of(const struct inferred *inferred, uint32_t stack_id)
{
    return stack_id < inferred->count ? inferred->stacks[stack_id].call : (struct inferred_call){0};
}

struct inferred_caller inferred_caller_of(const struct inferred *inferred, uint32_t stack_id)
{
    if (stack_id >= inferred->count)
        return (struct inferred_caller){0};
    const struct inferred_stack *stack = &inferred->stacks[stack_id];
    return (struct inferred_caller){stack->caller, (enum inferred_caller_rank)stack->rank};
}
