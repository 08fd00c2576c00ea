/* SPDX-License-Identifier: MIT */
/* The table of guides; see guides.h. */
#include "guides.h"

#include <string.h>

static const struct guide *const guides[] = {
#define GUIDE(name) &guide_##name,
#include "guides.def"
};

const struct guide *guide_find(const char *name)
{
    for (size_t i = 0; i < sizeof guides / sizeof *guides; i++)
        if (!strcmp(guides[i]->name, name))
            return guides[i];
    return NULL;
}
