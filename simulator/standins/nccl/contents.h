/* SPDX-License-Identifier: MIT */
/*
 * Contents of a card's memory for NCCL's calls: a range of bytes with a state of
 * simulator/values.h.
 */
#pragma once

#include <stddef.h>

/* Contents of larger ranges are unknown, as in copies. */
#define CONTENTS_BYTES_MAX ((size_t)1 << 20)

enum contents_state { CONTENTS_UNKNOWN, CONTENTS_GUESSED, CONTENTS_KNOWN };

struct contents {
    void *data;   /* NULL: unknown */
    size_t bytes; /* known bytes at the beginning; the rest is unknown */
    enum contents_state state;
};

/* Reads the known bytes at the beginning; none if the range is too large or memory is out. */
struct contents contents_read(const void *address, size_t bytes);
void contents_release(struct contents *contents);
/* Writes the contents after skipped_bytes to the range; the rest of the range becomes unknown. */
void contents_write(void *address, size_t bytes, const struct contents *contents,
                    size_t skipped_bytes);
