/* SPDX-License-Identifier: MIT */
/* Sets the loader's variables that load the recorder, and for a dry run the simulator,
 * into a program. */
#pragma once

#include "run_places.h"

/* Puts the libraries before the value of this process's LD_PRELOAD. With a simulator, also changes
 * LD_LIBRARY_PATH in this way. */
int run_loader_set(const struct run_places *places, struct err *err);
