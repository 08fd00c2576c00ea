/* SPDX-License-Identifier: MIT */
/*
 * Memory that a framework requests but can do without. An example is a workspace for cuDNN that
 * PyTorch requests. It is recognized by the function names in the trace; if the trace has no names,
 * no memory is optional.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "analyzer/load/trace.h"

/* True if a request with this stack is optional. */
bool optional_is_asked(const struct trace *trace, uint32_t stack_id);
