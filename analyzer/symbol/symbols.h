/* SPDX-License-Identifier: MIT */
/*
 * Names for the frames of a trace's stacks: those that `resolve` wrote into the trace, else those
 * of the ELF files and debug information on this machine. Each is looked up when first asked for,
 * and remembered. It must not know why a stack is shown.
 *
 * All pointers belong to the symbols and are valid until symbols_free. Not thread-safe.
 */
#ifndef GPUMEMTRACE_ANALYZER_SYMBOL_SYMBOLS_H
#define GPUMEMTRACE_ANALYZER_SYMBOL_SYMBOLS_H

#include "analyzer/load/trace.h"
#include "gpumemtrace/limits.h"
#include "frame.h"
#include "sources.h"

/* Also ends a walk where a broken table has a ring of frames. */
#define SYMBOLS_DEPTH_MAX LIMIT_stack_frames

struct symbols;

/* The trace must outlive the symbols. NULL: out of memory. */
struct symbols *symbols_new(const struct trace *trace, struct err *err);
void symbols_free(struct symbols *symbols);

/* To be called before the first frame is asked for; the sources must outlive the symbols. */
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
    uint32_t frame_id; /* the next one in the tree */
    int depth;
    size_t next, end;    /* frames of the current address that are still to be shown */
    const char *label;   /* to be shown next */
    bool after_signal;   /* a signal interrupted the next frame: its address is no return address */
    bool wants_no_label; /* the stack has Python frames, or was given its label already */
};

struct symbol_walk symbols_walk_begin(struct symbols *symbols, uint32_t stack_id);
/* 1: *frame is filled; 0: that was the last one; -1: out of memory. */
int symbols_walk_next(struct symbol_walk *walk, struct symbol_frame *frame, struct err *err);

/* The whole stack at once. */
int symbols_walk(struct symbols *symbols, uint32_t stack_id,
                 void (*show)(void *self, const struct symbol_frame *frame), void *self,
                 struct err *err);

/* --- for writing names into the trace --- */

/* From now on the files on this machine take precedence over names in the trace. */
void symbols_prefer_files(struct symbols *symbols);

/*
 * The frames of one return address, innermost first, *count of them. For an address that a signal
 * interrupted, pass the address + 1. *is_signal_return: a signal interrupted the frame outside it.
 * NULL: out of memory.
 */
const struct symbol_frame *symbols_find(struct symbols *symbols, uint64_t address, size_t *count,
                                        bool *is_signal_return, struct err *err);

/* 1: the file of this module is here, as it was recorded; 0: it is not; -1: out of memory. */
int symbols_has_file(struct symbols *symbols, const struct trace_module *module, struct err *err);

/* "found", "missing" or "other build": the file of a module whose frames were asked for. */
const char *symbols_file_state(const struct symbols *symbols, const struct trace_module *module);

/* What was not found, of the frames that were asked for. */
struct symbol_gaps symbols_gaps(const struct symbols *symbols);

#endif
