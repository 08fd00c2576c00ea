/* SPDX-License-Identifier: MIT */
/* What was live at a moment, as names; see holding.h. */
#include "holding.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analyzer/analysis/holders/site_rows.h"
#include "analyzer/util/array.h"
#include "gpumemtrace/limits.h"

/* --- steps --- */

/* Python 3.11 on says Layer.forward, before it was forward. */
static const char *key_of(const char *function)
{
    const char *dot = strrchr(function, '.');
    const bool is_name = dot && (isalpha((unsigned char)dot[1]) || dot[1] == '_' || dot[1] == '<');

    return is_name && !strstr(function, "::") ? dot + 1 : function;
}

int held_step_set(struct held_step *step, struct text_set *names, const char *file,
                  const char *function, uint32_t line, struct err *err)
{
    *step = (struct held_step){.file = text_set_add(names, file, err),
                               .function = text_set_add(names, function, err),
                               .key = text_set_add(names, key_of(function), err),
                               .line = line};
    return step->file == TEXT_SET_NONE || step->function == TEXT_SET_NONE ||
                   step->key == TEXT_SET_NONE
               ? -1
               : 0;
}

const char *held_step_text(const struct held_step *step, const struct text_set *names,
                           char buffer[HELD_STEP_BYTES])
{
    const struct symbol_frame frame = {.kind = "",
                                       .function = names->texts[step->function],
                                       .file = *names->texts[step->file] ? names->texts[step->file]
                                                                         : NULL,
                                       .line = step->line,
                                       .is_named = true};
    const struct stack_site site = {.frame = frame, .is_found = true};

    return stack_site_text(&site, buffer);
}

/* --- the program's folder --- */

/* How much of a path is the folder, with its last slash. */
static size_t folder_length(const char *path)
{
    const char *slash = strrchr(path, '/');

    return slash ? (size_t)(slash - path) + 1 : 0;
}

/* "model.py" of "/me/run/model.py" in "/me/run/", "../lib/x.py" of "/me/lib/x.py". */
static void make_relative(const char *path, const char *folder, size_t length,
                          char text[LIMIT_text_bytes])
{
    size_t common = 0, used = 0;

    for (size_t i = 0; i < length && path[i] == folder[i]; i++)
        if (path[i] == '/')
            common = i + 1;
    if (!common || common == 1) { /* nothing is shared, or the root alone */
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
    const struct blame *blame;
    struct holding *holding;
    const char *folder; /* of the file where the program begins; not terminated */
    size_t folder_length;
    struct err *err;
};

/* The program begins in the file whose outermost frame holds most. */
static int find_folder(struct naming *naming, const struct sites *sites)
{
    const struct call_paths *paths = &naming->blame->paths;
    uint64_t *bytes = array_new(paths->place_count, sizeof *bytes, naming->err);
    size_t best = 0;

    if (!bytes)
        return -1;
    for (size_t i = 0; i < sites->count; i++) {
        uint32_t at = blame_of_backward(naming->blame, site_stack(&sites->items[i]))->path;

        while (at != CALL_PATH_NONE && paths->items[at].outer != CALL_PATH_NONE)
            at = paths->items[at].outer;
        if (at != CALL_PATH_NONE && paths->places[paths->items[at].place].frame.file)
            bytes[paths->items[at].place] += sites->items[i].bytes;
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

static int name_step(const struct naming *naming, struct held_step *step,
                     const struct symbol_frame *frame)
{
    char file[LIMIT_text_bytes] = "";

    if (frame->file)
        make_relative(frame->file, naming->folder, naming->folder_length, file);
    else if (frame->module)
        snprintf(file, sizeof file, "%s", stack_base_name(frame->module));
    return held_step_set(step, naming->holding->names, file, frame->function, frame->line,
                         naming->err);
}

static int name_way(const struct naming *naming, struct held_site *site, uint32_t path)
{
    const struct call_paths *paths = &naming->blame->paths;
    struct held_step *way;

    for (uint32_t at = path; at != CALL_PATH_NONE; at = paths->items[at].outer)
        site->depth++;
    if (!site->depth)
        return 0;
    way = arena_take(&naming->holding->steps, site->depth * sizeof *way);
    if (!way) {
        err_set(naming->err, ERR_SYSTEM, "out of memory while comparing call stacks");
        return -1;
    }
    site->way = way;
    for (size_t i = site->depth; i-- > 0; path = paths->items[path].outer)
        if (name_step(naming, &way[i], &paths->places[paths->items[path].place].frame))
            return -1;
    return 0;
}

static const char operators[] = "at::_ops::";

/* "clone" of the outermost at::_ops::clone::call. */
static int find_operator(const struct naming *naming, uint32_t stack_id,
                         char text[STACK_FUNCTION_BYTES])
{
    static const char after[] = "::call";
    struct symbol_walk walk = symbols_walk_begin(naming->study->symbols, stack_id);
    struct symbol_frame frame;
    int status;

    while ((status = symbols_walk_next(&walk, &frame, naming->err)) > 0) {
        const char *name = frame.function + sizeof operators - 1;
        const char *end = strstr(frame.function, after);

        if (!strncmp(frame.function, operators, sizeof operators - 1) && end && end > name)
            snprintf(text, STACK_FUNCTION_BYTES, "%.*s", (int)(end - name), name);
    }
    return status;
}

/* What the innermost of the program's lines called: a framework's function, else an operator. */
static int name_leaf(const struct naming *naming, struct held_site *site,
                     const struct blamed *blamed)
{
    char text[STACK_FUNCTION_BYTES] = "", shortened[STACK_FUNCTION_BYTES];
    const struct call_paths *paths = &naming->blame->paths;
    struct stack_site inner = {0};

    if (blamed->path != CALL_PATH_NONE &&
        stack_site_find(&inner, naming->study->symbols, blamed->stack_id,
                        &paths->places[paths->items[blamed->path].place].frame, naming->err))
        return -1;
    if (site->category == CATEGORY_workspace) /* whoever comes first gets it */
        snprintf(text, sizeof text, "workspace");
    else if (!site->depth)
        snprintf(text, sizeof text, "%.*s", (int)sizeof text - 1, blamed->who);
    else if (site->is_of_backward)
        snprintf(text, sizeof text, "%.*s", blamed->site.operator_length,
                 blamed->site.operator? blamed->site.operator: "backward");
    else if (inner.called && strncmp(inner.called, operators, sizeof operators - 1) != 0)
        snprintf(text, sizeof text, "%s", stack_function_text(inner.called, shortened));
    else if (find_operator(naming, blamed->stack_id, text) < 0)
        return -1;
    site->leaf = text_set_add(naming->holding->names, text, naming->err);
    return site->leaf == TEXT_SET_NONE ? -1 : 0;
}

static int add_site(const struct naming *naming, const struct site *from)
{
    const struct blamed *blamed = blame_of_backward(naming->blame, site_stack(from));
    const bool is_of_backward = blamed->path == CALL_PATH_NONE;
    const char *phase = study_path(naming->study, from->path);
    struct holding *holding = naming->holding;
    struct held_site *grown =
        array_grow(holding->items, &holding->capacity, holding->count, sizeof *grown, naming->err);

    if (!grown)
        return -1;
    holding->items = grown;
    grown += holding->count;
    *grown = (struct held_site){.phase = TEXT_SET_NONE,
                                .category = from->category,
                                .is_of_backward = is_of_backward,
                                .bytes = from->bytes,
                                .count = from->count};
    if (phase && (grown->phase = text_set_add(holding->names, phase, naming->err)) == TEXT_SET_NONE)
        return -1;
    if (name_way(naming, grown, is_of_backward ? blamed->forward_path : blamed->path) ||
        name_leaf(naming, grown, blamed))
        return -1;
    holding->total_bytes += grown->bytes;
    holding->count++;
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

int holding_of(struct holding *holding, struct text_set *names, const struct study *study,
               uint32_t stock, uint64_t index, struct err *err)
{
    struct sites sites;
    struct blame blame;
    int status = -1;

    *holding = (struct holding){.names = names, .folder = ""};
    if (index == INDEX_NONE)
        return 0;
    if (sites_at(&sites, &study->categories, stock, index, err))
        return -1;
    if (!site_rows_blame(&blame, study->symbols, &sites, err)) {
        struct naming naming = {
            .study = study, .blame = &blame, .holding = holding, .folder = "", .err = err};

        status = add_sites(&naming, &sites);
        blame_release(&blame);
    }
    sites_release(&sites);
    if (status)
        holding_release(holding);
    return status;
}

void holding_release(struct holding *holding)
{
    free(holding->items);
    arena_release(&holding->steps);
    *holding = (struct holding){0};
}
