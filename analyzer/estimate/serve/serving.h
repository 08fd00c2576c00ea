/* SPDX-License-Identifier: MIT */
/*
 * A model that writes text: its prompt goes through it at once (prefill), then one token after the other (decode), and
 * keys and values of all tokens lie in a cache. Two estimates, of which the higher counts. It must not know cards.
 *
 *     growing   as transformers' generate: all sequences run together; each token makes a copy of a layer's cache with
 *               room for it
 *     paged     as servers have it: blocks for all sequences are made before; a prefill takes the settings' batch
 */
#ifndef GPUMEMTRACE_ANALYZER_ESTIMATE_SERVE_SERVING_H
#define GPUMEMTRACE_ANALYZER_ESTIMATE_SERVE_SERVING_H

#include "analyzer/estimate/estimate.h"
#include "analyzer/estimate/model/model_file.h"

struct serving {
    uint64_t tokens; /* of a sequence, at its end; 0: nothing is served */
    uint64_t prompt_tokens, sequences, page_tokens;
    const char *dtype;     /* of the cache's elements */
    uint64_t token_bytes;  /* of one token in all layers, where no window has passed it */
    uint64_t cache_bytes;  /* of all sequences at their end */
    uint64_t unused_bytes; /* … of which their last blocks have room for tokens to come */
    struct footprint prefill, decode;
    uint64_t cache_count; /* tensors of the cache of one sequence: two for each layer */
    uint64_t
        grown_bytes; /* segments at the end, where those of smaller copies are never given back; 0: not known */
    bool peaks_in_decode;
};

/* The higher estimate, and the model that it is of, which the caller releases. */
int serving_make(struct serving *serving, const struct model_source *source,
                 const struct model_request *request, const struct settings *settings,
                 struct model *model, struct estimate *estimate, struct err *err);

/* Adds grown_bytes: token after token through the allocator. */
int serving_grow(struct serving *serving, const struct model_source *source,
                 const struct model_request *request, const struct settings *settings,
                 struct err *err);

/* Bytes of an element of a cache. -1: ERR_USAGE. */
int serving_element(const char *word, const char **name, uint64_t *bytes, struct err *err);

#endif
