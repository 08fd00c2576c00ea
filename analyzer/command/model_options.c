/* SPDX-License-Identifier: MIT */
/* The options of estimate and compare; see model_options.h. */
#include "model_options.h"

#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "analyzer/run/run_spec.h"

#define FIELD(name) offsetof(struct model_options, name)

/* `estimate` takes all rules, `compare` takes the rules from index MODEL_RULES on. */
enum { MODEL_RULES = 2 };
#define OPTION_OF_COUNT OPTION_COUNT
#define OPTION_OF_WORDS OPTION_TEXT
#define OPTION_OF_DIMENSION OPTION_TEXT
#define OPTION_OF_DTYPE OPTION_TEXT
#define OPTION_OF_AUTOCAST OPTION_TEXT
#define OPTION_OF_OPTIMIZER OPTION_TEXT
#define OPTION_OF_CHECKPOINTS OPTION_TEXT
#define OPTION_OF_OTHER_DTYPE OPTION_TEXT
#define OPTION_OF_PARALLEL OPTION_TEXT
#define OPTION_OF_RESHARD OPTION_TEXT
#define OPTION_OF_LOGITS OPTION_TEXT
#define OPTION_OF_RELEASE OPTION_TEXT
static const struct option_rule rules[] = {
    {"gpu", 0, OPTION_TEXT, "CARD",
     "answer whether the model fits this card, and what would make it fit; a size or a name, "
     "for example 24GiB, a100-80, h100 (see 'gpumemtrace help cards')",
     FIELD(gpu)},
    {"what-if", 0, OPTION_FLAG, NULL,
     "list the saving and the price of each technique that saves memory", FIELD(what_if)},
#define SETTING(name, option, type, value, argument, standard, unit, effect)                       \
    {                                                                                              \
        option,                                                                                    \
        0,                                                                                         \
        OPTION_OF_##type,                                                                          \
        argument,                                                                                  \
        effect " (default the model's, else " standard ")",                                        \
        FIELD(name)},
#include "analyzer/estimate/model/settings.def"
#define TUNING(name, type, option, argument, standard, unit, effect)                               \
    {option, 0, OPTION_OF_##type, argument, effect " (default " standard ")", FIELD(name)},
#include "analyzer/estimate/model/tuning.def"
    {"inference", 0, OPTION_FLAG, NULL, "no gradients and no optimizer", FIELD(inference)},
    {"set", 0, OPTION_TEXT, "NAME=VALUE,…",
     "dimensions of the model, for example sequence=4096 or architecture=LlamaModel", FIELD(set)},
    {"workspace", 0, OPTION_SIZE, "SIZE",
     "memory that libraries keep as workspace (default not counted)", FIELD(workspace_bytes)},
    {"nccl", 0, OPTION_SIZE, "SIZE",
     "memory that NCCL keeps on each of several GPUs (default not counted)", FIELD(nccl_bytes)},
    {"context", 0, OPTION_SIZE, "SIZE", "memory of the CUDA context (default not counted)",
     FIELD(context_bytes)},
    {"layers", 0, OPTION_FLAG, NULL, "show the whole table of layers", FIELD(layers)},
    {"tensors", 0, OPTION_FLAG, NULL, "show every parameter and buffer by name and shape",
     FIELD(tensors)},
    {0},
};

/* --- the meaning of the options --- */

static int apply_COUNT(long given, uint64_t *count, struct err *err)
{
    (void)err; /* the parser accepted only integers from 1 on */
    if (given > 0)
        *count = (uint64_t)given;
    return 0;
}

static int apply_DTYPE(const char *given, enum dtype *dtype, struct err *err)
{
    return given ? dtype_parse(given, dtype, err) : 0;
}

static int apply_AUTOCAST(const char *given, enum dtype *dtype, struct err *err)
{
    return given ? settings_parse_autocast(given, dtype, err) : 0;
}

static int apply_CHECKPOINTS(const char *given, struct checkpointing *checkpointing,
                             struct err *err)
{
    return given ? settings_parse_checkpoints(given, checkpointing, err) : 0;
}

static int apply_OPTIMIZER(const char *given, enum optimizer *optimizer, struct err *err)
{
    return given ? optimizer_parse(given, optimizer, err) : 0;
}

static int apply_OTHER_DTYPE(const char *given, enum dtype *dtype, struct err *err)
{
    return apply_DTYPE(given, dtype, err);
}

static int apply_LOGITS(const char *given, enum logits *logits, struct err *err)
{
    return given ? settings_parse_logits(given, logits, err) : 0;
}

static int apply_RELEASE(const char *given, uint64_t *release, struct err *err)
{
    return given ? settings_parse_release(given, release, err) : 0;
}

static int apply_PARALLEL(const char *given, enum parallel *parallel, struct err *err)
{
    return given ? parallel_parse(given, parallel, err) : 0;
}

static int apply_RESHARD(const char *given, enum reshard *reshard, struct err *err)
{
    return given ? reshard_parse(given, reshard, err) : 0;
}

/* Applies the options over the model file's settings. Fails with ERR_USAGE if a name is unknown. */
static int apply(const struct model_options *options, struct settings *settings, struct err *err)
{
    struct err reason;
    settings->training = settings->training && !options->inference;
    settings->workspace_bytes = options->workspace_bytes;
    settings->nccl_bytes = options->nccl_bytes;
    settings->stages =
        options->pipeline_parallel ? strtoull(options->pipeline_parallel, NULL, 10) : 1;
#define SETTING(name, option, type, value, argument, standard, unit, effect)                       \
    if (apply_##type(options->name, &settings->name, &reason)) {                                   \
        err_set(err, ERR_USAGE, "option '--" option "': %s", reason.message);                      \
        return -1;                                                                                 \
    }
#include "analyzer/estimate/model/settings.def"
    settings->optimizer = settings_optimizer(settings);
    return 0;
}

static uint64_t tuned_COUNT(long given)
{
    return given > 0 ? (uint64_t)given : 0;
}

static const char *tuned_WORDS(const char *given)
{
    return given;
}

static const char *tuned_DIMENSION(const char *given)
{
    return given;
}

static struct tuning tuning_of(const struct model_options *options)
{
    return (struct tuning){
#define TUNING(name, type, option, argument, standard, unit, effect)                               \
    .name = tuned_##type(options->name),
#include "analyzer/estimate/model/tuning.def"
    };
}

/* Applies a card. It adds two sizes that the estimate leaves out without a card: the context, and
 * cuBLAS's workspace on that card. */
static int apply_card(struct model_options *own, struct card *card, struct question *question,
                      struct err *err)
{
    struct sim_spec spec;
    struct err reason;
    question->limit_bytes = QUESTION_UNLIMITED;
    if (!own->gpu)
        return 0;
    if (run_spec_parse(own->gpu, &spec, &reason) || card_make(card, &spec, own->gpu, &reason))
        return err_set(err, ERR_USAGE, "option '--gpu': %s", reason.message);
    if (own->context_bytes != ESTIMATE_CONTEXT_UNKNOWN)
        card->context_bytes = own->context_bytes;
    own->context_bytes = card->context_bytes;
    card->nccl_bytes = question->settings.nccl_bytes;
    if (question->settings.workspace_bytes == 0)
        question->settings.workspace_bytes = card->workspace_bytes;
    question->settings.cores = card->cores;
    question->limit_bytes = card_free_bytes(card);
    return 0;
}

/* --- a file of options --- */

#define MODEL_KEY "model"

static bool is_of_options(const json_t *root)
{
    return json_is_string(json_object_get(root, MODEL_KEY)) && !json_object_get(root, "schema") &&
           !json_object_get(root, "model_type");
}

/* Returns the path relative to the folder of `file`. Keeps a bare name if there is no such file,
 * because such a name means a built-in model. */
static char *path_beside(const char *file, const char *path)
{
    const char *slash = strrchr(file, '/');
    char *joined = NULL;
    const int folder = *path == '/' || !slash ? 0 : (int)(slash - file + 1);
    if (asprintf(&joined, "%.*s%s", folder, file, path) < 0)
        return NULL;
    if (strchr(path, '/') || !access(joined, F_OK))
        return joined;
    free(joined);
    return strdup(path);
}

/* Turns an integer in JSON into a string, because the command line also allows words for this
 * option. */
static int spell_count(json_t *root, const char *key, struct err *err)
{
    const json_t *value = json_object_get(root, key);
    if (!json_is_integer(value) ||
        !json_object_set_new(root, key,
                             json_sprintf("%" JSON_INTEGER_FORMAT, json_integer_value(value))))
        return 0;
    return err_set(err, ERR_SYSTEM, "out of memory for the options");
}

static int open_named(struct model_asked *asked, const char *path, struct err *err)
{
    struct err reason = {0};
    asked->file = asked->source;
    asked->source = (struct model_source){0};
    if (spell_count(asked->file.root, "checkpointing", err))
        return -1;
    if (options_of_json(rules, &asked->own, asked->file.root, MODEL_KEY, &reason))
        return err_set(err, reason.code, "%s: %s", asked->file.name, reason.message);
    asked->path =
        path_beside(path, json_string_value(json_object_get(asked->file.root, MODEL_KEY)));
    if (asked->path)
        return model_source_open(&asked->source, asked->path, err);
    return err_set(err, ERR_SYSTEM, "out of memory for the model's path");
}

/* --- the whole command --- */

int model_asked_open(struct model_asked *asked, const char *path, struct err *err)
{
    *asked = (struct model_asked){.own = MODEL_OPTIONS_NONE};
    if (model_source_open(&asked->source, path, err))
        return -1;
    return is_of_options(asked->source.root) ? open_named(asked, path, err) : 0;
}

/* Estimates serving. The model was read for its settings only; each serving pass makes its own
 * model. */
static int estimate_serving(struct model_asked *asked, struct err *err)
{
    struct question *question = &asked->question;
    if (question->settings.parallel != PARALLEL_none)
        return err_set(err, ERR_USAGE, "option '--kv-cache' is of one GPU: it has no --parallel");
    question->settings.training = false;
    model_release(&asked->model);
    return serving_make(&asked->serving, &asked->source, &question->request, &question->settings,
                        true, &asked->model, &asked->estimate, err);
}

int model_asked_estimate(struct model_asked *asked, struct err *err)
{
    struct question *question = &asked->question;
    *question =
        (struct question){.source = &asked->source,
                          .request = {.set = asked->own.set,
                                      .inference = asked->own.inference || asked->own.kv_cache,
                                      .tuning = tuning_of(&asked->own)},
                          .model = &asked->model};
    if (tuning_check(&question->request.tuning, err) ||
        model_make(&asked->model, &asked->source, &question->request, err))
        return -1;
    question->settings = asked->model.settings;
    if (apply(&asked->own, &question->settings, err) || settings_check(&question->settings, err) ||
        apply_card(&asked->own, &asked->card, question, err))
        return -1;
    return question->request.tuning.kv_cache
               ? estimate_serving(asked, err)
               : estimate_make(&asked->estimate, &asked->model, &question->settings, err);
}

void model_asked_release(struct model_asked *asked)
{
    estimate_release(&asked->estimate);
    model_release(&asked->model);
    model_source_release(&asked->source);
    model_source_release(&asked->file);
    free(asked->path);
    *asked = (struct model_asked){0};
}

/* Parses the options twice: once to find the operand, and once more to override the options that
 * the operand's file may hold. */
int model_command(const struct command *command, int argc, char **argv, int operand,
                  model_print *print, model_print *print_weights, struct err *err)
{
    const struct option_rule *own_rules = operand ? rules + MODEL_RULES : rules;
    struct model_options first = MODEL_OPTIONS_NONE;
    struct command_options options;
    struct model_asked asked = {0};
    int result = -1;
    if (options_parse(&options, command, own_rules, &first, argc, argv, err) ||
        model_asked_open(&asked, options.operands[operand], err) ||
        options_parse(&asked.options, command, own_rules, &asked.own, argc, argv, err))
        goto out;
    if (print_weights && asked.source.weights.format && !asked.source.root)
        result = print_weights(&asked, err);
    else if (!model_asked_estimate(&asked, err))
        result = print(&asked, err);
out:
    model_asked_release(&asked);
    return result;
}
