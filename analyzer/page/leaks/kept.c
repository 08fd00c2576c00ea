/* SPDX-License-Identifier: MIT */
/* Blocks that are all kept, or freed at once, in sentences; see kept.h. */
#include "kept.h"

#include <inttypes.h>
#include <string.h>

#include "lines.h"
#include "analyzer/symbol/symbols.h"
#include "analyzer/thresholds/thresholds.h"

/* Adds "pool.c:69 and :70". */
static void add_lines(struct text *text, const struct account_leak *found, const struct kept *kept)
{
    const struct blamed *first = blame_of(&found->blame, kept->site_ids[0]);
    const struct blamed *second = blame_of(&found->blame, kept->site_ids[kept->count - 1]);
    lines_add_position(text, first, NULL);
    if (second->row != first->row)
        lines_add_position(text, second, first);
}

/* Writes "83 blocks by pool.c:69 and :70". */
#define KEPT_TEXT_BYTES (LINES_TEXT_BYTES + 32)
static void kept_text(char out[KEPT_TEXT_BYTES], const struct account_leak *found)
{
    const struct kept *kept = &found->growth.kept;
    struct text text;
    text_init_in(&text, out, KEPT_TEXT_BYTES);
    text_addf(&text, "%" PRIu64 " blocks by ", kept->blocks_count);
    add_lines(&text, found, kept);
}

int kept_say_larger(struct opening *opening, const struct account_leak *found, const char *layer,
                    enum verdict_role role)
{
    char kept[KEPT_TEXT_BYTES];
    kept_text(kept, found);
    return page_say(opening, role, "%s, none freed, each larger than the one before: %s%s.", kept,
                    BYTES_TEXT(found->growth.kept.bytes), layer) < 0
               ? -1
               : page_say(opening, VERDICT_do,
                          "Give the block its final size at once, or free the one that it "
                          "replaces.");
}

/* Says which line frees several blocks together. */
int kept_say_dropped(struct opening *opening, const struct account_leak *found)
{
    const struct growth *growth = &found->growth;
    return growth->dropped_count < AT_ONCE_FEWEST
               ? 1
               : page_say(opening, VERDICT_why, "Up to %" PRIu64 " blocks by %s are freed at once.",
                          growth->dropped_count,
                          blame_of(&found->blame, growth->dropped_site_id)->label);
}

/* Sets *is_python if the call stack has a frame of Python. */
static int find_python(bool *is_python, const struct study *study, uint32_t stack_id,
                       struct err *err)
{
    struct symbol_walk walk = symbols_walk_begin(study->symbols, stack_id);
    struct symbol_frame frame;
    int status;
    *is_python = false;
    while ((status = symbols_walk_next(&walk, &frame, err)) > 0)
        *is_python |= !strcmp(frame.kind, "python");
    return status;
}

int kept_say_lost(struct opening *opening, const struct study *study,
                  const struct account_leak *found, struct err *err)
{
    const struct lost *lost = &found->growth.lost;
    const char *label = blame_of(&found->blame, lost->site_id)->label;
    bool is_python;
    if (find_python(&is_python, study, site_stack(lost->site_id), err) < 0 ||
        page_say(opening, VERDICT_what,
                 "Never freed: %" PRIu64 " of the %" PRIu64 " blocks of %s (%s).",
                 lost->blocks_count, lost->blocks_count + lost->freed_count,
                 FIT_TEXT(label, NAME_CHARACTERS), BYTES_TEXT(lost->bytes)) < 0 ||
        page_say(opening, VERDICT_why, "%" PRIu64 " others of this line are freed.",
                 lost->freed_count) < 0)
        return -1;
    return is_python ? 1
                     : page_say(opening, VERDICT_do,
                                "Look for a path through the function that leaves without the "
                                "free.");
}

int kept_say_filled(struct opening *opening, const struct account_leak *found,
                    enum verdict_role role)
{
    const struct filled *filled = &found->growth.filled;
    const char *name = FIT_TEXT(blame_of(&found->blame, filled->site_id)->label, NAME_CHARACTERS);
    char bytes[UNITS_TEXT_BYTES];
    units_bytes(bytes, filled->bytes);
    if (role != VERDICT_what)
        return page_say(opening, role,
                        "%s grew to %s until step %" PRIu64 " and is flat since; new blocks of "
                        "this line replace old ones.",
                        name, bytes, filled->since_step);
    return page_say(opening, role,
                    "No leak so far: %s grew to %s until step %" PRIu64 " and is flat since.", name,
                    bytes, filled->since_step) < 0
               ? -1
               : page_say(opening, VERDICT_why,
                          "New blocks of this line replace old ones, as in a cache that is full.");
}

int kept_say_all(struct opening *opening, const struct account_leak *found, const char *layer)
{
    char kept[KEPT_TEXT_BYTES];
    if (!found->growth.kept.count)
        return 1;
    kept_text(kept, found);
    return page_say(opening, VERDICT_who, "%s were never freed (%s%s).", kept,
                    BYTES_TEXT(found->growth.kept.bytes), layer);
}

int kept_say_after(struct opening *opening, const struct account_leak *found,
                   enum verdict_role role)
{
    const struct kept *after = &found->growth.after;
    char lines[KEPT_TEXT_BYTES], bytes[UNITS_TEXT_BYTES];
    struct text text;
    text_init_in(&text, lines, KEPT_TEXT_BYTES);
    text_clear(&text);
    add_lines(&text, found, after);
    if (page_say(opening, role, "%s more is kept after the last of %" PRIu64 " steps, most by %s.",
                 units_bytes(bytes, after->bytes), found->growth.ends_count, lines) < 0 ||
        page_say(opening, VERDICT_why,
                 "The steps do not leak, but most blocks of these lines are kept.") < 0)
        return -1;
    if (after->blocks_count &&
        page_say(opening, VERDICT_who, "About %" PRIu64 " times, %s is kept.", after->blocks_count,
                 units_bytes(bytes, after->bytes / after->blocks_count)) < 0)
        return -1;
    return page_say(
        opening, VERDICT_do,
        "Look for what keeps them: a list, a cache, a hook, or a free that is missing.");
}
