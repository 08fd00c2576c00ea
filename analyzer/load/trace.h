/* SPDX-License-Identifier: MIT */
/*
 * A trace without its events: the tables that load_trace read from a file. They do not change,
 * except in load_tables_more. The events stay in the file; event_reader.h reads them.
 *
 * All pointers belong to the trace and are valid until trace_release.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "analyzer/torch/settings.h"
#include "gpumemtrace/err.h"
#include "gpumemtrace/event.h"

struct trace_text { /* a meta value of type text; value NULL: not in the file */
    char *value;
};
struct trace_integer {
    int64_t value;
    bool known;
};

struct trace_meta {
#define META(key, type, text) struct trace_##type key;
#include "gpumemtrace/schema/meta_keys.def"
};

struct trace_thread {
    uint32_t thread_id;
    int64_t tid;
    char *name;
};

struct trace_device {
    int device;
    char *uuid, *name;    /* NULL: unknown */
    uint64_t total_bytes; /* 0: unknown */
    uint64_t context_bytes;
    bool context_known;
};

struct trace_module {
    uint32_t module_id;
    char *path, *build_id; /* build_id NULL: none */
    uint64_t load_address, start_address, end_address;
};

struct trace_module_range { /* the addresses from start_address to that of the next range */
    uint64_t start_address;
    const struct trace_module *module; /* NULL: no module */
};

struct trace_frame { /* index is the frame_id; kind and address as in the table frame */
    uint32_t parent_id;
    uint8_t kind;
    bool present;
    uint64_t address;
};

struct trace_location {
    uint32_t function_id, file_id, line;
    uint64_t means; /* bits of enum torch_meaning */
};

struct trace_symbol { /* one row of the table symbol */
    uint64_t address;
    uint32_t level, function_id, file_id, line;
};

struct trace_coverage { /* an entry point that the program looked up and that is not recorded */
    char *name;
    uint64_t count;
};

/* A walk over Python's objects, and what it found to keep a storage alive; see the tables walk and
 * holder. */
struct trace_walk {
    uint32_t walk_id;
    uint64_t event_number;
    char *reason;
    char *stopped; /* the limit or error that ended it early; NULL: it is complete */
};

struct trace_holder {
    uint32_t walk_id, chain_id, location_id; /* location_id 0: not known */
    uint64_t address, size_bytes;
    uint64_t items_count; /* of the container; 0: none, or it is empty */
    char *kind;
};

struct trace_variable { /* a name and its value */
    char *name, *value;
};

struct trace_variables {
    struct trace_variable *items;
    size_t count;
};

struct trace {
    char *path;
    struct trace_meta meta;
    uint64_t cut_texts_count; /* texts that were cut at LIMIT_text_bytes */
    bool recording;           /* the program still runs and the file grows */
    struct sqlite3 *db;       /* for event_reader.h, which reads the table event */

    struct trace_thread *threads;
    size_t thread_count;
    struct trace_device *devices; /* ascending device */
    size_t device_count;
    struct trace_module *modules; /* ascending start_address */
    size_t module_count;
    struct trace_module_range *module_ranges; /* ascending start_address, without gaps */
    size_t module_range_count;

    /* Indexed by id; entry 0 and ids that do not exist are empty. */
    struct trace_frame *frames;
    size_t frame_limit;
    struct trace_location *locations;
    size_t location_limit;
    char **strings;
    size_t string_limit;
    char **hooks;
    size_t hook_limit;

    struct trace_symbol *symbols; /* ascending address, level */
    size_t symbol_count;

    struct trace_coverage *coverage;
    size_t coverage_count;
    /* After these items: calls that a dry run did not model; see limits.h. */
    size_t not_modelled_count;

    struct trace_coverage *read_backs; /* ascending name: lines that read unknown values */
    size_t read_back_count;

    struct trace_walk *walks; /* ascending event_number */
    size_t walk_count;
    struct trace_holder *holders; /* ascending walk_id */
    size_t holder_count;

    struct trace_variables job_variables, allocator_settings, frameworks; /* ascending name */
};

/* Returns the value of a job launcher's environment variable; NULL: not set, or empty. */
const char *trace_job_variable(const struct trace *trace, const char *name);
/* Returns the first of these variables that is a number; `names` ends with NULL. */
struct trace_integer trace_job_number(const struct trace *trace, const char *const names[]);
/* Returns the number of ranks of the job. */
struct trace_integer trace_world_size(const struct trace *trace);

/* Frees the trace; a zeroed struct is allowed. */
void trace_release(struct trace *trace);
/* Each frees the rows of one table before the table is read again. */
void trace_forget_threads(struct trace *trace);
void trace_forget_devices(struct trace *trace);
void trace_forget_modules(struct trace *trace);
/* Ends the transaction, so that the trace file can be written. Events can still be read. */
void trace_pause_events(struct trace *trace);
/* Closes the file: the events will not be read any more. */
void trace_close_events(struct trace *trace);

/* Both return "" for an unknown id. */
const char *trace_string(const struct trace *trace, uint64_t string_id);
const char *trace_hook(const struct trace *trace, unsigned hook_id);

/* The pointers are valid as long as the trace is. */
struct torch_setup trace_torch_setup(const struct trace *trace);

/* Returns the names that the file has for a return address, innermost first; NULL and 0: none. */
const struct trace_symbol *trace_symbols(const struct trace *trace, uint64_t address,
                                         size_t *count);

/* Returns the library or program that is mapped at the address; NULL: none. */
const struct trace_module *trace_module_at(const struct trace *trace, uint64_t address);

/* Returns the innermost Python frame of a stack; 0: it has none. */
uint32_t trace_python_frame(const struct trace *trace, uint32_t stack_id);

/* True if the recorder reports for each PyTorch tensor whether it is part of an autograd graph. */
static inline bool trace_tells_autograd(const struct trace *trace)
{
    return trace->meta.tells_autograd.known && trace->meta.tells_autograd.value == 1;
}
