/* SPDX-License-Identifier: MIT */
/* The table of export formats; see formats.h. */
#include "formats.h"

#include <string.h>

static const struct export_format formats[] = {
#define EXPORT(name, function, at, is_binary, summary) {name, function, at, is_binary, summary},
#include "formats.def"
};

/* Both texts begin with a separator, which export_names and export_summaries skip. */
static const char names[] =
#define EXPORT(name, function, at, is_binary, summary) "|" name
#include "formats.def"
    ;
static const char summaries[] =
#define EXPORT(name, function, at, is_binary, summary) "; " name ": " summary
#include "formats.def"
    ;
const char *const export_names = names + 1;
const char *const export_summaries = summaries + 2;

const struct export_format *export_format_find(const char *name)
{
    for (size_t i = 0; i < sizeof formats / sizeof *formats; i++)
        if (!strcmp(formats[i].name, name))
            return &formats[i];
    return NULL;
}
