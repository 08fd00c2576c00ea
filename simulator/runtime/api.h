/* SPDX-License-Identifier: MIT */
/*
 * The runtime's API as these libraries export it. Protected for the reason simulator/driver/api.h
 * gives.
 */
#ifndef GPUMEMTRACE_SIMULATOR_RUNTIME_API_H
#define GPUMEMTRACE_SIMULATOR_RUNTIME_API_H

#pragma GCC visibility push(protected)
#include "gpumemtrace/cuda/runtime.h"
#pragma GCC visibility pop

#endif
