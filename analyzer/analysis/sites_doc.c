/* SPDX-License-Identifier: MIT */
/* Sites and their stacks as a document. */
#include "analysis/docs.h"

#include <inttypes.h>
#include <string.h>

#include "analysis/sites.h"

/* --- frames --- */

struct frame_list {
    struct doc *doc;
    bool people;
    int lines;    /* people: how many are still to be shown */
    int python;   /* people: Python frames still to be shown behind them */
    bool cut;     /* "…" was said */
    bool is_done; /* main was shown: what called it says nothing about the program */
};

static bool is_recorder(const struct symbol_frame *frame)
{
    static const char name[] = "libgpumemtrace.so";
    const char *slash = frame->module ? strrchr(frame->module, '/') : NULL;

    return frame->module && !strcmp(slash ? slash + 1 : frame->module, name);
}

static void show_to_machines(struct doc *doc, const struct symbol_frame *frame)
{
    doc_row_begin(doc);
    doc_text(doc, "kind", NULL, frame->kind);
    doc_text(doc, "function", NULL, frame->function);
    doc_text(doc, "file", NULL, frame->file);
    if (frame->line)
        doc_count(doc, "line", NULL, frame->line);
    else
        doc_null(doc, "line", NULL, DOC_COUNT);
    doc_text(doc, "module", NULL, frame->module);
    doc_row_end(doc);
}

static void show_line(struct doc *doc, const struct symbol_frame *frame)
{
    doc_row_begin(doc);
    if (frame->file && frame->line)
        doc_textf(doc, NULL, "", "%s  %s:%" PRIu32, frame->function, frame->file, frame->line);
    else if (frame->file || frame->module)
        doc_textf(doc, NULL, "", "%s  %s", frame->function,
                  frame->file ? frame->file : frame->module);
    else
        doc_text(doc, NULL, "", frame->function);
    doc_row_end(doc);
}

static void show_to_people(struct frame_list *list, const struct symbol_frame *frame)
{
    bool is_python = !strcmp(frame->kind, "python");

    if (list->is_done || is_recorder(frame))
        return;
    if (list->lines > 0) {
        list->lines--;
        list->python -= is_python;
        list->is_done = !is_python && !strcmp(frame->function, "main");
        show_line(list->doc, frame);
        return;
    }
    if (!list->cut) {
        list->cut = true;
        doc_row_begin(list->doc);
        doc_text(list->doc, NULL, "", "…");
        doc_row_end(list->doc);
    }
    if (is_python && list->python-- > 0)
        show_line(list->doc, frame);
}

static void show_frame(void *self, const struct symbol_frame *frame)
{
    struct frame_list *list = self;

    if (list->people)
        show_to_people(list, frame);
    else
        show_to_machines(list->doc, frame);
}

int docs_frames(struct doc *doc, const struct study *study, const struct view *view,
                uint32_t stack_id, int lines, struct err *err)
{
    enum { PYTHON_LINES = 2 };
    struct frame_list list = {
        .doc = doc, .people = view->people, .lines = lines, .python = PYTHON_LINES};
    int status;

    doc_list_begin(doc, "frames", NULL);
    status = symbols_walk(study->symbols, stack_id, show_frame, &list, err);
    if (view->people && stack_id == 0)
        show_line(doc, &(struct symbol_frame){.function = "(no stack was taken)"});
    doc_list_end(doc);
    return status;
}

/* --- sites --- */

static int add_site(struct doc *doc, const struct study *study, const struct view *view,
                    const struct stock *stock, const struct sites *sites, const struct site *site,
                    int frames, struct err *err)
{
    bool people = view->people;

    doc_row_begin(doc);
    if (!people)
        docs_layer(doc, study, view, stock);
    doc_bytes(doc, "bytes", people ? "Bytes" : NULL, site->bytes);
    if (people)
        doc_ratio(doc, NULL, "Share",
                  sites->total_bytes ? (double)site->bytes / (double)sites->total_bytes : 0);
    doc_count(doc, "count", people ? "Blocks" : NULL, site->count);
    doc_text(doc, "phase", people ? "Phase" : NULL, study_path(study, site->path));
    doc_text(doc, "category", people ? "Category" : NULL, category_key(site->category));
    if (docs_frames(doc, study, view, site->stack_id, frames, err))
        return -1;
    doc_row_end(doc);
    return 0;
}

static int add_stock_sites(struct doc *doc, const struct study *study, const struct view *view,
                           uint32_t number, uint32_t index, int frames, struct err *err)
{
    const struct stock *stock = &study->history.stocks[number];
    struct sites sites;
    size_t limit;
    int status = 0;

    if (sites_at(&sites, &study->categories, number, index, err))
        return -1;
    limit = view_limit(view, sites.count);
    for (size_t i = 0; i < limit && !status; i++)
        status = add_site(doc, study, view, stock, &sites, &sites.items[i], frames, err);
    sites_release(&sites);
    return status;
}

int docs_sites(struct doc *doc, const struct study *study, const struct view *view,
               const struct site_list *list, struct err *err)
{
    doc_list_begin(doc, list->key, view->people ? list->heading : NULL);
    for (size_t i = 0; i < list->count; i++)
        if (list->indices[i] != HISTORY_NONE &&
            add_stock_sites(doc, study, view, list->stocks[i], list->indices[i], list->frames, err))
            return -1;
    doc_list_end(doc);
    return 0;
}

int docs_sites_at_peak(struct doc *doc, const struct study *study, const struct device_use *use,
                       const struct view *view, struct err *err)
{
    enum { REPORT_LINES = 3, REPORT_SITES = 5 };
    uint32_t stocks[STUDY_STOCKS_MAX], indices[STUDY_STOCKS_MAX];
    struct view shown = *view;
    struct site_list list = {.key = "sites_at_peak",
                             .heading = "Who held it at the peak",
                             .stocks = stocks,
                             .indices = indices,
                             .frames = REPORT_LINES};

    list.count = study_stocks(study, use, view, stocks, view->people ? 1 : STUDY_STOCKS_MAX);
    for (size_t i = 0; i < list.count; i++)
        indices[i] = study->history.stocks[stocks[i]].peak_index;
    if (view->people && !view->top)
        shown.top = REPORT_SITES;
    return docs_sites(doc, study, &shown, &list, err);
}
