/* SPDX-License-Identifier: MIT */
/*
 * Declares what the files of sources.def define. It must not know more of them.
 */
#ifndef GPUMEMTRACE_INTERPOSE_STACK_SOURCES_H
#define GPUMEMTRACE_INTERPOSE_STACK_SOURCES_H

#include "interpose/stack/take/stack_source.h"

#define SOURCE(name) extern const struct stack_source name##_source;
#include "sources.def"

#endif
