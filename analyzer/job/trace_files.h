/* SPDX-License-Identifier: MIT */
/* Finds the traces that the operands of a command stand for. A folder stands for the traces in
 * it. */
#pragma once

#include "gpumemtrace/err.h"

struct trace_files {
    /* in the order of the operands; a folder gives its *.db files, rank2 before rank10 */
    const char **paths;
    char **owned;
    int count, owned_count;
};

/* Finds the traces. A folder without a trace is an error. On -1 nothing has to be released. */
int trace_files_find(struct trace_files *files, const char *const *operands, int count,
                     struct err *err);
void trace_files_release(struct trace_files *files);
