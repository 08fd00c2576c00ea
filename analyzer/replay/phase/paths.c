/* SPDX-License-Identifier: MIT */
/* Paths of phases; see paths.h. */
#include "paths.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analyzer/util/array.h"

void paths_release(struct paths *paths)
{
    pair_map_release(&paths->numbers);
}

static char *join_names(const struct history *history, uint32_t parent, const char *name)
{
    const char *before = parent == HISTORY_NONE ? "" : history->paths[parent].text;
    if (!*name)
        name = "(unnamed)";
    size_t bytes = strlen(before) + strlen(name) + sizeof "/";
    if (bytes > PATH_TEXT_MAX)
        bytes = PATH_TEXT_MAX;
    char *text = malloc(bytes);
    if (text)
        snprintf(text, bytes, "%s%s%s", before, *before ? "/" : "", name);
    return text;
}

static uint32_t add_path(const struct paths *paths, const struct cursor *at, struct path path)
{
    struct history *history = at->history;
    if (ARRAY_GROW(history->paths, history->path_capacity, history->path_count, at->err))
        return HISTORY_NONE;
    path.text = join_names(history, path.parent, path.name);
    if (!path.text) {
        err_set(at->err, ERR_SYSTEM, "out of memory for the names of phases");
        return HISTORY_NONE;
    }
    path.rule = paths->rule_of ? paths->rule_of(path.name) : PATH_RULE_NONE;
    path.is_asked =
        paths->asked && (!strcmp(path.text, paths->asked) || !strcmp(path.name, paths->asked));
    history->paths[history->path_count] = path;
    return (uint32_t)history->path_count++;
}

uint32_t paths_find(struct paths *paths, const struct cursor *at, uint32_t parent, uint64_t id,
                    const char *name, enum phase_source source)
{
    uint64_t key = (uint64_t)parent << 32 | (id & UINT32_MAX);
    uint32_t number = pair_map_get(&paths->numbers, (uint32_t)source, key);
    if (number != PAIR_MAP_NONE)
        return number;
    number = add_path(paths, at, (struct path){.parent = parent, .name = name, .source = source});
    if (number == HISTORY_NONE ||
        pair_map_put(&paths->numbers, (uint32_t)source, key, number, at->err))
        return HISTORY_NONE;
    return number;
}
