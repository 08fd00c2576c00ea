/* SPDX-License-Identifier: MIT */
/* `gpumemtrace phases`: what each phase cost. */
#include "analyzer/command.h"
#include "answer.h"

/* Saying nothing would look like a phase that cost nothing. */
static int add_tail(struct doc *doc, const struct study *study, const struct view *view,
                    struct err *err)
{
    if (view->people && !study->history.path_count)
        doc_note(doc, "The program named no phases: NVTX ranges and gpumemtrace_phase_push do.");
    return docs_warnings(doc, study, view, err);
}

int command_phases(int argc, char **argv, struct err *err)
{
    static const struct answer answer = {
        .schema = "gpumemtrace.phases/1", .device = docs_phases, .tail = add_tail};

    return answer_command(&answer, argc, argv, err);
}
