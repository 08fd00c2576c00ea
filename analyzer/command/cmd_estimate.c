/* SPDX-License-Identifier: MIT */
/* `gpumemtrace estimate MODEL`: how much memory a model should need. What it says is
 * page/estimate.c. */
#include "output.h"
#include "model_options.h"
#include "analyzer/page/estimate.h"

static int print_estimate(const struct estimate *estimate, const struct command_options *options,
                          const struct model_options *own, struct err *err)
{
    struct estimate_view view = {.context_bytes = own->context_bytes, .all_layers = own->layers};
    struct doc *doc = page_estimate(options->format->reads, estimate, &view);
    if (!doc) {
        err_set(err, ERR_SYSTEM, "out of memory for the result");
        return -1;
    }
    int result = command_print(doc, options, err);
    doc_free(doc);
    return result;
}

int command_estimate(const struct command *command, int argc, char **argv, struct err *err)
{
    return model_command(command, argc, argv, 0, print_estimate, err);
}
