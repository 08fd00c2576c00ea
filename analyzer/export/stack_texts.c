/* SPDX-License-Identifier: MIT */
/* Caches texts of stacks by stack id; see stack_texts.h. */
#include "stack_texts.h"

#include <stdlib.h>

#include "analyzer/util/array.h"

struct stack_texts *stack_texts_new(const struct export *export, struct err *err)
{
    struct stack_texts *texts = array_new(1, sizeof *texts, err);
    if (!texts)
        return NULL;
    for (size_t i = 0; i < STACK_TEXTS; i++)
        text_init(&texts->items[i].text, STACK_TEXT_BYTES_MAX);
    if (!frames_init(&texts->frames, export, err))
        return texts;
    stack_texts_free(texts);
    return NULL;
}

static void forget_all(struct stack_texts *texts)
{
    for (size_t i = 0; i < STACK_TEXTS; i++) {
        text_release(&texts->items[i].text);
        texts->items[i].stack_id = 0;
    }
    texts->bytes = 0;
}

void stack_texts_free(struct stack_texts *texts)
{
    if (!texts)
        return;
    forget_all(texts);
    frames_release(&texts->frames);
    free(texts);
}

const char *stack_texts_get(struct stack_texts *texts, uint32_t stack_id, struct err *err)
{
    struct stack_text *kept = &texts->items[stack_id % STACK_TEXTS];
    if (!stack_id)
        return "";
    if (kept->stack_id == stack_id)
        return kept->text.data;
    if (texts->bytes > STACK_TEXTS_BYTES_MAX)
        forget_all(texts);
    kept->stack_id = 0;
    if (frames_walk(&texts->frames, stack_id, err) || frames_join(&texts->frames, &kept->text, err))
        return NULL;
    texts->bytes += kept->text.capacity;
    kept->stack_id = stack_id;
    return kept->text.data;
}
