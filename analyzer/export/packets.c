/* SPDX-License-Identifier: MIT */
/* Encodes the part of the Perfetto trace schema that an export uses; see packets.h. */
#include "packets.h"

#include "analyzer/util/utf8.h"
#include "protobuf.h"

enum { TRACE_PACKET = 1 };
enum { PACKET_TIMESTAMP = 8, PACKET_SEQUENCE = 10, PACKET_EVENT = 11, PACKET_FLAGS = 13 };
enum { PACKET_TRACK = 60, FLAG_STATE_CLEARED = 1, THE_SEQUENCE = 1 };
enum { TRACK_UUID = 1, TRACK_NAME = 2, TRACK_PROCESS = 3, TRACK_PARENT = 5, TRACK_COUNTER = 8 };
enum { PROCESS_PID = 1, PROCESS_COMMAND = 2, PROCESS_NAME = 6 };
enum { COUNTER_UNIT = 3, UNIT_SIZE_BYTES = 3 };
enum { EVENT_ANNOTATION = 4, EVENT_TYPE = 9, EVENT_TRACK = 11, EVENT_CATEGORY = 22 };
enum { EVENT_NAME = 23, EVENT_VALUE = 30, TYPE_COUNTER = 4 };
enum { ANNOTATION_INT = 4, ANNOTATION_STRING = 6, ANNOTATION_NAME = 10 };

#define PACKET_BYTES_MAX ((size_t)64 << 20)

void packets_init(struct packets *packets, FILE *out)
{
    *packets = (struct packets){.out = out};
    text_init(&packets->packet, PACKET_BYTES_MAX);
    text_init(&packets->body, PACKET_BYTES_MAX);
    text_init(&packets->inner, PACKET_BYTES_MAX);
    text_init(&packets->clean, PACKET_BYTES_MAX);
}

int packets_release(struct packets *packets, struct err *err)
{
    const bool failed = packets->has_failed;
    text_release(&packets->packet);
    text_release(&packets->body);
    text_release(&packets->inner);
    text_release(&packets->clean);
    if (!failed)
        return 0;
    return err_set(err, ERR_SYSTEM, "out of memory for the packets of the trace");
}

/* --- parts --- */

static void add_text(struct packets *packets, struct text *message, unsigned field,
                     const char *value)
{
    text_clear(&packets->clean);
    utf8_add(&packets->clean, value);
    packets->has_failed |= text_failed(&packets->clean);
    protobuf_add_bytes(message, field, packets->clean.data, packets->clean.length);
}

static void add_inner(struct packets *packets, unsigned field)
{
    packets->has_failed |= text_failed(&packets->inner);
    protobuf_add_bytes(&packets->body, field, packets->inner.data, packets->inner.length);
    text_clear(&packets->inner);
}

/* Writes a packet whose given field is the message in packets->body. */
static void put(struct packets *packets, unsigned field)
{
    struct text *packet = &packets->packet;
    protobuf_add_number(packet, PACKET_SEQUENCE, THE_SEQUENCE);
    protobuf_add_number(packet, PACKET_FLAGS, packets->has_first ? 0 : FLAG_STATE_CLEARED);
    packets->has_first = true;
    protobuf_add_bytes(packet, field, packets->body.data, packets->body.length);
    text_clear(&packets->inner);
    protobuf_add_bytes(&packets->inner, TRACE_PACKET, packet->data, packet->length);
    packets->has_failed |=
        text_failed(&packets->body) || text_failed(packet) || text_failed(&packets->inner);
    if (!packets->has_failed)
        fwrite(packets->inner.data, 1, packets->inner.length, packets->out);
    text_clear(&packets->inner);
    text_clear(&packets->body);
    text_clear(packet);
}

/* --- tracks --- */

static void begin_track(struct packets *packets, uint64_t track, uint64_t parent, const char *name)
{
    protobuf_add_number(&packets->body, TRACK_UUID, track);
    protobuf_add_number(&packets->body, TRACK_PARENT, parent);
    if (name)
        add_text(packets, &packets->body, TRACK_NAME, name);
}

void packets_process(struct packets *packets, uint64_t track, int64_t pid, const char *command)
{
    begin_track(packets, track, 0, NULL);
    protobuf_add_number(&packets->inner, PROCESS_PID, (uint64_t)pid);
    add_text(packets, &packets->inner, PROCESS_COMMAND, command);
    add_text(packets, &packets->inner, PROCESS_NAME, command);
    add_inner(packets, TRACK_PROCESS);
    put(packets, PACKET_TRACK);
}

void packets_track(struct packets *packets, uint64_t track, uint64_t parent, const char *name)
{
    begin_track(packets, track, parent, name);
    put(packets, PACKET_TRACK);
}

void packets_counter(struct packets *packets, uint64_t track, uint64_t parent, const char *name)
{
    begin_track(packets, track, parent, name);
    protobuf_add_number(&packets->inner, COUNTER_UNIT, UNIT_SIZE_BYTES);
    add_inner(packets, TRACK_COUNTER);
    put(packets, PACKET_TRACK);
}

/* --- events --- */

static void begin_event(struct packets *packets, unsigned type, uint64_t time_ns, uint64_t track)
{
    protobuf_put_number(&packets->packet, PACKET_TIMESTAMP, time_ns);
    protobuf_add_number(&packets->body, EVENT_TYPE, type);
    protobuf_add_number(&packets->body, EVENT_TRACK, track);
}

void packets_count(struct packets *packets, uint64_t time_ns, uint64_t track, uint64_t bytes)
{
    begin_event(packets, TYPE_COUNTER, time_ns, track);
    protobuf_put_number(&packets->body, EVENT_VALUE, bytes);
    put(packets, PACKET_EVENT);
}

void packets_begin(struct packets *packets, enum packet_event type, uint64_t time_ns,
                   uint64_t track, const char *name, const char *category)
{
    begin_event(packets, type, time_ns, track);
    if (name)
        add_text(packets, &packets->body, EVENT_NAME, name);
    if (category)
        add_text(packets, &packets->body, EVENT_CATEGORY, category);
}

void packets_add_number(struct packets *packets, const char *key, int64_t value)
{
    add_text(packets, &packets->inner, ANNOTATION_NAME, key);
    protobuf_put_number(&packets->inner, ANNOTATION_INT, (uint64_t)value);
    add_inner(packets, EVENT_ANNOTATION);
}

void packets_add_text(struct packets *packets, const char *key, const char *value)
{
    add_text(packets, &packets->inner, ANNOTATION_NAME, key);
    add_text(packets, &packets->inner, ANNOTATION_STRING, value);
    add_inner(packets, EVENT_ANNOTATION);
}

void packets_end(struct packets *packets)
{
    put(packets, PACKET_EVENT);
}
