/* SPDX-License-Identifier: MIT */
/*
 * One ring slot of 64 bytes: an event, a definition (a frame, a string …) or a part of a
 * definition's text. Hooks write slots; the drain reads them, even after the writing process was
 * killed.
 *
 *      0        8         16        24           32       40       48         52       54
 *     +--------+---------+---------+------------+--------+--------+----------+--------+---------
 *     | seq    | time_ns | address | size_bytes | object | stream | stack_id | result | call_id …
 *     +--------+---------+---------+------------+--------+--------+----------+--------+---------
 *      56        58     59       60       61       62     63
 *     +---------+------+--------+--------+--------+------+-------+
 *     | hook_id | kind | memory | device | nested | type | state |
 *     +---------+------+--------+--------+--------+------+-------+
 *
 * A definition uses these members as follows. call_id is the length of its text in bytes. The slots
 * after it hold the text, SLOT_TEXT_BYTES each; their type and state stay 0.
 *
 *    type     seq         address     size_bytes    object stream stack_id  memory text
 *    -------- ----------- ----------- ------------- ------ ------ --------- ------ ----------------
 *    STRING   string_id                                                            the string
 *    FRAME    frame_id    address                                 parent_id kind
 *    LOCATION location_id function_id file_id       line
 *    MODULE   module_id   load bias                 start  end                     path \0 build-id
 *    THREAD   thread_id   tid                                                      name
 *    DEVICE   device                  total bytes                                  uuid \0 name
 *    CONTEXT  device                  context bytes
 *    COVERAGE                         calls                                        function
 *    VARIABLE                                                             table  name \0 value
 *    WALK     walk_id     event no.   objects                              stops  reason \0 stopped
 *    HOLDER   walk,number address     size_bytes    chain  items  location item   kind \0 item
 *    OWNER    thread_id   of the slots that follow
 *    END                  no slot follows in this segment
 */
#pragma once

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "gpumemtrace/event.h"
#include "gpumemtrace/limits.h"

enum slot_type {
    SLOT_EVENT,
    SLOT_STRING,
    SLOT_FRAME,
    SLOT_LOCATION,
    SLOT_MODULE,
    SLOT_THREAD,
    SLOT_DEVICE,
    SLOT_CONTEXT,
    SLOT_COVERAGE,
    SLOT_OWNER,
    SLOT_END,
    SLOT_VARIABLE,
    SLOT_WALK,
    SLOT_HOLDER,
};

/* The table of a VARIABLE definition. */
enum record_variable { VARIABLE_framework, VARIABLE_allocator_setting, VARIABLE_COUNT };

/* A slot goes from EMPTY to DONE, or from EMPTY through PENDING to DONE if it is claimed before
 * the call. */
enum slot_state { SLOT_EMPTY, SLOT_PENDING, SLOT_DONE };

#define SLOT_TEXT_BYTES 62
#define RECORD_TEXT_MAX LIMIT_text_bytes /* longer texts are cut */

struct ring_slot {
    union {
        struct {
            uint64_t seq;
            uint64_t time_ns;
            uint64_t address;
            uint64_t size_bytes;
            uint64_t object;
            uint64_t stream;
            uint32_t stack_id;
            int16_t result;
            uint16_t call_id; /* of a definition: bytes of its text */
            uint16_t hook_id;
            uint8_t kind;
            uint8_t memory;
            int8_t device;
            uint8_t nested;
            uint8_t type;
            /* Stored with release by the one producer, loaded with acquire by the one consumer. So
             * a slot that reads DONE is complete, and so are the text slots after it. */
            _Atomic uint8_t state;
        };
        char text[SLOT_TEXT_BYTES];
    };
};

_Static_assert(sizeof(struct ring_slot) == 64, "a slot is one cache line");

/* Is this a call into the driver that is timed? Such events have no stream, so `stream` holds the
 * duration of the call in ns; 0: not measured. */
static inline bool record_is_timed(unsigned kind, unsigned memory)
{
    switch (memory) {
    case MEMORY_LINEAR:
    case MEMORY_PITCHED:
    case MEMORY_ARRAY:
    case MEMORY_VMM:
    case MEMORY_VMM_HOST:
    case MEMORY_MANAGED:
    case MEMORY_PINNED:
    case MEMORY_REGISTERED:
        return kind == EVENT_ALLOC || kind == EVENT_FREE || kind == EVENT_MAP ||
               kind == EVENT_UNMAP;
    default:
        return false;
    }
}

/* Stands for SQL's NULL as the result of a call that has not returned. */
#define RESULT_IN_PROGRESS INT32_MIN

static inline unsigned record_text_slots(unsigned text_bytes)
{
    return (text_bytes + SLOT_TEXT_BYTES - 1) / SLOT_TEXT_BYTES;
}
