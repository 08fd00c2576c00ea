/* SPDX-License-Identifier: MIT */
/*
 * Names of native frames for the traces of a run that has ended, where the files that they come
 * from are still as they were. It must not know how the run was started.
 */
#ifndef GPUMEMTRACE_ANALYZER_RUN_RUN_NAMES_H
#define GPUMEMTRACE_ANALYZER_RUN_RUN_NAMES_H

#include "run_traces.h"

/* Of every complete trace of the run. What cannot be named now is left to the first command that can. */
void run_names_keep(const struct run_past *run);

#endif
