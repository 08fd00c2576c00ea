/* SPDX-License-Identifier: MIT */
/* Prefill and decode; see serving.h. */
#include "serving.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analyzer/estimate/cache_growth.h"
#include "analyzer/util/name_list.h"

#define GROWTH_MOST (5 << 20) /* most layers that are run, one token after the other */
#define FLOAT8 "float8"
#define FLOAT8_NAMES FLOAT8 ",fp8,fp8_e4m3,fp8_e5m2,float8_e4m3fn,float8_e5m2,int8"

/* One of prefill and decode: the model that it needs, and its estimate. */
struct pass {
    struct model model;
    struct settings settings;
    struct estimate estimate;
};

static void pass_release(struct pass *pass)
{
    estimate_release(&pass->estimate);
    model_release(&pass->model);
}

/* Finds the bytes and the name of a cache's element type. -1: ERR_USAGE. */
static int find_element(const char *word, const char **name, uint64_t *bytes, struct err *err)
{
    enum dtype dtype;
    struct err reason = {0};
    if (name_list_has(FLOAT8_NAMES, word)) {
        *name = FLOAT8;
        *bytes = 1;
        return 0;
    }
    if (dtype_parse(word, &dtype, &reason))
        return err_set(err, ERR_USAGE, "option '--kv-dtype': %s, " FLOAT8, reason.message);
    *name = dtype_name(dtype);
    *bytes = dtype_bytes(dtype);
    return 0;
}

/* --- models --- */

static int make_model(struct model *model, const struct model_source *source,
                      const struct model_request *request, const char *dimensions, struct err *err)
{
    struct model_request changed = *request;
    char *set = NULL;
    if (asprintf(&set, "%s%sserves=true%s", request->set ? request->set : "",
                 request->set ? "," : "", dimensions) < 0)
        return err_set(err, ERR_SYSTEM, "out of memory for the dimensions");
    changed.set = set;
    changed.inference = true;
    const int result = model_make(model, source, &changed, err);
    free(set);
    return result;
}

#define DIMENSIONS_BYTES 80

/* The prompt is the model's sequence, but at most as long as the cache. */
static int make_prefill(struct pass *pass, const struct model_source *source,
                        const struct model_request *request, struct err *err)
{
    char dimensions[DIMENSIONS_BYTES];
    const uint64_t tokens = request->tuning.kv_cache;
    if (make_model(&pass->model, source, request, "", err))
        return -1;
    if (pass->model.sizes.sequence <= tokens)
        return 0;
    model_release(&pass->model);
    snprintf(dimensions, sizeof dimensions, ",sequence=%" PRIu64, tokens);
    return make_model(&pass->model, source, request, dimensions, err);
}

static int make_decode(struct model *model, const struct model_source *source,
                       const struct model_request *request, struct err *err)
{
    char dimensions[DIMENSIONS_BYTES];
    snprintf(dimensions, sizeof dimensions, ",sequence=1,cached=%" PRIu64,
             request->tuning.kv_cache);
    return make_model(model, source, request, dimensions, err);
}

/* --- the cache --- */

static uint64_t in_blocks(uint64_t tokens, uint64_t page, struct checked *checked)
{
    return page ? checked_mul(checked, tokens / page + (tokens % page > 0), page) : tokens;
}

/*
 * Checks that the cache is not longer than the model's learned positions. The decoding model has
 * only one token, but this token has the last position of the cache.
 */
static int check_positions(const struct model *model, uint64_t tokens, struct err *err)
{
    for (size_t i = 0; i < model->layer_count; i++) {
        const struct layer *layer = &model->layers[i];
        if ((layer->kind->traits & TRAIT_once) && layer->fields.num < tokens)
            return layer_fail(layer, NULL, err,
                              "a cache of %" PRIu64 " tokens is longer than the %" PRIu64
                              " positions that were learned",
                              tokens, layer->fields.num);
    }
    return 0;
}

/* Counts the bytes of the caches that the decoding model's layers hold. */
static int count_cache(struct serving *serving, const struct model *model, uint64_t element_bytes,
                       struct err *err)
{
    struct checked checked = {false};
    uint64_t used_bytes = 0;
    for (size_t i = 0; i < model->layer_count; i++) {
        const struct layer *layer = &model->layers[i];
        if (!(layer->kind->traits & TRAIT_cache))
            continue;
        const uint64_t tokens = layer->output.dims[0];
        const uint64_t width =
            checked_mul(&checked, shape_elements(&layer->output, &checked) / tokens, element_bytes);
        const uint64_t all = checked_mul(&checked, width, serving->sequences);
        const uint64_t held = in_blocks(tokens, serving->page_tokens, &checked);
        serving->token_bytes = checked_add(&checked, serving->token_bytes, width);
        serving->cache_bytes =
            checked_add(&checked, serving->cache_bytes, checked_mul(&checked, all, held));
        used_bytes = checked_add(&checked, used_bytes, checked_mul(&checked, all, tokens));
        serving->cache_count++;
    }
    if (checked.overflow || serving->cache_count == 0)
        return err_set(err, ERR_INPUT,
                       checked.overflow ? "the cache is too large: its bytes do not fit in 64 bits"
                                        : "the model has no cache of keys and values (use_cache)");
    serving->unused_bytes = serving->cache_bytes - used_bytes;
    return 0;
}

/* --- the whole --- */

/* Replaces the message if the model can be made, but not for serving, because it lacks the
 * dimensions that serving needs. */
static void explain(const struct model_source *source, const struct model_request *request,
                    struct err *err)
{
    struct model model;
    struct err reason = {0};
    if ((err->code != ERR_INPUT && err->code != ERR_USAGE) ||
        model_make(&model, source, request, &reason))
        return;
    model_release(&model);
    err_set(err, ERR_INPUT,
            "option '--kv-cache': the cache of %s is not known; a model needs the dimensions "
            "sequence, cached and serves, as the decoders of 'gpumemtrace help models' have",
            source->name);
}

static int run(struct serving *serving, struct pass *prefill, struct pass *decode,
               uint64_t element_bytes, struct err *err)
{
    const bool is_paged = serving->page_tokens > 0;
    decode->settings = prefill->settings;
    decode->settings.batch = serving->sequences;
    prefill->settings.batch = is_paged ? prefill->settings.batch : serving->sequences;
    if (check_positions(&decode->model, serving->tokens, err) ||
        count_cache(serving, &decode->model, element_bytes, err))
        return -1;
    prefill->settings.serve = (struct serve){.pass = SERVE_prefill,
                                             .tokens = serving->tokens,
                                             .pool_bytes = is_paged ? serving->cache_bytes : 0,
                                             .pool_pieces = is_paged ? serving->cache_count : 0};
    decode->settings.serve = prefill->settings.serve;
    decode->settings.serve.pass = SERVE_decode;
    return estimate_make(&prefill->estimate, &prefill->model, &prefill->settings, err) ||
                   estimate_make(&decode->estimate, &decode->model, &decode->settings, err)
               ? -1
               : 0;
}

/* --- one token after the other --- */

static int add_plan(struct cache_growth *growth, const struct model_source *source,
                    const struct model_request *request, const struct settings *settings,
                    uint64_t tokens, struct model *model, struct err *err)
{
    struct model_request changed = *request;
    changed.tuning.kv_cache = tokens;
    if (make_decode(model, source, &changed, err) ||
        plan_build(&growth->plans[growth->count], model, settings, err))
        return -1;
    growth->tokens[growth->count++] = tokens;
    return 0;
}

/* Returns the shortest sliding window that is longer than `tokens`, or all tokens. */
static uint64_t next_window(const struct model *model, uint64_t tokens, uint64_t all)
{
    uint64_t next = all;
    for (size_t i = 0; i < model->layer_count; i++) {
        const struct layer *layer = &model->layers[i];
        if ((layer->kind->traits & TRAIT_cache) && layer->output.dims[0] > tokens &&
            layer->output.dims[0] < next)
            next = layer->output.dims[0];
    }
    return next;
}

static bool has_same_layers(const struct model *model, const struct model *other)
{
    return model->layer_count == other->layer_count && model->input_count == other->input_count;
}

/* Sets grown_bytes, if the passes are not too many to try and all have the same layers: the layers
 * of a model file may depend on the number of cached tokens. */
static int grow(struct serving *serving, const struct model_source *source,
                const struct model_request *request, const struct pass *decode, struct err *err)
{
    struct pass last = {.settings = decode->settings};
    struct model models[GROWTH_PLANS_MOST] = {0};
    struct cache_growth growth = {0};
    uint64_t tokens = serving->prompt_tokens;
    int result = -1;
    if (serving->page_tokens || tokens == serving->tokens ||
        serving->tokens - tokens > GROWTH_MOST / decode->model.layer_count)
        return 0;
    for (bool is_last = false; !is_last;
         tokens = next_window(&decode->model, tokens, serving->tokens)) {
        is_last = tokens == serving->tokens || growth.count + 1 == GROWTH_PLANS_MOST;
        if (add_plan(&growth, source, request, &last.settings, is_last ? serving->tokens : tokens,
                     &models[growth.count], err))
            goto out;
        if (!has_same_layers(&models[growth.count - 1], &decode->model)) {
            result = 0;
            goto out;
        }
    }
    last.settings.serve.growth = &growth;
    result = estimate_make(&last.estimate, &decode->model, &last.settings, err);
    serving->grown_bytes = result ? 0 : last.estimate.peak.reserved_bytes;
out:
    cache_growth_release(&growth);
    for (size_t i = 0; i < GROWTH_PLANS_MOST; i++)
        model_release(&models[i]);
    pass_release(&last);
    return result;
}

/* Hands model and estimate over to the caller. */
static void hand_over(struct pass *pass, struct model *model, struct estimate *estimate)
{
    model_move(model, &pass->model);
    *estimate = pass->estimate;
    estimate->model = model;
    pass->estimate = (struct estimate){0};
}

int serving_make(struct serving *serving, const struct model_source *source,
                 const struct model_request *request, const struct settings *settings, bool grows,
                 struct model *model, struct estimate *estimate, struct err *err)
{
    const struct tuning *tuning = &request->tuning;
    struct pass prefill = {.settings = *settings}, decode = {0};
    uint64_t element_bytes = dtype_bytes(settings->dtype);
    int result = -1;
    *serving =
        (struct serving){.tokens = tuning->kv_cache,
                         .sequences = tuning->sequences ? tuning->sequences : settings->batch,
                         .page_tokens = tuning->page,
                         .dtype = dtype_name(settings->dtype)};
    prefill.settings.training = false;
    if (tuning->kv_dtype && find_element(tuning->kv_dtype, &serving->dtype, &element_bytes, err))
        goto out;
    if (make_prefill(&prefill, source, request, err)) {
        explain(source, request, err);
        goto out;
    }
    if (make_decode(&decode.model, source, request, err) ||
        run(serving, &prefill, &decode, element_bytes, err))
        goto out;
    serving->prompt_tokens = prefill.model.sizes.sequence;
    if (grows && grow(serving, source, request, &decode, err))
        goto out;
    /* segments that smaller caches left may serve the last token better than new ones */
    if (serving->grown_bytes && serving->grown_bytes < decode.estimate.peak.reserved_bytes)
        decode.estimate.peak.reserved_bytes = serving->grown_bytes;
    serving->prefill = prefill.estimate.peak;
    serving->decode = decode.estimate.peak;
    serving->peaks_in_decode = serving->decode.reserved_bytes > serving->prefill.reserved_bytes;
    hand_over(serving->peaks_in_decode ? &decode : &prefill, model, estimate);
    result = 0;
out:
    pass_release(&prefill);
    pass_release(&decode);
    return result;
}
