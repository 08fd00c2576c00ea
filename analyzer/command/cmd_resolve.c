/* SPDX-License-Identifier: MIT */
/* `gpumemtrace resolve`: writes the names of native frames into the trace. What it says of them is
 * page/names.c. */
#include "answer.h"

#include "analyzer/page/names.h"
#include "analyzer/page/parts.h"
#include "analyzer/symbol/all_names.h"

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
        page_names(doc, study, &names);
    all_names_release(&names);
    return status ? -1 : page_warnings(doc, study, view, err);
}

int command_resolve(const struct command *command, int argc, char **argv, struct err *err)
{
    static const struct page page = {
        .schema = "gpumemtrace.resolve/1", .writes_names = true, .tail = write_names};

    return answer_command(&page, command, argc, argv, err);
}
