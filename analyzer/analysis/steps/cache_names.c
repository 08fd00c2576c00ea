/* SPDX-License-Identifier: MIT */
/* Finds the names of known caches; see cache_names.h. */
#include "cache_names.h"

#include <string.h>

#include "analyzer/torch/frames.h"
#include "analyzer/util/text.h"

static const struct {
    enum torch_meaning meaning;
    const char *library, *name;
} caches[] = {
#define CACHE(meaning, name) {TORCH_##meaning, NULL, name},
#define LIBRARY(start, name) {0, start, name},
#include "cache_names.def"
};

static const char *name_of_frame(const struct symbol_frame *frame)
{
    const char *file = frame->module ? path_name(frame->module) : NULL;
    for (size_t i = 0; i < sizeof caches / sizeof *caches; i++) {
        const char *library = caches[i].library;
        if (library ? file && !strncmp(file, library, strlen(library))
                    : torch_is(frame->means, caches[i].meaning))
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
