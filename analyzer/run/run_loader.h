/* SPDX-License-Identifier: MIT */
/* Sets the loader's variables that load the recorder, and for a dry run the simulator,
 * into a program. */
#ifndef GPUMEMTRACE_ANALYZER_RUN_RUN_LOADER_H
#define GPUMEMTRACE_ANALYZER_RUN_RUN_LOADER_H

#include "run_places.h"

/* Puts the libraries before the previous values of LD_PRELOAD and, with a simulator,
 * LD_LIBRARY_PATH of this process. */
int run_loader_set(const struct run_places *places, struct err *err);

#endif
