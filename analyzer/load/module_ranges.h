/* SPDX-License-Identifier: MIT */
/*
 * Divides the addresses of a trace among its modules. If libraries are loaded and unloaded, modules
 * may overlap. Then the addresses belong to the module that was mapped last, which has the highest
 * id.
 */
#pragma once

#include "trace.h"

/*
 * Fills trace->module_ranges. Modules must be sorted by start_address, and must not move
 * afterwards.
 */
int module_ranges_build(struct trace *trace, struct err *err);
