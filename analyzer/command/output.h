/* SPDX-License-Identifier: MIT */
/* Writes a command's result to stdout or a file. */
#pragma once

#include "analyzer/command/option/option.h"
#include "analyzer/render/doc.h"

/* command_write calls the writer with the file options->output, or stdout, and checks that
 * everything was written. It refuses an output that is one of the operands. */
typedef int command_writer(void *self, FILE *out, struct err *err);
int command_write(const struct command_options *options, command_writer *writer, void *self,
                  struct err *err);
/* Flushes `out`, because a buffer hides errors until it is flushed. Returns -1 if a write failed.
 * `name` is used in the message "cannot write NAME: …". */
int command_check_written(FILE *out, const char *name, struct err *err);

/* Writes doc in options->format. If the document's table is not set, takes it from the command's
 * row. */
int command_print(struct doc *doc, const struct command_options *options, struct err *err);
