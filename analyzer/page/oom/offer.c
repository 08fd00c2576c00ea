/* SPDX-License-Identifier: MIT */
/* Suggests `fix` for a program that died of a failed allocation. */
#include "oom.h"

#include <inttypes.h>
#include <string.h>

#include "analyzer/oom/oom_kind.h"
#include "analyzer/util/text.h"

#define MIB (UINT64_C(1) << 20)

/* True if the command can be pasted into a shell. A trace joins the arguments by spaces. So this
 * refuses a command that a shell would read differently, and a command with -c, because the program
 * after -c cannot be told from its arguments. */
static bool is_pasted_as_it_was(const char *command)
{
    static const char plain[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"
                                "_-./+:@%,= ";
    return *command && command[strspn(command, plain)] == '\0' && !strstr(command, " -c ");
}

/* True if the command can be run alone. The command of one rank cannot, because a launcher sets its
 * environment. */
static bool has_whole_command(const struct study *study)
{
    const struct trace_meta *meta = &study->trace.meta;
    return meta->command.value && is_pasted_as_it_was(meta->command.value) && !meta->rank.known;
}

void page_oom_offer(struct opening *opening, const struct study *study,
                    const struct failure *failure)
{
    const struct trace_meta *meta = &study->trace.meta;
    const uint64_t card_bytes =
        study_card_bytes(study, study->history.accounts[failure->account].device);
    struct text line;
    if (oom_kind_of(&study->history, failure) != OOM_KIND_FATAL || !has_whole_command(study) ||
        study_has_no_limit(study) || (!meta->dry_run.value && !card_bytes))
        return;
    text_init(&line, OPENING_NEXT_BYTES);
    if (meta->dry_run.value)
        text_addf(&line, "fix --gpu=%s -- %s", meta->dry_run.value, meta->command.value);
    else
        text_addf(&line, "fix --limit=%" PRIu64 "MiB -- %s", card_bytes / MIB, meta->command.value);
    if (!text_failed(&line))
        page_next_whole(opening, line.data);
    text_release(&line);
}
