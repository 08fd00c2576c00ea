/* SPDX-License-Identifier: MIT */
/*
 * Reads a memory snapshot of PyTorch. A snapshot has the segments of the allocator and their blocks
 * at a moment, and the latest history before that moment if the program recorded one. torch_events
 * writes the snapshot as events.
 *
 *     {segments: [{address, total_size, blocks: [{size, state, …} …] …} …],
 *      device_traces: [[{action, addr, size, frames, time_us …} …] …], …}
 *
 * Releases before 2.1 give no times and no addresses of blocks, but the blocks of a segment follow
 * each other without gaps.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "source.h"
#include "torch_device.h"
#include "torch_stacks.h"
#include "analyzer/torch/settings.h"
#include "analyzer/util/array.h"
#include "analyzer/util/range_map.h"
#include "gpumemtrace/limits.h"

/* Larger values are neither sizes nor times. Sums of two do not overflow. */
#define BYTES_MOST ((uint64_t)1 << 61)
#define TIME_MOST_US ((uint64_t)1 << 52)

struct snapshot {
    const struct import_source *source;
    struct pickle_values values;
    struct torch_stacks stacks;
    struct torch_device devices[LIMIT_devices];
    struct range_map ranges[LIMIT_devices]; /* the ranges of the segments */
    bool *is_read; /* by number of the list: its blocks or entries were read; each list belongs to
                    * one segment or device */
    size_t step_count, timed_count;
    uint64_t unknown_count, unfreed_count;
    struct pickle_value unknown; /* the first unknown action */
    uint64_t taken_bytes;        /* sum of all segments and allocations */
    struct err *err;
};

static int broken(const struct snapshot *snapshot, const char *what)
{
    err_set(snapshot->err, ERR_INPUT, "%s is not a memory snapshot of PyTorch: %s",
            snapshot->source->path, what);
    return -1;
}

/* Reads the number of a key; 0 if it is missing. Returns -1 if it is not a number or
 * above `most`. */
static int read_number(const struct snapshot *snapshot, const struct pickle_value *dictionary,
                       const char *key, uint64_t most, uint64_t *number)
{
    const struct pickle_value *value = pickle_get(dictionary, key);
    *number = 0;
    if (!value || value->type == PICKLE_NONE)
        return 0;
    if (value->type != PICKLE_NUMBER || value->number > most)
        return err_set(snapshot->err, ERR_INPUT,
                       "%s is not a memory snapshot of PyTorch: '%s' is not a number in its range",
                       snapshot->source->path, key);
    *number = value->number;
    return 0;
}

/* Reads an address and a size whose sum does not overflow. */
static int read_range(const struct snapshot *snapshot, const struct pickle_value *dictionary,
                      const char *address_key, const char *size_key, uint64_t *address,
                      uint64_t *size_bytes)
{
    if (read_number(snapshot, dictionary, address_key, UINT64_MAX - BYTES_MOST, address) ||
        read_number(snapshot, dictionary, size_key, BYTES_MOST, size_bytes))
        return -1;
    return 0;
}

/* Refuses a list that was read before, because a small file could make one list stand in
 * many places. */
static int read_items(const struct snapshot *snapshot, const struct pickle_value *list,
                      const struct pickle_value **items, size_t *count)
{
    *count = pickle_items(list, items);
    if (!list || list->type != PICKLE_LIST)
        return broken(snapshot, "a list is missing");
    if (*count && snapshot->is_read[list->list->number])
        return broken(snapshot, "a list stands in two places");
    snapshot->is_read[list->list->number] = true;
    return 0;
}

static int find_device(struct snapshot *snapshot, uint64_t number, struct torch_device **device)
{
    if (number >= LIMIT_devices)
        return broken(snapshot, "it has more devices than a trace may hold");
    *device = &snapshot->devices[number];
    (*device)->number = (int)number;
    return 0;
}

/* --- segments --- */

/* Bounds the sum of all sizes, so that later sums do not overflow. */
static int add_taken(struct snapshot *snapshot, uint64_t bytes)
{
    snapshot->taken_bytes += bytes;
    return snapshot->taken_bytes > BYTES_MOST
               ? broken(snapshot, "its allocations add up to more than any memory")
               : 0;
}

/* The frames are in the block, or before 2.1 in the first entry of its history. */
static int read_owner(struct snapshot *snapshot, const struct pickle_value *item,
                      struct torch_block *block)
{
    const struct pickle_value *frames = pickle_get(item, "frames"), *history;
    if (read_number(snapshot, item, "requested_size", BYTES_MOST, &block->requested_bytes))
        return -1;
    if (!frames && pickle_items(pickle_get(item, "history"), &history))
        frames = pickle_get(history, "frames");
    if (block->requested_bytes > block->size_bytes)
        return broken(snapshot, "a block is smaller than its request");
    return torch_stacks_find(&snapshot->stacks, frames, &block->stack_id, snapshot->err);
}

static int add_block(struct snapshot *snapshot, struct torch_device *device,
                     const struct torch_block *block)
{
    if (ARRAY_GROW(device->blocks, device->block_capacity, device->block_count, snapshot->err))
        return -1;
    device->blocks[device->block_count++] = *block;
    return 0;
}

/* Checks that a block ends within its segment. If the release gives the block's address, the
 * address must be the end of the block before it. */
static int check_block(const struct snapshot *snapshot, const struct pickle_value *item,
                       const struct torch_block *block, uint64_t end)
{
    uint64_t address;
    if (block->size_bytes > end - block->address)
        return broken(snapshot, "a block lies across the end of its segment");
    if (read_number(snapshot, item, "address", UINT64_MAX, &address))
        return -1;
    return address && address != block->address
               ? broken(snapshot, "a block is not where those before it end")
               : 0;
}

/* A block that was freed counts as freed, even if another stream still uses it. */
static int read_blocks(struct snapshot *snapshot, struct torch_device *device,
                       const struct torch_segment *segment, const struct pickle_value *list,
                       uint64_t *live_bytes)
{
    const struct pickle_value *items = NULL;
    const uint64_t end = segment->address + segment->size_bytes;
    uint64_t at = segment->address;
    size_t count;
    if (read_items(snapshot, list, &items, &count))
        return -1;
    for (size_t i = 0; i < count; i++) {
        const struct pickle_value *state = pickle_get(&items[i], "state");
        struct torch_block block = {.stream = segment->stream};

        if (read_number(snapshot, &items[i], "size", BYTES_MOST, &block.size_bytes))
            return -1;
        block.address = at;
        if (check_block(snapshot, &items[i], &block, end))
            return -1;
        at += block.size_bytes;
        if (!state || !pickle_is_text(state, "active_allocated") || !block.size_bytes)
            continue;
        if (read_owner(snapshot, &items[i], &block) || add_block(snapshot, device, &block))
            return -1;
        *live_bytes += block.size_bytes;
    }
    return at == end || !count ? 0 : broken(snapshot, "blocks do not fill their segment");
}

/* Reads the blocks of a segment, and checks their sum against the segment's allocated_size. */
static int read_content(struct snapshot *snapshot, struct torch_device *device,
                        const struct torch_segment *segment, const struct pickle_value *item)
{
    const struct pickle_value *allocated = pickle_get(item, "allocated_size");
    struct range_map *ranges = &snapshot->ranges[device->number];
    const struct range_node *next = range_map_at_or_after(ranges, segment->address);
    uint64_t live_bytes = 0;
    uint32_t replaced;
    if (next && next->start < segment->address + segment->size_bytes)
        return broken(snapshot, "segments overlap");
    if (range_map_insert(ranges, segment->address, segment->size_bytes, 0, &replaced,
                         snapshot->err) ||
        read_blocks(snapshot, device, segment, pickle_get(item, "blocks"), &live_bytes))
        return -1;
    return allocated && allocated->type == PICKLE_NUMBER && allocated->number != live_bytes
               ? broken(snapshot, "a segment's allocated_size is not that of its blocks")
               : 0;
}

static int read_segment(struct snapshot *snapshot, const struct pickle_value *item)
{
    const struct pickle_value *expandable = pickle_get(item, "is_expandable");
    struct torch_segment segment = {0};
    struct torch_device *device;
    uint64_t number;
    if (item->type != PICKLE_DICT)
        return broken(snapshot, "a segment is not a dictionary");
    if (read_number(snapshot, item, "device", LIMIT_devices - 1, &number) ||
        find_device(snapshot, number, &device) ||
        read_range(snapshot, item, "address", "total_size", &segment.address,
                   &segment.size_bytes) ||
        read_number(snapshot, item, "stream", INT64_MAX, &segment.stream) ||
        torch_stacks_find(&snapshot->stacks, pickle_get(item, "frames"), &segment.stack_id,
                          snapshot->err))
        return -1;
    segment.is_mapped = expandable && expandable->type == PICKLE_BOOL && expandable->number;
    if (!segment.address || !segment.size_bytes)
        return broken(snapshot, "a segment has no address or size");
    if (add_taken(snapshot, segment.size_bytes))
        return -1;
    if (ARRAY_GROW(device->segments, device->segment_capacity, device->segment_count,
                   snapshot->err))
        return -1;
    device->segments[device->segment_count++] = segment;
    return read_content(snapshot, device, &segment, item);
}

static int read_segments(struct snapshot *snapshot)
{
    const struct pickle_value *items = NULL;
    size_t count;
    if (read_items(snapshot, pickle_get(&snapshot->values.root, "segments"), &items, &count))
        return -1;
    for (size_t i = 0; i < count; i++)
        if (read_segment(snapshot, &items[i]))
            return -1;
    return 0;
}

/* --- steps --- */

static enum torch_action find_action(const struct pickle_value *text)
{
    static const char *const texts[TORCH_ACTION_COUNT] = {
#define ACTION(name, text) text,
        TORCH_ACTIONS(ACTION)
#undef ACTION
    };
    int action = 0;
    while (text && action < TORCH_ACTION_COUNT && !pickle_is_text(text, texts[action]))
        action++;
    return text ? (enum torch_action)action : TORCH_ACTION_COUNT;
}

/* Skips an entry that is a mark, such as the snapshot itself. Counts unknown actions, which later
 * PyTorch releases write; the trace reports them. */
static int pass_over(struct snapshot *snapshot, const struct pickle_value *action)
{
    if (!action || action->type != PICKLE_TEXT)
        return broken(snapshot, "an event does not say what it is");
    if (pickle_is_text(action, "snapshot"))
        return 0;
    if (!snapshot->unknown_count++)
        snapshot->unknown = *action;
    return 0;
}

static int read_step(struct snapshot *snapshot, struct torch_device *device,
                     const struct pickle_value *item)
{
    struct torch_step step = {.block = TORCH_NONE,
                              .action = find_action(pickle_get(item, "action"))};
    if (item->type != PICKLE_DICT)
        return broken(snapshot, "an event is not a dictionary");
    if (step.action == TORCH_ACTION_COUNT)
        return pass_over(snapshot, pickle_get(item, "action"));
    if (read_range(snapshot, item, step.action == TORCH_OOM ? "device_free" : "addr", "size",
                   &step.address, &step.size_bytes) ||
        read_number(snapshot, item, "stream", INT64_MAX, &step.stream) ||
        read_number(snapshot, item, "time_us", TIME_MOST_US, &step.time_us) ||
        torch_stacks_find(&snapshot->stacks, pickle_get(item, "frames"), &step.stack_id,
                          snapshot->err))
        return -1;
    if (step.action != TORCH_OOM && !step.address)
        return broken(snapshot, "an event has no address");
    if (step.action == TORCH_ALLOC && add_taken(snapshot, step.size_bytes))
        return -1;
    if (ARRAY_GROW(device->steps, device->step_capacity, device->step_count, snapshot->err))
        return -1;
    device->steps[device->step_count++] = step;
    snapshot->step_count++;
    snapshot->timed_count += step.time_us != 0;
    return 0;
}

/* Without a history, device_traces is missing or has an empty list per device. */
static int read_traces(struct snapshot *snapshot)
{
    const struct pickle_value *lists = NULL, *items = NULL;
    const size_t list_count =
        pickle_items(pickle_get(&snapshot->values.root, "device_traces"), &lists);
    struct torch_device *device;
    size_t count;
    for (size_t i = 0; i < list_count; i++) {
        if (read_items(snapshot, &lists[i], &items, &count) ||
            (count && find_device(snapshot, i, &device)))
            return -1;
        for (size_t j = 0; j < count; j++)
            if (read_step(snapshot, device, &items[j]))
                return -1;
    }
    return 0;
}

/* --- settings --- */

/* Reads roundup_power2_divisions; a key is the size in MiB from which its divisions apply. */
static int read_divisions(struct snapshot *snapshot, const struct pickle_value *settings)
{
    enum { DIVISIONS_MOST = 1 << 20 };
    const struct pickle_value *divisions = pickle_get(settings, "roundup_power2_divisions");
    char key[16];
    uint64_t number;

    for (int i = 0; divisions && i < TORCH_DIVISIONS; i++) {
        snprintf(key, sizeof key, "%d", 1 << i);
        if (read_number(snapshot, divisions, key, DIVISIONS_MOST, &number))
            return -1;
        for (int device = 0; device < LIMIT_devices; device++)
            snapshot->devices[device].divisions[i] = number;
    }
    return 0;
}

static int read_settings(struct snapshot *snapshot, struct draft *draft)
{
    static const enum torch_variable variables[] = {TORCH_VARIABLE_old_name,
                                                    TORCH_VARIABLE_new_name};
    const struct pickle_value *settings = pickle_get(&snapshot->values.root, "allocator_settings");
    const struct pickle_value *split;
    if (!settings)
        return 0;
    if (read_divisions(snapshot, settings))
        return -1;
    split = pickle_get(settings, "max_split_size");
    for (int i = 0; i < LIMIT_devices && split && split->type == PICKLE_NUMBER; i++)
        snapshot->devices[i].max_split_bytes = split->number;
    for (size_t i = 0; i < sizeof variables / sizeof *variables; i++) {
        const char *name = torch_variable_name(variables[i]);
        const struct pickle_value *value = pickle_get(settings, name);

        if (value && value->type == PICKLE_TEXT && value->length &&
            draft_allocator_setting(draft, name, value->text, value->length, snapshot->err))
            return -1;
    }
    return 0;
}

/* --- the whole --- */

static int say_unknown(const struct snapshot *snapshot, bool has_past, struct draft *draft)
{
    struct err *err = snapshot->err;
    if (!snapshot->step_count)
        return draft_does_not_know(draft, err,
                                   "events before the snapshot: no history was recorded, so all "
                                   "memory is of its moment") ||
                       draft_lacks(draft, LACK_frees, err) || draft_lacks(draft, LACK_failures, err)
                   ? -1
                   : 0;
    if (has_past && draft_does_not_know(draft, err,
                                        "events before the first one: memory live then stands at "
                                        "the beginning, and earlier peaks are not seen"))
        return -1;
    if (!snapshot->timed_count &&
        draft_does_not_know(draft, err,
                            "times, and the frees of blocks made before the first event: this "
                            "release of PyTorch keeps neither"))
        return -1;
    if (snapshot->unfreed_count && draft_lacks(draft, LACK_frees, err))
        return -1;
    if (snapshot->unknown_count &&
        draft_does_not_know(draft, err,
                            "the effect of %" PRIu64
                            " events that only a later gpumemtrace may know, '%.*s' the first",
                            snapshot->unknown_count,
                            (int)(snapshot->unknown.length < 40 ? snapshot->unknown.length : 40),
                            snapshot->unknown.text))
        return -1;
    return 0;
}

/* A program may record no frees. If it does, an address must be freed before it is
 * allocated again. */
static int check_past(struct snapshot *snapshot, const struct torch_device *device)
{
    if (device->unfreed_count && device->has_frees)
        return broken(snapshot, "an address is given out twice without a free between");
    snapshot->unfreed_count += device->unfreed_count;
    return 0;
}

static int write_devices(struct snapshot *snapshot, struct draft *draft)
{
    struct torch_device used[LIMIT_devices];
    size_t count = 0;
    bool has_past = false;
    struct err *err = snapshot->err;
    for (int i = 0; i < LIMIT_devices; i++) {
        struct torch_device *device = &snapshot->devices[i];

        if (!device->step_count && !device->segment_count)
            continue;
        if (torch_past_find(device, err) || check_past(snapshot, device) ||
            draft_device(draft, i, "", "", 0, err))
            return -1;
        has_past |= device->has_past;
        used[count++] = *device;
    }
    if (torch_events_write(used, count, draft, err) || say_unknown(snapshot, has_past, draft) ||
        draft_does_not_know(
            draft, err,
            "memory outside of PyTorch's allocator, threads, and the card's total memory"))
        return -1;
    return draft_set_integer(draft, META_complete, snapshot->step_count && !has_past, err);
}

static int import_values(struct snapshot *snapshot, struct draft *draft)
{
    for (int i = 0; i < LIMIT_devices; i++)
        snapshot->devices[i].max_split_bytes = UINT64_MAX;
    if (snapshot->values.root.type != PICKLE_DICT)
        return broken(snapshot, "it is not a dictionary");
    if (read_segments(snapshot) || read_traces(snapshot) || read_settings(snapshot, draft) ||
        draft_thread(draft, 1, 0, "", snapshot->err))
        return -1;
    return write_devices(snapshot, draft);
}

int import_torch_snapshot(const struct import_source *source, struct draft *draft, struct err *err)
{
    struct snapshot *snapshot = array_new(1, sizeof *snapshot, err);
    int status = -1;
    if (!snapshot)
        return -1;
    snapshot->source = source;
    snapshot->err = err;
    for (int i = 0; i < LIMIT_devices; i++)
        range_map_init(&snapshot->ranges[i]);
    if (!pickle_read(&snapshot->values, source->path, source->bytes, source->length, err)) {
        snapshot->is_read = array_new(snapshot->values.list_count, sizeof *snapshot->is_read, err);
        if (snapshot->is_read &&
            !torch_stacks_init(&snapshot->stacks, draft, &snapshot->values, err))
            status = import_values(snapshot, draft);
    }
    for (int i = 0; i < LIMIT_devices; i++) {
        torch_device_release(&snapshot->devices[i]);
        range_map_release(&snapshot->ranges[i]);
    }
    torch_stacks_release(&snapshot->stacks);
    pickle_values_release(&snapshot->values);
    free(snapshot->is_read);
    free(snapshot);
    return status;
}

bool import_is_torch_snapshot(const struct import_source *source)
{
    return source->length > 2 && source->bytes[0] == 0x80 && source->bytes[1] >= 2 &&
           source->bytes[1] <= 5;
}
