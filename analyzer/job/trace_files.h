/* SPDX-License-Identifier: MIT */
/* Operands that are folders stand for the traces in them. It must not know what a trace is. */
#ifndef GPUMEMTRACE_ANALYZER_JOB_TRACE_FILES_H
#define GPUMEMTRACE_ANALYZER_JOB_TRACE_FILES_H

#include "gpumemtrace/err.h"

struct trace_files {
    const char **paths; /* the operands in their order; of a folder its *.db, rank2 before rank10 */
    char **owned;
    int count, owned_count;
};

/* A folder without any is an error. On -1 nothing has to be released. */
int trace_files_find(struct trace_files *files, const char *const *operands, int count,
                     struct err *err);
void trace_files_release(struct trace_files *files);

#endif
