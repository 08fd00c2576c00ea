/* SPDX-License-Identifier: MIT */
/* The table of output formats; see formats.h. */
#include "formats.h"

#include <string.h>

#include "analyzer/util/nearest.h"
#include "analyzer/util/text.h"

static const struct format formats[] = {
#define FORMAT(name, function, reads) {#name, function, reads},
#include "formats.def"
};

static const char *const names[] = {
#define FORMAT(name, function, reads) #name,
#include "formats.def"
};

#define FORMAT_COUNT (sizeof formats / sizeof formats[0])
#define NAMES_BYTES_MAX 256

const struct format *format_find(const char *name, struct err *err)
{
    for (size_t i = 0; i < FORMAT_COUNT; i++)
        if (!strcmp(formats[i].name, name))
            return &formats[i];
    struct text known;
    text_init(&known, NAMES_BYTES_MAX);
    text_add_list(&known, names, FORMAT_COUNT, " and ");
    char hint[NEAREST_HINT_BYTES];
    err_set(err, ERR_USAGE, "unknown format '%.50s'; there are %s%s", name, known.data,
            nearest_hint(hint, name, names, FORMAT_COUNT));
    text_release(&known);
    return NULL;
}
