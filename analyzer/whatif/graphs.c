/* SPDX-License-Identifier: MIT */
/* The owner of a tensor of a replayed run; see graphs.h. */
#include "graphs.h"

/* --- graphs come and go --- */

static void let_go(void *self, uint32_t owner)
{
    const struct whatif *whatif = self;
    for (int i = 0; i < DEVICE_SLOTS; i++) {
        struct whatif_device *device = whatif->devices[i];

        if (!device)
            continue;
        allocator_let_go(&device->recorded.allocator, owner);
        for (size_t j = 0; j < whatif->ask_count; j++)
            allocator_let_go(&device->runs[j].allocator, owner);
    }
}

int graphs_event(struct whatif *whatif, const struct event *event, struct err *err)
{
    struct private_pools *graphs = &whatif->graphs;
    if (event->result != 0)
        return 0;
    graphs->self = whatif;
    graphs->gone = let_go;
    switch (event->kind) {
    case EVENT_CAPTURE_BEGIN:
        return private_pools_begin(graphs, event, err);
    case EVENT_CAPTURE_END:
        return private_pools_end(graphs, event, err);
    case EVENT_GRAPH_MADE:
        return private_pools_make_graph(graphs, event, err);
    case EVENT_GRAPH_DESTROY:
        private_pools_destroy_graph(graphs, event);
        return 0;
    default:
        return 0;
    }
}

/* --- owners that a tensor shows --- */

static void join_owners(struct whatif *whatif, uint32_t from, uint32_t to)
{
    private_pools_join(&whatif->graphs, from, to);
    for (int i = 0; i < DEVICE_SLOTS; i++) {
        struct whatif_device *device = whatif->devices[i];

        if (!device)
            continue;
        allocator_join_owners(&device->recorded.allocator, from, to);
        for (size_t j = 0; j < whatif->ask_count; j++)
            allocator_join_owners(&device->runs[j].allocator, from, to);
    }
}

static void find_owner(struct whatif *whatif, const struct whatif_device *device,
                       const struct event *event, struct allocator_request *request)
{
    const uint32_t before = request->owner;
    if (event->result != 0)
        return;
    request->owner = allocator_owner_at(&device->recorded.allocator, request, event->address);
    if (request->owner != before && request->owner != ALLOCATOR_OF_ALL &&
        before != ALLOCATOR_OF_ALL)
        join_owners(whatif, before, request->owner);
}

struct allocator_request graphs_request(struct whatif *whatif, struct whatif_device *device,
                                        const struct event *event)
{
    const uint32_t open = private_pools_open(&whatif->graphs, event);
    struct allocator_request request = {.bytes = event->size_bytes,
                                        .stream = event->stream,
                                        .owner =
                                            open == PRIVATE_POOL_NONE ? ALLOCATOR_OF_ALL : open,
                                        .is_capturing = whatif->graphs.open_count > 0};
    find_owner(whatif, device, event, &request);
    if (recorded_shows_order(&device->recorded, event, &request))
        for (size_t i = 0; i < whatif->ask_count; i++)
            allocator_prefer_oldest(&device->runs[i].allocator,
                                    device->recorded.allocator.settings.prefers_oldest);
    return request;
}
