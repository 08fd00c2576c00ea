/* SPDX-License-Identifier: MIT */
/*
 * Which line an instruction of a code object belongs to: the three formats of its line table. Pure
 * functions of bytes. They must not know objects.
 */
#ifndef GPUMEMTRACE_INTERPOSE_STACK_PYTHON_LINES_H
#define GPUMEMTRACE_INTERPOSE_STACK_PYTHON_LINES_H

#include <stddef.h>
#include <stdint.h>

#include "layout.h"

/* offset: of the instruction in the bytecode, bytes; below 0: the code has not begun, which is its
 * first line. 0: the instruction belongs to no line. */
int python_line(enum python_lines format, const uint8_t *table, size_t table_bytes, int first_line,
                int64_t offset);

#endif
