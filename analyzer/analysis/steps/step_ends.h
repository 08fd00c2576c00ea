/* SPDX-License-Identifier: MIT */
/*
 * Finds where the training steps of a trace end. The kinds of ends are ordered by strength: when a
 * trace shows a stronger kind for the first time, the ends of weaker kinds are void.
 *
 * One kind can lose its rank. An inferred optimizer is seen only if it allocates, and many
 * optimizers allocate only in the first step. Let n be the most backwards that ended between two
 * optimizers. If more than 2 n + 2 backwards have ended since the last optimizer, or more than n
 * since the only one, the optimizer no longer counts. The earlier backwards were the ends of steps
 * that the optimizer hid; a replay with is_without_optimizer set finds them.
 *
 * A program that accumulates gradients may clip them after each backward. A phase that only clips
 * is an optimizer as well, because that may be all that an optimizer's step shows. If the same call
 * of clipping was in two phases with an optimizer's step, and in at least as many without, the
 * latter end no step: a replay with micro_caller set leaves them out. An optimizer that allocates
 * nothing, such as SGD, shows in no phase. Then the gradients tell how many backwards a step has:
 * those that began while most of them were live. If the program clipped at least twice as often as
 * it dropped gradients, a replay with micro_rounds set as well leaves out the phases that only clip
 * before so many backwards have begun since gradients were dropped.
 *
 * An inferred phase ends when the next one begins, which the last one of a run never sees. The last
 * optimizer or backward ends a step all the same if it allocated as often as any before it. Its end
 * is then counted in frees after its last allocation: as many as before the end of the phase of
 * that kind before it, or all there are. In the second case the end is cut: what only the next step
 * would have freed is still live.
 *
 * If phases of one kind alternate, only the last phase of a cycle ends a step; see phase_cycle.h.
 * If they followed one another, each ends a step; a replay with is_sequence set finds them.
 *
 * If a program marks no steps, its rounds end them: `period` says which rounds (step_period.h). The
 * rounds after the last step, such as those of an evaluation, are counted alone (since_index).
 *
 * The files in this folder: step_ends watches the replay and finds the ends, in another replay with
 * the rounds that phase_period and site_period found. growth_watch, growth and leak measure the
 * bytes at each end, with trend, occurrences, sweeps and rests. step_watch, outlier and ages
 * measure each step. The observers of both groups come after step_ends and read its result.
 * cache_names knows the caches of libraries.
 */
#pragma once

#include "phase_cycle.h"
#include "step_period.h"

/* The kinds of ends, the strongest first. The text completes "steps end with …". */
#define STEP_END_KINDS(KIND)                                                                       \
    KIND(EVENT, "gpumemtrace_step()")                                                              \
    KIND(NAMED, "the phase named step")                                                            \
    KIND(OPTIMIZER, "the phase named optimizer")                                                   \
    KIND(INFERRED_OPTIMIZER, "the optimizer, as the stacks show it")                               \
    KIND(BACKWARD, "the phase named backward")                                                     \
    KIND(INFERRED_BACKWARD, "backward, as the stacks show it")                                     \
    KIND(FORWARD, "the phase named forward")                                                       \
    KIND(PHASE, "a phase that repeats") /* this and the next end with a round of `period` */       \
    KIND(REPEATED, "an allocation that repeats")                                                   \
    KIND(AFTERWARDS, "an allocation that repeats after the last step")

enum step_end {
#define KIND(name, text) STEP_END_##name,
    STEP_END_KINDS(KIND)
#undef KIND
        STEP_ENDS, /* no step has ended */
};

/* "gpumemtrace_step()"; NULL for STEP_ENDS. */
const char *step_end_text(enum step_end kind);

/* The inferred phase that is open, and those of its kind that ended. */
struct last_phase {
    /* Set before the replay: the last request for memory (0: not known), and the last free. */
    uint64_t request_seq, free_seq;
    /* NULL: none is open that may end a step, or it has ended one. */
    const struct spans *spans;
    uint32_t span;
    enum step_end kind;
    bool is_over;                       /* with the current event */
    bool is_cut;                        /* it ended a step, with fewer frees than the one before */
    uint64_t births_count, frees_count; /* in it; since its last birth */
    /* By kind: the phases that ended; the fewest births of one; the frees of the last one after its
     * last birth. */
    uint64_t ended_count[STEP_ENDS], fewest_births[STEP_ENDS], frees_at_end[STEP_ENDS];
};

/* Inferred optimizers with the first call of clipping of the program. */
struct clippings {
    uint32_t caller; /* of the call (inferred.h); 0: the program did not clip */
    uint64_t alone_count, with_step_count;
};

/* The rounds in which the program dropped gradients that a backward had left. */
struct gradient_drops {
    uint64_t count;
    uint32_t round;       /* backwards before the last drop */
    uint32_t step_rounds; /* backwards of most steps, if more than half of the drops agree */
    uint64_t votes_count; /* of step_rounds, less those of others */
};

/* Zeroed is ready for use: no step has ended. */
struct step_ends {
    bool is_without_optimizer; /* set before the replay: ignore inferred optimizers */
    bool is_sequence;          /* set before the replay: no phases alternate */
    uint32_t micro_caller;     /* set before the replay: ignore optimizers that only clip */
    uint32_t micro_rounds; /* set before the replay: … in the first rounds of a step; 0: all */
    struct clippings clippings;
    struct gradient_drops drops;
    uint32_t rounds_since_drop;        /* when the open inferred phase began */
    uint64_t counts[STEP_ENDS];        /* ends by kind; 0 also if a stronger kind made them void */
    uint64_t opened_counts[STEP_ENDS]; /* phases that began and may end a step */
    /* Number of inferred optimizers that ended. Number of inferred backwards that ended: since the
     * last of them, and the highest number between two of them. */
    uint64_t optimizer_count, backward_count, most_backward_count;
    bool has_given_way;       /* the inferred optimizer no longer counts in this replay */
    struct phase_cycle cycle; /* of the strongest kind */
    struct last_phase last;
    uint64_t begun_count; /* how often counting started again from 1 */
    enum step_end ended;  /* kind of the last end of a span, change or event that may end a step */
    struct step_period period; /* set before the replay: the rounds of a program without marks */
    uint64_t since_index; /* set before the replay: rounds count only from this event on; 0: all */
};

void step_ends_release(struct step_ends *ends);

/* Must come before the observers that read its result. */
struct observer step_ends_observer(struct step_ends *ends);

/* The kinds of events that may end a step, for struct observer. */
static inline uint64_t step_ends_kinds(const struct step_ends *ends)
{
    const uint64_t of_last = OBSERVER_KIND(EVENT_ALLOC) | OBSERVER_KIND(EVENT_FREE);
    return ends->period.roles ? UINT64_MAX
                              : OBSERVER_KIND(EVENT_STEP) | (ends->last.request_seq ? of_last : 0);
}

/* The kind of step end that the span about to be closed is; that the change is, before which the
 * step ends; that the current event is. STEP_ENDS: it ends no step. */
static inline enum step_end step_ends_of_span(const struct step_ends *ends)
{
    return ends->ended;
}
static inline enum step_end step_ends_of_event(const struct step_ends *ends,
                                               const struct cursor *at)
{
    return step_ends_kinds(ends) >> at->event->kind & 1 ? ends->ended : STEP_ENDS;
}
/* The first event of the next step, if the current event ends a step of that kind. Only a mark is
 * itself the first; a round or a last phase ends after the changes of its last event. */
static inline uint64_t step_ends_next(const struct cursor *at, enum step_end kind)
{
    return at->index + (kind != STEP_END_EVENT);
}
static inline enum step_end step_ends_of_change(const struct step_ends *ends)
{
    return ends->period.roles ? ends->ended : STEP_ENDS;
}

/* True if an end of that kind, which was just found, is the first one that counts. Then all earlier
 * ends are void. */
static inline bool step_ends_began(const struct step_ends *ends, enum step_end kind)
{
    return kind < STEP_ENDS && ends->counts[kind] == 1;
}

/* The ends of a kind at which the live bytes are those between two steps: all but a cut one. */
static inline uint64_t step_ends_whole_count(const struct step_ends *ends, enum step_end kind)
{
    return ends->counts[kind] - ends->last.is_cut;
}

/* The strongest kind that was seen. */
enum step_end step_ends_kind(const struct step_ends *ends);

/* For a trace in which no step ended: the strongest kind of which a phase began. STEP_ENDS: none
 * began. */
enum step_end step_ends_begun(const struct step_ends *ends);

/* True if the phases of the strongest kind followed one another, although the replay took turns. */
static inline bool step_ends_were_sequence(const struct step_ends *ends)
{
    return !ends->is_sequence && phase_cycle_is_sequence(&ends->cycle);
}
/* The call that clips gradients without a step of the optimizer; 0: there is none, or it was known
 * before the replay. */
static inline uint32_t step_ends_found_micro(const struct step_ends *ends)
{
    const struct clippings *found = &ends->clippings;
    return !ends->micro_caller && found->with_step_count >= 2 &&
                   found->alone_count >= found->with_step_count
               ? found->caller
               : 0;
}
/* The backwards of a step of which each clips gradients, although no optimizer shows; 0: not found,
 * or known before the replay. */
static inline uint32_t step_ends_found_micro_rounds(const struct step_ends *ends)
{
    const struct gradient_drops *drops = &ends->drops;
    return !ends->micro_caller && ends->clippings.with_step_count < 2 && drops->count >= 2 &&
                   ends->clippings.alone_count >= 2 * drops->count && drops->step_rounds > 1
               ? drops->step_rounds
               : 0;
}
/* True if the replay missed steps, because an optimizer hid them before it lost its rank. */
static inline bool step_ends_were_hidden(const struct step_ends *ends)
{
    return ends->has_given_way && step_ends_kind(ends) == STEP_END_INFERRED_BACKWARD;
}
