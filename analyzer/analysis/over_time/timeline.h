/* SPDX-License-Identifier: MIT */
/*
 * Records live bytes over time in a bounded number of cuts, which are intervals of equal width.
 * Each cut keeps the moment of its highest live bytes, so that no peak is lost. Watches the replay
 * and keeps the cuts of each account.
 *
 *     x of the axis    ├──────┼──────┼──────┼──────┤    begins at the first change of a layer, or
 *     cuts                0      1      2      3        where requested; if there is no cut left,
 *     now twice as wide ├────────────┼────────────┤     each two cuts become one
 */
#pragma once

#include "analyzer/analysis/steps/step_ends.h"
#include "analyzer/replay/history/observer.h"

enum timeline_axis { TIMELINE_TIME = 1, TIMELINE_EVENT, TIMELINE_STEP };

/* Beginning or end of the part of the run that is shown: a time in ns, or the number of an event or
 * step. Its unit may differ from that of the axis. */
struct timeline_bound {
    enum timeline_axis unit; /* 0: none */
    uint64_t number;
    const char *at; /* a moment (moment.h) whose event is not known yet; NULL: `number` is set */
};

struct timeline_ask {
    size_t cut_count; /* limit; 0: no timeline */
    enum timeline_axis axis;
    struct timeline_bound from, to;
    bool notes_steps; /* sets the step of each cut, even if the axis is not of steps */
    bool keeps_lasts; /* a cut that no other cut follows has a second point, of its last state */
};
static inline bool timeline_needs_steps(const struct timeline_ask *ask)
{
    return ask->axis == TIMELINE_STEP || ask->from.unit == TIMELINE_STEP ||
           ask->to.unit == TIMELINE_STEP;
}

/* Live bytes in a cut. Until the first change in the cut, they are the bytes at its beginning. */
struct timeline_cut {
    bool is_present;    /* live bytes changed in this cut */
    uint64_t time_ns;   /* at the moment of max_bytes; times never go back */
    uint64_t seq, step; /* of the event of that moment */
    uint64_t index;     /* max_bytes was live after it; INDEX_NONE: before all events */
    uint64_t max_bytes, min_bytes, last_bytes;
    uint32_t path;        /* phase of the last change up to that moment; HISTORY_NONE: outside */
    uint64_t begun_count; /* ends->begun_count when `step` was set; if it grows, `step` is void */
};

/* The events that ended steps: all of them, or if there are too many, every second, every fourth
 * and so on. The state at the end of a step is the state before that event. */
enum { TIMELINE_STEPS_MAX = 60 };
struct ended_steps {
    uint64_t indices[TIMELINE_STEPS_MAX];
    size_t count;
    uint64_t seen_count, skips; /* skips: a power of two, less one */
};

struct timelines {
    struct timeline_ask ask;
    uint64_t now_ns;              /* the latest time so far */
    const struct step_ends *ends; /* owned by the caller; filled by an observer before this one */
    enum step_end kind;           /* kind of the ends that count; STEP_ENDS: none */
    uint64_t begun_count;         /* final begun_count of `ends`: earlier ends do not count */
    struct ended_steps ended;
    bool has_changes, is_begun;
    uint64_t begin, width;             /* begin of the first cut; width of a cut; in axis's unit */
    size_t used;                       /* number of cuts up to the one of the latest change */
    struct account_timeline *accounts; /* by account */
    size_t account_count, account_capacity;
};

void timelines_init(struct timelines *timelines, const struct timeline_ask *ask,
                    const struct step_ends *ends);
/* Takes the kind of ends that counts from `found`, the result of an earlier replay that looked only
 * for ends of steps. */
void timelines_know_steps(struct timelines *timelines, const struct step_ends *found);
struct observer timelines_observer(struct timelines *timelines);
/* Use these two functions for steps that nothing marks, because such steps are known only during a
 * later replay. timelines_tell_step says that event `index` ended a step, which the events before
 * the number seq belong to. Call it in the order of the events, and after the last step once more
 * with INDEX_NONE and UINT64_MAX. timelines_begin_telling forgets the steps that were told. */
void timelines_begin_telling(struct timelines *timelines);
void timelines_tell_step(struct timelines *timelines, uint64_t index, uint64_t seq);
void timelines_release(struct timelines *timelines);

/* The cuts of an account, which must be a layer's; `used` is their number. Valid until
 * timelines_release. NULL: the account had no memory. */
const struct timeline_cut *timelines_of(const struct timelines *timelines, uint32_t account);
/* The points of an account in order: `number` is below 2 * used. An even number is a cut. An odd
 * number is the last state of a cut that no other cut follows, if keeps_lasts. NULL: no point. */
const struct timeline_cut *timelines_point(const struct timelines *timelines, uint32_t account,
                                           size_t number);
/* The events of the account's points, ascending. The caller frees them. NULL: out of memory. */
uint64_t *timelines_moments(const struct timelines *timelines, uint32_t account, size_t *count,
                            struct err *err);
