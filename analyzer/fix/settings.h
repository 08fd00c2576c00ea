/* SPDX-License-Identifier: MIT */
/*
 * The rows SETTING of remedies.def for one program that died: the text to set for its
 * release of PyTorch, added to the settings of its environment, and which rows the
 * allocator's model rules out. If the model says that a setting fails as well, a run is
 * saved; if it says that it works, that is no proof.
 */
#ifndef GPUMEMTRACE_ANALYZER_FIX_SETTINGS_H
#define GPUMEMTRACE_ANALYZER_FIX_SETTINGS_H

#include "analyzer/remedy/remedies.h"

enum fix_setting_key {
#define SETTING(key, words, since, model, last, price) SETTING_##key,
#include "analyzer/remedy/remedies.def"
    SETTING_COUNT,
    SETTING_NONE = SETTING_COUNT,
};

struct fix_setting {
    /* "VARIABLE=VALUE"; "": the row does not apply to this program */
    char text[REMEDY_SETTING_BYTES];
    bool is_ruled_out; /* by the model, without other changes */
};

/* One row of remedies.def. */
struct fix_setting_words {
    const char *key, *words;
    int since;
    const char *model; /* NULL: none */
    bool is_last;
    const char *price;
};
const struct fix_setting_words *fix_setting_words(enum fix_setting_key key);

/* Finds the settings from the trace of a process that a failed allocation ended. */
int fix_settings_find(struct fix_setting settings[SETTING_COUNT], const char *path,
                      struct err *err);

/* The price of a smaller number of that name, in words. */
const char *fix_price_of(const char *name);
/* Whether the name is that of the size of a batch or of a sequence. */
bool fix_may_be_size(const char *name);

#endif
