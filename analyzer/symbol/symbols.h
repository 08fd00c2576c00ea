/* SPDX-License-Identifier: MIT */
/*
 * Names for the frames of a trace's stacks. Native addresses are looked up in the ELF files and
 * debug information on this machine, when first asked for, and remembered. It must not know why a
 * stack is shown.
 *
 * All pointers belong to the symbols and live as long as they do. Not thread-safe.
 */
#ifndef GPUMEMTRACE_SYMBOL_SYMBOLS_H
#define GPUMEMTRACE_SYMBOL_SYMBOLS_H

#include <stdbool.h>

#include "trace/trace.h"

/* No recorder takes deeper stacks; it also ends the walk of a broken frame table. */
#define SYMBOLS_DEPTH_MAX 1024

struct symbol_frame {
    const char *kind;     /* python, native, inlined or label, as in the reports */
    const char *function; /* never NULL; "libfoo.so+0x1234" when nothing better is known */
    const char *file;     /* NULL: not known */
    uint32_t line;        /* 0: not known */
    const char *module;   /* path of the ELF file; NULL for other kinds and when not known */
};

struct symbols;

/* The trace must outlive the symbols. NULL: no memory. */
struct symbols *symbols_new(const struct trace *trace, struct err *err);
void symbols_free(struct symbols *symbols);

/* Shows the frames of a stack from the allocation outwards. */
int symbols_walk(struct symbols *symbols, uint32_t stack_id,
                 void (*show)(void *self, const struct symbol_frame *frame), void *self,
                 struct err *err);

/* The module that holds a native frame's address; NULL: none. */
const struct trace_module *symbols_module(const struct trace *trace, uint64_t address);

#endif
