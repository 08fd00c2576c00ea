/* SPDX-License-Identifier: MIT */
/* The options of `estimate` and `compare` that say how a model is run, and the path from the
 * command line to the estimate that both commands share. A file may also give the options. The
 * command line overrides the file. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "analyzer/estimate/answer/question.h"
#include "analyzer/page/estimate.h"
#include "analyzer/estimate/model/model_file.h"
#include "analyzer/estimate/serve/serving.h"
#include "options.h"

#define SETTING_OPTION_COUNT(name) long name; /* 0: not given */
#define SETTING_OPTION_DTYPE(name) const char *name;
#define SETTING_OPTION_AUTOCAST(name) const char *name;
#define SETTING_OPTION_OPTIMIZER(name) const char *name;
#define SETTING_OPTION_CHECKPOINTS(name) const char *name;
#define SETTING_OPTION_OTHER_DTYPE(name) const char *name;
#define SETTING_OPTION_PARALLEL(name) const char *name;
#define SETTING_OPTION_RESHARD(name) const char *name;
#define SETTING_OPTION_LOGITS(name) const char *name;
#define SETTING_OPTION_RELEASE(name) const char *name;

#define TUNING_OPTION_COUNT(name) long name; /* 0: not given */
#define TUNING_OPTION_WORDS(name) const char *name;
#define TUNING_OPTION_DIMENSION(name) const char *name;

struct model_options {
#define SETTING(name, option, type, value, argument, standard, unit, effect)                       \
    SETTING_OPTION_##type(name)
#include "analyzer/estimate/model/settings.def"
#define TUNING(name, type, option, argument, standard, unit, effect) TUNING_OPTION_##type(name)
#include "analyzer/estimate/model/tuning.def"
    const char *set;
    bool inference, layers, tensors, what_if;
    const char *gpu;
    uint64_t workspace_bytes, nccl_bytes;
    uint64_t context_bytes; /* ESTIMATE_CONTEXT_UNKNOWN: not given */
};

#define MODEL_OPTIONS_NONE                                                                         \
    {                                                                                              \
        .context_bytes = ESTIMATE_CONTEXT_UNKNOWN                                                  \
    }

/* A model, how the model is run, and its estimate. MODEL is a description or a file of options. A
 * file of options is a JSON object. It has "model", the path of the description relative to the
 * file, and options by their names. The command line overrides the file. */
struct model_asked {
    struct command_options options;
    struct model_options own;
    struct model_source file; /* the file of options; its root is NULL if there is none */
    char *path;               /* the description that the file names */
    struct model_source source;
    struct model model;
    struct question question;
    struct serving serving; /* tokens is 0 if there is no serving */
    struct card card;
    struct estimate estimate;
};

/* Opens MODEL. If MODEL is a file of options, takes its options. A struct with all fields zero may
 * be released. */
int model_asked_open(struct model_asked *asked, const char *path, struct err *err);
/* Estimates with the current options. */
int model_asked_estimate(struct model_asked *asked, struct err *err);
void model_asked_release(struct model_asked *asked);

/* Prints the estimate and returns the exit status. */
typedef int model_print(struct model_asked *asked, struct err *err);

/* Runs a whole command: parses the options, opens the model (operand number `operand`), estimates
 * it and calls `print`. Files of weights without a description are not estimated. They are passed
 * to print_weights, or refused if print_weights is NULL. Returns the exit status, or -1. */
int model_command(const struct command *command, int argc, char **argv, int operand,
                  model_print *print, model_print *print_weights, struct err *err);
