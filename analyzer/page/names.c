/* SPDX-License-Identifier: MIT */
/* What `resolve` says; see names.h. */
#include "names.h"

static uint64_t count_places(const struct name_counts *counts)
{
    return counts->with_line + counts->with_function + counts->without_name;
}

static void add_name_counts(struct doc *doc, const struct name_counts *counts)
{
    doc_count(doc, "places", "Places", count_places(counts));
    doc_count(doc, "with_line", "With line", counts->with_line);
    doc_count(doc, "with_function", "Function only", counts->with_function);
    doc_count(doc, "without_name", "Module and offset", counts->without_name);
}

void page_names(struct doc *doc, const struct study *study, const struct all_names *names)
{
    doc_object_begin(doc, "names", "Native frames");
    add_name_counts(doc, &names->total);
    doc_object_end(doc);
    doc_list_begin(doc, "modules", "By module");
    for (size_t i = 0; i < study->trace.module_count; i++) {
        const struct trace_module *module = &study->trace.modules[i];

        if (!count_places(&names->by_module[i]))
            continue;
        doc_row_begin(doc);
        add_name_counts(doc, &names->by_module[i]);
        doc_text(doc, "file", "File", symbols_file_state(study->symbols, module));
        doc_text(doc, "module", "Module", module->path);
        doc_text(doc_detail(doc), "build_id", "Build id", module->build_id);
        doc_row_end(doc);
    }
    doc_list_end(doc);
}
