/* SPDX-License-Identifier: MIT */
/*
 * Divides the addresses of a trace among its modules. Where libraries came and went, modules overlap:
 * the one that was mapped last is the likelier, and has the highest id. It must not know what is
 * looked up.
 */
#ifndef GPUMEMTRACE_ANALYZER_LOAD_MODULE_RANGES_H
#define GPUMEMTRACE_ANALYZER_LOAD_MODULE_RANGES_H

#include "trace.h"

/* Fills trace->module_ranges. The modules must be sorted by start_address and stay where they are. */
int module_ranges_build(struct trace *trace, struct err *err);

#endif
