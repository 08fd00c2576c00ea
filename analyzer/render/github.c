/* SPDX-License-Identifier: MIT */
/*
 * Writes annotations of GitHub Actions. Each broken limit has one line, which GitHub shows as a
 * note on the line of the program that is to blame. If every limit holds, there is a single notice.
 *
 *     ::error file=train.py,line=88,title=gpumemtrace: device 0 …::device 0 … is 34 MiB …
 */
#include <inttypes.h>
#include <string.h>

#include "checks.h"
#include "format.h"

/* Escapes control characters. In a property, also escapes the characters that end a property. */
static void write_escaped(FILE *out, const char *text, const char *escaped)
{
    for (; *text; text++)
        if (strchr(escaped, *text))
            fprintf(out, "%%%02X", (unsigned)(unsigned char)*text);
        else
            putc(*text, out);
}

#define MESSAGE_ESCAPED "%\r\n"
#define PROPERTY_ESCAPED MESSAGE_ESCAPED ":,"

static void write_broken(FILE *out, const struct doc_node *row)
{
    fputs("::error ", out);
    if (checks_line(row)) {
        fputs("file=", out);
        write_escaped(out, checks_text(row, "file"), PROPERTY_ESCAPED);
        fprintf(out, ",line=%" PRId64 ",", checks_line(row));
    }
    fputs("title=gpumemtrace", out);
    write_escaped(out, ": ", PROPERTY_ESCAPED);
    write_escaped(out, checks_text(row, "subject"), PROPERTY_ESCAPED);
    fputs("::", out);
    write_escaped(out, checks_text(row, "message"), MESSAGE_ESCAPED);
    putc('\n', out);
}

int render_github(const struct doc *doc, FILE *out, struct err *err)
{
    struct checks checks;
    if (checks_find(&checks, doc, "github", err))
        return -1;
    for (const struct doc_node *row = checks.first; row; row = row->next)
        if (row->type == DOC_OBJECT && !checks_passed(row))
            write_broken(out, row);
    if (!checks.broken_count)
        fprintf(out, "::notice title=gpumemtrace::%zu limit%s hold%s\n", checks.count,
                checks.count == 1 ? "" : "s", checks.count == 1 ? "s" : "");
    return 0;
}
