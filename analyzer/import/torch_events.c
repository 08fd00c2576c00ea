/* SPDX-License-Identifier: MIT */
/*
 * Writes devices of a snapshot as events; see torch_device.h. A history has the requested sizes
 * only. The size of a block follows from PyTorch's rule for splitting: the rest of a free block
 * becomes a block of its own unless it is small. The free blocks follow from the segments and the
 * blocks in them.
 */
#include <stdlib.h>

#include "torch_device.h"
#include "torch_mappings.h"
#include "analyzer/torch/frames.h"
#include "analyzer/util/array.h"

enum { SMALL_SEGMENT_BYTES = 2 << 20, SMALL_REST_BYTES = 1 << 20, OUT_OF_MEMORY = 2 };

static const char *const action_texts[TORCH_ACTION_COUNT] = {
#define ACTION(name, text) text,
    TORCH_ACTIONS(ACTION)
#undef ACTION
};

/* The state of one device while its history is written. */
struct stage {
    const struct torch_device *device;
    size_t next;                    /* index of the next entry */
    struct range_map blocks;        /* blocks that occupy their segments, freed or not */
    struct range_map segments;      /* segments that are not mapped */
    struct range_map mapped;        /* mappings; value: handle */
    struct range_map used;          /* addresses at which a block begins at any time */
    struct torch_mappings foreseen; /* origin: index of a segment, or index of an entry +
                                     * segment_count */
};

struct writer {
    struct draft *draft;
    struct stage *stages;
    size_t stage_count;
    uint16_t hooks[TORCH_ACTION_COUNT];
    uint32_t pool; /* id of the text TORCH_POOL */
    uint32_t last_handle;
    uint64_t start_us;
    bool has_begun; /* false: events still describe the first moment */
    struct err *err;
};

/* --- events --- */

static int put(const struct writer *writer, const struct stage *stage, enum torch_action action,
               const struct event *event)
{
    struct event whole = *event;
    whole.thread_id = 1;
    whole.device = (int8_t)stage->device->number;
    whole.hook_id = writer->hooks[action];
    return draft_event(writer->draft, &whole, writer->err);
}

/* Returns the time of the device's next entry, or the time of the last entry if there is no next
 * one. */
static uint64_t now_ns(const struct writer *writer, const struct stage *stage)
{
    const struct torch_device *device = stage->device;
    if (!device->step_count || !writer->has_begun)
        return 0;
    const size_t next = stage->next < device->step_count ? stage->next : device->step_count - 1;
    const uint64_t time_us = device->steps[next].time_us;
    return time_us > writer->start_us ? (time_us - writer->start_us) * 1000 : 0;
}

static int put_block(struct writer *writer, struct stage *stage, const struct torch_block *block)
{
    struct event event = {.kind = EVENT_ALLOC,
                          .memory = MEMORY_TENSOR,
                          .time_ns = now_ns(writer, stage),
                          .address = block->address,
                          .size_bytes = block->size_bytes,
                          .object = writer->pool,
                          .stream = block->stream,
                          .stack_id = block->stack_id};
    uint32_t replaced;
    if (block->requested_bytes && block->requested_bytes < block->size_bytes) {
        struct event asked = event;
        asked.kind = EVENT_POOL_ASKED;
        asked.size_bytes = block->requested_bytes;
        if (put(writer, stage, TORCH_ALLOC, &asked))
            return -1;
    }
    return range_map_insert(&stage->blocks, block->address, block->size_bytes, 0, &replaced,
                            writer->err) ||
                   put(writer, stage, TORCH_ALLOC, &event)
               ? -1
               : 0;
}

static int put_free(const struct writer *writer, const struct stage *stage, uint64_t address,
                    uint32_t stack_id)
{
    return put(writer, stage, TORCH_FREE_REQUESTED,
               &(struct event){.kind = EVENT_FREE,
                               .memory = MEMORY_TENSOR,
                               .time_ns = now_ns(writer, stage),
                               .address = address,
                               .object = writer->pool,
                               .stream = STREAM_UNKNOWN,
                               .stack_id = stack_id});
}

/* PyTorch makes a segment for a block. If no block of the segment is known, a block of one byte is
 * allocated and freed, so that the segment belongs to the pool. */
static int mark_segment(struct writer *writer, struct stage *stage, uint64_t start, uint64_t end)
{
    const struct torch_block mark = {.address = start, .size_bytes = 1, .stream = STREAM_UNKNOWN};
    const struct range_node *first = range_map_at_or_after(&stage->used, start);
    if (first && first->start < end)
        return 0;
    if (put_block(writer, stage, &mark) || put_free(writer, stage, start, 0))
        return -1;
    range_map_remove(&stage->blocks, start);
    return 0;
}

static int put_segment(struct writer *writer, struct stage *stage,
                       const struct torch_segment *segment)
{
    const struct event event = {.kind = EVENT_ALLOC,
                                .memory = MEMORY_LINEAR,
                                .time_ns = now_ns(writer, stage),
                                .address = segment->address,
                                .size_bytes = segment->size_bytes,
                                .stack_id = segment->stack_id};
    uint32_t replaced;
    return range_map_insert(&stage->segments, segment->address, segment->size_bytes, 0, &replaced,
                            writer->err) ||
                   put(writer, stage, TORCH_SEGMENT_ALLOC, &event) ||
                   mark_segment(writer, stage, segment->address,
                                segment->address + segment->size_bytes)
               ? -1
               : 0;
}

/* --- mapped segments: a driver's object for each mapping --- */

static int put_mapping(struct writer *writer, struct stage *stage, uint64_t start, uint64_t end,
                       uint32_t stack_id)
{
    const uint32_t handle = ++writer->last_handle;
    uint32_t replaced;
    struct event event = {.kind = EVENT_ALLOC,
                          .memory = MEMORY_VMM,
                          .time_ns = now_ns(writer, stage),
                          .address = handle,
                          .size_bytes = end - start,
                          .stack_id = stack_id};
    if (range_map_insert(&stage->mapped, start, end - start, handle, &replaced, writer->err) ||
        put(writer, stage, TORCH_SEGMENT_MAP, &event))
        return -1;
    event.kind = EVENT_MAP;
    event.address = start;
    event.object = handle;
    return put(writer, stage, TORCH_SEGMENT_MAP, &event);
}

static int unmap(struct writer *writer, struct stage *stage, uint64_t address, uint64_t size_bytes)
{
    const struct range_node *node;
    const uint64_t end = address + size_bytes;
    while ((node = range_map_at_or_after(&stage->mapped, address)) && node->start < end) {
        struct event event = {.kind = EVENT_UNMAP,
                              .memory = MEMORY_VMM,
                              .time_ns = now_ns(writer, stage),
                              .address = node->start,
                              .size_bytes = node->size_bytes};
        const uint32_t handle = range_map_remove(&stage->mapped, node->start);

        if (put(writer, stage, TORCH_SEGMENT_UNMAP, &event))
            return -1;
        event.kind = EVENT_FREE;
        event.address = handle;
        event.size_bytes = 0;
        if (put(writer, stage, TORCH_SEGMENT_UNMAP, &event))
            return -1;
    }
    return 0;
}

/* A history entry maps memory for one block that fills it. Mappings from before the history, and
 * mappings that are unmapped in parts, need not be filled by one block. mark_segment therefore
 * marks them. */
static int map(struct writer *writer, struct stage *stage, const struct torch_segment *segment,
               uint32_t origin)
{
    size_t count;
    const struct torch_cut *cuts = torch_mappings_cuts(&stage->foreseen, origin, &count);
    const bool is_whole = !count && origin >= stage->device->segment_count;
    const uint64_t end = segment->address + segment->size_bytes;
    uint64_t start = segment->address;
    if (unmap(writer, stage, start, segment->size_bytes))
        return -1;
    for (size_t i = 0; i <= count; i++) {
        const uint64_t next = i < count ? cuts[i].address : end;

        if (put_mapping(writer, stage, start, next, segment->stack_id) ||
            (!is_whole && mark_segment(writer, stage, start, next)))
            return -1;
        start = next;
    }
    return 0;
}

/* --- steps --- */

/* Returns the size of the block that PyTorch's rule for splitting gives to a request. */
static uint64_t handed_out(const struct stage *stage, const struct torch_step *step)
{
    const uint64_t bytes = torch_device_rounded(stage->device, step->size_bytes);
    const uint64_t address = step->address;
    const struct range_node *segment = range_map_at_or_after(&stage->segments, address);
    if (!segment || segment->start > address || segment->size_bytes <= SMALL_SEGMENT_BYTES)
        return bytes;
    uint64_t end = segment->start + segment->size_bytes;
    const struct range_node *next = range_map_at_or_after(&stage->blocks, address);
    if (next && next->start < end)
        end = next->start;
    if (end <= address || end - address <= bytes)
        return bytes;
    const bool is_split =
        bytes < stage->device->max_split_bytes && end - address - bytes > SMALL_REST_BYTES;
    return is_split ? bytes : end - address;
}

static int take_alloc(struct writer *writer, struct stage *stage, const struct torch_step *step)
{
    struct torch_block block = {.address = step->address,
                                .requested_bytes = step->size_bytes,
                                .stream = step->stream,
                                .stack_id = step->stack_id};
    range_map_remove(&stage->blocks, step->address);
    block.size_bytes = step->block != TORCH_NONE ? stage->device->blocks[step->block].size_bytes
                                                 : handed_out(stage, step);
    return put_block(writer, stage, &block);
}

/* Returns the size of the segment that PyTorch requests from the driver if no free block
 * fits. The sizes are PyTorch's. */
static uint64_t segment_for(uint64_t bytes)
{
    enum { LARGE_SEGMENT_BYTES = 20 << 20, LEAST_WHOLE_BYTES = 10 << 20 };

    if (bytes <= SMALL_REST_BYTES)
        return SMALL_SEGMENT_BYTES;
    if (bytes < LEAST_WHOLE_BYTES)
        return LARGE_SEGMENT_BYTES;
    return (bytes + SMALL_SEGMENT_BYTES - 1) / SMALL_SEGMENT_BYTES * SMALL_SEGMENT_BYTES;
}

/* A snapshot says neither the card's size nor whether the driver refused. If the card had less free
 * memory than a new segment takes, the driver did refuse. */
static int take_oom(struct writer *writer, struct stage *stage, const struct torch_step *step)
{
    const struct event refused = {
        .kind = EVENT_ALLOC,
        .memory = MEMORY_LINEAR,
        .time_ns = now_ns(writer, stage),
        .size_bytes = segment_for(torch_device_rounded(stage->device, step->size_bytes)),
        .result = OUT_OF_MEMORY,
        .stack_id = step->stack_id};
    const struct event reported = {
        .kind = EVENT_DEVICE_MEMORY, .time_ns = now_ns(writer, stage), .address = step->address};
    const struct event failed = {.kind = EVENT_ALLOC,
                                 .memory = MEMORY_TENSOR,
                                 .time_ns = now_ns(writer, stage),
                                 .size_bytes = step->size_bytes,
                                 .object = writer->pool,
                                 .stream = step->stream,
                                 .result = OUT_OF_MEMORY,
                                 .stack_id = step->stack_id};
    if (put(writer, stage, TORCH_OOM, &reported) ||
        (step->address < refused.size_bytes && put(writer, stage, TORCH_SEGMENT_ALLOC, &refused)))
        return -1;
    return put(writer, stage, TORCH_OOM, &failed);
}

static int take_step(struct writer *writer, struct stage *stage, size_t number)
{
    const struct torch_step *step = &stage->device->steps[number];
    const struct torch_segment segment = {.address = step->address,
                                          .size_bytes = step->size_bytes,
                                          .stream = step->stream,
                                          .stack_id = step->stack_id};
    switch (step->action) {
    case TORCH_ALLOC:
        return take_alloc(writer, stage, step);
    case TORCH_FREE_REQUESTED:
        return put_free(writer, stage, step->address, step->stack_id);
    case TORCH_FREE_COMPLETED:
        range_map_remove(&stage->blocks, step->address);
        return stage->device->frees_on == TORCH_FREE_COMPLETED
                   ? put_free(writer, stage, step->address, step->stack_id)
                   : 0;
    case TORCH_SEGMENT_ALLOC:
        return put_segment(writer, stage, &segment);
    case TORCH_SEGMENT_FREE:
        range_map_remove(&stage->segments, step->address);
        return put(writer, stage, TORCH_SEGMENT_FREE,
                   &(struct event){.kind = EVENT_FREE,
                                   .memory = MEMORY_LINEAR,
                                   .time_ns = now_ns(writer, stage),
                                   .address = step->address,
                                   .stack_id = step->stack_id});
    case TORCH_SEGMENT_MAP:
        return map(writer, stage, &segment, (uint32_t)(stage->device->segment_count + number));
    case TORCH_SEGMENT_UNMAP:
        return unmap(writer, stage, step->address, step->size_bytes);
    case TORCH_OOM:
        return take_oom(writer, stage, step);
    default:
        return 0;
    }
}

/* --- what was there before, and what came after --- */

static int put_those_of(struct writer *writer, struct stage *stage, enum torch_birth birth)
{
    const struct torch_device *device = stage->device;
    int status = 0;
    for (size_t i = 0; i < device->segment_count && !status; i++) {
        const struct torch_segment *segment = &device->segments[i];

        if (segment->birth == birth)
            status = segment->is_mapped ? map(writer, stage, segment, (uint32_t)i)
                                        : put_segment(writer, stage, segment);
    }
    for (size_t i = 0; i < device->block_count && !status; i++)
        if (device->blocks[i].birth == birth)
            status = put_block(writer, stage, &device->blocks[i]);
    return status;
}

/* --- all devices --- */

/* Replays all mappings without writing events, to know where mappings will be cut. */
static int foresee(struct stage *stage, struct err *err)
{
    const struct torch_device *device = stage->device;
    struct torch_mappings *mappings = &stage->foreseen;
    for (size_t i = 0; i < device->segment_count; i++) {
        const struct torch_segment *segment = &device->segments[i];

        if (segment->is_mapped && segment->birth == TORCH_BEFORE &&
            torch_mappings_put(mappings, segment->address, segment->size_bytes, (uint32_t)i, err))
            return -1;
    }
    for (size_t i = 0; i < device->step_count; i++) {
        const struct torch_step *step = &device->steps[i];

        if ((step->action == TORCH_SEGMENT_MAP &&
             torch_mappings_put(mappings, step->address, step->size_bytes,
                                (uint32_t)(device->segment_count + i), err)) ||
            (step->action == TORCH_SEGMENT_UNMAP &&
             torch_mappings_clear(mappings, step->address, step->size_bytes, err)))
            return -1;
    }
    torch_mappings_sort_cuts(mappings);
    return 0;
}

static int find_used(struct stage *stage, struct err *err)
{
    const struct torch_device *device = stage->device;
    uint32_t replaced;
    for (size_t i = 0; i < device->block_count; i++)
        if (range_map_insert(&stage->used, device->blocks[i].address, 1, 0, &replaced, err))
            return -1;
    for (size_t i = 0; i < device->step_count; i++)
        if (device->steps[i].action == TORCH_ALLOC &&
            range_map_insert(&stage->used, device->steps[i].address, 1, 0, &replaced, err))
            return -1;
    return 0;
}

/* Returns the device whose next entry is earliest; NULL: all are done. */
static struct stage *find_earliest(const struct writer *writer)
{
    struct stage *earliest = NULL;
    for (size_t i = 0; i < writer->stage_count; i++) {
        struct stage *stage = &writer->stages[i];

        if (stage->next < stage->device->step_count &&
            (!earliest || now_ns(writer, stage) < now_ns(writer, earliest)))
            earliest = stage;
    }
    return earliest;
}

static int write_all(struct writer *writer)
{
    struct stage *stage;
    for (size_t i = 0; i < writer->stage_count; i++)
        if (foresee(&writer->stages[i], writer->err) || find_used(&writer->stages[i], writer->err))
            return -1;
    for (size_t i = 0; i < writer->stage_count; i++)
        if (put_those_of(writer, &writer->stages[i], TORCH_BEFORE))
            return -1;
    writer->has_begun = true;
    while ((stage = find_earliest(writer))) {
        if (take_step(writer, stage, stage->next))
            return -1;
        stage->next++;
    }
    for (size_t i = 0; i < writer->stage_count; i++)
        if (put_those_of(writer, &writer->stages[i], TORCH_AFTER))
            return -1;
    return 0;
}

static int name_hooks(struct writer *writer)
{
    for (int i = 0; i < TORCH_ACTION_COUNT; i++)
        if (draft_hook(writer->draft, action_texts[i], TORCH_POOL, &writer->hooks[i], writer->err))
            return -1;
    writer->pool = draft_text(writer->draft, TORCH_POOL, sizeof TORCH_POOL - 1, writer->err);
    return writer->pool ? 0 : -1;
}

/* Finds the first time of all devices. Events from before the first entry also get this time. */
static int find_start(struct writer *writer)
{
    writer->start_us = UINT64_MAX;
    for (size_t i = 0; i < writer->stage_count; i++) {
        const struct torch_device *device = writer->stages[i].device;

        for (size_t j = 0; j < device->step_count; j++)
            if (device->steps[j].time_us < writer->start_us)
                writer->start_us = device->steps[j].time_us;
    }
    return writer->start_us && writer->start_us != UINT64_MAX
               ? draft_set_integer(writer->draft, META_start_unix_ns,
                                   (int64_t)(writer->start_us * 1000), writer->err)
               : 0;
}

static void release(struct writer *writer)
{
    for (size_t i = 0; i < writer->stage_count; i++) {
        range_map_release(&writer->stages[i].blocks);
        range_map_release(&writer->stages[i].segments);
        range_map_release(&writer->stages[i].mapped);
        range_map_release(&writer->stages[i].used);
        torch_mappings_release(&writer->stages[i].foreseen);
    }
    free(writer->stages);
}

int torch_events_write(const struct torch_device *devices, size_t count, struct draft *draft,
                       struct err *err)
{
    struct writer writer = {
        .draft = draft, .stages = array_new(count, sizeof *writer.stages, err), .err = err};
    int status = -1;
    if (!writer.stages)
        return -1;
    for (; writer.stage_count < count; writer.stage_count++) {
        struct stage *stage = &writer.stages[writer.stage_count];

        stage->device = &devices[writer.stage_count];
        range_map_init(&stage->blocks);
        range_map_init(&stage->segments);
        range_map_init(&stage->mapped);
        range_map_init(&stage->used);
        torch_mappings_init(&stage->foreseen);
    }
    if (!find_start(&writer) && !name_hooks(&writer))
        status = write_all(&writer);
    release(&writer);
    return status;
}
