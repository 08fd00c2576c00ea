/* SPDX-License-Identifier: MIT */
/*
 * The phases of a replay: which spans are open, and in which span an event happens. A span's number
 * can be reused when the span is closed and all its blocks and inner spans are gone.
 *
 *     all open spans, by push   ... ◄── outer ── span ── inner ──► ...
 *     of one thread             ... ◄── thread_outer ── span ── thread_inner ──► ...
 *     pushed without an id      ... ◄── pushed_outer ── span      for each thread and source
 *     around it at its push     root ◄── ... ◄── parent ── span
 */
#pragma once

#include "analyzer/util/pair_map.h"
#include "forwards.h"
#include "inferred.h"
#include "paths.h"

struct span {
    struct life life;  /* end_index INDEX_NONE: open */
    uint64_t ordinal;  /* number of spans pushed before it */
    uint64_t range_id; /* 0: a push */
    uint32_t path;
    uint32_t parent;                /* span around it at its push; HISTORY_NONE: none */
    uint32_t deciding;              /* the innermost span up to this one whose path has a rule */
    uint32_t depth;                 /* 1: outermost */
    uint32_t thread;                /* index of the thread's lists */
    uint32_t callers[CALLER_RANKS]; /* by rank, hash of the first of its allocations; 0: none */
    uint32_t references_count;      /* blocks born in it + spans inside it + 1 while it is open */
    uint32_t outer, inner, thread_outer, thread_inner, pushed_outer;
};

struct spans {
    struct span *items;
    size_t capacity;
    struct slots slots;
    uint64_t opened_count;
    uint32_t innermost;      /* open span pushed last; HISTORY_NONE: none */
    uint64_t asked_count;    /* open spans of the requested path */
    uint64_t backward_count; /* open spans of backward */

    struct thread_spans *threads; /* heads of the lists of each thread */
    size_t thread_count, thread_capacity;
    uint32_t recent_thread_id, recent_thread; /* cache: last thread asked for; index of its lists */
    struct pair_map numbers;                  /* threads by id, and open ranges; see spans.c */
    bool takes_libraries; /* ranges of libraries' NVTX domains also become phases */
    struct paths paths;

    struct inferred inferred;
    enum inferred_phase inferred_now;
    uint32_t leading_thread_id; /* it runs the model; 0: none did */
    uint64_t beside_index;      /* the last allocation of a thread beside it */
    struct forwards forwards;
    uint32_t inferred_span; /* HISTORY_NONE: none is open */
};

/* The caller sets takes_libraries, paths.rule_of and paths.asked. */
int spans_init(struct spans *spans, const struct trace *trace, struct err *err);
void spans_release(struct spans *spans);

int spans_push(struct spans *spans, const struct cursor *at);
int spans_pop(struct spans *spans, const struct cursor *at);
/*
 * Handles the current event, which is an allocation. Its stack may end the inferred phase and begin
 * the next one. is_recorded may do so as well; it is true if a forward operator that autograd
 * records made the allocation.
 */
int spans_infer(struct spans *spans, const struct cursor *at, bool is_recorded);
/* True if an allocation of such memory may begin an inferred phase. */
bool spans_may_infer(enum account_kind kind);
/* Called after the last event: closes all spans, the innermost first. */
int spans_close_all(struct spans *spans, const struct cursor *at);

/* The span of the current event; HISTORY_NONE: none. */
uint32_t spans_current(struct spans *spans, const struct cursor *at);
/* The span that tells the purpose of memory allocated now: the innermost one whose path has a
 * rule, named or inferred; HISTORY_NONE: none. */
uint32_t spans_deciding(struct spans *spans, const struct cursor *at);
static inline bool span_is_open(const struct span *span)
{
    return span->life.end_index == INDEX_NONE;
}

/*
 * A block that is born in a span keeps the span's number from being reused until the block ends.
 * The span may be HISTORY_NONE.
 */
void spans_hold(struct spans *spans, uint32_t span);
void spans_let_go(struct spans *spans, uint32_t span);
