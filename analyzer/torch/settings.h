/* SPDX-License-Identifier: MIT */
/* Reads and writes the settings of PyTorch's allocator; settings.def lists their names. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

enum torch_variable {
#define VARIABLE(key, name) TORCH_VARIABLE_##key,
#define WORD(name)
#define RELEASE(key, number)
#include "settings.def"
    TORCH_VARIABLES
};

enum torch_word {
#define VARIABLE(key, name)
#define WORD(name) TORCH_WORD_##name,
#define RELEASE(key, number)
#include "settings.def"
    TORCH_WORDS /* any other word */
};

enum torch_release {
#define VARIABLE(key, name)
#define WORD(name)
#define RELEASE(key, number) TORCH_RELEASE_##key = number,
#include "settings.def"
};

#define TORCH_EXPANDABLE "expandable_segments:True"
#define TORCH_NO_PINNED_ROUNDING "pinned_max_round_threshold_mb:1"

/* The settings of a recorded run, as far as its trace has them. */
struct torch_setup {
    int release;                         /* 0: unknown, or not PyTorch */
    const char *values[TORCH_VARIABLES]; /* NULL: not set, or unknown */
};

const char *torch_variable_name(enum torch_variable variable);

/* The settings in force, "name:value,name:[value,value]"; "": none. */
const char *torch_settings(const struct torch_setup *setup);
/* Splits the next setting off such a text. A list in brackets is one value. False: there is
 * none. */
struct torch_value {
    enum torch_word word;
    const char *text; /* not terminated */
    size_t length;
};
bool torch_next_setting(const char **text, struct torch_value *value);
bool torch_is_true(const struct torch_value *value);

/* True if these settings leave caching to the driver: no allocator of PyTorch's is left to set. */
bool torch_caches_in_driver(const char *settings);
/* False if caching is left to the driver, or is switched off. */
bool torch_obeys_settings(const struct torch_setup *setup);

/*
 * Writes the environment variable that makes a setting, such as TORCH_EXPANDABLE, under the name
 * that this release obeys. Keeps the words that the variable already has, but the old value of this
 * setting. False: the setting is on already, or the release is older than `since`, 206 for 2.6.
 */
bool torch_setting_write(char *setting, size_t bytes, const struct torch_setup *setup,
                         const char *words, int since);
