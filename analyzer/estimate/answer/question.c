/* SPDX-License-Identifier: MIT */
/* Estimates of variants; see question.h. */
#include "question.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analyzer/estimate/serve/serving.h"

struct variant variant_of(const struct question *question)
{
    return (struct variant){.model = question->model,
                            .settings = question->settings,
                            .edits = question->request.edits,
                            .tuning = question->request.tuning};
}

void variant_set(struct variant *variant, const char *name, uint64_t value)
{
    const size_t length = strlen(variant->set);
    snprintf(variant->set + length, sizeof variant->set - length, "%s%s=%" PRIu64,
             length ? "," : "", name, value);
}

static int peak_of(const struct model *model, const struct settings *settings,
                   struct footprint *peak, struct err *err)
{
    struct estimate estimate;
    if (estimate_make(&estimate, model, settings, err))
        return -1;
    *peak = estimate.peak;
    estimate_release(&estimate);
    return 1;
}

static int peak_of_serving(const struct question *question, const struct model_request *request,
                           const struct settings *settings, struct footprint *peak, struct err *err)
{
    struct serving serving;
    struct model model;
    struct estimate estimate;
    if (serving_make(&serving, question->source, request, settings, false, &model, &estimate, err))
        return -1;
    *peak = estimate.peak;
    estimate_release(&estimate);
    model_release(&model);
    return 1;
}

/* Finds the peak of a variant whose model differs from that of the question. The other model is
 * made from the same description. */
static int peak_of_other(const struct question *question, const struct variant *variant,
                         struct footprint *peak, struct err *err)
{
    const char *asked = question->request.set ? question->request.set : "";
    char *set = NULL;
    struct model model;
    if (asprintf(&set, "%s%s%s", asked, *asked && *variant->set ? "," : "", variant->set) < 0)
        return err_set(err, ERR_SYSTEM, "out of memory for the dimensions");
    const struct model_request request = {.set = *set ? set : NULL,
                                          .inference = !variant->settings.training,
                                          .edits = variant->edits,
                                          .tuning = variant->tuning};
    int result = request.tuning.kv_cache
                     ? peak_of_serving(question, &request, &variant->settings, peak, err)
                     : model_make(&model, question->source, &request, err);
    if (!result) {
        result = peak_of(&model, &variant->settings, peak, err);
        model_release(&model);
    }
    free(set);
    return result;
}

int variant_peak(const struct question *question, const struct variant *variant,
                 struct footprint *peak, struct err *err)
{
    struct err inner = {0};
    const bool is_same_model = !*variant->set && variant->edits == question->request.edits &&
                               !variant->tuning.kv_cache &&
                               variant->tuning.lora == question->request.tuning.lora &&
                               variant->tuning.quantize == question->request.tuning.quantize &&
                               variant->settings.training == question->settings.training;
    const int result = is_same_model ? peak_of(question->model, &variant->settings, peak, &inner)
                                     : peak_of_other(question, variant, peak, &inner);
    if (result > 0)
        return 1;
    if (inner.code == ERR_INPUT || inner.code == ERR_USAGE)
        return 0;
    *err = inner;
    return -1;
}

int variant_fits(const struct question *question, const struct variant *variant,
                 struct footprint *peak, struct err *err)
{
    const int status = variant_peak(question, variant, peak, err);
    return status > 0 ? peak->reserved_bytes <= question->limit_bytes : status;
}
