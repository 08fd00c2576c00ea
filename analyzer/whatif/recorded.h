/* SPDX-License-Identifier: MIT */
/*
 * The allocator of the recorded run: the model under the run's own settings, over a driver that
 * answers as the real driver did. The recording differs from the model if the model asks for
 * another segment, chooses another block, or keeps memory that went back to the driver. Results
 * under other settings would then mean nothing.
 *
 *     cudaMalloc ──► driver block ──┐                  all memory that the driver handed out
 *     tensor ──► model ──► take: the block where the tensor lies must have the size asked for
 *     cudaFree ──► the model must hold nothing in the driver block
 */
#pragma once

#include "analyzer/allocator/allocator.h"
#include "analyzer/util/pair_map.h"
#include "analyzer/util/slots.h"
#include "gpumemtrace/event.h"

/* A piece of memory from the driver, which a pool may use. */
struct driver_block {
    uint64_t address, bytes;
    int device;     /* the device whose pool uses it */
    uint32_t block; /* the model's first block in it, if it is a plain segment */
    bool is_mapped; /* a part of an expandable segment */
    bool is_used;   /* the model uses it */
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

/* How the recording differs from the model. `address` is that of the recorded tensor or memory. */
enum difference_kind {
    DIFFERENCE_NONE,
    DIFFERENCE_NO_BLOCK,  /* size_bytes at address, which is no memory that the model has */
    DIFFERENCE_OTHER,     /* size_bytes at address; the model chose the free block at `other` */
    DIFFERENCE_SIZE,      /* size_bytes at address; the model's block has `other` bytes */
    DIFFERENCE_KEPT,      /* size_bytes that the recorded run kept, but the model gave back */
    DIFFERENCE_REFUSED,   /* size_bytes were refused; the model has a free block at `other` */
    DIFFERENCE_GAVE_BACK, /* size_bytes at address went back, but are live in the model */
};

struct difference {
    enum difference_kind kind;
    uint64_t seq; /* of the first event where the two differ */
    uint64_t size_bytes, address, other;
};

struct recorded {
    int device;
    struct allocator allocator;
    struct allocator_driver driver;
    struct driver_blocks *driver_blocks;
    uint64_t wanted_address; /* of the tensor that is being replayed */
    uint64_t given_bytes;    /* bytes that the model gave back, but the recording has not yet */
    bool knows_order;        /* an event has shown which of several equal blocks is chosen */
    bool is_emptying;        /* mappings of ranges have gone back since the last tensor */
    struct difference difference; /* the first difference */
};

/* *recorded must not move, because the model's driver points to it. */
void recorded_init(struct recorded *recorded, int device, struct driver_blocks *driver_blocks,
                   const struct allocator_settings *settings);
void recorded_release(struct recorded *recorded);

/* Returns true if the event shows that this release of PyTorch does not choose that block among
 * several of one size which the model chooses. The model then changes its choice accordingly. */
bool recorded_shows_order(struct recorded *recorded, const struct event *event,
                          const struct allocator_request *request);
/* Replays an allocation. recorded->difference then says whether the recording differs from the
 * model. -1: out of memory. */
int recorded_alloc(struct recorded *recorded, const struct event *event,
                   const struct allocator_request *request, uint32_t *block, struct err *err);
int recorded_free(struct recorded *recorded, const struct event *event, uint32_t block,
                  struct err *err);
/* Replays that memory which the pool used went back to the driver. */
int recorded_give_back(struct recorded *recorded, const struct event *event,
                       struct driver_block *driver_block, struct err *err);
