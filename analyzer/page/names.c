/* SPDX-License-Identifier: MIT */
/* The page of `resolve`; see names.h. */
#include "names.h"

#include <inttypes.h>

#include "analyzer/util/text.h"

static uint64_t count_places(const struct name_counts *counts)
{
    return counts->with_line + counts->with_function + counts->without_name;
}

/* Returns the module with the most places that have no name, or NULL if all places have a name. */
static const struct trace_module *worst_module(const struct trace *trace,
                                               const struct all_names *names)
{
    const struct trace_module *worst = NULL;
    uint64_t most = 0;
    for (size_t i = 0; i < trace->module_count; i++) {
        if (names->by_module[i].without_name <= most)
            continue;
        most = names->by_module[i].without_name;
        worst = &trace->modules[i];
    }
    return worst;
}

int page_names_say(struct opening *opening, const struct study *study,
                   const struct all_names *names)
{
    const struct name_counts *total = &names->total;
    const struct trace_module *worst = worst_module(&study->trace, names);
    const uint64_t places = count_places(total);
    enum { MODULE_CHARACTERS = 20 };

    page_next(opening, "report");
    if (!places)
        return page_say(opening, VERDICT_what, "The trace has no native frames to name.");
    if (!total->without_name)
        return page_say(opening, VERDICT_what,
                        "All %" PRIu64 " native frames have a name, %" PRIu64
                        " of them a line, too; the trace stores the names.",
                        places, total->with_line);
    page_say(opening, VERDICT_what,
             "%" PRIu64 " of %" PRIu64 " native frames have no name, most of them in %s (%s).",
             total->without_name, places,
             worst ? FIT_TEXT(path_name(worst->path), MODULE_CHARACTERS) : "no module",
             worst ? symbols_file_state(study->symbols, worst) : "not known");
    return page_say(opening, VERDICT_do, "--debug-dir=DIR names a folder that has its file.");
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
