/* SPDX-License-Identifier: MIT */
/* `gpumemtrace oom`: why allocations failed. */
#include "analyzer/command.h"
#include "answer.h"

static int add_tail(struct doc *doc, const struct study *study, const struct view *view,
                    struct err *err)
{
    return docs_oom(doc, study, view, err) || docs_warnings(doc, study, view, err) ? -1 : 0;
}

int command_oom(int argc, char **argv, struct err *err)
{
    static const struct answer answer = {.schema = "gpumemtrace.oom/1", .tail = add_tail};

    return answer_command(&answer, argc, argv, err);
}
