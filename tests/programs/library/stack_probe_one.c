/* SPDX-License-Identifier: MIT */
/* link: */
/*
 * A plugin that calls back. Its code has the same size as that of stack_probe_two.c, but another
 * stack layout, so that an unwind rule that is remembered for one plugin fails in the other.
 */
#include "gpumemtrace/compiler.h"

GMT_EXPORT void plugin_run(void (*callback)(void));

#define KEPT_BYTES 400

static GMT_NOINLINE void keep(volatile char *kept, void (*callback)(void))
{
    volatile char more[KEPT_BYTES];
    more[0] = kept[0];
    callback();
    kept[1] = more[0];
}

void plugin_run(void (*callback)(void))
{
    volatile char kept[KEPT_BYTES];
    kept[0] = 0;
    keep(kept, callback);
    kept[0] = kept[1];
}
