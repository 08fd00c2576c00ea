/* SPDX-License-Identifier: MIT */
/*
 * The document between pages and formats: a tree of objects, lists and typed fields. A page
 * describes a result once, for all readers; text, JSON, CSV … are walks over it. It must not know
 * any format, and a format must not know any page.
 *
 *     object "frag"                     JSON: {            text:  a heading and "label  value" lines
 *       field  free_bytes  bytes              "free_bytes": 512,
 *       list   "sites"                        "sites": [           a table, one row per object,
 *         object (row)                          {"bytes": 1, …     a column per field;
 *           list "frames"                        "frames": [ … ]   a list inside a row stands
 *                                                                  indented below that row
 *
 * A field directly in a list is an element: "warnings": ["…", "…"], in text a line of its own. A
 * list whose rows hold objects, or lists with headings, is shown as one section per row. A heading
 * without anything to see below it is not shown.
 *
 * A result has more figures than fit a page, and a page has words that only repeat figures. So a
 * page marks a node, and a format says which of the two it reads (formats.def):
 *
 *     mark               what it is                            text  all other formats
 *     (none)             a figure that everybody reads         yes   yes
 *     doc_detail(doc)    left out of a summary: an address,    -     yes
 *                        the eleventh site, the second layer
 *     doc_summary(doc)   stands for details: a sentence, a     yes   -
 *                        bar, a stack with folded frames
 *
 *     doc_bytes(doc, "live_bytes", "Live", live_bytes);
 *     doc_count(doc_detail(doc), "seq", "Event", seq);
 *     doc_row_begin(doc_detail_if(doc, i >= PAGE_SITES));
 *
 * A document is made for one format. What that format does not read is dropped at once, with
 * everything inside it, so that a page describes everything and a summary stays small; a page asks
 * doc_takes before it computes what is costly.
 *
 * Every field has a label ("": none) and, unless it is for a summary only, a key. Objects and
 * lists have a heading or NULL. Rows of one list carry the same fields in the same order. Keys and
 * labels must outlive the document (string literals); text values are copied. Errors (out of
 * memory, unbalanced calls) are remembered and told once by doc_check. Not thread-safe.
 */
#ifndef GPUMEMTRACE_ANALYZER_RENDER_DOC_H
#define GPUMEMTRACE_ANALYZER_RENDER_DOC_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "gpumemtrace/err.h"

/* Which readers a node is for; and of a format, which nodes it reads. */
enum doc_level {
    DOC_SUMMARY = 1 << 0,
    DOC_DETAIL = 1 << 1,
    DOC_BOTH = DOC_SUMMARY | DOC_DETAIL,
    DOC_FRAMES = 1 << 2, /* every frame of every call stack */
    DOC_SERIES = 1 << 3, /* memory over time and its snapshots: for pictures */
};

enum doc_unit {
    DOC_TEXT,    /* as is */
    DOC_COUNT,   /* integer without unit */
    DOC_BYTES,   /* JSON: integer; text: 1.50 GiB */
    DOC_DELTA,   /* signed bytes; text: +1.50 GiB */
    DOC_NS,      /* JSON: integer ns; text: 12.3 ms */
    DOC_RATIO,   /* JSON: 0..1; text: 12.3 % */
    DOC_ADDRESS, /* JSON: integer; text: 0x7f… */
    DOC_BOOL,    /* text: yes, no */
    DOC_BAR,     /* a ratio as a picture, for a summary only */
};

enum doc_type { DOC_OBJECT, DOC_LIST, DOC_FIELD, DOC_COLUMN, DOC_NOTE };

/* Integers of one unit that belong together: JSON has them as one array. */
struct doc_column {
    size_t count;
    int64_t values[];
};
#define DOC_COLUMN_NULL INT64_MIN /* unknown */

/*
 * Texts and rows that are alike stand in memory once: a million call stacks are made of few frames. So
 * a node does not know its parent, and rows may share their children.
 */
struct doc_node {
    uint8_t type;  /* enum doc_type */
    uint8_t level; /* enum doc_level */
    uint8_t unit;  /* enum doc_unit; fields and columns only */
    bool is_null;  /* fields only: unknown; JSON null, text "-" */
    bool is_spare; /* fields only: a table that is too wide for its window goes without */
    bool is_whole; /* notes only: it stays one line in any window */
    uint8_t
        bar_columns; /* DOC_BAR only: how wide 1 is; 0: what a window leaves, nothing without one */
    const char *key;
    const char *label; /* field label, or heading of an object or list */
    const char *words; /* what people read in place of the value, or NULL */
    union {
        const struct doc_node *first_child; /* objects and lists */
        const char *text;                   /* DOC_TEXT value and notes */
        int64_t integer;                 /* all units but DOC_TEXT and those with a ratio; ADDRESS
                                               as uint64_t bits */
        double ratio;                    /* DOC_RATIO, DOC_BAR */
        const struct doc_column *column; /* DOC_COLUMN */
    };
    const struct doc_node *next;
};

struct doc;

/*
 * A document for a reader of such nodes. The root is an object; schema ("gpumemtrace.peak/1")
 * becomes its first key. NULL: out of memory.
 */
struct doc *doc_new(const char *schema, enum doc_level reads);
void doc_free(struct doc *doc);
const struct doc_node *doc_root(const struct doc *doc);
/*
 * The key of the list that is the answer's table, wherever it stands: what a format that holds one
 * table shows. NULL: not said; then it is the first list whose rows are lines.
 */
void doc_set_table(struct doc *doc, const char *key);
const char *doc_table(const struct doc *doc);
/* The head of that table, "device,bytes,…", for when it has no rows. NULL: not said. */
void doc_set_columns(struct doc *doc, const char *columns);
const char *doc_columns(const struct doc *doc);
/* 0, or -1 and *err if anything went wrong since doc_new. */
int doc_check(const struct doc *doc, struct err *err);

/* These mark the next node, whatever it is, and return doc. */
struct doc *doc_detail(struct doc *doc);
struct doc *doc_summary(struct doc *doc);
struct doc *doc_frames(struct doc *doc);
struct doc *doc_series(struct doc *doc);
struct doc *doc_detail_if(struct doc *doc, bool is_detail);
/* Marks the next field: a table that is too wide for its window goes without this column. */
struct doc *doc_spare(struct doc *doc);
/* Whether a node of that level, added now, reaches the reader. */
bool doc_takes(const struct doc *doc, enum doc_level level);

/* The last child so far of what is open; NULL: it has none. */
struct doc_node *doc_last(const struct doc *doc);
/* What was added to it since that was `last` moves up behind `above`, an earlier last: for what is known only
 * after what stands below it. */
void doc_move_up(struct doc *doc, struct doc_node *last, struct doc_node *above);

void doc_object_begin(struct doc *doc, const char *key, const char *heading);
void doc_object_end(struct doc *doc);
void doc_list_begin(struct doc *doc, const char *key, const char *heading);
void doc_list_end(struct doc *doc);
/* A row of the innermost open list. */
void doc_row_begin(struct doc *doc);
void doc_row_end(struct doc *doc);

/* A NULL value is unknown, as with doc_null. */
void doc_text(struct doc *doc, const char *key, const char *label, const char *value);
void doc_textf(struct doc *doc, const char *key, const char *label, const char *format, ...)
    GMT_PRINTF(4, 5);
void doc_integer(struct doc *doc, const char *key, const char *label, enum doc_unit unit,
                 int64_t value);
void doc_bytes(struct doc *doc, const char *key, const char *label, uint64_t value);
void doc_known_bytes(struct doc *doc, const char *key, const char *label, bool known,
                     uint64_t value);
void doc_count(struct doc *doc, const char *key, const char *label, uint64_t value);
void doc_known_count(struct doc *doc, const char *key, const char *label, bool known,
                     uint64_t value);
void doc_ratio(struct doc *doc, const char *key, const char *label, double value);
void doc_known_ratio(struct doc *doc, const char *key, const char *label, bool known, double value);
void doc_bool(struct doc *doc, const char *key, const char *label, bool value);
void doc_null(struct doc *doc, const char *key, const char *label, enum doc_unit unit);
/* A column for the caller to fill; NULL: the reader leaves it out, or an error is remembered. */
int64_t *doc_column(struct doc *doc, const char *key, enum doc_unit unit, size_t count);
/* The share beside it as a bar, where rows are to be compared. */
void doc_bar(struct doc *doc, double share, uint8_t columns);
/* A column that a window shows as a graph, and nobody else reads. NULL as above. */
int64_t *doc_graph(struct doc *doc, enum doc_unit unit, size_t count);
/* What people read in place of the value of the field just added. */
void doc_words(struct doc *doc, const char *format, ...) GMT_PRINTF(2, 3);
/* A sentence, for a summary only. */
void doc_note(struct doc *doc, const char *format, ...) GMT_PRINTF(2, 3);
/* The same of a line to paste: it is not broken. */
void doc_line(struct doc *doc, const char *format, ...) GMT_PRINTF(2, 3);

#endif
