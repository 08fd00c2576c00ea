/* SPDX-License-Identifier: MIT */
/*
 * The names of every native frame of a trace, as rows for the table symbol, and a count of what was
 * found. It must not write them.
 */
#ifndef GPUMEMTRACE_ANALYZER_SYMBOL_ALL_NAMES_H
#define GPUMEMTRACE_ANALYZER_SYMBOL_ALL_NAMES_H

#include "symbols.h"
#include "analyzer/load/store_symbols.h"

/* Places (different addresses in stacks) by what is known of them. */
struct name_counts {
    uint64_t with_line, with_function, without_name;
};

struct all_names {
    struct symbol_name *items; /* texts belong to the symbols and the trace */
    size_t count, capacity;
    struct name_counts total, *by_module; /* as trace->modules */
};

int all_names_collect(struct all_names *names, const struct trace *trace, struct symbols *symbols,
                      struct err *err);
void all_names_release(struct all_names *names);

#endif
