/* SPDX-License-Identifier: MIT */
/* Live memory in groups; see groups.h. */
#include "groups.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analyzer/torch/frames.h"
#include "analyzer/util/array.h"
#include "analyzer/util/text.h"
#include "gpumemtrace/limits.h"

enum { NAME_BYTES = 2 * LIMIT_text_bytes + 8 };

/* A site that is being added to the groups of its stack. */
struct spreading {
    struct groups *groups;
    const struct site *site;
    const struct blamed *blamed;
    size_t number; /* of the site, from 1 */
    struct err *err;
};

static struct group *go_through(const struct spreading *spreading, const char *name)
{
    struct groups *groups = spreading->groups;
    const uint32_t number = text_set_add(&groups->names, name, spreading->err);
    if (number == TEXT_SET_NONE ||
        ARRAY_REACH(groups->items, groups->capacity, groups->count, number, spreading->err))
        return NULL;
    struct group *group = &groups->items[number];
    group->name = groups->names.texts[number];
    if (group->last != spreading->number) {
        group->first = group->first ? group->first : spreading->number;
        group->last = spreading->number;
        group->inclusive_bytes += spreading->site->bytes;
        group->inclusive_count += spreading->site->count;
    }
    return group;
}

static int blame_group(const struct spreading *spreading, const char *name)
{
    struct group *group = go_through(spreading, name);
    if (!group)
        return -1;
    group->own_bytes += spreading->site->bytes;
    group->own_count += spreading->site->count;
    if (!group->blamed)
        group->blamed = spreading->blamed;
    return 0;
}

/* --- by line, function, file: the program's frames --- */

/* The group's name for a frame: "forward (train.py)", "/me/train.py". If the frame has no file, the
 * name has its library. */
static const char *name_of_frame(enum groups_by by, const struct symbol_frame *frame,
                                 char text[NAME_BYTES])
{
    const char *place = frame->file ? frame->file : frame->module;
    if (!place)
        return frame->function;
    if (by == GROUPS_BY_FILE)
        return place;
    snprintf(text, NAME_BYTES, "%s (%s)", frame->function, path_name(place));
    return text;
}

/* The group's name in a backward: "backward of forward (train.py)". For a file, the name is the
 * same as in a forward. */
static const char *name_of_backward(enum groups_by by, const struct symbol_frame *forward,
                                    char text[NAME_BYTES])
{
    char name[NAME_BYTES];
    if (by == GROUPS_BY_FILE)
        return name_of_frame(by, forward, text);
    snprintf(text, NAME_BYTES, "backward of %.*s", NAME_BYTES - 16,
             name_of_frame(by, forward, name));
    return text;
}

static int spread_over_frames(const struct spreading *spreading, enum groups_by by,
                              const struct call_paths *paths)
{
    const struct blamed *blamed = spreading->blamed;
    char text[NAME_BYTES];
    for (uint32_t at = blamed->path; at != CALL_PATH_NONE; at = paths->tree.nodes[at].outer) {
        const struct call_place *place = call_path_place(paths, at);
        const char *name =
            by == GROUPS_BY_LINE ? place->text : name_of_frame(by, &place->frame, text);

        if (!go_through(spreading, name))
            return -1;
    }
    if (by != GROUPS_BY_LINE && blamed->forward)
        return blame_group(spreading, name_of_backward(by, blamed->forward, text));
    if (by == GROUPS_BY_LINE || !blamed->site.is_of_program)
        return blame_group(spreading, blamed->label);
    return blame_group(spreading, name_of_frame(by, &blamed->site.frame, text));
}

/* --- by op and module: any frame of the stack --- */

/* Writes the name of the operator or module whose call the frame is. */
static bool write_name(char text[NAME_BYTES], enum groups_by by, const struct symbol_frame *frame)
{
    const bool is_python = !strcmp(frame->kind, "python");
    const struct torch_name name = by == GROUPS_BY_OP ? torch_operator_name(frame->function)
                                                      : torch_module_name(frame->function);
    if (!frame->is_named || !name.text || is_python == (by == GROUPS_BY_OP))
        return false;
    snprintf(text, NAME_BYTES, "%.*s", name.length, name.text);
    return true;
}

/* The library that made the request, for stacks without modules. It is the innermost library that
 * belongs neither to CUDA nor to gpumemtrace. A stack with Python or autograd frames has none. */
struct library {
    char name[NAME_BYTES];
    bool is_none;
};

static void note_library(struct library *library, const struct symbol_frame *frame)
{
    library->is_none |= !strcmp(frame->kind, "python") || !strcmp(frame->kind, "label");
    if (!*library->name && frame->module && frame->role != ROLE_cuda && frame->role != ROLE_own)
        snprintf(library->name, NAME_BYTES, "%s", path_name(frame->module));
}

/* Adds a site to the groups of its stack. GROUPS_BY_OP gives the own bytes to the outermost
 * operator, because it called the other operators; GROUPS_BY_MODULE, to the innermost module. */
static int spread_over_stack(const struct spreading *spreading, enum groups_by by,
                             struct symbols *symbols)
{
    const struct stack_site *site = &spreading->blamed->site;
    struct symbol_walk walk = symbols_walk_begin(symbols, site_stack(spreading->site->site_id));
    char text[NAME_BYTES], own[NAME_BYTES] = "";
    struct library library = {.name = ""};
    struct symbol_frame frame;
    int status;
    while ((status = symbols_walk_next(&walk, &frame, spreading->err)) > 0) {
        note_library(&library, &frame);
        if (!write_name(text, by, &frame))
            continue;
        if (by == GROUPS_BY_OP || !*own)
            memcpy(own, text, sizeof own);
        if (!go_through(spreading, text))
            return -1;
    }
    if (status < 0)
        return -1;
    if (by == GROUPS_BY_OP && site->operator)
        snprintf(own, sizeof own, "%.*s", site->operator_length, site->operator);
    if (by == GROUPS_BY_MODULE && !*own && !library.is_none)
        memcpy(own, library.name, sizeof own);
    return blame_group(spreading, *own                 ? own
                                  : by == GROUPS_BY_OP ? "(no operator)"
                                                       : "(no module)");
}

static int spread_stack(const struct spreading *spreading)
{
    char text[NAME_BYTES];
    snprintf(text, sizeof text, "%" PRIu64, spreading->site->site_id);
    return blame_group(spreading, text);
}

/* --- all of them --- */

/* The group that holds the larger site comes first among equal groups. */
ORDER_BY(compare_groups, struct group, FALLING(own_bytes), FALLING(inclusive_bytes), RISING(first),
         strcmp(a->name, b->name));

int groups_find(struct groups *groups, enum groups_by by, struct symbols *symbols,
                const struct sites *sites, const struct blame *blame, struct err *err)
{
    int status = 0;
    *groups = (struct groups){0};
    for (size_t i = 0; i < sites->count && !status; i++) {
        const struct site *site = &sites->items[i];
        const struct spreading spreading = {groups, site, blame_of(blame, site->site_id), i + 1,
                                            err};

        status = by == GROUPS_BY_STACK ? spread_stack(&spreading)
                 : by == GROUPS_BY_OP || by == GROUPS_BY_MODULE
                     ? spread_over_stack(&spreading, by, symbols)
                     : spread_over_frames(&spreading, by, &blame->paths);
    }
    for (size_t i = 0; i < groups->count && by == GROUPS_BY_STACK; i++)
        groups->items[i].name = groups->items[i].blamed->label;
    SORT(groups->items, groups->count, compare_groups);
    if (status)
        groups_release(groups);
    return status;
}

void groups_release(struct groups *groups)
{
    free(groups->items);
    text_set_release(&groups->names);
    *groups = (struct groups){0};
}
