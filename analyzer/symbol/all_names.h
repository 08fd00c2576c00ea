/* SPDX-License-Identifier: MIT */
/*
 * The names of all native frames of a trace, as rows for the table symbol, and counts of the names
 * that were found.
 */
#pragma once

#include "symbols.h"
#include "write_names.h"

/* Numbers of different addresses in stacks, by the parts of their names that are known. */
struct name_counts {
    uint64_t with_line, with_function, without_name;
};

struct all_names {
    struct symbol_name *items; /* texts belong to symbols and trace */
    size_t count, capacity;
    struct name_counts total, *by_module; /* by_module is in the order of trace->modules */
};

int all_names_collect(struct all_names *names, const struct trace *trace, struct symbols *symbols,
                      struct err *err);
void all_names_release(struct all_names *names);
