/* SPDX-License-Identifier: MIT */
/* Phases inferred from stacks, by the rules of inferred_phases.def. */
#ifndef GPUMEMTRACE_ANALYZER_REPLAY_INFERRED_H
#define GPUMEMTRACE_ANALYZER_REPLAY_INFERRED_H

#include <stddef.h>

#include "analyzer/load/trace.h"

enum inferred_phase {
    INFERRED_NONE, /* stack: no rule matches; moment: no phase began yet */
#define PHASE(name) INFERRED_##name,
#define FIRST(phase, pattern)
#define INNER(phase, pattern)
#define LAST(phase, pattern)
#define RECORDED(phase)
#define AFTER(before, phase)
#include "inferred_phases.def"
    INFERRED_COUNT
};

const char *inferred_name(enum inferred_phase phase);

/*
 * Tells several optimizers or backwards of a program apart. `hash` covers the Python frames outside
 * the outermost frame of an optimizer's step or of a backward (CALLER_KNOWN), or else of another
 * function of an optimizer, such as gradient clipping (CALLER_SOME).
 */
struct inferred_caller {
    uint32_t hash; /* of those frames */
    enum inferred_caller_rank { CALLER_UNKNOWN, CALLER_SOME, CALLER_KNOWN } rank;
};

/* The phase of every stack; built once for a trace. */
struct inferred {
    struct inferred_stack *stacks;
    size_t count;
};

int inferred_build(struct inferred *inferred, const struct trace *trace, struct err *err);
void inferred_release(struct inferred *inferred);

/*
 * The phase of an allocation with that stack; `now` is the phase before it. is_recorded: a forward
 * operator that autograd records allocates.
 */
enum inferred_phase inferred_next(const struct inferred *inferred, enum inferred_phase now,
                                  uint32_t stack_id, bool is_recorded);

/* True if a call to backward is among the stack's frames. */
bool inferred_is_in_backward(const struct inferred *inferred, uint32_t stack_id);

struct inferred_caller inferred_caller_of(const struct inferred *inferred, uint32_t stack_id);

#endif
