/* SPDX-License-Identifier: MIT */
/* Numbers of the signs and remedies of remedies.def. */
#ifndef GPUMEMTRACE_ANALYZER_REMEDY_SIGNS_H
#define GPUMEMTRACE_ANALYZER_REMEDY_SIGNS_H

/* A sign that a function gives to the stacks it is in. The bits of place.signs have these
 * numbers. */
enum sign { SIGN_loss, SIGN_softmax, SIGN_foreach, SIGN_loading, SIGN_gathered, SIGN_module };

enum remedy_key {
#define REMEDY(key, way, sign, text, how, supposes) REMEDY_##key,
#define PYTHON(sign, pattern)
#define NATIVE(sign, pattern)
#include "remedies.def"
    REMEDY_COUNT
};

#endif
