/* SPDX-License-Identifier: MIT */
/*
 * Finds the line of an instruction in the line table of a code object. CPython has had three
 * formats of line tables.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "layout.h"

/* Returns the line of the instruction, or 0 if the instruction has no line. offset: the position of
 * the instruction in the bytecode, in bytes. A negative offset lies before the first instruction
 * and gives first_line. */
int python_line(enum python_lines format, const uint8_t *table, size_t table_bytes, int first_line,
                int64_t offset);
