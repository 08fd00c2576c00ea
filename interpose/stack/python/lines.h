/* SPDX-License-Identifier: MIT */
/*
 * Finds the line of an instruction in the line table of a code object. CPython has had three
 * formats of line tables.
 */
#ifndef GPUMEMTRACE_INTERPOSE_STACK_PYTHON_LINES_H
#define GPUMEMTRACE_INTERPOSE_STACK_PYTHON_LINES_H

#include <stddef.h>
#include <stdint.h>

#include "layout.h"

/* offset: of the instruction in the bytecode, in bytes; a negative one, before the first
 * instruction, gives first_line. Returns 0 if the instruction has no line. */
int python_line(enum python_lines format, const uint8_t *table, size_t table_bytes, int first_line,
                int64_t offset);

#endif
