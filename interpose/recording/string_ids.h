/* SPDX-License-Identifier: MIT */
/*
 * Numbers for texts: names of phases, functions, files. A text is written to the ring before its
 * number can be used. It must not know what the texts are. Lock-free, no malloc, callable from a
 * hook.
 */
#ifndef GPUMEMTRACE_INTERPOSE_RECORDING_STRING_IDS_H
#define GPUMEMTRACE_INTERPOSE_RECORDING_STRING_IDS_H

#include <stdint.h>

#include "thread.h"

/* string_id of a text (cut at RECORD_TEXT_MAX bytes); 0: NULL. */
uint32_t strings_intern(struct thread *thread, const char *text);
void strings_setup(void);

#endif
