/* SPDX-License-Identifier: MIT */
/* Lists of tensors and their sums; see tensors.h. */
#include "tensors.h"

void tensors_add(struct tensors *tensors, enum category category, uint64_t element_bytes,
                 uint64_t elements, uint64_t count)
{
    if (tensors->count == TENSORS_MAX) {
        tensors->checked.overflow = true;
        return;
    }
    checked_mul3(&tensors->checked, element_bytes, elements, count);
    tensors->items[tensors->count++] = (struct tensor){.category = category,
                                                       .bytes = element_bytes * elements,
                                                       .elements = elements,
                                                       .count = count};
}

void tensors_own(struct tensors *tensors, enum category category, uint64_t element_bytes,
                 const char *name, struct shape shape)
{
    tensors_add(tensors, category, element_bytes, shape_elements(&shape, &tensors->checked), 1);
    if (tensors->checked.overflow)
        return;
    tensors->items[tensors->count - 1].name = name;
    tensors->items[tensors->count - 1].shape = shape;
}

static uint64_t sum(struct tensors *tensors, enum category category, bool in_bytes)
{
    uint64_t total = 0;
    for (size_t i = 0; i < tensors->count; i++) {
        const struct tensor *tensor = &tensors->items[i];
        if (tensor->category == category)
            total = checked_add(&tensors->checked, total,
                                checked_mul(&tensors->checked, tensor->count,
                                            in_bytes         ? tensor->bytes
                                            : tensor->values ? tensor->values
                                                             : tensor->elements));
    }
    return total;
}

uint64_t tensors_count(const struct tensors *tensors, enum category category)
{
    uint64_t count = 0;
    for (size_t i = 0; i < tensors->count; i++)
        if (tensors->items[i].category == category)
            count += tensors->items[i].count;
    return count;
}

uint64_t tensors_elements(struct tensors *tensors, enum category category)
{
    return sum(tensors, category, false);
}

uint64_t tensors_bytes(struct tensors *tensors, enum category category)
{
    return sum(tensors, category, true);
}
