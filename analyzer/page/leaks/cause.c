/* SPDX-License-Identifier: MIT */
/* The cause of a leak, in sentences; see cause.h. */
#include "cause.h"

#include "analyzer/page/holders/words.h"
#include "analyzer/page/parts.h"

int cause_say(struct opening *opening, const struct leak_sign *sign)
{
    return sign && page_say(opening, VERDICT_why, "%s.", sign->why) < 0 ? -1 : 1;
}

int cause_say_holder(struct opening *opening, const struct study *study,
                     const struct leak_evidence *evidence)
{
    return evidence->holder ? page_say_holder(opening, study, &evidence->held,
                                              evidence->walked_bytes, evidence->walk)
                            : 1;
}

/* A sign that holds although the holder is known tells more than the holder's kind. */
int cause_say_action(struct opening *opening, const struct leak_sign *sign,
                     const struct leak_evidence *evidence)
{
    const char *action = sign               ? sign->action
                         : evidence->holder ? holder_action(&evidence->held)
                                            : NULL;

    return action ? page_say(opening, VERDICT_do, "%s", action) : 1;
}

/* The function that gives back memory beside the card's; NULL: not known. */
static const char *release_of(enum memory_kind memory)
{
    switch (memory) {
    case MEMORY_PINNED:
        return "cudaFreeHost";
    case MEMORY_REGISTERED:
        return "cudaHostUnregister";
    case MEMORY_MANAGED:
        return "cudaFree";
    default:
        return NULL;
    }
}

int cause_say_release(struct opening *opening, const struct leak_evidence *evidence)
{
    if (!evidence->is_beside || evidence->slope <= 0)
        return 1;
    if (evidence->has_python)
        return page_say(opening, VERDICT_do,
                        "Drop what keeps the buffers of this line, or use one buffer again.");
    const char *release = release_of(evidence->memory);
    return release ? page_join(opening, VERDICT_do, "%s gives this memory back", release) : 1;
}
