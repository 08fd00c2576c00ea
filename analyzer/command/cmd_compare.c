/* SPDX-License-Identifier: MIT */
/* `gpumemtrace compare TRACE MODEL`: measured beside estimated. What it says is page/compare.c. */
#include "answer.h"
#include "output.h"
#include "model_options.h"
#include "analyzer/page/compare.h"

static int print_comparison(const struct estimate *estimate, const struct command_options *options,
                            const struct model_options *own, struct err *err)
{
    const struct page_compare_options compared = {estimate, {own->context_bytes, own->layers}};
    const struct view view = answer_view(options, &compared);
    struct doc *doc = NULL;

    if (page_build(&doc, options->format->reads, &page_compare, &view, options->operands[0], err))
        return -1;
    const int status = command_print(doc, options, err);
    doc_free(doc);
    return status;
}

int command_compare(const struct command *command, int argc, char **argv, struct err *err)
{
    return model_command(command, argc, argv, 1, print_comparison, err);
}
