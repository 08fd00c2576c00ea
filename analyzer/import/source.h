/* SPDX-License-Identifier: MIT */
/* A file to import, and the reader of a format. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "gpumemtrace/err.h"

struct draft;

/* Holds the whole file; for a database only the beginning. The bytes are not trusted. */
struct import_source {
    const char *path; /* as given */
    uint64_t process; /* which process to take from the file; 0: the file holds one */
    unsigned char *bytes;
    size_t length;
};

static inline bool import_is_database(const struct import_source *source)
{
    static const char magic[] = "SQLite format 3";
    return source->length >= sizeof magic && !memcmp(source->bytes, magic, sizeof magic);
}

#define IMPORT(name, function, summary)                                                            \
    int import_##function(const struct import_source *source, struct draft *draft,                 \
                          struct err *err);                                                        \
    bool import_is_##function(const struct import_source *source);
#include "imports.def"
