/* SPDX-License-Identifier: MIT */
/* The findings that the answer and the tables of the page of `steps` share. */
#pragma once

#include "analyzer/analysis/steps/ages.h"
#include "analyzer/analysis/steps/outlier.h"
#include "analyzer/analysis/study.h"
#include "analyzer/blame/blame.h"
#include "analyzer/page/opening.h"

/* The step of an account that stands out, and the ages of the memory at the peak, with the labels
 * of their sites. */
struct step_findings {
    struct outlier outlier;
    struct ages ages;
    struct blame blame;
};

int step_findings_find(struct step_findings *found, const struct study *study, uint32_t account,
                       struct err *err);
/* The first of these returns the labels of the outlier's sites, the second returns the label of the
 * largest site of an age. */
const struct blamed *step_findings_of_site(const struct step_findings *found,
                                           const struct outlier_site *site);
const struct blamed *step_findings_of_age(const struct step_findings *found, enum age age);
void step_findings_release(struct step_findings *found);

/* Says which step stands out on the device with the highest peak, or that none stands out. */
page_answer page_steps_answer;
