/* SPDX-License-Identifier: MIT */
/*
 * Reads collapsed stacks. Each line has one call stack, from the outermost frame inwards, and the
 * bytes that the stack held. The file shows one moment, so each line becomes one block of a pool,
 * at an invented address.
 *
 *     main (train.py:9);forward (model.py:12);cudaMalloc 1048576
 */
#include <string.h>

#include "draft.h"
#include "gpumemtrace/limits.h"
#include "lines.h"

enum { FIRST_ADDRESS = 1 << 20 };
#define BYTES_MOST ((uint64_t)1 << 61)

struct stacks {
    struct lines lines;
    struct draft *draft;
    struct event event;
    struct err *err;
};

/* Cuts the number behind the last space off the line. */
static bool cut_bytes(struct piece *line, uint64_t *bytes)
{
    size_t space = line->length;
    while (space && line->text[space - 1] != ' ')
        space--;
    if (!space || !piece_number((struct piece){line->text + space, line->length - space}, 10,
                                BYTES_MOST, bytes))
        return false;
    line->length = space - 1;
    return line->length > 0;
}

/* Splits "NAME (FILE:LINE)". Returns false if the name has no file and line. */
static bool cut_place(struct piece *name, struct piece *file, uint64_t *line)
{
    size_t open = name->length, colon;
    if (!open || name->text[open - 1] != ')')
        return false;
    while (open && name->text[open - 1] != '(')
        open--;
    for (colon = name->length - 1; colon > open && name->text[colon] != ':';)
        colon--;
    if (open < 3 || name->text[open - 2] != ' ' || colon <= open ||
        !piece_number((struct piece){name->text + colon + 1, name->length - colon - 2}, 10,
                      INT32_MAX, line))
        return false;
    *file = (struct piece){name->text + open, colon - open};
    name->length = open - 2;
    return true;
}

static bool is_python(struct piece file)
{
    return (file.length > 3 && !memcmp(file.text + file.length - 3, ".py", 3)) ||
           (file.length && file.text[0] == '<');
}

static uint32_t add_frame(struct stacks *stacks, uint32_t parent, struct piece name)
{
    struct draft_place place = {0};
    struct piece file = {0};
    uint64_t line = 0;
    const bool has_place = cut_place(&name, &file, &line);
    place.line = (uint32_t)line;
    place.function_id = draft_text(stacks->draft, name.text, name.length, stacks->err);
    if (!place.function_id)
        return 0;
    if (has_place &&
        !(place.file_id = draft_text(stacks->draft, file.text, file.length, stacks->err)))
        return 0;
    return (is_python(file) ? draft_python_frame : draft_native_frame)(stacks->draft, parent,
                                                                       &place, stacks->err);
}

static int add_line(struct stacks *stacks)
{
    struct piece rest = stacks->lines.line;
    struct event *event = &stacks->event;
    if (!rest.length)
        return 0;
    event->address += event->size_bytes;
    event->stack_id = 0;
    if (!cut_bytes(&rest, &event->size_bytes))
        return lines_broken(&stacks->lines, "not a stack followed by its bytes", stacks->err);
    if (!event->size_bytes)
        return 0;
    if (event->address > BYTES_MOST)
        return lines_broken(&stacks->lines, "the bytes add up to more than any memory",
                            stacks->err);
    for (size_t depth = 0; rest.length && depth < LIMIT_stack_frames; depth++)
        if (!(event->stack_id = add_frame(stacks, event->stack_id, piece_cut(&rest, ';'))))
            return -1;
    return draft_event(stacks->draft, event, stacks->err);
}

int import_collapsed(const struct import_source *source, struct draft *draft, struct err *err)
{
    struct stacks stacks = {.lines = {.source = source},
                            .draft = draft,
                            .event = {.kind = EVENT_ALLOC,
                                      .memory = MEMORY_TENSOR,
                                      .thread_id = 1,
                                      .address = FIRST_ADDRESS,
                                      .stream = STREAM_UNKNOWN,
                                      .device = DRAFT_NO_DEVICE},
                            .err = err};
    stacks.event.object = draft_text(draft, "imported", sizeof "imported" - 1, err);
    if (!stacks.event.object || draft_thread(draft, 1, 0, "", err) ||
        draft_hook(draft, "stack", "collapsed", &stacks.event.hook_id, err))
        return -1;
    while (lines_next(&stacks.lines))
        if (add_line(&stacks))
            return -1;
    return draft_does_not_know(draft, err,
                               "times, devices and addresses of the memory, and anything before or "
                               "after this moment") ||
                   draft_lacks(draft, LACK_blocks, err) || draft_lacks(draft, LACK_frees, err) ||
                   draft_lacks(draft, LACK_failures, err)
               ? -1
               : 0;
}

/* Recognizes a text whose first line has a number behind its last space. */
bool import_is_collapsed(const struct import_source *source)
{
    struct lines lines = {.source = source};
    uint64_t bytes;
    return source->length && !memchr(source->bytes, '\0', source->length) && lines_next(&lines) &&
           cut_bytes(&lines.line, &bytes);
}
