/* SPDX-License-Identifier: MIT */
/*
 * Writes names of native frames into a finished trace. The analyzer writes nothing else into
 * traces.
 */
#pragma once

#include "analyzer/load/trace.h"

/* A row of the table symbol, with texts in place of their ids. */
struct symbol_name {
    uint64_t address;
    uint32_t level, line;
    const char *function, *file; /* file NULL: unknown */
};

/*
 * Replaces all names in the file in one transaction. If the transaction fails or the process is
 * killed, the file is unchanged. The trace in memory does not change.
 */
int write_symbol_names(const struct trace *trace, const struct symbol_name *names, size_t count,
                       struct err *err);
