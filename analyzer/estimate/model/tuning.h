/* SPDX-License-Identifier: MIT */
/*
 * Changes to a model before its run, from tuning.def: the attention kernel, frozen layers, and
 * adapters.
 */
#pragma once

#include <jansson.h>

#include "analyzer/estimate/layer/layer.h"

#define TUNING_MEMBER_COUNT(name) uint64_t name;
#define TUNING_MEMBER_WORDS(name) const char *name;
#define TUNING_MEMBER_DIMENSION(name) const char *name;

/* All zero: no change. */
struct tuning {
#define TUNING(name, type, option, argument, standard, unit, effect) TUNING_MEMBER_##type(name)
#include "tuning.def"
};

/* Checks the words. -1: ERR_USAGE, because a word is unknown. */
int tuning_check(const struct tuning *tuning, struct err *err);
/* Adds the dimensions that the tuning sets to those of --set. */
int tuning_dimensions(const struct tuning *tuning, json_t *options, struct err *err);
/* Applies the tuning to one layer. The layer's whole name decides what is changed. */
void tuning_apply(const struct tuning *tuning, struct layer *layer);
/* Returns whether the layer gets an adapter. */
bool tuning_adapts(const struct tuning *tuning, const struct layer *layer);
bool tuning_widens(const struct tuning *tuning);    /* adapters are at least float32 */
double tuning_dropout(const struct tuning *tuning); /* share of an adapter's input; 0: none */
