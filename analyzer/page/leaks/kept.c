/* SPDX-License-Identifier: MIT */
/* Blocks that are all kept, or freed at once, in sentences; see kept.h. */
#include "kept.h"

#include <inttypes.h>

#include "lines.h"

/* Two blocks are freed at once where a function frees its buffers. */
enum { FEWEST_AT_ONCE = 3 };

/* Writes "83 blocks by pool.c:69 and :70". */
#define KEPT_TEXT_BYTES (LINES_TEXT_BYTES + 32)
static void kept_text(char out[KEPT_TEXT_BYTES], const struct account_leak *found)
{
    const struct kept *kept = &found->growth.kept;
    const struct blamed *first = blame_of(&found->blame, kept->stack_ids[0]);
    struct text text;

    text_init_in(&text, out, KEPT_TEXT_BYTES);
    text_addf(&text, "%" PRIu64 " blocks by ", kept->blocks_count);
    lines_add_position(&text, first, NULL);
    if (kept->count > 1)
        lines_add_position(&text, blame_of(&found->blame, kept->stack_ids[1]), first);
}

int kept_say_larger(struct opening *opening, const struct account_leak *found, const char *layer,
                    enum verdict_role role)
{
    char kept[KEPT_TEXT_BYTES], bytes[UNITS_TEXT_BYTES];

    kept_text(kept, found);
    return page_say(opening, role, "%s, none freed, each larger than the one before: %s%s.", kept,
                    units_bytes(bytes, found->growth.kept.bytes), layer) < 0
               ? -1
               : page_say(opening, VERDICT_do,
                          "Give the block its final size at once, or free the one that it "
                          "replaces.");
}

/* Says which line frees several blocks together. */
int kept_say_dropped(struct opening *opening, const struct account_leak *found)
{
    const struct growth *growth = &found->growth;

    return growth->dropped_count < FEWEST_AT_ONCE
               ? 1
               : page_say(opening, VERDICT_why, "Up to %" PRIu64 " blocks by %s are freed at once.",
                          growth->dropped_count,
                          blame_of(&found->blame, growth->dropped_stack_id)->label);
}

int kept_say_all(struct opening *opening, const struct account_leak *found)
{
    char kept[KEPT_TEXT_BYTES], bytes[UNITS_TEXT_BYTES];

    if (!found->growth.kept.count)
        return 1;
    kept_text(kept, found);
    return page_say(opening, VERDICT_who, "%s were never freed (%s).", kept,
                    units_bytes(bytes, found->growth.kept.bytes));
}
