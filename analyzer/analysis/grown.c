/* SPDX-License-Identifier: MIT */
/* What grew between two traces; see grown.h. */
#include "grown.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "sites.h"
#include "analyzer/util/array.h"
#include "analyzer/util/text.h"

#define STACK_TEXT_MAX ((size_t)1 << 20)

struct named_site {
    char *name; /* all frames as text; owned */
    uint32_t stack_id;
    uint64_t before_bytes, after_bytes;
};

struct named_sites {
    struct named_site *items;
    size_t count, capacity;
};

static void add_frame_text(void *self, const struct symbol_frame *frame)
{
    text_addf(self, "%s\t%s\t%" PRIu32 "\n", frame->function, frame->file ? frame->file : "",
              frame->line);
}

static char *name_of(const struct study *study, uint32_t stack_id, struct err *err)
{
    struct text text;
    char *name = NULL;

    text_init(&text, STACK_TEXT_MAX);
    if (symbols_walk(study->symbols, stack_id, add_frame_text, &text, err))
        goto out;
    name = text_failed(&text) ? NULL : strdup(text.data);
    if (!name)
        err_set(err, ERR_SYSTEM, "out of memory while comparing stacks");
out:
    text_release(&text);
    return name;
}

static int add_side(struct named_sites *list, const struct grown_side *side, bool is_after,
                    struct err *err)
{
    struct sites sites = {0};
    int status = -1;

    if (side->index != INDEX_NONE &&
        sites_at(&sites, &side->study->categories, side->stock, side->index, err))
        return -1;
    for (size_t i = 0; i < sites.count; i++) {
        struct named_site *items =
            array_grow(list->items, &list->capacity, list->count, sizeof *items, err);
        char *name;

        if (!items)
            goto out;
        list->items = items;
        name = name_of(side->study, sites.items[i].stack_id, err);
        if (!name)
            goto out;
        items[list->count++] = (struct named_site){
            .name = name,
            .stack_id = is_after ? sites.items[i].stack_id : 0,
            .before_bytes = is_after ? 0 : sites.items[i].bytes,
            .after_bytes = is_after ? sites.items[i].bytes : 0,
        };
    }
    status = 0;
out:
    sites_release(&sites);
    return status;
}

static int compare_names(const void *left, const void *right)
{
    const struct named_site *a = left, *b = right;

    return strcmp(a->name, b->name);
}

/* Merges rows of the same name; the list is sorted by name. */
static void merge(struct named_sites *list)
{
    size_t kept = 0;

    for (size_t i = 1; i < list->count; i++) {
        struct named_site *into = &list->items[kept], *from = &list->items[i];

        if (strcmp(into->name, from->name)) {
            list->items[++kept] = *from;
            continue;
        }
        into->before_bytes += from->before_bytes;
        into->after_bytes += from->after_bytes;
        if (from->stack_id)
            into->stack_id = from->stack_id;
        free(from->name);
    }
    if (list->count)
        list->count = kept + 1;
}

static int compare_growth(const void *left, const void *right)
{
    const struct grown_site *a = left, *b = right;
    uint64_t a_bytes = a->after_bytes - a->before_bytes;
    uint64_t b_bytes = b->after_bytes - b->before_bytes;

    if (a_bytes != b_bytes)
        return a_bytes < b_bytes ? 1 : -1;
    return (a->stack_id > b->stack_id) - (a->stack_id < b->stack_id);
}

static int keep_grown(struct grown *grown, const struct named_sites *list, struct err *err)
{
    grown->items = array_new(list->count, sizeof *grown->items, err);
    if (!grown->items)
        return -1;
    for (size_t i = 0; i < list->count; i++) {
        const struct named_site *site = &list->items[i];

        if (site->after_bytes > site->before_bytes)
            grown->items[grown->count++] =
                (struct grown_site){site->stack_id, site->before_bytes, site->after_bytes};
    }
    qsort(grown->items, grown->count, sizeof *grown->items, compare_growth);
    return 0;
}

int grown_find(struct grown *grown, const struct grown_side *before, const struct grown_side *after,
               struct err *err)
{
    struct named_sites list = {0};
    int status = -1;

    *grown = (struct grown){0};
    if (add_side(&list, before, false, err) || add_side(&list, after, true, err))
        goto out;
    if (list.count)
        qsort(list.items, list.count, sizeof *list.items, compare_names);
    merge(&list);
    status = keep_grown(grown, &list, err);
out:
    for (size_t i = 0; i < list.count; i++)
        free(list.items[i].name);
    free(list.items);
    return status;
}

void grown_release(struct grown *grown)
{
    free(grown->items);
    *grown = (struct grown){0};
}
