/* SPDX-License-Identifier: MIT */
/*
 * What the commands that answer from traces share: options to view, traces to a page, the page to
 * its output. It must not know what any page says.
 */
#ifndef GPUMEMTRACE_ANALYZER_COMMAND_ANSWER_H
#define GPUMEMTRACE_ANALYZER_COMMAND_ANSWER_H

#include "analyzer/page/page.h"
#include "options.h"

/* The view that the options ask for; the page's parts get own. */
struct view answer_view(const struct command_options *options, const void *own);

/* Parses the shared options, builds and prints. Returns the exit status or -1, as a command. */
int answer_command(const struct page *page, const struct command *command, int argc, char **argv,
                   struct err *err);

/* What the format reads, and what was asked for beside it. */
int answer_reads(enum doc_level *reads, const struct command_options *options, struct err *err);

/* The document of the traces that are operands, or in folders that are. *doc is the caller's to free. */
int answer_build(struct doc **doc, const struct page *page, const struct view *view,
                 const struct command_options *options, struct err *err);

/* As answer_command, for a command that has parsed options of its own. */
int answer_print(const struct page *page, const struct command_options *options, const void *own,
                 struct err *err);

/* Refuses more --samples than anyone can use. */
int answer_check_samples(long samples, long most, struct err *err);

#endif
