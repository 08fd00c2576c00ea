/* SPDX-License-Identifier: MIT */
/* The table of guides. */
#pragma once

#include "guide.h"

/* Returns NULL if there is no guide of that name. */
const struct guide *guide_find(const char *name);
