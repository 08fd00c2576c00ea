/* SPDX-License-Identifier: MIT */
/*
 * The phases that are open while replaying, and the one that an event belongs to: the innermost of
 * its own thread, else the one most recently opened in the process. It must not know memory.
 */
#ifndef GPUMEMTRACE_ANALYZER_REPLAY_SPANS_H
#define GPUMEMTRACE_ANALYZER_REPLAY_SPANS_H

#include "analyzer/util/address_map.h"
#include "cursor.h"
#include "inferred.h"

/*
 * Two lists link the open spans, one of the process and one of each thread. A phase inferred from
 * stacks is in neither: at most one is open, and it has the events that no named phase has.
 */
struct spans {
    struct address_map numbers; /* of threads, ranges and paths; see spans.c */
    struct open_span *open;     /* by span */
    size_t open_capacity;
    uint32_t innermost;         /* span most recently opened in the process and still open */
    uint32_t *thread_innermost; /* by thread number */
    size_t thread_count, thread_capacity;
    struct inferred inferred;
    enum inferred_phase inferred_now;
    uint32_t inferred_span; /* HISTORY_NONE: nothing is inferred yet */
};

int spans_init(struct spans *spans, const struct trace *trace, struct err *err);
void spans_release(struct spans *spans);

int spans_push(struct spans *spans, const struct cursor *at);
int spans_pop(struct spans *spans, const struct cursor *at);
/* To be called before an allocation is replayed: its stack may say that another phase begins. */
int spans_infer(struct spans *spans, const struct cursor *at);
/* The span that the current event belongs to; HISTORY_NONE: outside any. */
uint32_t spans_current(const struct spans *spans, const struct cursor *at);

#endif
