/* SPDX-License-Identifier: MIT */
/* The table of element types; see dtype.h. */
#include "dtype.h"

#include <strings.h>

#include "analyzer/util/name_list.h"
#include "analyzer/util/nearest.h"
#include "analyzer/util/text.h"

static const struct {
    const char *name, *names;
    uint64_t bytes, accumulate_bytes;
} dtypes[] = {
#define DTYPE(name, bytes, accumulate, names) {#name, names, bytes, accumulate},
#include "dtypes.def"
};

const char *dtype_name(enum dtype dtype)
{
    return dtypes[dtype].name;
}

uint64_t dtype_bytes(enum dtype dtype)
{
    return dtypes[dtype].bytes;
}

uint64_t dtype_accumulate_bytes(enum dtype dtype)
{
    return dtypes[dtype].accumulate_bytes;
}

static void fail_unknown_dtype(const char *text, struct err *err)
{
    const char *names[DTYPE_COUNT];
    char hint[NEAREST_HINT_BYTES];
    struct text known;
    text_init(&known, 400);
    for (int i = 0; i < DTYPE_COUNT; i++) {
        names[i] = dtypes[i].name;
        text_addf(&known, "%s%s", i ? ", " : "", names[i]);
    }
    err_set(err, ERR_USAGE, "unknown dtype '%.40s'; known are %s%s", text, known.data,
            nearest_hint(hint, text, names, DTYPE_COUNT));
    text_release(&known);
}

int dtype_parse(const char *text, enum dtype *dtype, struct err *err)
{
    const char *bare = strncasecmp(text, "torch.", 6) == 0 ? text + 6 : text;
    for (int i = 0; i < DTYPE_COUNT; i++) {
        if (name_list_has(dtypes[i].names, bare)) {
            *dtype = (enum dtype)i;
            return 0;
        }
    }
    fail_unknown_dtype(text, err);
    return -1;
}
