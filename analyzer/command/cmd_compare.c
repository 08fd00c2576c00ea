/* SPDX-License-Identifier: MIT */
/* `gpumemtrace compare TRACE MODEL`: measured beside estimated. page/compare/ writes the answer. */
#include "answer.h"
#include "output.h"
#include "model_options.h"
#include "analyzer/page/compare/compare.h"

static int print_comparison(struct model_asked *asked, struct err *err)
{
    const struct command_options *options = &asked->options;
    const struct page_compare_options compared = {
        &asked->estimate,
        {.context_bytes = asked->own.context_bytes, .all_layers = asked->own.layers}};
    const struct view view = answer_view(options, &compared);
    struct command_options of_traces = *options;
    struct doc *doc = NULL;
    of_traces.operand_count = 1; /* the second operand is the model */
    if (answer_build(&doc, &page_compare, &view, &of_traces, err))
        return -1;
    const int status = command_print(doc, options, err);
    doc_free(doc);
    return status;
}

int command_compare(const struct command *command, int argc, char **argv, struct err *err)
{
    return model_command(command, argc, argv, 1, print_comparison, NULL, err);
}
