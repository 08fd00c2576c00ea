/* SPDX-License-Identifier: MIT */
/* Names for frames, cached by address; see symbols.h. */
#include "symbol/symbols.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "replay/address_map.h"
#include "symbol/elf_lookup.h"
#include "trace/array.h"

enum { INLINED_MAX = 32 };

/* What one native address stands for: a run of frames. */
struct resolved {
    uint32_t first, count;
};

struct symbols {
    const struct trace *trace;
    struct elf_lookup **lookups; /* by module, opened when first needed */
    bool *tried;
    struct address_map addresses; /* number of the resolved address */
    struct resolved *resolved;
    size_t resolved_count, resolved_capacity;
    struct symbol_frame *frames;
    size_t frame_count, frame_capacity;
    char **texts; /* made here: module+offset */
    size_t text_count, text_capacity;
};

struct symbols *symbols_new(const struct trace *trace, struct err *err)
{
    struct symbols *symbols = array_new(1, sizeof *symbols, err);

    if (!symbols)
        return NULL;
    symbols->trace = trace;
    symbols->lookups = array_new(trace->module_count, sizeof *symbols->lookups, err);
    symbols->tried = array_new(trace->module_count, sizeof *symbols->tried, err);
    if (symbols->lookups && symbols->tried)
        return symbols;
    symbols_free(symbols);
    return NULL;
}

void symbols_free(struct symbols *symbols)
{
    if (!symbols)
        return;
    for (size_t i = 0; symbols->lookups && i < symbols->trace->module_count; i++)
        elf_lookup_close(symbols->lookups[i]);
    for (size_t i = 0; i < symbols->text_count; i++)
        free(symbols->texts[i]);
    address_map_release(&symbols->addresses);
    free(symbols->lookups);
    free(symbols->tried);
    free(symbols->resolved);
    free(symbols->frames);
    free(symbols->texts);
    free(symbols);
}

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

static struct elf_lookup *lookup_of(struct symbols *symbols, const struct trace_module *module)
{
    size_t number = (size_t)(module - symbols->trace->modules);

    if (!symbols->tried[number]) {
        symbols->tried[number] = true;
        symbols->lookups[number] = elf_lookup_open(module);
    }
    return symbols->lookups[number];
}

static const char *base_name(const char *path)
{
    const char *slash = strrchr(path, '/');

    return slash ? slash + 1 : path;
}

/* "libfoo.so+0x1234", or the bare address outside any module. NULL: no memory. */
static const char *place_text(struct symbols *symbols, const struct trace_module *module,
                              uint64_t address, struct err *err)
{
    char **grown = array_grow(symbols->texts, &symbols->text_capacity, symbols->text_count,
                              sizeof *grown, err);
    const char *name = module ? base_name(module->path) : "";
    size_t bytes = strlen(name) + sizeof "+0x0123456789abcdef";
    char *text;

    if (!grown)
        return NULL;
    symbols->texts = grown;
    text = malloc(bytes);
    if (!text) {
        err_set(err, ERR_SYSTEM, "not enough memory for the names of frames");
        return NULL;
    }
    grown[symbols->text_count++] = text;
    snprintf(text, bytes, "%s%s0x%" PRIx64, name, module ? "+" : "",
             module ? address - module->load_address : address);
    return text;
}

static int keep_frame(struct symbols *symbols, const struct symbol_frame *frame, struct err *err)
{
    struct symbol_frame *grown;

    grown = array_grow(symbols->frames, &symbols->frame_capacity, symbols->frame_count,
                       sizeof *grown, err);
    if (!grown)
        return -1;
    symbols->frames = grown;
    grown[symbols->frame_count++] = *frame;
    return 0;
}

/* The frame's address is where the call returns to; the call itself stands just before. */
static int resolve(struct symbols *symbols, uint64_t address, struct resolved *resolved,
                   struct err *err)
{
    const struct trace_module *module = symbols_module(symbols->trace, address - 1);
    struct elf_lookup *lookup = module ? lookup_of(symbols, module) : NULL;
    struct symbol_frame found[INLINED_MAX];
    size_t count = lookup ? elf_lookup_find(lookup, address - 1, found, INLINED_MAX) : 0;

    if (count == 0) {
        const char *text = place_text(symbols, module, address, err);

        if (!text)
            return -1;
        found[count++] = (struct symbol_frame){
            .kind = "native", .function = text, .module = module ? module->path : NULL};
    }
    resolved->first = (uint32_t)symbols->frame_count;
    resolved->count = (uint32_t)count;
    for (size_t i = 0; i < count; i++)
        if (keep_frame(symbols, &found[i], err))
            return -1;
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

static void show_python(const struct trace *trace, uint64_t location_id,
                        void (*show)(void *self, const struct symbol_frame *frame), void *self)
{
    struct trace_location location = {0};
    const char *file;

    if (location_id < trace->location_limit)
        location = trace->locations[location_id];
    file = trace_string(trace, location.file_id);
    show(self, &(struct symbol_frame){.kind = "python",
                                      .function = trace_string(trace, location.function_id),
                                      .file = *file ? file : NULL,
                                      .line = location.line});
}

int symbols_walk(struct symbols *symbols, uint32_t stack_id,
                 void (*show)(void *self, const struct symbol_frame *frame), void *self,
                 struct err *err)
{
    const struct trace *trace = symbols->trace;

    for (int depth = 0; depth < SYMBOLS_DEPTH_MAX && stack_id < trace->frame_limit; depth++) {
        const struct trace_frame *frame = &trace->frames[stack_id];
        const struct resolved *resolved;

        if (!frame->present)
            return 0;
        stack_id = frame->parent_id;
        if (frame->kind == FRAME_PYTHON) {
            show_python(trace, frame->address, show, self);
            continue;
        }
        if (frame->kind == FRAME_LABEL) {
            show(self, &(struct symbol_frame){.kind = "label",
                                              .function = trace_string(trace, frame->address)});
            continue;
        }
        resolved = resolved_of(symbols, frame->address, err);
        if (!resolved)
            return -1;
        for (uint32_t i = 0; i < resolved->count; i++)
            show(self, &symbols->frames[resolved->first + i]);
    }
    return 0;
}
