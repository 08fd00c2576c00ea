/* SPDX-License-Identifier: MIT */
/*
 * The state of a replay under way, private to analyzer/replay: what is live right now and which
 * phases are open. Split by subject: memory.c, virtual.c (VMM), spans.c, stocks.c; history.c
 * drives.
 */
#ifndef GPUMEMTRACE_REPLAY_REPLAY_H
#define GPUMEMTRACE_REPLAY_REPLAY_H

#include "replay/address_map.h"
#include "replay/history.h"
#include "replay/range_map.h"

/* Unknown devices share one slot in tables by device. */
#define DEVICE_SLOTS (INT8_MAX + 2)
#define DEVICE_SLOT(device) ((device) + 1)

/* Addresses of different spaces never meet, even when their numbers are equal. */
enum address_space {
    SPACE_NONE,
    SPACE_DEVICE, /* one for all devices and imports: addresses are unified */
    SPACE_ARRAY,
    SPACE_HOST,
    SPACE_HANDLE,
    SPACE_POOL, /* + string id of the framework pool; must stay last */
};

/* What the map `names` numbers. */
enum name_space {
    NAME_CONTEXT,
    NAME_THREAD,
    NAME_MEMPOOL,
    NAME_RANGE,                      /* + enum phase_source */
    NAME_PATH = NAME_RANGE + 2,      /* + enum phase_source */
    NAME_POOL_STOCK = NAME_PATH + 2, /* + DEVICE_SLOT */
};

/* A stretch of driver memory in the range map. */
struct owner {
    uint32_t block;
    uint32_t object;  /* number of the VMM object mapped there, or HISTORY_NONE: plain memory */
    uint32_t segment; /* once a tensor was seen in it */
    uint32_t begin_index;
};

struct virtual_object {
    uint32_t block;
    uint32_t references_count, mappings_count;
};

struct context {
    uint64_t handle;
    int device;
    uint32_t create_index;
    bool primary; /* the device's own, which a device reset ends */
};

/* Links of an open span; both lists run from the innermost outwards. */
struct open_span {
    uint64_t range_id;
    uint32_t outer, inner;               /* of the process */
    uint32_t thread_outer, thread_inner; /* of the thread that pushed it */
};

struct replay {
    struct history *history;
    struct err *err;
    const struct event *event; /* the current one, at index */
    uint32_t index;

    struct address_map live;  /* block; in SPACE_HANDLE: VMM object */
    struct address_map names; /* numbers of many kinds: enum name_space */
    struct range_map ranges;  /* owner */
    struct owner *owners;
    size_t owner_count, owner_capacity;
    struct virtual_object *objects;
    size_t object_count, object_capacity;
    struct context *contexts;
    size_t context_count, context_capacity;
    struct open_span *open; /* by span */
    size_t open_capacity;
    uint32_t innermost;         /* span most recently opened in the process and still open */
    uint32_t *thread_innermost; /* by thread number */
    size_t thread_count, thread_capacity;

    uint32_t stock_of[DEVICE_SLOTS][ACCOUNT_COUNT];
    uint64_t *live_bytes; /* by stock */
    size_t live_capacity;
    uint32_t live_blocks[DEVICE_SLOTS];   /* context-bound blocks of a device: head of a list */
    uint32_t context_death[DEVICE_SLOTS]; /* last destroyed context of a device, HISTORY_NONE */
    bool has_tensors;                     /* otherwise no range of plain memory is ever asked for */
};

/* stocks.c */
int replay_device(struct replay *replay, int device);
/* The stock of a memory kind on a device; makes it. HISTORY_NONE: no memory. */
uint32_t replay_stock(struct replay *replay, int device, unsigned memory, uint64_t pool);
uint32_t replay_mempool(struct replay *replay, int device, uint64_t handle);
int replay_pool_usage(struct replay *replay);
void replay_choose_leading(struct history *history);

/* memory.c */
int replay_alloc(struct replay *replay);
int replay_free(struct replay *replay);
/* A new live block of the current event; its number, or HISTORY_NONE: no memory. */
uint32_t replay_birth(struct replay *replay);
int replay_death(struct replay *replay, uint32_t block, enum block_end end);

int replay_end_with_context(struct replay *replay, uint32_t block);

/* contexts.c */
int replay_context_create(struct replay *replay);
int replay_context_destroy(struct replay *replay);

/* virtual.c */
int replay_virtual_alloc(struct replay *replay);
int replay_virtual_free(struct replay *replay, uint32_t object);
int replay_map(struct replay *replay);
int replay_unmap(struct replay *replay);
int replay_plain_range(struct replay *replay, uint32_t block);
void replay_range_end(struct replay *replay, uint64_t address);
int replay_tensor(struct replay *replay, const struct block *tensor);

/* spans.c */
void replay_spans_init(struct replay *replay);
int replay_push(struct replay *replay);
int replay_pop(struct replay *replay);
/* The span the current event belongs to, or HISTORY_NONE. */
uint32_t replay_span(struct replay *replay);

#endif
