/* SPDX-License-Identifier: MIT */
/*
 * Optimizers and their memory, from optimizers.def. It must not know models.
 */
#ifndef GPUMEMTRACE_ANALYZER_ESTIMATE_OPTIMIZER_H
#define GPUMEMTRACE_ANALYZER_ESTIMATE_OPTIMIZER_H

#include "gpumemtrace/err.h"

enum optimizer {
#define OPTIMIZER(name, states, whole, largest, names, text) OPTIMIZER_##name,
#include "optimizers.def"
    OPTIMIZER_COUNT
};

struct optimizer_kind {
    unsigned states;  /* tensors kept for each parameter */
    unsigned whole;   /* temporaries of all parameters at once */
    unsigned largest; /* temporaries of one parameter at a time */
    const char *name, *names, *text;
};

const struct optimizer_kind *optimizer_kind(enum optimizer optimizer);

/* Takes any name in optimizers.def, ignoring case. -1: ERR_USAGE, which lists the names. */
int optimizer_parse(const char *text, enum optimizer *optimizer, struct err *err);

#endif
