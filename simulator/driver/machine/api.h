/* SPDX-License-Identifier: MIT */
/*
 * The driver's API as this library exports it. Protected: a program or a preloaded library may have
 * functions of the same names, and cuGetProcAddress must hand out the driver's own all the same.
 */
#ifndef GPUMEMTRACE_SIMULATOR_DRIVER_MACHINE_API_H
#define GPUMEMTRACE_SIMULATOR_DRIVER_MACHINE_API_H

#pragma GCC visibility push(protected)
#include "gpumemtrace/cuda/driver.h"
#pragma GCC visibility pop

#endif
