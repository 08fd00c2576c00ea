/* SPDX-License-Identifier: MIT */
/* Names of addresses; see native_names.h. */
#include "native_names.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "analyzer/util/pair_map.h"
#include "elf_files.h"
#include "elf_lookup.h"
#include "owned_texts.h"
#include "analyzer/torch/frames.h"
#include "analyzer/util/array.h"
#include "analyzer/util/text.h"

/* The name of the frame that a signal handler returns to. Names in a trace also use this text. */
#define SIGNAL_RETURN "(signal handler)"
/* The function name of imported traces for an unknown name. */
#define UNNAMED "??"

/* The file on this machine for one module of the trace. */
struct module_file {
    struct elf_lookup *lookup; /* NULL: no names */
    enum elf_state state;
    bool is_tried;
    bool has_gap; /* a frame has no name */
};

struct native_names {
    const struct trace *trace;
    const struct symbol_sources *sources;
    struct elf_files *files;     /* made when first needed */
    struct module_file *modules; /* in the order of trace->modules */
    size_t module_count;
    struct pair_map addresses; /* index of the resolved address */
    struct native_run *resolved;
    size_t resolved_count, resolved_capacity;
    struct symbol_frame *frames;
    size_t frame_count, frame_capacity;
    struct owned_texts texts;
    bool prefers_files;
};

struct native_names *native_names_new(const struct trace *trace, struct err *err)
{
    static const struct symbol_sources usual = {0};
    struct native_names *names = array_new(1, sizeof *names, err);
    if (!names)
        return NULL;
    names->trace = trace;
    names->sources = &usual;
    names->module_count = trace->module_count;
    names->modules = array_new(trace->module_count, sizeof *names->modules, err);
    if (names->modules)
        return names;
    native_names_free(names);
    return NULL;
}

void native_names_free(struct native_names *names)
{
    if (!names)
        return;
    for (size_t i = 0; names->modules && i < names->module_count; i++)
        elf_lookup_close(names->modules[i].lookup);
    elf_files_free(names->files);
    pair_map_release(&names->addresses);
    owned_texts_release(&names->texts);
    free(names->modules);
    free(names->resolved);
    free(names->frames);
    free(names);
}

int native_names_set_sources(struct native_names *names, const struct symbol_sources *sources,
                             struct err *err)
{
    names->sources = sources;
    names->files = elf_files_new(sources, err);
    return names->files ? 0 : -1;
}

/* --- modules --- */

/* Opens the file of the module at the first call. NULL: out of memory. */
static struct module_file *file_of(struct native_names *names, const struct trace_module *module,
                                   struct err *err)
{
    struct module_file *file = &names->modules[module - names->trace->modules];
    const char *path;
    if (file->is_tried)
        return file;
    if (!names->files)
        names->files = elf_files_new(names->sources, err);
    if (!names->files)
        return NULL;
    file->is_tried = true;
    file->state = elf_files_find(names->files, module, &path);
    if (path)
        file->lookup = elf_lookup_open(names->files, module, path);
    return file;
}

int native_names_has_file(struct native_names *names, const struct trace_module *module,
                          struct err *err)
{
    const struct module_file *file = file_of(names, module, err);
    return file ? file->state == ELF_FOUND : -1;
}

const char *native_names_file_state(const struct native_names *names,
                                    const struct trace_module *module)
{
    static const char *const texts[] = {
        [ELF_FOUND] = "found", [ELF_MISSING] = "missing", [ELF_OTHER_BUILD] = "other build"};
    return texts[names->modules[module - names->trace->modules].state];
}

struct symbol_gaps native_names_gaps(const struct native_names *names)
{
    struct symbol_gaps gaps = {0};
    for (size_t i = 0; i < names->trace->module_count; i++) {
        const struct module_file *file = &names->modules[i];
        const char *path = names->trace->modules[i].path;
        if (!file->has_gap || *path != '/')
            continue;
        if (file->state == ELF_MISSING && gaps.missing_count++ == 0)
            gaps.missing = path;
        if (file->state == ELF_OTHER_BUILD && gaps.other_build_count++ == 0)
            gaps.other_build = path;
    }
    return gaps;
}

/* --- native frames --- */

/* Text for an address without a name: "libfoo.so+0x1234". Code that was generated at run time is in
 * no module, so its text is the whole address. */
static const char *offset_text(struct native_names *names, const struct trace_module *module,
                               uint64_t address, struct err *err)
{
    return owned_texts_addf(&names->texts, err, "%s+0x%" PRIx64,
                            module ? path_name(module->path) : "[anonymous]",
                            module ? address - module->load_address : address);
}

static int keep_frames(struct native_names *names, struct symbol_frame *frames, int count,
                       const struct trace_module *module, struct err *err)
{
    for (int i = 0; i < count; i++) {
        if (ARRAY_GROW(names->frames, names->frame_capacity, names->frame_count, err))
            return -1;
        frames[i].module = module ? module->path : NULL;
        frames[i].means = torch_native_means(frames[i].function);
        frames[i].role = frame_role_of(&frames[i]);
        names->frames[names->frame_count++] = frames[i];
    }
    return 0;
}

/* --- one address --- */

static int find_stored(struct native_names *names, uint64_t address, struct symbol_frame *frames)
{
    const struct trace *trace = names->trace;
    size_t count;
    const struct trace_symbol *rows = trace_symbols(trace, address, &count);
    if (count > ELF_LOOKUP_FRAMES_MAX)
        count = ELF_LOOKUP_FRAMES_MAX;
    for (size_t i = 0; i < count; i++) {
        const char *file = trace_string(trace, rows[i].file_id);
        const char *function = trace_string(trace, rows[i].function_id);
        frames[i] = (struct symbol_frame){.kind = i + 1 < count ? "inlined" : "native",
                                          .function = function,
                                          .file = *file ? file : NULL,
                                          .line = rows[i].line,
                                          .is_named = strcmp(function, UNNAMED) != 0};
    }
    return (int)count;
}

/*
 * Looks up the byte before a return address, because it belongs to the call. Exception: a signal
 * handler returns to the first byte of code that has no call before it.
 */
static int find_in_file(struct native_names *names, const struct trace_module *module,
                        uint64_t address, struct symbol_frame *frames, struct err *err)
{
    struct module_file *file = file_of(names, module, err);
    if (!file)
        return -1;
    if (!file->lookup)
        return 0;
    if (elf_lookup_is_signal_return(file->lookup, address)) {
        frames[0] =
            (struct symbol_frame){.kind = "native", .function = SIGNAL_RETURN, .is_named = true};
        return 1;
    }
    int count = elf_lookup_find(file->lookup, address - 1, frames, &names->texts, err);
    for (int i = 0; i < count; i++)
        frames[i].is_named = true;
    return count;
}

/*
 * Takes the names in the trace if it has any for this address, else the names from the file. If
 * prefers_files is set (by `resolve`), the names from the file replace the names in the trace,
 * unless only the trace has a source line. Addresses in imported traces are made up, so they are
 * never looked up in a file.
 */
static int find_named(struct native_names *names, const struct trace_module *module,
                      uint64_t address, struct symbol_frame *frames, struct err *err)
{
    int stored = find_stored(names, address, frames), found;
    bool has_file = stored > 0 && frames[stored - 1].file;
    if (!module || names->trace->meta.imported_format.value ||
        (stored > 0 && !names->prefers_files))
        return stored;
    found = find_in_file(names, module, address, frames, err);
    if (found < 0 || (found > 0 && (frames[found - 1].file || !has_file)))
        return found;
    return find_stored(names, address, frames);
}

static bool is_signal_return(const struct symbol_frame *frame)
{
    return !strcmp(frame->function, SIGNAL_RETURN);
}

static int resolve_address(struct native_names *names, uint64_t address,
                           struct native_run *resolved, struct err *err)
{
    const struct trace_module *module = trace_module_at(names->trace, address - 1);
    struct symbol_frame found[ELF_LOOKUP_FRAMES_MAX];
    int count = find_named(names, module, address, found, err);
    if (count < 0)
        return -1;
    if (count == 0) {
        found[count++] = (struct symbol_frame){
            .kind = "native", .function = offset_text(names, module, address, err)};
        if (!found[0].function)
            return -1;
    }
    *resolved = (struct native_run){.first = names->frame_count,
                                    .count = (uint32_t)count,
                                    .is_signal_return = is_signal_return(&found[0])};
    if (keep_frames(names, found, count, module, err))
        return -1;
    if (module && !found[0].is_named && found[0].role != ROLE_own)
        names->modules[module - names->trace->modules].has_gap = true;
    return 0;
}

const struct native_run *native_names_find(struct native_names *names, uint64_t address,
                                           struct err *err)
{
    uint32_t number = pair_map_get(&names->addresses, 0, address);
    if (number != PAIR_MAP_NONE)
        return &names->resolved[number];
    if (ARRAY_GROW(names->resolved, names->resolved_capacity, names->resolved_count, err))
        return NULL;
    number = (uint32_t)names->resolved_count;
    if (resolve_address(names, address, &names->resolved[number], err) ||
        pair_map_put(&names->addresses, 0, address, number, err))
        return NULL;
    names->resolved_count++;
    return &names->resolved[number];
}

void native_names_prefer_files(struct native_names *names)
{
    names->prefers_files = true;
}

const struct symbol_frame *native_names_frame(const struct native_names *names, size_t number)
{
    return &names->frames[number];
}
