/* SPDX-License-Identifier: MIT */
/* Names for frames, cached by address; see symbols.h. */
#include "symbol/symbols.h"

#include <fnmatch.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "replay/address_map.h"
#include "symbol/elf_files.h"
#include "symbol/elf_lookup.h"
#include "symbol/name_pool.h"
#include "trace/array.h"

/* How the frame that a signal handler returns to reads, also in a trace that has names. */
#define SIGNAL_RETURN "(signal handler)"

/* What one native address stands for: a run of frames. */
struct resolved {
    size_t first;
    uint32_t count;
    bool is_signal_return; /* the frame outside it was interrupted by a signal */
};

/* One module of the trace and the file on this machine that it is looked up in. */
struct source {
    struct elf_lookup *lookup; /* NULL: no names */
    enum elf_state state;
    bool is_tried;
    bool has_gap; /* a frame stayed without a name */
};

struct symbols {
    const struct trace *trace;
    const struct symbol_sources *sources;
    struct elf_files *files;      /* made when first needed */
    struct source *modules;       /* as trace->modules */
    struct address_map addresses; /* number of the resolved address */
    struct resolved *resolved;
    size_t resolved_count, resolved_capacity;
    struct symbol_frame *frames;
    size_t frame_count, frame_capacity;
    uint8_t *location_roles; /* 1 + enum frame_role, by location_id; 0: not asked for */
    struct name_pool names;
    bool prefers_files;
};

struct symbols *symbols_new(const struct trace *trace, struct err *err)
{
    static const struct symbol_sources usual = {0};
    struct symbols *symbols = array_new(1, sizeof *symbols, err);

    if (!symbols)
        return NULL;
    symbols->trace = trace;
    symbols->sources = &usual;
    symbols->modules = array_new(trace->module_count, sizeof *symbols->modules, err);
    symbols->location_roles = array_new(trace->location_limit, 1, err);
    if (symbols->modules && symbols->location_roles)
        return symbols;
    symbols_free(symbols);
    return NULL;
}

void symbols_free(struct symbols *symbols)
{
    if (!symbols)
        return;
    for (size_t i = 0; symbols->modules && i < symbols->trace->module_count; i++)
        elf_lookup_close(symbols->modules[i].lookup);
    elf_files_free(symbols->files);
    address_map_release(&symbols->addresses);
    name_pool_release(&symbols->names);
    free(symbols->modules);
    free(symbols->resolved);
    free(symbols->frames);
    free(symbols->location_roles);
    free(symbols);
}

int symbols_set_sources(struct symbols *symbols, const struct symbol_sources *sources,
                        struct err *err)
{
    symbols->sources = sources;
    symbols->files = elf_files_new(sources, err);
    return symbols->files ? 0 : -1;
}

/* --- modules --- */

/* Where libraries came and went, ranges may overlap: the one mapped last is the likelier. */
const struct trace_module *symbols_module(const struct trace *trace, uint64_t address)
{
    const struct trace_module *best = NULL;

    for (size_t i = 0; i < trace->module_count; i++) {
        const struct trace_module *module = &trace->modules[i];

        if (module->start_address > address)
            break;
        if (address < module->end_address && (!best || module->module_id > best->module_id))
            best = module;
    }
    return best;
}

/* Tries to open the file of the module when first asked; its state says with what success. NULL: no
 * memory. */
static struct source *source_of(struct symbols *symbols, const struct trace_module *module,
                                struct err *err)
{
    struct source *source = &symbols->modules[module - symbols->trace->modules];
    const char *path;

    if (source->is_tried)
        return source;
    if (!symbols->files)
        symbols->files = elf_files_new(symbols->sources, err);
    if (!symbols->files)
        return NULL;
    source->is_tried = true;
    source->state = elf_files_find(symbols->files, module, &path);
    if (path)
        source->lookup = elf_lookup_open(symbols->files, module, path);
    return source;
}

const char *symbols_file_state(const struct symbols *symbols, const struct trace_module *module)
{
    static const char *const texts[] = {
        [ELF_FOUND] = "found", [ELF_MISSING] = "missing", [ELF_OTHER_BUILD] = "other build"};

    return texts[symbols->modules[module - symbols->trace->modules].state];
}

struct symbol_gaps symbols_gaps(const struct symbols *symbols)
{
    struct symbol_gaps gaps = {0};

    for (size_t i = 0; i < symbols->trace->module_count; i++) {
        const struct source *source = &symbols->modules[i];
        const char *path = symbols->trace->modules[i].path;

        if (!source->has_gap || *path != '/')
            continue;
        if (source->state == ELF_MISSING && gaps.missing_count++ == 0)
            gaps.missing = path;
        if (source->state == ELF_OTHER_BUILD && gaps.other_build_count++ == 0)
            gaps.other_build = path;
    }
    return gaps;
}

/* --- native frames --- */

static const char *base_name(const char *path)
{
    const char *slash = strrchr(path, '/');

    return slash ? slash + 1 : path;
}

/* "libfoo.so+0x1234"; outside any module, in code that was made at run time, the whole address. */
static const char *place_text(struct symbols *symbols, const struct trace_module *module,
                              uint64_t address, struct err *err)
{
    return name_pool_addf(&symbols->names, err, "%s+0x%" PRIx64,
                          module ? base_name(module->path) : "[anonymous]",
                          module ? address - module->load_address : address);
}

static int keep_frames(struct symbols *symbols, struct symbol_frame *frames, int count,
                       const struct trace_module *module, struct err *err)
{
    for (int i = 0; i < count; i++) {
        struct symbol_frame *grown = array_grow(symbols->frames, &symbols->frame_capacity,
                                                symbols->frame_count, sizeof *grown, err);

        if (!grown)
            return -1;
        symbols->frames = grown;
        frames[i].module = module ? module->path : NULL;
        frames[i].role = frame_role_of(&frames[i]);
        grown[symbols->frame_count++] = frames[i];
    }
    return 0;
}

/* --- one address --- */

static int find_stored(struct symbols *symbols, uint64_t address, struct symbol_frame *frames)
{
    const struct trace *trace = symbols->trace;
    size_t count;
    const struct trace_symbol *rows = trace_symbols(trace, address, &count);

    if (count > ELF_LOOKUP_FRAMES_MAX)
        count = ELF_LOOKUP_FRAMES_MAX;
    for (size_t i = 0; i < count; i++) {
        const char *file = trace_string(trace, rows[i].file_id);

        frames[i] = (struct symbol_frame){.kind = i + 1 < count ? "inlined" : "native",
                                          .function = trace_string(trace, rows[i].function_id),
                                          .file = *file ? file : NULL,
                                          .line = rows[i].line,
                                          .is_named = true};
    }
    return (int)count;
}

/*
 * What stands at a return address is the call at the byte before it; but a signal handler returns
 * to the first byte of code that has no call before it.
 */
static int find_in_file(struct symbols *symbols, const struct trace_module *module,
                        uint64_t address, struct symbol_frame *frames, struct err *err)
{
    struct source *source = source_of(symbols, module, err);
    int count;

    if (!source)
        return -1;
    if (!source->lookup)
        return 0;
    if (elf_lookup_is_signal_return(source->lookup, address)) {
        frames[0] =
            (struct symbol_frame){.kind = "native", .function = SIGNAL_RETURN, .is_named = true};
        return 1;
    }
    count = elf_lookup_find(source->lookup, address - 1, frames, &symbols->names, err);
    for (int i = 0; i < count; i++)
        frames[i].is_named = true;
    return count;
}

/* Names that the trace has are taken as they are; `resolve` replaces them by none that say less. */
static int find_named(struct symbols *symbols, const struct trace_module *module, uint64_t address,
                      struct symbol_frame *frames, struct err *err)
{
    int stored = find_stored(symbols, address, frames), found;
    bool has_file = stored > 0 && frames[stored - 1].file;

    if (!module || (stored > 0 && !symbols->prefers_files))
        return stored;
    found = find_in_file(symbols, module, address, frames, err);
    if (found < 0 || (found > 0 && (frames[found - 1].file || !has_file)))
        return found;
    return find_stored(symbols, address, frames);
}

static bool is_signal_return(const struct symbol_frame *frame)
{
    return !strcmp(frame->function, SIGNAL_RETURN);
}

static int resolve(struct symbols *symbols, uint64_t address, struct resolved *resolved,
                   struct err *err)
{
    const struct trace_module *module = symbols_module(symbols->trace, address - 1);
    struct symbol_frame found[ELF_LOOKUP_FRAMES_MAX];
    int count = find_named(symbols, module, address, found, err);

    if (count < 0)
        return -1;
    if (count == 0) {
        found[count++] = (struct symbol_frame){
            .kind = "native", .function = place_text(symbols, module, address, err)};
        if (!found[0].function)
            return -1;
    }
    *resolved = (struct resolved){.first = symbols->frame_count,
                                  .count = (uint32_t)count,
                                  .is_signal_return = is_signal_return(&found[0])};
    if (keep_frames(symbols, found, count, module, err))
        return -1;
    if (module && !found[0].is_named && found[0].role != ROLE_own)
        symbols->modules[module - symbols->trace->modules].has_gap = true;
    return 0;
}

static const struct resolved *resolved_of(struct symbols *symbols, uint64_t address,
                                          struct err *err)
{
    uint32_t number = address_map_get(&symbols->addresses, 0, address);
    struct resolved *grown;

    if (number != ADDRESS_MAP_NONE)
        return &symbols->resolved[number];
    grown = array_grow(symbols->resolved, &symbols->resolved_capacity, symbols->resolved_count,
                       sizeof *grown, err);
    if (!grown)
        return NULL;
    symbols->resolved = grown;
    number = (uint32_t)symbols->resolved_count;
    if (resolve(symbols, address, &grown[number], err) ||
        address_map_put(&symbols->addresses, 0, address, number, err))
        return NULL;
    symbols->resolved_count++;
    return &grown[number];
}

void symbols_prefer_files(struct symbols *symbols)
{
    symbols->prefers_files = true;
}

const struct symbol_frame *symbols_find(struct symbols *symbols, uint64_t address, size_t *count,
                                        bool *is_signal, struct err *err)
{
    const struct resolved *resolved = resolved_of(symbols, address, err);

    if (!resolved)
        return NULL;
    *count = resolved->count;
    *is_signal = resolved->is_signal_return;
    return &symbols->frames[resolved->first];
}

/* --- walking --- */

static bool has_python(const struct trace *trace, uint32_t frame_id)
{
    for (int depth = 0; depth < SYMBOLS_DEPTH_MAX && frame_id < trace->frame_limit; depth++) {
        const struct trace_frame *frame = &trace->frames[frame_id];

        if (!frame->present || frame->kind == FRAME_PYTHON)
            return frame->present;
        frame_id = frame->parent_id;
    }
    return false;
}

struct symbol_walk symbols_walk_begin(struct symbols *symbols, uint32_t stack_id)
{
    return (struct symbol_walk){.symbols = symbols,
                                .frame_id = stack_id,
                                .wants_no_label = has_python(symbols->trace, stack_id)};
}

static struct symbol_frame python_frame(struct symbols *symbols, uint64_t location_id)
{
    const struct trace *trace = symbols->trace;
    struct trace_location location = {0};
    struct symbol_frame frame = {.kind = "python", .is_named = true};
    const char *file;

    if (location_id < trace->location_limit)
        location = trace->locations[location_id];
    file = trace_string(trace, location.file_id);
    frame.function = trace_string(trace, location.function_id);
    frame.file = *file ? file : NULL;
    frame.line = location.line;
    if (location_id >= trace->location_limit)
        return frame;
    if (!symbols->location_roles[location_id])
        symbols->location_roles[location_id] = (uint8_t)(1 + frame_role_of(&frame));
    frame.role = symbols->location_roles[location_id] - 1;
    return frame;
}

static struct symbol_frame label_frame(const char *text)
{
    return (struct symbol_frame){.kind = "label", .function = text, .is_named = true};
}

static const char *label_of(const struct symbol_frame *frame)
{
    static const struct {
        const char *pattern, *text;
    } labels[] = {
#define LABEL(function, text) {function, text},
#include "symbol/thread_labels.def"
    };

    for (size_t i = 0; frame->is_named && i < sizeof labels / sizeof *labels; i++)
        if (fnmatch(labels[i].pattern, frame->function, 0) == 0)
            return labels[i].text;
    return NULL;
}

static int begin_native(struct symbol_walk *walk, uint64_t address, struct err *err)
{
    /* So that the byte before it is the one that was interrupted. */
    uint64_t return_address = address + walk->after_signal;
    const struct resolved *resolved = resolved_of(walk->symbols, return_address, err);

    if (!resolved)
        return -1;
    walk->next = resolved->first;
    walk->end = resolved->first + resolved->count;
    walk->after_signal = resolved->is_signal_return;
    return 0;
}

static void show_native(struct symbol_walk *walk, struct symbol_frame *frame)
{
    *frame = walk->symbols->frames[walk->next++];
    if (!walk->wants_no_label)
        walk->label = label_of(frame);
    walk->wants_no_label |= walk->label != NULL;
}

int symbols_walk_next(struct symbol_walk *walk, struct symbol_frame *frame, struct err *err)
{
    const struct trace *trace = walk->symbols->trace;

    while (walk->next == walk->end && !walk->label) {
        const struct trace_frame *next;

        if (walk->depth++ == SYMBOLS_DEPTH_MAX || walk->frame_id >= trace->frame_limit)
            return 0;
        next = &trace->frames[walk->frame_id];
        if (!next->present)
            return 0;
        walk->frame_id = next->parent_id;
        if (next->kind == FRAME_NATIVE) {
            if (begin_native(walk, next->address, err))
                return -1;
            continue;
        }
        *frame = next->kind == FRAME_PYTHON ? python_frame(walk->symbols, next->address)
                                            : label_frame(trace_string(trace, next->address));
        return 1;
    }
    if (walk->label) {
        *frame = label_frame(walk->label);
        walk->label = NULL;
    } else {
        show_native(walk, frame);
    }
    return 1;
}

int symbols_walk(struct symbols *symbols, uint32_t stack_id,
                 void (*show)(void *self, const struct symbol_frame *frame), void *self,
                 struct err *err)
{
    struct symbol_walk walk = symbols_walk_begin(symbols, stack_id);
    struct symbol_frame frame;
    int status;

    while ((status = symbols_walk_next(&walk, &frame, err)) > 0)
        show(self, &frame);
    return status;
}
