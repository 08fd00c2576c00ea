/* SPDX-License-Identifier: MIT */
/* A recorded run through the model of the allocator; see whatif.h. */
#include "whatif.h"

#include <stdlib.h>
#include <string.h>

#include "analyzer/load/event_reader.h"
#include "analyzer/load/load.h"
#include "analyzer/replay/memory_rules.h"
#include "analyzer/replay/replay.h"
#include "analyzer/util/array.h"
#include "forks.h"
#include "graphs.h"

/* --- devices --- */

static int device_init(struct whatif *whatif, struct whatif_device *device, struct err *err)
{
    recorded_init(&device->recorded, device->device, &whatif->pieces, &whatif->own.allocator);
    device->recorded.follows = whatif->follows;
    device->runs = array_new(whatif->ask_count, sizeof *device->runs, err);
    if (!device->runs)
        return -1;
    for (size_t i = 0; i < whatif->ask_count; i++) {
        struct whatif_run *run = &device->runs[i];
        struct whatif_settings settings = whatif->own;

        run->ask = whatif->asks[i];
        run->failure.at.index = run->last_same_index = run->copied_index = INDEX_NONE;
        if (run->ask.is_spare || (run->ask.least_bytes && run->ask.device != device->device))
            run->failure.at.index = 0;
        if (run->ask.change && settings_change(&settings, run->ask.change, err))
            return -1;
        run->fraction = run->ask.fraction > 0 ? run->ask.fraction : settings.fraction;
        allocator_init(&run->allocator, &settings.allocator);
    }
    return 0;
}

/* NULL: out of memory. */
static struct whatif_device *find_device(struct whatif *whatif, int number, struct err *err)
{
    struct whatif_device *device = whatif->devices[DEVICE_SLOT(number)];

    if (device)
        return device;
    device = array_new(1, sizeof *device, err);
    if (!device)
        return NULL;
    device->device = number;
    device->fraction_below_bytes = ALLOCATOR_UNLIMITED;
    whatif->devices[DEVICE_SLOT(number)] = device;
    return device_init(whatif, device, err) ? NULL : device;
}

/* --- what the card has --- */

static uint64_t round_up(uint64_t bytes)
{
    return (bytes + ALLOCATOR_GRANULE_BYTES - 1) / ALLOCATOR_GRANULE_BYTES *
           ALLOCATOR_GRANULE_BYTES;
}

static uint64_t minus(uint64_t a, uint64_t b)
{
    return a > b ? a - b : 0;
}

/* The driver's memory comes in granules; small pieces share them. */
static uint64_t driver_bytes(const struct whatif_device *device)
{
    return device->whole_bytes + round_up(device->small_bytes);
}

/* What this process holds of the card, as far as it is recorded. */
static uint64_t held_bytes(const struct whatif_device *device, const struct history *history)
{
    const struct device_use *use = history_device(history, device->device);

    return driver_bytes(device) +
           (use ? history->stocks[use->stocks[ACCOUNT_context]].live_bytes : 0);
}

static int note_change(void *self, const struct cursor *at, const struct spans *spans,
                       const struct change *change)
{
    struct whatif *whatif = self;
    const struct block *block = change->block;
    const struct stock *stock = &at->history->stocks[block->stock];

    (void)spans;
    if (stock->account != ACCOUNT_device)
        return 0;
    struct whatif_device *device = find_device(whatif, stock->device, at->err);
    if (!device)
        return -1;
    const bool is_small = block->size_bytes < ALLOCATOR_GRANULE_BYTES;
    const uint64_t bytes = is_small ? block->size_bytes : round_up(block->size_bytes);
    uint64_t *sum = is_small ? &device->small_bytes : &device->whole_bytes;
    *sum += change->birth ? bytes : -bytes;
    if (driver_bytes(device) > device->peak_driver_bytes)
        device->peak_driver_bytes = driver_bytes(device);
    return 0;
}

/* What the last answer said stands: it may have turned out to speak of a later event than its own. */
static void note_context(struct whatif_device *device)
{
    if (device->context_bytes > device->peak_context_bytes)
        device->peak_context_bytes = device->context_bytes;
}

/* The card's answer tells of this event: what is used beyond this process is context and others. */
static int note_sample(struct whatif *whatif, const struct cursor *at)
{
    const struct memory_sample *sample = &at->history->samples[DEVICE_SLOT(at->event->device)];

    if (!sample->known || sample->told_index != at->index)
        return 0;
    struct whatif_device *device = find_device(whatif, at->event->device, at->err);
    if (!device)
        return -1;
    const uint64_t used_bytes = minus(sample->total_bytes, sample->free_bytes);
    device->card_known = true;
    device->total_bytes = sample->total_bytes;
    if (device->sample_index != sample->life.begin_index)
        note_context(device);
    device->sample_index = sample->life.begin_index;
    device->context_bytes = minus(used_bytes, held_bytes(device, at->history));
    return 0;
}

/* --- the runs --- */

static uint64_t card_of(const struct whatif_device *device, const struct whatif_run *run)
{
    if (run->ask.total_bytes)
        return run->ask.total_bytes;
    return device->card_known ? device->total_bytes : ALLOCATOR_UNLIMITED;
}

/* Of the recording, where the ask has none of its own. */
static bool is_under_unknown_fraction(const struct whatif_device *device,
                                      const struct whatif_run *run)
{
    return device->fraction_below_bytes != ALLOCATOR_UNLIMITED && !(run->fraction > 0) &&
           !run->ask.total_bytes && !run->ask.pool_bytes;
}

/* Sets what the pool may hold now. False: what lies outside it would have found no room. */
static bool set_room(struct whatif_run *run, const struct whatif_device *device,
                     uint64_t outside_bytes)
{
    const uint64_t card_bytes = card_of(device, run);

    run->allocator.room_bytes = ALLOCATOR_UNLIMITED;
    run->allocator.card_bytes = device->total_bytes;
    if (run->fraction > 0 && device->total_bytes)
        run->allocator.settings.fraction_bytes =
            (uint64_t)(run->fraction *
                       (double)(run->ask.total_bytes ? card_bytes : device->total_bytes));
    else if (is_under_unknown_fraction(device, run))
        run->allocator.settings.fraction_bytes = device->fraction_below_bytes - 1;
    if (run->ask.pool_bytes)
        run->allocator.settings.fraction_bytes = run->ask.pool_bytes;
    if (card_bytes == ALLOCATOR_UNLIMITED)
        return true;
    const uint64_t context_bytes =
        run->ask.context_bytes ? run->ask.context_bytes : device->context_bytes;
    run->allocator.room_bytes = minus(card_bytes, context_bytes + outside_bytes);
    return run->allocator.reserved_bytes <= run->allocator.room_bytes;
}

static void end_run(struct whatif_run *run, const struct cursor *at, uint64_t asked_bytes,
                    bool is_outside)
{
    run->failure = (struct whatif_failure){
        .at = cursor_moment(at), .asked_bytes = asked_bytes, .is_outside = is_outside};
}

static void note_peaks(struct whatif_run *run, uint64_t outside_bytes, uint64_t peak_before_bytes)
{
    const uint64_t held_now_bytes = outside_bytes + run->allocator.reserved_bytes;
    const uint64_t needed_bytes = outside_bytes + run->allocator.allocated_bytes;

    if (run->allocator.peak_reserved_bytes > peak_before_bytes)
        run->live_at_peak_bytes = run->allocator.allocated_bytes;
    if (held_now_bytes > run->peak_held_bytes)
        run->peak_held_bytes = held_now_bytes;
    if (needed_bytes > run->peak_needed_bytes)
        run->peak_needed_bytes = needed_bytes;
}

/* Under a fraction that is not told, what the recorded pool held once is surely allowed. */
static int serve_failure(struct whatif_run *run, const struct whatif_device *device,
                         const struct cursor *at, uint32_t block)
{
    const bool is_sure =
        !is_under_unknown_fraction(device, run) ||
        run->allocator.reserved_bytes <= device->recorded.allocator.peak_reserved_bytes;

    if (block != ALLOCATOR_NONE) {
        run->served_failures_count += is_sure;
        run->unknown_failures_count += !is_sure;
        return allocator_free(&run->allocator, block, at->err);
    }
    run->same_failures_count++;
    run->last_same_index = at->index;
    if (run->ask.serves_all)
        end_run(run, at, at->event->size_bytes, false);
    return 0;
}

static bool goes_on(const struct whatif_run *run)
{
    return run->failure.at.index == INDEX_NONE;
}

static bool any_goes_on(const struct whatif_device *device, size_t run_count)
{
    size_t i = 0;

    while (i < run_count && !goes_on(&device->runs[i]))
        i++;
    return i < run_count;
}

static int alloc_in_run(struct whatif_run *run, const struct whatif_device *device,
                        const struct fork_request *request, uint32_t *block)
{
    const struct cursor *at = request->at;
    const struct event *event = at->event;
    const uint64_t outside_bytes = request->outside_bytes;
    const uint64_t peak_bytes = run->allocator.peak_reserved_bytes;
    enum allocator_outcome outcome;

    *block = ALLOCATOR_NONE;
    if (!set_room(run, device, outside_bytes)) {
        end_run(run, at, 0, true);
        return 0;
    }
    if (allocator_alloc(&run->allocator, request->request, block, &outcome, at->err))
        return -1;
    note_peaks(run, outside_bytes, peak_bytes);
    if (event->result != 0) {
        const uint32_t served = *block;

        *block = ALLOCATOR_NONE;
        return serve_failure(run, device, at, served);
    }
    if (*block == ALLOCATOR_NONE)
        end_run(run, at, event->size_bytes, false);
    return 0;
}

/* torch.cuda.empty_cache(), as its calls of the driver tell; not what a refusal made PyTorch do. */
static int empty_runs(struct whatif *whatif, struct whatif_device *device, struct err *err)
{
    if (device->was_refused || device->has_emptied)
        return 0;
    device->has_emptied = true;
    for (size_t i = 0; i < whatif->ask_count; i++)
        if (allocator_empty_cache(&device->runs[i].allocator, err))
            return -1;
    return 0;
}

/* A refusal of PyTorch's own, under a memory fraction. */
static void note_fraction(struct whatif_device *device, const struct event *event)
{
    const struct allocator *allocator = &device->recorded.allocator;
    const uint64_t bytes = allocator->reserved_bytes + allocator_segment_bytes(event->size_bytes);

    if (event->result != 0 && !device->was_refused && bytes < device->fraction_below_bytes)
        device->fraction_below_bytes = bytes;
}

/* --- events --- */

static bool is_pytorch(const struct trace *trace, const struct event *event)
{
    return event->memory == MEMORY_TENSOR &&
           (!event->object || !strcmp(trace_string(trace, event->object), "pytorch"));
}

bool whatif_device_is_over(const struct whatif_device *device)
{
    return device->no_run_goes_on ||
           (!device->recorded.follows && device->recorded.difference.kind != DIFFERENCE_NONE);
}

static uint32_t *add_tensor(struct whatif *whatif, const struct event *event, struct err *err)
{
    const size_t width = whatif->ask_count + HANDLE_RUNS;
    const uint32_t slot = slots_take(&whatif->tensor_slots, err);

    if (slot == SLOT_NONE)
        return NULL;
    uint32_t *grown =
        array_grow(whatif->handles, &whatif->handle_capacity, slot, width * sizeof *grown, err);
    if (!grown)
        return NULL;
    whatif->handles = grown;
    grown += slot * width;
    for (size_t i = 0; i < width; i++)
        grown[i] = ALLOCATOR_NONE;
    grown[HANDLE_DEVICE] = (uint32_t)DEVICE_SLOT(event->device);
    return address_map_put(&whatif->tensors, 0, event->address, slot, err) ? NULL : grown;
}

static int free_handles(const struct whatif *whatif, const uint32_t *handles,
                        const struct event *event, struct err *err)
{
    struct whatif_device *device = whatif->devices[handles[HANDLE_DEVICE]];

    if (whatif_device_is_over(device))
        return 0;
    device->has_emptied = false;
    if (recorded_free(&device->recorded, event, handles[HANDLE_RECORDED], err))
        return -1;
    for (size_t i = 0; i < whatif->ask_count; i++)
        if (handles[HANDLE_RUNS + i] != ALLOCATOR_NONE && goes_on(&device->runs[i]) &&
            allocator_free(&device->runs[i].allocator, handles[HANDLE_RUNS + i], err))
            return -1;
    return 0;
}

static int free_tensor(struct whatif *whatif, const struct event *event, struct err *err)
{
    const uint32_t slot = address_map_remove(&whatif->tensors, 0, event->address);

    if (slot == ADDRESS_MAP_NONE)
        return 0;
    slots_give_back(&whatif->tensor_slots, slot);
    return free_handles(whatif, &whatif->handles[slot * (whatif->ask_count + HANDLE_RUNS)], event,
                        err);
}

/* And in the copies that it becomes. */
static int alloc_in_forks(struct whatif *whatif, struct whatif_device *device, size_t number,
                          const struct fork_request *request, uint32_t *handles)
{
    uint32_t block;
    size_t copy;

    while (number != FORK_NONE) {
        if (forks_begin(whatif, device, number, request, &copy) ||
            alloc_in_run(&device->runs[number], device, request, &block))
            return -1;
        if (handles)
            handles[HANDLE_RUNS + number] = block;
        number = forks_end(device, number, request, copy, whatif->ask_count);
    }
    return 0;
}

static int alloc_in_runs(struct whatif *whatif, struct whatif_device *device,
                         const struct cursor *at, const struct allocator_request *asked,
                         uint32_t *handles)
{
    const uint64_t outside_bytes =
        minus(held_bytes(device, at->history), device->recorded.allocator.reserved_bytes);
    const struct fork_request request = {
        .at = at, .request = asked, .outside_bytes = outside_bytes};

    for (size_t i = 0; i < whatif->ask_count; i++)
        if (goes_on(&device->runs[i]) && device->runs[i].copied_index != at->index &&
            alloc_in_forks(whatif, device, i, &request, handles))
            return -1;
    device->no_run_goes_on = whatif->ends_with_runs && !any_goes_on(device, whatif->ask_count);
    device->was_refused = device->has_emptied = false;
    return 0;
}

static int alloc_tensor(struct whatif *whatif, const struct cursor *at)
{
    const struct event *event = at->event;
    struct whatif_device *device = find_device(whatif, event->device, at->err);
    uint32_t block, *handles = NULL;

    if (!device)
        return -1;
    if (whatif_device_is_over(device) || (event->result == 0 && !event->address))
        return 0;
    device->has_pool = true;
    const struct allocator_request request = graphs_request(whatif, device, event);
    if (recorded_alloc(&device->recorded, event, &request, &block, at->err))
        return -1;
    if (whatif_device_is_over(device))
        return 0;
    note_fraction(device, event);
    if (event->result == 0) {
        handles = add_tensor(whatif, event, at->err);
        if (!handles)
            return -1;
        handles[HANDLE_RECORDED] = block;
    }
    return alloc_in_runs(whatif, device, at, &request, handles);
}

static int replay_tensor(struct whatif *whatif, const struct cursor *at)
{
    const struct event *event = at->event;

    if (event->result == INT32_MIN)
        return 0;
    if (event->kind == EVENT_ALLOC)
        return alloc_tensor(whatif, at);
    return event->result == 0 ? free_tensor(whatif, event, at->err) : 0;
}

/* Memory of the driver goes back; if a pool used it, that is the pool's doing. */
static int end_piece(struct whatif *whatif, const struct cursor *at, uint64_t address)
{
    struct piece *piece = pieces_at(&whatif->pieces, address);

    for (int i = 0; piece && piece->is_used && i < DEVICE_SLOTS; i++) {
        struct whatif_device *device = whatif->devices[i];

        if (!device || !device->has_pool || whatif_device_is_over(device) ||
            piece->device != device->device)
            continue;
        if (recorded_give_back(&device->recorded, at->event, piece, at->err) ||
            empty_runs(whatif, device, at->err))
            return -1;
    }
    pieces_remove(&whatif->pieces, address);
    return 0;
}

static int end_mappings(struct whatif *whatif, const struct cursor *at)
{
    uint64_t address = at->event->address, left_bytes = at->event->size_bytes;

    while (left_bytes) {
        const struct piece *piece = pieces_at(&whatif->pieces, address);
        const uint64_t bytes = piece ? piece->bytes : 0;

        if (!bytes || bytes > left_bytes)
            return 0;
        if (end_piece(whatif, at, address))
            return -1;
        address += bytes;
        left_bytes -= bytes;
    }
    return 0;
}

static int replay_driver_alloc(struct whatif *whatif, const struct cursor *at)
{
    const struct event *event = at->event;
    struct whatif_device *device;

    if (event->result != 0) {
        if (event->device == DEVICE_UNKNOWN)
            return 0;
        device = find_device(whatif, event->device, at->err);
        if (device)
            device->was_refused = true;
        return device ? 0 : -1;
    }
    if (event->memory == MEMORY_RESERVATION) {
        whatif->pieces.range_address = event->address;
        whatif->pieces.range_bytes = event->size_bytes;
    }
    if (event->memory == MEMORY_LINEAR && event->address)
        return pieces_add(&whatif->pieces, event, false, at->err);
    return 0;
}

static int replay_event(void *self, const struct cursor *at)
{
    struct whatif *whatif = self;
    const struct event *event = at->event;
    int status = 0;

    if (is_pytorch(at->history->trace, event) &&
        (event->kind == EVENT_ALLOC || event->kind == EVENT_FREE))
        return replay_tensor(whatif, at);
    if (event->kind == EVENT_ALLOC && event->memory != MEMORY_TENSOR)
        status = replay_driver_alloc(whatif, at);
    else if (event->kind == EVENT_FREE && event->memory == MEMORY_LINEAR && event->result == 0)
        status = end_piece(whatif, at, event->address);
    else if (event->kind == EVENT_MAP && event->result == 0)
        status = pieces_add(&whatif->pieces, event, true, at->err);
    else if (event->kind == EVENT_UNMAP && event->result == 0)
        status = end_mappings(whatif, at);
    if (!status)
        status = graphs_event(whatif, event, at->err);
    return status || note_sample(whatif, at) ? -1 : 0;
}

/* --- the pass --- */

int whatif_init(struct whatif *whatif, const struct trace *trace, const struct whatif_ask *asks,
                size_t ask_count, struct err *err)
{
    *whatif = (struct whatif){
        .asks = asks, .ask_count = ask_count, .ends_with_runs = ask_count && asks[0].least_bytes};
    return settings_of_trace(&whatif->own, trace, err);
}

static int note_contexts(void *self, const struct cursor *at)
{
    struct whatif *whatif = self;

    (void)at;
    for (int i = 0; i < DEVICE_SLOTS; i++)
        if (whatif->devices[i])
            note_context(whatif->devices[i]);
    return 0;
}

struct observer whatif_observer(struct whatif *whatif)
{
    return (struct observer){.self = whatif,
                             .on_change = note_change,
                             .on_event = replay_event,
                             .on_end = note_contexts};
}

static int run_pass(struct whatif *whatif, const struct trace *trace,
                    const struct observer *another, struct err *err)
{
    const struct observer observers[] = {whatif_observer(whatif),
                                         another ? *another : (struct observer){0}};
    const struct replay_plan plan = {.observers = {observers, another ? 2 : 1}};
    struct event_reader *reader = event_reader_new(trace, NULL, err);
    struct history history;

    if (!reader)
        return -1;
    const struct event_source source = event_reader_source(reader);
    const int status = replay_trace(&history, trace, &source, &plan, err);
    if (!status)
        history_release(&history);
    event_reader_free(reader);
    return status;
}

static int load_and_run(struct whatif *whatif, const char *path, const struct whatif_ask *asks,
                        size_t ask_count, const struct observer *another, struct err *err)
{
    struct trace trace = {0};

    if (load_trace(&trace, path, err))
        return -1;
    int status = whatif_init(whatif, &trace, asks, ask_count, err);
    whatif->follows = another;
    if (!status)
        status = run_pass(whatif, &trace, another, err);
    trace_release(&trace);
    if (status)
        whatif_release(whatif);
    return status;
}

int whatif_replay(struct whatif *whatif, const char *path, const struct whatif_ask *asks,
                  size_t ask_count, struct err *err)
{
    return load_and_run(whatif, path, asks, ask_count, NULL, err);
}

int whatif_follow(struct whatif *whatif, const char *path, const struct observer *observer,
                  struct err *err)
{
    return load_and_run(whatif, path, NULL, 0, observer, err);
}

void whatif_release(struct whatif *whatif)
{
    for (int i = 0; i < DEVICE_SLOTS; i++) {
        struct whatif_device *device = whatif->devices[i];

        if (!device)
            continue;
        for (size_t j = 0; device->runs && j < whatif->ask_count; j++)
            allocator_release(&device->runs[j].allocator);
        free(device->runs);
        recorded_release(&device->recorded);
        free(device);
    }
    private_pools_release(&whatif->graphs);
    pieces_release(&whatif->pieces);
    address_map_release(&whatif->tensors);
    slots_release(&whatif->tensor_slots);
    free(whatif->handles);
    *whatif = (struct whatif){0};
}
