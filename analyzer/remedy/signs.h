/* SPDX-License-Identifier: MIT */
/* Numbers of the signs and remedies of remedies.def. */
#ifndef GPUMEMTRACE_ANALYZER_REMEDY_SIGNS_H
#define GPUMEMTRACE_ANALYZER_REMEDY_SIGNS_H

enum remedy_key {
#define REMEDY(key, way, sign, text, how, supposes) REMEDY_##key,
#include "remedies.def"
    REMEDY_COUNT
};

#endif
