/* SPDX-License-Identifier: MIT */
/* How a command's result reaches its reader. It must not know what the result says. */
#ifndef GPUMEMTRACE_ANALYZER_COMMAND_OUTPUT_H
#define GPUMEMTRACE_ANALYZER_COMMAND_OUTPUT_H

#include "option.h"
#include "analyzer/render/doc.h"

/*
 * Renders doc to options->output or stdout in options->format and checks that all of it was
 * written. An output that is one of the operands is refused. The document learns its table from the
 * command's row.
 */
int command_print(struct doc *doc, const struct command_options *options, struct err *err);

#endif
