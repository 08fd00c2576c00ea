/* SPDX-License-Identifier: MIT */
/*
 * Names and descriptions of errors, from errors.def.
 */
#include <stddef.h>

#include "simulator/driver/machine/api.h"

struct error_row {
    int number;
    const char *name, *text;
};

static const struct error_row rows[] = {
#define CUDA_ERROR(number, driver_name, runtime_name, text) {number, #driver_name, text},
#define CUDA_ERROR_OF_DRIVER(number, name, text) {number, #name, text},
#define CUDA_ERROR_OF_RUNTIME(number, name, text)
#include "gpumemtrace/cuda/errors.def"
};

static const struct error_row *error_find(CUresult error)
{
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++)
        if (rows[i].number == (int)error)
            return &rows[i];
    return NULL;
}

CUresult cuGetErrorName(CUresult error, const char **name)
{
    const struct error_row *row = error_find(error);
    if (!name)
        return CUDA_ERROR_INVALID_VALUE;
    *name = row ? row->name : NULL;
    return row ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

CUresult cuGetErrorString(CUresult error, const char **text)
{
    const struct error_row *row = error_find(error);
    if (!text)
        return CUDA_ERROR_INVALID_VALUE;
    *text = row ? row->text : NULL;
    return row ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}
