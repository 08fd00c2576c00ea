/* SPDX-License-Identifier: MIT */
/*
 * In a dry run, stores the lines of the program that read values which the dry run did not compute,
 * and the number of floats that it read. The simulated driver counts both.
 */
#pragma once

#include <stddef.h>

#include "trace/store.h"

/* Stores the counts that changed. A line that cannot be stored is tried again at the next
 * call. Only one thread may call it at a time. */
void readings_store(struct store *store);
/* Formats these lines for the recorder's message at exit. The text is "" if there are none. */
void readings_format(char *text, size_t text_bytes);
