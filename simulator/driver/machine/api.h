/* SPDX-License-Identifier: MIT */
/*
 * The driver's API as this library exports it. Visibility is protected, because cuGetProcAddress
 * must return the driver's own functions even if the program or a preloaded library defines the
 * same names.
 */
#pragma once

#pragma GCC visibility push(protected)
#include "gpumemtrace/cuda/driver.h"
#pragma GCC visibility pop
