/* SPDX-License-Identifier: MIT */
/*
 * A trace, but for its events: what load_trace read of a file. It does not change afterwards. The
 * events stay in the file, and event_reader.h reads them. It must not know what they mean.
 *
 * All pointers belong to the trace and are valid until trace_release.
 */
#ifndef GPUMEMTRACE_ANALYZER_LOAD_TRACE_H
#define GPUMEMTRACE_ANALYZER_LOAD_TRACE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "gpumemtrace/err.h"
#include "gpumemtrace/event.h"

struct trace_text { /* a meta value of type text; value is NULL when the file has none */
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
    char *uuid, *name;    /* NULL: not known */
    uint64_t total_bytes; /* 0: not known */
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
};

struct trace_symbol { /* one row of the table symbol */
    uint64_t address;
    uint32_t level, function_id, file_id, line;
};

struct trace_coverage { /* an entry point that the program asked for and that is not recorded */
    char *name;
    uint64_t count;
};

struct trace_variable { /* a name and what it was set to */
    char *name, *value;
};

struct trace_variables {
    struct trace_variable *items;
    size_t count;
};

struct trace_host_sample { /* of the process's own memory; UINT64_MAX: not known */
    uint64_t time_ns, rss_bytes, rss_peak_bytes;
    uint64_t cgroup_bytes, cgroup_peak_bytes, cgroup_limit_bytes;
};

struct trace {
    char *path;
    struct trace_meta meta;
    uint64_t cut_texts_count; /* texts beyond LIMIT_text_bytes */
    bool recording;           /* the program still runs: the file goes on growing */
    struct sqlite3 *db;       /* for event_reader.h: the table event stays in the file */

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
    /* After those: calls that a dry run did not model; see limits.h. */
    size_t not_modelled_count;

    struct trace_coverage *read_backs; /* ascending name: lines that read what nobody computed */
    size_t read_back_count;

    struct trace_host_sample *host_samples; /* in order */
    size_t host_sample_count;

    struct trace_variables job_variables, allocator_settings, frameworks; /* ascending name */
};

/* What the job's launcher said by a variable of the environment; NULL: it is not set, or empty. */
const char *trace_job_variable(const struct trace *trace, const char *name);
/* The first of these names, which NULL ends, that is a number. */
struct trace_integer trace_job_number(const struct trace *trace, const char *const names[]);
/* How many ranks the job has. */
struct trace_integer trace_world_size(const struct trace *trace);

/* Frees what load_trace made; a zeroed struct is allowed. */
void trace_release(struct trace *trace);
/* Frees the rows of a table that is read again. */
void trace_forget_threads(struct trace *trace);
void trace_forget_devices(struct trace *trace);
void trace_forget_modules(struct trace *trace);
/* Nobody will read its events any more: lets the file go. */
void trace_close_events(struct trace *trace);

/* "" for an id that does not exist. */
const char *trace_string(const struct trace *trace, uint64_t string_id);
const char *trace_hook(const struct trace *trace, unsigned hook_id);

/* The version of a framework in the process, as torch; NULL: not known. */
const char *trace_framework_version(const struct trace *trace, const char *name);
/* Of that version: 206 is 2.6; 0: not known. */
int trace_framework_release(const struct trace *trace, const char *name);
/* What an allocator's setting was: an environment variable's value, or as "pytorch" the text that
 * PyTorch's allocator took last, from a variable or a call, which is what it obeys; NULL: not set, or
 * not known. */
const char *trace_allocator_setting(const struct trace *trace, const char *name);

/* The names that the file has for a return address, innermost first; NULL and 0: none. */
const struct trace_symbol *trace_symbols(const struct trace *trace, uint64_t address,
                                         size_t *count);

/* The library or program that was mapped at the address; NULL: none. */
const struct trace_module *trace_module_at(const struct trace *trace, uint64_t address);

/* Its recorder says of each tensor of PyTorch's whether it is of a graph of autograd. */
static inline bool trace_tells_autograd(const struct trace *trace)
{
    return trace->meta.tells_autograd.known && trace->meta.tells_autograd.value == 1;
}

#endif
