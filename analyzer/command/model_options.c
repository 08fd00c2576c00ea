/* SPDX-License-Identifier: MIT */
/* The options of estimate and compare; see model_options.h. */
#include "model_options.h"

#include <stddef.h>

#define FIELD(name) offsetof(struct model_options, name)

static const char dtype_text[] = "element type:"
#define DTYPE(name, bytes, accumulate, names) " " #name
#include "analyzer/estimate/dtypes.def"
                                 ", and the usual short names";

const struct option_rule model_option_rules[] = {
    {"batch", 0, OPTION_COUNT, "N", "samples in a batch (default the model's, else 1)",
     FIELD(batch)},
    {"dtype", 0, OPTION_TEXT, "TYPE", dtype_text, FIELD(dtype)},
    {"optimizer", 0, OPTION_TEXT, "NAME",
     "sgd, momentum, adam, adamw, adamw-fused … (default the model's, else adamw)",
     FIELD(optimizer)},
    {"inference", 0, OPTION_FLAG, NULL, "no gradients and no optimizer", FIELD(inference)},
    {"workspace", 0, OPTION_SIZE, "SIZE", "what libraries keep as workspace (default not counted)",
     FIELD(workspace_bytes)},
    {"context", 0, OPTION_SIZE, "SIZE", "what the CUDA context takes (default not counted)",
     FIELD(context_bytes)},
    {"layers", 0, OPTION_FLAG, NULL, "show the whole table of layers", FIELD(layers)},
    {0},
};

int model_options_apply(const struct model_options *options, struct settings *settings,
                        struct err *err)
{
    struct err reason;
    if (options->batch > 0)
        settings->batch = (uint64_t)options->batch;
    settings->training = settings->training && !options->inference;
    settings->workspace_bytes = options->workspace_bytes;
    if (options->dtype && dtype_parse(options->dtype, &settings->dtype, &reason)) {
        err_set(err, ERR_USAGE, "option '--dtype': %s", reason.message);
        return -1;
    }
    if (options->optimizer && optimizer_parse(options->optimizer, &settings->optimizer, &reason)) {
        err_set(err, ERR_USAGE, "option '--optimizer': %s", reason.message);
        return -1;
    }
    return 0;
}

int model_command(const struct command *command, int argc, char **argv, int operand,
                  model_print *print, struct err *err)
{
    struct command_options options;
    struct model_options own = MODEL_OPTIONS_NONE;
    struct model model = {0};
    struct estimate estimate = {0};
    int result = -1;
    if (options_parse(&options, command, model_option_rules, &own, argc, argv, err) ||
        model_open(&model, options.operands[operand], err))
        goto out;
    struct settings settings = model.settings;
    if (model_options_apply(&own, &settings, err) ||
        estimate_make(&estimate, &model, &settings, err))
        goto out;
    result = print(&estimate, &options, &own, err);
out:
    estimate_release(&estimate);
    model_release(&model);
    return result;
}
