/* SPDX-License-Identifier: MIT */
/* Models whatever their source; see model.h. */
#include "model.h"

#include <stdlib.h>

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

/* With a batch of 1 and the widest type: what overflows here overflows with any settings. */
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
