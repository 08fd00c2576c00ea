/* SPDX-License-Identifier: MIT */
/*
 * The shapes that layers make, for layers.def: each function checks that the input fits, infers
 * the fields that the file left out, and fills the output of one sample. It must not know bytes.
 *
 * With input H, padding p, dilation d, kernel k and stride s a window fits
 *
 *     floor((H + 2p - d(k - 1) - 1) / s) + 1     times.
 */
#include "layer_formulas.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

/* A width that the input tells: if the file gives it too, the two must agree. */
static int infer_width(const struct layer *layer, enum layer_field field, const char *name,
                       uint64_t *value, uint64_t input, struct err *err)
{
    if (layer_gives(layer, field) && *value != input)
        return layer_fail(layer, name, err, "is %" PRIu64 ", but the input has %" PRIu64, *value,
                          input);
    *value = input;
    return 0;
}

static int need_rank(const struct layer *layer, const struct shape *input, unsigned least,
                     unsigned most, struct err *err)
{
    char text[SHAPE_TEXT_BYTES], range[32];
    if (input->rank >= least && input->rank <= most)
        return 0;
    snprintf(range, sizeof range, "%u", least);
    if (most > least)
        snprintf(range, sizeof range, "%u to %u", least, most);
    return layer_fail(layer, NULL, err, "needs an input of %s dimensions, got %s", range,
                      shape_text(input, text));
}

int shape_same(struct layer *layer, const struct shape *input, struct shape *output,
               struct err *err)
{
    (void)layer;
    (void)err;
    *output = *input;
    return 0;
}

int shape_linear(struct layer *layer, const struct shape *input, struct shape *output,
                 struct err *err)
{
    if (need_rank(layer, input, 1, SHAPE_RANK_MAX, err))
        return -1;
    uint64_t *last = &output->dims[input->rank - 1];
    *output = *input;
    if (infer_width(layer, FIELD_in, "in", &layer->fields.in, *last, err))
        return -1;
    *last = layer->fields.out;
    return 0;
}

int shape_embedding(struct layer *layer, const struct shape *input, struct shape *output,
                    struct err *err)
{
    if (need_rank(layer, input, 1, SHAPE_RANK_MAX - 1, err))
        return -1;
    *output = *input;
    output->dims[output->rank++] = layer->fields.dim;
    return 0;
}

int shape_recurrent(struct layer *layer, const struct shape *input, struct shape *output,
                    struct err *err)
{
    struct layer_fields *fields = &layer->fields;
    if (need_rank(layer, input, 2, 2, err) ||
        infer_width(layer, FIELD_in, "in", &fields->in, input->dims[1], err))
        return -1;
    if (fields->layers > RECURRENT_LAYERS_MOST)
        return layer_fail(layer, "layers", err, "is %" PRIu64 ", at most %d are counted",
                          fields->layers, RECURRENT_LAYERS_MOST);
    *output = *input;
    output->dims[1] = fields->hidden * (fields->bidirectional ? 2 : 1);
    return 0;
}

int shape_flatten(struct layer *layer, const struct shape *input, struct shape *output,
                  struct err *err)
{
    struct checked checked = {false};
    uint64_t elements = shape_elements(input, &checked);
    if (checked.overflow)
        return layer_fail_overflow(layer, err);
    *output = (struct shape){.rank = 1, .dims = {elements}};
    return 0;
}

int shape_loss(struct layer *layer, const struct shape *input, struct shape *output,
               struct err *err)
{
    if (need_rank(layer, input, 1, SHAPE_RANK_MAX, err))
        return -1;
    *output = (struct shape){0};
    return 0;
}

/* --- normalization --- */

int shape_channels(struct layer *layer, const struct shape *input, struct shape *output,
                   struct err *err)
{
    unsigned rank = layer->kind->rank + 1;
    if (need_rank(layer, input, rank, layer->kind->rank ? rank : 2, err))
        return -1;
    *output = *input;
    return infer_width(layer, FIELD_features, "features", &layer->fields.features, input->dims[0],
                       err);
}

int shape_groups(struct layer *layer, const struct shape *input, struct shape *output,
                 struct err *err)
{
    struct layer_fields *fields = &layer->fields;
    if (need_rank(layer, input, 1, SHAPE_RANK_MAX, err) ||
        infer_width(layer, FIELD_features, "features", &fields->features, input->dims[0], err))
        return -1;
    if (fields->features % fields->groups != 0)
        return layer_fail(layer, "groups", err,
                          "is %" PRIu64 ", which does not divide %" PRIu64 " channels",
                          fields->groups, fields->features);
    *output = *input;
    return 0;
}

int shape_trailing(struct layer *layer, const struct shape *input, struct shape *output,
                   struct err *err)
{
    struct shape *trailing = &layer->fields.shape;
    if (need_rank(layer, input, 1, SHAPE_RANK_MAX, err))
        return -1;
    *output = *input;
    if (!layer_gives(layer, FIELD_shape))
        *trailing = (struct shape){.rank = 1, .dims = {input->dims[input->rank - 1]}};
    unsigned before = input->rank - trailing->rank;
    if (trailing->rank <= input->rank && memcmp(trailing->dims, input->dims + before,
                                                trailing->rank * sizeof trailing->dims[0]) == 0)
        return 0;
    char given[SHAPE_TEXT_BYTES], got[SHAPE_TEXT_BYTES];
    return layer_fail(layer, "shape", err, "is %s, but the input ends differently: %s",
                      shape_text(trailing, given), shape_text(input, got));
}

/* --- windows --- */

/* How often the window fits in dimension i; 0: the input is too small. */
static uint64_t window_fits(const struct layer_fields *fields, unsigned i, uint64_t input,
                            struct checked *checked)
{
    uint64_t padding = checked_mul(checked, 2, fields->padding[i]);
    uint64_t padded = checked_add(checked, input, padding);
    uint64_t reach = checked_mul(checked, fields->dilation[i], fields->kernel[i] - 1);
    if (checked->overflow || padded < reach + 1)
        return 0;
    uint64_t rest = padded - reach - 1, stride = fields->stride[i];
    uint64_t fits = rest / stride + 1;
    /* ceil_mode adds a partial window, unless that would begin beyond the input. */
    bool partial = fields->ceil_mode && rest % stride != 0 &&
                   checked_mul(checked, fits, stride) < input + fields->padding[i];
    return fits + (partial ? 1 : 0);
}

static void stride_standard(struct layer *layer, const uint64_t standard[SPATIAL_MAX])
{
    if (!layer_gives(layer, FIELD_stride))
        memcpy(layer->fields.stride, standard, sizeof layer->fields.stride);
}

static int slide(struct layer *layer, const struct shape *input, struct shape *output,
                 struct err *err)
{
    struct checked checked = {false};
    SIZES_FOR_EACH(i, layer)
    {
        uint64_t fits = window_fits(&layer->fields, i, input->dims[i + 1], &checked);
        if (checked.overflow)
            return layer_fail_overflow(layer, err);
        if (fits == 0)
            return layer_fail(layer, "kernel", err,
                              "%" PRIu64 " is larger than the padded input "
                              "of %" PRIu64,
                              layer->fields.kernel[i],
                              input->dims[i + 1] + 2 * layer->fields.padding[i]);
        output->dims[i + 1] = fits;
    }
    return 0;
}

static int check_channels(struct layer *layer, const struct shape *input, struct err *err)
{
    struct layer_fields *fields = &layer->fields;
    static const uint64_t ones[SPATIAL_MAX] = {1, 1, 1};
    unsigned rank = layer->kind->rank + 1;
    if (need_rank(layer, input, rank, rank, err) ||
        infer_width(layer, FIELD_in, "in", &fields->in, input->dims[0], err))
        return -1;
    if (fields->in % fields->groups != 0 || fields->out % fields->groups != 0)
        return layer_fail(layer, "groups", err,
                          "is %" PRIu64 ", which does not divide in %" PRIu64 " and out %" PRIu64,
                          fields->groups, fields->in, fields->out);
    stride_standard(layer, ones);
    return 0;
}

int shape_conv(struct layer *layer, const struct shape *input, struct shape *output,
               struct err *err)
{
    if (check_channels(layer, input, err))
        return -1;
    *output = *input;
    output->dims[0] = layer->fields.out;
    return slide(layer, input, output, err);
}

int shape_transposed(struct layer *layer, const struct shape *input, struct shape *output,
                     struct err *err)
{
    const struct layer_fields *fields = &layer->fields;
    struct checked checked = {false};
    if (check_channels(layer, input, err))
        return -1;
    *output = *input;
    output->dims[0] = fields->out;
    SIZES_FOR_EACH(i, layer)
    {
        uint64_t steps = checked_mul(&checked, input->dims[i + 1] - 1, fields->stride[i]);
        uint64_t reach = checked_mul(&checked, fields->dilation[i], fields->kernel[i] - 1);
        uint64_t size = checked_add(&checked, checked_add(&checked, steps, reach),
                                    fields->output_padding[i] + 1);
        if (checked.overflow)
            return layer_fail_overflow(layer, err);
        if (size <= 2 * fields->padding[i])
            return layer_fail(layer, "padding", err, "%" PRIu64 " leaves nothing of the output",
                              fields->padding[i]);
        output->dims[i + 1] = size - 2 * fields->padding[i];
    }
    return 0;
}

int shape_pool(struct layer *layer, const struct shape *input, struct shape *output,
               struct err *err)
{
    unsigned rank = layer->kind->rank + 1;
    if (need_rank(layer, input, rank, rank, err))
        return -1;
    stride_standard(layer, layer->fields.kernel);
    SIZES_FOR_EACH(i, layer)
    if (layer->fields.padding[i] > layer->fields.kernel[i] / 2)
        return layer_fail(layer, "padding", err, "%" PRIu64 " is more than half the kernel",
                          layer->fields.padding[i]);
    *output = *input;
    return slide(layer, input, output, err);
}

int shape_adaptive(struct layer *layer, const struct shape *input, struct shape *output,
                   struct err *err)
{
    unsigned rank = layer->kind->rank + 1;
    if (need_rank(layer, input, rank, rank, err))
        return -1;
    *output = *input;
    SIZES_FOR_EACH(i, layer)
    output->dims[i + 1] = layer->fields.output[i];
    return 0;
}
