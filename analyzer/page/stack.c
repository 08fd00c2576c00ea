/* SPDX-License-Identifier: MIT */
/*
 * A call stack: every frame with its role. A summary has the site, and below the site the stack. In
 * place of frames outside the program, the stack has lines that count them.
 */
#include "parts.h"

#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>

#include "analyzer/util/text.h"

/* --- every frame --- */

static void add_stack_frame(void *self, const struct symbol_frame *frame)
{
    struct doc *doc = self;
    const bool is_label = !strcmp(frame->kind, "label");
    doc_row_begin(doc);
    doc_text(doc, "kind", "Kind", frame->kind);
    doc_text(doc, "function", "Function", frame->function);
    doc_text(doc, "file", "File", frame->file);
    doc_known_count(doc, "line", "Line", frame->line != 0, frame->line);
    doc_text(doc, "module", "Module", frame->module);
    doc_text(doc, "role", "Role", is_label ? NULL : frame_role_key(frame->role));
    doc_row_end(doc);
}

static int add_frames(struct doc *doc, const struct study *study, const struct blamed *blamed,
                      struct err *err)
{
    const struct stack_site *site = &blamed->site;
    int status = 0;
    doc_text(doc_detail(doc), "site", "Site", blamed->is_known ? blamed->label : NULL);
    doc_text(doc_detail(doc), "called", "Called", site->called);
    doc_count(doc_series(doc), "stack_id", "Stack", site_stack(blamed->site_id));
    doc_list_begin(doc_frames(doc), "frames", "Frames");
    if (doc_takes(doc, DOC_FRAMES))
        status =
            symbols_walk(study->symbols, site_stack(blamed->site_id), add_stack_frame, doc, err);
    doc_list_end(doc);
    return status;
}

/* --- a summary --- */

struct folding {
    struct doc *doc;
    bool folds[ROLE_COUNT];
    int folded[ROLE_COUNT]; /* frames folded since the last line, by role */
    int lines;              /* lines that may still be shown */
    bool is_begun;
};

static void add_frame_line(struct folding *folding, const struct symbol_frame *frame)
{
    char shortened[STACK_FUNCTION_BYTES];
    const char *function = stack_function_text(frame->function, shortened);
    const char *place = frame->file;
    if (!place && frame->is_named && frame->module)
        place = path_name(frame->module);
    doc_row_begin(folding->doc);
    if (frame->file && frame->line)
        doc_textf(folding->doc, NULL, "", "%s  %s:%" PRIu32, function, frame->file, frame->line);
    else if (place)
        doc_textf(folding->doc, NULL, "", "%s  %s", function, place);
    else
        doc_text(folding->doc, NULL, "", function);
    doc_row_end(folding->doc);
    folding->lines--;
    folding->is_begun = true;
}

/* False for frames of Python's interpreter and of the recorder, which interest no reader. */
static bool is_worth_counting(int role)
{
    return role != ROLE_own && role != ROLE_interpreter;
}

/* Adds a line for the frames folded since the last line: "… 14 framework frames, 1 CUDA frame". */
static void add_folded_line(struct folding *folding)
{
    char text[256] = "";
    size_t length = 0;
    for (int role = 0; role < ROLE_COUNT; role++) {
        int count = folding->folded[role];

        if (count > 0 && is_worth_counting(role))
            length += (size_t)snprintf(text + length, sizeof text - length, "%s %d %s frame%s",
                                       length ? "," : "…", count, frame_role_text(role),
                                       count > 1 ? "s" : "");
        folding->folded[role] = 0;
    }
    if (length) {
        doc_row_begin(folding->doc);
        doc_text(folding->doc, NULL, "", text);
        doc_row_end(folding->doc);
        folding->is_begun = true;
    }
}

static void add_cut_line(struct folding *folding)
{
    add_frame_line(folding, &(struct symbol_frame){.function = "…"});
}

static void add_others_line(struct doc *doc, size_t others)
{
    doc_row_begin(doc);
    doc_textf(doc, NULL, "", "… and %zu other call stack%s of that line", others,
              others > 1 ? "s" : "");
    doc_row_end(doc);
}

/* Adds the lines of the stack. Frames folded after the last line are not counted, because they only
 * show how the program was started. */
static int add_stack_lines(struct folding *folding, const struct study *study, uint32_t stack_id,
                           int first, struct err *err)
{
    struct symbol_walk walk = symbols_walk_begin(study->symbols, stack_id);
    struct symbol_frame frame;
    int status;
    for (int depth = 0; (status = symbols_walk_next(&walk, &frame, err)) > 0; depth++) {
        if (depth < first)
            continue;
        if (folding->folds[frame.role]) {
            folding->folded[frame.role]++;
            continue;
        }
        add_folded_line(folding);
        if (folding->lines == 0) {
            add_cut_line(folding);
            return 0;
        }
        add_frame_line(folding, &frame);
    }
    if (!folding->is_begun)
        add_folded_line(folding);
    return status;
}

/*
 * Adds the few frames nearest to a site, if the site is outside the program. They show what the
 * framework was asked to do. Frames further in only take memory from the framework's pool.
 */
static int add_inner_lines(struct folding *folding, const struct study *study, uint32_t stack_id,
                           const struct stack_site *site, struct err *err)
{
    struct symbol_walk walk = symbols_walk_begin(study->symbols, stack_id);
    struct symbol_frame frame;
    int shown = 0, status = 0, lines = folding->lines;
    for (int depth = 0; depth < site->depth; depth++) {
        if ((status = symbols_walk_next(&walk, &frame, err)) <= 0)
            return status;
        shown += !folding->folds[frame.role];
    }
    if (shown > lines)
        add_cut_line(folding);
    walk = symbols_walk_begin(study->symbols, stack_id);
    for (int depth = 0; depth < site->depth; depth++) {
        if ((status = symbols_walk_next(&walk, &frame, err)) <= 0)
            return status;
        if (!folding->folds[frame.role] && shown-- <= lines)
            add_frame_line(folding, &frame);
    }
    return 0;
}

/* Adds the frame in compiled code that the program's line led to. */
static int add_compiled_line(struct folding *folding, const struct study *study, uint32_t stack_id,
                             int site_depth, struct err *err)
{
    struct symbol_walk walk = symbols_walk_begin(study->symbols, stack_id);
    struct symbol_frame frame;
    int status = 1;
    for (int depth = 0; depth < site_depth && status > 0; depth++) {
        status = symbols_walk_next(&walk, &frame, err);
        if (status > 0 && frame.role == ROLE_compiled) {
            add_frame_line(folding, &frame);
            return 0;
        }
    }
    return status < 0 ? -1 : 0;
}

/* Chooses the frames to fold. If no frame is the program's, frames of frameworks and CUDA stay,
 * because there is nothing else to see. */
static void choose_folds(struct folding *folding, const struct view *view,
                         const struct stack_site *site)
{
    for (int role = 0; role < ROLE_COUNT && !view->all_frames; role++)
        folding->folds[role] =
            role != ROLE_program && role != ROLE_compiled &&
            (site->is_of_program || (role != ROLE_framework && role != ROLE_cuda));
}

static int add_folded_stack(struct doc *doc, const struct study *study, const struct view *view,
                            const struct blamed *blamed, size_t others, int lines, struct err *err)
{
    const struct stack_site *site = &blamed->site;
    const bool is_whole = view->all_frames || lines == PAGE_WHOLE_STACK;
    struct folding folding = {.doc = doc, .lines = is_whole ? INT_MAX : lines};
    int status = 0;
    choose_folds(&folding, view, site);
    doc_list_begin(doc_summary(doc), NULL, NULL);
    doc_row_begin(doc);
    doc_text(doc, NULL, "", blamed->text);
    doc_list_begin(doc, NULL, NULL);
    if (!doc_takes(doc, DOC_BOTH))
        status = 0;
    else if (is_whole)
        status = add_stack_lines(&folding, study, site_stack(blamed->site_id), 0, err);
    else if (site->is_of_program)
        status =
            add_compiled_line(&folding, study, site_stack(blamed->site_id), site->depth, err) ||
                    add_stack_lines(&folding, study, site_stack(blamed->site_id), site->depth + 1,
                                    err)
                ? -1
                : 0;
    else
        status = add_inner_lines(&folding, study, site_stack(blamed->site_id), site, err);
    if (others > 0)
        add_others_line(doc, others);
    doc_list_end(doc);
    doc_row_end(doc);
    doc_list_end(doc);
    return status;
}

int page_frames_of(struct doc *doc, const struct study *study, const struct view *view,
                   const struct blamed *blamed, size_t others, int lines, struct err *err)
{
    if (!doc_takes(doc, DOC_BOTH))
        return 0;
    return add_frames(doc, study, blamed, err) ||
                   add_folded_stack(doc, study, view, blamed, others, lines, err)
               ? -1
               : 0;
}
