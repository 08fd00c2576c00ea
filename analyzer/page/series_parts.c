/* SPDX-License-Identifier: MIT */
/* Parts of a series; see series_parts.h. */
#include "series_parts.h"

#include "analyzer/analysis/category.h"

void series_add_points(struct series_columns *columns, struct doc *doc, size_t count)
{
    static const struct {
        const char *key;
        enum doc_unit unit;
    } rows[SERIES_COLUMNS] = {
        [SERIES_SEQ] = {"seq", DOC_COUNT},         [SERIES_TIME] = {"time_ns", DOC_NS},
        [SERIES_STEP] = {"step", DOC_COUNT},       [SERIES_PHASE] = {"phase", DOC_COUNT},
        [SERIES_LIVE] = {"live_bytes", DOC_BYTES}, [SERIES_LOWEST] = {"lowest_bytes", DOC_BYTES}};

    doc_object_begin(doc, "points", NULL);
    for (int k = 0; k < SERIES_COLUMNS; k++)
        columns->values[k] = doc_column(doc, rows[k].key, rows[k].unit, count);
    doc_object_end(doc);
}

void series_set_point(const struct series_columns *columns, size_t i,
                      const int64_t point[SERIES_COLUMNS])
{
    for (int k = 0; k < SERIES_COLUMNS; k++)
        if (columns->values[k])
            columns->values[k][i] = point[k];
}

void series_add_category_names(struct doc *doc)
{
    doc_list_begin(doc, "categories", NULL);
    for (int i = 0; i < CATEGORY_COUNT; i++) {
        doc_row_begin(doc);
        doc_text(doc, "category", "Category", category_key((enum category)i));
        doc_text(doc, "title", "Title", category_title((enum category)i));
        doc_row_end(doc);
    }
    doc_list_end(doc);
}

void series_add_frame(struct doc *doc, const char *kind, const char *function, const char *file,
                      uint32_t line, const char *role)
{
    doc_row_begin(doc);
    doc_text(doc, "kind", "Kind", kind);
    doc_text(doc, "function", "Function", function);
    doc_text(doc, "file", "File", file);
    doc_known_count(doc, "line", "Line", line != 0, line);
    doc_text(doc, "role", "Role", role);
    doc_row_end(doc);
}
