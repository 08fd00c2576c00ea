/* SPDX-License-Identifier: MIT */
/*
 * What a card holds, for NCCL's calls: bytes without gaps, with a state as simulator/values.h has it.
 * It must not know NCCL's types.
 */
#ifndef GPUMEMTRACE_SIMULATOR_STANDINS_NCCL_CONTENTS_H
#define GPUMEMTRACE_SIMULATOR_STANDINS_NCCL_CONTENTS_H

#include <stddef.h>

/* What is larger is unknown, as for copies. */
#define CONTENTS_BYTES_MAX ((size_t)1 << 20)

enum contents_state { CONTENTS_UNKNOWN, CONTENTS_GUESSED, CONTENTS_KNOWN };

struct contents {
    void *data;   /* NULL: unknown */
    size_t bytes; /* that are known, from the beginning; what is behind them is not */
    enum contents_state state;
};

/* Reads as many as are known; none if there are too many bytes, or no memory. */
struct contents contents_read(const void *address, size_t bytes);
void contents_release(struct contents *contents);
/* Writes what is behind the skipped bytes; the rest is forgotten. */
void contents_write(void *address, size_t bytes, const struct contents *contents,
                    size_t skipped_bytes);

#endif
