/* SPDX-License-Identifier: MIT */
/*
 * The state of a replay under way, private to analyzer/replay: what is live right now and which
 * phases are open. Split by subject, one file each, as the prototypes at the end are; history.c
 * drives.
 */
#ifndef GPUMEMTRACE_ANALYZER_REPLAY_REPLAY_H
#define GPUMEMTRACE_ANALYZER_REPLAY_REPLAY_H

#include "analyzer/util/address_map.h"
#include "history.h"
#include "inferred.h"
#include "range_map.h"

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
    SPACE_EXTERNAL,
    SPACE_RESERVATION,
    SPACE_GRAPH_NODE, /* known addresses, no blocks: each launch allocates them anew */
    SPACE_GRAPH,      /* address: DEVICE_SLOT */
    SPACE_MODULE,
    SPACE_LIMIT, /* address: see limit_key */
    SPACE_POOL,  /* + string id of the framework pool; must stay last */
};

/* What the replay does with a kind of memory. */
struct memory_rule {
    uint8_t space; /* enum address_space */
    bool is_bound; /* a destroyed context takes it along */
};
extern const struct memory_rule replay_rules[MEMORY_KIND_COUNT];

/* What the map `names` numbers. */
enum name_space {
    NAME_CONTEXT,
    NAME_THREAD,
    NAME_SAMPLES, /* by thread */
    NAME_MEMPOOL,
    NAME_GRAPH_POOL,                 /* by DEVICE_SLOT */
    NAME_BINDINGS,                   /* by block of the object that memory is bound into */
    NAME_RANGE,                      /* + enum phase_source */
    NAME_PATH = NAME_RANGE + 2,      /* + enum phase_source */
    NAME_POOL_STOCK = NAME_PATH + 3, /* + DEVICE_SLOT */
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
    uint32_t references_count, mappings_count, bindings_count;
};

/* An object may be known by several handles, and one handle stand for several references. */
struct virtual_handle {
    uint32_t object, references_count;
};

/* Memory of a VMM object in a place of a multicast object or a sparse array. */
struct binding {
    uint64_t start;
    uint32_t object;
    uint32_t next; /* of the same multicast object or array, or HISTORY_NONE */
};

/* A cuMemGetInfo inside another call. */
struct inner_sample {
    uint64_t free_bytes;
    uint64_t own_bytes; /* what the process held of the device then, as far as it is recorded */
    uint32_t number;    /* of the memory sample */
    uint16_t hook_id, call_id;
    int8_t device;
};

/* The last ones of a thread. A failed allocation takes one, so two may have others between them. */
struct inner_samples {
    struct inner_sample items[4];
    size_t count; /* ever taken: the newest is items[(count - 1) % 4] */
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

    struct address_map live;  /* block; in SPACE_HANDLE: number of the handle */
    struct address_map names; /* numbers of many kinds: enum name_space */
    struct range_map ranges;  /* owner */
    struct owner *owners;
    size_t owner_count, owner_capacity;
    struct virtual_object *objects;
    size_t object_count, object_capacity;
    struct virtual_handle *handles;
    size_t handle_count, handle_capacity;
    struct binding *bindings;
    size_t binding_count, binding_capacity;
    struct inner_samples *samples;
    size_t sample_count, sample_capacity;
    struct context *contexts;
    size_t context_count, context_capacity;
    struct open_span *open; /* by span */
    size_t open_capacity;
    struct inferred inferred;
    enum inferred_phase inferred_now;
    uint32_t inferred_span;     /* open while nothing else is; HISTORY_NONE: nothing is inferred */
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
void replay_choose_leading(struct history *history);

/* mempools.c */
int replay_pool_create(struct replay *replay);
int replay_pool_destroy(struct replay *replay);
int replay_pool_usage(struct replay *replay);
/* The driver's pool that the current event names in `object`; makes it. HISTORY_NONE: no memory. */
uint32_t replay_mempool(struct replay *replay);
/* A block of the pool was born or has died. */
void replay_mempool_count(struct replay *replay, const struct block *block, bool birth);

/* blocks.c */
/*
 * A new live block of the current event. The caller says address, size_bytes, stack_id, stock,
 * mempool and memory. Its number, or HISTORY_NONE: no memory.
 */
uint32_t replay_birth(struct replay *replay, const struct block *born);
int replay_death(struct replay *replay, uint32_t block, enum block_end end);
/* Another block goes on in its place, of another size; its number, or HISTORY_NONE: no memory. */
uint32_t replay_resize(struct replay *replay, uint32_t block, uint64_t size_bytes,
                       uint32_t stack_id);
/* Ends what is live at the address, which is then free to be given out again. */
int replay_end_at(struct replay *replay, uint32_t space, uint64_t address, enum block_end end);

/* memory.c */
int replay_alloc(struct replay *replay);
int replay_free(struct replay *replay);
/* A block as the current event describes it. stock HISTORY_NONE: no memory. */
struct block replay_described(struct replay *replay);
/* The current event failed to get memory of the stock; a stock of HISTORY_NONE is no memory. */
int replay_failure(struct replay *replay, uint32_t stock);
/* Whether the current event's error says that the block is gone because its context is. */
bool replay_went_with_context(const struct replay *replay, uint32_t block);

/* contexts.c */
int replay_context_create(struct replay *replay);
int replay_context_destroy(struct replay *replay);

/* measured.c: what only the device's free memory before and after a call tells */
int replay_memory_sample(struct replay *replay);
int replay_module_load(struct replay *replay);
int replay_module_unload(struct replay *replay);
int replay_limit(struct replay *replay);

/* virtual.c */
int replay_virtual_alloc(struct replay *replay);
int replay_virtual_free(struct replay *replay, uint32_t handle);
int replay_map(struct replay *replay);
int replay_unmap(struct replay *replay);
int replay_retain(struct replay *replay);
/* The VMM object of a handle, or the one mapped at an address; HISTORY_NONE: none is known. */
uint32_t replay_object_of(const struct replay *replay, uint64_t handle);
uint32_t replay_object_at(const struct replay *replay, uint64_t address);
/* Ends the object's block if nothing refers to it any more. */
int replay_end_if_unused(struct replay *replay, uint32_t object);

/* bindings.c */
int replay_bind(struct replay *replay);
int replay_unbind(struct replay *replay);
/* The block, a multicast object or array, is gone: so is what was bound into it. */
int replay_bindings_end(struct replay *replay, uint32_t block);

/* ranges.c: which stretch of driver memory a framework pool uses as a segment */
int replay_add_range(struct replay *replay, uint64_t address, uint64_t size_bytes, uint32_t block,
                     uint32_t object);
void replay_range_end(struct replay *replay, uint64_t address);
int replay_tensor(struct replay *replay, const struct block *tensor);

/* spans.c */
void replay_spans_init(struct replay *replay);
int replay_push(struct replay *replay);
int replay_pop(struct replay *replay);
/* Before the current event, an allocation, is replayed: what its stack says of the phase. */
int replay_infer(struct replay *replay);
/* The span the current event belongs to, or HISTORY_NONE. */
uint32_t replay_span(struct replay *replay);

#endif
