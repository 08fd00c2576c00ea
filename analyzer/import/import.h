/* SPDX-License-Identifier: MIT */
/*
 * A file of another tool as a trace. It must not know options.
 *
 *     import_open → import_write → import_close
 */
#ifndef GPUMEMTRACE_ANALYZER_IMPORT_IMPORT_H
#define GPUMEMTRACE_ANALYZER_IMPORT_IMPORT_H

#include "source.h"

struct import_format {
    const char *name; /* as in --from= */
    int (*import)(const struct import_source *source, struct draft *draft, struct err *err);
    bool (*recognizes)(const struct import_source *source);
};

struct import {
    struct import_source source;
    const struct import_format *format;
    uint64_t event_count; /* after import_write */
};

/* "torch-snapshot|…": the names, as an option's argument; and the same with what each is. */
extern const char *const import_names;
extern const char *const import_summaries;

/* Reads the file. name NULL: its content tells the format. -1: nothing is to be closed. */
int import_open(struct import *import, const char *path, const char *name, struct err *err);
/* Makes the trace, which replaces what stood at `output` when it is whole. */
int import_write(struct import *import, const char *output, struct err *err);
void import_close(struct import *import);

#endif
