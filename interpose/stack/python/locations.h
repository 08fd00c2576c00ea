/* SPDX-License-Identifier: MIT */
/*
 * From a code object and a place in it to a row of the table location: its texts in UTF-8, its
 * line, each written once. It must not know frames or threads of Python.
 */
#ifndef GPUMEMTRACE_INTERPOSE_STACK_PYTHON_LOCATIONS_H
#define GPUMEMTRACE_INTERPOSE_STACK_PYTHON_LOCATIONS_H

#include <stdbool.h>
#include <stdint.h>

#include "layout.h"
#include "interpose/recording/thread.h"

/* A new trace, in which no location is written yet. false: no memory. */
bool python_locations_setup(void);

/* location_id of this place (offset in the bytecode, bytes; below 0: before its start). One caller
 * at a time; no malloc. Ids are never given to another place. */
uint32_t python_locations_intern(struct thread *thread, const struct python_layout *layout,
                                 const void *code, int64_t offset);

#endif
