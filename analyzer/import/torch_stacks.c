/* SPDX-License-Identifier: MIT */
/* Turns lists of frames into stacks; see torch_stacks.h. */
#include "torch_stacks.h"

#include <stdlib.h>
#include <string.h>

#include "analyzer/util/array.h"
#include "analyzer/util/glob.h"
#include "common/values_file.h"
#include "gpumemtrace/limits.h"

struct torch_place {
    struct draft_place place;
    uint32_t module_id; /* id of its path; 0: a source file, or unknown */
    bool is_known, is_native, is_left_out;
};

int torch_stacks_init(struct torch_stacks *stacks, struct draft *draft,
                      const struct pickle_values *values, struct err *err)
{
    *stacks =
        (struct torch_stacks){.draft = draft,
                              .stacks = array_new(values->list_count, sizeof *stacks->stacks, err),
                              .places = array_new(values->list_count, sizeof *stacks->places, err)};
    if (stacks->stacks && stacks->places)
        return 0;
    torch_stacks_release(stacks);
    return -1;
}

void torch_stacks_release(struct torch_stacks *stacks)
{
    free(stacks->stacks);
    free(stacks->places);
    *stacks = (struct torch_stacks){0};
}

static bool contains(const struct pickle_value *text, char byte)
{
    return text && text->type == PICKLE_TEXT && memchr(text->text, byte, text->length);
}

static bool ends_in(const struct pickle_value *text, const char *suffix)
{
    const size_t length = strlen(suffix);
    return text->length >= length && !memcmp(text->text + text->length - length, suffix, length);
}

/* Without a source lookup, PyTorch gives the library or executable as the file, and an offset in it
 * as the line. A line above 65536 is taken for such an offset, because no script is that long. */
static bool is_module(const struct pickle_value *file, const struct pickle_value *name,
                      const struct pickle_value *line)
{
    enum { LINES_MOST = 1 << 16, NAME_BYTES = 256 };
    char base[NAME_BYTES];
    const char *start;
    size_t length;

    if (!file || file->type != PICKLE_TEXT || ends_in(file, ".py") ||
        !(start = memrchr(file->text, '/', file->length)))
        return false;
    start++;
    length = (size_t)(file->text + file->length - start);
    if (length >= sizeof base)
        return false;
    memcpy(base, start, length);
    base[length] = '\0';
    return pickle_is_text(name, "??") || glob_match("*.so", base) ||
           glob_match("*.so.[0123456789]*", base) || glob_match("python", base) ||
           glob_match("python[23]*", base) ||
           (line && line->type == PICKLE_NUMBER && line->number > LINES_MOST);
}

/* PyTorch gives a native frame's source file only if it was told to look it up; "??" means none. */
static bool is_source(const struct pickle_value *file)
{
    static const char *const suffixes[] = {".c",  ".cc",  ".cpp", ".cxx",
                                           ".cu", ".cuh", ".h",   ".hpp"};
    for (size_t i = 0; file && file->type == PICKLE_TEXT && i < sizeof suffixes / sizeof *suffixes;
         i++)
        if (ends_in(file, suffixes[i]))
            return true;
    return false;
}

static bool is_of_native_file(const struct pickle_value *file)
{
    return !file || file->type != PICKLE_TEXT || !file->length || pickle_is_text(file, "??") ||
           is_source(file);
}

static int text_id(const struct torch_stacks *stacks, const struct pickle_value *text, uint32_t *id,
                   struct err *err)
{
    *id = text && text->type == PICKLE_TEXT
              ? draft_text(stacks->draft, text->text, text->length, err)
              : draft_text(stacks->draft, "??", 2, err);
    return *id ? 0 : -1;
}

/* Returns the length of a native function's name without its parameters, because recorded
 * traces have none. */
static size_t length_without_parameters(const char *name, size_t length)
{
    static const char member[] = " const", call[] = "operator";
    size_t at = length;
    int depth = 0;
    if (at > sizeof member && !memcmp(name + at - (sizeof member - 1), member, sizeof member - 1))
        at -= sizeof member - 1;
    if (!at || name[at - 1] != ')')
        return length;
    do {
        at--;
        depth += (name[at] == ')') - (name[at] == '(');
    } while (at && depth);
    const bool is_call =
        at >= sizeof call - 1 && !memcmp(name + at - (sizeof call - 1), call, sizeof call - 1);
    return at && !is_call ? at : length;
}

static int native_name_id(const struct torch_stacks *stacks, const struct pickle_value *name,
                          uint32_t *id, struct err *err)
{
    static const char result[] = "void ";
    struct pickle_value bare;
    if (!name || name->type != PICKLE_TEXT)
        return text_id(stacks, name, id, err);
    bare = *name;
    if (bare.length > sizeof result && !memcmp(bare.text, result, sizeof result - 1)) {
        bare.text += sizeof result - 1;
        bare.length -= sizeof result - 1;
    }
    bare.length = (uint32_t)length_without_parameters(bare.text, bare.length);
    return text_id(stacks, &bare, id, err);
}

/* Only names of C++ functions contain a parenthesis; names of Python and C functions do not. */
static int read_place(const struct torch_stacks *stacks, const struct pickle_value *frame,
                      struct torch_place *known, struct err *err)
{
    const struct pickle_value *name = pickle_get(frame, "name");
    const struct pickle_value *file = pickle_get(frame, "filename");
    const struct pickle_value *line = pickle_get(frame, "line");
    struct draft_place *place = &known->place;
    known->is_left_out = pickle_is_text(file, VALUES_FILE);
    known->is_native = is_of_native_file(file) || contains(name, '(') || pickle_is_text(name, "??");
    if (!is_source(file) && is_module(file, name, line) &&
        text_id(stacks, file, &known->module_id, err))
        return -1;
    known->is_native |= known->module_id != 0;
    if (line && line->type == PICKLE_NUMBER && line->number <= INT32_MAX)
        place->line = (uint32_t)line->number;
    if ((known->is_native ? native_name_id : text_id)(stacks, name, &place->function_id, err))
        return -1;
    if ((!known->is_native || (file && !pickle_is_text(file, "??"))) &&
        text_id(stacks, file, &place->file_id, err))
        return -1;
    known->is_known = true;
    return 0;
}

/* Adds the frame as callee of *frame_id; leaves *frame_id as it is if the frame is left out. */
static int add_frame(struct torch_stacks *stacks, const struct pickle_value *frame,
                     uint32_t *frame_id, struct err *err)
{
    struct draft *draft = stacks->draft;
    if (frame->type != PICKLE_DICT) {
        *frame_id = draft_label_frame(draft, *frame_id, draft_text(draft, "??", 2, err), err);
        return *frame_id ? 0 : -1;
    }
    struct torch_place *known = &stacks->places[frame->list->number];
    const struct draft_place *place = &known->place;
    if (!known->is_known && read_place(stacks, frame, known, err))
        return -1;
    if (known->is_left_out)
        return 0;
    if (known->module_id)
        *frame_id = draft_module_frame(draft, *frame_id, place->function_id, known->module_id, err);
    else if (known->is_native)
        *frame_id = draft_native_frame(draft, *frame_id, place, err);
    else
        *frame_id = draft_python_frame(draft, *frame_id, place, err);
    return *frame_id ? 0 : -1;
}

int torch_stacks_find(struct torch_stacks *stacks, const struct pickle_value *frames,
                      uint32_t *stack_id, struct err *err)
{
    const struct pickle_value *items = NULL;
    size_t count = pickle_items(frames, &items);
    uint32_t parent = 0;
    *stack_id = 0;
    if (!count)
        return 0;
    uint32_t *known = &stacks->stacks[frames->list->number];
    if (!*known) {
        stacks->cut_count += count > LIMIT_stack_frames;
        for (size_t i = count < LIMIT_stack_frames ? count : LIMIT_stack_frames; i-- > 0;)
            if (add_frame(stacks, &items[i], &parent, err))
                return -1;
        *known = parent + 1;
    }
    *stack_id = *known - 1;
    return 0;
}
