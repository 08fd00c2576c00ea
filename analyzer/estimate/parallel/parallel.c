/* SPDX-License-Identifier: MIT */
/* The table of ways to share training among GPUs; see parallel.h. */
#include "parallel.h"

#include <string.h>

#include "analyzer/util/name_list.h"
#include "analyzer/util/text.h"

static const struct parallel_kind kinds[] = {
#define PARALLEL(name, weights, gradients, states, names, text, source)                            \
    {WEIGHTS_##weights, GRADIENTS_##gradients, STATES_##states, names, text, source},
#include "parallel.def"
};

const struct parallel_kind *parallel_kind(enum parallel parallel)
{
    return &kinds[parallel];
}

bool parallel_has_units(enum parallel parallel)
{
    return kinds[parallel].weights == WEIGHTS_units || kinds[parallel].weights == WEIGHTS_flat;
}

bool parallel_has_master(enum parallel parallel)
{
    return kinds[parallel].states == STATES_master;
}

static void fail_unknown(const char *text, struct err *err)
{
    struct text known;
    text_init(&known, 400);
    for (int i = 0; i < PARALLEL_COUNT; i++) {
        size_t length = strcspn(kinds[i].names, ",");
        text_addf(&known, "%s%.*s", i ? ", " : "", (int)length, kinds[i].names);
    }
    err_set(err, ERR_USAGE, "'%.40s' is not estimated; known are %s", text, known.data);
    text_release(&known);
}

int parallel_parse(const char *text, enum parallel *parallel, struct err *err)
{
    for (int i = 0; i < PARALLEL_COUNT; i++) {
        if (name_list_has(kinds[i].names, text)) {
            *parallel = (enum parallel)i;
            return 0;
        }
    }
    fail_unknown(text, err);
    return -1;
}

static const char *const reshard_names[] = {[RESHARD_auto] = "auto",
                                            [RESHARD_always] = "always",
                                            [RESHARD_never] = "never",
                                            [RESHARD_but_last] = "but-last"};

const char *reshard_name(enum reshard reshard)
{
    return reshard_names[reshard];
}

int reshard_parse(const char *text, enum reshard *reshard, struct err *err)
{
    for (int i = RESHARD_auto; i <= RESHARD_but_last; i++) {
        if (name_list_has(reshard_names[i], text)) {
            *reshard = (enum reshard)i;
            return 0;
        }
    }
    return err_set(err, ERR_USAGE, "'%.40s' is unknown; known are auto, always, never and but-last",
                   text);
}
