/* SPDX-License-Identifier: MIT */
/* Finds the names of known caches; see cache_names.h. */
#include "cache_names.h"

#include <stdio.h>
#include <string.h>

#include "analyzer/util/glob.h"

enum where { WHERE_module, WHERE_function, WHERE_python };

static const struct {
    enum where where;
    const char *pattern, *name;
} caches[] = {
#define CACHE(where, pattern, name) {WHERE_##where, pattern, name},
#include "cache_names.def"
};

enum { SUBJECT_BYTES = 2 * LIMIT_text_bytes + sizeof ":" };

/* The part of the frame that a row's pattern is matched with; NULL: none. */
static const char *subject_of(const struct symbol_frame *frame, enum where where,
                              char buffer[SUBJECT_BYTES])
{
    const bool is_python = !strcmp(frame->kind, "python");

    if (is_python != (where == WHERE_python))
        return NULL;
    if (where == WHERE_module) {
        const char *slash = frame->module ? strrchr(frame->module, '/') : NULL;
        return slash ? slash + 1 : frame->module;
    }
    if (where == WHERE_function)
        return frame->function;
    snprintf(buffer, SUBJECT_BYTES, "%s:%s", frame->file ? frame->file : "", frame->function);
    return buffer;
}

static const char *name_of_frame(const struct symbol_frame *frame)
{
    char buffer[SUBJECT_BYTES];

    for (size_t i = 0; i < sizeof caches / sizeof *caches; i++) {
        const char *subject = subject_of(frame, caches[i].where, buffer);
        if (subject && glob_match(caches[i].pattern, subject))
            return caches[i].name;
    }
    return NULL;
}

int cache_name_find(const char **name, struct symbols *symbols, uint32_t stack_id, struct err *err)
{
    struct symbol_walk walk = symbols_walk_begin(symbols, stack_id);
    struct symbol_frame frame;
    int status;

    *name = NULL;
    while (!*name && (status = symbols_walk_next(&walk, &frame, err)) > 0) {
        if (frame.role == ROLE_program && frame.is_named && strcmp(frame.kind, "label"))
            return 0;
        *name = name_of_frame(&frame);
    }
    return *name ? 0 : status;
}
