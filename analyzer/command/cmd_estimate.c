/* SPDX-License-Identifier: MIT */
/* `gpumemtrace estimate MODEL`: how much memory a model should need. page/estimate.c
 * writes the answer. */
#include "output.h"
#include "model_options.h"
#include "analyzer/estimate/weights_load.h"
#include "analyzer/page/estimate.h"
#include "analyzer/page/weights/page_weights.h"

static int print_page(const struct model_asked *asked, const struct estimate_view *view,
                      struct err *err)
{
    struct doc *doc = page_estimate(asked->options.format->reads, &asked->estimate, view);
    if (!doc)
        return err_set(err, ERR_SYSTEM, "out of memory for the result");
    int result = command_print(doc, &asked->options, err);
    doc_free(doc);
    return result;
}

static int print_estimate(struct model_asked *asked, struct err *err)
{
    const struct model_options *own = &asked->own;
    struct answer answer;
    struct run_series series;
    if (answer_find(&answer, &asked->question, own->gpu ? &asked->card : NULL, own->what_if,
                    &asked->estimate, err) ||
        run_series_make(&series, &asked->estimate, err))
        return -1;
    const struct estimate_view view = {.context_bytes = own->context_bytes,
                                       .all_layers = own->layers,
                                       .tensors = own->tensors,
                                       .what_if = own->what_if,
                                       .serving = asked->serving.tokens ? &asked->serving : NULL,
                                       .weights =
                                           asked->model.stored ? &asked->source.weights : NULL,
                                       .answer = &answer,
                                       .series = &series};
    const int result = print_page(asked, &view, err);
    run_series_release(&series);
    return result;
}

/* Prints the size of the weights if the model has files of weights but no description. */
static int print_weights(struct model_asked *asked, struct err *err)
{
    struct footprint load;
    if (weights_load(&asked->source.weights, &load, err))
        return -1;
    struct doc *doc =
        page_weights(asked->options.format->reads, &asked->source, &load, asked->own.tensors);
    if (!doc)
        return err_set(err, ERR_SYSTEM, "out of memory for the result");
    const int result = command_print(doc, &asked->options, err);
    doc_free(doc);
    return result;
}

int command_estimate(const struct command *command, int argc, char **argv, struct err *err)
{
    return model_command(command, argc, argv, 0, print_estimate, print_weights, err);
}
