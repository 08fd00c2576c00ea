/* SPDX-License-Identifier: MIT */
/* Which frame names an allocation; see stack_site.h. */
#include "stack_site.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "analyzer/util/utf8.h"

/* How well a frame names an allocation, the best last. */
enum rank {
    RANK_ANY,
    RANK_FRAMEWORK,
    RANK_TEMPLATE, /* of the runtime, compiled into the program around its own code */
    RANK_PLACE,    /* of the program, but without a name */
    RANK_LABEL,
    RANK_PROGRAM,
};

/* Whether it would be the program's, if it had a name. */
static bool lies_in_program(const struct symbol_frame *frame)
{
    struct symbol_frame place = *frame;

    place.is_named = false;
    return frame_role_of(&place) == ROLE_program;
}

static enum rank rank_of(const struct symbol_frame *frame)
{
    if (!strcmp(frame->kind, "label"))
        return RANK_LABEL;
    if (frame->role == ROLE_program)
        return frame->is_named ? RANK_PROGRAM : RANK_PLACE;
    if (frame->role == ROLE_framework || frame->role == ROLE_cuda)
        return RANK_FRAMEWORK;
    return lies_in_program(frame) ? RANK_TEMPLATE : RANK_ANY;
}

/* The innermost counts among the program's own frames, the outermost among all others. */
static bool is_better(enum rank rank, enum rank best)
{
    return rank > best || (rank == best && rank <= RANK_FRAMEWORK);
}

/* Frames further in only show how a framework takes memory from its pool. */
static void note_called(struct stack_site *site, bool *is_python, const struct symbol_frame *frame)
{
    bool this_is_python = !strcmp(frame->kind, "python");

    if (frame->role != ROLE_framework || !frame->is_named || *is_python)
        return;
    *is_python = this_is_python;
    site->called = frame->function;
}

int stack_site_find(struct stack_site *site, struct symbols *symbols, uint32_t stack_id,
                    struct err *err)
{
    struct symbol_walk walk = symbols_walk_begin(symbols, stack_id);
    struct symbol_frame frame;
    enum rank best = RANK_ANY;
    bool called_python = false;
    const char *called;
    int status = 1;

    *site = (struct stack_site){0};
    for (int depth = 0; best != RANK_PROGRAM; depth++) {
        status = symbols_walk_next(&walk, &frame, err);
        if (status <= 0)
            break;
        note_called(site, &called_python, &frame);
        if (site->is_found && !is_better(rank_of(&frame), best))
            continue;
        best = rank_of(&frame);
        called = site->called;
        *site =
            (struct stack_site){.frame = frame, .depth = depth, .is_found = true, .called = called};
    }
    site->is_of_program = best == RANK_PROGRAM || best == RANK_PLACE || best == RANK_TEMPLATE;
    if (!site->is_of_program)
        site->called = NULL;
    return status < 0 ? -1 : 0;
}

const char *stack_base_name(const char *path)
{
    const char *slash = strrchr(path, '/');

    return slash ? slash + 1 : path;
}

const char *stack_function_text(const char *function, char buffer[STACK_FUNCTION_BYTES])
{
    static const char more[] = "…";
    size_t length = 0;
    uint32_t code;

    if (strlen(function) < STACK_FUNCTION_BYTES)
        return function;
    for (size_t next = 0; next + sizeof more <= STACK_FUNCTION_BYTES;
         next += utf8_next(function + next, &code))
        length = next;
    memcpy(buffer, function, length);
    memcpy(buffer + length, more, sizeof more);
    return buffer;
}

const char *stack_site_text(const struct stack_site *site, char buffer[STACK_SITE_TEXT_BYTES])
{
    char shortened[STACK_FUNCTION_BYTES];
    const struct symbol_frame *frame = &site->frame;
    const char *function;

    if (!site->is_found)
        return "(no stack was taken)";
    function = stack_function_text(frame->function, shortened);
    if (frame->file && frame->line)
        snprintf(buffer, STACK_SITE_TEXT_BYTES, "%.180s:%" PRIu32 " %s",
                 stack_base_name(frame->file), frame->line, function);
    else if (frame->file)
        snprintf(buffer, STACK_SITE_TEXT_BYTES, "%.180s %s", stack_base_name(frame->file),
                 function);
    else if (frame->is_named && frame->module)
        snprintf(buffer, STACK_SITE_TEXT_BYTES, "%s (%.180s)", function,
                 stack_base_name(frame->module));
    else
        snprintf(buffer, STACK_SITE_TEXT_BYTES, "%s", function);
    return buffer;
}
