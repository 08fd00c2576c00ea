/* SPDX-License-Identifier: MIT */
/*
 * Calls that ran out of memory before, and were caught: an exception that is still there holds its
 * traceback, and with it the tensors of each call in it. Which call it was is told by the place of the
 * failure and the one where its thread went on: the first call that they do not share. One of a framework's own lines went on
 * inside the framework, which holds no exception: another algorithm of a convolution, say.
 *
 *     main ─► train.py:40 attempt ─► model.py:9 forward     failed
 *          └► train.py:43 attempt                           went on: the call was train.py:40
 *
 * It must not know what is live.
 */
#ifndef GPUMEMTRACE_ANALYZER_REMEDY_CAUGHT_H
#define GPUMEMTRACE_ANALYZER_REMEDY_CAUGHT_H

#include "analyzer/replay/history/history.h"
#include "places.h"

struct caught {
    uint32_t place;                          /* the call of the last of them */
    size_t count;                            /* failures of that call; 0: there is none */
    uint64_t ends[2 * FAILURES_AT_EACH_END]; /* their events, in order */
};

/* Those of the account before that failure. -1: out of memory. */
int caught_find(struct caught *caught, const struct history *history, struct places *places,
                const struct failure *last, struct err *err);

#endif
