/* SPDX-License-Identifier: MIT */
/*
 * Where the training steps of a trace end. A kind of end stands above those below it: as soon as a
 * trace shows one of a higher kind, what was found by lower kinds is void. One kind gives way: an
 * optimizer shows itself only where it allocates, many in the first step alone; when backward has
 * ended more than twice as often since as ever between two of them, and twice more, it counts no
 * longer, and the backwards before are steps that it hid: a replay with is_without_optimizer set sees
 * them. Of phases of one kind that take turns, only the last of a cycle ends a step: phase_cycle.h. It must
 * not know what is measured at the ends.
 *
 * The room: step_ends → growth (the bytes at each end: trend) and steps (what each step did).
 * One watches the replay and finds the ends, those that measure watch behind it and ask it; none knows
 * names, pages or a study. cache_names says what is a cache.
 */
#ifndef GPUMEMTRACE_ANALYZER_ANALYSIS_STEPS_STEP_ENDS_H
#define GPUMEMTRACE_ANALYZER_ANALYSIS_STEPS_STEP_ENDS_H

#include "phase_cycle.h"
#include "analyzer/replay/history/observer.h"

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
    bool is_without_optimizer;         /* known before the replay: one gives way */
    uint64_t counts[STEP_ENDS];        /* 0 also of kinds that a stronger one has made void */
    uint64_t opened_counts[STEP_ENDS]; /* of what may end a step, whether or not it did */
    /* Ends of backward, as the stacks show it: since the last such optimizer, and at most between two. */
    uint64_t backward_count, most_backward_count;
    bool has_given_way;       /* such an optimizer, in this replay */
    struct phase_cycle cycle; /* of the strongest kind */
    uint64_t begun_count;     /* how often counting began: the count of a kind was 1 */
    enum step_end
        ended; /* by the end of a span, or by the event of kind STEP, that was seen last */
};

/* It stands before the observers that ask it. */
struct observer step_ends_observer(struct step_ends *ends);

/* What ended with the span that is about to be closed, and with this event; STEP_ENDS: nothing. */
static inline enum step_end step_ends_of_span(const struct step_ends *ends)
{
    return ends->ended;
}
static inline enum step_end step_ends_of_event(const struct step_ends *ends,
                                               const struct cursor *at)
{
    return at->event->kind == EVENT_STEP ? ends->ended : STEP_ENDS;
}

/* Whether the end of that kind that was just found is the first that counts: the others are void. */
static inline bool step_ends_began(const struct step_ends *ends, enum step_end kind)
{
    return kind < STEP_ENDS && ends->counts[kind] == 1;
}

/* The strongest kind that was seen. */
enum step_end step_ends_kind(const struct step_ends *ends);

/* The strongest kind of which one began, in a trace in which no step has ended; STEP_ENDS: none did. */
enum step_end step_ends_begun(const struct step_ends *ends);

/* Whether the replay missed steps that an optimizer hid before it gave way. */
static inline bool step_ends_were_hidden(const struct step_ends *ends)
{
    return ends->has_given_way && step_ends_kind(ends) == STEP_END_INFERRED_BACKWARD;
}

#endif
