/* SPDX-License-Identifier: MIT */
/* The table of guides. */
#ifndef GPUMEMTRACE_ANALYZER_COMMAND_GUIDE_GUIDES_H
#define GPUMEMTRACE_ANALYZER_COMMAND_GUIDE_GUIDES_H

#include "guide.h"

/* Returns NULL if there is no guide of that name. */
const struct guide *guide_find(const char *name);

#endif
