/* SPDX-License-Identifier: MIT */
/*
 * What a failed allocation did to the program. It must not know why it failed.
 *
 *   caught    the program went on: the thread that failed allocated again or tried to, or other
 *             threads did a hundred times; any thread's counts where autograd's thread failed, as it
 *             hands its exception over. Or nothing of that, and the program ended with status 0
 *   fatal     nothing but frees came after it, and the program ended with another status, or
 *             without an exit: it was aborted or killed
 *   unknown   nothing came after it, and the trace does not say how the program ended
 *
 * A refusal that was answered by a flush and then served is a retry, and no failure (refusals.h).
 */
#ifndef GPUMEMTRACE_ANALYZER_OOM_OOM_KIND_H
#define GPUMEMTRACE_ANALYZER_OOM_OOM_KIND_H

#include "analyzer/replay/history/history.h"

enum oom_kind { OOM_KIND_UNKNOWN, OOM_KIND_CAUGHT, OOM_KIND_FATAL };

enum oom_kind oom_kind_of(const struct history *history, const struct failure *failure);

/* "caught". */
const char *oom_kind_name(enum oom_kind kind);
/* The rule that decided: "the program went on allocating". buffer holds OOM_KIND_TEXT_BYTES. */
enum { OOM_KIND_TEXT_BYTES = 128 };
const char *oom_kind_reason(const struct history *history, const struct failure *failure,
                            char *buffer);

#endif
