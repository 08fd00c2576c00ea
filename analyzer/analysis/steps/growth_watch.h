/* SPDX-License-Identifier: MIT */
/*
 * Records the live bytes and blocks of each site (load/site_id.h), and the bytes of each account,
 * at the ends of steps. A site is updated only when it changes, because its values were the same at
 * all ends since its last change:
 *
 *     ends      0     1     2     3          at the change after end 3: [1, 4) had the old bytes
 *     changes  x            .        x
 *
 * The values are dropped when the first step ends, and when a stronger kind of end appears.
 *
 * Until the first step ends, it also records in which order the sites allocate, as the number
 * of times that one came after another. The rounds of a program that marks no steps are found from
 * these numbers (site_period.h), or from its phases (phase_period.h). The time of phases is the
 * number of events that changed a block of these accounts, called ticks, so that notes and marks do
 * not change the result. Another replay then ends a step with each round.
 *
 * With since_index set, it measures only blocks that are made from that event on, such as those of
 * an evaluation after the last step.
 *
 * It keeps a few numbers for each site, for each pair of sites of which one allocated after the
 * other, and for each account. It keeps a trend for each account, and for each site whose values
 * have changed at least twice from one end to the next.
 */
#pragma once

#include "trend.h"
#include "ebb.h"
#include "rests.h"
#include "rising.h"
#include "site_numbers.h"
#include "step_ends.h"
#include "sweeps.h"
#include "turnover.h"
#include "analyzer/replay/history/observer.h"
#include "analyzer/util/pair_map.h"

/*
 * WARM_UP_ENDS is the number of ends before the first one that is counted. The first step is left
 * out, because caches, gradients and optimizer states are allocated in it. FEWEST_ENDS is the
 * number of counted ends that a verdict needs.
 */
enum { WARM_UP_ENDS = 1, FEWEST_ENDS = 3 };

/* The blocks of a site in the whole run. Steps do not matter here. */
struct site_blocks {
    uint64_t births_count, frees_count, most_live_count;
    uint64_t born_bytes, most_live_bytes; /* sum over all births; live at once */
    uint64_t begin_index;                 /* event of the first birth */
    uint64_t fell_index; /* first event after most_live_bytes that left less than nine tenths */
    struct rising sizes; /* requested bytes, where they are known */
    uint64_t graph_births_count;    /* autograd keeps the block */
    uint64_t backward_births_count; /* in a backward */
    uint64_t recorded_births_count; /* in a backward that records itself (create_graph) */
    uint64_t fresh_births_count;    /* a backward began since the birth before */
    uint64_t backwards_seen;        /* backwards at the last birth */
    bool went_back;                 /* a backward allocated for an operator of this stack */
};

/* One site. The fields that most changes touch come first and fit in two cache lines. */
struct site_ends {
    uint64_t live_bytes, live_count; /* at the current event */
    uint64_t last_bytes, last_count; /* at the last counted end */
    uint64_t ends_count;             /* ends counted so far */
    struct trend trend;              /* of bytes; has no samples until the second change */
    uint64_t site_id;
    uint32_t changes_count;                      /* of bytes, from end to end */
    bool was_resized;                            /* a block was resized in place */
    bool is_of_graph;                            /* autograd keeps one of its blocks */
    uint64_t open_churn_bytes, open_churn_count; /* of the open step */
    uint64_t churn_bytes, churn_count;           /* born and freed within a step */

    struct trend counts;               /* of block counts; its samples follow those of the bytes */
    uint64_t first_bytes, first_count; /* at the first counted end */
    /* Rests of its blocks (rests.h): at the current event, and at the first and the last end. */
    uint64_t live_rest_bytes, first_rest_bytes, last_rest_bytes;
    uint64_t changed_at;      /* first end with other values than first_…; 0: none */
    struct occurrences rises; /* of bytes, from end to end */
    uint64_t risen_bytes;     /* sum of the rises */
    uint64_t falls_count;     /* of bytes, from end to end */
    struct sweeps sweeps;
    struct turnover turnover;
    struct site_blocks blocks;

    /* Used only until a step has ended: */
    uint64_t first_birth, last_birth; /* births of the account before these */
    uint64_t turns_count;             /* births that follow the end of another block of it */
    bool has_freed;                   /* a block has ended since the birth */
    uint32_t pair; /* number of the last pair that began with it, from 1; 0: none */
    struct ebb ebb;
};

/* How often the birth of one site came directly after the birth of another, or of the same. */
struct birth_pair {
    uint32_t from, to; /* numbers of the sites, from 0 */
    uint64_t count;
};

/* Pairs beyond this number are not counted: so many have no order. */
enum { BIRTH_PAIRS_MAX = 1 << 16 };

/* Steps whose begin is kept. Blocks that are older count as made in the oldest of them. */
enum { STEP_BEGINS = 64 };

struct account_ends {
    bool is_used; /* a block of it changed */
    struct site_numbers numbers;
    struct site_ends *sites;
    size_t count, capacity;
    bool is_pool;        /* it is a framework's pool */
    bool is_beside;      /* it is managed or pinned memory, which no layer counts */
    uint64_t most_bytes; /* most live bytes */
    uint64_t births_count;
    uint64_t last_birth_index; /* event of the last birth */
    uint64_t end_live_bytes;   /* at the last end of a step */
    uint64_t birth_live_bytes; /* at the last birth since then */
    uint32_t last_born;        /* site of the last birth, from 1; 0: none */
    /* Used only until a step has ended: */
    struct birth_pair *pairs;
    size_t pair_count, pair_capacity;
    struct pair_map pair_numbers; /* by both sites */
    bool has_too_many_pairs;
    struct site_ends total; /* of the account; only the bytes are valid */
};

/* Ready for use if `ends` is set and all other fields are zeroed. */
struct growth_watch {
    const struct step_ends *ends; /* owned by the caller; filled by an earlier observer */
    uint64_t since_index; /* set before the replay: earlier blocks and phases are left out */
    struct account_ends *accounts; /* by account */
    size_t account_count, account_capacity;
    struct phase_periods phases; /* used only until a step has ended */
    /*
     * Births of all accounts in one order, for a program without pools that also allocates managed
     * or pinned memory. It begins with the first block of such memory. Used only until a step has
     * ended.
     */
    struct account_ends together;
    uint64_t together_begin;
    bool has_pool;
    bool has_ended;          /* a step has ended */
    uint64_t backward_count; /* backwards that began */
    struct rests rests;
    bool has_graphs;            /* the trace has blocks that autograd keeps */
    uint32_t recorded_backward; /* number of the last backward that recorded itself */
    uint64_t looked_count;      /* counted ends of steps */
    /* The events that began the last steps, by the number of the step modulo STEP_BEGINS, and the
     * number of steps that ended. */
    uint64_t step_begins[STEP_BEGINS];
    uint64_t step_number;
    uint64_t tick_count; /* ticks so far: events that changed a block of a layer */
    uint64_t tick_event; /* event of the last tick */
    const struct trace *trace;
};

/* True if autograd records what its own backward computes (create_graph). A Python function in a
 * backward, such as that of a checkpoint, may have autograd record only what it computes itself. */
bool growth_is_recorded(const struct trace *trace, const struct block *block);

struct observer growth_watch_observer(struct growth_watch *watch);
void growth_watch_release(struct growth_watch *watch);

/* The event that began the last step, or the rest of the run after it. */
static inline uint64_t growth_watch_last_begin(const struct growth_watch *watch)
{
    return watch->step_begins[watch->step_number % STEP_BEGINS];
}

/* True if enough steps have ended to judge growth. */
static inline bool growth_watch_has_steps(const struct growth_watch *watch)
{
    return watch->looked_count >= FEWEST_ENDS;
}
