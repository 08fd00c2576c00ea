/* SPDX-License-Identifier: MIT */
/*
 * JSON read whole or not at all. Jansson's lexer leaves a character out of a string or a number where there is no memory
 * for it, and may then abort, not knowing what follows; here such a document is refused at that point. A key may stand
 * once in an object.
 */
#ifndef GPUMEMTRACE_ANALYZER_UTIL_JSON_READ_H
#define GPUMEMTRACE_ANALYZER_UTIL_JSON_READ_H

#include <jansson.h>

/* Each returns a new reference, or NULL with *problem filled; problem may be NULL. Any thread. */
json_t *json_read_text(const char *text, json_error_t *problem);
json_t *json_read_file(const char *path, json_error_t *problem);
json_t *json_read_callback(json_load_callback_t callback, void *data, json_error_t *problem);

#endif
