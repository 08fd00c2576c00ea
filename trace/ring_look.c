/* SPDX-License-Identifier: MIT */
/* See ring_look.h. The file is read, not mapped. A segment may be wiped while it is read; in that
 * case its tail has changed. */
#include "ring_look.h"

#include <fcntl.h>
#include <limits.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "trace_file.h"

struct look {
    int fd;
    struct ring_look found;
};

static off_t segment_at(uint32_t index)
{
    return (off_t)(RING_HEADER_BYTES + (uint64_t)index * RING_SEGMENT_BYTES);
}

static bool read_at(int fd, void *to, size_t bytes, off_t from)
{
    return pread(fd, to, bytes, from) == (ssize_t)bytes;
}

static bool read_tail(const struct look *look, uint32_t index, uint64_t *tail)
{
    return read_at(look->fd, tail, sizeof *tail,
                   segment_at(index) + (off_t)offsetof(struct ring_segment, tail));
}

/* Returns the seq of the first event after the stored slots; 0: there is no event. */
static uint64_t first_event(const struct look *look, uint32_t index, uint32_t from,
                            bool *is_in_call)
{
    struct ring_slot slot;
    while (from < RING_SEGMENT_SLOTS &&
           read_at(look->fd, &slot, sizeof slot,
                   segment_at(index) +
                       (off_t)(offsetof(struct ring_segment, slots) + from * sizeof slot))) {
        const uint8_t state = atomic_load_explicit(&slot.state, memory_order_relaxed);
        if (state == SLOT_EMPTY || slot.type == SLOT_END)
            return 0;
        if (slot.type == SLOT_EVENT && slot.kind != EVENT_NONE) {
            *is_in_call = state == SLOT_PENDING;
            return slot.seq;
        }
        from += slot.type == SLOT_EVENT ? 1 : 1 + record_text_slots(slot.call_id);
    }
    return 0;
}

static void look_at_segment(struct look *look, uint32_t index)
{
    enum { TRIES = 4 };
    uint64_t tail, again, seq;
    bool is_in_call = false;
    for (int i = 0; i < TRIES; i++) {
        if (!read_tail(look, index, &tail))
            return;
        seq = first_event(look, index, (uint32_t)tail, &is_in_call);
        if (!read_tail(look, index, &again) || again == tail)
            break;
    }
    if (!seq || seq >= look->found.first_seq)
        return;
    look->found.first_seq = seq;
    look->found.is_in_call = is_in_call;
}

/* Reads the sums, unless the recorder writes them at the same time. */
static void read_sums(struct look *look)
{
    enum { TRIES = 4 };
    const off_t at = (off_t)offsetof(struct ring_header, sums);
    struct ring_sums *sums = &look->found.sums;
    uint64_t version;
    for (int i = 0; i < TRIES; i++) {
        if (read_at(look->fd, sums, sizeof *sums, at) &&
            read_at(look->fd, &version, sizeof version, at) && version == sums->version &&
            version % 2 == 0 && sums->count <= RING_SUMS)
            return;
    }
    *sums = (struct ring_sums){0};
}

struct ring_look ring_look(const char *trace_path)
{
    char path[PATH_MAX + TRACE_FILE_SUFFIX_BYTES];
    struct look look = {.found = {.first_seq = UINT64_MAX}};
    struct ring_header header;
    snprintf(path, sizeof path, "%s-ring.0", trace_path);
    look.fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (look.fd < 0)
        return look.found;
    if (read_at(look.fd, &header, sizeof header, 0) && !memcmp(header.magic, RING_MAGIC, 8)) {
        const uint32_t segments = atomic_load_explicit(&header.segment_count, memory_order_relaxed);
        look.found.is_there = true;
        look.found.lost_events = atomic_load_explicit(&header.lost_events, memory_order_relaxed);
        read_sums(&look);
        for (uint32_t i = 0; i < segments && i < RING_SEGMENT_LIMIT; i++)
            look_at_segment(&look, i);
    }
    close(look.fd);
    return look.found;
}
