/* SPDX-License-Identifier: MIT */
/*
 * Names for the frames of a trace's stacks. They are the names that `resolve` wrote into the trace.
 * If there are none, they come from the ELF files and debug information on this machine. Each name
 * is looked up when it is first needed, and then cached.
 *
 * All pointers belong to the symbols and are valid until symbols_free. Not thread-safe.
 */
#pragma once

#include "analyzer/load/trace.h"
#include "gpumemtrace/limits.h"
#include "frame.h"
#include "sources.h"

/* Limit on the frames of a walk. It also ends a walk in a broken table whose frames form a ring. */
#define SYMBOLS_DEPTH_MAX LIMIT_stack_frames

struct symbols;

/* The trace must outlive the symbols. NULL: out of memory. */
struct symbols *symbols_new(const struct trace *trace, struct err *err);
void symbols_free(struct symbols *symbols);

/* Call it before the first frame is looked up; the sources must outlive the symbols. */
int symbols_set_sources(struct symbols *symbols, const struct symbol_sources *sources,
                        struct err *err);

/*
 * Walks a stack from the allocation outwards. Only frames that the walk reaches are looked up.
 *
 *     struct symbol_walk walk = symbols_walk_begin(symbols, stack_id);
 *     while ((status = symbols_walk_next(&walk, &frame, err)) > 0)
 *         …
 */
struct symbol_walk {
    struct symbols *symbols;
    uint32_t frame_id; /* next frame in the tree */
    int depth;
    size_t next, end;    /* remaining frames of the current address */
    const char *label;   /* the label that the walk returns next; NULL: none */
    bool after_signal;   /* a signal interrupted the next frame: its address is no return address */
    bool wants_no_label; /* the stack has Python frames, or had its label already */
};

struct symbol_walk symbols_walk_begin(struct symbols *symbols, uint32_t stack_id);
/* 1: *frame is filled; 0: there are no more frames; -1: out of memory. */
int symbols_walk_next(struct symbol_walk *walk, struct symbol_frame *frame, struct err *err);

/* Calls `show` for each frame of the stack. */
int symbols_walk(struct symbols *symbols, uint32_t stack_id,
                 void (*show)(void *self, const struct symbol_frame *frame), void *self,
                 struct err *err);

/* --- for writing names into the trace --- */

/* Makes files on this machine take precedence over names in the trace. */
void symbols_prefer_files(struct symbols *symbols);

/*
 * Returns the *count frames of one return address, innermost first. If a signal interrupted the
 * code at the address, pass the address + 1. *is_signal_return is set to true if a signal
 * interrupted the frame outside this address. NULL: out of memory.
 */
const struct symbol_frame *symbols_find(struct symbols *symbols, uint64_t address, size_t *count,
                                        bool *is_signal_return, struct err *err);

/* 1: the module's file is on this machine, as it was recorded; 0: it is not; -1: out of memory. */
int symbols_has_file(struct symbols *symbols, const struct trace_module *module, struct err *err);

/* "found", "missing" or "other build", for a module with frames that were looked up. */
const char *symbols_file_state(const struct symbols *symbols, const struct trace_module *module);

/* Modules of looked-up frames that were not found. */
struct symbol_gaps symbols_gaps(const struct symbols *symbols);
