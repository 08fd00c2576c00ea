/* SPDX-License-Identifier: MIT */
/*
 * Live bytes over time, thinned to a bounded number of cuts of equal width. Each keeps the moment when
 * most was live in it, so that no peak is lost. It watches the replay, and keeps the cuts of each
 * account. It must not know how they are shown.
 *
 *     x of the axis    ├──────┼──────┼──────┼──────┤    begins at the first change of a layer, or
 *     cuts                0      1      2      3        where it was asked to; when the cuts are
 *     now twice as wide ├────────────┼────────────┤     used up, two become one
 */
#ifndef GPUMEMTRACE_ANALYZER_ANALYSIS_OVER_TIME_TIMELINE_H
#define GPUMEMTRACE_ANALYZER_ANALYSIS_OVER_TIME_TIMELINE_H

#include "analyzer/analysis/steps/step_ends.h"
#include "analyzer/replay/history/observer.h"

enum timeline_axis { TIMELINE_TIME = 1, TIMELINE_EVENT, TIMELINE_STEP };

/* An end of the part that is shown: in ns, an event's number or a step's, whatever the axis is. */
struct timeline_bound {
    enum timeline_axis unit; /* 0: none */
    uint64_t number;
    const char *at; /* a moment, of which event the number is not known yet; NULL: it is */
};

struct timeline_ask {
    size_t cut_count; /* at most; 0: no timeline */
    enum timeline_axis axis;
    struct timeline_bound from, to;
    bool notes_steps; /* the cuts have their steps, whatever the axis is */
};
static inline bool timeline_needs_steps(const struct timeline_ask *ask)
{
    return ask->axis == TIMELINE_STEP || ask->from.unit == TIMELINE_STEP ||
           ask->to.unit == TIMELINE_STEP;
}

/* What was live in a cut; before its first change, what was live when it began. */
struct timeline_cut {
    bool is_present;    /* something changed in it */
    uint64_t time_ns;   /* of the moment of max_bytes; times never fall from event to event */
    uint64_t seq, step; /* of the event of that moment */
    uint64_t index;     /* after which that was live; INDEX_NONE: before all events */
    uint64_t max_bytes, min_bytes, last_bytes;
    uint32_t path; /* phase of the last change up to that moment; HISTORY_NONE: outside any */
    uint64_t begun_count; /* of the step's number, until it is known which ends count */
};

/* The events that ended steps: all of them, or every second, fourth … one. What was live then is what was before. */
enum { TIMELINE_STEPS_MAX = 60 };
struct ended_steps {
    uint64_t indices[TIMELINE_STEPS_MAX];
    size_t count;
    uint64_t seen_count, skips; /* skips: one less than a power of two */
};

struct timelines {
    struct timeline_ask ask;
    uint64_t now_ns;              /* the latest time so far */
    const struct step_ends *ends; /* the caller's, found by an observer before this one */
    enum step_end kind;           /* of the ends that count, STEP_ENDS: none */
    uint64_t begun_count;         /* of `ends` when they are all known: earlier ones do not count */
    struct ended_steps ended;
    bool has_changes, is_begun;
    uint64_t begin, width;             /* of the first cut, and of each, in the axis's unit */
    size_t used;                       /* cuts from the first to that of the latest change */
    struct account_timeline *accounts; /* by account */
    size_t account_count, account_capacity;
};

void timelines_init(struct timelines *timelines, const struct timeline_ask *ask,
                    const struct step_ends *ends);
/* Where steps are needed, the ends of a replay that looks only at them tell which count. */
void timelines_know_steps(struct timelines *timelines, const struct step_ends *found);
struct observer timelines_observer(struct timelines *timelines);
/* Of steps that are known only after the replay that was watched, as those that nothing marks: one was ended by that
 * event. To be told in order, at last with INDEX_NONE and UINT64_MAX; and from the first one on when what was told is
 * void. */
void timelines_begin_telling(struct timelines *timelines);
void timelines_tell_step(struct timelines *timelines, uint64_t index, uint64_t seq);
void timelines_release(struct timelines *timelines);

/* The cuts of an account of a layer, used of them, valid until timelines_release; NULL: it had nothing. */
const struct timeline_cut *timelines_of(const struct timelines *timelines, uint32_t account);
/* The events after which its cuts that are present were highest, ascending; the caller frees them. NULL:
 * out of memory. */
uint64_t *timelines_moments(const struct timelines *timelines, uint32_t account, size_t *count,
                            struct err *err);

#endif
