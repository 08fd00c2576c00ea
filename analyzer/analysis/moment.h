/* SPDX-License-Identifier: MIT */
/*
 * Finds the event that a user means by --at=peak|end|TIME|SEQ|phase:NAME|oom:N, or by another
 * option that takes a moment. A moment is the state right after that event.
 */
#pragma once

#include "analyzer/replay/replay.h"

/* All forms of a moment, for help and error messages. */
#define MOMENT_WORDS "peak, end, a time (1.5s), a sequence number, phase:NAME or oom:N"

/* Sets in the plan what the replay must keep for the moment. -1: the value of `option` is wrong
 * (ERR_USAGE). */
int moment_parse(const char *option, const char *at, struct replay_plan *plan, struct err *err);

/*
 * Finds the moment for one account. If it returns 0 and the moment is INDEX_NONE, the account has
 * no such moment: nothing was ever live, or another device failed. -1: the trace has no such moment
 * (ERR_USAGE).
 *
 *   peak         where the account's live bytes reached their maximum first; the same if at is NULL
 *   end          the exit
 *   1.5s 200ms   the last event before the first event that is later than this time; the units are
 *                ns, us, ms, s and min
 *   SEQ          the last event whose sequence number is not higher
 *   phase:NAME   where the account's live bytes were highest while a phase of that name or path was
 *                open
 *   oom:N        the N-th failed allocation of the process, from 1
 */
int moment_find(const char *option, const char *at, const struct history *history, uint32_t account,
                struct moment *moment, struct err *err);
