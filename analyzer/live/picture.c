/* SPDX-License-Identifier: MIT */
/*
 * See picture.h.
 *
 *     trace, program, how it stands
 *     device, layer, phase, steps
 *     live, peak
 *     bar of the card, what its parts are
 *     graph, its phases
 *     sites
 *     events, losses; keys
 */
#include "picture.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analyzer/render/pictures.h"
#include "analyzer/render/text_lines.h"
#include "analyzer/render/units.h"
#include "analyzer/util/text.h"
#include "analyzer/util/utf8.h"

enum { COLUMNS_FEWEST = 20, COLUMNS_MOST = 400, LINE_BYTES = 4096 };

struct drawing {
    const struct live_picture *picture;
    const struct live_view *view;
    struct text_lines lines;
    struct text left, right; /* of the current line */
    size_t columns, rows;    /* rows: still free */
    bool failed;
};

/* Cuts the left text if both texts together are wider than the screen. Drops lines beyond the last
 * row. */
static void end_line(struct drawing *drawing, char look)
{
    struct text *left = &drawing->left, *right = &drawing->right;
    drawing->failed |= text_failed(left) || text_failed(right);
    if (drawing->rows) {
        const size_t last = utf8_text_columns(right->data), columns = drawing->columns;
        const bool is_right = last && last + 1 < columns; /* both texts fit */
        const char *text = last && !is_right ? right->data : left->data;
        const size_t room = is_right ? columns - last - 1 : columns;
        const size_t first = utf8_text_columns(text), shown = first < room ? first : room;
        if (look)
            putc(look, drawing->lines.out);
        text_lines_add_cut(&drawing->lines, text, shown);
        if (is_right) {
            fprintf(drawing->lines.out, "%*s", (int)(room - shown + 1), "");
            text_lines_add(&drawing->lines, right->data, 0);
        }
        putc('\n', drawing->lines.out);
        drawing->rows--;
    }
    text_clear(left);
    text_clear(right);
}

static void put_line(struct drawing *drawing, char look, const char *text)
{
    text_add(&drawing->left, text);
    end_line(drawing, look);
}

/* --- texts of both the screen and the plain line --- */

static void add_bytes(struct text *text, const char *before, uint64_t bytes)
{
    text_addf(text, "%s%s", before, BYTES_TEXT(bytes));
}

static void add_duration(struct text *text, const char *before, uint64_t ns)
{
    text_addf(text, "%s%s", before, DURATION_TEXT((int64_t)ns));
}

static void add_standing(struct text *text, const struct live_view *view, bool is_paused)
{
    if (view->is_waiting)
        text_add(text, "waiting for the recorder");
    else
        add_duration(text,
                     is_paused            ? "paused at "
                     : view->is_recording ? "running "
                     : view->is_complete  ? "ended after "
                                          : "stopped without an end after ",
                     view->now_ns);
}

static void add_place(struct text *text, const struct live_view *view, bool names_card)
{
    if (view->has_account)
        text_addf(text, "device %d%s%s, %s", view->device, names_card && *view->card ? " " : "",
                  names_card ? view->card : "", view->layer);
    else
        text_add(text, "no GPU memory was allocated yet");
}

static void add_sums(struct text *text, const struct live_view *view, const char *between)
{
    add_bytes(text, "live ", view->live_bytes);
    text_add(text, between);
    add_bytes(text, "peak ", view->peak_bytes);
    if (view->peak_ns)
        add_duration(text, " at ", view->peak_ns);
}

static void add_counts(struct text *text, const struct live_view *view)
{
    text_addf(text, "%" PRIu64 " events, %" PRIu64 " a second, %" PRIu64 " lost", view->events,
              view->events_per_s, view->lost_events);
    if (view->behind_ns) {
        add_duration(text, "; ", view->behind_ns);
        text_addf(text, " behind%s", view->is_held ? ": a call has not returned" : "");
    }
}

/* --- the head --- */

static void put_head(struct drawing *drawing)
{
    const struct live_view *view = drawing->view;
    text_addf(&drawing->left, "%s  %s", view->trace, view->program);
    add_standing(&drawing->right, view, drawing->picture->is_paused);
    end_line(drawing, LIVE_REVERSE);
    add_place(&drawing->left, view, true);
    if (*view->phase)
        text_addf(&drawing->right, "in %s, ", view->phase);
    text_addf(&drawing->right, "%" PRIu64 " step%s", view->held.steps,
              view->held.steps == 1 ? "" : "s");
    end_line(drawing, 0);
}

static void put_sums(struct drawing *drawing)
{
    const struct live_view *view = drawing->view;
    add_sums(&drawing->left, view, "   ");
    if (view->total_bytes)
        add_bytes(&drawing->left, "   of ", view->total_bytes);
    if (view->failed_count)
        text_addf(&drawing->right, "%" PRIu64 " failed allocation%s", view->failed_count,
                  view->failed_count == 1 ? "" : "s");
    end_line(drawing, LIVE_BOLD);
}

/* --- the bar --- */

static const struct {
    const char *name, *block, *ascii;
} part_looks[LIVE_PARTS] = {
    [LIVE_PART_live] = {"live", "█", "#"},     [LIVE_PART_cached] = {"cached", "▓", "="},
    [LIVE_PART_driver] = {"driver", "▒", "+"}, [LIVE_PART_context] = {"context", "░", ":"},
    [LIVE_PART_others] = {"others", "·", "."}, [LIVE_PART_free] = {"free", " ", " "},
};

static const char *look_of(const struct drawing *drawing, int part)
{
    return drawing->picture->has_blocks ? part_looks[part].block : part_looks[part].ascii;
}

/* The part that contains this byte of the card, counted from the left. */
static int part_at(const uint64_t parts[LIVE_PARTS], double bytes)
{
    int part = 0;
    double until = (double)parts[0];
    while (part < LIVE_PART_free && bytes >= until)
        until += (double)parts[++part];
    return part;
}

/* The bar is as long as the card, or as the peak if the card's size is unknown. */
static void put_bar(struct drawing *drawing)
{
    const struct live_view *view = drawing->view;
    const uint64_t live_alone[LIVE_PARTS] = {view->live_bytes};
    const uint64_t *parts = view->total_bytes ? view->parts : live_alone;
    const size_t columns = drawing->columns - 2;
    const uint64_t most = view->peak_bytes > view->live_bytes ? view->peak_bytes : view->live_bytes;
    const double total = (double)(view->total_bytes ? view->total_bytes : most ? most : 1);
    const size_t peak = (size_t)((double)view->peak_bytes / total * (double)columns);
    const size_t tick = peak < columns ? peak : columns - 1;
    text_add(&drawing->left, "[");
    for (size_t i = 0; i < columns; i++) {
        const int part = part_at(parts, ((double)i + 0.5) / (double)columns * total);
        text_add(&drawing->left, view->peak_bytes && i == tick ? "|" : look_of(drawing, part));
    }
    put_line(drawing, 0, "]");
}

/* Begins a new line where the next part does not fit. */
static void put_parts(struct drawing *drawing)
{
    const struct live_view *view = drawing->view;
    struct text *line = &drawing->left;
    for (int part = 0; part < LIVE_PARTS && view->total_bytes; part++) {
        char text[LIVE_TEXT_BYTES];
        if (!view->parts[part] && part != LIVE_PART_live)
            continue;
        snprintf(text, sizeof text, "%s %s %s", look_of(drawing, part), part_looks[part].name,
                 BYTES_TEXT(view->parts[part]));
        if (line->length &&
            utf8_text_columns(line->data) + 3 + utf8_text_columns(text) > drawing->columns)
            end_line(drawing, 0);
        text_addf(line, "%s%s", line->length ? "   " : "", text);
    }
    put_line(drawing, 0, view->total_bytes ? "" : "| is the peak; the card's size is not known");
}

/* --- the graph --- */

static void put_graph(struct drawing *drawing, size_t rows)
{
    const struct live_view *view = drawing->view;
    char curve[COLUMNS_MOST * PICTURE_COLUMN_BYTES + 1], top[UNITS_TEXT_BYTES];
    struct picture_graph graph = {.values = view->points,
                                  .count = view->point_count,
                                  .top = 1,
                                  .rows = rows,
                                  .has_braille = drawing->picture->has_blocks};
    for (size_t i = 0; i < view->point_count; i++)
        graph.top = view->points[i] > graph.top ? view->points[i] : graph.top;
    const int begin = (int)strlen(units_bytes(top, (uint64_t)graph.top)) + 1;
    graph.columns = drawing->columns - (size_t)begin;
    for (size_t row = 0; row < rows; row++) {
        *curve = '\0';
        if (view->point_count)
            picture_graph_line(curve, &graph, row);
        text_addf(&drawing->left, "%-*s", begin, row ? "" : top);
        put_line(drawing, 0, curve);
    }
    /* One letter for each column: its phase. */
    text_addf(&drawing->left, "%-*s", begin, "");
    for (size_t i = 0; i < graph.columns && view->point_count; i++) {
        const uint8_t phase = view->phases[i * view->point_count / graph.columns];
        text_fill(&drawing->left, (char)(phase ? 'a' + phase - 1 : ' '), 1);
    }
    end_line(drawing, 0);
}

static void put_legend(struct drawing *drawing)
{
    const struct live_view *view = drawing->view;
    struct text *line = &drawing->left;
    for (size_t i = 0; i < view->phase_count && line->length < drawing->columns; i++)
        text_addf(line, "%s%c %.40s", line->length ? "  " : "", (char)('a' + i),
                  view->phase_names[i]);
    add_duration(&drawing->right, drawing->picture->choice->is_whole ? "all " : "the last ",
                 view->point_ns * view->point_count);
    end_line(drawing, 0);
}

/* --- sites --- */

/* Writes the columns on the left whole and cuts the site to the rest of the line. */
static void put_cells(struct drawing *drawing, char look, const char *site)
{
    const size_t first = utf8_text_columns(drawing->left.data), width = utf8_text_columns(site);
    if (first >= drawing->columns || !drawing->rows) {
        put_line(drawing, look, site);
        return;
    }
    const size_t room = drawing->columns - first;
    drawing->failed |= text_failed(&drawing->left);
    if (look)
        putc(look, drawing->lines.out);
    text_lines_add(&drawing->lines, drawing->left.data, 0);
    text_lines_add_cut(&drawing->lines, site, width < room ? width : room);
    putc('\n', drawing->lines.out);
    drawing->rows--;
    text_clear(&drawing->left);
}

/* The share and phase columns are left out of a narrow window, so that sites stay readable. */
static bool has_share(const struct drawing *drawing)
{
    return drawing->columns >= 72;
}

static bool has_phase(const struct drawing *drawing)
{
    return drawing->columns >= 100;
}

static void put_row(struct drawing *drawing, const struct live_row *row, uint64_t total)
{
    char growth[UNITS_TEXT_BYTES] = "";
    if (row->growth_bytes >= 1)
        units_delta(growth, (int64_t)row->growth_bytes);
    text_addf(&drawing->left, "%11s  ", BYTES_TEXT(row->bytes));
    if (has_share(drawing))
        text_addf(&drawing->left, "%7s  %7" PRIu64 "  ",
                  RATIO_TEXT(total ? (double)row->bytes / (double)total : 0), row->count);
    text_addf(&drawing->left, "%11s  ", growth);
    if (has_phase(drawing))
        text_addf(&drawing->left, "%-14.14s  ", row->phase);
    put_cells(drawing, 0, row->site);
}

static void put_rows(struct drawing *drawing, size_t rows)
{
    const struct live_view *view = drawing->view;
    uint64_t total = 0;
    if (rows) {
        text_addf(&drawing->left, "%11s  %s%11s  %s", "Bytes",
                  has_share(drawing) ? "  Share   Blocks  " : "",
                  view->held.has_growth ? "A step" : "",
                  has_phase(drawing) ? "Phase           " : "");
        put_cells(drawing, LIVE_BOLD, "Site");
    }
    for (size_t i = 0; i < view->held.row_count; i++)
        total += view->held.rows[i].bytes;
    if (total < view->live_bytes)
        total = view->live_bytes;
    for (size_t i = 0; i + 1 < rows; i++)
        if (i < view->held.row_count)
            put_row(drawing, &view->held.rows[i], total);
        else
            put_line(drawing, 0, "");
}

/* --- the foot --- */

static void put_foot(struct drawing *drawing)
{
    static const char *const sorts[] = {
        [LIVE_SORT_bytes] = "bytes", [LIVE_SORT_growth] = "growth", [LIVE_SORT_blocks] = "blocks"};
    const struct live_view *view = drawing->view;
    const struct live_picture *picture = drawing->picture;
    if (picture->message) {
        text_add(&drawing->left, picture->message);
    } else {
        add_counts(&drawing->left, view);
        if (view->now_ns > view->held.at_ns + 2000000000) {
            add_duration(&drawing->left, "; sites of ", view->now_ns - view->held.at_ns);
            text_add(&drawing->left, " ago");
        }
    }
    end_line(drawing, 0);
    text_addf(&drawing->left, "q quit  p %s  s sort: %s  w %s  l layer  d device  r report  ? help",
              picture->is_paused ? "go on" : "pause", sorts[picture->choice->sort],
              picture->choice->is_whole ? "recent" : "all");
    end_line(drawing, LIVE_REVERSE);
}

static void put_help(struct drawing *drawing)
{
    static const char *const lines[] = {
        "q        quit; the program goes on",
        "p        pause the picture; the program goes on",
        "s        sort the sites by bytes, by growth per step or by blocks",
        "w        the graph of the whole run, or of its last two minutes",
        "l        the driver's memory, or the leading framework's pool",
        "d        the next device",
        "r        write an HTML report of now, beside the trace",
        "?        this page, and back",
        "",
        "live     allocated and not freed          cached   held by the pool, and idle",
        "driver   rest of this process             context  with modules and limits",
        "others   other processes of the card      |        the peak",
        "",
        "The letters below the graph are phases. A step: what a site grows by with",
        "each, if it does. The sums are of the moment in the first line; \"behind\"",
        "says how much older phases and sites are.",
    };
    for (size_t i = 0; i < sizeof lines / sizeof *lines; i++)
        put_line(drawing, 0, lines[i]);
    while (drawing->rows > 2)
        put_line(drawing, 0, "");
}

/* --- all of it --- */

static void draw(struct drawing *drawing)
{
    enum { FOOT = 2, GRAPH_ROWS_MOST = 16, GRAPH_FEWEST = 3 };
    put_head(drawing);
    if (drawing->picture->shows_help) {
        put_help(drawing);
    } else {
        put_sums(drawing);
        put_bar(drawing);
        put_parts(drawing);
        const size_t room = drawing->rows > FOOT ? drawing->rows - FOOT : 0;
        size_t graph = room * 2 / 5;
        graph = graph < GRAPH_ROWS_MOST ? graph : GRAPH_ROWS_MOST;
        if (graph >= GRAPH_FEWEST + FOOT) {
            put_graph(drawing, graph - 2);
            put_legend(drawing);
        }
        put_rows(drawing, drawing->rows > FOOT ? drawing->rows - FOOT : 0);
    }
    put_foot(drawing);
}

char *live_picture(const struct live_picture *picture, const struct live_view *view,
                   struct err *err)
{
    const size_t columns = picture->columns < COLUMNS_MOST ? picture->columns : COLUMNS_MOST;
    char *text = NULL;
    size_t bytes = 0;
    struct drawing drawing = {.picture = picture,
                              .view = view,
                              .lines = {.out = open_memstream(&text, &bytes)},
                              .columns = columns < COLUMNS_FEWEST ? COLUMNS_FEWEST : columns,
                              .rows = picture->rows};
    text_init(&drawing.left, LINE_BYTES);
    text_init(&drawing.right, LINE_BYTES);
    if (drawing.lines.out) {
        draw(&drawing);
        drawing.failed |= fclose(drawing.lines.out) != 0;
    }
    text_release(&drawing.left);
    text_release(&drawing.right);
    if (drawing.lines.out && !drawing.failed)
        return text;
    free(text);
    err_set(err, ERR_SYSTEM, "out of memory for the screen");
    return NULL;
}

void live_plain_line(FILE *out, const struct live_view *view)
{
    char buffer[LINE_BYTES];
    struct text line;
    struct text_lines lines = {.out = out};
    text_init_in(&line, buffer, sizeof buffer);
    add_standing(&line, view, false);
    text_add(&line, ": ");
    add_place(&line, view, false);
    if (view->has_account) {
        text_add(&line, ": ");
        add_sums(&line, view, ", ");
        text_addf(&line, "%s%s, ", *view->phase ? ", in " : "", view->phase);
        add_counts(&line, view);
    }
    text_lines_add(&lines, line.data, 0);
    putc('\n', out);
}
