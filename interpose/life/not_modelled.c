/* SPDX-License-Identifier: MIT */
/* See not_modelled.h. */
#include "not_modelled.h"

#include <inttypes.h>
#include <stdint.h>
#include <stdio.h>

#include "gpumemtrace/compiler.h"
#include "gpumemtrace/limits.h"
#include "interpose/lookup/coverage.h"

/* Defined by libgpumemtrace_dryrun.so, which is preloaded in every dry run. Returns the name of the
 * index-th function and how often it was called; NULL: no more functions. */
__attribute__((weak)) const char *gpumemtrace_dryrun_unanswered(unsigned index, uint64_t *count);

static const char *name_of(unsigned index, uint64_t *count)
{
    return gpumemtrace_dryrun_unanswered ? gpumemtrace_dryrun_unanswered(index, count) : NULL;
}

void not_modelled_count(void)
{
    uint64_t count;
    const char *function;
    for (unsigned i = 0; (function = name_of(i, &count)); i++) {
        char name[64];
        snprintf(name, sizeof name, "%.*s" COVERAGE_NOT_MODELLED,
                 (int)(sizeof name - sizeof COVERAGE_NOT_MODELLED - 1), function);
        coverage_count_many(name, count > UINT32_MAX ? UINT32_MAX : (uint32_t)count);
    }
}

void not_modelled_format(char *text, size_t text_bytes)
{
    uint64_t count, calls = 0, first_count = 0;
    const char *function, *first = NULL;
    unsigned functions = 0;
    for (; (function = name_of(functions, &count)); functions++) {
        calls += count;
        if (count > first_count) {
            first = function;
            first_count = count;
        }
    }
    text[0] = '\0';
    if (first)
        snprintf(text, text_bytes,
                 ", %" PRIu64 " call%s to functions that the dry run does not model (%s %" PRIu64
                 "%s)",
                 calls, calls == 1 ? "" : "s", first, first_count, functions > 1 ? " …" : "");
}
