/* SPDX-License-Identifier: MIT */
/*
 * What a return address in a process stands for, remembered by address: names that the trace has,
 * or those of the ELF file its module was loaded from. It must not know stacks.
 */
#ifndef GPUMEMTRACE_ANALYZER_SYMBOL_NATIVE_NAMES_H
#define GPUMEMTRACE_ANALYZER_SYMBOL_NATIVE_NAMES_H

#include "symbols.h"

struct native_names;

/* The trace must outlive the names. NULL: no memory. */
struct native_names *native_names_new(const struct trace *trace, struct err *err);
void native_names_free(struct native_names *names);

/* These are symbols_set_sources, symbols_prefer_files, symbols_file_state and symbols_gaps. */
int native_names_set_sources(struct native_names *names, const struct symbol_sources *sources,
                             struct err *err);
void native_names_prefer_files(struct native_names *names);
const char *native_names_file_state(const struct native_names *names,
                                    const struct trace_module *module);
struct symbol_gaps native_names_gaps(const struct native_names *names);

/* The frames of one address: count of them from number first on, innermost first. */
struct native_run {
    size_t first;
    uint32_t count;
    bool is_signal_return; /* the frame outside it was interrupted by a signal */
};
/* NULL: no memory. Valid until the next call. */
const struct native_run *native_names_find(struct native_names *names, uint64_t address,
                                           struct err *err);
/* Valid until the next native_names_find. */
const struct symbol_frame *native_names_frame(const struct native_names *names, size_t number);

#endif
