/* SPDX-License-Identifier: MIT */
/* Shapes counted and printed; see shape.h. */
#include "shape.h"

#include <inttypes.h>
#include <stdio.h>

uint64_t shape_elements(const struct shape *shape, struct checked *checked)
{
    uint64_t elements = 1;
    for (unsigned i = 0; i < shape->rank; i++)
        elements = checked_mul(checked, elements, shape->dims[i]);
    return elements;
}

const char *shape_text(const struct shape *shape, char text[SHAPE_TEXT_BYTES])
{
    size_t used = 0;
    if (shape->rank == 0)
        return "scalar";
    for (unsigned i = 0; i < shape->rank && used < SHAPE_TEXT_BYTES; i++) {
        int length = snprintf(text + used, SHAPE_TEXT_BYTES - used, "%s%" PRIu64, i ? " x " : "",
                              shape->dims[i]);
        used += length > 0 ? (size_t)length : 0;
    }
    return text;
}
