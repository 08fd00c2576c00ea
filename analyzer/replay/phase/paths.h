/* SPDX-License-Identifier: MIT */
/* The paths of a history. A path is the names of nested phases; each combination of names is one
 * path. */
#pragma once

#include "analyzer/util/pair_map.h"
#include "analyzer/replay/history/cursor.h"

struct paths {
    struct pair_map numbers;              /* by source, parent and id of the name */
    uint8_t (*rule_of)(const char *name); /* see replay_plan */
    const char *asked;                    /* requested name or path; NULL: none */
};

void paths_release(struct paths *paths);

/*
 * Finds or adds the path of a name inside another path; `id` identifies the name within its source.
 * HISTORY_NONE: out of memory.
 */
uint32_t paths_find(struct paths *paths, const struct cursor *at, uint32_t parent, uint64_t id,
                    const char *name, enum phase_source source);
