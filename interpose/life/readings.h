/* SPDX-License-Identifier: MIT */
/*
 * In a dry run: the lines of the program that read values which the dry run did not compute, as the
 * simulated driver counts them.
 */
#ifndef GPUMEMTRACE_INTERPOSE_LIFE_READINGS_H
#define GPUMEMTRACE_INTERPOSE_LIFE_READINGS_H

#include <stddef.h>

#include "trace/store.h"

/* Stores the lines whose counts changed; a line that cannot be stored is tried again next time. One
 * caller at a time. */
void readings_store(struct store *store);
/* Formats the part of the line at exit that names these lines; "": there are none. */
void readings_format(char *text, size_t text_bytes);

#endif
