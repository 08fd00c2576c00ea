/* SPDX-License-Identifier: MIT */
/*
 * Numbers that recorder and analyzer share: kinds of events, memory and frames, from the lists in
 * schema/.
 */
#pragma once

#include <stdint.h>

enum event_kind {
#define EVENT_KIND(name, text, meaning) EVENT_##name,
#include "gpumemtrace/schema/event_kinds.def"
    EVENT_KIND_COUNT
};

enum memory_kind {
#define MEMORY(name, layer, account, text) MEMORY_##name,
#include "gpumemtrace/schema/memory.def"
    MEMORY_KIND_COUNT
};

/* The layer of a kind of memory; see memory.def. The choices of the option --layer, driver and
 * pool, have the same numbers. */
enum memory_layer { LAYER_none, LAYER_driver, LAYER_pool, LAYER_device };

enum account_kind {
    ACCOUNT_none,
    ACCOUNT_device,
    ACCOUNT_managed,
    ACCOUNT_host,
    ACCOUNT_imported,
    ACCOUNT_context,
    ACCOUNT_pool,
    ACCOUNT_COUNT
};

static inline enum account_kind account_kind(enum memory_kind memory)
{
    static const unsigned char accounts[MEMORY_KIND_COUNT] = {
#define MEMORY(name, layer, account, text) ACCOUNT_##account,
#include "gpumemtrace/schema/memory.def"
    };
    return (enum account_kind)accounts[memory];
}

enum frame_kind { FRAME_NATIVE, FRAME_PYTHON, FRAME_LABEL };

enum phase_source { PHASE_SOURCE_API, PHASE_SOURCE_NVTX, PHASE_SOURCE_INFERRED };

/* Values of an EXIT event's object. */
enum exit_reason { EXIT_BY_EXIT, EXIT_BY__EXIT, EXIT_BY_EXEC, EXIT_BY_INTERPRETER };

/* The stream of an event whose stream is unknown; NULL in the table. */
#define STREAM_UNKNOWN UINT64_MAX

/* One row of the table event. It lives as long as the trace in memory. */
struct event {
#define COLUMN(field, ctype, sql, null_when, text) ctype field;
#include "gpumemtrace/schema/event_columns.def"
};
