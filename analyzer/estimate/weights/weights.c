/* SPDX-License-Identifier: MIT */
/* Lists of tensors from files of any format; see weights.h. */
#include "weights.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analyzer/util/array.h"
#include "analyzer/util/json_field.h"

void weights_release(struct weights *weights)
{
    for (size_t i = 0; i < weights->count; i++)
        free(weights->items[i].name);
    free(weights->items);
    free(weights->architecture);
    *weights = (struct weights){0};
}

int weights_fail(const char *name, struct err *err, const char *format, ...)
{
    char shown[JSON_SHOWN_BYTES], message[200];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(message, sizeof message, format, arguments);
    va_end(arguments);
    return err_set(err, ERR_INPUT, "tensor %s: %s", json_shown_text(name, shown), message);
}

/* --- one tensor --- */

static int measure(struct weight *weight, const char *name, struct err *err)
{
    const struct weight_type *type = weight->type;
    struct checked checked = {false};
    weight->elements = shape_elements(&weight->shape, &checked);
    if (checked.overflow)
        return weights_fail(name, err, "its shape has more values than can be counted in 64 bits");
    const uint64_t last = weight->shape.rank ? weight->shape.dims[weight->shape.rank - 1] : 1;
    const uint64_t whole = weight->shape.rank > 1 && type->values > 4 ? last : weight->elements;
    if (whole % type->values || weight->elements % type->values)
        return weights_fail(
            name, err, "%" PRIu64 " values are not a whole number of blocks of %s (%" PRIu64 ")",
            whole, type->name, type->values);
    weight->bytes = checked_mul(&checked, weight->elements / type->values, type->bytes);
    return checked.overflow
               ? weights_fail(name, err, "it has more bytes than can be counted in 64 bits")
               : 0;
}

int weights_add(struct weights *weights, const char *name, struct weight weight, struct err *err)
{
    if (!*name || strlen(name) > WEIGHTS_NAME_MOST_BYTES)
        return weights_fail(name, err, "a name has 1 to %d bytes", WEIGHTS_NAME_MOST_BYTES);
    if (measure(&weight, name, err))
        return -1;
    if (ARRAY_GROW(weights->items, weights->capacity, weights->count, err))
        return -1;
    weight.name = strdup(name);
    if (!weight.name)
        return err_set(err, ERR_SYSTEM, "out of memory for the names of tensors");
    weight.file = weights->file_count;
    weights->items[weights->count++] = weight;
    return 0;
}

/* --- all of them --- */

ORDER_POINTERS_BY(order_of_places, struct weight, RISING(begin), RISING(bytes));

static int check_place(const struct weight *weight, uint64_t end, uint64_t data_bytes,
                       uint64_t alignment, struct err *err)
{
    if (weight->begin < end)
        return weights_fail(weight->name, err,
                            "it begins at byte %" PRIu64 ", within the tensor before it",
                            weight->begin);
    if (weight->begin - end >= alignment)
        return weights_fail(weight->name, err,
                            "it begins at byte %" PRIu64
                            ", but the tensor before it ends at %" PRIu64,
                            weight->begin, end);
    if (weight->begin > data_bytes || weight->bytes > data_bytes - weight->begin)
        return weights_fail(weight->name, err,
                            "its %" PRIu64 " bytes at byte %" PRIu64
                            " end after the file, which has %" PRIu64 " of tensors",
                            weight->bytes, weight->begin, data_bytes);
    return 0;
}

int weights_check_places(const struct weights *weights, size_t first, uint64_t data_bytes,
                         uint64_t alignment, struct err *err)
{
    const size_t count = weights->count - first;
    const struct weight **placed = array_new(count, sizeof *placed, err);
    uint64_t end = 0;
    int result = -1;
    if (!placed)
        return -1;
    for (size_t i = 0; i < count; i++)
        placed[i] = &weights->items[first + i];
    SORT(placed, count, order_of_places);
    for (size_t i = 0; i < count; i++) {
        if (check_place(placed[i], end, data_bytes, alignment, err))
            goto out;
        end = placed[i]->begin + placed[i]->bytes;
    }
    result = 0;
    if (data_bytes - end >= alignment) {
        err_set(err, ERR_INPUT, "%" PRIu64 " bytes after the tensors belong to no tensor",
                data_bytes - end);
        result = -1;
    }
out:
    free(placed);
    return result;
}

ORDER_BY(order_of_names, struct weight, strcmp(a->name, b->name));

int weights_finish(struct weights *weights, struct err *err)
{
    struct checked checked = {false};
    SORT(weights->items, weights->count, order_of_names);
    for (size_t i = 0; i < weights->count; i++) {
        const struct weight *weight = &weights->items[i];
        if (i > 0 && strcmp(weight->name, weight[-1].name) == 0)
            return weights_fail(weight->name, err, "the name comes twice");
        weights->elements = checked_add(&checked, weights->elements, weight->elements);
        weights->bytes = checked_add(&checked, weights->bytes, weight->bytes);
    }
    if (!checked.overflow)
        return 0;
    return err_set(err, ERR_INPUT, "the tensors have more bytes than can be counted in 64 bits");
}

static int order_to_name(const void *name, const void *weight)
{
    return strcmp(name, ((const struct weight *)weight)->name);
}

const struct weight *weights_find(const struct weights *weights, const char *name)
{
    return weights->count ? bsearch(name, weights->items, weights->count, sizeof *weights->items,
                                    order_to_name)
                          : NULL;
}
