/* SPDX-License-Identifier: MIT */
/*
 * See locations.h. The caller's lock protects all variables here.
 */
#include "locations.h"

#include <stdio.h>
#include <string.h>
#include <sys/mman.h>

#include "lines.h"
#include "common/values_file.h"
#include "interpose/recording/string_ids.h"

/* --- text --- */

#define ENCODED_MAX 8

/* Writes half of a surrogate pair as an escape, because it is not a character. Python uses U+DC80 …
 * U+DCFF for the bytes of a file name that are not UTF-8. */
static size_t escape(char *out, uint32_t surrogate)
{
    const bool byte = surrogate >= 0xdc80 && surrogate <= 0xdcff;
    return (size_t)snprintf(out, ENCODED_MAX, byte ? "\\x%02x" : "\\u%04x",
                            byte ? surrogate - 0xdc00 : surrogate);
}

/* Writes one character in UTF-8, or escaped as Python does it, and returns the number of bytes. */
static size_t encode(char *out, uint32_t character)
{
    static const uint8_t lead[] = {0, 0, 0xc0, 0xe0, 0xf0};
    if (character >= 0xd800 && character <= 0xdfff)
        return escape(out, character);
    if (character < 0x80) {
        out[0] = (char)character;
        return 1;
    }
    const size_t bytes = character < 0x800 ? 2 : character < 0x10000 ? 3 : 4;
    for (size_t i = bytes; i-- > 1; character >>= 6)
        out[i] = (char)(0x80 | (character & 0x3f));
    out[0] = (char)(lead[bytes] | character);
    return bytes;
}

static uint32_t character_at(const void *characters, unsigned bytes_each, size_t index)
{
    if (bytes_each == 1)
        return ((const uint8_t *)characters)[index];
    return bytes_each == 2 ? ((const uint16_t *)characters)[index]
                           : ((const uint32_t *)characters)[index];
}

/* state of a str:  | … | ASCII | compact | bytes per character (3 bits) | shift bits | */
static const char *read_text(const struct python_layout *layout, const void *text, char *buffer)
{
    const unsigned state =
        (unsigned)python_int(text, layout->text_state) >> layout->text_state_shift;
    const unsigned bytes_each = state & 7;
    const bool compact = state & 8, ascii = state & 16;
    const size_t length = python_size(text, layout->text_length);
    const void *characters = !compact ? python_pointer(text, layout->text_other)
                             : ascii  ? (const char *)text + layout->text_ascii
                                      : (const char *)text + layout->text_other;
    size_t used = 0;
    if (bytes_each && characters)
        for (size_t i = 0; i < length && used + ENCODED_MAX < RECORD_TEXT_MAX; i++)
            used += encode(buffer + used, character_at(characters, bytes_each, i));
    buffer[used] = '\0';
    return buffer;
}

static char text_buffer[RECORD_TEXT_MAX]; /* static, because a thread's stack may be small */

static uint32_t intern_text(struct thread *thread, const struct python_layout *layout,
                            const void *code, int member)
{
    return strings_intern(thread, read_text(layout, python_pointer(code, member), text_buffer));
}

static bool is_of_the_simulator(const struct python_layout *layout, const void *code)
{
    const void *file = python_pointer(code, layout->code_file);
    return python_size(file, layout->text_length) == sizeof VALUES_FILE - 1 &&
           !strcmp(read_text(layout, file, text_buffer), VALUES_FILE);
}

/* --- locations --- */

#define LOCATION_LIMIT ((uint32_t)1 << 17) /* power of two */

struct location {
    uint32_t function_id, file_id, line;
    uint32_t id; /* 0: free */
};

static struct location *locations; /* a hash table */
static uint32_t location_count;
static uint32_t next_id;

bool python_locations_setup(void)
{
    const size_t bytes = LOCATION_LIMIT * sizeof *locations;
    if (locations)
        munmap(locations, bytes);
    locations = mmap(NULL, bytes, PROT_READ | PROT_WRITE,
                     MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (locations == MAP_FAILED)
        locations = NULL;
    location_count = 0;
    next_id = 1;
    return locations != NULL;
}

static uint32_t write_location(struct thread *thread, struct location *location)
{
    location->id = next_id++;
    const struct ring_slot record = {.seq = location->id,
                                     .address = location->function_id,
                                     .size_bytes = location->file_id,
                                     .object = location->line};
    thread_define(thread, SLOT_LOCATION, &record, NULL, 0);
    return location->id;
}

static uint32_t intern_location(struct thread *thread, struct location *location)
{
    uint64_t hash = ((uint64_t)location->function_id << 32 | location->file_id) ^
                    (uint64_t)location->line << 16;
    hash *= 0x9e3779b97f4a7c15u;
    for (uint64_t at = hash >> 32;; at++) {
        struct location *slot = &locations[at & (LOCATION_LIMIT - 1)];
        if (!slot->id && location_count >= LOCATION_LIMIT / 4 * 3)
            return write_location(thread, location); /* the table is full: write the location at
                                                      * each use */
        if (!slot->id) {
            *slot = *location;
            location_count++;
            return write_location(thread, slot);
        }
        if (slot->function_id == location->function_id && slot->file_id == location->file_id &&
            slot->line == location->line)
            return slot->id;
    }
}

static int line_of(const struct python_layout *layout, const void *code, int64_t offset)
{
    const void *table = python_pointer(code, layout->code_lines);
    return python_line(layout->lines, (const uint8_t *)table + layout->bytes_data,
                       python_size(table, layout->bytes_size),
                       python_int(code, layout->code_first_line), offset);
}

uint32_t python_locations_intern(struct thread *thread, const struct python_layout *layout,
                                 const void *code, int64_t offset)
{
    if (is_of_the_simulator(layout, code))
        return PYTHON_LOCATION_HIDDEN;
    const int name = layout->code_qualname >= 0 ? layout->code_qualname : layout->code_name;
    const int line = line_of(layout, code, offset);
    struct location location = {.function_id = intern_text(thread, layout, code, name),
                                .file_id = intern_text(thread, layout, code, layout->code_file),
                                .line = line > 0 ? (uint32_t)line : 0};
    return intern_location(thread, &location);
}

uint32_t python_locations_add(struct thread *thread, uint32_t function_id, uint32_t file_id,
                              uint32_t line)
{
    struct location location = {.function_id = function_id, .file_id = file_id, .line = line};
    return intern_location(thread, &location);
}
