/* SPDX-License-Identifier: MIT */
/* The constants of thresholds.def. */
#pragma once

enum {
#define THRESHOLD(name, value, reason) name = value,
#define RATIO(name, value, reason)
#include "thresholds.def"
};

#define THRESHOLD(name, value, reason)
#define RATIO(name, value, reason) static const double name = value;
#include "thresholds.def"
