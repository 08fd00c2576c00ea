/* SPDX-License-Identifier: MIT */
/* Optimizers and their memory, from optimizers.def. */
#pragma once

#include <stdbool.h>

#include "gpumemtrace/err.h"

enum optimizer {
#define OPTIMIZER(name, states, kind, whole, largest, carried, names, text) OPTIMIZER_##name,
#include "optimizers.def"
    OPTIMIZER_COUNT
};

enum optimizer_state {
    OPTIMIZER_STATE_alike,
    OPTIMIZER_STATE_factored,
    OPTIMIZER_STATE_wide,
    OPTIMIZER_STATE_quantized,
    OPTIMIZER_STATE_paged_wide,
    OPTIMIZER_STATE_paged_quantized,
    OPTIMIZER_STATE_orthogonal
};

struct optimizer_kind {
    unsigned states; /* tensors kept for each parameter */
    enum optimizer_state kind;
    unsigned whole;   /* temporaries of all parameters at once */
    unsigned largest; /* temporaries of one parameter at a time */
    unsigned carried; /* temporaries of the previous parameter that are still live then */
    const char *name, *names, *text;
};

const struct optimizer_kind *optimizer_kind(enum optimizer optimizer);

/* True if large states are in managed memory. */
static inline bool optimizer_is_paged(const struct optimizer_kind *kind)
{
    return kind->kind == OPTIMIZER_STATE_paged_wide ||
           kind->kind == OPTIMIZER_STATE_paged_quantized;
}

/* Takes any name in optimizers.def, ignoring case. -1: ERR_USAGE, which lists the names. */
int optimizer_parse(const char *text, enum optimizer *optimizer, struct err *err);
