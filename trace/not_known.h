/* SPDX-License-Identifier: MIT */
/* The facts that an imported trace may lack, and their words in meta.not_known: not_known.def. */
#ifndef GPUMEMTRACE_TRACE_NOT_KNOWN_H
#define GPUMEMTRACE_TRACE_NOT_KNOWN_H

enum lack {
#define NOT_KNOWN(name, words) LACK_##name,
#include "gpumemtrace/schema/not_known.def"
};

static inline const char *lack_words(enum lack lack)
{
    static const char *const all_words[] = {
#define NOT_KNOWN(name, words) words,
#include "gpumemtrace/schema/not_known.def"
    };
    return all_words[lack];
}

#endif
