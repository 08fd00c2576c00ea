/* SPDX-License-Identifier: MIT */
/* The recorded run's own allocator; see recorded.h. */
#include "recorded.h"

#include <stdlib.h>

#include "analyzer/util/array.h"

/* --- blocks of the driver --- */

void driver_blocks_release(struct driver_blocks *driver_blocks)
{
    pair_map_release(&driver_blocks->by_address);
    slots_release(&driver_blocks->slots);
    free(driver_blocks->items);
}

struct driver_block *driver_blocks_at(const struct driver_blocks *driver_blocks, uint64_t address)
{
    const uint32_t number = pair_map_get(&driver_blocks->by_address, 0, address);
    return number == PAIR_MAP_NONE ? NULL : &driver_blocks->items[number];
}

void driver_blocks_remove(struct driver_blocks *driver_blocks, uint64_t address)
{
    const uint32_t number = pair_map_remove(&driver_blocks->by_address, 0, address);
    if (number != PAIR_MAP_NONE)
        slots_give_back(&driver_blocks->slots, number);
}

int driver_blocks_add(struct driver_blocks *driver_blocks, const struct event *event,
                      bool is_mapped, struct err *err)
{
    driver_blocks_remove(driver_blocks, event->address);
    const uint32_t number = slots_take(&driver_blocks->slots, err);
    if (number == SLOT_NONE)
        return -1;
    if (ARRAY_GROW(driver_blocks->items, driver_blocks->capacity, number, err))
        return -1;
    driver_blocks->items[number] = (struct driver_block){.address = event->address,
                                                         .bytes = event->size_bytes,
                                                         .block = ALLOCATOR_NONE,
                                                         .is_mapped = is_mapped};
    return pair_map_put(&driver_blocks->by_address, 0, event->address, number, err);
}

/* --- the driver's answers --- */

static bool take_driver_block(void *self, uint64_t bytes, uint64_t *address)
{
    struct recorded *recorded = self;
    struct driver_block *driver_block =
        driver_blocks_at(recorded->driver_blocks, recorded->wanted_address);
    if (!driver_block || driver_block->is_used || driver_block->is_mapped ||
        driver_block->bytes != bytes)
        return false;
    driver_block->is_used = true;
    driver_block->device = recorded->device;
    *address = driver_block->address;
    return true;
}

static bool take_range(void *self, uint64_t wanted_bytes, uint64_t *address, uint64_t *bytes)
{
    struct recorded *recorded = self;
    struct driver_blocks *driver_blocks = recorded->driver_blocks;
    (void)wanted_bytes; /* a guess from the card's size; the recording has the exact size */
    if (!driver_blocks->range_bytes || driver_blocks->range_address != recorded->wanted_address)
        return false;
    *address = driver_blocks->range_address;
    *bytes = driver_blocks->range_bytes;
    driver_blocks->range_bytes = 0;
    return true;
}

/* Checks that unused mappings fill the range exactly. If `really` is set, also marks them as used.
 * False: they do not fill it. */
static bool use_mapped(const struct recorded *recorded, uint64_t address, uint64_t bytes,
                       bool really)
{
    while (bytes) {
        struct driver_block *driver_block = driver_blocks_at(recorded->driver_blocks, address);

        if (!driver_block || driver_block->is_used || !driver_block->is_mapped ||
            driver_block->bytes > bytes)
            return false;
        driver_block->is_used = really;
        driver_block->device = recorded->device;
        address += driver_block->bytes;
        bytes -= driver_block->bytes;
    }
    return true;
}

static bool map_driver_blocks(void *self, uint64_t address, uint64_t bytes)
{
    return use_mapped(self, address, bytes, false) && use_mapped(self, address, bytes, true);
}

/* Notes the mappings that the model gives back, because the trace must show that they went back.
 * Plain segments need no note: the model gives them back when the trace shows that they went. */
static void give_driver_blocks(void *self, uint64_t address, uint64_t bytes)
{
    struct recorded *recorded = self;
    while (recorded->is_emptying && bytes) {
        struct driver_block *driver_block = driver_blocks_at(recorded->driver_blocks, address);

        if (!driver_block || driver_block->bytes > bytes)
            return;
        driver_block->is_given = true;
        recorded->given_bytes += driver_block->bytes;
        address += driver_block->bytes;
        bytes -= driver_block->bytes;
    }
}

void recorded_init(struct recorded *recorded, int device, struct driver_blocks *driver_blocks,
                   const struct allocator_settings *settings)
{
    *recorded = (struct recorded){.device = device,
                                  .driver = {.self = recorded,
                                             .take = take_driver_block,
                                             .reserve = take_range,
                                             .map = map_driver_blocks,
                                             .give = give_driver_blocks},
                                  .driver_blocks = driver_blocks};
    allocator_init(&recorded->allocator, settings);
    recorded->allocator.driver = &recorded->driver;
}

void recorded_release(struct recorded *recorded)
{
    allocator_release(&recorded->allocator);
}

/* --- where it differs --- */

static void differ(struct recorded *recorded, const struct event *event,
                   const struct difference *found)
{
    if (recorded->difference.kind != DIFFERENCE_NONE)
        return;
    recorded->difference = *found;
    recorded->difference.seq = event->seq;
}

static void compare_block(struct recorded *recorded, const struct event *event, uint32_t number,
                          enum allocator_outcome outcome)
{
    struct difference found = {.size_bytes = event->size_bytes, .address = event->address};
    if (number == ALLOCATOR_NONE || outcome == ALLOCATOR_RETRIED) {
        found.kind = DIFFERENCE_NO_BLOCK;
        differ(recorded, event, &found);
        return;
    }
    const struct allocator_block *block = &recorded->allocator.blocks[number];
    if (block->address != event->address) {
        found.kind = DIFFERENCE_OTHER;
        found.other = block->address;
        differ(recorded, event, &found);
    } else if (block->bytes != event->size_bytes) {
        found.kind = DIFFERENCE_SIZE;
        found.other = block->bytes;
        differ(recorded, event, &found);
    }
}

/* Checks that all memory which the model gave back has gone back in the recording by now. */
static void end_emptying(struct recorded *recorded, const struct event *event)
{
    const struct difference kept = {.kind = DIFFERENCE_KEPT, .size_bytes = recorded->given_bytes};
    if (recorded->is_emptying && recorded->given_bytes)
        differ(recorded, event, &kept);
    recorded->is_emptying = false;
    recorded->given_bytes = 0;
}

static void check_refusal(struct recorded *recorded, const struct event *event,
                          const struct allocator_request *request)
{
    const struct allocator *allocator = &recorded->allocator;
    const uint32_t found = allocator_find(allocator, request);
    const struct difference kept = {.kind = DIFFERENCE_KEPT,
                                    .size_bytes = allocator_cached_bytes(allocator)};
    /* PyTorch gives back all that it can before it reports a failure, but not during a capture. */
    if (found == ALLOCATOR_NONE && kept.size_bytes && !request->is_capturing)
        differ(recorded, event, &kept);
    if (found == ALLOCATOR_NONE)
        return;
    const struct difference refused = {.kind = DIFFERENCE_REFUSED,
                                       .size_bytes = event->size_bytes,
                                       .other = allocator->blocks[found].address};
    differ(recorded, event, &refused);
}

static bool finds(const struct allocator *allocator, const struct allocator_request *request,
                  uint64_t address)
{
    const uint32_t found = allocator_find(allocator, request);
    return found != ALLOCATOR_NONE && allocator->blocks[found].address == address;
}

bool recorded_shows_order(struct recorded *recorded, const struct event *event,
                          const struct allocator_request *request)
{
    struct allocator *allocator = &recorded->allocator;
    const bool thought = allocator->settings.prefers_oldest;
    if (event->result != 0 || recorded->knows_order ||
        allocator_find(allocator, request) == ALLOCATOR_NONE ||
        finds(allocator, request, event->address))
        return false;
    allocator_prefer_oldest(allocator, !thought);
    recorded->knows_order = finds(allocator, request, event->address);
    if (!recorded->knows_order)
        allocator_prefer_oldest(allocator, thought);
    return recorded->knows_order;
}

/* --- events --- */

int recorded_alloc(struct recorded *recorded, const struct event *event,
                   const struct allocator_request *request, uint32_t *block, struct err *err)
{
    struct allocator *allocator = &recorded->allocator;
    enum allocator_outcome outcome;
    *block = ALLOCATOR_NONE;
    end_emptying(recorded, event);
    recorded->wanted_address = event->address;
    if (event->result != 0) {
        check_refusal(recorded, event, request);
        if (!allocator->settings.expandable_segments)
            return 0;
        recorded->wanted_address =
            /* the range was reserved before the refusal, and still exists */
            recorded->driver_blocks->range_address;
    }
    if (allocator_alloc(allocator, request, block, &outcome, err))
        return -1;
    if (event->result != 0)
        return 0;
    compare_block(recorded, event, *block, outcome);
    struct driver_block *driver_block = driver_blocks_at(recorded->driver_blocks, event->address);
    if (outcome == ALLOCATOR_GREW && driver_block && !driver_block->is_mapped)
        driver_block->block = *block;
    return 0;
}

int recorded_free(struct recorded *recorded, const struct event *event, uint32_t block,
                  struct err *err)
{
    end_emptying(recorded, event);
    return allocator_free(&recorded->allocator, block, err);
}

int recorded_give_back(struct recorded *recorded, const struct event *event,
                       struct driver_block *driver_block, struct err *err)
{
    struct allocator *allocator = &recorded->allocator;
    const struct difference live = {.kind = DIFFERENCE_GAVE_BACK,
                                    .size_bytes = driver_block->bytes,
                                    .address = driver_block->address};
    if (!driver_block->is_mapped) {
        if (driver_block->block == ALLOCATOR_NONE ||
            !allocator_forget_segment(allocator, driver_block->block))
            differ(recorded, event, &live);
        return 0;
    }
    if (!recorded->is_emptying) {
        recorded->is_emptying = true;
        if (allocator_empty_cache(allocator, err))
            return -1;
    }
    if (driver_block->is_given)
        recorded->given_bytes -= driver_block->bytes;
    else
        differ(recorded, event, &live);
    return 0;
}
