/* SPDX-License-Identifier: MIT */
/* The table of output formats; see formats.h. */
#include "formats.h"

#include <string.h>

#include "analyzer/util/nearest.h"
#include "analyzer/util/text.h"

static const struct format formats[] = {
#define FORMAT(name, function, reads, needs) {#name, function, reads, needs},
#include "formats.def"
};

static const char *const names[] = {
#define FORMAT(name, function, reads, needs) #name,
#include "formats.def"
};

#define FORMAT_COUNT (sizeof formats / sizeof formats[0])
#define NAMES_BYTES_MAX 256

bool format_takes(const struct format *format, const char *table)
{
    return !format->needs || (table && !strcmp(table, format->needs));
}

static size_t taken_by(const char *taken[FORMAT_COUNT], const char *table)
{
    size_t count = 0;
    for (size_t i = 0; i < FORMAT_COUNT; i++)
        if (format_takes(&formats[i], table))
            taken[count++] = names[i];
    return count;
}

const struct format *format_find(const char *name, const char *table, struct err *err)
{
    const char *taken[FORMAT_COUNT];
    char hint[NEAREST_HINT_BYTES];
    struct text known;
    for (size_t i = 0; i < FORMAT_COUNT; i++)
        if (!strcmp(formats[i].name, name))
            return &formats[i];
    const size_t count = taken_by(taken, table);
    text_init(&known, NAMES_BYTES_MAX);
    text_add_list(&known, taken, count, " and ");
    err_set(err, ERR_USAGE, "unknown format '%.50s'; there are %s%s", name, known.data,
            nearest_hint(hint, name, taken, count));
    text_release(&known);
    return NULL;
}

int render(const struct doc *doc, const struct format *format, FILE *out, struct err *err)
{
    return doc_check(doc, err) || format->write(doc, out, err) ? -1 : 0;
}

void formats_list(struct text *text, const char *table)
{
    const char *taken[FORMAT_COUNT];
    const size_t count = taken_by(taken, table);
    text_add_list(text, taken, count, " or ");
}
