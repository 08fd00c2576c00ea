/* SPDX-License-Identifier: MIT */
/*
 * Declares the struct stack_source of each row of sources.def.
 */
#ifndef GPUMEMTRACE_INTERPOSE_STACK_SOURCES_H
#define GPUMEMTRACE_INTERPOSE_STACK_SOURCES_H

#include "interpose/stack/take/stack_source.h"

#define SOURCE(name) extern const struct stack_source name##_source;
#include "sources.def"

#endif
