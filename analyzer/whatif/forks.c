/* SPDX-License-Identifier: MIT */
/* One run for many limits; see forks.h. */
#include "forks.h"

uint64_t run_limit(const struct whatif_run *run)
{
    return run->ask.pool_bytes ? run->ask.pool_bytes : run->ask.total_bytes;
}

static uint64_t round_up(uint64_t bytes)
{
    return (bytes + ALLOCATOR_GRANULE_BYTES - 1) / ALLOCATOR_GRANULE_BYTES *
           ALLOCATOR_GRANULE_BYTES;
}

static bool goes_on(const struct whatif_run *run)
{
    return run->failure.at.index == INDEX_NONE;
}

static void give_up(struct whatif_run *run)
{
    run->failure = (struct whatif_failure){.at = {.index = 0}};
}

static bool are_alike(const struct whatif_run *a, const struct whatif_run *b)
{
    return !a->ask.pool_bytes == !b->ask.pool_bytes;
}

/* The bytes that count against the limit besides the pool's own. */
static uint64_t beside_bytes(const struct whatif_run *run, const struct fork_request *request)
{
    return run->ask.pool_bytes ? 0 : run->ask.context_bytes + request->outside_bytes;
}

/* Notes that limit_bytes failed. The run with the lowest limits that work needs the highest failed
 * limit below its own. */
static void note_failed(struct whatif_device *device, const struct whatif_run *failed,
                        uint64_t limit_bytes, size_t run_count)
{
    uint64_t *fails_bytes = &device->fails_bytes[failed->ask.pool_bytes != 0];

    if (limit_bytes > *fails_bytes)
        *fails_bytes = limit_bytes;
    for (size_t i = 0; i < run_count; i++) {
        struct whatif_run *run = &device->runs[i];

        if (are_alike(run, failed) && run->ask.least_bytes > limit_bytes &&
            run->fails_below_bytes < limit_bytes)
            run->fails_below_bytes = limit_bytes;
    }
}

/* --- places for copies --- */

/* The place of a run that has ended; FORK_NONE: there is none. */
static size_t free_place(const struct whatif_device *device, const struct whatif_run *run,
                         size_t run_count)
{
    for (size_t i = 0; i < run_count; i++)
        if (are_alike(&device->runs[i], run) && !goes_on(&device->runs[i]))
            return i;
    return FORK_NONE;
}

/* Width of the range of limits that only this run covers; UINT64_MAX for the run with the highest
 * limits. */
static uint64_t gap_without(const struct whatif_device *device, const struct whatif_run *run,
                            size_t run_count)
{
    uint64_t below_bytes = run->fails_below_bytes;
    uint64_t above_bytes = UINT64_MAX;

    for (size_t i = 0; i < run_count; i++) {
        const struct whatif_run *other = &device->runs[i];

        if (other == run || !goes_on(other) || !are_alike(other, run))
            continue;
        if (run_limit(other) < run->ask.least_bytes && run_limit(other) > below_bytes)
            below_bytes = run_limit(other);
        if (other->ask.least_bytes > run_limit(run) && other->ask.least_bytes < above_bytes)
            above_bytes = other->ask.least_bytes;
    }
    return above_bytes == UINT64_MAX ? UINT64_MAX : above_bytes - below_bytes;
}

/* Frees a place for the next copy, if none is free: ends the run that covers the narrowest
 * range. */
static void make_place(struct whatif_device *device, const struct whatif_run *like,
                       size_t run_count)
{
    struct whatif_run *given_up = NULL;
    uint64_t smallest_bytes = UINT64_MAX;

    if (free_place(device, like, run_count) != FORK_NONE)
        return;
    for (size_t i = 0; i < run_count; i++) {
        struct whatif_run *run = &device->runs[i];
        const uint64_t gap_bytes =
            are_alike(run, like) ? gap_without(device, run, run_count) : UINT64_MAX;

        if (gap_bytes < smallest_bytes) {
            smallest_bytes = gap_bytes;
            given_up = run;
        }
    }
    if (given_up)
        give_up(given_up);
}

static int copy_run(struct whatif *whatif, struct whatif_device *device, size_t from, size_t to,
                    const struct cursor *at)
{
    struct whatif_run *copy = &device->runs[to];
    const size_t width = whatif->ask_count + HANDLE_RUNS;
    const struct allocator own = copy->allocator;

    *copy = device->runs[from];
    copy->allocator = own;
    copy->copied_index = at->index;
    for (size_t i = 0; i < whatif->tensor_slots.used; i++) {
        uint32_t *handles = &whatif->handles[i * width];

        if (handles[HANDLE_DEVICE] == (uint32_t)DEVICE_SLOT(device->device))
            handles[HANDLE_RUNS + to] = handles[HANDLE_RUNS + from];
    }
    return allocator_copy(&copy->allocator, &device->runs[from].allocator, at->err);
}

/* --- a request --- */

/* The most that a pool grows by to serve the request. */
static uint64_t growth_bytes(const struct allocator_request *request)
{
    return allocator_segment_bytes(request->bytes) + 2 * ALLOCATOR_LARGE_SEGMENT_BYTES;
}

/* The lowest limits fail once they are below what the process holds: raise the run's lowest
 * limit. */
static void raise_least(struct whatif_device *device, struct whatif_run *run, uint64_t held_bytes,
                        size_t run_count)
{
    const uint64_t least_bytes = round_up(held_bytes);

    if (least_bytes <= run->ask.least_bytes || least_bytes > run_limit(run))
        return;
    run->ask.least_bytes = least_bytes;
    note_failed(device, run, least_bytes - ALLOCATOR_GRANULE_BYTES, run_count);
}

int forks_begin(struct whatif *whatif, struct whatif_device *device, size_t number,
                const struct fork_request *request, size_t *copy)
{
    struct whatif_run *run = &device->runs[number];

    *copy = FORK_NONE;
    if (!run->ask.least_bytes)
        return 0;
    const uint64_t held_bytes = run->allocator.reserved_bytes + beside_bytes(run, request);
    raise_least(device, run, held_bytes, whatif->ask_count);
    if (run->ask.least_bytes >= run_limit(run) ||
        held_bytes + growth_bytes(request->request) <= run->ask.least_bytes ||
        allocator_find(&run->allocator, request->request) != ALLOCATOR_NONE)
        return 0;
    *copy = free_place(device, run, whatif->ask_count);
    run->allocator.granted_bytes = 0;
    return *copy == FORK_NONE ? 0 : copy_run(whatif, device, number, *copy, request->at);
}

size_t forks_end(struct whatif_device *device, size_t number, const struct fork_request *request,
                 size_t copy, size_t run_count)
{
    struct whatif_run *run = &device->runs[number];
    struct whatif_run *lower = copy == FORK_NONE ? NULL : &device->runs[copy];
    const uint64_t granted_bytes = run->allocator.granted_bytes;

    run->allocator.granted_bytes = 0;
    if (!run->ask.least_bytes)
        return FORK_NONE;
    /* A run for a single limit may also have a memory fraction, which may allow more than the
     * limit. */
    const bool is_one = run->ask.least_bytes >= run_limit(run);
    const uint64_t needed_bytes =
        granted_bytes && !is_one ? round_up(granted_bytes + beside_bytes(run, request)) : 0;
    const bool are_all = needed_bytes <= run->ask.least_bytes;
    if (!are_all)
        run->ask.least_bytes = needed_bytes;
    if (!goes_on(run))
        note_failed(device, run, run_limit(run), run_count);
    if (!lower)
        return FORK_NONE;
    if (are_all) {
        give_up(lower);
        return FORK_NONE;
    }
    *(lower->ask.pool_bytes ? &lower->ask.pool_bytes : &lower->ask.total_bytes) =
        needed_bytes - ALLOCATOR_GRANULE_BYTES;
    make_place(device, run, run_count);
    return goes_on(lower) ? copy : FORK_NONE;
}
