/* SPDX-License-Identifier: MIT */
/*
 * Where the training steps of a trace end. A kind of end stands above those below it: as soon as a
 * trace shows one of a higher kind, what was found by lower kinds is void. One kind gives way: an
 * optimizer shows itself only where it allocates, many in the first step alone; when backward has
 * ended more than twice as often since as ever between two of them, and twice more, it counts no
 * longer. Of phases of one kind that take turns, only the last of a turn ends a step: turns.h. It must
 * not know what is measured at the ends.
 *
 * The room: step_ends → growth (the bytes at each end: series, fit) and steps (what each step did).
 * Both watch the replay; neither knows names, pages or a study. cache_names says what is a cache.
 */
#ifndef GPUMEMTRACE_ANALYZER_ANALYSIS_STEPS_STEP_ENDS_H
#define GPUMEMTRACE_ANALYZER_ANALYSIS_STEPS_STEP_ENDS_H

#include "turns.h"

/* What may end a step, the strongest first. The text completes "steps end with …". */
#define STEP_END_KINDS(KIND)                                                                       \
    KIND(EVENT, "gpumemtrace_step()")                                                              \
    KIND(NAMED, "the phase named step")                                                            \
    KIND(OPTIMIZER, "the phase named optimizer")                                                   \
    KIND(INFERRED_OPTIMIZER, "the optimizer, as the stacks show it")                               \
    KIND(BACKWARD, "the phase named backward")                                                     \
    KIND(INFERRED_BACKWARD, "backward, as the stacks show it")                                     \
    KIND(FORWARD, "the phase named forward")                                                       \
    KIND(PHASE, "a phase that repeats") /* this and the next are never seen here: growth.h */      \
    KIND(REPEATED, "an allocation that repeats")

enum step_end {
#define KIND(name, text) STEP_END_##name,
    STEP_END_KINDS(KIND)
#undef KIND
        STEP_ENDS, /* no step has ended */
};

/* "gpumemtrace_step()"; NULL of STEP_ENDS. */
const char *step_end_text(enum step_end kind);

/* Zeroed is ready for use: no step has ended. */
struct step_ends {
    uint64_t counts[STEP_ENDS]; /* 0 also of kinds that a stronger one has made void */
    /* Ends of backward, as the stacks show it: since the last such optimizer, and at most between two. */
    uint64_t backward_count, most_backward_count;
    bool is_without_optimizer; /* it gave way */
    struct turns turns;        /* of the strongest kind */
    uint64_t begun_count;      /* how often counting began: the count of a kind was 1 */
};

/* Whether the end of that kind that was just found is the first that counts: the others are void. */
static inline bool step_ends_began(const struct step_ends *ends, enum step_end kind)
{
    return kind < STEP_ENDS && ends->counts[kind] == 1;
}

/* The strongest kind that was seen. */
enum step_end step_ends_kind(const struct step_ends *ends);

/*
 * What just ended, or STEP_ENDS; it is counted. To be asked at each event of kind STEP, and at each
 * end of a span: then before the event changes memory.
 */
enum step_end step_ends_at_event(struct step_ends *ends, const struct cursor *at);
enum step_end step_ends_at_span(struct step_ends *ends, const struct cursor *at,
                                const struct spans *spans, uint32_t span);

#endif
