/* SPDX-License-Identifier: MIT */
/* The constants of thresholds.def. */
#ifndef GPUMEMTRACE_ANALYZER_THRESHOLDS_THRESHOLDS_H
#define GPUMEMTRACE_ANALYZER_THRESHOLDS_THRESHOLDS_H

enum {
#define THRESHOLD(name, value, reason) name = value,
#define RATIO(name, value, reason)
#include "thresholds.def"
};

#define THRESHOLD(name, value, reason)
#define RATIO(name, value, reason) static const double name = value;
#include "thresholds.def"

#endif
