/* SPDX-License-Identifier: MIT */
/* link: sqlite allocator */
/*
 * Fills the table event of a trace that has the other tables:
 *
 *     make_events TRACE driver|pool|pytorch EVENTS SITES
 *
 * Blocks are allocated and freed at random in a fixed number of places, so that a hundred million
 * events leave as many live blocks as a million. The ids of stacks are 1 to SITES, and the names of
 * phases are the strings 1 to 3. Tensors are adjacent in segments, or, with pytorch, at the places
 * that PyTorch's allocator chooses. A trace with pytorch ends with a failed allocation, because at
 * the end a failure costs the analyzer most.
 */
#include <sqlite3.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analyzer/allocator/allocator.h"
#include "gpumemtrace/event.h"

enum {
    DRIVER_PLACES = 20000,
    TENSOR_PLACES = 20000,
    TENSORS_PER_SEGMENT = 100,
    SEGMENTS = TENSOR_PLACES / TENSORS_PER_SEGMENT,
    PHASE_EVENTS = 1000, /* number of events from one phase to the next */
    FAILURES = 16,
    FAILURE_EVENTS = 20000, /* number of events from one failure to the next */
    STEP_NS = 700,
    ROOM_EVENTS = 2000, /* more events than the end of a trace takes */
};
#define TENSOR_BYTES UINT64_C(204800)
#define SEGMENT_BYTES (TENSOR_BYTES * TENSORS_PER_SEGMENT)
#define PLACE_BYTES (UINT64_C(2) << 20)
#define LARGE_BYTES (UINT64_C(8) << 20)
#define LAST_BYTES (UINT64_C(64) << 20)
#define DRIVER_START UINT64_C(0x7f0000000000)
#define SEGMENT_START UINT64_C(0x7e0000000000)

struct maker {
    sqlite3 *db;
    sqlite3_stmt *insert;
    uint64_t seq, seed;
    uint32_t sites;
    bool has_pool, is_pytorch, failed;
    struct allocator allocator; /* PyTorch's allocator, whose segments this program makes */
    uint32_t tensors[TENSOR_PLACES];
    uint32_t stack_id; /* of the stack that requests segments */
    bool driver_live[DRIVER_PLACES], tensor_live[TENSOR_PLACES];
    uint32_t phases_count, failures_count;
};

static uint32_t choose(struct maker *maker, uint32_t count)
{
    maker->seed = maker->seed * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return (uint32_t)((maker->seed >> 33) % count);
}

static int insert(struct maker *maker, const struct event *event)
{
    int column = 1;
#define NEVER INT64_MIN
#define WHEN(value) (value)
#define COLUMN(field, ctype, sql, null_when, text)                                                 \
    if ((int64_t)event->field == (int64_t)(null_when) && (null_when) != INT64_MIN)                 \
        sqlite3_bind_null(maker->insert, column++);                                                \
    else                                                                                           \
        sqlite3_bind_int64(maker->insert, column++, (int64_t)event->field);
#include "gpumemtrace/schema/event_columns.def"
    const int step = sqlite3_step(maker->insert);
    sqlite3_reset(maker->insert);
    return step == SQLITE_DONE ? 0 : -1;
}

static struct event next_event(struct maker *maker, enum event_kind kind, enum memory_kind memory)
{
    const uint64_t seq = ++maker->seq;
    return (struct event){.seq = seq,
                          .time_ns = seq * STEP_NS,
                          .thread_id = 1 + (uint32_t)(seq / 64 % 4),
                          .hook_id = 1,
                          .kind = (uint8_t)kind,
                          .memory = (uint8_t)memory};
}

/* Allocates a block if the place is free. If not, frees the block at this place. */
static int turn(struct maker *maker, bool *live, enum memory_kind memory, uint64_t address,
                uint64_t room_bytes)
{
    struct event event = next_event(maker, *live ? EVENT_FREE : EVENT_ALLOC, memory);
    event.address = address;
    if (!*live) {
        event.size_bytes = 512 * (uint64_t)(1 + choose(maker, (uint32_t)(room_bytes / 512)));
        event.stack_id = 1 + choose(maker, maker->sites);
    }
    *live = !*live;
    return insert(maker, &event);
}

static int turn_driver(struct maker *maker)
{
    const uint32_t place = choose(maker, DRIVER_PLACES);
    return turn(maker, &maker->driver_live[place], MEMORY_LINEAR,
                DRIVER_START + place * PLACE_BYTES, PLACE_BYTES);
}

static int turn_tensor(struct maker *maker)
{
    const uint32_t place = choose(maker, TENSOR_PLACES);
    return turn(maker, &maker->tensor_live[place], MEMORY_TENSOR,
                SEGMENT_START + place * TENSOR_BYTES, TENSOR_BYTES);
}

/* --- as PyTorch's allocator does it --- */

static void note_segment(struct maker *maker, enum event_kind kind, uint64_t address,
                         uint64_t size_bytes, int32_t result)
{
    struct event event = next_event(maker, kind, MEMORY_LINEAR);
    event.address = address;
    event.size_bytes = size_bytes;
    event.stack_id = kind == EVENT_ALLOC ? maker->stack_id : 0;
    event.result = result;
    maker->failed |= insert(maker, &event) != 0;
}

static bool take_segment(void *self, uint64_t bytes, uint64_t *address)
{
    struct maker *maker = self;
    *address = maker->allocator.addresses.next_address;
    maker->allocator.addresses.next_address += bytes;
    note_segment(maker, EVENT_ALLOC, *address, bytes, 0);
    return true;
}

static void give_segment(void *self, uint64_t address, uint64_t bytes)
{
    (void)bytes;
    note_segment(self, EVENT_FREE, address, 0, 0);
}

static int turn_pytorch(struct maker *maker)
{
    const uint32_t place = choose(maker, TENSOR_PLACES);
    const uint32_t units = (uint32_t)((choose(maker, 8) ? TENSOR_BYTES : LARGE_BYTES) / 512);
    enum allocator_outcome outcome;
    struct err err;
    bool *live = &maker->tensor_live[place];
    const uint32_t block = maker->tensors[place];
    struct event event;
    *live = !*live;
    if (!*live) {
        event = next_event(maker, EVENT_FREE, MEMORY_TENSOR);
        event.address = maker->allocator.blocks[block].address;
        return allocator_free(&maker->allocator, block, &err) || insert(maker, &event) ? -1 : 0;
    }
    maker->stack_id = 1 + choose(maker, maker->sites);
    const struct allocator_request request = {.bytes = 512 * (uint64_t)(1 + choose(maker, units)),
                                              .owner = ALLOCATOR_OF_ALL};
    if (allocator_alloc(&maker->allocator, &request, &maker->tensors[place], &outcome, &err))
        return -1;
    const struct allocator_block *made = &maker->allocator.blocks[maker->tensors[place]];
    event = next_event(maker, EVENT_ALLOC, MEMORY_TENSOR);
    event.address = made->address;
    event.size_bytes = made->bytes;
    event.stack_id = maker->stack_id;
    return insert(maker, &event) || maker->failed ? -1 : 0;
}

static int refuse(struct maker *maker)
{
    struct event event = next_event(maker, EVENT_DEVICE_MEMORY, MEMORY_NONE);
    event.address = LAST_BYTES / 4;
    event.size_bytes = UINT64_C(64) << 30;
    if (insert(maker, &event))
        return -1;
    maker->stack_id = 1;
    note_segment(maker, EVENT_ALLOC, 0, LAST_BYTES, 2);
    return 0;
}

/* The failed request is smaller than the idle memory of the pool, but larger than any idle
   block. */
static int fail_pytorch(struct maker *maker)
{
    struct err err;
    if (refuse(maker) || allocator_empty_cache(&maker->allocator, &err) || refuse(maker))
        return -1;
    struct event event = next_event(maker, EVENT_ALLOC, MEMORY_TENSOR);
    event.size_bytes = LAST_BYTES;
    event.result = 2;
    event.stack_id = 1;
    return insert(maker, &event) || maker->failed ? -1 : 0;
}

/* --- all of it --- */

static int begin_segment(struct maker *maker, uint32_t number)
{
    struct event event = next_event(maker, EVENT_ALLOC, MEMORY_LINEAR);
    event.address = SEGMENT_START + number * SEGMENT_BYTES;
    event.size_bytes = SEGMENT_BYTES;
    event.stack_id = 1;
    return insert(maker, &event);
}

/* Strings 1 to 3 are the names of phases. The end of the third phase ends a step. */
static int change_phase(struct maker *maker)
{
    struct event event = next_event(maker, EVENT_PHASE_POP, MEMORY_NONE);
    event.thread_id = 1;
    if (insert(maker, &event)) /* the first phase has no predecessor to end */
        return -1;
    if (maker->phases_count && maker->phases_count % 3 == 0) {
        event = next_event(maker, EVENT_STEP, MEMORY_NONE);
        event.size_bytes = maker->phases_count / 3;
        if (insert(maker, &event))
            return -1;
    }
    event = next_event(maker, EVENT_PHASE_PUSH, MEMORY_NONE);
    event.thread_id = 1;
    event.object = 1 + maker->phases_count++ % 3;
    return insert(maker, &event);
}

static int fail(struct maker *maker)
{
    struct event event = next_event(maker, EVENT_DEVICE_MEMORY, MEMORY_NONE);
    event.address = UINT64_C(1) << 30;
    event.size_bytes = UINT64_C(64) << 30;
    if (insert(maker, &event))
        return -1;
    maker->failures_count++;
    event = next_event(maker, EVENT_ALLOC, MEMORY_LINEAR);
    event.size_bytes = UINT64_C(4) << 30;
    event.result = 2;
    event.stack_id = 1;
    return insert(maker, &event);
}

/* Failures begin when the places are filled. A long trace has as many failures as a short one. */
static bool is_failure_due(const struct maker *maker)
{
    return maker->failures_count < FAILURES &&
           maker->seq >= (maker->failures_count + 1) * (uint64_t)FAILURE_EVENTS;
}

static int make(struct maker *maker, uint64_t events_count)
{
    const uint64_t last_seq = events_count - (maker->is_pytorch ? ROOM_EVENTS : 0);
    int status = 0;
    for (uint32_t i = 0; maker->has_pool && !maker->is_pytorch && i < SEGMENTS && !status; i++)
        status = begin_segment(maker, i);
    while (maker->seq < last_seq && !status) {
        if (maker->seq >= maker->phases_count * (uint64_t)PHASE_EVENTS)
            status = change_phase(maker);
        else if (is_failure_due(maker))
            status = fail(maker);
        else if (maker->has_pool && choose(maker, 8))
            status = (maker->is_pytorch ? turn_pytorch : turn_tensor)(maker);
        else
            status = turn_driver(maker);
    }
    return !status && maker->is_pytorch ? fail_pytorch(maker) : status;
}

static const char insert_events[] = "INSERT INTO event VALUES ("
#define COLUMN(field, ctype, sql, null_when, text) ":" #field ","
#include "gpumemtrace/schema/event_columns.def"
    ;

static int prepare(struct maker *maker, const char *path)
{
    char text[sizeof insert_events + 1];
    snprintf(text, sizeof text, "%s", insert_events);
    text[strlen(text) - 1] = ')';
    if (sqlite3_open_v2(path, &maker->db, SQLITE_OPEN_READWRITE, NULL) != SQLITE_OK ||
        sqlite3_exec(maker->db, "PRAGMA journal_mode = OFF; PRAGMA synchronous = OFF; BEGIN", NULL,
                     NULL, NULL) != SQLITE_OK)
        return -1;
    return sqlite3_prepare_v2(maker->db, text, -1, &maker->insert, NULL) == SQLITE_OK ? 0 : -1;
}

int main(int argc, char **argv)
{
    static struct maker maker = {.seed = 1};
    if (argc < 5)
        return 2;
    const struct allocator_settings settings = allocator_default_settings();
    const struct allocator_driver driver = {
        .self = &maker, .take = take_segment, .give = give_segment};
    allocator_init(&maker.allocator, &settings);
    maker.allocator.driver = &driver;
    maker.allocator.addresses.next_address = SEGMENT_START;
    maker.is_pytorch = !strcmp(argv[2], "pytorch");
    maker.has_pool = maker.is_pytorch || !strcmp(argv[2], "pool");
    maker.sites = (uint32_t)strtoul(argv[4], NULL, 10);
    int status = prepare(&maker, argv[1]) || make(&maker, strtoull(argv[3], NULL, 10)) ||
                 sqlite3_exec(maker.db, "COMMIT", NULL, NULL, NULL) != SQLITE_OK;
    if (status)
        fprintf(stderr, "make_events: %s: %s\n", argv[1], sqlite3_errmsg(maker.db));
    sqlite3_finalize(maker.insert);
    sqlite3_close(maker.db);
    allocator_release(&maker.allocator);
    return status;
}
