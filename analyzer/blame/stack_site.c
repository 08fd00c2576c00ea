/* SPDX-License-Identifier: MIT */
/* Finds the frame that names an allocation; see stack_site.h. */
#include "stack_site.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "analyzer/torch/frames.h"
#include "analyzer/util/text.h"
#include "analyzer/util/utf8.h"

/* How well a frame names an allocation, in ascending order. */
enum rank {
    RANK_ANY,
    RANK_FRAMEWORK,
    RANK_TEMPLATE, /* the runtime's template, compiled into the program */
    RANK_PLACE,    /* in the program, without a name */
    RANK_LABEL,
};

static bool is_label(const struct symbol_frame *frame)
{
    return !strcmp(frame->kind, "label");
}

/* True if the frame would count as the program's if it had no name. */
static bool lies_in_program(const struct symbol_frame *frame)
{
    struct symbol_frame place = *frame;
    place.is_named = false;
    return frame_role_of(&place) == ROLE_program;
}

static enum rank rank_of(const struct symbol_frame *frame)
{
    if (is_label(frame))
        return RANK_LABEL;
    if (frame->role == ROLE_program)
        return RANK_PLACE;
    if (frame->role == ROLE_framework || frame->role == ROLE_compiled || frame->role == ROLE_cuda)
        return RANK_FRAMEWORK;
    return lies_in_program(frame) ? RANK_TEMPLATE : RANK_ANY;
}

/*
 * True if a frame, which lies further out than the best one so far, is better. If both have the
 * same rank, the inner frame is better in the program, and the outer frame is better elsewhere.
 */
static bool is_better(enum rank rank, enum rank best)
{
    return rank > best || (rank == best && rank <= RANK_FRAMEWORK);
}

/* The state of the walk, in addition to the site. */
struct outward {
    const char *called;
    bool is_of_program, is_python; /* both: of `called` */
};

/*
 * Remembers the function that the program's line called, while the walk goes outwards. A native
 * frame of a framework is overwritten by frames further out, because it only takes memory from the
 * framework's pool. The framework's first Python frame is not overwritten. All compiled code has
 * one name, because its functions mean nothing to a reader. After the first frame of the program,
 * frames of a framework are ignored.
 */
static void note_called(struct outward *outward, const struct symbol_frame *frame)
{
    const bool is_python = !strcmp(frame->kind, "python");
    const bool is_of_program = frame->role == ROLE_program && !is_label(frame);
    if (frame->role == ROLE_compiled && !outward->is_of_program)
        *outward = (struct outward){STACK_SITE_COMPILED, false, true};
    if (!frame->is_named || !(is_of_program || frame->role == ROLE_framework))
        return;
    if (!is_of_program && (outward->is_of_program || outward->is_python))
        return;
    *outward = (struct outward){frame->function, is_of_program, is_python};
}

/*
 * Keeps the outermost operator, because it is the one that autograd's thread set out to run. PyNode
 * is ignored, because it stands for any Python function, such as one of torch.compile or
 * checkpoint.
 */
static void note_operator(struct stack_site *site, const struct symbol_frame *frame)
{
    if (!torch_is(frame->means, TORCH_node) || torch_is(frame->means, TORCH_python_node))
        return;
    const struct torch_name node = torch_node_name(frame->function);
    site->operator= node.text;
    site->operator_length = node.length;
}

static bool are_equal(const struct symbol_frame *a, const struct symbol_frame *b)
{
    return a->role == b->role && a->line == b->line && !a->file == !b->file &&
           !strcmp(a->kind, b->kind) && !strcmp(a->function, b->function) &&
           (!a->file || !strcmp(a->file, b->file));
}

static int find_label_frame(struct stack_site *site, struct symbols *symbols, uint32_t stack_id,
                            const struct symbol_frame *label_frame, struct err *err)
{
    struct symbol_walk walk = symbols_walk_begin(symbols, stack_id);
    struct outward outward = {0};
    int status;
    while ((status = symbols_walk_next(&walk, &site->frame, err)) > 0) {
        if (are_equal(&site->frame, label_frame))
            break;
        note_called(&outward, &site->frame);
        site->depth++;
    }
    site->is_found = site->is_of_program = status > 0;
    site->called = outward.called;
    return status < 0 ? -1 : 0;
}

static int find_other(struct stack_site *site, struct symbols *symbols, uint32_t stack_id,
                      struct err *err)
{
    struct symbol_walk walk = symbols_walk_begin(symbols, stack_id);
    struct outward outward = {0};
    struct symbol_frame frame;
    enum rank best = RANK_ANY;
    int status;
    for (int depth = 0; (status = symbols_walk_next(&walk, &frame, err)) > 0; depth++) {
        const enum rank rank = rank_of(&frame);

        note_operator(site, &frame);
        if (!site->is_found || is_better(rank, best)) {
            best = rank;
            site->frame = frame;
            site->depth = depth;
            site->is_found = true;
            site->called = outward.called;
        }
        note_called(&outward, &frame);
    }
    site->is_of_program = best == RANK_PLACE || best == RANK_TEMPLATE;
    if (!site->is_of_program)
        site->called = NULL;
    return status;
}

int stack_site_find(struct stack_site *site, struct symbols *symbols, uint32_t stack_id,
                    const struct symbol_frame *label_frame, struct err *err)
{
    *site = (struct stack_site){0};
    return label_frame ? find_label_frame(site, symbols, stack_id, label_frame, err)
                       : find_other(site, symbols, stack_id, err);
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
    if (site->operator&& !site->is_of_program)
        snprintf(buffer, STACK_SITE_TEXT_BYTES, "%.*s%s%s", site->operator_length, site->operator,
                 is_label(frame) ? ", " : "", is_label(frame) ? function : "");
    else if (frame->file && frame->line)
        snprintf(buffer, STACK_SITE_TEXT_BYTES, "%.180s:%" PRIu32 " %s", path_name(frame->file),
                 frame->line, function);
    else if (frame->file)
        snprintf(buffer, STACK_SITE_TEXT_BYTES, "%.180s %s", path_name(frame->file), function);
    else if (frame->is_named && frame->module)
        snprintf(buffer, STACK_SITE_TEXT_BYTES, "%s (%.180s)", function, path_name(frame->module));
    else
        snprintf(buffer, STACK_SITE_TEXT_BYTES, "%s", function);
    return buffer;
}
