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
 *
 * The calls of one line belong together, though each may have a stack of its own: a handler that
 * tries again by calling its own function goes one level deeper with each failure.
 */
#pragma once

#include "analyzer/replay/history/history.h"
#include "places.h"

struct caught_call {
    uint32_t place;
    uint64_t end_index;  /* the event of its failure */
    uint64_t size_bytes; /* the refused request */
};

struct caught {
    uint32_t location; /* the line that called */
    /* its calls that failed one after the other, in order; 0: no call failed */
    size_t count;
    struct caught_call calls[2 * FAILURES_AT_EACH_END];
    /* The number of tries, `last` included, each of which asked for half as much as the one before.
     * 0: the last one did not. The program has then tried a smaller batch itself. */
    size_t halved_count;
};

/* Looks at the failures of the same account before `last`. Returns -1 if there is no memory. */
int caught_find(struct caught *caught, const struct history *history, struct places *places,
                const struct failure *last, struct err *err);
