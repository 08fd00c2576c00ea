/* SPDX-License-Identifier: MIT */
/*
 * Reads values of a JSON object, with checks of type and range. A message says what the value must
 * be and what it is; the caller adds the key and the file.
 */
#pragma once

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "gpumemtrace/err.h"

#define JSON_SHOWN_BYTES 48

/* Returns the value as messages show it: a short value literally, and any other value by its
 * type. */
const char *json_shown(const json_t *value, char text[JSON_SHOWN_BYTES]);

/* Returns the text in quotes. A long text is cut, and control characters become '?'. */
const char *json_shown_text(const char *value, char text[JSON_SHOWN_BYTES]);

/* Reads an integer, or a number such as 4096.0, which some programs write for an integer. */
bool json_take_whole(const json_t *value, json_int_t *integer);

/* Each returns -1 with ERR_INPUT, "must be …, not …", for a value of another type or range. */
int json_take_integer(const json_t *value, uint64_t least, uint64_t most, uint64_t *integer,
                      struct err *err);
int json_take_flag(const json_t *value, bool *flag, struct err *err);
int json_take_share(const json_t *value, double *share, struct err *err);
int json_take_text(const json_t *value, const char **text, struct err *err);
/* Reads a list of 1 to `room` integers, *count of them; one integer counts as a list of one. */
int json_take_integers(const json_t *value, uint64_t least, uint64_t most, uint64_t *integers,
                       unsigned room, unsigned *count, struct err *err);
