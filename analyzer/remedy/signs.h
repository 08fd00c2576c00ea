/* SPDX-License-Identifier: MIT */
/* Numbers of the signs and remedies of remedies.def. */
#pragma once

enum remedy_key {
#define REMEDY(key, way, sign, text, how, supposes) REMEDY_##key,
#include "remedies.def"
    REMEDY_COUNT
};
