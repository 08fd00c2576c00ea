/* SPDX-License-Identifier: MIT */
/* Parses a SPEC, with a hint for a misspelt card; see run_spec.h. */
#include "run_spec.h"

#include <string.h>

#include "analyzer/util/nearest.h"

/* Adds the card with the nearest name to the error, such as h100 for "h1000" and
 * "8xh1000,others=3GiB". Always returns -1. */
static int suggest_card(const char *spec, struct err *err)
{
    static const char *const cards[] = {
#define PRESET(name, ...) name,
#include "common/sim_presets.def"
    };
    const size_t count = strspn(spec, "0123456789");
    char name[NEAREST_NAME_MAX], hint[NEAREST_HINT_BYTES];
    const struct err found = *err;
    const char *typed = count && spec[count] == 'x' ? spec + count + 1 : spec;
    snprintf(name, sizeof name, "%.*s", (int)strcspn(typed, ","), typed);
    return err_set(err, found.code, "%.400s%s", found.message,
                   nearest_hint(hint, name, cards, sizeof cards / sizeof *cards));
}

int run_spec_parse(const char *text, struct sim_spec *spec, struct err *err)
{
    return sim_spec_parse(text, spec, err) ? suggest_card(text, err) : 0;
}
