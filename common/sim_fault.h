/* SPDX-License-Identifier: MIT */
/*
 * Makes calls fail on purpose: GPUMEMTRACE_SIM_FAULT="cuMemAlloc_v2:3=2;cudaMalloc:1=2" makes the
 * third call of cuMemAlloc_v2 and the first call of cudaMalloc return 2 without any effect. The
 * driver and each runtime count their own functions.
 *
 * Thread-safe.
 */
#pragma once

/* Counts a call of the exported function. Returns the injected result; 0: none. */
int fault_of(const char *function);
