/* SPDX-License-Identifier: MIT */
/* `gpumemtrace resolve`: writes the names of native frames into the trace. */
#include "analyzer/command.h"
#include "answer.h"

#include "analyzer/symbol/all_names.h"

static uint64_t places(const struct name_counts *counts)
{
    return counts->with_line + counts->with_function + counts->without_name;
}

static void add_counts(struct doc *doc, const struct name_counts *counts, bool people)
{
    doc_count(doc, "places", people ? "Places" : NULL, places(counts));
    doc_count(doc, "with_line", people ? "With line" : NULL, counts->with_line);
    doc_count(doc, "with_function", people ? "Function only" : NULL, counts->with_function);
    doc_count(doc, "without_name", people ? "Module and offset" : NULL, counts->without_name);
}

static void add_module(struct doc *doc, const struct study *study, size_t number,
                       const struct name_counts *counts, bool people)
{
    const struct trace_module *module = &study->trace.modules[number];

    doc_row_begin(doc);
    add_counts(doc, counts, people);
    doc_text(doc, "file", people ? "File" : NULL, symbols_file_state(study->symbols, module));
    doc_text(doc, "module", people ? "Module" : NULL, module->path);
    doc_text(doc, "build_id", NULL, module->build_id);
    doc_row_end(doc);
}

static void add_result(struct doc *doc, const struct study *study, const struct all_names *names,
                       bool people)
{
    doc_object_begin(doc, "names", people ? "Native frames" : NULL);
    add_counts(doc, &names->total, people);
    doc_object_end(doc);
    doc_list_begin(doc, "modules", people ? "By module" : NULL);
    for (size_t i = 0; i < study->trace.module_count; i++)
        if (places(&names->by_module[i]))
            add_module(doc, study, i, &names->by_module[i], people);
    doc_list_end(doc);
}

static int write_names(struct doc *doc, const struct study *study, const struct view *view,
                       struct err *err)
{
    struct all_names names;
    int status;

    symbols_prefer_files(study->symbols);
    if (all_names_collect(&names, &study->trace, study->symbols, err))
        return -1;
    status = write_symbol_names(&study->trace, names.items, names.count, err);
    if (!status)
        add_result(doc, study, &names, view->people);
    all_names_release(&names);
    return status ? -1 : docs_warnings(doc, study, view, err);
}

int command_resolve(int argc, char **argv, struct err *err)
{
    static const struct answer answer = {.schema = "gpumemtrace.resolve/1", .tail = write_names};

    return answer_command(&answer, argc, argv, err);
}
