/* SPDX-License-Identifier: MIT */
/* Lists of blocks by context; see bound_lists.h. */
#include "bound_lists.h"

#include <stdlib.h>

#include "analyzer/util/array.h"

struct bound_list {
    uint64_t context;
    int device;
    uint32_t newest;         /* block */
    uint32_t next, previous; /* links to other lists of the device */
    bool is_hidden;          /* bound_lists_next skips it */
};

struct bound_link {
    uint32_t list;
    uint32_t older, newer; /* blocks of the list */
};

void bound_lists_init(struct bound_lists *bound)
{
    *bound = (struct bound_lists){0};
    for (int slot = 0; slot < DEVICE_SLOTS; slot++)
        bound->first[slot] = HISTORY_NONE;
}

void bound_lists_release(struct bound_lists *bound)
{
    free(bound->lists);
    free(bound->links);
    slots_release(&bound->list_slots);
    pair_map_release(&bound->by_context);
}

/* --- lists --- */

static void link_list(struct bound_lists *bound, uint32_t number)
{
    struct bound_list *lists = bound->lists;
    uint32_t *first = &bound->first[DEVICE_SLOT(lists[number].device)];
    lists[number].next = *first;
    lists[number].previous = HISTORY_NONE;
    if (*first != HISTORY_NONE)
        lists[*first].previous = number;
    *first = number;
}

static void unlink_list(struct bound_lists *bound, uint32_t number)
{
    struct bound_list *lists = bound->lists;
    const struct bound_list *list = &lists[number];
    if (list->next != HISTORY_NONE)
        lists[list->next].previous = list->previous;
    if (list->previous != HISTORY_NONE)
        lists[list->previous].next = list->next;
    else
        bound->first[DEVICE_SLOT(list->device)] = list->next;
}

static uint32_t add_list(struct bound_lists *bound, int device, uint64_t context, struct err *err)
{
    uint32_t number = slots_take(&bound->list_slots, err);
    if (number == SLOT_NONE)
        return HISTORY_NONE;
    if (ARRAY_GROW(bound->lists, bound->list_capacity, number, err))
        return HISTORY_NONE;
    bound->lists[number] =
        (struct bound_list){.context = context, .device = device, .newest = HISTORY_NONE};
    link_list(bound, number);
    if (pair_map_put(&bound->by_context, (uint32_t)DEVICE_SLOT(device), context, number, err))
        return HISTORY_NONE;
    return number;
}

static void remove_list(struct bound_lists *bound, uint32_t number)
{
    const struct bound_list *list = &bound->lists[number];
    if (!list->is_hidden)
        unlink_list(bound, number);
    pair_map_remove(&bound->by_context, (uint32_t)DEVICE_SLOT(list->device), list->context);
    slots_give_back(&bound->list_slots, number);
}

uint32_t bound_lists_next(const struct bound_lists *bound, int device, uint32_t list,
                          uint64_t *context)
{
    list = list == HISTORY_NONE ? bound->first[DEVICE_SLOT(device)] : bound->lists[list].next;
    if (list != HISTORY_NONE)
        *context = bound->lists[list].context;
    return list;
}

void bound_lists_hide(struct bound_lists *bound, uint32_t list)
{
    unlink_list(bound, list);
    bound->lists[list].is_hidden = true;
}

void bound_lists_show(struct bound_lists *bound, uint64_t context)
{
    for (uint32_t slot = 0; slot < DEVICE_SLOTS; slot++) {
        uint32_t number = pair_map_get(&bound->by_context, slot, context);
        if (number == PAIR_MAP_NONE || !bound->lists[number].is_hidden)
            continue;
        bound->lists[number].is_hidden = false;
        link_list(bound, number);
    }
}

/* --- their blocks --- */

int bound_lists_add(struct bound_lists *bound, int device, uint64_t context, uint32_t block,
                    struct err *err)
{
    uint32_t number = pair_map_get(&bound->by_context, (uint32_t)DEVICE_SLOT(device), context);
    if (number == PAIR_MAP_NONE)
        number = add_list(bound, device, context, err);
    if (number == HISTORY_NONE || ARRAY_GROW(bound->links, bound->link_capacity, block, err))
        return -1;
    struct bound_link *links = bound->links;
    struct bound_list *list = &bound->lists[number];
    links[block] =
        (struct bound_link){.list = number, .older = list->newest, .newer = HISTORY_NONE};
    if (list->newest != HISTORY_NONE)
        links[list->newest].newer = block;
    list->newest = block;
    return 0;
}

void bound_lists_remove(struct bound_lists *bound, uint32_t block)
{
    const struct bound_link *link = &bound->links[block];
    struct bound_list *list = &bound->lists[link->list];
    if (link->older != HISTORY_NONE)
        bound->links[link->older].newer = link->newer;
    if (link->newer != HISTORY_NONE)
        bound->links[link->newer].older = link->older;
    else
        list->newest = link->older;
    if (list->newest == HISTORY_NONE)
        remove_list(bound, link->list);
}

uint32_t bound_lists_newest(const struct bound_lists *bound, int device, uint64_t context)
{
    uint32_t list = pair_map_get(&bound->by_context, (uint32_t)DEVICE_SLOT(device), context);
    return list == PAIR_MAP_NONE ? HISTORY_NONE : bound->lists[list].newest;
}
