/* SPDX-License-Identifier: MIT */
/* Stores equal rows once; see shared_rows.h. */
#include "shared_rows.h"

#include <stdlib.h>

#include "analyzer/util/hash.h"

enum { FIRST_SLOTS = 64 };

static uint64_t hash_fields(const struct doc_node *field)
{
    uint64_t hash = hash_seed();
    for (; field; field = field->next) {
        hash = hash_mix(hash ^ (uintptr_t)field->key);
        hash = hash_mix(hash ^ (uint64_t)field->integer); /* the bits of the value,
                                                           * whatever its type */
    }
    return hash;
}

static bool says_same(const struct doc_node *a, const struct doc_node *b)
{
    for (; a && b; a = a->next, b = b->next)
        if (a->key != b->key || a->integer != b->integer || a->label != b->label ||
            a->words != b->words || a->level != b->level || a->unit != b->unit ||
            a->is_null != b->is_null)
            return false;
    return a == b;
}

/* Returns the slot of equal fields, or the empty slot where the fields would be stored. */
static const struct doc_node **find_slot(const struct shared_rows *rows,
                                         const struct doc_node *fields)
{
    for (size_t i = (size_t)hash_fields(fields);; i++) {
        const struct doc_node **slot = &rows->slots[i & (rows->slot_count - 1)];
        if (!*slot || says_same(*slot, fields))
            return slot;
    }
}

/* Keeps the table at most half full. */
static int grow_slots(struct shared_rows *rows)
{
    if (2 * (rows->count + 1) <= rows->slot_count)
        return 0;
    struct shared_rows larger = {.count = rows->count};
    larger.slot_count = rows->slot_count ? 2 * rows->slot_count : FIRST_SLOTS;
    larger.slots = calloc(larger.slot_count, sizeof *larger.slots);
    if (!larger.slots)
        return -1;
    for (size_t i = 0; i < rows->slot_count; i++)
        if (rows->slots[i])
            *find_slot(&larger, rows->slots[i]) = rows->slots[i];
    free(rows->slots);
    *rows = larger;
    return 0;
}

const struct doc_node *shared_rows_find(struct shared_rows *rows, const struct doc_node *fields)
{
    if (grow_slots(rows))
        return NULL;
    const struct doc_node **slot = find_slot(rows, fields);
    if (!*slot) {
        *slot = fields;
        rows->count++;
    }
    return *slot;
}

void shared_rows_release(struct shared_rows *rows)
{
    free(rows->slots);
    *rows = (struct shared_rows){0};
}
