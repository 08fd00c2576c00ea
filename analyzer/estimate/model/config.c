/* SPDX-License-Identifier: MIT */
/* From a config to a model; see config.h. */
#include "config.h"

#include <stdlib.h>
#include <string.h>

#include "analyzer/util/json_field.h"
#include "families.h"
#include "layer_list.h"

static int take_config_dtype(struct model *model, const json_t *config, struct err *err)
{
    static const char *const keys[] = {"dtype", "torch_dtype"};
    for (size_t i = 0; i < sizeof keys / sizeof *keys; i++) {
        const json_t *dtype = json_object_get(config, keys[i]);
        struct err inner = {0};
        const char *text;
        if (!dtype || json_is_null(dtype))
            continue;
        if (!json_take_text(dtype, &text, &inner) &&
            !dtype_parse(text, &model->settings.dtype, &inner))
            return 0;
        return err_set(err, ERR_INPUT, "field '%s': %s", keys[i], inner.message);
    }
    return 0;
}

/*
 * Returns the word of --quantize for the config's format of bitsandbytes. NULL: the config has no
 * format, or an unknown one.
 */
static const char *config_quantization(const json_t *config)
{
    const json_t *quantization = json_object_get(config, "quantization_config");
    const char *method = json_string_value(json_object_get(quantization, "quant_method"));
    if (method && strcmp(method, "bitsandbytes") != 0)
        return NULL;
    if (json_is_true(json_object_get(quantization, "load_in_8bit")))
        return "int8";
    if (!json_is_true(json_object_get(quantization, "load_in_4bit")))
        return NULL;
    return json_is_true(json_object_get(quantization, "bnb_4bit_use_double_quant")) ? "nf4-dq"
                                                                                    : "nf4";
}

static int note_quantization(struct model *model, const json_t *config, struct err *err)
{
    char shown[JSON_SHOWN_BYTES];
    const json_t *quantization = json_object_get(config, "quantization_config");
    if (quantization && !json_is_object(quantization) && !json_is_null(quantization))
        return err_set(err, ERR_INPUT, "field 'quantization_config' must be an object, not %s",
                       json_shown(quantization, shown));
    return json_is_object(quantization) && !config_quantization(config)
               ? model_note(model,
                            "Not modelled: quantization_config. Weights are counted with the "
                            "config's element type, so as more bytes than they are.",
                            err)
               : 0;
}

static int name_model(struct model *model, const char *name, struct err *err)
{
    free(model->name);
    model->name = strdup(name);
    if (model->name)
        return 0;
    return err_set(err, ERR_SYSTEM, "out of memory for the model's name");
}

static int take_config_name(struct model *model, const json_t *config, struct err *err)
{
    const char *path = json_string_value(json_object_get(config, "_name_or_path"));
    const char *class =
        json_string_value(json_array_get(json_object_get(config, "architectures"), 0));
    const char *type = json_string_value(json_object_get(config, "model_type"));
    return name_model(model, path && *path ? path : class ? class : type, err);
}

/* Reads a config by the rules of its family. */
static int read_family(struct model *model, json_t *family, const json_t *config,
                       struct given given, struct err *err)
{
    given.config = config;
    if (!given.tuning.quantize)
        given.tuning.quantize = config_quantization(config);
    return layer_list_read(model, family, &given, err) || take_config_dtype(model, config, err) ||
                   note_quantization(model, config, err)
               ? -1
               : 0;
}

int config_read_named(struct model *model, json_t *family, const json_t *config, const char *name,
                      struct given given, struct err *err)
{
    given.is_named = true;
    int result = read_family(model, family, config, given, err) || name_model(model, name, err);
    model->kind = "name";
    return result ? -1 : 0;
}

/* --- models that read more than text --- */

/* Returns the family's class that writes text. If there is none, returns its first class, which is
 * the base model. */
static const char *writing_class(const json_t *family)
{
    const json_t *classes = json_object_get(family, "architectures");
    for (size_t i = 0; i < json_array_size(classes); i++) {
        const char *class = json_string_value(json_array_get(classes, i));
        if (class && strstr(class, "ForCausalLM"))
            return class;
    }
    return json_string_value(json_array_get(classes, 0));
}

/*
 * Returns the config's text part as a separate config, with those outer keys that hold for the
 * whole model. A new reference; NULL: no memory.
 */
static json_t *text_part(const json_t *config, const json_t *family)
{
    static const char *const around[] = {"dtype", "torch_dtype", "quantization_config",
                                         "_name_or_path", "tie_word_embeddings"};
    json_t *text = json_copy(json_object_get(config, "text_config"));
    int result =
        json_object_get(text, "architectures")
            ? 0
            : json_object_set_new(text, "architectures", json_pack("[s]", writing_class(family)));
    for (size_t i = 0; i < sizeof around / sizeof *around; i++) {
        json_t *outer = json_object_get(config, around[i]);
        if (outer && !json_is_null(outer))
            result |= json_object_set(text, around[i], outer);
    }
    if (!result)
        return text;
    json_decref(text);
    return NULL;
}

static int read_text_part(struct model *model, json_t *family, const json_t *config,
                          struct given given, struct err *err)
{
    json_t *text = text_part(config, family);
    if (!text)
        return err_set(err, ERR_SYSTEM, "out of memory for the config");
    struct err inner = {0};
    int result = read_family(model, family, text, given, &inner);
    if (result)
        err_set(err, inner.code, "text_config: %s", inner.message);
    result =
        result || take_config_name(model, text, err) ||
        model_note(model,
                   "Only text_config is counted: what reads images or sound is not modelled.", err);
    json_decref(text);
    return result ? -1 : 0;
}

/* --- the whole --- */

/* Returns the family of the config's model_type. If there is none, returns the family of its
 * text_config's model_type. A new reference. */
static json_t *open_family(const json_t *config, bool *of_text, struct err *err)
{
    const char *type;
    struct err inner = {0}, none = {0};
    if (json_take_text(json_object_get(config, "model_type"), &type, &inner)) {
        err_set(err, ERR_INPUT, "field 'model_type' %s", inner.message);
        return NULL;
    }
    const char *text_type =
        json_string_value(json_object_get(json_object_get(config, "text_config"), "model_type"));
    json_t *family = family_open(type, &inner);
    *of_text =
        !family && inner.code == ERR_INPUT && text_type && (family = family_open(text_type, &none));
    if (none.code == ERR_SYSTEM)
        inner = none;
    if (!family)
        *err = inner;
    return family;
}

int config_check(const json_t *config, struct err *err)
{
    bool of_text = false;
    json_t *family = open_family(config, &of_text, err);
    json_decref(family);
    return family ? 0 : -1;
}

int config_read(struct model *model, const json_t *config, struct given given, struct err *err)
{
    bool of_text = false;
    json_t *family = open_family(config, &of_text, err);
    int result = -1;
    if (of_text && family)
        result = read_text_part(model, family, config, given, err);
    else if (family)
        result =
            read_family(model, family, config, given, err) || take_config_name(model, config, err);
    model->kind = "config.json";
    json_decref(family);
    return result ? -1 : 0;
}
