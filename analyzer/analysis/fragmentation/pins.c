/* SPDX-License-Identifier: MIT */
/* Blocks that pin a pool's free memory; see pins.h. */
#include "pins.h"

#include <stdlib.h>

#include "analyzer/util/pair_map.h"
#include "analyzer/util/array.h"

/* --- by call stack, or by line --- */

struct pinning {
    struct pin_list *pins;
    const struct segment_list *segments;
    const struct blame *blame; /* NULL: by call stack */
    struct pair_map numbers;   /* number of a pin, by stack or row */
    struct err *err;
};

static struct pin *find_pin(struct pinning *pinning, const struct block *block)
{
    const uint32_t stack_id = site_stack(block->site_id);
    const uint32_t key = pinning->blame ? blame_of(pinning->blame, stack_id)->row : stack_id;
    struct pair_map *numbers = &pinning->numbers;
    struct pin_list *pins = pinning->pins;
    struct err *err = pinning->err;
    uint32_t number = pair_map_get(numbers, 0, key);
    if (number != PAIR_MAP_NONE)
        return &pins->items[number];
    if (ARRAY_GROW(pins->items, pins->capacity, pins->count, err))
        return NULL;
    number = (uint32_t)pins->count++;
    pins->items[number] = (struct pin){.stack_id = stack_id, .backward = block->backward};
    return pair_map_put(numbers, 0, key, number, err) ? NULL : &pins->items[number];
}

static int add_segment(struct pinning *pinning, size_t number)
{
    const struct segment_list *segments = pinning->segments;
    const struct pool_segment *segment = &segments->items[number];
    const uint64_t free_bytes = segment->free_bytes;
    const struct block *const *blocks = &segments->blocks[segment->first_block];
    size_t pin_count = 0;

    if (!free_bytes || segment->is_of_graph)
        return 0;
    for (size_t i = 0; i < segment->block_count; i++) {
        struct pin *pin = find_pin(pinning, blocks[i]);

        if (!pin)
            return -1;
        pin->block_count++;
        pin->block_bytes += blocks[i]->size_bytes;
        if (pin->last_segment == number + 1)
            continue;
        pin->last_segment = number + 1;
        pin->segment_count++;
        pin->pinned_bytes += free_bytes;
        pin_count++;
    }
    if (pin_count == 1)
        find_pin(pinning, blocks[0])->alone_bytes += free_bytes;
    return 0;
}

ORDER_BY(compare_pins, struct pin, FALLING(alone_bytes), FALLING(pinned_bytes), RISING(stack_id));

static int find_pins(struct pin_list *pins, const struct segment_list *segments,
                     const struct blame *blame, struct err *err)
{
    struct pinning pinning = {pins, segments, blame, .err = err};
    int status = 0;
    for (size_t i = 0; i < segments->count && !status; i++)
        status = add_segment(&pinning, i);
    pair_map_release(&pinning.numbers);
    SORT(pins->items, pins->count, compare_pins);
    return status;
}

static int blame_pins(struct pins *pins, struct symbols *symbols, struct err *err)
{
    uint64_t *sites = array_new(pins->stacks.count, sizeof *sites, err);
    if (!sites)
        return -1;
    for (size_t i = 0; i < pins->stacks.count; i++)
        sites[i] = pins->stacks.items[i].stack_id;
    const int status = blame_sites(&pins->blame, symbols, sites, pins->stacks.count, err);
    free(sites);
    return status;
}

int pins_find(struct pins *pins, struct symbols *symbols, const struct segment_list *segments,
              struct err *err)
{
    *pins = (struct pins){0};
    if (!find_pins(&pins->stacks, segments, NULL, err) && !blame_pins(pins, symbols, err) &&
        !find_pins(&pins->lines, segments, &pins->blame, err))
        return 0;
    pins_release(pins);
    return -1;
}

size_t pins_others(const struct pins *pins, const struct blamed *blamed)
{
    size_t alike = 0;
    for (size_t i = 0; i < pins->blame.count; i++)
        alike += pins->blame.items[i].row == blamed->row;
    return blamed->is_known ? alike - 1 : 0;
}

void pins_release(struct pins *pins)
{
    free(pins->stacks.items);
    free(pins->lines.items);
    blame_release(&pins->blame);
    *pins = (struct pins){0};
}

/* --- streams --- */

/* A linear search, because programs have few streams. */
static struct pool_stream *find_stream(struct pool_stream_list *streams, uint64_t stream,
                                       struct err *err)
{
    for (size_t i = 0; i < streams->count; i++)
        if (streams->items[i].stream == stream)
            return &streams->items[i];
    if (ARRAY_GROW(streams->items, streams->capacity, streams->count, err))
        return NULL;
    streams->items[streams->count] = (struct pool_stream){.stream = stream};
    return &streams->items[streams->count++];
}

ORDER_BY(compare_streams, struct pool_stream, FALLING(reserved_bytes), RISING(stream));

int pool_streams_find(struct pool_stream_list *streams, const struct segment_list *segments,
                      struct err *err)
{
    *streams = (struct pool_stream_list){0};
    for (size_t i = 0; i < segments->count; i++) {
        const struct pool_segment *segment = &segments->items[i];
        struct pool_stream *sum = find_stream(streams, segment->stream, err);

        if (!sum) {
            pool_streams_release(streams);
            return -1;
        }
        sum->segment_count++;
        sum->reserved_bytes += segment->size_bytes;
        sum->live_bytes += segment->size_bytes - segment->free_bytes;
        if (segment->is_of_graph)
            continue;
        sum->free_bytes += segment->free_bytes;
        sum->stranded_bytes += segment->stranded_bytes;
        if (segment->largest_free_bytes > sum->largest_free_bytes)
            sum->largest_free_bytes = segment->largest_free_bytes;
    }
    SORT(streams->items, streams->count, compare_streams);
    return 0;
}

void pool_streams_release(struct pool_stream_list *streams)
{
    free(streams->items);
    *streams = (struct pool_stream_list){0};
}
