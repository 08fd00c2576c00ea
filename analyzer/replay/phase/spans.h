/* SPDX-License-Identifier: MIT */
/*
 * Phases while replaying: which are open, in which one an event happens. A span's number is used
 * again once it is closed and neither a block that was born in it nor a span inside it is left. It
 * must not know blocks.
 *
 *     all open spans, by push   ... ◄── outer ── span ── inner ──► ...
 *     of one thread             ... ◄── thread_outer ── span ── thread_inner ──► ...
 *     pushed without an id      ... ◄── pushed_outer ── span      one list a thread and source
 *     around it at its push     root ◄── ... ◄── parent ── span
 */
#ifndef GPUMEMTRACE_ANALYZER_REPLAY_SPANS_H
#define GPUMEMTRACE_ANALYZER_REPLAY_SPANS_H

#include "analyzer/util/pair_map.h"
#include "inferred.h"
#include "paths.h"

struct span {
    struct life life;  /* end_index INDEX_NONE: it is open */
    uint64_t ordinal;  /* how many were pushed before it */
    uint64_t range_id; /* 0: a push */
    uint32_t path;
    uint32_t parent;               /* span around it when it was pushed, HISTORY_NONE: none */
    uint32_t deciding;             /* itself or the nearest span around it whose path has a rule */
    uint32_t depth;                /* 1: outermost */
    uint32_t thread;               /* number of the thread's lists */
    struct inferred_caller caller; /* of the first allocation in it that tells the most of one */
    uint32_t references_count;     /* blocks born in it, spans inside it, and 1 while it is open */
    uint32_t outer, inner, thread_outer, thread_inner, pushed_outer;
};

struct spans {
    struct span *items;
    size_t capacity;
    struct slots slots;
    uint64_t opened_count;
    uint32_t innermost;   /* the open span that was pushed last; HISTORY_NONE: none */
    uint64_t asked_count; /* open spans of the path that was asked for */

    struct thread_spans *threads; /* heads of the lists of each thread */
    size_t thread_count, thread_capacity;
    uint32_t recent_thread_id, recent_thread; /* that was asked for last, and its lists' number */
    struct pair_map numbers; /* of threads by id, and of open ranges; see spans.c */
    bool takes_libraries;    /* ranges of libraries' NVTX domains are phases, too */
    struct paths paths;

    struct inferred inferred;
    enum inferred_phase inferred_now;
    uint32_t inferred_span; /* HISTORY_NONE: none is open */
};

/* takes_libraries, and rule_of and asked of the paths, are the caller's to set. */
int spans_init(struct spans *spans, const struct trace *trace, struct err *err);
void spans_release(struct spans *spans);

int spans_push(struct spans *spans, const struct cursor *at);
int spans_pop(struct spans *spans, const struct cursor *at);
/* Of an allocation: its stack may end the inferred phase and begin the next one; so may that an operator which autograd
 * records takes it. */
int spans_infer(struct spans *spans, const struct cursor *at, bool is_recorded);
/* After the last event: closes all, the innermost first. */
int spans_close_all(struct spans *spans, const struct cursor *at);

/* The span that the current event belongs to; HISTORY_NONE: none. */
uint32_t spans_current(struct spans *spans, const struct cursor *at);
static inline bool span_is_open(const struct span *span)
{
    return span->life.end_index == INDEX_NONE;
}

/* A block that was born in the span holds its number until it ends. HISTORY_NONE is allowed. */
void spans_hold(struct spans *spans, uint32_t span);
void spans_let_go(struct spans *spans, uint32_t span);

#endif
