/* SPDX-License-Identifier: MIT */
/* The table of optimizers; see optimizer.h. */
#include "optimizer.h"

#include "analyzer/util/name_list.h"
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
    struct text known;
    text_init(&known, 400);
    for (int i = 0; i < OPTIMIZER_COUNT; i++) {
        size_t length = strcspn(kinds[i].names, ",");
        text_addf(&known, "%s%.*s", i ? ", " : "", (int)length, kinds[i].names);
    }
    err_set(err, ERR_USAGE, "unknown optimizer '%.40s'; known are %s", text, known.data);
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
