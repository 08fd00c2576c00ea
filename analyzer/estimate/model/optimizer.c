/* SPDX-License-Identifier: MIT */
/* The table of optimizers; see optimizer.h. */
#include "optimizer.h"

#include "analyzer/util/name_list.h"
#include "analyzer/util/nearest.h"
#include "analyzer/util/text.h"

static const struct optimizer_kind kinds[] = {
#define OPTIMIZER(name, states, kind, whole, largest, carried, names, text)                        \
    {states, OPTIMIZER_STATE_##kind, whole, largest, carried, #name, names, text},
#include "optimizers.def"
};

const struct optimizer_kind *optimizer_kind(enum optimizer optimizer)
{
    return &kinds[optimizer];
}

static void fail_unknown_optimizer(const char *text, struct err *err)
{
    char first[OPTIMIZER_COUNT][NEAREST_NAME_MAX], hint[NEAREST_HINT_BYTES];
    const char *names[OPTIMIZER_COUNT];
    struct text known;
    text_init(&known, 400);
    for (int i = 0; i < OPTIMIZER_COUNT; i++) {
        const int length = (int)strcspn(kinds[i].names, ",");
        snprintf(first[i], sizeof first[i], "%.*s", length, kinds[i].names);
        names[i] = first[i];
        text_addf(&known, "%s%s", i ? ", " : "", names[i]);
    }
    err_set(err, ERR_USAGE, "unknown optimizer '%.40s'; known are %s%s", text, known.data,
            nearest_hint(hint, text, names, OPTIMIZER_COUNT));
    text_release(&known);
}

int optimizer_parse(const char *text, enum optimizer *optimizer, struct err *err)
{
    for (int i = 0; i < OPTIMIZER_COUNT; i++) {
        if (name_list_has(kinds[i].names, text)) {
            *optimizer = (enum optimizer)i;
            return 0;
        }
    }
    fail_unknown_optimizer(text, err);
    return -1;
}
