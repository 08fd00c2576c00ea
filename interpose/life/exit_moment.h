/* SPDX-License-Identifier: MIT */
/*
 * The moment that counts as exit, as an event in the trace: leaks are what is live then. It must
 * not know how a process ends.
 */
#ifndef GPUMEMTRACE_INTERPOSE_LIFE_EXIT_MOMENT_H
#define GPUMEMTRACE_INTERPOSE_LIFE_EXIT_MOMENT_H

#include "gpumemtrace/event.h"

/* Only the first call writes the event, and only in the process that records. */
void exit_moment_mark(enum exit_reason reason);
/* Takes it back if the last reason was this one: the exec failed. */
void exit_moment_undo(enum exit_reason reason);
/* There was none yet: this is a fork's child. */
void exit_moment_forget(void);

#endif
