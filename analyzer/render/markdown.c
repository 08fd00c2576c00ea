/* SPDX-License-Identifier: MIT */
/* Writes Markdown for a pull request or a job's summary. The verdict is a heading, and a table of
 * the limits follows. */
#include <inttypes.h>
#include <string.h>

#include "checks.h"
#include "format.h"

/* Escapes some characters, because a bar would end the cell, a line feed would end the row, and <
 * would begin HTML. */
static void write_cell(FILE *out, const char *text)
{
    for (; *text; text++)
        if (strchr("|<>`*_\\", *text))
            fprintf(out, "&#%u;", (unsigned)(unsigned char)*text);
        else
            putc(*text == '\n' || *text == '\r' ? ' ' : *text, out);
}

static void write_row(FILE *out, const struct doc_node *row)
{
    fprintf(out, "| %s | ", checks_passed(row) ? "ok" : "**BROKEN**");
    write_cell(out, checks_text(row, "message"));
    fputs(" | ", out);
    if (checks_line(row)) {
        write_cell(out, checks_text(row, "file"));
        fprintf(out, ":%" PRId64, checks_line(row));
    }
    fputs(" | ", out);
    write_cell(out, checks_text(row, "trace"));
    fputs(" |\n", out);
}

int render_markdown(const struct doc *doc, FILE *out, struct err *err)
{
    struct checks checks;
    if (checks_find(&checks, doc, "markdown", err))
        return -1;
    if (checks.broken_count)
        fprintf(out, "### GPU memory: %zu of %zu limits broken\n", checks.broken_count,
                checks.count);
    else
        fprintf(out, "### GPU memory: within its limits (%zu)\n", checks.count);
    fputs("\n| | Limit | Line to blame | Trace |\n|---|---|---|---|\n", out);
    for (const struct doc_node *row = checks.first; row; row = row->next)
        if (row->type == DOC_OBJECT)
            write_row(out, row);
    return 0;
}
