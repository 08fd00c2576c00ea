/* SPDX-License-Identifier: MIT */
/* The program's own frames of stacks, as a tree; see call_paths.h. */
#include "call_paths.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analyzer/util/array.h"
#include "analyzer/util/glob.h"
#include "gpumemtrace/limits.h"
#include "stack_site.h"

bool call_is_wrapper(const char *function)
{
    static const char *const patterns[] = {
#define WRAPPER(pattern) pattern,
#include "wrappers.def"
    };
    for (size_t i = 0; i < sizeof patterns / sizeof *patterns; i++)
        if (glob_match(patterns[i], function))
            return true;
    return false;
}

static bool is_header(const char *file)
{
    static const char *const endings[] = {".h",   ".hpp", ".hh",  ".hxx",
                                          ".cuh", ".inl", ".ipp", ".tcc"};
    const char *dot = file ? strrchr(file, '.') : NULL;
    for (size_t i = 0; dot && i < sizeof endings / sizeof *endings; i++)
        if (!strcmp(dot, endings[i]))
            return true;
    return false;
}

/* Names of frames live as long as the symbols, so equal pointers are equal names. */
static bool is_frame_of(const struct call_place *place, const struct symbol_frame *frame)
{
    return place->frame.function == frame->function && place->frame.file == frame->file &&
           place->frame.module == frame->module && place->frame.line == frame->line;
}

static uint32_t add_new_place(struct call_paths *paths, const struct symbol_frame *frame,
                              struct err *err)
{
    enum { KEY_BYTES = STACK_SITE_TEXT_BYTES + LIMIT_text_bytes + 2 };
    const struct stack_site site = {.frame = *frame, .is_found = true};
    const char *where = frame->file ? frame->file : frame->module;
    char buffer[STACK_SITE_TEXT_BYTES], key[KEY_BYTES];
    const char *text = stack_site_text(&site, buffer);

    snprintf(key, sizeof key, "%s\n%s", text, where ? where : "");
    const uint32_t number = text_set_add(&paths->keys, key, err);
    if (number == TEXT_SET_NONE || number < paths->place_count)
        return number;
    const uint32_t said = text_set_add(&paths->texts, text, err);
    if (said == TEXT_SET_NONE)
        return TEXT_SET_NONE;
    if (ARRAY_GROW(paths->places, paths->place_capacity, paths->place_count, err))
        return TEXT_SET_NONE;
    paths->places[paths->place_count++] = (struct call_place){
        .frame = *frame, .text = paths->texts.texts[said], .is_header = is_header(frame->file)};
    return number;
}

/* Finds or adds the place of a frame. Looks into by_frame first, because most frames were in
 * earlier stacks. */
static uint32_t add_place(struct call_paths *paths, const struct symbol_frame *frame,
                          struct err *err)
{
    const uint64_t name = (uint64_t)(uintptr_t)frame->function;
    uint32_t number = pair_map_get(&paths->by_frame, frame->line, name);
    if (number != PAIR_MAP_NONE && is_frame_of(&paths->places[number], frame))
        return number;
    number = add_new_place(paths, frame, err);
    return number == TEXT_SET_NONE || pair_map_put(&paths->by_frame, frame->line, name, number, err)
               ? TEXT_SET_NONE
               : number;
}

/*
 * The places that a walk has found so far: the places of named frames, or those of unnamed frames
 * if there is no named frame.
 */
struct found {
    size_t count;
    bool is_named, has_label;
};

static int note_frame(struct call_paths *paths, struct found *found,
                      const struct symbol_frame *frame, struct err *err)
{
    if (!strcmp(frame->kind, "label")) {
        found->has_label = true;
        return 0;
    }
    if (frame->role != ROLE_program || (found->is_named && !frame->is_named))
        return 0;
    if (frame->is_named && !found->is_named)
        *found = (struct found){.is_named = true, .has_label = found->has_label};
    if (ARRAY_GROW(paths->walked, paths->walked_capacity, found->count, err))
        return -1;
    paths->walked[found->count] = add_place(paths, frame, err);
    return paths->walked[found->count++] == TEXT_SET_NONE ? -1 : 0;
}

int call_paths_add(struct call_paths *paths, struct symbols *symbols, uint32_t stack_id,
                   uint32_t *path, struct err *err)
{
    struct symbol_walk walk = symbols_walk_begin(symbols, stack_id);
    struct symbol_frame frame;
    struct found found = {0};
    int status;
    *path = CALL_PATH_NONE;
    while ((status = symbols_walk_next(&walk, &frame, err)) > 0)
        if (note_frame(paths, &found, &frame, err))
            return -1;
    if (status < 0 || (!found.is_named && found.has_label))
        return status;
    while (found.count > 0) {
        *path = frame_tree_add(&paths->tree, *path, paths->walked[--found.count], err);
        if (*path == CALL_PATH_NONE)
            return -1;
    }
    return 0;
}

void call_paths_release(struct call_paths *paths)
{
    text_set_release(&paths->texts);
    text_set_release(&paths->keys);
    pair_map_release(&paths->by_frame);
    frame_tree_release(&paths->tree);
    free(paths->places);
    free(paths->walked);
    *paths = (struct call_paths){0};
}
