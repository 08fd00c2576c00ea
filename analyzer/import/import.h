/* SPDX-License-Identifier: MIT */
/*
 * Turns a file of another tool into a trace.
 *
 *     import_open → import_write → import_close
 */
#pragma once

#include "source.h"

struct import_format {
    const char *name;    /* as in --from= */
    const char *summary; /* the program that writes it */
    int (*import)(const struct import_source *source, struct draft *draft, struct err *err);
    bool (*recognizes)(const struct import_source *source);
};

struct import {
    struct import_source source;
    const struct import_format *format;
    uint64_t event_count; /* set by import_write */
};

/* The names of all formats, as an option's argument is shown ("torch-snapshot|…"); and the names
 * with a description of each format. */
extern const char *const import_names;
extern const char *const import_summaries;

/* Reads the file. If name is NULL, the format is recognized by the content. After -1,
 * import_close is not needed. */
int import_open(struct import *import, const char *path, const char *name, struct err *err);
/* Writes the trace to a temporary file and renames it to `output` when it is complete. */
int import_write(struct import *import, const char *output, struct err *err);
void import_close(struct import *import);

/* Returns the format of a file that is not a trace, by its beginning. NULL: no format is known, or
 * the file cannot be read. */
const struct import_format *import_recognize(const char *path);
