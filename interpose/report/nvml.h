/* SPDX-License-Identifier: MIT */
/*
 * Which processes use a card, as NVML tells the program that asks it: its answer is recorded. PyTorch
 * asks at each allocation that it fails to serve. NVML is never loaded or initialized here, nor asked
 * when the program does not ask. It must not know why the program asks.
 *
 * Callable from any lookup: no libc, no lock.
 */
#ifndef GPUMEMTRACE_INTERPOSE_REPORT_NVML_H
#define GPUMEMTRACE_INTERPOSE_REPORT_NVML_H

#include <stdbool.h>

/* Whether a function of that name is recorded. */
bool nvml_stands_before(const char *name);
/* What a lookup of it that found `real` hands out. */
void *nvml_stand_before(void *real, const char *name);

#endif
