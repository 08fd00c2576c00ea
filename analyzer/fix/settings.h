/* SPDX-License-Identifier: MIT */
/*
 * The rows SETTING of remedies.def for one program that died: what to write for its release of PyTorch,
 * beside what its environment already says, and which of them the allocator's model rules out. A model
 * that says "fails as well" saves a run; one that says "works" is no proof.
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
    char text[REMEDY_SETTING_BYTES]; /* "VARIABLE=VALUE"; "": not for this program */
    bool is_ruled_out;               /* by the model, with all else as it was */
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

/* From the trace of a process that an allocation's failure ended. */
int fix_settings_find(struct fix_setting settings[SETTING_COUNT], const char *path,
                      struct err *err);

/* What a smaller number of that name costs. */
const char *fix_price_of(const char *name);
/* By its name it is the size of a batch or of a sequence. */
bool fix_may_be_size(const char *name);

#endif
