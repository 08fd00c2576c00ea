/* SPDX-License-Identifier: MIT */
/*
 * Starts the recording of this process at its first CUDA call, and anew in a forked child at the
 * child's own. It must not know any hook.
 */
#ifndef GPUMEMTRACE_INTERPOSE_LIFE_START_H
#define GPUMEMTRACE_INTERPOSE_LIFE_START_H

#include <stdbool.h>

/* Starts the recording if nothing was tried yet. Slow; errno is kept. true: it runs. */
bool recording_start(void);

#endif
