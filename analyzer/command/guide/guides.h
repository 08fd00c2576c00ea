/* SPDX-License-Identifier: MIT */
/* The table of guides. It must not know what any of them prints. */
#ifndef GPUMEMTRACE_ANALYZER_COMMAND_GUIDE_GUIDES_H
#define GPUMEMTRACE_ANALYZER_COMMAND_GUIDE_GUIDES_H

#include "guide.h"

/* NULL: there is none of that name. */
const struct guide *guide_find(const char *name);

#endif
