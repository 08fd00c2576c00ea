/* SPDX-License-Identifier: MIT */
/*
 * Turns a place in a code object into a row of the table location: function, file and line. Each
 * text is in UTF-8 and is written only once.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "layout.h"
#include "interpose/recording/thread.h"

/* Empties the table of locations before a trace starts. false: out of memory. */
bool python_locations_setup(void);

/* The location_id of all code of the simulator itself, whose frames are not shown. */
#define PYTHON_LOCATION_HIDDEN UINT32_MAX

/* Returns the location_id of the place at this offset of the bytecode, in bytes (a negative offset
 * lies before the start of the bytecode). Only one thread may call it at a time; it calls no
 * malloc. An id is never used for another place. */
uint32_t python_locations_intern(struct thread *thread, const struct python_layout *layout,
                                 const void *code, int64_t offset);

/* The same for a line whose function and file have these string_ids. */
uint32_t python_locations_add(struct thread *thread, uint32_t function_id, uint32_t file_id,
                              uint32_t line);
