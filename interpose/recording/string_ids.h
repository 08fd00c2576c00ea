/* SPDX-License-Identifier: MIT */
/*
 * Numbers for texts: names of phases, functions, files. A text is written to the ring before its
 * number can be used. Lock-free, no malloc, callable from a hook.
 */
#ifndef GPUMEMTRACE_INTERPOSE_RECORDING_STRING_IDS_H
#define GPUMEMTRACE_INTERPOSE_RECORDING_STRING_IDS_H

#include <stdint.h>

#include "thread.h"

/* string_id of a text (cut at RECORD_TEXT_MAX bytes); 0: NULL. */
uint32_t strings_intern(struct thread *thread, const char *text);

/* The same for the name of a phase or mark. A program may make up a new name each time, so the
 * names beyond the first STRINGS_NAME_LIMIT share one name; each use of it is counted. */
#define STRINGS_NAME_LIMIT 65536
#define STRINGS_MORE_NAMES "(more names)"
uint32_t strings_intern_name(struct thread *thread, const char *text);
void strings_setup(void);

#endif
