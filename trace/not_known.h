/* SPDX-License-Identifier: MIT */
/* The facts that an imported trace may lack, and their words in meta.not_known: not_known.def. */
#pragma once

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
