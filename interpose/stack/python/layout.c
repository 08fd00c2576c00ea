/* SPDX-License-Identifier: MIT */
/*
 * See layout.h. Chooses a row of layouts.def and compares it with the offsets that the interpreter
 * publishes. An interpreter whose offsets differ from the row anywhere is not read.
 */
#include "layout.h"

#include <stdio.h>
#include <string.h>

#include "common/numbers.h"

static const struct python_layout layouts[] = {
#define BUILD_GIL false
#define BUILD_FREE true
#define STATE(a, b) .state = a, .state_frame = b
#define FRAME(caller, code, instr, owner, entry, thread)                                           \
    .frame_caller = caller, .frame_code = code, .frame_instr = instr, .frame_owner = owner,        \
    .frame_entry = entry, .frame_thread = thread
#define CODE(file, name, qualname, lines, first_line, traceable, bytecode, threads)                \
    .code_file = file, .code_name = name, .code_qualname = qualname, .code_lines = lines,          \
    .code_first_line = first_line, .code_traceable = traceable, .code_bytecode = bytecode,         \
    .code_threads = threads
#define TEXT(ascii, other) .text_ascii = ascii, .text_other = other
#define LAYOUT(minor_version, build, kind, table, in_state, in_frame, in_code, size, in_text)      \
    {.minor = minor_version,                                                                       \
     .free_threaded = BUILD_##build,                                                               \
     .frames = PYTHON_##kind,                                                                      \
     .lines = PYTHON_##table,                                                                      \
     in_state,                                                                                     \
     in_frame,                                                                                     \
     in_code,                                                                                      \
     .code_basic_size = size,                                                                      \
     in_text},
#include "layouts.def"
};

#define NEWEST_STABLE_FREE_THREADED 13

/* Adds the offsets that depend on the size of an object's header. */
static void add_object_offsets(struct python_layout *layout)
{
    const int longer = layout->free_threaded ? 16 : 0;
    layout->object_type = 8 + longer;
    layout->type_name = 24 + longer;
    layout->type_basic_size = 32 + longer;
    layout->type_dealloc = 48 + longer;
    layout->bytes_size = 16 + longer;
    layout->bytes_data = 32 + longer;
    layout->text_length = 16 + longer;
    layout->text_state = 32 + longer;
    layout->text_state_shift = layout->free_threaded && layout->minor >= 14 ? 8 : 2;
}

static bool find_row(struct python_layout *layout, unsigned minor, bool free_threaded)
{
    for (size_t i = 0; i < sizeof layouts / sizeof *layouts; i++) {
        if (layouts[i].minor != minor || layouts[i].free_threaded != free_threaded)
            continue;
        *layout = layouts[i];
        add_object_offsets(layout);
        return true;
    }
    return false;
}

/* --- _Py_DebugOffsets:  | "xdebugpy" | PY_VERSION_HEX | free threaded | uint64 … | --- */

#define FIRST_PUBLISHED 13

struct published {
    size_t member; /* offset in struct python_layout */
    int position[3];
};

static const struct published published[] = {
#define PUBLISHED(member, in_13, in_14, in_15)                                                     \
    {offsetof(struct python_layout, member), {in_13, in_14, in_15}},
#include "layouts.def"
};

static bool has_offsets(const struct python_exports *exports, unsigned minor)
{
    const void *runtime = exports->runtime;
    return runtime && memcmp(runtime, "xdebugpy", 8) == 0 &&
           python_size(runtime, 8) >> 16 == (3u << 8 | minor);
}

static bool agrees(const struct python_layout *layout, const void *runtime)
{
    for (size_t i = 0; i < sizeof published / sizeof *published; i++) {
        const int position = published[i].position[layout->minor - FIRST_PUBLISHED];
        const int expected = python_int(layout, (int)published[i].member);
        if (position >= 0 && expected >= 0 &&
            python_size(runtime, position) != (size_t)(unsigned)expected)
            return false;
    }
    return true;
}

/* --- choosing --- */

static bool types_agree(const struct python_layout *layout, const struct python_exports *exports)
{
    const char *name = python_pointer(exports->code_type, layout->type_name);
    return python_pointer(exports->code_type, layout->object_type) == exports->type_type &&
           python_size(exports->code_type, layout->type_basic_size) ==
               (size_t)layout->code_basic_size &&
           python_size(exports->text_type, layout->type_basic_size) ==
               (size_t)layout->text_other + 8 &&
           strcmp(name, "code") == 0;
}

bool python_layout_choose(struct python_layout *layout, const struct python_exports *exports,
                          char *why, size_t why_bytes)
{
    const char *version = exports->version();
    uint64_t major, digits = 0;
    const char *rest = digits_read(version, &major);
    if (*rest == '.')
        rest = digits_read(rest + 1, &digits);
    const unsigned minor = (unsigned)digits;
    const bool offsets = has_offsets(exports, minor);
    const bool free_threaded = offsets && python_size(exports->runtime, 16) != 0;
    const int number_bytes = (int)(rest - version);
    if (major != 3 || !find_row(layout, minor, free_threaded)) {
        snprintf(why, why_bytes, "version %.*s is not known", number_bytes, version);
        return false;
    }
    if ((minor >= FIRST_PUBLISHED && (!offsets || !agrees(layout, exports->runtime))) ||
        !types_agree(layout, exports)) {
        snprintf(why, why_bytes, "this build of %.*s lays its objects out in its own way",
                 number_bytes, version);
        return false;
    }
    return true;
}

bool python_layout_is_experimental(const struct python_layout *layout)
{
    return layout->free_threaded && layout->minor > NEWEST_STABLE_FREE_THREADED;
}
