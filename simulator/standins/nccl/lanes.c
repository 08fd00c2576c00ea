/* SPDX-License-Identifier: MIT */
/*
 * Messages between ranks. See lanes.h.
 */
#include "lanes.h"

#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#include "common/numbers.h"

/* The most unread bytes of a lane; its offsets are modulo this number. */
#define LANE_BYTES ((uint64_t)1 << 36)
#define ALIGN_BYTES ((uint64_t)64)
/* Memory is freed in pieces of at least this size. */
#define FREED_BYTES_MIN ((uint64_t)1 << 20)
#define PAGE_BYTES ((uint64_t)4096)

/* The time that PyTorch waits for NCCL. */
enum { WAIT_S = 600 };

int lanes_open(struct lanes *lanes, const struct region_key *key, unsigned rank,
               unsigned rank_count, struct err *err)
{
    lanes->rank = rank;
    lanes->region = region_join(key, rank, rank_count, err);
    return lanes->region ? 0 : -1;
}

void lanes_close(struct lanes *lanes)
{
    if (lanes->region)
        region_leave(lanes->region, lanes->rank);
    lanes->region = NULL;
}

/* --- waiting --- */

static long wait_seconds(void)
{
    const char *text = getenv("GPUMEMTRACE_SIM_NCCL_WAIT");
    long seconds = WAIT_S;
    struct err err;
    if (text && number_parse(text, 0, INT_MAX, &seconds, &err))
        seconds = WAIT_S;
    return seconds;
}

static time_t now(void)
{
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return time.tv_sec;
}

/* A wait for one rank. */
struct waiting {
    unsigned rank, bell;
    time_t began;
};

/* Waits for the bell. Returns 0: look again; -1: waiting is useless, and err says why.
 * waiting->bell is the bell's value before the caller looked. */
static int lanes_wait(struct lanes *lanes, const struct waiting *waiting, struct err *err)
{
    const struct region *region = lanes->region;
    const long most = wait_seconds();
    if (atomic_load(&lanes->aborted)) {
        err_set(err, ERR_SYSTEM, "the communicator was aborted");
        return -1;
    }
    if (now() - waiting->began > most) {
        err_set(err, ERR_SYSTEM, "rank %u of %u has not %s for %ld s, while rank %u waits",
                waiting->rank, region->rank_count,
                atomic_load(&region->ranks[waiting->rank].pid) ? "made its call" : "come", most,
                lanes->rank);
        return -1;
    }
    region_wait(lanes->region, waiting->bell);
    return 0;
}

static int say_ended(const struct lanes *lanes, unsigned rank, struct err *err)
{
    const struct region *region = lanes->region;
    err_set(err, ERR_SYSTEM, "rank %u of %u (process %d) has %s, while rank %u waits for it", rank,
            region->rank_count, (int)atomic_load(&region->ranks[rank].pid),
            atomic_load(&region->ranks[rank].has_left) ? "left the communicator" : "ended",
            lanes->rank);
    return -1;
}

int lanes_wait_for_all(struct lanes *lanes, struct err *err)
{
    const time_t began = now();
    for (unsigned rank = 0; rank < lanes->region->rank_count; rank++)
        for (;;) {
            const struct waiting waiting = {rank, region_bell(lanes->region), began};
            if (atomic_load(&lanes->region->ranks[rank].pid))
                break;
            if (lanes_wait(lanes, &waiting, err))
                return -1;
        }
    return 0;
}

/* --- lanes --- */

/* A lane, seen from one of its ends. */
struct lane {
    int file;
    uint64_t offset;
    _Atomic uint64_t *written, *read;
};

static struct lane lane_find(const struct lanes *lanes, unsigned from, unsigned to, unsigned reader)
{
    const struct region *region = lanes->region;
    const size_t count = region->rank_count;
    const size_t lane = to == LANES_TO_ALL ? count : to;
    const size_t written = from * (count + 1) + lane;
    const size_t read = from * 2 * count + (to == LANES_TO_ALL ? count + reader : to);
    return (struct lane){region->file, REGION_LANES_AT + written * LANE_BYTES,
                         &region->written[written], &region->read[read]};
}

enum way { READ, WRITE, FREE };

/* false: the system call failed. */
static bool lane_do(const struct lane *lane, enum way way, uint64_t at, void *bytes, uint64_t count)
{
    char *place = bytes;
    while (count) {
        const uint64_t within = at % LANE_BYTES, left = LANE_BYTES - within;
        const size_t part = (size_t)(count < left ? count : left);
        const off_t offset = (off_t)(lane->offset + within);
        ssize_t done = (ssize_t)part;
        if (way == READ)
            done = pread(lane->file, place, part, offset);
        else if (way == WRITE)
            done = pwrite(lane->file, place, part, offset);
        else if (fallocate(lane->file, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, offset,
                           (off_t)part))
            return false;
        if (done <= 0)
            return false;
        count -= (uint64_t)done;
        at += (uint64_t)done;
        place = place ? place + done : NULL;
    }
    return true;
}

static uint64_t message_bytes(const struct message *message)
{
    const uint64_t bytes = sizeof *message + message->data_bytes;
    return (bytes + ALIGN_BYTES - 1) / ALIGN_BYTES * ALIGN_BYTES;
}

/* Frees the memory of data up to read_bytes; *freed_bytes is the amount freed before. */
static void lane_free(const struct lane *lane, uint64_t read_bytes, uint64_t *freed_bytes)
{
    const uint64_t end = read_bytes / PAGE_BYTES * PAGE_BYTES;
    if (end < *freed_bytes + FREED_BYTES_MIN)
        return;
    if (lane_do(lane, FREE, *freed_bytes, NULL, end - *freed_bytes))
        *freed_bytes = end;
}

/* The bytes that the slowest reader has read of this rank's lane to all. */
static uint64_t least_read(const struct lanes *lanes)
{
    uint64_t least = UINT64_MAX;
    for (unsigned reader = 0; reader < lanes->region->rank_count; reader++) {
        const struct lane lane = lane_find(lanes, lanes->rank, LANES_TO_ALL, reader);
        const uint64_t read = atomic_load(lane.read);
        if (reader != lanes->rank && read < least)
            least = read;
    }
    return least;
}

void lanes_post(struct lanes *lanes, unsigned to, const struct message *message, const void *data)
{
    const struct lane lane = lane_find(lanes, lanes->rank, to, lanes->rank);
    const uint64_t at = atomic_load_explicit(lane.written, memory_order_relaxed);
    struct message head = *message;
    if (to == LANES_TO_ALL)
        lane_free(&lane, least_read(lanes), &lanes->freed_bytes);
    if (!data || !lane_do(&lane, WRITE, at + sizeof head, (void *)(uintptr_t)data, head.data_bytes))
        head.data_bytes = 0;
    lane_do(&lane, WRITE, at, &head, sizeof head);
    /* Release: a reader that sees the count also sees the message. */
    atomic_store_explicit(lane.written, at + message_bytes(&head), memory_order_release);
    region_ring(lanes->region);
}

/* 1: there is a message; 0: there is none; -1: see err. */
static int lane_look(const struct lane *lane, struct message *message, struct err *err)
{
    const uint64_t at = atomic_load_explicit(lane->read, memory_order_relaxed);
    if (atomic_load_explicit(lane->written, memory_order_acquire) == at)
        return 0;
    if (lane_do(lane, READ, at, message, sizeof *message))
        return 1;
    err_set(err, ERR_SYSTEM, "cannot read what another rank said");
    return -1;
}

/* Goes to the next message and returns the data of this one; data may be NULL. */
static int lane_next(const struct lane *lane, const struct message *message, void **data,
                     struct err *err)
{
    const uint64_t at = atomic_load_explicit(lane->read, memory_order_relaxed);
    int status = 0;
    if (data && message->data_bytes) {
        *data = malloc(message->data_bytes);
        if (!*data) {
            err_set(err, ERR_SYSTEM, "out of memory for what another rank gave");
            status = -1;
        } else if (!lane_do(lane, READ, at + sizeof *message, *data, message->data_bytes)) {
            err_set(err, ERR_SYSTEM, "cannot read what another rank gave");
            free(*data);
            *data = NULL;
            status = -1;
        }
    }
    atomic_store_explicit(lane->read, at + message_bytes(message), memory_order_release);
    return status;
}

static int lane_wait(struct lanes *lanes, const struct lane *lane, unsigned from,
                     struct message *message, struct err *err)
{
    const time_t began = now();
    for (;;) {
        const struct waiting waiting = {from, region_bell(lanes->region), began};
        const bool is_there = region_has(lanes->region, from);
        const int found = lane_look(lane, message, err);
        if (found)
            return found < 0 ? -1 : 0;
        if (!is_there)
            return say_ended(lanes, from, err);
        if (lanes_wait(lanes, &waiting, err))
            return -1;
    }
}

int lanes_take(struct lanes *lanes, unsigned from, struct message *message, void **data,
               struct err *err)
{
    const struct lane lane = lane_find(lanes, from, lanes->rank, lanes->rank);
    const uint64_t at = atomic_load(lane.read);
    uint64_t freed = at / FREED_BYTES_MIN * FREED_BYTES_MIN;
    *data = NULL;
    if (lane_wait(lanes, &lane, from, message, err) || lane_next(&lane, message, data, err))
        return -1;
    lane_free(&lane, atomic_load(lane.read), &freed);
    return 0;
}

int lanes_take_of_all(struct lanes *lanes, unsigned from, uint64_t number, struct message *message,
                      void **data, struct err *err)
{
    const struct lane lane = lane_find(lanes, from, LANES_TO_ALL, lanes->rank);
    *data = NULL;
    lanes_pass_over(lanes, from, number - 1);
    do
        if (lane_wait(lanes, &lane, from, message, err) ||
            lane_next(&lane, message, message->number == number ? data : NULL, err))
            return -1;
    while (message->number < number);
    return 0;
}

void lanes_pass_over(struct lanes *lanes, unsigned from, uint64_t number)
{
    const struct lane lane = lane_find(lanes, from, LANES_TO_ALL, lanes->rank);
    struct message message;
    struct err err;
    while (lane_look(&lane, &message, &err) > 0 && message.number <= number)
        lane_next(&lane, &message, NULL, &err);
}
