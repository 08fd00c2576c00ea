/* SPDX-License-Identifier: MIT */
/*
 * What a program's framework asks for and can do without: cuDNN's workspaces, for PyTorch. Known by the
 * names that the trace itself has; without names nothing is optional. It must not know what came after.
 */
#ifndef GPUMEMTRACE_ANALYZER_REPLAY_REFUSED_OPTIONAL_H
#define GPUMEMTRACE_ANALYZER_REPLAY_REFUSED_OPTIONAL_H

#include <stdbool.h>
#include <stdint.h>

#include "analyzer/load/trace.h"

/* Whether what asks with that stack can do without. */
bool optional_is_asked(const struct trace *trace, uint32_t stack_id);

#endif
