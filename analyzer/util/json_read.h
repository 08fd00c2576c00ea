/* SPDX-License-Identifier: MIT */
/*
 * Reads a JSON document whole or not at all. If memory runs out, Jansson's lexer drops a character
 * of a string or number, and may abort later; these functions fail at that point instead. A
 * repeated key in an object is an error.
 */
#pragma once

#include <jansson.h>

/* Each returns a new reference, or NULL with *problem filled; problem may be NULL. Thread-safe. */
json_t *json_read_text(const char *text, json_error_t *problem);
json_t *json_read_file(const char *path, json_error_t *problem);
json_t *json_read_callback(json_load_callback_t callback, void *data, json_error_t *problem);
