/* SPDX-License-Identifier: MIT */
/*
 * The estimate of a model has two parts: the rule of thumb of textbooks, and the peak of a run by
 * category and by phase. training_loop.h records that run allocation by allocation.
 *
 *     requested   bytes that the framework requests from its allocator
 *     allocated   bytes that the allocator counts as handed out (allocator/allocator.h)
 *     reserved    bytes that the allocator holds from the driver
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "analyzer/analysis/category.h"
#include "analyzer/estimate/model/model.h"
#include "plan.h"
#include "schedule.h"
#include "gpumemtrace/err.h"

/* Live requested bytes at one moment of the run. */
struct estimate_moment {
    uint64_t total_bytes;
    uint64_t category_bytes[CATEGORY_COUNT];
    /* bytes that the caching allocator adds when it rounds blocks up */
    uint64_t rounding_bytes[CATEGORY_COUNT];
    enum schedule_phase phase;
    int32_t layer; /* SCHEDULE_NO_LAYER outside of layers */
};

struct footprint {
    uint64_t requested_bytes, allocated_bytes, reserved_bytes;
};

/* The rule of thumb of textbooks: weights x n + batch x outputs x 2 + input. See rule_of_thumb. */
struct rule_of_thumb {
    uint64_t states_bytes, results_bytes, input_bytes, total_bytes;
};

struct estimate {
    const struct model *model;
    struct plan plan;
    uint64_t parameter_count, parameter_bytes, buffer_bytes;
    struct footprint load; /* when the model has been moved to the device */
    struct footprint peak; /* each figure is the highest one of the run */
    struct estimate_moment peak_moment, forward_end;
    struct estimate_moment phase_peaks[SCHEDULE_PHASES]; /* total 0: the run has no such phase */
    uint64_t input_values, result_values; /* of the whole batch, counted for the rule of thumb */
    struct rule_of_thumb rule;            /* with the settings of this estimate */
};

/* The model must outlive the estimate. */
int estimate_make(struct estimate *estimate, const struct model *model,
                  const struct settings *settings, struct err *err);
void estimate_release(struct estimate *estimate);

/* Returns whether the estimate covers the category. If it does not, the category's bytes are
 * unknown, not 0. */
bool estimate_models(const struct estimate *estimate, enum category category);

#define MOMENT_TEXT_BYTES 160
/* Names a moment: "forward end", "backward of layer 3 (Conv2d)", "optimizer step" … */
const char *estimate_moment_text(const struct estimate *estimate,
                                 const struct estimate_moment *moment,
                                 char text[MOMENT_TEXT_BYTES]);
/* The same as an argument of a sentence; the text lives until the end of the block. */
#define MOMENT_TEXT(estimate, moment)                                                              \
    estimate_moment_text(estimate, moment, (char[MOMENT_TEXT_BYTES]){""})

/* Returns the bytes that are live at the end of the forward pass because of the batch: the input
 * and the activations. */
uint64_t estimate_kept_bytes(const struct estimate *estimate);

/*
 * Computes the rule of thumb. In training, n is 2 + the number of the optimizer's states. For
 * inference, n is 1, and the outputs count once instead of twice. Weights are counted as in
 * textbooks, without the biases of linear layers and convolutions.
 */
int rule_of_thumb(const struct plan *plan, bool training, struct rule_of_thumb *rule,
                  struct err *err);
