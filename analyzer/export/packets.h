/* SPDX-License-Identifier: MIT */
/*
 * Writes packets of a Perfetto trace in Protocol Buffers: tracks, and events on them, in one
 * sequence without interned texts. Fields have the numbers of the schema
 * (https://perfetto.dev/docs/reference/trace-packet-proto).
 *
 *     packets_process, packets_track, packets_counter     defines a track, before its first event
 *     packets_begin → packets_add_number, packets_add_text → packets_end
 */
#pragma once

#include <stdint.h>
#include <stdio.h>

#include "analyzer/util/text.h"
#include "gpumemtrace/err.h"

/* TrackEvent.Type */
enum packet_event { PACKET_SLICE_BEGIN = 1, PACKET_SLICE_END = 2, PACKET_INSTANT = 3 };

struct packets {
    FILE *out;
    struct text packet, body, inner; /* body: an event or track; inner: a message in body */
    struct text clean;               /* a text, converted to valid UTF-8 */
    bool has_first, has_failed;
};

void packets_init(struct packets *packets, FILE *out);
/* Returns -1 and *err if a packet is missing from the file, because memory ran out. */
int packets_release(struct packets *packets, struct err *err);

/* The caller numbers the tracks, from 1. */
void packets_process(struct packets *packets, uint64_t track, int64_t pid, const char *command);
void packets_track(struct packets *packets, uint64_t track, uint64_t parent, const char *name);
/* Defines a track that counts bytes. */
void packets_counter(struct packets *packets, uint64_t track, uint64_t parent, const char *name);

void packets_count(struct packets *packets, uint64_t time_ns, uint64_t track, uint64_t bytes);
/* If name or category is NULL, the event has none. */
void packets_begin(struct packets *packets, enum packet_event type, uint64_t time_ns,
                   uint64_t track, const char *name, const char *category);
void packets_add_number(struct packets *packets, const char *key, int64_t value);
void packets_add_text(struct packets *packets, const char *key, const char *value);
void packets_end(struct packets *packets);
