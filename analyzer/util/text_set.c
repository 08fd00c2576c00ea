/* SPDX-License-Identifier: MIT */
/* A set of texts; see text_set.h. */
#include "text_set.h"

#include <stdlib.h>
#include <string.h>

#include "array.h"
#include "hash.h"

enum { FIRST_SLOTS = 64 };

/* Returns the slot of the text, or the empty slot where the text would be stored. */
static uint32_t *find_slot(const struct text_set *set, const char *text, size_t length)
{
    size_t i = (size_t)hash_bytes(text, length, hash_seed());
    for (;; i++) {
        uint32_t *slot = &set->slots[i & (set->slot_count - 1)];
        if (!*slot || !strcmp(set->texts[*slot - 1], text))
            return slot;
    }
}

/* Grows the table if it would be more than half full. */
static int grow_slots(struct text_set *set, struct err *err)
{
    if (2 * (set->count + 1) <= set->slot_count)
        return 0;
    struct text_set larger = *set;
    larger.slot_count = set->slot_count ? 2 * set->slot_count : FIRST_SLOTS;
    larger.slots = array_new(larger.slot_count, sizeof *larger.slots, err);
    if (!larger.slots)
        return -1;
    for (size_t i = 0; i < set->count; i++)
        *find_slot(&larger, set->texts[i], strlen(set->texts[i])) = (uint32_t)i + 1;
    free(set->slots);
    *set = larger;
    return 0;
}

uint32_t text_set_add(struct text_set *set, const char *text, struct err *err)
{
    const size_t length = strlen(text);
    if (grow_slots(set, err))
        return TEXT_SET_NONE;
    uint32_t *slot = find_slot(set, text, length);
    if (*slot)
        return *slot - 1;
    if (ARRAY_GROW(set->texts, set->capacity, set->count, err))
        return TEXT_SET_NONE;
    char *copy = set->count < TEXT_SET_NONE - 1 ? arena_take(&set->bytes, length + 1) : NULL;
    if (!copy) {
        err_set(err, ERR_SYSTEM, "out of memory for text %zu", set->count);
        return TEXT_SET_NONE;
    }
    set->texts[set->count++] = memcpy(copy, text, length + 1);
    *slot = (uint32_t)set->count;
    return *slot - 1;
}

void text_set_release(struct text_set *set)
{
    free(set->texts);
    free(set->slots);
    arena_release(&set->bytes);
    *set = (struct text_set){0};
}
