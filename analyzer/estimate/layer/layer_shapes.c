/* SPDX-License-Identifier: MIT */
/*
 * Computes the shapes of layers' results, for layers.def. Each function checks that the input fits,
 * infers the fields that the file leaves out, and fills the output of one sample.
 *
 * With input H, padding p, dilation d, kernel k and stride s, the number of times that a window
 * fits is
 *
 *     floor((H + 2p - d(k - 1) - 1) / s) + 1
 */
#include "layer_formulas.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

/* Takes a width from the input. If the file also sets the width, the two must be equal. */
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

/* The result has queries, keys and values side by side. */
int shape_projection(struct layer *layer, const struct shape *input, struct shape *output,
                     struct err *err)
{
    struct checked checked = {false};
    if (need_rank(layer, input, 1, SHAPE_RANK_MAX, err))
        return -1;
    layer->fields.out = checked_mul(&checked, 3, input->dims[input->rank - 1]);
    return checked.overflow ? layer_fail_overflow(layer, err)
                            : shape_linear(layer, input, output, err);
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

/* Each position has a row of its own. PyTorch fails if there are more positions than rows. */
int shape_positions(struct layer *layer, const struct shape *input, struct shape *output,
                    struct err *err)
{
    if (shape_embedding(layer, input, output, err))
        return -1;
    const struct layer_fields *fields = &layer->fields;
    const uint64_t length = input->dims[input->rank - 1];
    const uint64_t learned = fields->num > fields->first ? fields->num - fields->first : 0;
    return length <= learned ? 0
                             : layer_fail(layer, NULL, err,
                                          "a sequence of %" PRIu64 " is longer than the %" PRIu64
                                          " positions that were learned",
                                          length, learned);
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

/* --- several inputs --- */

static int fail_different(const struct layer *layer, const struct shape *a, const struct shape *b,
                          struct err *err)
{
    char first[SHAPE_TEXT_BYTES], other[SHAPE_TEXT_BYTES];
    return layer_fail(layer, "from", err, "its inputs do not fit: %s and %s", shape_text(a, first),
                      shape_text(b, other));
}

static int need_several(const struct layer *layer, struct err *err)
{
    return layer->input_count > 1
               ? 0
               : layer_fail(layer, "from", err, "it needs a list of at least two names");
}

static bool shapes_equal(const struct shape *a, const struct shape *b, unsigned first)
{
    return a->rank == b->rank &&
           memcmp(a->dims + first, b->dims + first, (a->rank - first) * sizeof a->dims[0]) == 0;
}

/* Expands dimensions of 1 in the result to those of the other shape, as PyTorch does. */
static bool broadcast(struct shape *result, const struct shape *other, unsigned rank)
{
    if (result->rank != other->rank)
        return false;
    for (unsigned i = 0; i < rank; i++) {
        if (result->dims[i] != other->dims[i] && result->dims[i] != 1 && other->dims[i] != 1)
            return false;
        if (result->dims[i] == 1)
            result->dims[i] = other->dims[i];
    }
    return true;
}

int shape_alike(struct layer *layer, const struct shape *input, struct shape *output,
                struct err *err)
{
    if (need_several(layer, err))
        return -1;
    *output = *input;
    for (size_t i = 1; i < layer->input_count; i++)
        if (!broadcast(output, layer->inputs[i], output->rank))
            return fail_different(layer, input, layer->inputs[i], err);
    return 0;
}

/* Concatenates along the first dimension of a sample. */
int shape_cat(struct layer *layer, const struct shape *input, struct shape *output, struct err *err)
{
    struct checked checked = {false};
    if (need_several(layer, err) || need_rank(layer, input, 1, SHAPE_RANK_MAX, err))
        return -1;
    *output = *input;
    for (size_t i = 1; i < layer->input_count; i++) {
        if (!shapes_equal(input, layer->inputs[i], 1))
            return fail_different(layer, input, layer->inputs[i], err);
        output->dims[0] = checked_add(&checked, output->dims[0], layer->inputs[i]->dims[0]);
    }
    return checked.overflow ? layer_fail_overflow(layer, err) : 0;
}

/* Concatenates along the last dimension. The other dimensions must be equal, or 1, which is
 * expanded. */
int shape_cat_last(struct layer *layer, const struct shape *input, struct shape *output,
                   struct err *err)
{
    struct checked checked = {false};
    if (need_several(layer, err) || need_rank(layer, input, 1, SHAPE_RANK_MAX, err))
        return -1;
    *output = *input;
    for (size_t i = 1; i < layer->input_count; i++) {
        if (!broadcast(output, layer->inputs[i], output->rank - 1))
            return fail_different(layer, input, layer->inputs[i], err);
        uint64_t *last = &output->dims[output->rank - 1];
        *last = checked_add(&checked, *last, layer->inputs[i]->dims[output->rank - 1]);
    }
    return checked.overflow ? layer_fail_overflow(layer, err) : 0;
}

/* The first input has the tokens. A second input has the router's score of each expert for each
 * token. */
int shape_experts(struct layer *layer, const struct shape *input, struct shape *output,
                  struct err *err)
{
    const struct layer_fields *fields = &layer->fields;
    if (need_rank(layer, input, 1, SHAPE_RANK_MAX, err))
        return -1;
    if (layer->input_count > 2)
        return layer_fail(layer, "from", err, "it reads tokens and their scores, not %zu inputs",
                          layer->input_count);
    if (fields->active > fields->num)
        return layer_fail(layer, "active", err, "is %" PRIu64 " of %" PRIu64 " experts",
                          fields->active, fields->num);
    struct shape scores = *input;
    scores.dims[scores.rank - 1] = fields->num;
    if (layer->input_count == 2 && !shapes_equal(&scores, layer->inputs[1], 0))
        return fail_different(layer, &scores, layer->inputs[1], err);
    *output = *input;
    return 0;
}

/*
 * Keys and values have the same rows. Keys have the width of their heads; heads of values
 * may have a width of their own.
 */
static bool fits_attention(const struct layer *layer, const struct shape *other, bool is_value,
                           struct checked *checked)
{
    const struct layer_fields *fields = &layer->fields;
    if (other->rank < 2 || other->dims[0] != layer->inputs[1]->dims[0])
        return false;
    const uint64_t width = shape_elements(other, checked) / other->dims[0];
    return is_value ? width % fields->kv_heads == 0
                    : width == checked_mul(checked, fields->kv_heads, fields->head_dim);
}

static int check_heads(struct layer *layer, struct err *err)
{
    struct layer_fields *fields = &layer->fields;
    if (!layer_gives(layer, FIELD_kv_heads))
        fields->kv_heads = fields->heads;
    if (fields->heads % fields->kv_heads != 0)
        return layer_fail(layer, "kv_heads", err,
                          "is %" PRIu64 ", which does not divide %" PRIu64 " heads",
                          fields->kv_heads, fields->heads);
    if (layer->input_count == 1 || layer->input_count == 3)
        return 0;
    return layer_fail(layer, "from", err, "it reads one input or three, not %zu",
                      layer->input_count);
}

/* Queries, keys and values are three inputs, or lie side by side in one. */
int shape_attention(struct layer *layer, const struct shape *input, struct shape *output,
                    struct err *err)
{
    struct layer_fields *fields = &layer->fields;
    struct checked checked = {false};
    if (check_heads(layer, err) || need_rank(layer, input, 2, 3, err))
        return -1;
    const bool packed = layer->input_count == 1;
    const uint64_t width = shape_elements(input, &checked) / input->dims[0];
    const uint64_t parts =
        packed ? checked_add(&checked, fields->heads, checked_mul(&checked, 2, fields->kv_heads))
               : fields->heads;
    if (checked.overflow)
        return layer_fail_overflow(layer, err);
    if (width % parts != 0)
        return layer_fail(layer, "heads", err,
                          "%" PRIu64 " parts do not divide a width of %" PRIu64, parts, width);
    if (infer_width(layer, FIELD_head_dim, "head_dim", &fields->head_dim, width / parts, err))
        return -1;
    for (size_t i = 1; i < layer->input_count; i++)
        if (!fits_attention(layer, layer->inputs[i], i == 2, &checked))
            return fail_different(layer, input, layer->inputs[i], err);
    const struct shape *value = packed ? NULL : layer->inputs[2];
    const uint64_t value_dim =
        value ? shape_elements(value, &checked) / value->dims[0] / fields->kv_heads
              : fields->head_dim;
    *output = shape_of2(input->dims[0], checked_mul(&checked, fields->heads, value_dim));
    return checked.overflow ? layer_fail_overflow(layer, err) : 0;
}

/* --- views --- */

int shape_given(struct layer *layer, const struct shape *input, struct shape *output,
                struct err *err)
{
    (void)input;
    (void)err;
    *output = layer->fields.shape;
    return 0;
}

/* The result has `out` elements of the last dimension. Their place does not matter to memory. */
int shape_part(struct layer *layer, const struct shape *input, struct shape *output,
               struct err *err)
{
    if (need_rank(layer, input, 1, SHAPE_RANK_MAX, err))
        return -1;
    *output = *input;
    uint64_t *width = &output->dims[output->rank - 1];
    if (layer->fields.out > *width)
        return layer_fail(layer, "out", err,
                          "is %" PRIu64 ", which is not a part of a width of %" PRIu64,
                          layer->fields.out, *width);
    *width = layer->fields.out;
    return 0;
}

int shape_view(struct layer *layer, const struct shape *input, struct shape *output,
               struct err *err)
{
    struct checked checked = {false};
    char given[SHAPE_TEXT_BYTES], got[SHAPE_TEXT_BYTES];
    *output = layer->fields.shape;
    if (shape_elements(input, &checked) == shape_elements(output, &checked) && !checked.overflow)
        return 0;
    return layer_fail(layer, "shape", err, "%s is not another view of %s",
                      shape_text(output, given), shape_text(input, got));
}

int shape_permuted(struct layer *layer, const struct shape *input, struct shape *output,
                   struct err *err)
{
    const struct shape *order = &layer->fields.order;
    unsigned seen = 0;
    output->rank = input->rank;
    for (unsigned i = 0; i < order->rank && order->rank == input->rank; i++) {
        if (order->dims[i] >= input->rank)
            break;
        seen |= 1U << order->dims[i];
        output->dims[i] = input->dims[order->dims[i]];
    }
    if (seen + 1 == 1U << input->rank)
        return 0;
    return layer_fail(layer, "order", err, "has to name each of %u dimensions once, from 0",
                      input->rank);
}

/* Channels x rows x columns become rows * columns tokens of `channels` values. */
int shape_tokens(struct layer *layer, const struct shape *input, struct shape *output,
                 struct err *err)
{
    struct checked checked = {false};
    if (need_rank(layer, input, 2, SHAPE_RANK_MAX, err))
        return -1;
    *output = shape_of2(shape_elements(input, &checked) / input->dims[0], input->dims[0]);
    return checked.overflow ? layer_fail_overflow(layer, err) : 0;
}

/* The result is the first of several tokens. */
int shape_first(struct layer *layer, const struct shape *input, struct shape *output,
                struct err *err)
{
    if (need_rank(layer, input, 2, SHAPE_RANK_MAX, err))
        return -1;
    *output = (struct shape){.rank = input->rank - 1};
    memcpy(output->dims, input->dims + 1, output->rank * sizeof output->dims[0]);
    return 0;
}

/* The result is the whole cache. The layer's input is the last tokens of it. */
int shape_cached(struct layer *layer, const struct shape *input, struct shape *output,
                 struct err *err)
{
    if (need_rank(layer, input, 1, SHAPE_RANK_MAX, err))
        return -1;
    *output = *input;
    if (layer->fields.rows > output->dims[0])
        output->dims[0] = layer->fields.rows;
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

/* Returns how many times the window fits in dimension i; 0: the input is too small. */
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
    /* ceil_mode adds a partial window, unless this window would begin beyond the input. */
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
                              "%" PRIu64 " covers %" PRIu64
                              ", which is larger than the padded input of %" PRIu64,
                              layer->fields.kernel[i],
                              layer->fields.dilation[i] * (layer->fields.kernel[i] - 1) + 1,
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
