/* SPDX-License-Identifier: MIT */
/*
 * Reads the log of RMM's logging_resource_adaptor, which has one line per allocation and free:
 *
 *     Thread,Time,Action,Pointer,Size,Stream
 *     12345,14:03:05.123456,allocate,0x7f8a40000000,1024,0x0
 *
 * Time is a time of day, or seconds since 1970. Frees are "free" or "deallocate".
 */
#include <string.h>

#include "analyzer/util/pair_map.h"
#include "draft.h"
#include "lines.h"
#include "live_blocks.h"

#define DAY_US ((uint64_t)86400 * 1000000)
#define SECONDS_MOST ((uint64_t)1 << 33) /* fits into 64 bits also in nanoseconds */
enum { OUT_OF_MEMORY = 2 };

static const char header[] = "Thread,Time,Action,Pointer,Size,Stream";

enum rmm_action { RMM_ALLOCATE, RMM_FREE, RMM_FAILURE, RMM_ACTIONS };

struct log {
    struct lines lines;
    struct draft *draft;
    struct pair_map threads; /* thread id by RMM's thread number */
    uint16_t hooks[RMM_ACTIONS];
    uint64_t first_us, last_us, midnight_us; /* midnight: start of the current day of the log */
    bool has_time;
    uint64_t unknown_count; /* frees of addresses that no line allocated */
    struct live_blocks live;
    uint32_t pool;
    struct err *err;
};

static int broken(const struct log *log, const char *what)
{
    return lines_broken(&log->lines, what, log->err);
}

/* Parses a number in base 16, with or without 0x. */
static bool read_pointer(struct piece piece, uint64_t *pointer)
{
    if (piece_is(piece, "(nil)") || piece_is(piece, "nullptr")) {
        *pointer = 0;
        return true;
    }
    if (piece.length > 2 && piece.text[0] == '0' && (piece.text[1] | 0x20) == 'x')
        piece = (struct piece){piece.text + 2, piece.length - 2};
    return piece_number(piece, 16, UINT64_MAX, pointer);
}

/* Parses the digits behind the point, in millionths. */
static bool read_fraction(struct piece digits, uint64_t *us)
{
    if (digits.length > 6)
        digits.length = 6;
    if (!digits.length)
        return false;
    if (!piece_number(digits, 10, 999999, us))
        return false;
    for (size_t i = digits.length; i < 6; i++)
        *us *= 10;
    return true;
}

/* Parses "H:M:S" or seconds. */
static bool read_seconds(struct piece text, uint64_t *seconds, bool *is_of_day)
{
    uint64_t parts[3];
    *is_of_day = text.length && memchr(text.text, ':', text.length) != NULL;
    if (!*is_of_day)
        return piece_number(text, 10, SECONDS_MOST, seconds);
    for (int i = 0; i < 3; i++)
        if (!piece_number(piece_cut(&text, ':'), 10, i ? 60 : 23, &parts[i]))
            return false;
    *seconds = (parts[0] * 60 + parts[1]) * 60 + parts[2];
    return !text.length;
}

/* Lines of several threads may be slightly out of order. A time of day more than twelve hours
 * earlier than the last one therefore means the next day. */
static bool read_time(struct log *log, struct piece text, uint64_t *time_us)
{
    const struct piece whole = piece_cut(&text, '.');
    uint64_t seconds, fraction_us = 0;
    bool is_of_day;
    if (!read_seconds(whole, &seconds, &is_of_day) ||
        (text.length && !read_fraction(text, &fraction_us)))
        return false;
    *time_us = seconds * 1000000 + fraction_us + (is_of_day ? log->midnight_us : 0);
    if (is_of_day && log->has_time && *time_us + DAY_US / 2 < log->last_us) {
        log->midnight_us += DAY_US;
        *time_us += DAY_US;
    }
    if (*time_us > SECONDS_MOST * 1000000)
        return false;
    if (!log->has_time)
        log->first_us = *time_us;
    log->has_time = true;
    log->last_us = *time_us;
    return true;
}

static bool find_action(struct piece text, enum rmm_action *action)
{
    *action = piece_is(text, "allocate")                               ? RMM_ALLOCATE
              : piece_is(text, "free") || piece_is(text, "deallocate") ? RMM_FREE
                                                                       : RMM_FAILURE;
    return *action != RMM_FAILURE || piece_is(text, "allocate failure");
}

/* Numbers threads in the order of their first line. Returns 0, or -1 and *err. */
static int find_thread(struct log *log, uint64_t tid, uint32_t *id)
{
    *id = pair_map_get(&log->threads, 0, tid);
    if (*id != PAIR_MAP_NONE)
        return 0;
    *id = (uint32_t)log->threads.count + 1;
    return draft_thread(log->draft, *id, tid, "", log->err) ||
                   pair_map_put(&log->threads, 0, tid, *id, log->err)
               ? -1
               : 0;
}

/* Checks that a free has the size of the allocation, which RMM requires. Address 0 is skipped,
 * because an allocation of 0 bytes has no address of its own. */
static int note_block(struct log *log, const struct event *event, enum rmm_action action)
{
    uint64_t size_bytes;
    if (action == RMM_FAILURE || !event->address)
        return 0;
    if (action == RMM_ALLOCATE) {
        if (live_blocks_add(&log->live, event->address, event->size_bytes, log->err))
            return -1;
        return log->live.bytes > LIVE_BYTES_MOST
                   ? broken(log, "the allocations add up to more than any memory")
                   : 0;
    }
    if (!live_blocks_take(&log->live, event->address, &size_bytes))
        log->unknown_count++;
    else if (size_bytes != event->size_bytes)
        return broken(log, "it frees another size than was allocated there");
    return 0;
}

static int add_line(struct log *log)
{
    struct piece rest = log->lines.line;
    struct event event = {.memory = MEMORY_TENSOR, .object = log->pool, .device = DRAFT_NO_DEVICE};
    const struct piece thread = piece_cut(&rest, ','), time = piece_cut(&rest, ',');
    const struct piece word = piece_cut(&rest, ','), pointer = piece_cut(&rest, ',');
    const struct piece size = piece_cut(&rest, ','), stream = piece_cut(&rest, ',');
    enum rmm_action action;
    uint64_t tid, time_us;
    if (!piece_number(thread, 10, INT64_MAX, &tid) || !read_time(log, time, &time_us) ||
        !find_action(word, &action) || !read_pointer(pointer, &event.address) ||
        !piece_number(size, 10, LIVE_BYTES_MOST, &event.size_bytes) ||
        !read_pointer(stream, &event.stream) || rest.length)
        return broken(log, "not an allocation or a free as RMM logs it");
    if (find_thread(log, tid, &event.thread_id) || note_block(log, &event, action))
        return -1;
    event.kind = action == RMM_FREE ? EVENT_FREE : EVENT_ALLOC;
    event.time_ns = time_us > log->first_us ? (time_us - log->first_us) * 1000 : 0;
    event.hook_id = log->hooks[action];
    if (action == RMM_FAILURE) {
        event.address = 0;
        event.result = OUT_OF_MEMORY;
    }
    return draft_event(log->draft, &event, log->err);
}

static int say_unknown(struct log *log)
{
    if (log->unknown_count &&
        draft_does_not_know(log->draft, log->err,
                            "allocations before its first line, some of which are freed in it"))
        return -1;
    return draft_does_not_know(log->draft, log->err,
                               "devices, call stacks, the day, the memory that the resource behind "
                               "RMM's log reserved, "
                               "and memory outside of it") ||
                   draft_set_integer(log->draft, META_complete, log->unknown_count == 0, log->err)
               ? -1
               : 0;
}

static int add_all(struct log *log)
{
    static const char *const names[RMM_ACTIONS] = {"allocate", "free", "allocate failure"};
    log->pool = draft_text(log->draft, "rmm", 3, log->err);
    if (!log->pool)
        return -1;
    for (int i = 0; i < RMM_ACTIONS; i++)
        if (draft_hook(log->draft, names[i], "rmm", &log->hooks[i], log->err))
            return -1;
    if (!lines_next(&log->lines) || !piece_is(log->lines.line, header))
        return broken(log, "not the heading of a log of RMM");
    while (lines_next(&log->lines))
        if (log->lines.line.length && !piece_is(log->lines.line, header) && add_line(log))
            return -1;
    return say_unknown(log);
}

int import_rmm(const struct import_source *source, struct draft *draft, struct err *err)
{
    struct log log = {.lines = {.source = source}, .draft = draft, .err = err};
    const int status = add_all(&log);
    pair_map_release(&log.threads);
    live_blocks_release(&log.live);
    return status;
}

bool import_is_rmm(const struct import_source *source)
{
    const size_t start = lines_start(source);
    return source->length - start >= sizeof header - 1 &&
           !memcmp(source->bytes + start, header, sizeof header - 1);
}
