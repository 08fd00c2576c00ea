/* SPDX-License-Identifier: MIT */
/* Settings of a run; see settings.h. */
#include "settings.h"

#include <inttypes.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "analyzer/util/json_field.h"
#include "analyzer/util/name_list.h"
#include "common/numbers.h"
#include "common/sim_spec.h"

#define GPUS_MOST (1 << 20)
#define COUNT_MOST (UINT64_C(1) << 40)

struct settings settings_standard(void)
{
    struct sim_spec spec = {0};
    struct err none;
    sim_spec_parse(SIM_SPEC_ANY, &spec, &none); /* the card of a dry run that names none */
    return (struct settings){
#define SETTING(name, option, type, value, argument, standard, unit, effect) .name = value,
#include "settings.def"
        .training = true, .cores = {spec.capability_major, (uint64_t)spec.processor_count}};
}

static int take_COUNT(const json_t *value, uint64_t *count, struct err *err)
{
    return json_take_integer(value, 1, COUNT_MOST, count, err);
}

static int take_DTYPE(const json_t *value, enum dtype *dtype, struct err *err)
{
    const char *text;
    return json_take_text(value, &text, err) || dtype_parse(text, dtype, err) ? -1 : 0;
}

int settings_parse_autocast(const char *text, enum dtype *dtype, struct err *err)
{
    enum dtype parsed;
    if (dtype_parse(text, &parsed, err))
        return -1;
    if (dtype_bytes(parsed) < DTYPE_FP32_BYTES) {
        *dtype = parsed;
        return 0;
    }
    return err_set(err, ERR_USAGE, "autocast has a type of 16 bit, bfloat16 or float16, not %s",
                   dtype_name(parsed));
}

static int take_AUTOCAST(const json_t *value, enum dtype *dtype, struct err *err)
{
    const char *text;
    return json_take_text(value, &text, err) || settings_parse_autocast(text, dtype, err) ? -1 : 0;
}

#define EVERY "every-"

int settings_parse_checkpoints(const char *text, struct checkpointing *checkpointing,
                               struct err *err)
{
    const bool is_every = strncmp(text, EVERY, strlen(EVERY)) == 0;
    const char *digits = is_every ? text + strlen(EVERY) : text;
    char *end = NULL;
    if (strcmp(text, "selective") == 0) {
        *checkpointing = (struct checkpointing){.together = 1, .selective = true};
        return 0;
    }
    errno = 0;
    const unsigned long long count =
        *digits >= '0' && *digits <= '9' ? strtoull(digits, &end, 10) : 0;
    if (count == 0 || errno || *end || count > COUNT_MOST)
        return err_set(err, ERR_USAGE,
                       "'%.40s' is not a number of blocks from 1 on, nor selective or every-2",
                       text);
    *checkpointing =
        (struct checkpointing){.together = is_every ? 1 : count, .every = is_every ? count : 1};
    return 0;
}

static int take_CHECKPOINTS(const json_t *value, struct checkpointing *checkpointing,
                            struct err *err)
{
    if (json_is_string(value))
        return settings_parse_checkpoints(json_string_value(value), checkpointing, err);
    *checkpointing = (struct checkpointing){0};
    return json_take_integer(value, 1, COUNT_MOST, &checkpointing->together, err);
}

static int take_OPTIMIZER(const json_t *value, enum optimizer *optimizer, struct err *err)
{
    const char *text;
    return json_take_text(value, &text, err) || optimizer_parse(text, optimizer, err) ? -1 : 0;
}

static int take_OTHER_DTYPE(const json_t *value, enum dtype *dtype, struct err *err)
{
    return take_DTYPE(value, dtype, err);
}

static const char *const logits_names[] = {
    [LOGITS_kept] = "kept", [LOGITS_dropped] = "dropped", [LOGITS_chunked] = "chunked"};

const char *logits_name(enum logits logits)
{
    return logits_names[logits];
}

int settings_parse_logits(const char *text, enum logits *logits, struct err *err)
{
    for (int i = LOGITS_kept; i <= LOGITS_chunked; i++) {
        if (name_list_has(logits_names[i], text)) {
            *logits = (enum logits)i;
            return 0;
        }
    }
    return err_set(err, ERR_USAGE, "must be kept, dropped or chunked, not '%.40s'", text);
}

static int take_LOGITS(const json_t *value, enum logits *logits, struct err *err)
{
    const char *text;
    return json_take_text(value, &text, err) || settings_parse_logits(text, logits, err) ? -1 : 0;
}

/* Reads a number of a release. Returns the first byte after it; NULL: there is none. */
static const char *part_read(const char *text, uint64_t *part)
{
    enum { PART_MOST = 99 };
    const char *end = digits_read(text, part);
    return end > text && *part <= PART_MOST ? end : NULL;
}

int settings_parse_release(const char *text, uint64_t *release, struct err *err)
{
    uint64_t major = 0, minor = 0;
    const char *end = part_read(text, &major);
    end = end && *end == '.' ? part_read(end + 1, &minor) : NULL;
    if (!end || (*end && *end != '.' && *end != '+') || major == 0)
        return err_set(err, ERR_USAGE, "'%.40s' is not a release, for example 1.13 or 2.0.1", text);
    *release = 100 * major + minor;
    return 0;
}

static int take_RELEASE(const json_t *value, uint64_t *release, struct err *err)
{
    const char *text;
    return json_take_text(value, &text, err) || settings_parse_release(text, release, err) ? -1 : 0;
}

bool settings_before(const struct settings *settings, enum release release)
{
    return settings->torch > 0 && settings->torch < release;
}

enum optimizer settings_optimizer(const struct settings *settings)
{
    const enum optimizer own = settings->optimizer;
    const bool is_adam = own == OPTIMIZER_adam || own == OPTIMIZER_adamw;
    return settings_before(settings, TORCH_foreach) && is_adam ? OPTIMIZER_adamw_loop : own;
}

static int take_PARALLEL(const json_t *value, enum parallel *parallel, struct err *err)
{
    const char *text;
    return json_take_text(value, &text, err) || parallel_parse(text, parallel, err) ? -1 : 0;
}

static int take_RESHARD(const json_t *value, enum reshard *reshard, struct err *err)
{
    const char *text;
    return json_take_text(value, &text, err) || reshard_parse(text, reshard, err) ? -1 : 0;
}

int settings_take(struct settings *settings, const char *key, const json_t *value, struct err *err)
{
#define SETTING(name, option, type, standard_value, argument, standard, unit, effect)              \
    if (strcmp(key, #name) == 0)                                                                   \
        return take_##type(value, &settings->name, err);
#include "settings.def"
    return strcmp(key, "training") == 0 ? json_take_flag(value, &settings->training, err) : 1;
}

static int fail_needs(struct err *err, const char *option, const char *what)
{
    return err_set(err, ERR_USAGE, "option '--%s' needs %s", option, what);
}

/*
 * Refuses optimizers whose states depend on the shape of a whole
 * matrix, because a rank has rows only.
 */
static int check_units(const struct settings *settings, struct err *err)
{
    if (settings->training && optimizer_kind(settings->optimizer)->kind != OPTIMIZER_STATE_alike)
        return err_set(err, ERR_USAGE,
                       "%s with FSDP is not estimated: its states follow a matrix's whole shape",
                       optimizer_kind(settings->optimizer)->text);
    if (settings->checkpointing.together > 1)
        return err_set(err, ERR_USAGE,
                       "--checkpointing=%" PRIu64
                       " with FSDP is not estimated: only 1, a unit at a time",
                       settings->checkpointing.together);
    return 0;
}

/* Refuses what was not measured in the form that it had before PyTorch 2.0. */
static int check_release(const struct settings *settings, struct err *err)
{
    const struct optimizer_kind *kind = optimizer_kind(settings_optimizer(settings));
    const enum parallel parallel = settings->parallel;
    if (!settings_before(settings, TORCH_foreach) || !settings->training)
        return 0;
    if (parallel != PARALLEL_none && parallel != PARALLEL_ddp && parallel != PARALLEL_ddp_view)
        return err_set(err, ERR_USAGE, "before PyTorch 2.0 only --parallel=ddp is estimated");
    if (kind->whole == 0)
        return 0;
    return err_set(err, ERR_USAGE, "before PyTorch 2.0, %.*s without foreach is not estimated",
                   (int)strcspn(kind->text, ","), kind->text);
}

int settings_check(const struct settings *settings, struct err *err)
{
    const bool has_units = parallel_has_units(settings->parallel);
    const bool is_flat = parallel_kind(settings->parallel)->weights == WEIGHTS_flat;
    if (settings->gpus > 1 && settings->parallel == PARALLEL_none)
        return fail_needs(err, "gpus",
                          "--parallel=HOW: the way in which GPUs share the work, as ddp or fsdp2");
    if (settings->gpus < 2 && settings->parallel != PARALLEL_none)
        return fail_needs(err, "parallel", "--gpus=N, 2 or more");
    if (settings->gpus > GPUS_MOST)
        return err_set(err, ERR_USAGE, "--gpus is at most %d", GPUS_MOST);
    if (settings->gpus < 2 && settings->nccl_bytes > 0)
        return fail_needs(err, "nccl", "--gpus=N, 2 or more");
    if (!has_units && !parallel_has_master(settings->parallel) &&
        settings->param_dtype != DTYPE_COUNT)
        return fail_needs(err, "param-dtype", "--parallel=fsdp2, or another that shares weights");
    if (!has_units && settings->reduce_dtype != DTYPE_COUNT)
        return fail_needs(err, "reduce-dtype", "--parallel=fsdp2");
    if (is_flat && (settings->reshard == RESHARD_always || settings->reshard == RESHARD_but_last))
        return fail_needs(
            err, "reshard",
            "auto or never with --parallel=fsdp1: as FULL_SHARD or SHARD_GRAD_OP have it");
    if (!has_units && settings->reshard != RESHARD_auto)
        return fail_needs(err, "reshard", "--parallel=fsdp2");
    return check_release(settings, err) || (has_units && check_units(settings, err)) ? -1 : 0;
}
