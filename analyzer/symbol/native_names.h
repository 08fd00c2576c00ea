/* SPDX-License-Identifier: MIT */
/*
 * Names of return addresses, cached by address. They come from the trace. If the trace has none,
 * they come from the ELF file that the module was loaded from.
 */
#pragma once

#include "analyzer/load/trace.h"
#include "frame.h"
#include "sources.h"

struct native_names;

/* The trace must outlive the names. NULL: out of memory. */
struct native_names *native_names_new(const struct trace *trace, struct err *err);
void native_names_free(struct native_names *names);

/* Each of these does what the function of symbols.h with the same ending does. */
int native_names_has_file(struct native_names *names, const struct trace_module *module,
                          struct err *err);
int native_names_set_sources(struct native_names *names, const struct symbol_sources *sources,
                             struct err *err);
void native_names_prefer_files(struct native_names *names);
const char *native_names_file_state(const struct native_names *names,
                                    const struct trace_module *module);
struct symbol_gaps native_names_gaps(const struct native_names *names);

/* The frames of one address, innermost first: `count` frames from number `first` on. */
struct native_run {
    size_t first;
    uint32_t count;
    bool is_signal_return; /* a signal interrupted the frame outside it */
};
/* NULL: out of memory. Valid until the next call. */
const struct native_run *native_names_find(struct native_names *names, uint64_t address,
                                           struct err *err);
/* Valid until the next native_names_find. */
const struct symbol_frame *native_names_frame(const struct native_names *names, size_t number);
