/* SPDX-License-Identifier: MIT */
/* Frees a trace, and finds things in it; see trace.h. */
#include "trace.h"

#include <sqlite3.h>
#include <stdlib.h>
#include <string.h>

#include "analyzer/util/array.h"

static void release_texts(char **texts, size_t limit)
{
    for (size_t i = 0; i < limit; i++)
        free(texts[i]);
    free(texts);
}

static void release_meta(struct trace_meta *meta)
{
#define release_text(field) free(field.value)
#define release_integer(field) ((void)(field))
#define META(key, type, text) release_##type(meta->key);
#include "gpumemtrace/schema/meta_keys.def"
#undef release_text
#undef release_integer
}

static void release_variables(struct trace_variables *variables)
{
    for (size_t i = 0; i < variables->count; i++) {
        free(variables->items[i].name);
        free(variables->items[i].value);
    }
    free(variables->items);
}

void trace_pause_events(struct trace *trace)
{
    sqlite3_exec(trace->db, "COMMIT", NULL, NULL, NULL);
}

void trace_close_events(struct trace *trace)
{
    sqlite3_close(trace->db);
    trace->db = NULL;
}

void trace_forget_threads(struct trace *trace)
{
    for (size_t i = 0; i < trace->thread_count; i++)
        free(trace->threads[i].name);
    free(trace->threads);
    trace->threads = NULL;
    trace->thread_count = 0;
}

void trace_forget_devices(struct trace *trace)
{
    for (size_t i = 0; i < trace->device_count; i++) {
        free(trace->devices[i].uuid);
        free(trace->devices[i].name);
    }
    free(trace->devices);
    trace->devices = NULL;
    trace->device_count = 0;
}

void trace_forget_modules(struct trace *trace)
{
    for (size_t i = 0; i < trace->module_count; i++) {
        free(trace->modules[i].path);
        free(trace->modules[i].build_id);
    }
    free(trace->modules);
    free(trace->module_ranges);
    trace->modules = NULL;
    trace->module_ranges = NULL;
    trace->module_count = trace->module_range_count = 0;
}

static void release_holders(struct trace *trace)
{
    for (size_t i = 0; i < trace->walk_count; i++) {
        free(trace->walks[i].reason);
        free(trace->walks[i].stopped);
    }
    for (size_t i = 0; i < trace->holder_count; i++)
        free(trace->holders[i].kind);
    free(trace->walks);
    free(trace->holders);
}

void trace_release(struct trace *trace)
{
    release_holders(trace);
    trace_forget_threads(trace);
    trace_forget_devices(trace);
    trace_forget_modules(trace);
    for (size_t i = 0; i < trace->coverage_count + trace->not_modelled_count; i++)
        free(trace->coverage[i].name);
    for (size_t i = 0; i < trace->read_back_count; i++)
        free(trace->read_backs[i].name);
    release_texts(trace->strings, trace->string_limit);
    release_texts(trace->hooks, trace->hook_limit);
    release_meta(&trace->meta);
    release_variables(&trace->job_variables);
    release_variables(&trace->allocator_settings);
    release_variables(&trace->frameworks);
    free(trace->symbols);
    free(trace->coverage);
    free(trace->read_backs);
    free(trace->frames);
    free(trace->locations);
    trace_close_events(trace);
    free(trace->path);
    *trace = (struct trace){0};
}

static const char *text_of(char *const *texts, size_t limit, uint64_t id)
{
    return id < limit && texts[id] ? texts[id] : "";
}

const char *trace_string(const struct trace *trace, uint64_t string_id)
{
    return text_of(trace->strings, trace->string_limit, string_id);
}

const char *trace_hook(const struct trace *trace, unsigned hook_id)
{
    return text_of(trace->hooks, trace->hook_limit, hook_id);
}

static const char *value_of(const struct trace_variables *variables, const char *name)
{
    for (size_t i = 0; i < variables->count; i++)
        if (!strcmp(variables->items[i].name, name))
            return variables->items[i].value;
    return NULL;
}

/* Returns the major and minor version as one number. */
static int release_of(const char *version)
{
    char *dot = NULL;
    const long major = version ? strtol(version, &dot, 10) : 0;
    if (!dot || *dot != '.' || major < 0 || major > 99)
        return 0;
    const long minor = strtol(dot + 1, NULL, 10);
    return minor >= 0 && minor < 100 ? (int)(major * 100 + minor) : 0;
}

struct torch_setup trace_torch_setup(const struct trace *trace)
{
    struct torch_setup setup = {.release = release_of(value_of(&trace->frameworks, "torch"))};
    for (int i = 0; i < TORCH_VARIABLES; i++)
        setup.values[i] =
            value_of(&trace->allocator_settings, torch_variable_name((enum torch_variable)i));
    return setup;
}

const struct trace_symbol *trace_symbols(const struct trace *trace, uint64_t address, size_t *count)
{
    const size_t low =
        SORTED_BELOW(struct trace_symbol, address, trace->symbols, trace->symbol_count, address);
    *count = 0;
    while (low + *count < trace->symbol_count && trace->symbols[low + *count].address == address)
        ++*count;
    return *count ? &trace->symbols[low] : NULL;
}

const struct trace_module *trace_module_at(const struct trace *trace, uint64_t address)
{
    const size_t low = SORTED_UP_TO(struct trace_module_range, start_address, trace->module_ranges,
                                    trace->module_range_count, address);
    return low ? trace->module_ranges[low - 1].module : NULL;
}

/* --- the job --- */

uint32_t trace_python_frame(const struct trace *trace, uint32_t stack_id)
{
    while (stack_id && stack_id < trace->frame_limit && trace->frames[stack_id].present &&
           trace->frames[stack_id].kind != FRAME_PYTHON)
        stack_id = trace->frames[stack_id].parent_id;
    return stack_id < trace->frame_limit && trace->frames[stack_id].present ? stack_id : 0;
}

const char *trace_job_variable(const struct trace *trace, const char *name)
{
    for (size_t i = 0; i < trace->job_variables.count; i++)
        if (!strcmp(trace->job_variables.items[i].name, name))
            return *trace->job_variables.items[i].value ? trace->job_variables.items[i].value
                                                        : NULL;
    return NULL;
}

struct trace_integer trace_job_number(const struct trace *trace, const char *const names[])
{
    for (; *names; names++) {
        const char *value = trace_job_variable(trace, *names);
        char *end;
        const long long integer = value ? strtoll(value, &end, 10) : -1;

        if (value && !*end && integer >= 0 && integer <= INT32_MAX)
            return (struct trace_integer){integer, true};
    }
    return (struct trace_integer){0};
}

struct trace_integer trace_world_size(const struct trace *trace)
{
    static const char *const sizes[] = {"WORLD_SIZE", "OMPI_COMM_WORLD_SIZE", "PMI_SIZE",
                                        "SLURM_NTASKS", NULL};
    return trace_job_number(trace, sizes);
}
