/* SPDX-License-Identifier: MIT */
/*
 * The loader's variables that bring the recorder, and for a dry run the simulator, into a program. It
 * must not know what either does there.
 */
#ifndef GPUMEMTRACE_ANALYZER_RUN_RUN_LOADER_H
#define GPUMEMTRACE_ANALYZER_RUN_RUN_LOADER_H

#include "run_places.h"

/* Sets LD_PRELOAD and, with a simulator, LD_LIBRARY_PATH of this process, before what they say. */
int run_loader_set(const struct run_places *places, struct err *err);

#endif
