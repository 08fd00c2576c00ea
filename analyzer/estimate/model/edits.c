/* SPDX-License-Identifier: MIT */
/* Changes layers; see edits.h. */
#include "edits.h"

#include "analyzer/estimate/layer/layer_formulas.h"
#include "analyzer/estimate/layer/layer_kinds.h"

#define IS_GIVEN(field) (UINT32_C(1) << FIELD_##field)

/* Forgets widths that the file sets, so that they are inferred from the input again. */
static void forget_widths(struct model *model)
{
    for (size_t i = 0; i < model->layer_count; i++)
        model->layers[i].given &= ~(IS_GIVEN(in) | IS_GIVEN(features) | IS_GIVEN(shape));
}

static size_t count_readers(const struct model *model, size_t layer)
{
    size_t count = 0;
    for (size_t i = 0; i < model->input_count; i++)
        count += model->inputs[i] == layer;
    return count;
}

/*
 * Returns whether nothing else needs the layer's input: no other layer reads it, and the backward
 * of the layer that made it does not use it.
 */
static bool may_overwrite(const struct model *model, const struct layer *layer)
{
    const size_t source = layer->input_count ? model->inputs[layer->first_input] : MODEL_INPUT;
    if (source == MODEL_INPUT || count_readers(model, source) != 1)
        return false;
    const struct layer_kind *maker = model->layers[source].kind;
    return !(maker->saves & SAVES_result) && !(maker->traits & TRAIT_view) &&
           !model->layers[source].fields.inplace;
}

static size_t make_inplace(struct model *model)
{
    const struct layer_kind *relu = layer_kind_find("ReLU");
    size_t count = 0;
    for (size_t i = 0; i < model->layer_count; i++) {
        struct layer *layer = &model->layers[i];
        if (layer->kind != relu || layer->fields.inplace || !may_overwrite(model, layer))
            continue;
        layer->fields.inplace = true;
        count++;
    }
    return count;
}

static size_t replace_lstm(struct model *model)
{
    const struct layer_kind *lstm = layer_kind_find("LSTM"), *gru = layer_kind_find("GRU");
    size_t count = 0;
    for (size_t i = 0; i < model->layer_count; i++) {
        struct layer *layer = &model->layers[i];
        if (layer->kind != lstm)
            continue;
        layer->kind = gru;
        count++;
    }
    return count;
}

/* The last layer is left as it is, because its width is the purpose of the model. */
static size_t halve_channels(struct model *model)
{
    size_t count = 0;
    for (size_t i = 0; i + 1 < model->layer_count; i++) {
        struct layer *layer = &model->layers[i];
        if (layer->kind->shape != shape_conv)
            continue;
        if (layer->fields.groups > 1 || layer->fields.out % 2)
            return 0; /* its channels cannot be halved */
        layer->fields.out /= 2;
        count++;
    }
    forget_widths(model);
    return count;
}

static size_t shrink_images(struct model *model)
{
    uint64_t *dims = model->input.dims;
    if (model->input.rank != 3 || dims[1] < 2 || dims[2] < 2)
        return 0;
    dims[1] /= 2;
    dims[2] /= 2;
    forget_widths(model);
    return 1;
}

int model_edit(struct model *model, unsigned edits, struct err *err)
{
    static const struct {
        unsigned edit;
        size_t (*make)(struct model *model);
        const char *what;
    } changes[] = {{EDIT_inplace, make_inplace, "a ReLU that may overwrite its input"},
                   {EDIT_gru, replace_lstm, "an LSTM"},
                   {EDIT_narrow, halve_channels, "convolutions with channels to halve"},
                   {EDIT_quarter, shrink_images, "an image as its input"}};
    for (size_t i = 0; i < sizeof changes / sizeof *changes; i++) {
        if (!(edits & changes[i].edit) || changes[i].make(model))
            continue;
        return err_set(err, ERR_INPUT, "the model has not %s", changes[i].what);
    }
    return 0;
}
