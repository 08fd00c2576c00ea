/* SPDX-License-Identifier: MIT */
/*
 * Gives numbers to texts, such as the names of phases, functions and files. A text is written to
 * the ring before its number can be used. Lock-free, no malloc, callable from a hook.
 */
#pragma once

#include <stdint.h>

#include "thread.h"

/* Returns the string_id of a text, which is cut at RECORD_TEXT_MAX bytes. Returns 0 for NULL. */
uint32_t strings_intern(struct thread *thread, const char *text);

/* Returns the string_id of the name of a phase or mark. A program may use a new name each time. So
 * all names after the first STRINGS_NAME_LIMIT names share one name, and each use of that name is
 * counted. */
#define STRINGS_NAME_LIMIT 65536
#define STRINGS_MORE_NAMES "(more names)"
uint32_t strings_intern_name(struct thread *thread, const char *text);
void strings_setup(void);
