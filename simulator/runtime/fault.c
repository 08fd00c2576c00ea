/* SPDX-License-Identifier: MIT */
/*
 * Ordered failures of runtime functions: this library's own copy of the driver's counters, built
 * from the same source so that both read GPUMEMTRACE_SIM_FAULT alike.
 */
#include "simulator/driver/fault.c"
