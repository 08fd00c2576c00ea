/* SPDX-License-Identifier: MIT */
/* Runs of the model beside the recording; see runs.h. */
#include "runs.h"

static uint64_t minus(uint64_t a, uint64_t b)
{
    return a > b ? a - b : 0;
}

static uint64_t card_of(const struct whatif_device *device, const struct whatif_run *run)
{
    if (run->ask.total_bytes)
        return run->ask.total_bytes;
    return device->card_known ? device->total_bytes : ALLOCATOR_UNLIMITED;
}

/* Finds the memory fraction that was set. PyTorch rounds the limit that it reports, but people set
 * round fractions, so a round fraction near the reported limit is taken. */
static double share_of(const struct pool_limit *reported, uint64_t total_bytes)
{
    enum { MOST_PARTS = 10000 };
    const double exact = (double)reported->bytes / (double)total_bytes;

    for (int parts = 10; parts <= MOST_PARTS; parts *= 10) {
        const double share = (double)(uint64_t)(exact * parts + 0.5) / parts;
        const double apart_bytes = (share - exact) * (double)total_bytes;

        if (share > 0 &&
            (apart_bytes < 0 ? -apart_bytes : apart_bytes) <= (double)reported->rounding_bytes)
            return share;
    }
    return exact;
}

double whatif_fraction(const struct whatif_device *device, const struct whatif_run *run)
{
    if (run->fraction > 0 || !device->reported.bytes || !device->total_bytes)
        return run->fraction;
    return share_of(&device->reported, device->total_bytes);
}

/* Returns whether the recorded run has a memory fraction that was not reported, and the run's ask
 * sets no limit of its own. */
static bool is_under_unknown_fraction(const struct whatif_device *device,
                                      const struct whatif_run *run)
{
    return device->fraction_below_bytes != ALLOCATOR_UNLIMITED &&
           !(whatif_fraction(device, run) > 0) && !run->ask.total_bytes;
}

/* Returns the limit that the memory fraction sets for the pool. */
static uint64_t pool_may_hold_bytes(const struct whatif_device *device,
                                    const struct whatif_run *run)
{
    const uint64_t total_bytes = run->ask.total_bytes ? run->ask.total_bytes : device->total_bytes;
    const double fraction = whatif_fraction(device, run);
    if (is_under_unknown_fraction(device, run))
        return device->fraction_below_bytes - 1;
    if (fraction > 0 && device->total_bytes && total_bytes != ALLOCATOR_UNLIMITED)
        return (uint64_t)(fraction * (double)total_bytes);
    return ALLOCATOR_UNLIMITED;
}

/* Sets how much the pool may hold now. False: the pool already holds more than that, so the memory
 * outside the pool would not have fitted on the card. */
static bool set_room(struct whatif_run *run, const struct whatif_device *device,
                     uint64_t outside_bytes)
{
    const uint64_t card_bytes = card_of(device, run);
    run->allocator.room_bytes = ALLOCATOR_UNLIMITED;
    run->allocator.card_bytes = device->total_bytes;
    run->allocator.settings.fraction_bytes = pool_may_hold_bytes(device, run);
    if (card_bytes == ALLOCATOR_UNLIMITED)
        return true;
    const uint64_t context_bytes =
        run->ask.context_bytes ? run->ask.context_bytes : device->context_bytes;
    run->allocator.room_bytes = minus(card_bytes, context_bytes + outside_bytes);
    return run->allocator.reserved_bytes <= run->allocator.room_bytes;
}

static void end_run(struct whatif_run *run, const struct cursor *at, uint64_t requested_bytes,
                    bool is_outside)
{
    run->failure = (struct whatif_failure){
        .at = cursor_moment(at), .requested_bytes = requested_bytes, .is_outside = is_outside};
}

static void note_held(struct whatif_run *run, uint64_t outside_bytes)
{
    const uint64_t held_now_bytes = outside_bytes + run->allocator.reserved_bytes;
    if (held_now_bytes > run->peak_held_bytes)
        run->peak_held_bytes = held_now_bytes;
}

/* Counts the result that a request which failed in the recording has in this run. If the memory
 * fraction was not reported, only pool sizes that the recorded pool once had are surely allowed. */
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

static bool any_goes_on(const struct whatif_device *device, size_t run_count)
{
    size_t i = 0;
    while (i < run_count && !run_goes_on(&device->runs[i]))
        i++;
    return i < run_count;
}

static int alloc_in_run(struct whatif_run *run, const struct whatif_device *device,
                        const struct run_request *request, uint32_t *block)
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
    if (run->allocator.peak_reserved_bytes > peak_bytes)
        run->live_at_peak_bytes = run->allocator.allocated_bytes;
    note_held(run, outside_bytes);
    if (event->result != 0) {
        const uint32_t served = *block;

        *block = ALLOCATOR_NONE;
        return serve_failure(run, device, at, served);
    }
    if (*block == ALLOCATOR_NONE)
        end_run(run, at, request->request->bytes, false);
    return 0;
}

void runs_hold(struct whatif *whatif, const struct whatif_device *device, const struct cursor *at,
               uint64_t outside_bytes)
{
    for (size_t i = 0; !whatif_device_is_over(device) && i < whatif->ask_count; i++) {
        struct whatif_run *run = &device->runs[i];

        if (!run_goes_on(run))
            continue;
        if (set_room(run, device, outside_bytes))
            note_held(run, outside_bytes);
        else
            end_run(run, at, 0, true);
    }
}

int runs_empty_cache(struct whatif *whatif, struct whatif_device *device, struct err *err)
{
    if (device->was_refused || device->has_emptied)
        return 0;
    device->has_emptied = true;
    for (size_t i = 0; i < whatif->ask_count; i++)
        if (allocator_empty_cache(&device->runs[i].allocator, err))
            return -1;
    return 0;
}

void runs_note_limit(struct whatif_device *device, const struct event *event)
{
    const struct allocator *allocator = &device->recorded.allocator;
    const uint64_t bytes = allocator->reserved_bytes + allocator_segment_bytes(event->size_bytes);
    if (event->result != 0 && !device->was_refused && bytes < device->fraction_below_bytes)
        device->fraction_below_bytes = bytes;
    if (allocator->reserved_bytes > device->reported.bytes + device->reported.rounding_bytes)
        device->reported.bytes = 0;
}

int runs_alloc(struct whatif *whatif, struct whatif_device *device,
               const struct run_request *request, uint32_t *handles)
{
    uint32_t block;
    for (size_t i = 0; i < whatif->ask_count; i++) {
        if (!run_goes_on(&device->runs[i]))
            continue;
        if (alloc_in_run(&device->runs[i], device, request, &block))
            return -1;
        if (handles)
            handles[HANDLE_RUNS + i] = block;
    }
    device->no_run_goes_on = whatif->ends_with_runs && !any_goes_on(device, whatif->ask_count);
    device->was_refused = device->has_emptied = false;
    return 0;
}
