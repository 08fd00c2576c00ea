/* SPDX-License-Identifier: MIT */
/*
 * A model that writes text: its prompt runs at once (prefill), then one token after
 * the other (decode), while a cache holds the keys and values of all tokens. There are
 * two estimates; the higher counts.
 *
 *     growing   as in transformers' generate: all sequences run together; for each token, a layer's
 *               cache is copied into a larger one
 *     paged     as in servers: blocks for all sequences are made before; a prefill takes the
 *               batch of the settings
 */
#ifndef GPUMEMTRACE_ANALYZER_ESTIMATE_SERVE_SERVING_H
#define GPUMEMTRACE_ANALYZER_ESTIMATE_SERVE_SERVING_H

#include "analyzer/estimate/estimate.h"
#include "analyzer/estimate/model/model_file.h"

struct serving {
    uint64_t tokens; /* of a sequence, at its end; 0: the model does not serve */
    uint64_t prompt_tokens, sequences, page_tokens;
    const char *dtype;     /* of the cache's elements */
    uint64_t token_bytes;  /* of one token in all layers, before a sliding window drops it */
    uint64_t cache_bytes;  /* of all sequences at their end */
    uint64_t unused_bytes; /* … in the last blocks, for tokens to come */
    struct footprint prefill, decode;
    uint64_t cache_count; /* tensors of one sequence's cache: two for each layer */
    /* segments at the end if those of smaller copies are never freed; 0: unknown */
    uint64_t grown_bytes;
    bool peaks_in_decode;
};

/* Makes the higher of the two estimates and its model; the caller releases both. */
int serving_make(struct serving *serving, const struct model_source *source,
                 const struct model_request *request, const struct settings *settings,
                 struct model *model, struct estimate *estimate, struct err *err);

/* Adds grown_bytes: runs token after token through the simulated allocator. */
int serving_grow(struct serving *serving, const struct model_source *source,
                 const struct model_request *request, const struct settings *settings,
                 struct err *err);

/* The bytes and the name of a cache's element type. -1: ERR_USAGE. */
int serving_element(const char *word, const char **name, uint64_t *bytes, struct err *err);

#endif
