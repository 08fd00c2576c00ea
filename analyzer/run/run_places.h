/* SPDX-License-Identifier: MIT */
/*
 * Where the recorder's library and the simulator are, seen from this executable: in a build folder
 * beside it, installed below ../lib. It must not know what they are used for.
 */
#ifndef GPUMEMTRACE_ANALYZER_RUN_RUN_PLACES_H
#define GPUMEMTRACE_ANALYZER_RUN_RUN_PLACES_H

#include <limits.h>

#include "gpumemtrace/err.h"

struct run_places {
    char library[PATH_MAX];   /* libgpumemtrace.so */
    char simulator[PATH_MAX]; /* the folder of libcuda.so.1 and its kin; "" not looked for */
};

/* Fills places with absolute paths that the loader's variables can carry, through a link (run_link.h) if need be. */
int run_places_find(struct run_places *places, int with_simulator, struct err *err);

#endif
