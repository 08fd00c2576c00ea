/* SPDX-License-Identifier: MIT */
/*
 * What the recorder leaves out on purpose, and why; from untracked.def. It must not know what a
 * trace has seen.
 */
#ifndef GPUMEMTRACE_ANALYSIS_UNTRACKED_H
#define GPUMEMTRACE_ANALYSIS_UNTRACKED_H

#include <stddef.h>

/* Why the entry point is not recorded; NULL: it should be, and this version does not know it. */
const char *untracked_reason(const char *name);

/* What no entry point tells of. */
struct untracked {
    const char *what, *why;
};
extern const struct untracked untracked_always[];
extern const size_t untracked_always_count;

#endif
