/* SPDX-License-Identifier: MIT */
/* The signs and remedies of remedies.def, by number. */
#ifndef GPUMEMTRACE_ANALYZER_REMEDY_SIGNS_H
#define GPUMEMTRACE_ANALYZER_REMEDY_SIGNS_H

/* What a function in a stack is a sign of; bits of place.signs. */
enum sign { SIGN_loss, SIGN_softmax, SIGN_foreach, SIGN_loading };

enum remedy_key {
#define REMEDY(key, way, sign, text, how, supposes) REMEDY_##key,
#define PYTHON(sign, pattern)
#define NATIVE(sign, pattern)
#include "remedies.def"
    REMEDY_COUNT
};

#endif
