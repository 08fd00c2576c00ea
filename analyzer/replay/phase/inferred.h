/* SPDX-License-Identifier: MIT */
/* Phases inferred from stacks, by the rules of inferred_phases.def. */
#pragma once

#include <stddef.h>

#include "analyzer/load/trace.h"

enum inferred_phase {
    INFERRED_NONE, /* for a stack: no rule matches it; for a moment: no phase has begun yet */
#define PHASE(name) INFERRED_##name,
#define FIRST(phase, meaning)
#define INNER(phase, meaning)
#define LAST(phase, meaning)
#define RECORDED(phase)
#define AFTER(before, phase)
#include "inferred_phases.def"
    INFERRED_COUNT
};

const char *inferred_name(enum inferred_phase phase);

/*
 * Distinguishes several optimizers or backwards of a program by their callers. `hash` covers the
 * Python frames outside the outermost frame of an optimizer's step or of a backward (CALLER_KNOWN).
 * If the stack has no such frame, it covers the Python frames outside the outermost frame of
 * another function of an optimizer, such as gradient clipping (CALLER_SOME).
 */
struct inferred_caller {
    uint32_t hash; /* of those frames */
    enum inferred_caller_rank { CALLER_UNKNOWN, CALLER_SOME, CALLER_KNOWN, CALLER_RANKS } rank;
};

/*
 * The outermost call of a module in a stack, known by its caller: a hash of all Python frames
 * outside the call (0: the stack has no call), and one of the innermost of these frames.
 */
struct inferred_call {
    uint32_t hash, line;
};

/* The phases of all stacks. They are computed once for a trace. */
struct inferred {
    struct inferred_stack *stacks;
    size_t count;
};

int inferred_build(struct inferred *inferred, const struct trace *trace, struct err *err);
void inferred_release(struct inferred *inferred);

/*
 * The phase of an allocation with that stack. `now` is the phase before the allocation. is_recorded
 * is true if a forward operator that autograd records made the allocation.
 */
enum inferred_phase inferred_next(const struct inferred *inferred, enum inferred_phase now,
                                  uint32_t stack_id, bool is_recorded);

/* True if a call to backward is among the stack's frames. */
bool inferred_is_in_backward(const struct inferred *inferred, uint32_t stack_id);

/* True if a FIRST or INNER row matches the stack, so that the framework's own frames tell its
 * phase. */
bool inferred_is_certain(const struct inferred *inferred, uint32_t stack_id);

/* True if an INNER row gives the phase of the stack, and it is not data: its thread runs the
 * model. */
bool inferred_leads(const struct inferred *inferred, uint32_t stack_id);

/* True if the stack has Python frames, and no FIRST and no INNER row matches it. */
bool inferred_is_own(const struct inferred *inferred, uint32_t stack_id);

struct inferred_call inferred_call_of(const struct inferred *inferred, uint32_t stack_id);

struct inferred_caller inferred_caller_of(const struct inferred *inferred, uint32_t stack_id);
