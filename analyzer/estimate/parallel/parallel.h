/* SPDX-License-Identifier: MIT */
/* Ways in which several GPUs share the training of a model, from parallel.def. */
#pragma once

#include <stdbool.h>

#include "gpumemtrace/err.h"

enum parallel {
#define PARALLEL(name, weights, gradients, states, names, text, source) PARALLEL_##name,
#include "parallel.def"
    PARALLEL_COUNT
};

enum parallel_weights { WEIGHTS_whole, WEIGHTS_replica, WEIGHTS_units, WEIGHTS_flat };
enum parallel_gradients {
    GRADIENTS_own,
    GRADIENTS_copied,
    GRADIENTS_viewed,
    GRADIENTS_kept,
    GRADIENTS_parted,
    GRADIENTS_summed,
    GRADIENTS_sent,
    GRADIENTS_reduced
};
enum parallel_states { STATES_held, STATES_none, STATES_master };

struct parallel_kind {
    enum parallel_weights weights;
    enum parallel_gradients gradients;
    enum parallel_states states;
    const char *names, *text, *source;
};

const struct parallel_kind *parallel_kind(enum parallel parallel);
/* Returns whether a rank has only a part of each unit's weights, so that units are gathered. */
bool parallel_has_units(enum parallel parallel);
/* Returns whether the optimizer updates a separate copy of the weights that the model runs with. */
bool parallel_has_master(enum parallel parallel);
/* Takes any name in parallel.def, ignoring case. -1: ERR_USAGE, which lists the names. */
int parallel_parse(const char *text, enum parallel *parallel, struct err *err);

/* Which units of FSDP keep their gathered weights from forward to backward. */
enum reshard {
    RESHARD_auto,    /* only the root */
    RESHARD_always,  /* none */
    RESHARD_never,   /* all */
    RESHARD_but_last /* only the last block, with which backward begins */
};

int reshard_parse(const char *text, enum reshard *reshard, struct err *err);
const char *reshard_name(enum reshard reshard);
