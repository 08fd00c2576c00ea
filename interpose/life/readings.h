/* SPDX-License-Identifier: MIT */
/*
 * In a dry run: the lines of the program that read values nobody computed, as the simulated driver
 * counts them. It must not know how values are made.
 */
#ifndef GPUMEMTRACE_INTERPOSE_LIFE_READINGS_H
#define GPUMEMTRACE_INTERPOSE_LIFE_READINGS_H

#include <stddef.h>

#include "trace/store.h"

/* Stores what is new. One caller at a time. What cannot be stored is tried again. */
void readings_store(struct store *store);
/* What the line at exit says of them; "": there were none. */
void readings_format(char *text, size_t text_bytes);

#endif
