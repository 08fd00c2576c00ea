/* SPDX-License-Identifier: MIT */
/*
 * See module_ranges.h. One pass goes over all addresses at which a module starts or ends. A heap
 * holds the modules that have started, the highest id on top. A module that has ended leaves the
 * heap when it comes to the top.
 */
#include "module_ranges.h"

#include <stdlib.h>

#include "analyzer/util/array.h"

struct module_heap {
    const struct trace_module **items;
    size_t count;
};

static void swap_items(struct module_heap *heap, size_t a, size_t b)
{
    const struct trace_module *item = heap->items[a];
    heap->items[a] = heap->items[b];
    heap->items[b] = item;
}

static bool is_above(const struct module_heap *heap, size_t a, size_t b)
{
    return heap->items[a]->module_id > heap->items[b]->module_id;
}

static void push_module(struct module_heap *heap, const struct trace_module *module)
{
    size_t at = heap->count++;
    heap->items[at] = module;
    for (; at > 0 && is_above(heap, at, (at - 1) / 2); at = (at - 1) / 2)
        swap_items(heap, at, (at - 1) / 2);
}

static void pop_module(struct module_heap *heap)
{
    heap->items[0] = heap->items[--heap->count];
    for (size_t at = 0;;) {
        size_t highest = at;
        for (size_t child = 2 * at + 1; child <= 2 * at + 2 && child < heap->count; child++)
            if (is_above(heap, child, highest))
                highest = child;
        if (highest == at)
            return;
        swap_items(heap, at, highest);
        at = highest;
    }
}

ORDER_BY(compare_bounds, uint64_t, ORDER(*a, *b));

static void add_range(struct trace *trace, uint64_t start, const struct trace_module *module)
{
    struct trace_module_range *ranges = trace->module_ranges;
    const size_t count = trace->module_range_count;
    const struct trace_module *before = count ? ranges[count - 1].module : NULL;
    if (module != before)
        ranges[trace->module_range_count++] = (struct trace_module_range){start, module};
}

static void divide(struct trace *trace, const uint64_t *bounds, struct module_heap *heap)
{
    size_t next = 0;
    for (size_t i = 0; i < 2 * trace->module_count; i++) {
        while (next < trace->module_count && trace->modules[next].start_address <= bounds[i])
            push_module(heap, &trace->modules[next++]);
        while (heap->count && heap->items[0]->end_address <= bounds[i])
            pop_module(heap);
        if (i + 1 == 2 * trace->module_count || bounds[i] != bounds[i + 1])
            add_range(trace, bounds[i], heap->count ? heap->items[0] : NULL);
    }
}

int module_ranges_build(struct trace *trace, struct err *err)
{
    const size_t count = trace->module_count;
    uint64_t *bounds = array_new(2 * count, sizeof *bounds, err);
    struct module_heap heap = {array_new(count, sizeof *heap.items, err), 0};
    trace->module_ranges = array_new(2 * count, sizeof *trace->module_ranges, err);
    const bool has_memory = bounds && heap.items && trace->module_ranges;
    for (size_t i = 0; has_memory && i < count; i++) {
        bounds[2 * i] = trace->modules[i].start_address;
        bounds[2 * i + 1] = trace->modules[i].end_address;
    }
    if (has_memory) {
        SORT(bounds, 2 * count, compare_bounds);
        divide(trace, bounds, &heap);
    }
    free(bounds);
    free(heap.items);
    return has_memory ? 0 : -1;
}
