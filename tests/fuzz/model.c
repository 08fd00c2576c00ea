/* SPDX-License-Identifier: MIT */
/* The input is a description of a model. It is read, edited and resolved; then its memory is
   estimated, and the time series of the estimate is computed. */
#include "analyzer/estimate/series/run_series.h"
#include "analyzer/estimate/model/model_file.h"
#include "file.h"

static void look(const struct model *model)
{
    struct estimate estimate;
    struct run_series series;
    struct err err = {0};
    if (estimate_make(&estimate, model, &model->settings, &err))
        return;
    if (!run_series_make(&series, &estimate, &err))
        run_series_release(&series);
    estimate_release(&estimate);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const unsigned edits[] = {0, EDIT_inplace, EDIT_gru, EDIT_narrow, EDIT_quarter};
    struct model_source source;
    struct model model;
    struct err err = {0};
    fuzz_file_write("", data, size);
    if (model_source_open(&source, fuzz_path, &err))
        return err.code == ERR_NONE ? (abort(), 0) : 0;
    for (size_t i = 0; i < sizeof edits / sizeof *edits; i++) {
        const struct model_request request = {.edits = edits[i]};
        if (model_make(&model, &source, &request, &err))
            continue;
        look(&model);
        model_release(&model);
    }
    model_source_release(&source);
    return 0;
}
