/* SPDX-License-Identifier: MIT */
/*
 * Values of a JSON object, with their type and range checked. A message says what the value must be
 * and what it is; the caller adds which key of which file. It must not know any format.
 */
#ifndef GPUMEMTRACE_ANALYZER_UTIL_JSON_FIELD_H
#define GPUMEMTRACE_ANALYZER_UTIL_JSON_FIELD_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "gpumemtrace/err.h"

#define JSON_SHOWN_BYTES 48

/* A value as a message shows it: short values literally, others by their type. */
const char *json_shown(const json_t *value, char text[JSON_SHOWN_BYTES]);

/* A text in quotes, cut if long; control characters become '?'. */
const char *json_shown_text(const char *value, char text[JSON_SHOWN_BYTES]);

/* An integer, or a number such as 4096.0, which some programs write for one. */
bool json_take_whole(const json_t *value, json_int_t *integer);

/* Each returns -1 with ERR_INPUT, "must be …, not …", when the value is something else. */
int json_take_integer(const json_t *value, uint64_t least, uint64_t most, uint64_t *integer,
                      struct err *err);
int json_take_flag(const json_t *value, bool *flag, struct err *err);
int json_take_share(const json_t *value, double *share, struct err *err);
int json_take_text(const json_t *value, const char **text, struct err *err);
/* A list of 1 to room integers, *count of them; a single integer counts as a list of one. */
int json_take_integers(const json_t *value, uint64_t least, uint64_t most, uint64_t *integers,
                       unsigned room, unsigned *count, struct err *err);

#endif
