/* SPDX-License-Identifier: MIT */
/* Collects live memory at a moment, with names; see holding.h. */
#include "holding.h"

#include <ctype.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analyzer/analysis/site_tables/site_rows.h"
#include "analyzer/torch/frames.h"
#include "analyzer/util/array.h"
#include "analyzer/util/text.h"
#include "gpumemtrace/limits.h"
#include "kept_graph.h"

/* --- call lines --- */

/* Returns the function without its class. Python 3.11 and later write Layer.forward, earlier
 * releases only forward. */
static const char *key_of(const char *function)
{
    const char *dot = strrchr(function, '.');
    const bool is_name = dot && (isalpha((unsigned char)dot[1]) || dot[1] == '_' || dot[1] == '<');
    return is_name && !strstr(function, "::") ? dot + 1 : function;
}

int call_line_set(struct call_line *call_line, struct text_set *names, const char *file,
                  const char *function, uint32_t line, struct err *err)
{
    char place[64];
    *call_line = (struct call_line){.file = text_set_add(names, file, err),
                                    .function = text_set_add(names, function, err),
                                    .key = text_set_add(names, key_of(function), err),
                                    .line = line};
    if (call_line->file == TEXT_SET_NONE || call_line->function == TEXT_SET_NONE ||
        call_line->key == TEXT_SET_NONE)
        return -1;
    snprintf(place, sizeof place, "%" PRIu32 " %" PRIu32 " %" PRIu32, call_line->file,
             call_line->key, line);
    call_line->place = text_set_add(names, place, err);
    return call_line->place == TEXT_SET_NONE ? -1 : 0;
}

const char *call_line_text(const struct call_line *call_line, const struct text_set *names,
                           char buffer[CALL_LINE_BYTES])
{
    const struct symbol_frame frame = {
        .kind = "",
        .function = names->texts[call_line->function],
        .file = *names->texts[call_line->file] ? names->texts[call_line->file] : NULL,
        .line = call_line->line,
        .is_named = true};
    const struct stack_site site = {.frame = frame, .is_found = true};
    return stack_site_text(&site, buffer);
}

/* --- the program's folder --- */

/* Returns the length of the folder in the path, including its last slash. */
static size_t folder_length(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash ? (size_t)(slash - path) + 1 : 0;
}

/* Makes a path relative to the folder: "model.py" from "/me/run/model.py" and "/me/run/";
 * "../lib/x.py" from "/me/lib/x.py". */
static void make_relative(const char *path, const char *folder, size_t length,
                          char text[LIMIT_text_bytes])
{
    size_t common = 0, used = 0;
    for (size_t i = 0; i < length && path[i] == folder[i]; i++)
        if (path[i] == '/')
            common = i + 1;
    if (!common || common == 1) { /* only the root is shared */
        snprintf(text, LIMIT_text_bytes, "%s", path);
        return;
    }
    for (size_t i = common; i < length && used + 4 < LIMIT_text_bytes; i++)
        if (folder[i] == '/')
            used += (size_t)snprintf(text + used, LIMIT_text_bytes - used, "../");
    snprintf(text + used, LIMIT_text_bytes - used, "%s", path + common);
}

struct naming {
    const struct study *study;
    uint32_t account;
    const struct blame *blame;
    struct holding *holding;
    const char *folder; /* the folder of the program's main file; not terminated */
    size_t folder_length;
    unsigned by_call; /* the kinds of sites to count at the call to backward; see sites_left_at */
    bool *is_told;    /* by index in births: true if one of its sites already has its each_bytes */
    struct err *err;
};

/* Finds the folder of the program's main file: the file of the outermost frame that holds most. */
static int find_folder(struct naming *naming, const struct sites *sites)
{
    const struct call_paths *paths = &naming->blame->paths;
    uint64_t *bytes = array_new(paths->place_count, sizeof *bytes, naming->err);
    size_t best = 0;
    if (!bytes)
        return -1;
    for (size_t i = 0; i < sites->count; i++) {
        uint32_t at = blame_of(naming->blame, sites->items[i].site_id)->path;

        while (at != CALL_PATH_NONE && paths->tree.nodes[at].outer != CALL_PATH_NONE)
            at = paths->tree.nodes[at].outer;
        if (at != CALL_PATH_NONE && call_path_place(paths, at)->frame.file)
            bytes[paths->tree.nodes[at].frame] += sites->items[i].bytes;
    }
    for (size_t i = 0; i < paths->place_count; i++)
        if (bytes[i] > bytes[best])
            best = i;
    if (paths->place_count && bytes[best]) {
        naming->folder = paths->places[best].frame.file;
        naming->folder_length = folder_length(naming->folder);
    }
    free(bytes);
    return 0;
}

/* --- sites --- */

static int name_call_line(const struct naming *naming, struct call_line *call_line,
                          const struct symbol_frame *frame)
{
    char file[LIMIT_text_bytes] = "";
    if (frame->file)
        make_relative(frame->file, naming->folder, naming->folder_length, file);
    else if (frame->module)
        snprintf(file, sizeof file, "%s", path_name(frame->module));
    return call_line_set(call_line, naming->holding->names, file, frame->function, frame->line,
                         naming->err);
}

static size_t depth_of(const struct naming *naming, uint32_t path)
{
    size_t depth = 0;
    for (; path != CALL_PATH_NONE; path = naming->blame->paths.tree.nodes[path].outer)
        depth++;
    return depth;
}

static int name_call_path(const struct naming *naming, const struct call_line **named,
                          size_t *depth, uint32_t path)
{
    const struct call_paths *paths = &naming->blame->paths;
    struct call_line *call_path;
    *depth = depth_of(naming, path);
    if (!*depth)
        return 0;
    call_path = arena_take(&naming->holding->call_lines, *depth * sizeof *call_path);
    if (!call_path)
        return err_set(naming->err, ERR_SYSTEM, "out of memory while comparing call stacks");
    *named = call_path;
    for (size_t i = *depth; i-- > 0; path = paths->tree.nodes[path].outer)
        if (name_call_line(naming, &call_path[i], &call_path_place(paths, path)->frame))
            return -1;
    return 0;
}

/* Finds "clone", the name of the outermost at::_ops::clone::call. */
static int find_operator(const struct naming *naming, uint32_t stack_id,
                         char text[STACK_FUNCTION_BYTES])
{
    struct symbol_walk walk = symbols_walk_begin(naming->study->symbols, stack_id);
    struct symbol_frame frame;
    int status;
    while ((status = symbols_walk_next(&walk, &frame, naming->err)) > 0) {
        const struct torch_name name = torch_operator_name(frame.function);

        if (name.text)
            snprintf(text, STACK_FUNCTION_BYTES, "%.*s", name.length, name.text);
    }
    return status;
}

/* Names the function that the program's innermost line called: a framework's function, or the
 * operator if there is none. */
static int name_leaf(const struct naming *naming, struct held_site *site,
                     const struct blamed *blamed)
{
    char text[STACK_FUNCTION_BYTES] = "", shortened[STACK_FUNCTION_BYTES];
    const struct call_paths *paths = &naming->blame->paths;
    struct stack_site inner = {0};
    if (blamed->path != CALL_PATH_NONE &&
        stack_site_find(&inner, naming->study->symbols, site_stack(blamed->site_id),
                        &call_path_place(paths, blamed->path)->frame, naming->err))
        return -1;
    /* a workspace belongs to the first thread that needs it */
    if (site->category == CATEGORY_workspace)
        snprintf(text, sizeof text, "workspace");
    else if (!site->depth)
        snprintf(text, sizeof text, "%.*s", (int)sizeof text - 1, blamed->label);
    else if (blamed->path == CALL_PATH_NONE && !blamed->site.operator)
        snprintf(text, sizeof text, "backward");
    else if (blamed->path == CALL_PATH_NONE)
        snprintf(text, sizeof text, "%.*s", blamed->site.operator_length, blamed->site.operator);
    else if (inner.called && !torch_is(torch_native_means(inner.called), TORCH_operator))
        snprintf(text, sizeof text, "%s", stack_function_text(inner.called, shortened));
    else if (find_operator(naming, site_stack(blamed->site_id), text) < 0)
        return -1;
    site->leaf = text_set_add(naming->holding->names, text, naming->err);
    return site->leaf == TEXT_SET_NONE ? -1 : 0;
}

static int add_life(const struct naming *naming, struct held_site *site,
                    const struct birth_sum *sum)
{
    const struct birth_sum *after = &naming->study->births.items[sum->freed_after];
    site->each_bytes = sum->bytes / sum->count;
    site->life = (struct held_life){.born_count = sum->count,
                                    .freed_count = sum->freed_count,
                                    .freed_age = sum->freed_age,
                                    .high_bytes = sum->high_bytes,
                                    .high_seq = sum->high_seq};
    if (!sum->votes_count)
        return 0;
    const struct blamed *blamed = blame_of(naming->blame, after->site_id);
    site->life.is_after_backward = blamed->path == CALL_PATH_NONE;
    return name_call_path(naming, &site->life.after, &site->life.after_depth,
                          site->life.is_after_backward ? blamed->forward_path : blamed->path);
}

/*
 * Fills each_bytes and life in the first site of a stack only. Do not call it for backward and
 * workspaces: their stacks depend on which thread comes first.
 */
static int tell_stack(const struct naming *naming, struct held_site *site, const struct site *from)
{
    const struct births *births = &naming->study->births;
    const uint32_t number = births_of(births, naming->account, from->site_id);
    if (!births->count)
        site->each_bytes = from->bytes / from->count;
    if (number == PAIR_MAP_NONE || naming->is_told[number])
        return 0;
    naming->is_told[number] = true;
    return add_life(naming, site, &births->items[number]);
}

void holding_count(struct holding *holding)
{
    const struct held_site *site = &holding->items[holding->count++];
    holding->total_bytes += site->bytes;
    holding->left_bytes += site->is_left ? site->bytes : 0;
    holding->left_graph_bytes += site->is_left_graph ? site->bytes : 0;
}

int holding_add_rest(struct holding *holding, const char *name, uint64_t bytes, struct err *err)
{
    const uint32_t leaf = text_set_add(holding->names, name, err);
    if (ARRAY_GROW(holding->items, holding->capacity, holding->count, err))
        return -1;
    holding->items[holding->count] = (struct held_site){
        .leaf = leaf, .phase = TEXT_SET_NONE, .category = CATEGORY_other, .bytes = bytes};
    holding_count(holding);
    return leaf == TEXT_SET_NONE ? -1 : 0;
}

static int add_site(const struct naming *naming, const struct site *from)
{
    const struct blamed *blamed = blame_of(naming->blame, from->site_id);
    const bool is_of_backward = blamed->path == CALL_PATH_NONE;
    const char *phase = study_path(naming->study, from->path);
    const bool is_telling = !is_of_backward && from->category != CATEGORY_workspace;
    struct holding *holding = naming->holding;
    struct held_site told = {0};
    if (is_telling && tell_stack(naming, &told, from))
        return -1;
    if (!from->count && !told.each_bytes)
        return 0;
    if (ARRAY_GROW(holding->items, holding->capacity, holding->count, naming->err))
        return -1;
    struct held_site *added = &holding->items[holding->count];
    *added =
        (struct held_site){.phase = TEXT_SET_NONE,
                           .category = from->category,
                           .is_of_backward = is_of_backward && !(from->kind == SITE_LEFT &&
                                                                 naming->by_call & 1U << SITE_LEFT),
                           .is_left = from->kind == SITE_LEFT,
                           .is_left_graph = from->kind == SITE_GRAPH_LEFT,
                           .bytes = from->bytes,
                           .count = from->count,
                           .each_bytes = told.each_bytes,
                           .life = told.life};
    if (phase && (added->phase = text_set_add(holding->names, phase, naming->err)) == TEXT_SET_NONE)
        return -1;
    if (name_call_path(naming, &added->call_path, &added->depth,
                       is_of_backward ? blamed->forward_path : blamed->path) ||
        name_leaf(naming, added, blamed))
        return -1;
    added->label_depth = depth_of(naming, blamed->label_path);
    holding_count(holding);
    return 0;
}

static int add_sites(struct naming *naming, const struct sites *sites)
{
    char folder[LIMIT_text_bytes];
    if (find_folder(naming, sites))
        return -1;
    snprintf(folder, sizeof folder, "%.*s", (int)naming->folder_length, naming->folder);
    const uint32_t number = text_set_add(naming->holding->names, folder, naming->err);
    if (number == TEXT_SET_NONE)
        return -1;
    naming->holding->folder = naming->holding->names->texts[number];
    for (size_t i = 0; i < sites->count; i++)
        if (add_site(naming, &sites->items[i]))
            return -1;
    return 0;
}

/* Adds a site with 0 bytes for each stack that allocated from the account and holds nothing now. */
static int add_others(struct sites *sites, const struct births *births, uint32_t account,
                      bool *is_live, struct err *err)
{
    size_t capacity = sites->count;
    for (size_t i = 0; i < sites->count; i++) {
        const struct site *site = &sites->items[i];
        const uint32_t number = births_of(births, account, site->site_id);

        if (number != PAIR_MAP_NONE)
            is_live[number] = true;
    }
    for (size_t i = 0; i < births->count; i++) {
        const struct birth_sum *sum = &births->items[i];

        if (sum->account != account || is_live[i])
            continue;
        if (ARRAY_GROW(sites->items, capacity, sites->count, err))
            return -1;
        sites->items[sites->count++] = (struct site){
            .site_id = sum->site_id, .path = HISTORY_NONE, .category = CATEGORY_other};
    }
    memset(is_live, 0, births->count * sizeof *is_live);
    return 0;
}

static int find_sites(struct sites *sites, const struct study *study, uint32_t account,
                      const struct moment *at, unsigned by_call, struct err *err)
{
    if (sites_left_at(sites, &study->categories, account, at, by_call, err))
        return -1;
    return by_call & 1U << SITE_GRAPH_LEFT ? 0
                                           : kept_graph_tell(sites, &study->births, account, err);
}

int holding_of(struct holding *holding, struct text_set *names, const struct study *study,
               uint32_t account, const struct moment *at, unsigned by_call, struct err *err)
{
    bool *is_told = array_new(study->births.count, sizeof *is_told, err);
    struct sites sites = {0};
    struct blame blame;
    int status = -1;
    *holding = (struct holding){.names = names, .folder = "", .is_in_backward = at->backward != 0};
    if (!is_told || at->index == INDEX_NONE) {
        free(is_told);
        return is_told ? 0 : -1;
    }
    if (!find_sites(&sites, study, account, at, by_call, err) &&
        !add_others(&sites, &study->births, account, is_told, err) &&
        !site_rows_blame(&blame, study->symbols, &sites, err)) {
        struct naming naming = {.study = study,
                                .account = account,
                                .blame = &blame,
                                .holding = holding,
                                .folder = "",
                                .by_call = by_call,
                                .is_told = is_told,
                                .err = err};

        status = add_sites(&naming, &sites);
        blame_release(&blame);
    }
    sites_release(&sites);
    free(is_told);
    if (status)
        holding_release(holding);
    return status;
}

void holding_release(struct holding *holding)
{
    free(holding->items);
    arena_release(&holding->call_lines);
    *holding = (struct holding){0};
}
