/* SPDX-License-Identifier: MIT */
/*
 * The allocator of the recorded run: the model under the run's own settings, over a driver that
 * answers as the real one did. If the model asks for another segment, chooses another block or
 * keeps memory that went back, the recording differs from it, and results under other settings
 * would mean nothing.
 *
 *     cudaMalloc ──► block ──┐                         what the driver handed out, of all pools
 *     tensor ──► model ──► take: the block where the tensor lies, of the size that it asks for
 *     cudaFree ──► the model must hold nothing in it
 */
#ifndef GPUMEMTRACE_ANALYZER_WHATIF_RECORDED_H
#define GPUMEMTRACE_ANALYZER_WHATIF_RECORDED_H

#include "analyzer/allocator/allocator.h"
#include "analyzer/util/pair_map.h"
#include "analyzer/util/slots.h"
#include "gpumemtrace/event.h"

/* Memory from the driver that a pool may use. */
struct driver_block {
    uint64_t address, bytes;
    int device;     /* of the pool that uses it */
    uint32_t block; /* first block of a plain segment */
    bool is_mapped; /* a part of an expandable segment */
    bool is_used;   /* the model has it */
    bool is_given;  /* the model has given it back */
};

struct driver_blocks {
    struct pair_map by_address;
    struct driver_block *items;
    size_t capacity;
    struct slots slots;
    uint64_t range_address, range_bytes; /* the last range of addresses that was reserved */
};

void driver_blocks_release(struct driver_blocks *driver_blocks);
int driver_blocks_add(struct driver_blocks *driver_blocks, const struct event *event,
                      bool is_mapped, struct err *err);
/* NULL: no block begins at that address. */
struct driver_block *driver_blocks_at(const struct driver_blocks *driver_blocks, uint64_t address);
void driver_blocks_remove(struct driver_blocks *driver_blocks, uint64_t address);

/* How the recording differs from the model. */
enum difference_kind {
    DIFFERENCE_NONE,
    DIFFERENCE_NO_BLOCK,  /* size_bytes at address lie in no memory that the model could use */
    DIFFERENCE_OTHER,     /* size_bytes at address; the model chose a free block at other */
    DIFFERENCE_SIZE,      /* size_bytes at address; the model gave other bytes */
    DIFFERENCE_KEPT,      /* size_bytes were kept, but the model gives them back */
    DIFFERENCE_REFUSED,   /* size_bytes were refused; the model has a free block at other */
    DIFFERENCE_GAVE_BACK, /* size_bytes at address went back, but the model has live memory there */
};

struct difference {
    enum difference_kind kind;
    uint64_t seq; /* of the first event that differs */
    uint64_t size_bytes, address, other;
};

struct recorded {
    int device;
    struct allocator allocator;
    struct allocator_driver driver;
    struct driver_blocks *driver_blocks;
    uint64_t wanted_address;      /* of the tensor that is being replayed */
    uint64_t given_bytes;         /* given back by the model, and not yet by the recording */
    bool knows_order;             /* an event has shown which of equal blocks is chosen */
    bool is_emptying;             /* mappings of ranges have gone back since the last tensor */
    struct difference difference; /* the first difference */
};

/* *recorded must not move, because the model's driver points to it. */
void recorded_init(struct recorded *recorded, int device, struct driver_blocks *driver_blocks,
                   const struct allocator_settings *settings);
void recorded_release(struct recorded *recorded);

/* True if the event shows that this release of PyTorch chooses another one of equal blocks than
 * assumed; from then on the model does so, too. */
bool recorded_shows_order(struct recorded *recorded, const struct event *event,
                          const struct allocator_request *request);
/* -1: out of memory. recorded->difference says whether the recording differs. */
int recorded_alloc(struct recorded *recorded, const struct event *event,
                   const struct allocator_request *request, uint32_t *block, struct err *err);
int recorded_free(struct recorded *recorded, const struct event *event, uint32_t block,
                  struct err *err);
/* Memory from the driver that the pool used went back. */
int recorded_give_back(struct recorded *recorded, const struct event *event,
                       struct driver_block *driver_block, struct err *err);

#endif
