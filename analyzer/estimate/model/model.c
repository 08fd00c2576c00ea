/* SPDX-License-Identifier: MIT */
/* Models from any reader; see model.h. */
#include "model.h"

#include <stdlib.h>
#include <string.h>

#include "analyzer/util/array.h"
#include "stored.h"

void model_release(struct model *model)
{
    free(model->name);
    free(model->layers);
    free(model->registered);
    free(model->inputs);
    free(model->input_shapes);
    for (size_t i = 0; i < model->note_count; i++)
        free(model->notes[i]);
    stored_free(model->stored);
    *model = (struct model){0};
}

void model_move(struct model *to, struct model *from)
{
    *to = *from;
    *from = (struct model){0};
    for (size_t i = 0; to->input_shapes && i < to->input_count; i++)
        if (to->inputs[i] == MODEL_INPUT)
            to->input_shapes[i] = &to->input;
}

int model_note(struct model *model, const char *note, struct err *err)
{
    if (model->note_count == MODEL_NOTES_MOST)
        return err_set(err, ERR_INPUT, "a model has at most %d notes", MODEL_NOTES_MOST);
    model->notes[model->note_count] = strdup(note);
    if (model->notes[model->note_count++])
        return 0;
    return err_set(err, ERR_SYSTEM, "out of memory for the model's notes");
}

/* --- resolving --- */

static bool reads_ids(const struct model *model, const struct layer *layer)
{
    const size_t source = model->inputs[layer->first_input];
    return source == MODEL_INPUT || (model->layers[source].kind->traits & TRAIT_aside);
}

static int check_place(const struct model *model, const struct layer *layer, struct err *err)
{
    bool last = layer->index + 1 == model->layer_count;
    if ((layer->kind->traits & TRAIT_loss) && !last)
        return layer_fail(layer, NULL, err, "a loss has to be the last layer");
    if ((layer->kind->traits & TRAIT_aside) && last)
        return layer_fail(layer, NULL, err, "owns a tensor only, so it cannot be the last layer");
    if ((layer->kind->traits & TRAIT_ids) && !reads_ids(model, layer))
        return layer_fail(layer, NULL, err,
                          "reads integer ids: it has to be the first layer, or to read the model's "
                          "input or 'Ids'");
    if (!(layer->kind->traits & TRAIT_many) && layer->input_count > 1)
        return layer_fail(layer, "from", err, "it reads one input, not %zu", layer->input_count);
    return 0;
}

/*
 * Checks sizes with a batch of 1 and the widest type: a model that overflows
 * then overflows with any settings.
 */
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

/* A layer's input shapes are the outputs of the layers that it reads. */
static void resolve_inputs(struct model *model, struct layer *layer)
{
    layer->inputs = model->input_shapes + layer->first_input;
    for (size_t i = 0; i < layer->input_count; i++) {
        const size_t source = model->inputs[layer->first_input + i];
        model->input_shapes[layer->first_input + i] =
            source == MODEL_INPUT ? &model->input : &model->layers[source].output;
    }
    if (layer->input_count > 0)
        layer->input = *layer->inputs[0];
}

int model_resolve(struct model *model, struct err *err)
{
    model->input_shapes = array_new(model->input_count, sizeof *model->input_shapes, err);
    if (!model->input_shapes)
        return -1;
    for (size_t i = 0; i < model->layer_count; i++) {
        struct layer *layer = &model->layers[i];
        resolve_inputs(model, layer);
        if (check_place(model, layer, err) ||
            layer->kind->shape(layer, &layer->input, &layer->output, err) || check_size(layer, err))
            return -1;
    }
    return 0;
}
