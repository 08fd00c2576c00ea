/* SPDX-License-Identifier: MIT */
/*
 * A file of weights, read from its beginning, never beyond what it may have. It must not know any format.
 */
#ifndef GPUMEMTRACE_ANALYZER_ESTIMATE_WEIGHTS_WEIGHTS_FILE_H
#define GPUMEMTRACE_ANALYZER_ESTIMATE_WEIGHTS_WEIGHTS_FILE_H

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "gpumemtrace/err.h"

struct weights_file {
    FILE *stream;
    uint64_t left_bytes; /* that were not read yet */
};

/* A regular file only, whose size is known. */
int weights_file_open(struct weights_file *file, const char *path, struct err *err);
void weights_file_close(struct weights_file *file);
/* Bytes that have to be there: "truncated". */
int weights_file_bytes(struct weights_file *file, void *buffer, size_t bytes, struct err *err);
/* Of at most 8 bytes, the lowest first. */
int weights_file_integer(struct weights_file *file, size_t bytes, uint64_t *integer,
                         struct err *err);
int weights_file_skip(struct weights_file *file, uint64_t bytes, struct err *err);
/* As json_read_callback asks: as many as there are. */
size_t weights_file_some(void *buffer, size_t bytes, void *file);

#endif
