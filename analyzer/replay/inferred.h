/* SPDX-License-Identifier: MIT */
/*
 * Phases told from stacks, by the rules of inferred_phases.def. It must not know spans, nor which
 * events have a say.
 */
#ifndef GPUMEMTRACE_ANALYZER_REPLAY_INFERRED_H
#define GPUMEMTRACE_ANALYZER_REPLAY_INFERRED_H

#include <stddef.h>

#include "analyzer/load/trace.h"

enum inferred_phase {
    INFERRED_NONE, /* of a stack: it does not say; of a moment: nothing was said yet */
#define PHASE(name) INFERRED_##name,
#define FIRST(phase, pattern)
#define INNER(phase, pattern)
#define LAST(phase, pattern)
#define AFTER(before, phase)
#include "inferred_phases.def"
    INFERRED_COUNT
};

const char *inferred_name(enum inferred_phase phase);

/* What the frames of a stack say, by its innermost frame; built once for a trace. */
struct inferred {
    struct inferred_stack *stacks;
    size_t count;
};

int inferred_build(struct inferred *inferred, const struct trace *trace, struct err *err);
void inferred_release(struct inferred *inferred);

/* The phase that an allocation with that stack belongs to, if `now` is the one before it. */
enum inferred_phase inferred_next(const struct inferred *inferred, enum inferred_phase now,
                                  uint32_t stack_id);

#endif
