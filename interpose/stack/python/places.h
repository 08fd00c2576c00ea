/* SPDX-License-Identifier: MIT */
/*
 * From a place in a living code object to its location: what was looked up is kept until the object
 * dies. It must not know frames.
 */
#ifndef GPUMEMTRACE_INTERPOSE_STACK_PYTHON_PLACES_H
#define GPUMEMTRACE_INTERPOSE_STACK_PYTHON_PLACES_H

#include <stdbool.h>
#include <stdint.h>

#include "find.h"
#include "interpose/recording/thread.h"

/* Before a trace starts, whose locations are not those of an earlier one. */
void python_places_setup(void);

/* Has its tables, from the first call on; false: no memory. */
bool python_places_ready(void);

/* Puts itself before the function that ends code objects; once, before anything is looked up. */
void python_places_watch(const struct python *python);

/* Will it be told when a code object dies? Only then may what is kept be used. */
bool python_places_watched(const struct python *python);

/* location_id, by the code's own tables. keep: under this key of code_cache.h, if it is not 0. A
 * lock, but no malloc. */
uint32_t python_places_look_up(struct thread *thread, const struct python *python, const void *code,
                               int64_t offset, uint64_t key, bool keep);

#endif
