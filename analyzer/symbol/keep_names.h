/* SPDX-License-Identifier: MIT */
/*
 * Keeps the names of native frames in the trace, so that it gives the same answers when the
 * program's files are gone or were rebuilt.
 */
#pragma once

#include "symbols.h"

/*
 * Writes all names if four conditions hold: the trace has no names yet, its recording is over, its
 * file can be written, and each file that a frame lies in is found as it was recorded. If one of
 * them does not hold, it does nothing and reports no error. In that case names are looked up when
 * they are shown, with a warning if some are not found. -1: out of memory.
 */
int keep_names(const struct trace *trace, struct symbols *symbols, struct err *err);
