/* SPDX-License-Identifier: MIT */
/*
 * Declares the struct stack_source of each row of sources.def.
 */
#pragma once

#include "interpose/stack/take/stack_source.h"

#define SOURCE(name) extern const struct stack_source name##_source;
#include "sources.def"
