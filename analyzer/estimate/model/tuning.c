/* SPDX-License-Identifier: MIT */
/* Changes a model before its run; see tuning.h. */
#include "tuning.h"

#include <stdlib.h>
#include <string.h>

#include "analyzer/estimate/layer/layer_formulas.h"
#include "given.h"
#include "analyzer/util/json_field.h"
#include "analyzer/util/name_list.h"

#define EAGER "eager"
#define LORA_ON "q_proj,v_proj"
#define HEADS "lm_head,score,classifier,qa_outputs" /* transformers does not quantize these */
#define ADAPTER "lora_input,lora_A,lora_B"
#define LORA_FLOAT32 "float32"
#define LORA_MODEL "model"
#define GROUP_MOST 1024 /* highest number of GPUs that share a model, or of even shares */

static const struct {
    const char *word;
    enum quantization quantization;
} quantizations[] = {{"nf4", QUANTIZATION_nf4},
                     {"nf4-dq", QUANTIZATION_nf4_dq},
                     {"int8", QUANTIZATION_int8},
                     {"none", QUANTIZATION_none}};

static const enum quantization *quantization_find(const char *word)
{
    for (size_t i = 0; i < sizeof quantizations / sizeof *quantizations; i++)
        if (strcmp(quantizations[i].word, word) == 0)
            return &quantizations[i].quantization;
    return NULL;
}

/* Checks a number above 0; a number of GPUs must be whole. */
static int check_number(const char *option, const char *word, bool is_whole, struct err *err)
{
    char *end = NULL, shown[JSON_SHOWN_BYTES];
    const double number = word ? strtod(word, &end) : 1;
    if (!word || (end != word && !*end && number > 0 && number <= GROUP_MOST &&
                  (!is_whole || strspn(word, "0123456789") == strlen(word))))
        return 0;
    return err_set(err, ERR_USAGE, "option '--%s': %s is not %s from %s to %d", option,
                   json_shown_text(word, shown), is_whole ? "an integer" : "a number",
                   is_whole ? "1" : "0", GROUP_MOST);
}

static int check_groups(const struct tuning *tuning, struct err *err)
{
    if (tuning->sequence_parallel && !tuning->tensor_parallel)
        return err_set(err, ERR_USAGE, "option '--sequence-parallel' needs --tensor-parallel=N");
    return check_number("tensor-parallel", tuning->tensor_parallel, true, err) ||
                   check_number("expert-parallel", tuning->expert_parallel, true, err) ||
                   check_number("pipeline-parallel", tuning->pipeline_parallel, true, err) ||
                   check_number("capacity", tuning->capacity, false, err)
               ? -1
               : 0;
}

static int check_cache(const struct tuning *tuning, struct err *err)
{
    const char *option = tuning->page ? "page" : tuning->sequences ? "sequences" : "kv-dtype";
    if (!tuning->kv_cache && (tuning->page || tuning->sequences || tuning->kv_dtype))
        err_set(err, ERR_USAGE, "option '--%s' needs a cache: --kv-cache=TOKENS", option);
    else if (tuning->kv_dtype && !tuning->page)
        err_set(err, ERR_USAGE,
                "option '--kv-dtype' needs blocks, --page=16: a cache that grows has the model's "
                "type");
    else
        return 0;
    return -1;
}

static int check_adapters(const struct tuning *tuning, struct err *err)
{
    char *end = NULL, shown[JSON_SHOWN_BYTES];
    const char *option = tuning->lora_dropout ? "lora-dropout" : "lora-dtype";
    const double share = tuning->lora_dropout ? strtod(tuning->lora_dropout, &end) : 0;
    if (!tuning->lora && (tuning->lora_dropout || tuning->lora_dtype))
        return err_set(err, ERR_USAGE, "option '--%s' needs adapters: --lora=R", option);
    if (end && (end == tuning->lora_dropout || *end || !(share >= 0 && share < 1)))
        return err_set(err, ERR_USAGE,
                       "option '--lora-dropout': %s is not a share of at least 0 and below 1",
                       json_shown_text(tuning->lora_dropout, shown));
    if (!tuning->lora_dtype || name_list_has(LORA_FLOAT32 "," LORA_MODEL, tuning->lora_dtype))
        return 0;
    return err_set(err, ERR_USAGE, "option '--lora-dtype': %s is unknown; known are %s and %s",
                   json_shown_text(tuning->lora_dtype, shown), LORA_FLOAT32, LORA_MODEL);
}

int tuning_check(const struct tuning *tuning, struct err *err)
{
    char shown[JSON_SHOWN_BYTES];
    if (check_cache(tuning, err) || check_groups(tuning, err) || check_adapters(tuning, err))
        return -1;
    if (tuning->quantize && !quantization_find(tuning->quantize))
        return err_set(err, ERR_USAGE,
                       "option '--quantize': %s is unknown; known are nf4, nf4-dq, int8 and none",
                       json_shown_text(tuning->quantize, shown));
    if (!tuning->attention || name_list_has(EAGER ",sdpa,flash", tuning->attention))
        return 0;
    return err_set(err, ERR_USAGE,
                   "option '--attention': %s is unknown; known are eager, sdpa and flash",
                   json_shown_text(tuning->attention, shown));
}

#define GIVE_COUNT(name)
#define GIVE_WORDS(name)
#define GIVE_DIMENSION(name)                                                                       \
    if (tuning->name && json_object_set_new(options, #name, given_word(tuning->name)))             \
        goto fail;

int tuning_dimensions(const struct tuning *tuning, json_t *options, struct err *err)
{
#define TUNING(name, type, option, argument, standard, unit, effect) GIVE_##type(name)
#include "tuning.def"
    return 0;
fail:
    return err_set(err, ERR_USAGE, "a size of a group or a capacity is not a text of UTF-8");
}

/* Returns whether the name has the part between dots, as "model.layers.11.mlp" has "layers.11". */
static bool has_part(const char *name, const char *part, size_t length)
{
    for (const char *at = name; *at; at++) {
        const bool begins = at == name || at[-1] == '.';
        if (begins && strncmp(at, part, length) == 0 && (!at[length] || at[length] == '.'))
            return true;
    }
    return false;
}

static bool has_one_of(const char *name, const char *parts)
{
    while (parts && *parts) {
        const size_t length = strcspn(parts, ",");
        if (length > 0 && has_part(name, parts, length))
            return true;
        parts += length + (parts[length] == ',');
    }
    return false;
}

bool tuning_widens(const struct tuning *tuning)
{
    return !tuning->lora_dtype || strcmp(tuning->lora_dtype, LORA_MODEL) != 0;
}

double tuning_dropout(const struct tuning *tuning)
{
    return tuning->lora_dropout ? strtod(tuning->lora_dropout, NULL) : 0;
}

void tuning_apply(const struct tuning *tuning, struct layer *layer)
{
    if (tuning->attention && (layer->kind->traits & TRAIT_regroups))
        layer->fields.eager = name_list_has(EAGER, tuning->attention);
    if (tuning->lora > 0 && has_one_of(layer->name, ADAPTER)) {
        layer->is_float32 = tuning_widens(tuning);
        return;
    }
    if (tuning->quantize && layer->kind->parameters == parameters_linear && !layer->fields.tied &&
        !has_one_of(layer->name, HEADS))
        layer->quantization = *quantization_find(tuning->quantize);
    if (tuning->lora > 0 || tuning->trains)
        layer->frozen = !has_one_of(layer->name, tuning->trains);
    layer->frozen |= layer->quantization != QUANTIZATION_none;
}

bool tuning_adapts(const struct tuning *tuning, const struct layer *layer)
{
    const char *parts = tuning->lora_on ? tuning->lora_on : LORA_ON;
    return tuning->lora > 0 && layer->fields.out > 0 && layer->kind->rank == 0 &&
           (layer->kind->traits & TRAIT_low) && has_one_of(layer->name, parts);
}
