/* SPDX-License-Identifier: MIT */
/* Chooses the line that stands for each stack of a set; see blame.h. */
#include "blame.h"

#include <stdio.h>
#include <stdlib.h>

#include "analyzer/util/array.h"

static int add_site(struct blame *blame, struct symbols *symbols, uint64_t site_id, struct err *err)
{
    if (pair_map_get(&blame->numbers, 0, site_id) != PAIR_MAP_NONE)
        return 0;
    if (ARRAY_GROW(blame->items, blame->capacity, blame->count, err))
        return -1;
    if (pair_map_put(&blame->numbers, 0, site_id, (uint32_t)blame->count, err))
        return -1;
    struct blamed *blamed = &blame->items[blame->count++];
    *blamed = (struct blamed){.site_id = site_id, .forward_path = CALL_PATH_NONE};
    if (call_paths_add(&blame->paths, symbols, site_stack(site_id), &blamed->path, err))
        return -1;
    if (blamed->path != CALL_PATH_NONE || !site_forward_stack(site_id))
        return 0;
    return call_paths_add(&blame->paths, symbols, site_forward_stack(site_id),
                          &blamed->forward_path, err);
}

/* --- which place of a path --- */

enum { NOT_ASKED, NO_WRAPPER, IS_WRAPPER };

/* Counts for the choice of labels. The array `counted` is by path, the other arrays are by place.
 * */
struct choice {
    bool *counted;            /* the path was counted */
    uint32_t *sharing, *last; /* sharing: number of paths through it; last: the last path + 1 */
    uint32_t *callers;        /* number of different functions that call it */
    uint8_t *wrappers;        /* whether it is in wrappers.def: a value of the enum above */
    struct pair_map calling;  /* pairs of a place and the caller's index in names */
    struct text_set names;
};

static int count_caller(const struct call_paths *paths, struct choice *choice, uint32_t path,
                        struct err *err)
{
    const uint32_t place = (uint32_t)paths->tree.nodes[path].frame;
    const uint32_t outer = paths->tree.nodes[path].outer;
    if (outer == CALL_PATH_NONE)
        return 0;
    const uint32_t name =
        text_set_add(&choice->names, call_path_place(paths, outer)->frame.function, err);
    if (name == TEXT_SET_NONE)
        return -1;
    if (pair_map_get(&choice->calling, place, name) != PAIR_MAP_NONE)
        return 0;
    choice->callers[place]++;
    return pair_map_put(&choice->calling, place, name, 0, err);
}

static int count_path(const struct call_paths *paths, struct choice *choice, uint32_t path,
                      struct err *err)
{
    if (choice->counted[path])
        return 0;
    choice->counted[path] = true;
    for (uint32_t at = path; at != CALL_PATH_NONE; at = paths->tree.nodes[at].outer) {
        const uint32_t place = (uint32_t)paths->tree.nodes[at].frame;

        if (count_caller(paths, choice, at, err))
            return -1;
        choice->sharing[place] += choice->last[place] != path + 1;
        choice->last[place] = path + 1;
    }
    return 0;
}

static bool is_wrapper(const struct call_paths *paths, const struct choice *choice, uint32_t place)
{
    uint8_t *known = &choice->wrappers[place];
    if (*known == NOT_ASKED)
        *known = call_is_wrapper(paths->places[place].frame.function) ? IS_WRAPPER : NO_WRAPPER;
    return *known == IS_WRAPPER;
}

/* is_helped: the path from place to best goes through a function that several functions call. */
static bool is_better_label(const struct call_paths *paths, const struct choice *choice,
                            uint32_t place, uint32_t best, bool is_helped)
{
    const bool is_wrapped = is_wrapper(paths, choice, best);
    if (is_wrapper(paths, choice, place) != is_wrapped)
        return is_wrapped;
    if (choice->sharing[place] != choice->sharing[best])
        return choice->sharing[place] < choice->sharing[best];
    return is_helped || (paths->places[best].is_header && !paths->places[place].is_header);
}

/* Returns the node, on the path or at its end, whose place is the label. */
static uint32_t label_path_of(const struct call_paths *paths, const struct choice *choice,
                              uint32_t path)
{
    uint32_t best = path;
    bool is_helped = choice->callers[paths->tree.nodes[path].frame] > 1;
    for (uint32_t at = paths->tree.nodes[path].outer; at != CALL_PATH_NONE;
         at = paths->tree.nodes[at].outer) {
        const uint32_t place = (uint32_t)paths->tree.nodes[at].frame;

        if (is_better_label(paths, choice, place, (uint32_t)paths->tree.nodes[best].frame,
                            is_helped)) {
            best = at;
            is_helped = false;
        }
        is_helped |= choice->callers[place] > 1;
    }
    return best;
}

static uint32_t path_that_counts(const struct blamed *item)
{
    return item->path == CALL_PATH_NONE ? item->forward_path : item->path;
}

static int count_paths(const struct blame *blame, struct choice *choice, size_t counted,
                       struct err *err)
{
    const struct call_paths *paths = &blame->paths;
    choice->counted = array_new(paths->tree.count, sizeof *choice->counted, err);
    choice->sharing = array_new(paths->place_count, sizeof *choice->sharing, err);
    choice->last = array_new(paths->place_count, sizeof *choice->last, err);
    choice->callers = array_new(paths->place_count, sizeof *choice->callers, err);
    choice->wrappers = array_new(paths->place_count, sizeof *choice->wrappers, err);
    if (!choice->counted || !choice->sharing || !choice->last || !choice->callers ||
        !choice->wrappers)
        return -1;
    for (size_t i = 0; i < counted; i++) {
        const uint32_t path = path_that_counts(&blame->items[i]);

        if (path != CALL_PATH_NONE && count_path(paths, choice, path, err))
            return -1;
    }
    return 0;
}

static void choice_release(struct choice *choice)
{
    free(choice->counted);
    free(choice->sharing);
    free(choice->last);
    free(choice->callers);
    free(choice->wrappers);
    pair_map_release(&choice->calling);
    text_set_release(&choice->names);
}

/* --- what is said --- */

enum { BLAME_LABEL_BYTES = STACK_SITE_TEXT_BYTES + STACK_FUNCTION_BYTES };

static void format_row(const struct stack_site *site, const char *label,
                       char text[BLAME_TEXT_BYTES])
{
    char shortened[STACK_FUNCTION_BYTES];
    if (site->called)
        snprintf(text, BLAME_TEXT_BYTES, "%s, in %s", label,
                 stack_function_text(site->called, shortened));
    else
        snprintf(text, BLAME_TEXT_BYTES, "%s", label);
}

/* Makes a label like "MmBackward0 of train.py:88 forward". Sets site.called to the function that
 * this line called. */
static int describe_backward(struct blamed *item, struct symbols *symbols,
                             const struct symbol_frame *label_frame, char label[BLAME_LABEL_BYTES],
                             struct err *err)
{
    char buffer[STACK_SITE_TEXT_BYTES];
    struct stack_site forward;
    if (stack_site_find(&forward, symbols, site_forward_stack(item->site_id), label_frame, err))
        return -1;
    if (item->site.operator)
        snprintf(label, BLAME_LABEL_BYTES, "%.*s of %s", item->site.operator_length,
                 item->site.operator, stack_site_text(&forward, buffer));
    else
        snprintf(label, BLAME_LABEL_BYTES, "backward of %s", stack_site_text(&forward, buffer));
    item->site.called = forward.called;
    return 0;
}

static int describe(struct blame *blame, struct symbols *symbols, const struct choice *choice,
                    struct blamed *item, struct err *err)
{
    const uint32_t path = path_that_counts(item);
    item->label_path =
        path == CALL_PATH_NONE ? CALL_PATH_NONE : label_path_of(&blame->paths, choice, path);
    const struct symbol_frame *label_frame =
        path == CALL_PATH_NONE ? NULL : &call_path_place(&blame->paths, item->label_path)->frame;
    char buffer[STACK_SITE_TEXT_BYTES], label[BLAME_LABEL_BYTES], text[BLAME_TEXT_BYTES];

    if (stack_site_find(&item->site, symbols, site_stack(item->site_id),
                        item->path == CALL_PATH_NONE ? NULL : label_frame, err))
        return -1;
    snprintf(label, sizeof label, "%s", stack_site_text(&item->site, buffer));
    if (item->path == CALL_PATH_NONE && label_frame &&
        describe_backward(item, symbols, label_frame, label, err))
        return -1;
    item->forward = item->path == CALL_PATH_NONE ? label_frame : NULL;
    item->names_line = item->site.is_of_program || label_frame;
    item->is_known = item->site.is_found || label_frame;
    format_row(&item->site, label, text);
    item->label_number = text_set_add(&blame->labels, label, err);
    item->row = text_set_add(&blame->texts, text, err);
    if (item->label_number == TEXT_SET_NONE || item->row == TEXT_SET_NONE)
        return -1;
    item->label = blame->labels.texts[item->label_number];
    item->text = blame->texts.texts[item->row];
    return 0;
}

int blame_first(struct blame *blame, struct symbols *symbols, const uint64_t *sites, size_t count,
                size_t said, size_t counted, struct err *err)
{
    struct choice choice = {0};
    size_t said_items = 0, counted_items = 0;
    int status = 0;
    *blame = (struct blame){0};
    for (size_t i = 0; i < count && !status; i++) {
        status = add_site(blame, symbols, sites[i], err);
        if (i < said)
            said_items = blame->count;
        if (i < counted)
            counted_items = blame->count;
    }
    if (!status)
        status = count_paths(blame, &choice, counted_items, err);
    for (size_t i = 0; i < said_items && !status; i++)
        status = describe(blame, symbols, &choice, &blame->items[i], err);
    choice_release(&choice);
    if (status)
        blame_release(blame);
    return status;
}

int blame_sites(struct blame *blame, struct symbols *symbols, const uint64_t *sites, size_t count,
                struct err *err)
{
    return blame_first(blame, symbols, sites, count, count, count, err);
}

void blame_release(struct blame *blame)
{
    call_paths_release(&blame->paths);
    free(blame->items);
    pair_map_release(&blame->numbers);
    text_set_release(&blame->texts);
    text_set_release(&blame->labels);
    *blame = (struct blame){0};
}

const struct blamed *blame_of(const struct blame *blame, uint64_t site_id)
{
    return &blame->items[pair_map_get(&blame->numbers, 0, site_id)];
}

int blame_alone(char label[BLAME_TEXT_BYTES], struct symbols *symbols, uint64_t site_id,
                struct err *err)
{
    struct blame blame;
    if (blame_sites(&blame, symbols, &site_id, 1, err))
        return -1;
    snprintf(label, BLAME_TEXT_BYTES, "%s", blame.items[0].label);
    const int known = blame.items[0].is_known;
    blame_release(&blame);
    return known;
}
