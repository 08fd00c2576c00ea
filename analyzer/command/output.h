/* SPDX-License-Identifier: MIT */
/* How a command's result reaches its reader. It must not know what the result says. */
#ifndef GPUMEMTRACE_ANALYZER_COMMAND_OUTPUT_H
#define GPUMEMTRACE_ANALYZER_COMMAND_OUTPUT_H

#include "analyzer/command/option/option.h"
#include "analyzer/render/doc.h"

/*
 * Hands options->output, or stdout, to a function that writes the result and checks that all of it was
 * written. An output that is one of the operands is refused.
 */
typedef int command_writer(void *self, FILE *out, struct err *err);
int command_write(const struct command_options *options, command_writer *writer, void *self,
                  struct err *err);
/* -1: not all that was written there has arrived, which a buffer hides until it is flushed. name: "cannot write NAME: …". */
int command_check_written(FILE *out, const char *name, struct err *err);

/* Writes doc in options->format. The document learns its table from the command's row. */
int command_print(struct doc *doc, const struct command_options *options, struct err *err);

#endif
