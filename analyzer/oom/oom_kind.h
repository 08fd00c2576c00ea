/* SPDX-License-Identifier: MIT */
/*
 * Decides what a failed allocation did to the program.
 *
 *   caught    the program went on: the thread that failed allocated again or tried to, or other
 *             threads did this a hundred times. If autograd's thread failed, any thread counts,
 *             because autograd passes its exception to another thread. Also caught: nothing
 *             followed, and the program ended with status 0
 *   fatal     only frees followed, and the program ended with another status, or it was aborted or
 *             killed and did not exit
 *   unknown   nothing followed, and the trace does not say how the program ended
 *
 * A request that was refused and then served after a flush is a retry, not a failure (refusals.h).
 */
#pragma once

#include "analyzer/replay/history/history.h"

enum oom_kind { OOM_KIND_UNKNOWN, OOM_KIND_CAUGHT, OOM_KIND_FATAL };

enum oom_kind oom_kind_of(const struct history *history, const struct failure *failure);

const char *oom_kind_name(enum oom_kind kind);
/* oom_kind_reason returns the rule that decided, for example "the program went on allocating". Its
 * buffer has OOM_KIND_TEXT_BYTES. */
enum { OOM_KIND_TEXT_BYTES = 128 };
const char *oom_kind_reason(const struct history *history, const struct failure *failure,
                            char *buffer);
