/* SPDX-License-Identifier: MIT */
/*
 * The limits of schema/limits.def as constants (LIMIT_text_bytes …), and a text that recorder and
 * analyzer share.
 */
#pragma once

enum trace_limit {
#define LIMIT(name, value, beyond, text) LIMIT_##name = (value),
#include "gpumemtrace/schema/limits.def"
};

/* Suffix of a function's name in the table coverage: the dry run does not model the function. */
#define COVERAGE_NOT_MODELLED " (dry run)"
