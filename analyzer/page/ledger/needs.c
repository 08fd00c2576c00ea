/* SPDX-License-Identifier: MIT */
/*
 * The sentence about a dry run on cards without limit (--dry-run=any): the card that the run needs.
 * analyzer/need/ finds that card.
 */
#include "analyzer/page/parts.h"

#include <string.h>

#include "analyzer/need/need.h"

enum { SENTENCE_MAX = 1 << 12 };

static int say_need_of_device(struct opening *opening, const struct study *study,
                              const struct device_use *use, struct err *err)
{
    char device[STUDY_DEVICE_BYTES];
    struct need need;
    struct text text;
    if (need_of_device(&need, study, use, err))
        return -1;
    if (!need.card_bytes)
        return 0;
    text_init(&text, SENTENCE_MAX);
    need_write(&text, &need);
    const int status =
        page_say(opening, VERDICT_what, "The run on %s %s.", study_device_name(use->device, device),
                 text_failed(&text) ? "needs a card" : text.data);
    text_release(&text);
    return status;
}

int page_needs_answer(struct opening *opening, const struct study *study, const struct view *view,
                      struct err *err)
{
    const struct history *history = &study->history;
    int said = 0;
    if (!study_has_no_limit(study))
        return 0;
    for (size_t i = 0; i < history->device_count && said >= 0; i++)
        if (view->device < 0 || history->devices[i].device == view->device) {
            const int status = say_need_of_device(opening, study, &history->devices[i], err);

            said = status < 0 ? status : said | status;
        }
    if (said > 0 && !strcmp(opening->next, "peak"))
        page_next(opening, "fit");
    return said;
}
