/* SPDX-License-Identifier: MIT */
/*
 * Estimates a model that writes text. The model first reads the whole prompt at once (prefill), and
 * then runs for one token after the other (decode), while a cache holds the keys and values of all
 * tokens. Prefill and decode are estimated separately, and the higher estimate counts.
 *
 *     growing   as in generate() of transformers: all sequences run together; for each token, a
 *               layer's cache is copied into a larger one
 *     paged     as in servers: the blocks of all sequences are made before the run; a prefill reads
 *               as many prompts as the settings' batch
 */
#pragma once

#include "analyzer/estimate/estimate.h"
#include "analyzer/estimate/model/model_file.h"

struct serving {
    uint64_t tokens; /* in a sequence at its end; 0: the model does not serve */
    uint64_t prompt_tokens, sequences, page_tokens;
    const char *dtype;     /* type of the cache's elements */
    uint64_t token_bytes;  /* cache of one token in all layers, before a window drops it */
    uint64_t cache_bytes;  /* cache of all sequences at their end */
    uint64_t unused_bytes; /* part of cache_bytes in the last blocks, for later tokens */
    struct footprint prefill, decode;
    uint64_t cache_count; /* number of tensors in one sequence's cache: two for each layer */
    /* bytes of segments at the end, if segments of earlier tokens are never freed; 0: unknown */
    uint64_t grown_bytes;
    bool peaks_in_decode;
};

/* Fills `estimate` with the higher of the two estimates, and `model` with its model. The caller
 * releases both. If `grows`, also sets grown_bytes: this runs one pass for each token through the
 * simulated allocator. */
int serving_make(struct serving *serving, const struct model_source *source,
                 const struct model_request *request, const struct settings *settings, bool grows,
                 struct model *model, struct estimate *estimate, struct err *err);
