/* SPDX-License-Identifier: MIT */
/* See run_names.h. */
#include "run_names.h"

#include "analyzer/load/load.h"
#include "analyzer/symbol/keep_names.h"

static void keep_names_of(void *self, const char *path)
{
    (void)self;
    struct trace trace = {0};
    struct symbols *symbols;
    struct err err;

    if (load_trace(&trace, path, &err))
        return;
    trace_close_events(&trace); /* an open reader would block the writing of names */
    symbols = symbols_new(&trace, &err);
    if (symbols)
        (void)keep_names(&trace, symbols, &err);
    symbols_free(symbols);
    trace_release(&trace);
}

void run_names_keep(const struct run_past *run)
{
    run_traces_each(run, keep_names_of, NULL);
}
