/* SPDX-License-Identifier: MIT */
/*
 * Starts the recording of this process at its first CUDA call. A forked child starts its own
 * recording at its own first call.
 */
#pragma once

#include <stdbool.h>

/* Starts the recording, unless a start was tried before. Returns true if a recording runs. The call
 * is slow. Keeps errno. */
bool recording_start(void);
