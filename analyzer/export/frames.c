/* SPDX-License-Identifier: MIT */
/* Numbers the frames of stacks; see frames.h. */
#include "frames.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "analyzer/util/array.h"
#include "analyzer/util/text.h"
#include "analyzer/util/utf8.h"

int frames_init(struct export_frames *frames, const struct export *export, struct err *err)
{
    *frames = (struct export_frames){.symbols = export->study.symbols,
                                     .takes_all = export->view.all_frames};
    text_init(&frames->cleaned, FRAMES_TEXT_BYTES_MAX);
    return frames_text(frames, "", err) == TEXT_SET_NONE ? -1 : 0;
}

void frames_release(struct export_frames *frames)
{
    text_set_release(&frames->texts);
    text_release(&frames->cleaned);
    pair_map_release(&frames->numbers);
    free(frames->items);
    free(frames->stack);
    *frames = (struct export_frames){0};
}

uint32_t frames_text(struct export_frames *frames, const char *text, struct err *err)
{
    text_clear(&frames->cleaned);
    utf8_add(&frames->cleaned, text ? text : "");
    if (!text_failed(&frames->cleaned))
        return text_set_add(&frames->texts, frames->cleaned.data, err);
    err_set(err, ERR_SYSTEM, "out of memory for the names of frames");
    return TEXT_SET_NONE;
}

static int number_frame(struct export_frames *frames, const struct export_frame *frame,
                        uint32_t *number, struct err *err)
{
    const uint64_t key = (uint64_t)frame->function << 32 | frame->line;
    *number = pair_map_get(&frames->numbers, frame->file, key);
    if (*number != PAIR_MAP_NONE)
        return 0;
    if (ARRAY_GROW(frames->items, frames->capacity, frames->count, err))
        return -1;
    *number = (uint32_t)frames->count;
    frames->items[frames->count++] = *frame;
    return pair_map_put(&frames->numbers, frame->file, key, *number, err);
}

static int push(struct export_frames *frames, const char *function, const char *file, uint32_t line,
                struct err *err)
{
    struct export_frame frame = {.line = line};
    frame.function = frames_text(frames, function, err);
    frame.file = frame.function == TEXT_SET_NONE ? TEXT_SET_NONE : frames_text(frames, file, err);
    if (frame.file == TEXT_SET_NONE)
        return -1;
    if (ARRAY_GROW(frames->stack, frames->stack_capacity, frames->depth, err))
        return -1;
    return number_frame(frames, &frame, &frames->stack[frames->depth++], err);
}

static int push_frames(struct export_frames *frames, uint32_t stack_id, bool takes_all,
                       struct err *err)
{
    struct symbol_walk walk = symbols_walk_begin(frames->symbols, stack_id);
    struct symbol_frame frame;
    int status;
    while ((status = symbols_walk_next(&walk, &frame, err)) > 0) {
        if (!takes_all && (frame.role == ROLE_own || frame.role == ROLE_interpreter))
            continue;
        if (push(frames, frame.function, frame.file ? frame.file : frame.module, frame.line, err))
            return -1;
    }
    return status;
}

int frames_walk(struct export_frames *frames, uint32_t stack_id, struct err *err)
{
    frames->depth = 0;
    if (push_frames(frames, stack_id, frames->takes_all, err) ||
        (!frames->depth && push_frames(frames, stack_id, true, err)))
        return -1;
    return frames->depth ? 0 : push(frames, "(no stack was taken)", NULL, 0, err);
}

int frames_put_around(struct export_frames *frames, const char *name, struct err *err)
{
    return push(frames, name, NULL, 0, err);
}

void frames_describe(const struct export_frames *frames, uint32_t number, struct text *text)
{
    const struct export_frame *frame = &frames->items[number];
    const char *function = frames_function(frames, number);
    text_add(text, *function ? function : "?");
    if (!frame->file)
        return;
    text_addf(text, " (%s", path_name(frames_file(frames, number)));
    if (frame->line)
        text_addf(text, ":%" PRIu32, frame->line);
    text_add(text, ")");
}

/* Returns a number of frames that certainly fit into the limit. The frames are counted from the
 * allocation outwards. */
static size_t count_fitting(const struct export_frames *frames, size_t limit)
{
    enum { MARKS_AND_LINE = 24 };
    size_t bytes = MARKS_AND_LINE, count = 0;

    for (; count < frames->depth; count++) {
        bytes += MARKS_AND_LINE + strlen(frames_function(frames, frames->stack[count])) +
                 strlen(frames_file(frames, frames->stack[count]));
        if (bytes > limit)
            break;
    }
    return count;
}

int frames_join(const struct export_frames *frames, struct text *text, struct err *err)
{
    const size_t count = count_fitting(frames, text->limit);
    text_clear(text);
    if (count < frames->depth)
        text_add(text, "…;");
    for (size_t i = count; i-- > 0;) {
        const size_t start = text->length;

        frames_describe(frames, frames->stack[i], text);
        for (size_t at = start; at < text->length; at++)
            if (text->data[at] == ';')
                text->data[at] = ':';
        text_add(text, i ? ";" : "");
    }
    if (!text_failed(text))
        return 0;
    return err_set(err, ERR_SYSTEM, "out of memory for the text of a stack");
}
