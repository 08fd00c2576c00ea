/* SPDX-License-Identifier: MIT */
/* The input is a description of a model: it is read, resolved, and its memory is estimated. */
#include "analyzer/estimate/estimate.h"
#include "analyzer/estimate/model_file.h"
#include "file.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct model model;
    struct estimate estimate;
    struct err err = {0};
    fuzz_file_write("", data, size);
    if (model_open(&model, fuzz_path, &err))
        return err.code == ERR_NONE ? (abort(), 0) : 0;
    if (estimate_make(&estimate, &model, &model.settings, &err) == 0)
        estimate_release(&estimate);
    model_release(&model);
    return 0;
}
