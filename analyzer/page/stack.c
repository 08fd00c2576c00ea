/* SPDX-License-Identifier: MIT */
/*
 * A stack as a document. Machines get every frame and its role; people the site, and below it the
 * stack with what is not the program's own folded into lines that count it.
 */
#include "docs.h"

#include <inttypes.h>
#include <limits.h>
#include <string.h>

#include "analyzer/analysis/stack_site.h"
#include "analyzer/util/text.h"

/* --- machines --- */

static void show_to_machines(void *self, const struct symbol_frame *frame)
{
    struct doc *doc = self;

    doc_row_begin(doc);
    doc_text(doc, "kind", NULL, frame->kind);
    doc_text(doc, "function", NULL, frame->function);
    doc_text(doc, "file", NULL, frame->file);
    if (frame->line)
        doc_count(doc, "line", NULL, frame->line);
    else
        doc_null(doc, "line", NULL, DOC_COUNT);
    doc_text(doc, "module", NULL, frame->module);
    doc_text(doc, "role", NULL, strcmp(frame->kind, "label") ? frame_role_key(frame->role) : NULL);
    doc_row_end(doc);
}

static int add_frames(struct doc *doc, const struct study *study, uint32_t stack_id,
                      const struct stack_site *site, struct err *err)
{
    char text[STACK_SITE_TEXT_BYTES];
    int status;

    doc_text(doc, "site", NULL, site->is_found ? stack_site_text(site, text) : NULL);
    doc_text(doc, "called", NULL, site->called);
    doc_list_begin(doc, "frames", NULL);
    status = symbols_walk(study->symbols, stack_id, show_to_machines, doc, err);
    doc_list_end(doc);
    return status;
}

/* --- people --- */

struct page {
    struct doc *doc;
    bool folds[ROLE_COUNT];
    int folded[ROLE_COUNT]; /* since the last line, by role */
    int lines;              /* still to be shown */
    bool is_begun;
};

static void add_line(struct page *page, const struct symbol_frame *frame)
{
    char shortened[STACK_FUNCTION_BYTES];
    const char *function = stack_function_text(frame->function, shortened);
    const char *place = frame->file;

    if (!place && frame->is_named && frame->module)
        place = stack_base_name(frame->module);
    doc_row_begin(page->doc);
    if (frame->file && frame->line)
        doc_textf(page->doc, NULL, "", "%s  %s:%" PRIu32, function, frame->file, frame->line);
    else if (place)
        doc_textf(page->doc, NULL, "", "%s  %s", function, place);
    else
        doc_text(page->doc, NULL, "", function);
    doc_row_end(page->doc);
    page->lines--;
    page->is_begun = true;
}

/* "… 14 framework frames, 1 CUDA frame" for what was left out since the last line. */
static void add_folded(struct page *page)
{
    struct text text;

    text_init(&text, 256);
    for (int role = 0; role < ROLE_COUNT; role++) {
        int count = page->folded[role];

        if (count > 0 && role != ROLE_own)
            text_addf(&text, "%s %d %s frame%s", text.length ? "," : "…", count,
                      frame_role_text(role), count > 1 ? "s" : "");
        page->folded[role] = 0;
    }
    if (text.length) {
        doc_row_begin(page->doc);
        doc_text(page->doc, NULL, "", text.data);
        doc_row_end(page->doc);
        page->is_begun = true;
    }
    text_release(&text);
}

static void add_cut(struct page *page)
{
    add_line(page, &(struct symbol_frame){.function = "…"});
}

/* What is folded behind the last line shown says nothing about the program: how it was started. */
static int add_stack(struct page *page, const struct study *study, uint32_t stack_id, int first,
                     struct err *err)
{
    struct symbol_walk walk = symbols_walk_begin(study->symbols, stack_id);
    struct symbol_frame frame;
    int status;

    for (int depth = 0; (status = symbols_walk_next(&walk, &frame, err)) > 0; depth++) {
        if (depth < first)
            continue;
        if (page->folds[frame.role]) {
            page->folded[frame.role]++;
            continue;
        }
        add_folded(page);
        if (page->lines == 0) {
            add_cut(page);
            return 0;
        }
        add_line(page, &frame);
    }
    if (!page->is_begun)
        add_folded(page);
    return status;
}

/*
 * The few frames that are nearest to a site outside the program: there the framework does what it
 * was asked for; further in it takes memory from its pool, as it always does.
 */
static int add_inner(struct page *page, const struct study *study, uint32_t stack_id,
                     const struct stack_site *site, struct err *err)
{
    struct symbol_walk walk = symbols_walk_begin(study->symbols, stack_id);
    struct symbol_frame frame;
    int shown = 0, status = 0, lines = page->lines;

    for (int depth = 0; depth < site->depth; depth++) {
        if ((status = symbols_walk_next(&walk, &frame, err)) <= 0)
            return status;
        shown += !page->folds[frame.role];
    }
    if (shown > lines)
        add_cut(page);
    walk = symbols_walk_begin(study->symbols, stack_id);
    for (int depth = 0; depth < site->depth; depth++) {
        if ((status = symbols_walk_next(&walk, &frame, err)) <= 0)
            return status;
        if (!page->folds[frame.role] && shown-- <= lines)
            add_line(page, &frame);
    }
    return 0;
}

/* Where nothing is the program's, what frameworks and CUDA did is all there is to see. */
static void choose_folds(struct page *page, const struct view *view, const struct stack_site *site)
{
    for (int role = 0; role < ROLE_COUNT && !view->all_frames; role++)
        page->folds[role] = role != ROLE_program &&
                            (site->is_of_program || (role != ROLE_framework && role != ROLE_cuda));
}

/* "train.py:88 forward, in Linear.forward" */
static void add_site(struct doc *doc, const struct stack_site *site)
{
    char text[STACK_SITE_TEXT_BYTES], shortened[STACK_FUNCTION_BYTES];

    if (site->called)
        doc_textf(doc, NULL, "", "%s, in %s", stack_site_text(site, text),
                  stack_function_text(site->called, shortened));
    else
        doc_text(doc, NULL, "", stack_site_text(site, text));
}

static int add_to_page(struct doc *doc, const struct study *study, const struct view *view,
                       uint32_t stack_id, const struct stack_site *site, int lines, struct err *err)
{
    bool is_whole = view->all_frames || lines == DOCS_WHOLE_STACK;
    struct page page = {.doc = doc, .lines = is_whole ? INT_MAX : lines};
    int status;

    choose_folds(&page, view, site);
    doc_list_begin(doc, "frames", NULL);
    doc_row_begin(doc);
    add_site(doc, site);
    doc_list_begin(doc, "stack", NULL);
    if (is_whole || site->is_of_program)
        status = add_stack(&page, study, stack_id, is_whole ? 0 : site->depth + 1, err);
    else
        status = add_inner(&page, study, stack_id, site, err);
    doc_list_end(doc);
    doc_row_end(doc);
    doc_list_end(doc);
    return status;
}

int docs_frames(struct doc *doc, const struct study *study, const struct view *view,
                uint32_t stack_id, int lines, struct err *err)
{
    struct stack_site site;

    if (stack_site_find(&site, study->symbols, stack_id, err))
        return -1;
    if (view->people)
        return add_to_page(doc, study, view, stack_id, &site, lines, err);
    return add_frames(doc, study, stack_id, &site, err);
}
