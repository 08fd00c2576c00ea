/* SPDX-License-Identifier: MIT */
/*
 * Knows the version and build of CPython, and the offsets of the members that are read
 * (layouts.def). Only the functions of this file read CPython's objects.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

enum python_frames { PYTHON_OBJECTS, PYTHON_MARKED, PYTHON_SHIMS };
enum python_lines { PYTHON_PAIRS, PYTHON_RANGES, PYTHON_ENTRIES };

/* Offsets in bytes; negative: this interpreter lacks the member. */
struct python_layout {
    unsigned minor;
    bool free_threaded;
    enum python_frames frames;
    enum python_lines lines;
    int state, state_frame;
    int frame_caller, frame_code, frame_instr, frame_owner, frame_entry, frame_thread;
    int code_file, code_name, code_qualname, code_lines, code_first_line, code_traceable,
        code_bytecode, code_threads;
    int code_basic_size;
    int text_ascii, text_other; /* where the characters of a str start */
    int object_type, type_name, type_basic_size, type_dealloc;
    int bytes_size, bytes_data;
    int text_length, text_state, text_state_shift;
};

/* The symbols that an interpreter must export so that it can be read. `runtime` is needed only
 * since 3.13. */
struct python_exports {
    const char *(*version)(void); /* Py_GetVersion */
    void *code_type, *type_type, *text_type;
    const void *runtime; /* _PyRuntime */
};

/* Fills *layout. false: the interpreter cannot be read, for the reason in why. The function looks
 * only at static types, so it works before the interpreter runs. */
bool python_layout_choose(struct python_layout *layout, const struct python_exports *exports,
                          char *why, size_t why_bytes);

/* Do the offsets come from headers alone? In that case, no test has compared them with a running
 * interpreter. */
bool python_layout_is_experimental(const struct python_layout *layout);

/* --- reading --- */

static inline void *python_pointer(const void *object, int offset)
{
    void *value;
    memcpy(&value, (const char *)object + offset, sizeof value);
    return value;
}

static inline int32_t python_int(const void *object, int offset)
{
    int32_t value;
    memcpy(&value, (const char *)object + offset, sizeof value);
    return value;
}

static inline size_t python_size(const void *object, int offset)
{
    size_t value;
    memcpy(&value, (const char *)object + offset, sizeof value);
    return value;
}

static inline unsigned python_byte(const void *object, int offset)
{
    return ((const unsigned char *)object)[offset];
}
