/* SPDX-License-Identifier: MIT */
/*
 * How a model is run, as options of the commands that estimate: the file says it, an option
 * overrides it; and the way from the command line to the estimate, which they share. It must not
 * know what is done with the estimate.
 */
#ifndef GPUMEMTRACE_ANALYZER_COMMAND_MODEL_OPTIONS_H
#define GPUMEMTRACE_ANALYZER_COMMAND_MODEL_OPTIONS_H

#include <stdbool.h>
#include <stdint.h>

#include "analyzer/page/estimate.h"
#include "analyzer/estimate/model_file.h"
#include "options.h"

struct model_options {
    long batch; /* 0: not given */
    const char *dtype, *optimizer;
    bool inference, layers;
    uint64_t workspace_bytes;
    uint64_t context_bytes; /* ESTIMATE_CONTEXT_UNKNOWN: not given */
};

#define MODEL_OPTIONS_NONE                                                                         \
    {                                                                                              \
        .context_bytes = ESTIMATE_CONTEXT_UNKNOWN                                                  \
    }

extern const struct option_rule model_option_rules[];

/* The model file's settings with what the options say. ERR_USAGE for an unknown name. */
int model_options_apply(const struct model_options *options, struct settings *settings,
                        struct err *err);

/* What a command does with the estimate of its model: prints it, and returns the exit status. */
typedef int model_print(const struct estimate *estimate, const struct command_options *options,
                        const struct model_options *own, struct err *err);

/* A whole command: reads the options, opens the model that is operand number `operand`, estimates
 * it and hands it to print. The exit status, or -1. */
int model_command(const struct command *command, int argc, char **argv, int operand,
                  model_print *print, struct err *err);

#endif
