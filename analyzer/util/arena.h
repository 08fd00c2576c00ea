/* SPDX-License-Identifier: MIT */
/* An arena: memory for many small objects that are freed together. */
#pragma once

#include <stddef.h>

struct arena_chunk;

/* A zeroed arena is empty and ready for use. */
struct arena {
    struct arena_chunk *chunks; /* current chunk first */
    size_t used;                /* bytes of the current chunk */
};

/* Returns memory aligned for pointers and 8-byte numbers, not cleared. NULL: out of memory. */
void *arena_take(struct arena *arena, size_t bytes);
void arena_release(struct arena *arena);

/*
 * Gives back everything taken since `first`, the result of an earlier arena_take. If `first` lies
 * in an older chunk, the memory may stay until arena_release.
 */
void arena_give_back(struct arena *arena, const void *first);
