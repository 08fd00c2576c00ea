/* SPDX-License-Identifier: MIT */
/* Renders a document in a format to a string, for unit tests. */
#pragma once

#include <stdlib.h>

#include "analyzer/render/doc.h"
#include "analyzer/render/formats.h"

/* Returns a string that the caller frees, or NULL with *err if rendering failed. */
static inline char *rendered(const struct doc *doc, const char *format, struct err *err)
{
    char *string = NULL;
    size_t length = 0;
    FILE *out = open_memstream(&string, &length);
    const struct format *found = format_find(format, NULL, err);
    int result = out && found ? render(doc, found, out, err) : -1;
    if (out)
        fclose(out);
    if (result) {
        free(string);
        return NULL;
    }
    return string;
}

/* Also frees the document. */
#define assert_rendered(doc, format, expected)                                                     \
    do {                                                                                           \
        struct err rendered_err = {0};                                                             \
        char *rendered_string = rendered(doc, format, &rendered_err);                              \
        assert_string_equal(rendered_string ? rendered_string : rendered_err.message, expected);   \
        free(rendered_string);                                                                     \
        doc_free(doc);                                                                             \
    } while (0)
