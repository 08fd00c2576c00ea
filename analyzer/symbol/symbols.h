/* SPDX-License-Identifier: MIT */
/*
 * Names for the frames of a trace's stacks: those that `resolve` wrote into the trace, else from
 * the ELF files and debug information on this machine, looked up when first asked for, and
 * remembered. It must not know why a stack is shown.
 *
 * All pointers belong to the symbols and live as long as they do. Not thread-safe.
 */
#ifndef GPUMEMTRACE_ANALYZER_SYMBOL_SYMBOLS_H
#define GPUMEMTRACE_ANALYZER_SYMBOL_SYMBOLS_H

#include <stdbool.h>

#include "frame_role.h"
#include "analyzer/load/trace.h"

/* No recorder takes deeper stacks; it also ends the walk of a broken frame table. */
#define SYMBOLS_DEPTH_MAX 1024

struct symbol_frame {
    const char *kind;     /* python, native, inlined or label, as in the reports */
    const char *function; /* never NULL; "libfoo.so+0x1234" when nothing better is known */
    const char *file;     /* NULL: not known */
    uint32_t line;        /* 0: not known */
    const char *module;   /* path of the library or program; NULL: not native, or in none */
    enum frame_role role;
    bool is_named; /* false: function is a place */
};

struct symbols;

/* The trace must outlive the symbols. NULL: no memory. */
struct symbols *symbols_new(const struct trace *trace, struct err *err);
void symbols_free(struct symbols *symbols);

/* Where names are looked for beside the recorded paths and the system's usual places. */
struct symbol_sources {
    const char *const *debug_dirs;
    int debug_dir_count;
    bool debuginfod; /* ask the servers that DEBUGINFOD_URLS names */
};

/* To be called before the first frame is asked for; the sources must outlive the symbols. */
int symbols_set_sources(struct symbols *symbols, const struct symbol_sources *sources,
                        struct err *err);

/*
 * Walks a stack from the allocation outwards; only what is asked for is looked up.
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
    bool after_signal;   /* the next frame was interrupted: its address is no return address */
    bool wants_no_label; /* it has Python frames, or has its label already */
};

struct symbol_walk symbols_walk_begin(struct symbols *symbols, uint32_t stack_id);
/* 1: *frame is filled; 0: the stack is at its end; -1: no memory. */
int symbols_walk_next(struct symbol_walk *walk, struct symbol_frame *frame, struct err *err);

/* The whole stack at once. */
int symbols_walk(struct symbols *symbols, uint32_t stack_id,
                 void (*show)(void *self, const struct symbol_frame *frame), void *self,
                 struct err *err);

/* The module that holds a native frame's address; NULL: none. */
const struct trace_module *symbols_module(const struct trace *trace, uint64_t address);

/* --- for writing names into the trace --- */

/* From now on what the files on this machine say goes before what the trace has. */
void symbols_prefer_files(struct symbols *symbols);

/*
 * The frames of one return address, innermost first: *count of them. An address that a signal
 * interrupted is asked for as one more. *is_signal_return: the frame outside it was interrupted.
 * NULL: no memory.
 */
const struct symbol_frame *symbols_find(struct symbols *symbols, uint64_t address, size_t *count,
                                        bool *is_signal_return, struct err *err);

/* "found", "missing" or "other build": the file of a module whose frames were asked for. */
const char *symbols_file_state(const struct symbols *symbols, const struct trace_module *module);

/* --- what could not be found --- */

/* Modules whose frames were asked for and stayed without names, and the first of each sort. */
struct symbol_gaps {
    size_t missing_count, other_build_count;
    const char *missing, *other_build;
};
struct symbol_gaps symbols_gaps(const struct symbols *symbols);

#endif
