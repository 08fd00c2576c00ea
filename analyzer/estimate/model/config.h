/* SPDX-License-Identifier: MIT */
/*
 * The reader of a config.json of Hugging Face, and of the configs that names stand for: the family of its model_type says what
 * its keys mean. Of a model that reads more than text, whose type is none of a family, its text_config is read. It must not
 * know files.
 */
#ifndef GPUMEMTRACE_ANALYZER_ESTIMATE_MODEL_CONFIG_H
#define GPUMEMTRACE_ANALYZER_ESTIMATE_MODEL_CONFIG_H

#include "given.h"
#include "model.h"

/* Each fills all of the model but what model_resolve does. On failure the caller releases it. */
int config_read(struct model *model, const json_t *config, struct given given, struct err *err);
int config_read_named(struct model *model, json_t *family, const json_t *config, const char *name,
                      struct given given, struct err *err);
/* 0: a family reads it; else ERR_INPUT says why none does. */
int config_check(const json_t *config, struct err *err);

#endif
