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
    tensors->items[tensors->count++] = (struct tensor){category, element_bytes, elements, count};
}

uint64_t tensors_elements(struct tensors *tensors, enum category category)
{
    uint64_t total = 0;
    for (size_t i = 0; i < tensors->count; i++) {
        const struct tensor *tensor = &tensors->items[i];
        if (tensor->category == category)
            total = checked_add(&tensors->checked, total,
                                checked_mul(&tensors->checked, tensor->elements, tensor->count));
    }
    return total;
}

uint64_t tensors_bytes(struct tensors *tensors, enum category category)
{
    uint64_t total = 0;
    for (size_t i = 0; i < tensors->count; i++) {
        const struct tensor *tensor = &tensors->items[i];
        if (tensor->category == category)
            total = checked_add(&tensors->checked, total,
                                checked_mul3(&tensors->checked, tensor->elements, tensor->count,
                                             tensor->element_bytes));
    }
    return total;
}
