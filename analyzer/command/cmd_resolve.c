/* SPDX-License-Identifier: MIT */
/* `gpumemtrace resolve`: writes the names of native frames into the trace. page/names.c
 * writes the answer. */
#include "answer.h"

#include "analyzer/page/names.h"
#include "analyzer/page/parts.h"
#include "analyzer/symbol/all_names.h"

static int write_names(struct opening *opening, const struct study *study, const struct view *view,
                       struct err *err)
{
    struct all_names *names = *(struct all_names *const *)view->own;
    all_names_release(names);
    symbols_prefer_files(study->symbols);
    if (all_names_collect(names, &study->trace, study->symbols, err) ||
        write_symbol_names(&study->trace, names->items, names->count, err))
        return -1;
    return page_names_say(opening, study, names);
}

static int show_names(struct doc *doc, const struct study *study, const struct view *view,
                      struct err *err)
{
    page_names(doc, study, *(struct all_names *const *)view->own);
    return page_warnings(doc, study, view, err);
}

int command_resolve(const struct command *command, int argc, char **argv, struct err *err)
{
    static const struct page page = {.schema = "gpumemtrace.resolve/1",
                                     .writes_names = true,
                                     .takes_each = true,
                                     .answer = write_names,
                                     .tail = show_names};
    struct command_options options;
    struct all_names names = {0}, *own = &names; /* names of the current trace */

    if (options_parse(&options, command, NULL, NULL, argc, argv, err))
        return -1;
    const int status = answer_print(&page, &options, &own, err);
    all_names_release(&names);
    return status;
}
