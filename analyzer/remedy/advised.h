/* SPDX-License-Identifier: MIT */
/* Chooses the failure that remedies are for. If nothing failed, chooses a peak that was scarce. */
#pragma once

#include "analyzer/analysis/study.h"

/* Returns the last failure of the leading account of its device. If a library asked the driver, the
 * failure may also be the driver's. */
const struct failure *advised_failure(const struct history *history);
/* Returns a device whose peak left less than 1/10 of the card free, or NULL if there is none. */
const struct device_use *advised_peak(const struct study *study);
