/* SPDX-License-Identifier: MIT */
/*
 * Writes names of native frames into a finished trace: the only thing the analyzer ever writes
 * there. It must not know how names are found.
 */
#ifndef GPUMEMTRACE_ANALYZER_LOAD_STORE_SYMBOLS_H
#define GPUMEMTRACE_ANALYZER_LOAD_STORE_SYMBOLS_H

#include "trace.h"

struct symbol_name { /* as a row of the table symbol, with texts */
    uint64_t address;
    uint32_t level, line;
    const char *function, *file; /* file NULL: not known */
};

/*
 * All names of the trace become these, in one transaction: after a failure or a kill the file is as
 * it was. The trace is the loaded one; it does not change.
 */
int store_symbols(const struct trace *trace, const struct symbol_name *names, size_t count,
                  struct err *err);

#endif
