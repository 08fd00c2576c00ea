/* SPDX-License-Identifier: MIT */
/*
 * The rows SETTING of remedies.def for one program that died. For each row this gives the text to
 * set for the program's release of PyTorch, added to the settings of its environment, and tells
 * whether the allocator's model rules the row out. If the model says that the program also fails
 * with a setting, a run is saved. If the model says that the setting works, this is no proof.
 */
#pragma once

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
    bool is_ruled_out; /* the model rules it out, without other changes */
};

/* The columns of one row of remedies.def. */
struct fix_setting_words {
    const char *key, *words;
    int since;
    const char *model; /* NULL: the model does not know it */
    bool is_last;
    const char *price;
};
const struct fix_setting_words *fix_setting_words(enum fix_setting_key key);

/* Finds the settings from the trace of a process that was ended by a failed allocation. */
int fix_settings_find(struct fix_setting settings[SETTING_COUNT], const char *path,
                      struct err *err);

/* Returns, in words, the price of making the number of that name smaller. */
const char *fix_price_of(const char *name);
/* True if the name may be that of the size of a batch or of a sequence. */
bool fix_may_be_size(const char *name);
