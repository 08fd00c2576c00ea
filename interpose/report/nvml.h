/* SPDX-License-Identifier: MIT */
/*
 * Records which processes use a card, as NVML tells the program. PyTorch asks NVML at each
 * allocation that fails. The recorder never loads or initializes NVML, and calls it only after the
 * program has.
 *
 * Callable from any lookup: the functions call no libc and take no lock.
 */
#pragma once

#include <stdbool.h>

/* Are the answers of the NVML function with this name recorded? */
bool nvml_stands_before(const char *name);
/* Returns the function that a lookup of `name` must return if it found `real`. */
void *nvml_stand_before(void *real, const char *name);
