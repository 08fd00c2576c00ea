/* SPDX-License-Identifier: MIT */
/* Writes the names of native frames into the traces of an ended run. This is done right after the
 * run, while the files that have the names are still unchanged. */
#pragma once

#include "run_traces.h"

/* Names the frames of every complete trace of the run. Errors are ignored, because the first
 * command that reads the trace tries again. */
void run_names_keep(const struct run_past *run);
