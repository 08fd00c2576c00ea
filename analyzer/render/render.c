/* SPDX-License-Identifier: MIT */
/* Finding a format and making sure that what it wrote has arrived; see render.h. */
#include "render.h"

#include <errno.h>
#include <string.h>

#include "analyzer/util/text.h"

static const struct format formats[] = {
#define FORMAT(name, function) {#name, function},
#include "formats.def"
};

static const char *const names[] = {
#define FORMAT(name, function) #name,
#include "formats.def"
};

#define FORMAT_COUNT (sizeof formats / sizeof formats[0])
#define NAMES_BYTES_MAX 256

static void say_unknown(const char *name, struct err *err)
{
    struct text known;
    text_init(&known, NAMES_BYTES_MAX);
    text_add_list(&known, names, FORMAT_COUNT, " and ");
    err_set(err, ERR_USAGE, "unknown format '%.50s'; there are %s", name, known.data);
    text_release(&known);
}

const struct format *format_find(const char *name, struct err *err)
{
    for (size_t i = 0; i < FORMAT_COUNT; i++)
        if (!strcmp(formats[i].name, name))
            return &formats[i];
    say_unknown(name, err);
    return NULL;
}

int render(const struct doc *doc, const char *format_name, FILE *out, struct err *err)
{
    if (doc_check(doc, err))
        return -1;
    const struct format *format = format_find(format_name, err);
    if (!format || format->write(doc, out, err))
        return -1;
    errno = 0;
    if (fflush(out) || ferror(out)) {
        err_set(err, ERR_SYSTEM, "cannot write the result: %s",
                errno ? strerror(errno) : "an earlier write failed");
        return -1;
    }
    return 0;
}
