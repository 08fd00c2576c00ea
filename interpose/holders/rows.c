/* SPDX-License-Identifier: MIT */
/*
 * See rows.h.
 */
#include "rows.h"

#include <stdio.h>
#include <string.h>

#include "interpose/recording/string_ids.h"
#include "interpose/stack/python/places.h"

/* Writes "first \0 second" and returns the number of bytes. */
static size_t pair(char text[RECORD_TEXT_MAX], const char *first, const char *second)
{
    const int bytes = snprintf(text, RECORD_TEXT_MAX, "%s%c%s", first, '\0', second ? second : "");
    return bytes < RECORD_TEXT_MAX ? (size_t)bytes : RECORD_TEXT_MAX - 1;
}

static uint32_t location_of(struct thread *thread, const struct holder_row *row)
{
    if (!row->function || !row->file || !python_places_ready())
        return 0;
    return python_places_add(thread, strings_intern(thread, row->function),
                             strings_intern(thread, row->file),
                             row->line > 0 ? (uint32_t)row->line : 0);
}

void rows_write_holder(struct thread *thread, struct walk_row *walk, const struct holder_row *row)
{
    char text[RECORD_TEXT_MAX];
    const size_t bytes = pair(text, row->kind, row->item);
    const struct ring_slot slot = {
        .seq = (uint64_t)walk->walk_id << 32 | ++walk->holders_count,
        .address = row->address,
        .size_bytes = row->size_bytes,
        .object = strings_intern(thread, row->chain),
        .stream = (uint64_t)row->items_count,
        .stack_id = location_of(thread, row),
        .memory = row->item != NULL,
    };
    thread_define(thread, SLOT_HOLDER, &slot, text, bytes);
}

void rows_write_walk(struct thread *thread, const struct walk_row *walk)
{
    char text[RECORD_TEXT_MAX];
    const size_t bytes = pair(text, walk->reason, walk->stopped);
    const struct ring_slot slot = {
        .seq = walk->walk_id,
        .address = walk->event_number,
        .size_bytes = walk->objects_count,
        .memory = walk->stopped != NULL,
    };
    thread_define(thread, SLOT_WALK, &slot, text, bytes);
}
