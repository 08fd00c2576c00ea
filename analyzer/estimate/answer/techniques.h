/* SPDX-License-Identifier: MIT */
/* Ways to need less memory (techniques.def), each of which changes a question. */
#pragma once

#include "question.h"

#define TECHNIQUE_HOW_BYTES 96

enum technique {
#define TECHNIQUE(name, use, title, costs) TECHNIQUE_##name,
#define EDIT(name, use, how, title, costs) TECHNIQUE_##name,
#define OPTIMIZER(name, rule, title, costs) TECHNIQUE_##name,
#define ADVICE(name, title, words)
#include "techniques.def"
    TECHNIQUE_COUNT
};

enum technique_use { TECHNIQUE_REMEDY, TECHNIQUE_OTHER };

struct technique_row {
    const char *key, *title, *costs;
    enum technique_use use;
    /* The change is one of these: a function, an edit of the model, or an optimizer. */
    bool (*change)(struct variant *variant, char how[TECHNIQUE_HOW_BYTES]);
    unsigned edits;    /* enum model_edit */
    const char *words; /* what the edit changes */
    bool (*use_optimizer)(struct variant *variant, enum optimizer optimizer,
                          char how[TECHNIQUE_HOW_BYTES]);
    enum optimizer optimizer;
};

const struct technique_row *technique_row(enum technique technique);
/* Changes the variant. Fills `how` with the option that makes this change, or with words. false:
 * there is nothing to change. */
bool technique_change(enum technique technique, struct variant *variant,
                      char how[TECHNIQUE_HOW_BYTES]);

struct advice_row {
    const char *key, *title, *words;
};

extern const struct advice_row advice_rows[];
extern const size_t advice_count;

/* Sets the batch; `how` becomes "--batch=4". */
void technique_batch(struct variant *variant, uint64_t batch, char how[TECHNIQUE_HOW_BYTES]);
