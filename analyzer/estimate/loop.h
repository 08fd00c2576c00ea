/* SPDX-License-Identifier: MIT */
/*
 * The state of the training loop while training_loop.c records it: the live storages, their
 * holders, and the passes that change these. The plan has the bytes of all tensors.
 */
#pragma once

#include "plan.h"
#include "schedule.h"

#define NONE UINT32_MAX

struct storage {
    uint64_t bytes;
    uint32_t block;
    enum category category;
    unsigned holders;
    unsigned saved; /* number of holders that are nodes of autograd's graph */
};

/*
 * The storages that one of several GPUs (a rank) holds besides those of the model. Unit 0 of FSDP
 * has all layers that are in no repeated block.
 */
struct ranks {
    uint32_t *weights; /* for each parameter: its gathered weight */
    uint32_t *arrived; /* for each unit: output of its all-gather until that is copied out */
    /* for each unit: this rank's part of its gradients; with DataParallel, for each parameter: a
     * replica's gradient */
    uint32_t *shards;
    /* in forward: the output of the previous unit's all-gather; for a replica: its buffers */
    uint32_t held;
    uint32_t reducing; /* input of the last reduce-scatter */
    size_t running;    /* the unit that runs */
    /* backward has passed the loss that the loop computes, and has reached the model */
    bool is_backward;
    uint32_t bucket;   /* ZeRO's bucket for gradients that are reduced together */
    uint64_t filled;   /* number of elements in `bucket` */
    uint32_t *parts;   /* with ZeRO, for each parameter: the gradient or this rank's part of it */
    uint32_t *buckets; /* buckets of DistributedDataParallel */
    size_t bucket_count;
    unsigned passes; /* forward passes so far */
};

struct run {
    struct plan *plan;
    struct schedule *schedule;
    struct storage *storages;
    size_t storage_count, storage_capacity;
    /* The saved storages. They are a stack, because backward visits layers from last to first. */
    uint32_t *saved;
    size_t saved_count, saved_capacity;
    size_t *first_saved; /* for each layer: its first index in `saved` */
    uint32_t *results;   /* result of each layer; all readers of a result share one hold */
    size_t *unread;      /* number of readers of each result that have not run yet */
    uint32_t *tied;      /* gradients of tied weights, until backward reaches their own layer */
    size_t tied_count;
    /* forward: the inputs of the layer that runs, or its copies of them */
    uint32_t taken[MODEL_INPUTS_MOST];
    /* backward: the gradients that the layer makes for its inputs */
    uint32_t arriving[MODEL_INPUTS_MOST];
    uint32_t *flowing;   /* backward: gradient of each layer's result, summed up so far */
    uint32_t *gradients; /* block of each parameter's gradient */
    bool again;          /* the layers of a checkpointed segment run for the second time */
    bool is_run_again;   /* backward has run the segment that it is in again */
    size_t stop;         /* the second run ends when this layer has saved its tensors */
    uint32_t *outside;   /* inputs of segments from outside, held for the second run */
    size_t outside_count, outside_capacity;
    size_t *first_outside; /* for each segment: its first index in `outside` */
    uint32_t input, targets[TENSORS_MAX];
    unsigned target_count;
    uint32_t prediction, output; /* held by the loop until the end of the training step */
    uint32_t *casts;             /* autocast's copies of weights, held until its context ends */
    size_t cast_count, cast_capacity;
    uint32_t *cached; /* keys and values of caches, held as long as `prediction` */
    size_t cached_count;
    struct ranks ranks;
    /* for each layer: its result, if selective checkpointing keeps that of the segment's first
     * run */
    uint32_t *kept;
    uint32_t held_keys; /* old keys of a sliding window, dropped together with its old values */
    uint32_t *outgrown; /* each layer's cache before the current token; NONE: it has no cache */
    struct err *err;
};

/* --- storages (loop_storage.c) --- */

/* Makes a new storage, which the caller holds. */
uint32_t storage_new(struct run *run, enum category category, uint64_t bytes);
/* Makes the workspace of a convolution in that direction. NONE: the convolution needs none. */
uint32_t workspace_new(struct run *run, const struct plan_layer *planned,
                       enum conv_direction direction);
/* Both allow and ignore NONE as a storage. */
void storage_hold(struct run *run, uint32_t storage);
void storage_drop(struct run *run, uint32_t storage);
/* Makes a temporary from a storage, which is dropped. */
uint32_t storage_next(struct run *run, uint32_t storage, uint64_t bytes);
/* Lets autograd's node of the layer hold the storage until the layer's backward. */
void storage_save(struct run *run, struct plan_layer *planned, uint32_t storage);
void saved_drop(struct run *run, const struct plan_layer *planned);
/* Returns how many of its extra tensors the layer saves. */
size_t saved_number(const struct plan_layer *planned);
/* Drops only one of these, which backward needs no longer. Allows a number that is too large. */
void saved_drop_number(struct run *run, const struct plan_layer *planned, size_t number);
/* Lets the checkpointed segment that is running hold the storage until its second run is over. */
void storage_keep(struct run *run, uint32_t storage);
void kept_drop(struct run *run, size_t segment);
/* Lets autocast's context hold the copy of a weight until the context ends. */
void cast_hold(struct run *run, uint32_t storage);
void casts_drop(struct run *run);
/* Drops the caches of keys and values that the model has returned. */
void caches_drop(struct run *run);

/* --- attention (loop_attention.c) --- */

/* Runs the backward of a composed attention from the gradient of the values on. Returns the
 * gradient of the scores. The caller drops it when those of the queries and keys are made. */
uint32_t attention_backward(struct run *run, const struct plan_layer *planned);

/* --- ranks (loop_ranks.c); without effect on one GPU --- */

int ranks_init(struct run *run, struct err *err);
void ranks_release(struct ranks *ranks);
/* Called when the model is on the device. */
void ranks_load(struct run *run);
/*
 * ranks_forward is called before each layer's forward. It ignores a loss that the loop computes.
 * ranks_forward_end is called after the model's last layer, and may be called twice. ranks_backward
 * is called before each layer's backward, ranks_backward_end once after all of them.
 */
void ranks_forward(struct run *run, size_t layer);
void ranks_forward_end(struct run *run);
void ranks_backward(struct run *run, size_t layer);
void ranks_backward_end(struct run *run);
/* Drops the gradients, as zero_grad(set_to_none=True) does. */
void ranks_step_end(struct run *run);

/* --- replicas of DataParallel (loop_replicas.c); without effect where there are none --- */

bool has_replicas(const struct run *run);
/* Called before each layer's forward. */
void replicas_forward(struct run *run, size_t layer);
/* Called when the model has run. Moves its result (NULL: there is none) and its caches to the first
 * GPU. */
void replicas_return(struct run *run, uint32_t *returned);
/* Makes the replica's gradient of a parameter. */
void replicas_gradient(struct run *run, size_t parameter);
void replicas_backward_end(struct run *run);

/* --- ZeRO (loop_zero.c); without effect in other settings --- */

/* Called when the model is on the device. */
void zero_load(struct run *run);
/* Returns whether a unit's gathered weights stay until backward. */
bool zero_keeps_weights(const struct run *run, size_t unit);
/* In stages 1 and 2, takes a new gradient of a parameter. false: does nothing in other settings. */
bool zero_gradient(struct run *run, size_t parameter);
void zero_backward_end(struct run *run);
/* Makes the gradients for the optimizer's copy of the weights. The caller holds them. NONE: the run
 * has no ZeRO. */
uint32_t zero_step(struct run *run);
void zero_step_end(struct run *run);

/* --- passes --- */

/* -1: *run->err says which layer cannot run. */
int run_forward(struct run *run);
/* Runs the checkpointed segment of the layer again. */
int run_again(struct run *run, size_t layer);
int run_backward(struct run *run);
void run_optimizer(struct run *run, int step);
