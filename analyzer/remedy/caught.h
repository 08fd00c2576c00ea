/* SPDX-License-Identifier: MIT */
/*
 * Finds calls that ran out of memory earlier and whose exception was caught. An exception that is
 * still referenced holds its traceback, and with it the tensors of each frame. The failed call is
 * the outermost frame of the failure's stack that is missing from the thread's next stack. A call
 * on a framework's own line does not count. In that case the framework caught the exception itself,
 * for example to try another algorithm of a convolution, and holds no exception.
 *
 *     main ─► train.py:40 attempt ─► model.py:9 forward     failed
 *          └► train.py:43 attempt                           went on: the call was train.py:40
 */
#ifndef GPUMEMTRACE_ANALYZER_REMEDY_CAUGHT_H
#define GPUMEMTRACE_ANALYZER_REMEDY_CAUGHT_H

#include "analyzer/replay/history/history.h"
#include "places.h"

struct caught {
    uint32_t place; /* the place of the call that failed last */
    /* the number of its consecutive failures; 0: no call failed */
    size_t count;
    /* events of the first and the last of these failures, in order */
    uint64_t ends[2 * FAILURES_AT_EACH_END];
};

/* Looks at the failures of the same account before `last`. Returns -1 if there is no memory. */
int caught_find(struct caught *caught, const struct history *history, struct places *places,
                const struct failure *last, struct err *err);

#endif
