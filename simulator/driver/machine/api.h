/* SPDX-License-Identifier: MIT */
/*
 * The driver's API as this library exports it. Visibility is protected, because cuGetProcAddress
 * must return the driver's own functions even if the program or a preloaded library defines the
 * same names.
 */
#ifndef GPUMEMTRACE_SIMULATOR_DRIVER_MACHINE_API_H
#define GPUMEMTRACE_SIMULATOR_DRIVER_MACHINE_API_H

#pragma GCC visibility push(protected)
#include "gpumemtrace/cuda/driver.h"
#pragma GCC visibility pop

#endif
