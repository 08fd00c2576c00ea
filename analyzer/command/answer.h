/* SPDX-License-Identifier: MIT */
/* The shared part of all commands that answer from traces. It turns options into a view, traces
 * into a document, and writes the document to its output. The page alone decides what the document
 * says. */
#pragma once

#include "analyzer/page/page.h"
#include "options.h"

/* Returns the view that the options ask for. The page's functions read `own` as view->own. */
struct view answer_view(const struct command_options *options, const void *own);

/* Parses the shared options, builds the document and prints it. Returns the exit status or -1, as a
 * command does. */
int answer_command(const struct page *page, const struct command *command, int argc, char **argv,
                   struct err *err);

/* Sets *reads to the nodes that the format reads. Adds the series if --series was given. */
int answer_reads(enum doc_level *reads, const struct command_options *options, struct err *err);

/* Builds the document of the traces that the operands name; an operand may be a folder of traces.
 * The caller frees *doc. */
int answer_build(struct doc **doc, const struct page *page, const struct view *view,
                 const struct command_options *options, struct err *err);

/* Like answer_command, for a command that has already parsed its options. */
int answer_print(const struct page *page, const struct command_options *options, const void *own,
                 struct err *err);

/* Refuses (ERR_USAGE) a value of --samples that is above `most`. */
int answer_check_samples(long samples, long most, struct err *err);
