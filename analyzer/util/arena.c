/* SPDX-License-Identifier: MIT */
/* Memory for many small objects; see arena.h. */
#include "arena.h"

#include <stdint.h>
#include <stdlib.h>

enum { CHUNK_BYTES = 64 << 10, ALIGNMENT = 8 };

struct arena_chunk {
    struct arena_chunk *next;
    size_t capacity;
    _Alignas(ALIGNMENT) char bytes[];
};

static struct arena_chunk *add_chunk(struct arena *arena, size_t bytes)
{
    const size_t capacity = bytes > CHUNK_BYTES ? bytes : CHUNK_BYTES;
    if (bytes > SIZE_MAX - sizeof(struct arena_chunk))
        return NULL;
    struct arena_chunk *chunk = malloc(sizeof *chunk + capacity);
    if (!chunk)
        return NULL;
    *chunk = (struct arena_chunk){.next = arena->chunks, .capacity = capacity};
    arena->chunks = chunk;
    arena->used = 0;
    return chunk;
}

void *arena_take(struct arena *arena, size_t bytes)
{
    struct arena_chunk *chunk = arena->chunks;
    if (bytes > SIZE_MAX - ALIGNMENT)
        return NULL;
    bytes = (bytes + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
    if (!chunk || bytes > chunk->capacity - arena->used)
        chunk = add_chunk(arena, bytes);
    if (!chunk)
        return NULL;
    void *taken = chunk->bytes + arena->used;
    arena->used += bytes;
    return taken;
}

void arena_give_back(struct arena *arena, const void *first)
{
    const struct arena_chunk *chunk = arena->chunks;
    const uintptr_t at = (uintptr_t)first, start = chunk ? (uintptr_t)chunk->bytes : 0;
    if (chunk && at >= start && at <= start + arena->used)
        arena->used = at - start;
}

void arena_release(struct arena *arena)
{
    while (arena->chunks) {
        struct arena_chunk *next = arena->chunks->next;
        free(arena->chunks);
        arena->chunks = next;
    }
    *arena = (struct arena){0};
}
