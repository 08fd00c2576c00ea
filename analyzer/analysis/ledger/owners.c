/* SPDX-License-Identifier: MIT */
/* Owners of driver memory, by their libraries; see owners.h. */
#include "owners.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analyzer/symbol/frame.h"
#include "analyzer/util/array.h"
#include "analyzer/util/text.h"
#include "gpumemtrace/limits.h"

static const struct {
    const char *start, *name;
    bool is_allocator;
} libraries[] = {
#define LIBRARY(start, name) {start, name, false},
#define ALLOCATOR(start, name) {start, name, true},
#include "owners.def"
};

/* The hint that one frame gives: none, the number of the owner, or a number that is used if no
 * other frame names an owner. */
struct hint {
    bool is_owner, is_fallback;
    uint32_t number;
};

/* Encoded in of_module as (number << 2 | kind). */
enum hint_kind { HINT_NOT_FOUND, HINT_NOTHING, HINT_OWNER, HINT_FALLBACK };

int owners_init(struct owners *owners, const struct trace *trace, struct err *err)
{
    *owners = (struct owners){.trace = trace};
    owners->of_module = array_new(trace->module_count, sizeof *owners->of_module, err);
    if (owners->of_module && text_set_add(&owners->names, "unknown", err) == OWNER_UNKNOWN &&
        text_set_add(&owners->names, "the program", err) == OWNER_PROGRAM)
        return 0;
    owners_release(owners);
    return -1;
}

void owners_release(struct owners *owners)
{
    text_set_release(&owners->names);
    pair_map_release(&owners->of_stack);
    pair_map_release(&owners->of_file);
    free(owners->of_module);
    *owners = (struct owners){0};
}

/* --- names --- */

/* The installed package of a file: "vllm" of ".../site-packages/vllm/_C.so". */
static bool package_name(char *name, size_t name_bytes, const char *path)
{
    static const char *const folders[] = {"/site-packages/", "/dist-packages/"};
    for (size_t i = 0; i < sizeof folders / sizeof *folders; i++) {
        const char *found = strstr(path, folders[i]);
        if (!found)
            continue;
        found += strlen(folders[i]);
        snprintf(name, name_bytes, "%.*s", (int)strcspn(found, "/."), found);
        return *name != '\0';
    }
    return false;
}

/* "libfoo.so" of "/usr/lib/libfoo.so.1.2". */
static void library_name(char *name, size_t name_bytes, const char *path)
{
    const char *file = path_name(path);
    const char *end = strstr(file, ".so");
    if (package_name(name, name_bytes, path))
        return;
    snprintf(name, name_bytes, "%.*s", end ? (int)(end - file + 3) : (int)strlen(file), file);
}

static int add_owner(struct owners *owners, struct hint *hint, const char *name, struct err *err)
{
    hint->number = text_set_add(&owners->names, name, err);
    return hint->number == TEXT_SET_NONE ? -1 : 0;
}

/* --- hints of a frame --- */

static bool is_program(const struct trace *trace, const char *path)
{
    const char *executable = trace->meta.executable.value;
    return (executable && !strcmp(executable, path)) || !strstr(path_name(path), ".so");
}

static int look_at_library(struct owners *owners, struct hint *hint, const char *path,
                           struct err *err)
{
    const struct symbol_frame frame = {.kind = "native", .function = "", .module = path};
    const char *file = path_name(path);
    char name[LIMIT_text_bytes + 1];
    for (size_t i = 0; i < sizeof libraries / sizeof *libraries; i++) {
        if (strncmp(file, libraries[i].start, strlen(libraries[i].start)))
            continue;
        hint->is_fallback = libraries[i].is_allocator;
        hint->is_owner = !hint->is_fallback;
        return add_owner(owners, hint, libraries[i].name, err);
    }
    switch (frame_role_of(&frame)) {
    case ROLE_own:
    case ROLE_interpreter:
    case ROLE_runtime:
        return 0;
    default:
        break;
    }
    hint->is_owner = true;
    hint->number = OWNER_PROGRAM;
    if (is_program(owners->trace, path))
        return 0;
    library_name(name, sizeof name, path);
    return add_owner(owners, hint, name, err);
}

static int look_at_module(struct owners *owners, struct hint *hint,
                          const struct trace_module *module, struct err *err)
{
    uint32_t *known = &owners->of_module[module - owners->trace->modules];
    if (*known == HINT_NOT_FOUND) {
        if (look_at_library(owners, hint, module->path, err))
            return -1;
        *known = hint->number << 2 | (hint->is_owner      ? HINT_OWNER
                                      : hint->is_fallback ? HINT_FALLBACK
                                                          : HINT_NOTHING);
    }
    *hint = (struct hint){.is_owner = (*known & 3) == HINT_OWNER,
                          .is_fallback = (*known & 3) == HINT_FALLBACK,
                          .number = *known >> 2};
    return 0;
}

static int look_at_file(struct owners *owners, struct hint *hint, const char *file, struct err *err)
{
    const struct symbol_frame frame = {
        .kind = "python", .function = "", .file = file, .is_named = true};
    const enum frame_role role = frame_role_of(&frame);
    char name[LIMIT_text_bytes + 1];
    hint->is_owner = role == ROLE_program || role == ROLE_compiled || role == ROLE_framework;
    hint->number = OWNER_PROGRAM;
    if (role != ROLE_framework || !package_name(name, sizeof name, file))
        return 0;
    return add_owner(owners, hint, name, err);
}

static int look_at_python(struct owners *owners, struct hint *hint, uint64_t location_id,
                          struct err *err)
{
    const struct trace *trace = owners->trace;
    if (location_id >= trace->location_limit)
        return 0;
    const uint64_t file_id = trace->locations[location_id].file_id;
    const uint32_t known = pair_map_get(&owners->of_file, 0, file_id);
    if (known != PAIR_MAP_NONE) {
        *hint = (struct hint){.is_owner = known & 1, .number = known >> 1};
        return 0;
    }
    return look_at_file(owners, hint, trace_string(trace, file_id), err) ||
                   pair_map_put(&owners->of_file, 0, file_id, hint->number << 1 | hint->is_owner,
                                err)
               ? -1
               : 0;
}

static int look_at_frame(struct owners *owners, struct hint *hint, const struct trace_frame *frame,
                         struct err *err)
{
    const struct trace_module *module;
    *hint = (struct hint){0};
    if (frame->kind == FRAME_PYTHON)
        return look_at_python(owners, hint, frame->address, err);
    if (frame->kind != FRAME_NATIVE)
        return 0;
    module = trace_module_at(owners->trace, frame->address - 1);
    return module ? look_at_module(owners, hint, module, err) : 0;
}

static int walk_stack(struct owners *owners, uint32_t stack_id, uint32_t *number, struct err *err)
{
    const struct trace *trace = owners->trace;
    struct hint hint;
    *number = OWNER_UNKNOWN;
    for (int depth = 0; depth < SYMBOLS_DEPTH_MAX && stack_id < trace->frame_limit &&
                        trace->frames[stack_id].present;
         depth++) {
        if (look_at_frame(owners, &hint, &trace->frames[stack_id], err))
            return -1;
        if (hint.is_owner || hint.is_fallback)
            *number = hint.number;
        if (hint.is_owner)
            return 0;
        stack_id = trace->frames[stack_id].parent_id;
    }
    return 0;
}

int64_t owners_find(struct owners *owners, uint32_t stack_id, struct err *err)
{
    uint32_t number = pair_map_get(&owners->of_stack, 0, stack_id);
    if (number != PAIR_MAP_NONE)
        return number;
    if (walk_stack(owners, stack_id, &number, err) ||
        pair_map_put(&owners->of_stack, 0, stack_id, number, err))
        return -1;
    return number;
}
