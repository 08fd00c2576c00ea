/* SPDX-License-Identifier: MIT */
/* See queries.h. */
#include "queries.h"

#include <string.h>

#include "tables.h"

/* The texts are embedded by query_files.S. */
#define QUERY(name, other, summary) extern const char query_##name[];
#include "queries.def"

const struct query_row queries[QUERIES] = {
#define QUERY(name, other, summary) {#name, query_##name, summary, other},
#include "queries.def"
};

static const char *value_of(const struct query_values *values, const char *name, size_t length)
{
    const struct {
        const char *name, *value;
    } known[] = {{"job", values->job},
                 {"run", values->run},
                 {"other_job", values->other_job},
                 {"other_run", values->other_run}};

    for (size_t i = 0; i < sizeof known / sizeof *known; i++)
        if (strlen(known[i].name) == length && !strncmp(known[i].name, name, length))
            return known[i].value ? known[i].value : "";
    return "";
}

void query_write(struct text *sql, enum query query, const struct query_values *values)
{
    const char *rest = queries[query].text, *brace;
    text_clear(sql);
    while ((brace = strchr(rest, '{')) && strchr(brace, '}')) {
        text_add_bytes(sql, rest, (size_t)(brace - rest));
        fleet_add_literal(sql, value_of(values, brace + 1, strcspn(brace + 1, ":}")));
        rest = strchr(brace, '}') + 1;
    }
    text_add(sql, rest);
}
