/* SPDX-License-Identifier: MIT */
/*
 * Reads a config.json of Hugging Face, or the config that a name such as "resnet50" stands for. The
 * family of the config's model_type says what the keys mean. If no family has the model_type, the
 * config's text_config is read instead: the text part of a model that also reads images or sound.
 */
#pragma once

#include "given.h"
#include "model.h"

/* Both fill all of the model except what model_resolve fills. On failure the caller releases the
 * model. */
int config_read(struct model *model, const json_t *config, struct given given, struct err *err);
int config_read_named(struct model *model, json_t *family, const json_t *config, const char *name,
                      struct given given, struct err *err);
/* 0: a family can read the config; -1: ERR_INPUT says why none can. */
int config_check(const json_t *config, struct err *err);
