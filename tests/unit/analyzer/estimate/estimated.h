/* SPDX-License-Identifier: MIT */
/* Makes a model from a line of JSON, and the estimate of the model, for unit tests of the
   estimate. */
#pragma once

#include <jansson.h>
#include <stdio.h>
#include <string.h>

#include "analyzer/estimate/estimate.h"
#include "analyzer/estimate/model/layer_list.h"
#include "tests/unit/unit_test.h"

/* Returns -1 with *err if layer_list_read or model_resolve refuses the model, and releases the
   model. */
static inline int model_from(struct model *model, const char *input, const char *layers,
                             struct err *err)
{
    char text[4096];
    snprintf(text, sizeof text,
             "{\"schema\": \"gpumemtrace.model/1\", \"input\": %s, \"layers\": [%s]}", input,
             layers);
    *model = (struct model){.settings = settings_standard()};
    json_t *root = json_loads(text, JSON_REJECT_DUPLICATES, NULL);
    if (!root)
        fail_msg("the test's own JSON is wrong: %s", text);
    int result = layer_list_read(model, root, NULL, err) || model_resolve(model, err) ? -1 : 0;
    json_decref(root);
    if (result)
        model_release(model);
    return result;
}

static inline void model_must(struct model *model, const char *input, const char *layers)
{
    struct err err = {0};
    if (model_from(model, input, layers, &err))
        fail_msg("%s: %s", layers, err.message);
}

static inline void estimate_must(struct estimate *estimate, const struct model *model,
                                 const struct settings *settings)
{
    struct err err = {0};
    if (estimate_make(estimate, model, settings, &err))
        fail_msg("no estimate: %s", err.message);
}
