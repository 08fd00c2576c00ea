/* SPDX-License-Identifier: MIT */
/* Writes JUnit XML, which continuous integration shows. Each row of the document's list "checks"
 * (with name, passed and message) becomes one test case. A document without that list cannot be
 * shown. */
#include <inttypes.h>

#include "checks.h"
#include "format.h"
#include "analyzer/util/utf8.h"

/* XML 1.0 allows no control characters except tab and line feed, not even escaped ones. */
static void write_attribute(FILE *out, const char *name, const char *value)
{
    fprintf(out, " %s=\"", name);
    while (*value) {
        uint32_t code;
        size_t length = utf8_next(value, &code);
        if (code == '&' || code == '<' || code == '>' || code == '"' || code == '\n' ||
            code == '\t')
            fprintf(out, "&#%u;", (unsigned)code);
        else if (code < 0x20 || code == 0xfffe || code == 0xffff || code == UTF8_REPLACEMENT)
            fputs("\xef\xbf\xbd", out);
        else
            fwrite(value, 1, length, out);
        value += length;
    }
    putc('"', out);
}

static void write_case(FILE *out, const struct doc_node *row)
{
    fputs("  <testcase classname=\"gpumemtrace\"", out);
    write_attribute(out, "name", checks_text(row, "name"));
    if (checks_line(row)) {
        write_attribute(out, "file", checks_text(row, "file"));
        fprintf(out, " line=\"%" PRId64 "\"", checks_line(row));
    }
    if (checks_passed(row)) {
        fputs("/>\n", out);
        return;
    }
    fputs(">\n    <failure", out);
    write_attribute(out, "message", checks_text(row, "message"));
    fputs("/>\n  </testcase>\n", out);
}

int render_junit(const struct doc *doc, FILE *out, struct err *err)
{
    struct checks checks;
    if (checks_find(&checks, doc, "junit", err))
        return -1;
    fputs("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n", out);
    fprintf(out, "<testsuite name=\"gpumemtrace\" tests=\"%zu\" failures=\"%zu\">\n", checks.count,
            checks.broken_count);
    for (const struct doc_node *row = checks.first; row; row = row->next)
        if (row->type == DOC_OBJECT)
            write_case(out, row);
    fputs("</testsuite>\n", out);
    return 0;
}
