/* SPDX-License-Identifier: MIT */
/*
 * What is changed of a model before it is run, from tuning.def: the kernel of attention, what is frozen, adapters. It must not
 * know files.
 */
#ifndef GPUMEMTRACE_ANALYZER_ESTIMATE_MODEL_TUNING_H
#define GPUMEMTRACE_ANALYZER_ESTIMATE_MODEL_TUNING_H

#include <jansson.h>

#include "analyzer/estimate/layer/layer.h"

#define TUNING_MEMBER_COUNT(name) uint64_t name;
#define TUNING_MEMBER_WORDS(name) const char *name;
#define TUNING_MEMBER_DIMENSION(name) const char *name;

/* Zeroed: nothing is changed. */
struct tuning {
#define TUNING(name, type, option, argument, standard, unit, effect) TUNING_MEMBER_##type(name)
#include "tuning.def"
};

/* -1: ERR_USAGE, a word is none of those there are. */
int tuning_check(const struct tuning *tuning, struct err *err);
/* Adds what it says of dimensions to those of --set. */
int tuning_dimensions(const struct tuning *tuning, json_t *options, struct err *err);
/* What it says of one layer, by its whole name. */
void tuning_apply(const struct tuning *tuning, struct layer *layer);
/* Whether adapters go beside that layer. */
bool tuning_adapts(const struct tuning *tuning, const struct layer *layer);

#endif
