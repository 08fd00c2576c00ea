/* SPDX-License-Identifier: MIT */
/* Why something is not recorded; see untracked.h. */
#include "analysis/untracked.h"

#include <string.h>

static const struct {
    const char *start, *why;
} entry_points[] = {
#define UNTRACKED(start, why) {start, why},
#define NEVER(what, why)
#include "analysis/untracked.def"
};

const struct untracked untracked_always[] = {
#define UNTRACKED(start, why)
#define NEVER(what, why) {what, why},
#include "analysis/untracked.def"
};
const size_t untracked_always_count = sizeof untracked_always / sizeof *untracked_always;

const char *untracked_reason(const char *name)
{
    static const char driver[] = "cu", runtime[] = "cuda";

    if (!strncmp(name, runtime, sizeof runtime - 1))
        name += sizeof runtime - 1;
    else if (!strncmp(name, driver, sizeof driver - 1))
        name += sizeof driver - 1;
    for (size_t i = 0; i < sizeof entry_points / sizeof *entry_points; i++)
        if (!strncmp(name, entry_points[i].start, strlen(entry_points[i].start)))
            return entry_points[i].why;
    return NULL;
}
