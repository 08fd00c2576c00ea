/* SPDX-License-Identifier: MIT */
/*
 * Memory for many small things that are freed together. It must not know what they are.
 */
#ifndef GPUMEMTRACE_ANALYZER_UTIL_ARENA_H
#define GPUMEMTRACE_ANALYZER_UTIL_ARENA_H

#include <stddef.h>

struct arena_chunk;

/* A zeroed arena is empty and ready for use. */
struct arena {
    struct arena_chunk *chunks; /* the current one first */
    size_t used;                /* bytes of the current chunk */
};

/* Aligned for pointers and numbers of 8 bytes; not cleared. NULL: out of memory. */
void *arena_take(struct arena *arena, size_t bytes);
void arena_release(struct arena *arena);

/* Gives back what was taken since `first`, the result of an earlier arena_take. It may stay taken
 * until arena_release if it began in another chunk. */
void arena_give_back(struct arena *arena, const void *first);

#endif
