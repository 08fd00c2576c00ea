/* SPDX-License-Identifier: MIT */
/*
 * Opening a model description: which reader it is for, and what holds for every model whatever its
 * source. It must not know the fields of any format.
 */
#include "model.h"

#include <errno.h>
#include <jansson.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

struct settings settings_standard(void)
{
    return (struct settings){
        .batch = 1, .dtype = DTYPE_float32, .optimizer = OPTIMIZER_adamw, .training = true};
}

void model_release(struct model *model)
{
    free(model->name);
    free(model->layers);
    *model = (struct model){0};
}

/* --- resolving --- */

static int check_place(const struct model *model, const struct layer *layer, struct err *err)
{
    bool last = layer->index + 1 == model->layer_count;
    if ((layer->kind->traits & TRAIT_loss) && !last)
        return layer_fail(layer, NULL, err, "a loss has to be the last layer");
    if ((layer->kind->traits & TRAIT_ids) && layer->index > 0)
        return layer_fail(layer, NULL, err, "reads integer ids, so it has to be the first layer");
    return 0;
}

/* For a batch of 1, in the widest type: what overflows here can never be counted. */
static int check_size(const struct layer *layer, struct err *err)
{
    struct tensors tensors = {0};
    struct checked *checked = &tensors.checked;
    uint64_t elements = shape_elements(&layer->output, checked);
    checked_mul(checked, elements, DTYPE_INT64_BYTES);
    layer->kind->parameters(layer, DTYPE_float64, &tensors);
    tensors_bytes(&tensors, CATEGORY_parameters);
    return tensors.checked.overflow ? layer_fail_overflow(layer, err) : 0;
}

int model_resolve(struct model *model, struct err *err)
{
    const struct shape *input = &model->input;
    for (size_t i = 0; i < model->layer_count; i++) {
        struct layer *layer = &model->layers[i];
        layer->input = *input;
        if (check_place(model, layer, err) ||
            layer->kind->shape(layer, input, &layer->output, err) || check_size(layer, err))
            return -1;
        input = &layer->output;
    }
    return 0;
}

/* --- opening --- */

static int check_file(const char *path, struct err *err)
{
    struct stat status;
    if (stat(path, &status)) {
        err_set(err, ERR_INPUT, "%s: %s", path, strerror(errno));
        return -1;
    }
    if (S_ISDIR(status.st_mode)) {
        err_set(err, ERR_INPUT, "%s: is a directory, not a model description", path);
        return -1;
    }
    if (S_ISREG(status.st_mode) && status.st_size > MODEL_FILE_MOST_BYTES) {
        err_set(err, ERR_INPUT, "%s: is larger than any model description (%d MiB)", path,
                MODEL_FILE_MOST_BYTES >> 20);
        return -1;
    }
    return 0;
}

static json_t *load(const char *path, struct err *err)
{
    json_error_t problem;
    if (check_file(path, err))
        return NULL;
    json_t *root = json_load_file(path, JSON_REJECT_DUPLICATES, &problem);
    if (!root && problem.line > 0)
        err_set(err, ERR_INPUT, "%s: not a model description: line %d: %s", path, problem.line,
                problem.text);
    else if (!root)
        err_set(err, ERR_INPUT, "%s: %s", path, problem.text);
    return root;
}

/* Which reader a description is for shows in its keys. */
static int read_any(struct model *model, json_t *root, struct err *err)
{
    if (json_is_object(root) && json_object_get(root, "model_type")) {
        err_set(err, ERR_INPUT,
                "is a Hugging Face config.json, which this version does not read; "
                "describe the model as a list of layers");
        return -1;
    }
    return layer_list_read(model, root, err);
}

int model_open(struct model *model, const char *path, struct err *err)
{
    struct err inner = {0};
    int result = -1;
    *model = (struct model){.settings = settings_standard()};
    json_t *root = load(path, err);
    if (!root)
        return -1;
    if (read_any(model, root, &inner) || model_resolve(model, &inner)) {
        err_set(err, inner.code, "%s: %s", path, inner.message);
        goto out;
    }
    result = 0;
out:
    json_decref(root);
    if (result)
        model_release(model);
    return result;
}
