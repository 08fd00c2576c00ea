/* SPDX-License-Identifier: MIT */
/* Reads a file of any format from its beginning, and never beyond its size. */
#pragma once

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "gpumemtrace/err.h"

struct weights_file {
    FILE *stream;
    uint64_t left_bytes; /* bytes that are not read yet */
};

/* Opens the file, which must be a regular one, because only then its size is known. */
int weights_file_open(struct weights_file *file, const char *path, struct err *err);
void weights_file_close(struct weights_file *file);
/* Reads bytes that must be there. -1: the file is truncated. */
int weights_file_bytes(struct weights_file *file, void *buffer, size_t bytes, struct err *err);
/* Reads an integer of at most 8 bytes, whose lowest byte comes first. */
int weights_file_integer(struct weights_file *file, size_t bytes, uint64_t *integer,
                         struct err *err);
int weights_file_skip(struct weights_file *file, uint64_t bytes, struct err *err);
/* A callback for json_read_callback: reads `bytes` bytes, or all that are left if they are
 * fewer. */
size_t weights_file_some(void *buffer, size_t bytes, void *file);
