/* SPDX-License-Identifier: MIT */
/* The changes of techniques.def; see techniques.h. */
#include "techniques.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

/* --- settings of the run --- */

void technique_batch(struct variant *variant, uint64_t batch, char how[TECHNIQUE_HOW_BYTES])
{
    variant->settings.batch = batch;
    snprintf(how, TECHNIQUE_HOW_BYTES, "--batch=%" PRIu64, batch);
}

static bool halve_sequences(struct variant *variant, char how[TECHNIQUE_HOW_BYTES])
{
    struct tuning *tuning = &variant->tuning;
    const uint64_t now = tuning->sequences ? tuning->sequences : variant->settings.batch;
    if (now < 2)
        return false;
    tuning->sequences = now / 2;
    snprintf(how, TECHNIQUE_HOW_BYTES, "--sequences=%" PRIu64, tuning->sequences);
    return true;
}

static bool change_paged(struct variant *variant, char how[TECHNIQUE_HOW_BYTES])
{
    if (!variant->tuning.kv_cache || variant->tuning.page)
        return false;
    if (!variant->tuning.sequences)
        variant->tuning.sequences = variant->settings.batch;
    variant->settings.batch = 1;
    variant->tuning.page = 16;
    snprintf(how, TECHNIQUE_HOW_BYTES, "--page=16 --batch=1 --sequences=%" PRIu64,
             variant->tuning.sequences);
    return true;
}

static bool change_cache8(struct variant *variant, char how[TECHNIQUE_HOW_BYTES])
{
    if (!variant->tuning.page || variant->tuning.kv_dtype)
        return false;
    variant->tuning.kv_dtype = "float8";
    snprintf(how, TECHNIQUE_HOW_BYTES, "--kv-dtype=float8");
    return true;
}

static bool change_batch(struct variant *variant, char how[TECHNIQUE_HOW_BYTES])
{
    if (variant->tuning.kv_cache)
        return halve_sequences(variant, how);
    if (variant->settings.batch < 2)
        return false;
    technique_batch(variant, variant->settings.batch / 2, how);
    return true;
}

static bool change_half(struct variant *variant, char how[TECHNIQUE_HOW_BYTES])
{
    if (dtype_bytes(variant->settings.dtype) <= dtype_bytes(DTYPE_bfloat16))
        return false;
    variant->settings.dtype = DTYPE_bfloat16;
    snprintf(how, TECHNIQUE_HOW_BYTES, "--dtype=bfloat16");
    return true;
}

static bool change_no_grad(struct variant *variant, char how[TECHNIQUE_HOW_BYTES])
{
    if (!variant->settings.training)
        return false;
    variant->settings.training = false;
    snprintf(how, TECHNIQUE_HOW_BYTES, "--inference");
    return true;
}

static bool change_checkpointing(struct variant *variant, char how[TECHNIQUE_HOW_BYTES])
{
    if (!variant->settings.training || variant->settings.checkpointing.together)
        return false;
    variant->settings.checkpointing = (struct checkpointing){.together = 1};
    snprintf(how, TECHNIQUE_HOW_BYTES, "--checkpointing=1");
    return true;
}

static bool change_chunked(struct variant *variant, char how[TECHNIQUE_HOW_BYTES])
{
    if (!variant->settings.training || variant->settings.logits == LOGITS_chunked)
        return false;
    variant->settings.logits = LOGITS_chunked;
    snprintf(how, TECHNIQUE_HOW_BYTES, "--logits=chunked");
    return true;
}

static bool change_selective(struct variant *variant, char how[TECHNIQUE_HOW_BYTES])
{
    if (!variant->settings.training || variant->settings.checkpointing.together)
        return false;
    variant->settings.checkpointing = (struct checkpointing){.together = 1, .selective = true};
    snprintf(how, TECHNIQUE_HOW_BYTES, "--checkpointing=selective");
    return true;
}

static bool change_amp(struct variant *variant, char how[TECHNIQUE_HOW_BYTES])
{
    if (variant->settings.amp != DTYPE_float32 || variant->settings.dtype != DTYPE_float32)
        return false;
    variant->settings.amp = DTYPE_bfloat16;
    snprintf(how, TECHNIQUE_HOW_BYTES, "--amp=bfloat16");
    return true;
}

static bool change_lora(struct variant *variant, char how[TECHNIQUE_HOW_BYTES])
{
    if (!variant->settings.training || variant->tuning.lora)
        return false;
    variant->tuning.lora = 8;
    snprintf(how, TECHNIQUE_HOW_BYTES, "--lora=8");
    return true;
}

static bool change_qlora(struct variant *variant, char how[TECHNIQUE_HOW_BYTES])
{
    if (!variant->settings.training || variant->tuning.quantize)
        return false;
    variant->tuning.lora = variant->tuning.lora ? variant->tuning.lora : 8;
    variant->tuning.quantize = "nf4-dq";
    snprintf(how, TECHNIQUE_HOW_BYTES, "--lora=%" PRIu64 " --quantize=nf4-dq",
             variant->tuning.lora);
    return true;
}

/* --- optimizers --- */

static bool use_optimizer(struct variant *variant, enum optimizer optimizer,
                          char how[TECHNIQUE_HOW_BYTES])
{
    const char *names = optimizer_kind(optimizer)->names;
    variant->settings.optimizer = optimizer;
    snprintf(how, TECHNIQUE_HOW_BYTES, "--optimizer=%.*s", (int)strcspn(names, ","), names);
    return true;
}

/* Uses the optimizer if it has fewer states than the current one. */
static bool use_smaller(struct variant *variant, enum optimizer optimizer,
                        char how[TECHNIQUE_HOW_BYTES])
{
    const struct optimizer_kind *now = optimizer_kind(variant->settings.optimizer);
    return variant->settings.training && optimizer_kind(optimizer)->states < now->states &&
           use_optimizer(variant, optimizer, how);
}

static bool change_fused(struct variant *variant, char how[TECHNIQUE_HOW_BYTES])
{
    const enum optimizer now = variant->settings.optimizer;
    if (!variant->settings.training || (now != OPTIMIZER_adam && now != OPTIMIZER_adamw))
        return false;
    return use_optimizer(variant,
                         now == OPTIMIZER_adam ? OPTIMIZER_adam_fused : OPTIMIZER_adamw_fused, how);
}

/* Uses the optimizer if the current one is a kind of Adam. */
static bool replace_adam(struct variant *variant, enum optimizer optimizer,
                         char how[TECHNIQUE_HOW_BYTES])
{
    const enum optimizer now = variant->settings.optimizer;
    const bool is_adam = now == OPTIMIZER_adam || now == OPTIMIZER_adamw ||
                         now == OPTIMIZER_adam_fused || now == OPTIMIZER_adamw_fused;
    return variant->settings.training && is_adam && use_optimizer(variant, optimizer, how);
}

/* --- the model --- */

static bool change_sequence(struct variant *variant, char how[TECHNIQUE_HOW_BYTES])
{
    const uint64_t half = variant->model->sizes.sequence / 2;
    if (variant->tuning.kv_cache > 1) {
        variant->tuning.kv_cache /= 2;
        snprintf(how, TECHNIQUE_HOW_BYTES, "--kv-cache=%" PRIu64, variant->tuning.kv_cache);
        return true;
    }
    if (half == 0)
        return false;
    variant_set(variant, "sequence", half);
    snprintf(how, TECHNIQUE_HOW_BYTES, "--set=sequence=%" PRIu64, half);
    return true;
}

static bool edit(struct variant *variant, unsigned edits, const char *words,
                 char how[TECHNIQUE_HOW_BYTES])
{
    if (variant->edits & edits)
        return false;
    variant->edits |= edits;
    snprintf(how, TECHNIQUE_HOW_BYTES, "%s", words);
    return true;
}

/* Halves the dimension `image_size`, or the input's shape if there is no such dimension. */
static bool change_image(struct variant *variant, char how[TECHNIQUE_HOW_BYTES])
{
    const uint64_t half = variant->model->sizes.image_size / 2;
    if (half == 0)
        return edit(variant, EDIT_quarter, "images of half the height and width", how);
    variant_set(variant, "image_size", half);
    snprintf(how, TECHNIQUE_HOW_BYTES, "--set=image_size=%" PRIu64, half);
    return true;
}

/* --- the lists --- */

static const struct technique_row rows[] = {
#define TECHNIQUE(name, use, title, costs)                                                         \
    [TECHNIQUE_##name] = {#name, title, costs, TECHNIQUE_##use, .change = change_##name},
#define EDIT(name, use, how, title, costs)                                                         \
    [TECHNIQUE_##name] = {#name, title, costs, TECHNIQUE_##use, .edits = EDIT_##name, .words = how},
#define OPTIMIZER(name, rule, title, costs)                                                        \
    [TECHNIQUE_##name] = {#name,                                                                   \
                          title,                                                                   \
                          costs,                                                                   \
                          TECHNIQUE_REMEDY,                                                        \
                          .use_optimizer = rule,                                                   \
                          .optimizer = OPTIMIZER_##name},
#define ADVICE(name, title, words)
#include "techniques.def"
};

const struct technique_row *technique_row(enum technique technique)
{
    return &rows[technique];
}

bool technique_change(enum technique technique, struct variant *variant,
                      char how[TECHNIQUE_HOW_BYTES])
{
    const struct technique_row *row = &rows[technique];
    if (row->edits)
        return edit(variant, row->edits, row->words, how);
    return row->use_optimizer ? row->use_optimizer(variant, row->optimizer, how)
                              : row->change(variant, how);
}

const struct advice_row advice_rows[] = {
#define TECHNIQUE(name, use, title, costs)
#define EDIT(name, use, how, title, costs)
#define OPTIMIZER(name, rule, title, costs)
#define ADVICE(name, title, words) {#name, title, words},
#include "techniques.def"
};

const size_t advice_count = sizeof advice_rows / sizeof *advice_rows;
