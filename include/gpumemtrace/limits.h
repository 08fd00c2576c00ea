/* SPDX-License-Identifier: MIT */
/*
 * The limits of schema/limits.def as constants: LIMIT_text_bytes and so on; and a text that both sides know. It must not know who
 * keeps them.
 */
#ifndef GPUMEMTRACE_LIMITS_H
#define GPUMEMTRACE_LIMITS_H

enum trace_limit {
#define LIMIT(name, value, beyond, text) LIMIT_##name = (value),
#include "gpumemtrace/schema/limits.def"
};

/* What follows the name of a call that a dry run does not model, in the table coverage. */
#define COVERAGE_NOT_MODELLED " (dry run)"

#endif
