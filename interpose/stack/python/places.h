/* SPDX-License-Identifier: MIT */
/*
 * Finds the location of a place in a living code object, and remembers the location until the
 * object dies.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "find.h"
#include "interpose/recording/thread.h"

/* Forgets all locations. Call it before a trace starts. */
void python_places_setup(void);

/* Makes the tables at the first call. false: out of memory. */
bool python_places_ready(void);

/* Replaces the function that frees code objects by a function that first forgets the places of the
 * object and then calls the original function. Call it once, before any lookup. */
void python_places_watch(const struct python *python);

/* Is our function still called when a code object dies? Only then are remembered locations
 * valid. */
bool python_places_watched(const struct python *python);

/* Returns the location_id of a place, which is read from the tables of the code object. keep:
 * remember the location_id under this key of code_cache.h, unless the key is 0. Takes a lock; calls
 * no malloc. */
uint32_t python_places_look_up(struct thread *thread, const struct python *python, const void *code,
                               int64_t offset, uint64_t key, bool keep);

/* Returns the location_id of a line whose function and file have these string_ids. Call it only
 * after python_places_ready has returned true. Takes a lock; calls no malloc. */
uint32_t python_places_add(struct thread *thread, uint32_t function_id, uint32_t file_id,
                           uint32_t line);
