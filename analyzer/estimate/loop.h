/* SPDX-License-Identifier: MIT */
/*
 * The loop while it is written down (training_loop.h): what is alive, who holds it, and the passes that change that.
 * It must not know formulas; the plan has the bytes of everything.
 */
#ifndef GPUMEMTRACE_ANALYZER_ESTIMATE_LOOP_H
#define GPUMEMTRACE_ANALYZER_ESTIMATE_LOOP_H

#include "plan.h"
#include "schedule.h"

#define NONE UINT32_MAX

struct storage {
    uint64_t bytes;
    uint32_t block;
    enum category category;
    unsigned holders;
    unsigned saved; /* how many of the holders are nodes of the graph */
};

/* Of several GPUs: what one of them holds besides, by units of FSDP (0: what is in no block). */
struct ranks {
    uint32_t *weights; /* of each parameter, gathered */
    uint32_t *arrived; /* of each unit: what its all-gather brought, before it is copied out */
    uint32_t *
        shards; /* of each unit: this rank's part of the gradients; of each parameter: a replica's */
    uint32_t held;     /* what arrived for the unit before, in forward; a replica's buffers */
    uint32_t reducing; /* the last reduce-scatter's input */
    size_t running;    /* the block that runs */
    bool is_backward;  /* has come to the model: after the loss where the loop computes that */
    uint32_t bucket;   /* of ZeRO … */
    uint64_t filled;   /* … which has so many elements in it */
    uint32_t *parts;   /* of each parameter's gradient, with ZeRO */
    uint32_t *buckets; /* of DistributedDataParallel */
    size_t bucket_count;
    unsigned passes; /* forward */
};

struct run {
    struct plan *plan;
    struct schedule *schedule;
    struct storage *storages;
    size_t storage_count, storage_capacity;
    /* What layers save, one after the other: backward goes through the layers from the end. */
    uint32_t *saved;
    size_t saved_count, saved_capacity;
    size_t *first_saved; /* of each layer */
    uint32_t *results;   /* storage of each layer's result, which its readers hold together */
    size_t *unread;      /* how many readers of it have not run yet */
    uint32_t *tied;      /* gradients of weights that belong to a layer further on in backward */
    size_t tied_count;
    uint32_t taken[MODEL_INPUTS_MOST]; /* forward: what a layer works on */
    uint32_t
        arriving[MODEL_INPUTS_MOST]; /* gradients that a layer's backward makes for its inputs */
    uint32_t *flowing;   /* backward: storage of the gradient of each layer's result, so far */
    uint32_t *gradients; /* block of each parameter's gradient */
    bool again;          /* a checkpointed segment's layers run once more … */
    size_t stop;         /* … until this one has saved what it saves */
    uint32_t *outside;   /* what such segments read, held for that */
    size_t outside_count, outside_capacity;
    size_t *first_outside; /* of each segment */
    uint32_t input, targets[TENSORS_MAX];
    unsigned target_count;
    uint32_t prediction, output; /* what the loop holds until the end of the step … */
    uint32_t *casts;             /* autocast's copies of weights, until its context ends */
    size_t cast_count, cast_capacity;
    uint32_t *cached; /* … as well as these */
    size_t cached_count;
    struct ranks ranks;
    uint32_t *kept;     /* results from the first run of a segment, for its second */
    uint32_t held_keys; /* of a window, which go with the values */
    uint32_t *outgrown; /* the cache as it was before a token came; NONE: there was none */
    struct err *err;
};

/* --- storages (loop_storage.c) --- */

/* A new storage, which the caller holds. */
uint32_t storage_new(struct run *run, enum category category, uint64_t bytes);
/* Of a convolution that runs in that direction; NONE: it takes none. */
uint32_t workspace_new(struct run *run, const struct plan_layer *planned,
                       enum conv_direction direction);
/* NONE is allowed and ignored. */
void storage_hold(struct run *run, uint32_t storage);
void storage_drop(struct run *run, uint32_t storage);
/* The layer's node of the graph holds the storage until its backward. */
void storage_save(struct run *run, struct plan_layer *planned, uint32_t storage);
void saved_drop(struct run *run, const struct plan_layer *planned);
/* The checkpointed segment that is running holds the storage until its second run is over. */
void storage_keep(struct run *run, uint32_t storage);
void kept_drop(struct run *run, size_t segment);
/* Autocast's context holds the copy of a weight until it ends. */
void cast_hold(struct run *run, uint32_t storage);
void casts_drop(struct run *run);

/* --- ranks (loop_ranks.c); nothing where there is one GPU --- */

int ranks_init(struct run *run, struct err *err);
void ranks_release(struct ranks *ranks);
/* Once the model is on the device. */
void ranks_load(struct run *run);
/* Before each layer's forward and after the model's last one's, once or twice; the same of backward. */
void ranks_forward(struct run *run, size_t layer);
void ranks_forward_end(struct run *run);
void ranks_backward(struct run *run, size_t layer);
void ranks_backward_end(struct run *run);
/* Gradients are set to none. */
void ranks_step_end(struct run *run);

/* --- replicas of DataParallel (loop_replicas.c); nothing where there are none --- */

bool has_replicas(const struct run *run);
/* Before each layer's forward. */
void replicas_forward(struct run *run, size_t layer);
/* The model has run: what it returned, NULL: nothing, and its cache go to the first GPU. */
void replicas_return(struct run *run, uint32_t *returned);
/* The replica's gradient of a parameter. */
void replicas_gradient(struct run *run, size_t parameter);
void replicas_backward_end(struct run *run);

/* --- ZeRO (loop_zero.c); nothing where there is none --- */

/* Once the model is on the device. */
void zero_load(struct run *run);
/* Whether a unit's gathered weights stay for backward. */
bool zero_keeps_weights(const struct run *run, size_t unit);
/* A parameter's gradient comes. false: this is none of ZeRO's stages 1 and 2. */
bool zero_gradient(struct run *run, size_t parameter);
void zero_backward_end(struct run *run);
/* The gradients of what is updated, which the caller holds; NONE: they are there already. */
uint32_t zero_step(struct run *run);
void zero_step_end(struct run *run);

/* --- passes --- */

/* -1: *run->err says which layer cannot run. */
int run_forward(struct run *run);
/* The layers of a checkpointed segment once more, the last of which is number `last`. */
int run_again(struct run *run, size_t last);
int run_backward(struct run *run);
void run_optimizer(struct run *run, int step);

#endif
