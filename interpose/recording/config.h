/* SPDX-License-Identifier: MIT */
/*
 * The recorder's settings, read from the environment as options.def lists them. A value that cannot
 * be read is reported and replaced by the default, because a profiler must not stop a training run
 * for a typo.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#define CONFIG_TEXT_BYTES 4096

struct config {
#define CONFIG_MEMBER_TEXT(field) char field[CONFIG_TEXT_BYTES];
#define CONFIG_MEMBER_CHOICE(field) CONFIG_MEMBER_TEXT(field)
#define CONFIG_MEMBER_FLAG(field) bool field;
#define CONFIG_MEMBER_SIZE(field) uint64_t field;
#define CONFIG_MEMBER_COUNT(field) uint64_t field;
#define OPTION(field, type, environment, flag, argument, standard, text) CONFIG_MEMBER_##type(field)
#include "gpumemtrace/options.def"
#undef CONFIG_MEMBER_TEXT
#undef CONFIG_MEMBER_CHOICE
#undef CONFIG_MEMBER_FLAG
#undef CONFIG_MEMBER_SIZE
#undef CONFIG_MEMBER_COUNT
};

void config_read(struct config *config);
