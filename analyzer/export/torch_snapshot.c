/* SPDX-License-Identifier: MIT */
/*
 * Writes a memory snapshot like that of torch.cuda.memory._dump_snapshot, for PyTorch's memory_viz.
 * A snapshot has the segments at a moment, filled with blocks, and the history before that moment.
 * The keys are those of torch.cuda.memory._snapshot.
 *
 *     {device_traces: [[{action, addr, size, stream, time_us, frames} …] …],
 *      segments: [{… blocks: […]} …], …}
 *
 * Events of all devices come in one stream, and a pickle is written as a stream, too. So each
 * device's list is first written empty and remembered. An event is appended to its device's list.
 * Whenever the device changes, the list that was open becomes the value of device_traces for the
 * time being. At the end, the list of all lists replaces that value.
 *
 * Memory outside of segments, such as all driver memory, becomes a segment that one block fills.
 */
#include <stdlib.h>
#include <string.h>

#include "frames.h"
#include "pickle.h"
#include "analyzer/analysis/moment.h"
#include "analyzer/analysis/fragmentation/segments.h"
#include "analyzer/replay/history/observer.h"
#include "analyzer/util/array.h"
#include "analyzer/util/range_map.h"

/* A segment larger than SMALL_SEGMENT_BYTES belongs to PyTorch's large pool. So does a mapped
 * segment with a block larger than SMALL_BLOCK_BYTES. All other segments belong to the small
 * pool. */
enum { FLUSH_AFTER = 1000, SMALL_SEGMENT_BYTES = 2 << 20, SMALL_BLOCK_BYTES = 1 << 20 };

/* The layer of one device that is shown. */
struct device_layer {
    uint32_t account; /* HISTORY_NONE: none is shown */
    struct moment moment;
    bool has_segments;
    uint32_t list;          /* memo of the list of its events */
    struct range_map asked; /* requested bytes of live blocks, where known */
};

struct entry {
    const char *action, *address_key;
    uint64_t address, size_bytes, stream, time_ns;
    uint32_t stack_id;
};

struct snapshot {
    const struct export *export;
    struct pickle pickle;
    struct export_frames frames;
    struct pair_map stacks, frame_dicts; /* memos, by stack and by frame */
    struct device_layer devices[DEVICE_SLOTS];
    int device_count;     /* number of lists: highest device + 1 */
    int current;          /* device whose list is open; -1: no list is open */
    uint64_t items_count; /* items since the list was opened */
    size_t next_failure;
    struct entry birth; /* of a block in a pool, not written yet; action: NULL if there is none */
    int birth_device;
    struct err *err;
};

/* --- parts of a dictionary --- */

static int key(struct snapshot *snapshot, const char *name)
{
    return pickle_text(&snapshot->pickle, name, snapshot->err);
}

static int add_text(struct snapshot *snapshot, const char *name, const char *text)
{
    return key(snapshot, name) || pickle_text(&snapshot->pickle, text, snapshot->err) ? -1 : 0;
}

static int add_number(struct snapshot *snapshot, const char *name, uint64_t number)
{
    if (key(snapshot, name))
        return -1;
    pickle_number(&snapshot->pickle, number);
    return 0;
}

static int add_stream(struct snapshot *snapshot, uint64_t stream)
{
    return add_number(snapshot, "stream", stream == STREAM_UNKNOWN ? 0 : stream);
}

static int put_frame(struct snapshot *snapshot, uint32_t number)
{
    struct pickle *pickle = &snapshot->pickle;
    const uint32_t memo = pair_map_get(&snapshot->frame_dicts, 0, number);
    if (memo != PAIR_MAP_NONE) {
        pickle_recall(pickle, memo);
        return 0;
    }
    pickle_put(pickle, PICKLE_OPEN_DICT);
    if (add_text(snapshot, "name", frames_function(&snapshot->frames, number)) ||
        add_text(snapshot, "filename", frames_file(&snapshot->frames, number)) ||
        add_number(snapshot, "line", snapshot->frames.items[number].line))
        return -1;
    pickle_put(pickle, PICKLE_CLOSE_DICT);
    return pair_map_put(&snapshot->frame_dicts, 0, number, pickle_remember(pickle), snapshot->err);
}

/* Adds the frames from the allocation outwards, like PyTorch. */
static int add_frames(struct snapshot *snapshot, uint32_t stack_id)
{
    struct pickle *pickle = &snapshot->pickle;
    const uint32_t memo = pair_map_get(&snapshot->stacks, 0, stack_id);
    if (key(snapshot, "frames"))
        return -1;
    if (memo != PAIR_MAP_NONE) {
        pickle_recall(pickle, memo);
        return 0;
    }
    pickle_put(pickle, PICKLE_OPEN_LIST);
    if (stack_id && frames_walk(&snapshot->frames, stack_id, snapshot->err))
        return -1;
    for (size_t i = 0; stack_id && i < snapshot->frames.depth; i++)
        if (put_frame(snapshot, snapshot->frames.stack[i]))
            return -1;
    pickle_put(pickle, PICKLE_CLOSE_LIST);
    return pair_map_put(&snapshot->stacks, 0, stack_id, pickle_remember(pickle), snapshot->err);
}

/* --- what led to the moment --- */

/* Closes the open list and opens the list of the device; -1: opens none. Flushes the open list now
 * and then. */
static int turn_to(struct snapshot *snapshot, int device)
{
    struct pickle *pickle = &snapshot->pickle;
    if (snapshot->current == device) {
        if (++snapshot->items_count % FLUSH_AFTER == 0)
            pickle_put(pickle, PICKLE_FLUSH_LIST);
        return 0;
    }
    if (snapshot->current >= 0) {
        pickle_put(pickle, PICKLE_CLOSE_LIST);
        pickle_put(pickle, PICKLE_SET_ITEM);
    }
    snapshot->current = device;
    snapshot->items_count = 0;
    if (device < 0)
        return 0;
    if (key(snapshot, "device_traces"))
        return -1;
    pickle_resume_list(pickle, snapshot->devices[DEVICE_SLOT(device)].list);
    return 0;
}

static int put_entry(struct snapshot *snapshot, int device, const struct entry *entry)
{
    const struct trace_integer *start = &snapshot->export->study.trace.meta.start_unix_ns;
    const uint64_t start_ns = start->known && start->value > 0 ? (uint64_t)start->value : 0;
    if (turn_to(snapshot, device))
        return -1;
    pickle_put(&snapshot->pickle, PICKLE_OPEN_DICT);
    if (add_text(snapshot, "action", entry->action) ||
        add_number(snapshot, entry->address_key, entry->address) ||
        add_number(snapshot, "size", entry->size_bytes) || add_stream(snapshot, entry->stream) ||
        add_number(snapshot, "time_us", (start_ns + entry->time_ns) / 1000) ||
        add_frames(snapshot, entry->stack_id))
        return -1;
    pickle_put(&snapshot->pickle, PICKLE_CLOSE_DICT);
    return 0;
}

/* Returns false if the device has no layer to show, or its moment has passed. */
static bool is_shown(const struct device_layer *layer, uint64_t index)
{
    return layer->account != HISTORY_NONE && layer->moment.index != INDEX_NONE &&
           index <= layer->moment.index;
}

/* Returns NULL if the account is not shown at this event. */
static struct device_layer *layer_at(struct snapshot *snapshot, uint32_t account,
                                     const struct cursor *at)
{
    struct device_layer *layer =
        &snapshot->devices[DEVICE_SLOT(at->history->accounts[account].device)];
    return layer->account == account && is_shown(layer, at->index) ? layer : NULL;
}

/* Writes the birth that waits, if any. A birth waits for the end of its event, because the replay
 * finds the owner of a segment by the first block in it, but PyTorch lists the segment before the
 * block. */
static int put_birth(struct snapshot *snapshot)
{
    const struct entry birth = snapshot->birth;
    snapshot->birth.action = NULL;
    return birth.action ? put_entry(snapshot, snapshot->birth_device, &birth) : 0;
}

/* A block outside of segments is framed by events of its own segment: segment_alloc before it,
 * segment_free after it. */
static int on_change(void *self, const struct cursor *at, const struct change *change)
{
    static const char *const births[] = {"segment_alloc", "alloc", NULL};
    static const char *const ends[] = {"free_requested", "free_completed", "segment_free", NULL};
    struct snapshot *snapshot = self;
    const struct block *block = change->block;
    const int device = at->history->accounts[block->account].device;
    struct device_layer *layer = layer_at(snapshot, block->account, at);
    const char *const *actions = change->birth ? births : ends;
    struct entry entry = {.address_key = "addr",
                          .address = block->address,
                          .size_bytes = block->size_bytes,
                          .stream = block->stream,
                          .time_ns = at->event->time_ns,
                          .stack_id = site_stack(block->site_id)};

    if (put_birth(snapshot))
        return -1;
    if (!layer)
        return 0;
    if (change->birth && layer->has_segments) {
        entry.action = "alloc";
        snapshot->birth = entry;
        snapshot->birth_device = device;
        return 0;
    }
    if (!change->birth)
        range_map_remove(&layer->asked, block->address);
    for (; *actions; actions++) {
        entry.action = *actions;
        if ((!layer->has_segments || **actions != 's') && put_entry(snapshot, device, &entry))
            return -1;
    }
    return 0;
}

static int on_reserved(void *self, const struct cursor *at, const struct segment *segment,
                       bool begins)
{
    static const char *const actions[2][2] = {{"segment_free", "segment_alloc"},
                                              {"segment_unmap", "segment_map"}};
    struct snapshot *snapshot = self;
    if (!begins && put_birth(snapshot))
        return -1;
    if (!layer_at(snapshot, segment->account, at))
        return 0;
    return put_entry(snapshot, at->history->accounts[segment->account].device,
                     &(struct entry){.action = actions[segment->mapped][begins],
                                     .address_key = "addr",
                                     .address = segment->address,
                                     .size_bytes = segment->size_bytes,
                                     .stream = segment->stream,
                                     .time_ns = at->event->time_ns});
}

static int put_failure(struct snapshot *snapshot, const struct failure *failure)
{
    return put_entry(
        snapshot, snapshot->export->study.history.accounts[failure->account].device,
        &(struct entry){.action = "oom",
                        .address_key = "device_free",
                        .address = failure->sample.known ? failure->sample.free_bytes : 0,
                        .size_bytes = failure->event.size_bytes,
                        .time_ns = failure->at.time_ns,
                        .stack_id = failure->event.stack_id});
}

/* Notes the requested size of a block. The event with that size comes before the block's own event.
 * Before the first block this replay has no account yet, so the event's device is used. */
static int note_asked(struct snapshot *snapshot, const struct cursor *at)
{
    const struct event *event = at->event;
    struct device_layer *layer = &snapshot->devices[DEVICE_SLOT(event->device)];
    uint32_t replaced;
    if (!is_shown(layer, at->index))
        return 0;
    return range_map_insert(&layer->asked, event->address, event->size_bytes, 0, &replaced,
                            snapshot->err);
}

/* Writes the failures up to this event. The study has decided which refusals are
 * failures; it keeps them in order. */
static int on_event(void *self, const struct cursor *at)
{
    struct snapshot *snapshot = self;
    const struct history *history = &snapshot->export->study.history;
    if (put_birth(snapshot))
        return -1;
    if (at->event->kind == EVENT_POOL_ASKED && note_asked(snapshot, at))
        return -1;
    for (; snapshot->next_failure < history->failure_count; snapshot->next_failure++) {
        const struct failure *failure = &history->failures[snapshot->next_failure];
        const int device = history->accounts[failure->account].device;
        const struct device_layer *layer = &snapshot->devices[DEVICE_SLOT(device)];

        if (failure->at.index > at->index)
            return 0;
        if (device != DEVICE_UNKNOWN && is_shown(layer, at->index) &&
            put_failure(snapshot, failure))
            return -1;
    }
    return 0;
}

static int put_traces(struct snapshot *snapshot)
{
    const struct observer observer = {
        .self = snapshot, .on_change = on_change, .on_reserved = on_reserved, .on_event = on_event};
    struct pickle *pickle = &snapshot->pickle;
    for (int i = 0; i < snapshot->device_count; i++) {
        if (key(snapshot, "device_traces"))
            return -1;
        pickle_put(pickle, PICKLE_EMPTY_LIST);
        snapshot->devices[DEVICE_SLOT(i)].list = pickle_remember(pickle);
        pickle_put(pickle, PICKLE_SET_ITEM);
    }
    if (export_replay(snapshot->export, &observer, 0, snapshot->err) || turn_to(snapshot, -1) ||
        key(snapshot, "device_traces"))
        return -1;
    pickle_put(pickle, PICKLE_OPEN_LIST);
    for (int i = 0; i < snapshot->device_count; i++)
        pickle_recall(pickle, snapshot->devices[DEVICE_SLOT(i)].list);
    pickle_put(pickle, PICKLE_CLOSE_LIST);
    pickle_put(pickle, PICKLE_SET_ITEM);
    return 0;
}

/* --- segments --- */

/* Returns the block's size if the requested size is unknown. */
static uint64_t requested_of(const struct snapshot *snapshot, const struct block *block)
{
    const int device = snapshot->export->study.history.accounts[block->account].device;
    const struct range_node *asked =
        range_map_at_or_after(&snapshot->devices[DEVICE_SLOT(device)].asked, block->address);
    return asked && asked->start == block->address && asked->size_bytes < block->size_bytes
               ? asked->size_bytes
               : block->size_bytes;
}

static int put_block(struct snapshot *snapshot, uint64_t address, uint64_t bytes,
                     const struct block *block)
{
    const uint64_t requested_bytes = block ? requested_of(snapshot, block) : 0;
    pickle_put(&snapshot->pickle, PICKLE_OPEN_DICT);
    if (add_number(snapshot, "address", address) || add_number(snapshot, "size", bytes) ||
        add_number(snapshot, "requested_size", requested_bytes < bytes ? requested_bytes : bytes) ||
        add_text(snapshot, "state", block ? "active_allocated" : "inactive") ||
        add_frames(snapshot, block ? site_stack(block->site_id) : 0))
        return -1;
    pickle_put(&snapshot->pickle, PICKLE_CLOSE_DICT);
    return 0;
}

/* Fills the segment with blocks and the holes between them. If events contradict each other, a
 * block is cut at the segment's ends and at the block before it. */
static int put_blocks(struct snapshot *snapshot, const struct pool_segment *segment,
                      const struct block *const *blocks)
{
    const uint64_t end = segment->address + segment->size_bytes;
    uint64_t at = segment->address;
    for (size_t i = 0; i < segment->block_count; i++) {
        const uint64_t start = blocks[i]->address > at ? blocks[i]->address : at;
        const uint64_t rest = end - start;
        const uint64_t skipped = start - blocks[i]->address;
        const uint64_t bytes =
            blocks[i]->size_bytes > skipped ? blocks[i]->size_bytes - skipped : 0;

        if (start >= end || !bytes)
            continue;
        if ((start > at && put_block(snapshot, at, start - at, NULL)) ||
            put_block(snapshot, start, bytes < rest ? bytes : rest, blocks[i]))
            return -1;
        at = start + (bytes < rest ? bytes : rest);
    }
    return at < end ? put_block(snapshot, at, end - at, NULL) : 0;
}

/* Returns the pool of the segment: all its blocks belong to one of PyTorch's two pools. */
static const char *type_of(const struct pool_segment *segment, const struct block *const *blocks)
{
    const bool is_small = segment->mapped && segment->block_count
                              ? blocks[0]->size_bytes <= SMALL_BLOCK_BYTES
                              : segment->size_bytes <= SMALL_SEGMENT_BYTES;
    return is_small ? "small" : "large";
}

static int put_segment(struct snapshot *snapshot, int device, const struct pool_segment *segment,
                       const struct block *const *blocks)
{
    struct pickle *pickle = &snapshot->pickle;
    uint64_t unrequested_bytes = 0;
    for (size_t i = 0; i < segment->block_count; i++)
        unrequested_bytes += blocks[i]->size_bytes - requested_of(snapshot, blocks[i]);
    pickle_put(pickle, PICKLE_OPEN_DICT);
    if (add_number(snapshot, "device", (uint64_t)device) ||
        add_number(snapshot, "address", segment->address) ||
        add_number(snapshot, "total_size", segment->size_bytes) ||
        add_number(snapshot, "allocated_size", segment->live_bytes) ||
        add_number(snapshot, "active_size", segment->live_bytes) ||
        add_number(snapshot, "requested_size",
                   unrequested_bytes < segment->live_bytes ? segment->live_bytes - unrequested_bytes
                                                           : 0) ||
        add_stream(snapshot, segment->stream) ||
        add_text(snapshot, "segment_type", type_of(segment, blocks)) ||
        key(snapshot, "segment_pool_id"))
        return -1;
    pickle_pair_of_zeros(pickle);
    if (key(snapshot, "is_expandable"))
        return -1;
    pickle_bool(pickle, segment->mapped);
    if (add_frames(snapshot, 0) || key(snapshot, "blocks"))
        return -1;
    pickle_put(pickle, PICKLE_OPEN_LIST);
    if (put_blocks(snapshot, segment, blocks))
        return -1;
    pickle_put(pickle, PICKLE_CLOSE_LIST);
    pickle_put(pickle, PICKLE_CLOSE_DICT);
    return 0;
}

static int put_lone_block(struct snapshot *snapshot, int device, const struct block *block)
{
    const struct pool_segment own = {.address = block->address,
                                     .size_bytes = block->size_bytes,
                                     .live_bytes = block->size_bytes,
                                     .stream = block->stream,
                                     .block_count = 1};
    return block->size_bytes ? put_segment(snapshot, device, &own, &block) : 0;
}

static int put_segment_list(struct snapshot *snapshot, int device, const struct segment_list *list)
{
    size_t next = 0; /* the first block that was not written yet */

    for (size_t i = 0; i < list->count; i++) {
        const struct pool_segment *segment = &list->items[i];

        for (; next < segment->first_block; next++)
            if (put_lone_block(snapshot, device, list->blocks[next]))
                return -1;
        if (put_segment(snapshot, device, segment, &list->blocks[segment->first_block]))
            return -1;
        if (segment->first_block + segment->block_count > next)
            next = segment->first_block + segment->block_count;
    }
    for (; next < list->block_count; next++)
        if (put_lone_block(snapshot, device, list->blocks[next]))
            return -1;
    return 0;
}

static int put_segments(struct snapshot *snapshot)
{
    if (key(snapshot, "segments"))
        return -1;
    pickle_put(&snapshot->pickle, PICKLE_OPEN_LIST);
    for (int i = 0; i < snapshot->device_count; i++) {
        const struct device_layer *layer = &snapshot->devices[DEVICE_SLOT(i)];
        struct segment_list list;

        if (layer->account == HISTORY_NONE || layer->moment.index == INDEX_NONE)
            continue;
        if (segments_at(&list, &snapshot->export->study.history, layer->account,
                        layer->moment.index, snapshot->err))
            return -1;
        const int status = put_segment_list(snapshot, i, &list);
        segments_release(&list);
        if (status)
            return -1;
    }
    pickle_put(&snapshot->pickle, PICKLE_CLOSE_LIST);
    pickle_put(&snapshot->pickle, PICKLE_SET_ITEM);
    return 0;
}

/* --- the whole --- */

/* Fails if no event names a device, because a snapshot lists segments and events by
 * device and would be empty. */
static int check_devices(const struct snapshot *snapshot, bool has_nameless)
{
    if (snapshot->device_count || !has_nameless)
        return 0;
    return err_set(
        snapshot->err, ERR_INPUT,
        "%s does not say on which device its memory was, but a snapshot of PyTorch lists "
        "memory by device; use --to=csv or --to=collapsed",
        snapshot->export->study.trace.path);
}

static int choose_layers(struct snapshot *snapshot)
{
    const struct export *export = snapshot->export;
    const struct history *history = &export->study.history;
    bool has_nameless = false;
    for (int i = 0; i < DEVICE_SLOTS; i++) {
        snapshot->devices[i].account = HISTORY_NONE;
        range_map_init(&snapshot->devices[i].asked);
    }
    for (size_t i = 0; i < history->device_count; i++) {
        const struct device_use *use = &history->devices[i];
        struct device_layer *layer = &snapshot->devices[DEVICE_SLOT(use->device)];
        const uint32_t account = study_account(&export->study, use, &export->view);

        if (!export_takes(export, use->device) || account == HISTORY_NONE)
            continue;
        if (use->device == DEVICE_UNKNOWN) {
            has_nameless |= history_knows(history, &history->accounts[account]);
            continue;
        }
        layer->account = account;
        layer->has_segments = history->accounts[account].kind == ACCOUNT_pool;
        snapshot->device_count = use->device + 1;
        if (moment_find("at", export->view.at, history, account, &layer->moment, snapshot->err))
            return -1;
    }
    return check_devices(snapshot, has_nameless);
}

/* Writes the variables of PyTorch's allocator, as far as the trace has them. */
static int put_settings(struct snapshot *snapshot)
{
    const struct trace_variables *settings = &snapshot->export->study.trace.allocator_settings;
    if (key(snapshot, "allocator_settings"))
        return -1;
    pickle_put(&snapshot->pickle, PICKLE_OPEN_DICT);
    for (size_t i = 0; i < settings->count; i++)
        if (!strncmp(settings->items[i].name, "PYTORCH_", sizeof "PYTORCH_" - 1) &&
            add_text(snapshot, settings->items[i].name, settings->items[i].value))
            return -1;
    pickle_put(&snapshot->pickle, PICKLE_CLOSE_DICT);
    pickle_put(&snapshot->pickle, PICKLE_SET_ITEM);
    return 0;
}

/* Writes the remaining keys of PyTorch's snapshots, empty if nothing was recorded for them. */
static int put_rest(struct snapshot *snapshot)
{
    struct pickle *pickle = &snapshot->pickle;
    if (put_settings(snapshot))
        return -1;
    if (key(snapshot, "external_annotations"))
        return -1;
    pickle_put(pickle, PICKLE_EMPTY_LIST);
    pickle_put(pickle, PICKLE_SET_ITEM);
    return 0;
}

int export_torch_snapshot(const struct export *export, struct err *err)
{
    struct snapshot *snapshot = array_new(1, sizeof *snapshot, err);
    int status = -1;
    if (!snapshot)
        return -1;
    snapshot->export = export;
    snapshot->err = err;
    snapshot->current = -1;
    if (choose_layers(snapshot) || frames_init(&snapshot->frames, export, err))
        goto out;
    pickle_begin(&snapshot->pickle, export->out);
    pickle_put(&snapshot->pickle, PICKLE_EMPTY_DICT);
    status = put_traces(snapshot) || put_segments(snapshot) || put_rest(snapshot) ? -1 : 0;
    pickle_end(&snapshot->pickle);
out:
    pickle_release(&snapshot->pickle);
    frames_release(&snapshot->frames);
    pair_map_release(&snapshot->stacks);
    pair_map_release(&snapshot->frame_dicts);
    for (int i = 0; i < DEVICE_SLOTS; i++)
        range_map_release(&snapshot->devices[i].asked);
    free(snapshot);
    return status;
}
