/* SPDX-License-Identifier: MIT */
/* Storages and their holders; see loop.h. */
#include "loop.h"

#include "analyzer/util/array.h"

uint32_t storage_new(struct run *run, enum category category, uint64_t bytes)
{
    if (ARRAY_GROW(run->storages, run->storage_capacity, run->storage_count, &run->schedule->err))
        return NONE;
    run->storages[run->storage_count] =
        (struct storage){.bytes = bytes,
                         .block = schedule_alloc(run->schedule, category, bytes),
                         .category = category,
                         .holders = 1};
    return (uint32_t)run->storage_count++;
}

uint32_t workspace_new(struct run *run, const struct plan_layer *planned,
                       enum conv_direction direction)
{
    const uint64_t bytes = planned->workspace_bytes[direction];
    return bytes ? storage_new(run, CATEGORY_temporaries, bytes) : NONE;
}

void storage_hold(struct run *run, uint32_t storage)
{
    if (storage != NONE)
        run->storages[storage].holders++;
}

void storage_drop(struct run *run, uint32_t storage)
{
    if (storage == NONE || --run->storages[storage].holders > 0)
        return;
    const struct storage *dead = &run->storages[storage];
    schedule_free(run->schedule, dead->category, dead->block, dead->bytes);
}

/* Adds the storage to the list. false: nothing is added, because `storage` is NONE or memory ran
 * out (schedule->err). */
static bool add(struct run *run, uint32_t **list, size_t *capacity, size_t *count, uint32_t storage)
{
    if (storage == NONE || ARRAY_GROW(*list, *capacity, *count, &run->schedule->err))
        return false;
    (*list)[(*count)++] = storage;
    return true;
}

void storage_save(struct run *run, struct plan_layer *planned, uint32_t storage)
{
    if (!add(run, &run->saved, &run->saved_capacity, &run->saved_count, storage))
        return;
    storage_hold(run, storage);
    if (run->storages[storage].saved++ == 0)
        planned->saved_bytes += run->storages[storage].bytes;
}

static void saved_drop_one(struct run *run, size_t i)
{
    if (run->saved[i] == NONE)
        return;
    run->storages[run->saved[i]].saved--;
    storage_drop(run, run->saved[i]);
    run->saved[i] = NONE;
}

size_t saved_number(const struct plan_layer *planned)
{
    size_t count = 0;
    for (size_t i = 0; i < planned->extra.count && !planned->is_kept; i++)
        count += planned->extra.items[i].category == CATEGORY_activations;
    return count;
}

void saved_drop_number(struct run *run, const struct plan_layer *planned, size_t number)
{
    if (number < saved_number(planned))
        saved_drop_one(run, run->first_saved[planned->layer->index] + number);
}

void saved_drop(struct run *run, const struct plan_layer *planned)
{
    const size_t first = run->first_saved[planned->layer->index];
    for (size_t i = first; i < run->saved_count; i++)
        saved_drop_one(run, i);
    run->saved_count = first;
}

uint32_t storage_next(struct run *run, uint32_t storage, uint64_t bytes)
{
    const uint32_t next = storage_new(run, CATEGORY_temporaries, bytes);
    storage_drop(run, storage);
    return next;
}

void storage_keep(struct run *run, uint32_t storage)
{
    if (!add(run, &run->outside, &run->outside_capacity, &run->outside_count, storage))
        return;
    storage_hold(run, storage);
}

void kept_drop(struct run *run, size_t segment)
{
    while (run->outside_count > run->first_outside[segment])
        storage_drop(run, run->outside[--run->outside_count]);
}

void cast_hold(struct run *run, uint32_t storage)
{
    if (!add(run, &run->casts, &run->cast_capacity, &run->cast_count, storage))
        return;
    storage_hold(run, storage);
}

void casts_drop(struct run *run)
{
    while (run->cast_count > 0)
        storage_drop(run, run->casts[--run->cast_count]);
}

void caches_drop(struct run *run)
{
    while (run->cached_count > 0)
        storage_drop(run, run->cached[--run->cached_count]);
}
