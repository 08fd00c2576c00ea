/* SPDX-License-Identifier: MIT */
/* Finds the recorder's library and the simulator by the place of this executable. In a build folder
 * they are beside the executable; when installed, they are below ../lib. */
#pragma once

#include <limits.h>

#include "gpumemtrace/err.h"

struct run_places {
    char library[PATH_MAX];   /* libgpumemtrace.so */
    char simulator[PATH_MAX]; /* folder of libcuda.so.1 and the other libraries; "": not wanted */
};

/* Fills places with absolute paths that the loader's variables can carry, if necessary
 * through a link (run_link.h). */
int run_places_find(struct run_places *places, int with_simulator, struct err *err);
