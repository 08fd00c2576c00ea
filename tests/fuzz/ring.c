/* SPDX-License-Identifier: MIT */
/*
 * The input is the ring of a killed process: first the tail of each of its two segments (the
 * position up to which the segment was stored in the trace), then the slots of both segments. The
 * header is not part of the input: it is always valid and says that the process has ended.
 *
 *     | tail of segment 0 | tail of segment 1 | slots of 64 bytes …
 */
#include <string.h>
#include <sys/types.h>

#include "file.h"
#include "trace/fold.h"
#include "trace/ring.h"
#include "trace/store.h"

#define SEGMENTS 2
#define TEMPLATE_BYTES (1 << 20)

static char empty_trace[TEMPLATE_BYTES];
static size_t empty_trace_bytes;
static char ring[RING_HEADER_BYTES + SEGMENTS * RING_SEGMENT_BYTES];

static void make_empty_trace(void)
{
    struct store store = {0};
    struct err err = {0};
    fuzz_file_write("", "", 0);
    if (store_create(&store, fuzz_path, &err) || store_close(&store, &err))
        abort();
    FILE *file = fopen(fuzz_path, "rb");
    empty_trace_bytes = fread(empty_trace, 1, sizeof empty_trace, file);
    fclose(file);
}

/* Copies the header of a ring that ring_create makes. Pid 0 stands for a process that has ended. */
static void make_header(void)
{
    struct ring made;
    struct err err = {0};
    char name[sizeof fuzz_path + 16];
    snprintf(name, sizeof name, "%s-ring.0", fuzz_path);
    unlink(name);
    if (ring_create(&made, name, RING_SEGMENT_BYTES, &err))
        abort();
    memcpy(ring, made.header, sizeof *made.header);
    ring_release(&made);
    struct ring_header *header = (struct ring_header *)ring;
    header->pid = 0;
    header->segment_count = SEGMENTS;
}

static void fill_segments(const uint8_t *data, size_t size)
{
    const size_t room = RING_SEGMENT_SLOTS * sizeof(struct ring_slot), half = size / 2 / 64 * 64;
    const size_t parts[SEGMENTS] = {half, size - half};
    memset(ring + RING_HEADER_BYTES, 0, sizeof ring - RING_HEADER_BYTES);
    for (size_t i = 0; i < SEGMENTS; i++) {
        struct ring_segment *segment =
            (struct ring_segment *)(ring + RING_HEADER_BYTES + i * RING_SEGMENT_BYTES);
        segment->index = (uint32_t)i;
        memcpy(segment->slots, data, parts[i] < room ? parts[i] : room);
        data += parts[i];
    }
}

static void set_tails(const uint8_t *data)
{
    for (size_t i = 0; i < SEGMENTS; i++) {
        uint64_t tail;
        memcpy(&tail, data + i * sizeof tail, sizeof tail);
        ((struct ring_segment *)(ring + RING_HEADER_BYTES + i * RING_SEGMENT_BYTES))->tail = tail;
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const size_t tails = SEGMENTS * sizeof(uint64_t);
    struct fold_result result;
    sqlite3 *db = NULL;
    struct err err = {0};
    if (size < tails)
        return 0;
    if (!empty_trace_bytes) {
        make_empty_trace();
        make_header();
    }
    fill_segments(data + tails, size - tails);
    set_tails(data);
    fuzz_file_remove();
    fuzz_file_write("", empty_trace, empty_trace_bytes);
    fuzz_file_write("-ring.0", ring, sizeof ring);
    if (fold_open(fuzz_path, &db, &result, &err) && err.code == ERR_NONE)
        abort();
    sqlite3_close(db);
    return 0;
}
