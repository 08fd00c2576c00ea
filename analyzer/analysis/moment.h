/* SPDX-License-Identifier: MIT */
/*
 * The moment a user means by --at=peak|end|TIME|SEQ|phase:NAME|oom:N, or by another option that
 * takes a moment: which event it stands for.
 * A moment is the state right after that event.
 */
#ifndef GPUMEMTRACE_ANALYZER_ANALYSIS_MOMENT_H
#define GPUMEMTRACE_ANALYZER_ANALYSIS_MOMENT_H

#include "analyzer/replay/replay.h"

/* The moments that there are, for the help of an option and for who mistyped one. */
#define MOMENT_WORDS "peak, end, a time (1.5s), a sequence number, phase:NAME or oom:N"

/* What the replay has to keep for it. -1: what `option` was given is wrong (ERR_USAGE). */
int moment_parse(const char *option, const char *at, struct replay_plan *plan, struct err *err);

/*
 * The moment, for one account. INDEX_NONE with 0: the moment does not exist for that account (nothing
 * was ever live, another device failed). -1: the trace has no such moment (ERR_USAGE).
 *   peak         where the account's live bytes were highest first; NULL is the same
 *   end          the exit
 *   1.5s 200ms   the last event before the first one later than that; units ns us ms s min
 *   SEQ          the last event whose sequence number is not higher
 *   phase:NAME   where the account's live bytes were highest while a phase of that name or path was
 *                open
 *   oom:N        the N-th failed allocation of the process, from 1
 */
int moment_find(const char *option, const char *at, const struct history *history, uint32_t account,
                struct moment *moment, struct err *err);

#endif
