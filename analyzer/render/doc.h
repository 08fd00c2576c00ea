/* SPDX-License-Identifier: MIT */
/*
 * The document between pages and formats: a tree of objects, lists and typed fields. A page
 * describes a result once, for all readers; text, JSON, CSV … are walks over it.
 *
 *     object "frag"                     JSON: {            text:  a heading, "label  value" lines
 *       field  free_bytes  bytes              "free_bytes": 512,
 *       list   "sites"                        "sites": [           a table, one row per object,
 *         object (row)                          {"bytes": 1, …     a column per field;
 *           list "frames"                        "frames": [ … ]   a list inside a row stands
 *                                                                  indented below that row
 *
 * A field directly in a list is an element: "warnings": ["…", "…"]. In text it has a line of its
 * own. A list whose rows hold objects, or lists with headings, is shown as one section per row. A
 * heading with nothing visible below it is not shown.
 *
 * A result has too many figures for one page of text, and the text has sentences that only repeat
 * figures. So the page marks nodes, and each format reads only nodes with some of the marks
 * (formats.def):
 *
 *     mark               what it is                                   text   other formats
 *     (none)             a figure that everybody reads                yes    yes
 *     doc_detail(doc)    left out of a summary: an address, the       -      yes
 *                        eleventh site, the second layer
 *     doc_summary(doc)   stands for details: a sentence, a bar, a     yes    -
 *                        stack with folded frames
 *
 *     doc_bytes(doc, "live_bytes", "Live", live_bytes);
 *     doc_count(doc_detail(doc), "seq", "Event", seq);
 *     doc_row_begin(doc_detail_if(doc, i >= PAGE_SITES));
 *
 * A document is made for one format. A node that the format does not read is dropped at once, with
 * everything inside it, so that a page describes everything and a summary stays small. A page asks
 * doc_takes before it computes something costly.
 *
 * Every field has a label ("": none) and, unless it is for a summary only, a key. Objects and
 * lists have a heading or NULL. Rows of one list carry the same fields in the same order. Keys and
 * labels must outlive the document (string literals); text values are copied. Errors (out of
 * memory, unbalanced begins and ends) are kept and reported once by doc_check. Not thread-safe.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "gpumemtrace/err.h"

/* For a node: the formats that read it. For a format: the nodes that it reads. */
enum doc_level {
    DOC_SUMMARY = 1 << 0,
    DOC_DETAIL = 1 << 1,
    DOC_BOTH = DOC_SUMMARY | DOC_DETAIL,
    DOC_FRAMES = 1 << 2, /* every frame of every call stack */
    DOC_SERIES = 1 << 3, /* memory over time and its snapshots, for charts */
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
    DOC_BAR,     /* a ratio drawn as a bar, for a summary only */
};

enum doc_type { DOC_OBJECT, DOC_LIST, DOC_FIELD, DOC_COLUMN, DOC_NOTE };

/* Integers of one unit, such as a curve: one array in JSON. */
struct doc_column {
    size_t count;
    int64_t values[];
};
#define DOC_COLUMN_NULL INT64_MIN /* unknown */

/* Equal texts and equal rows are stored once, because a million call stacks consist of few frames.
 * So a node has no pointer to its parent, and rows may share their children. */
struct doc_node {
    uint8_t type;        /* enum doc_type */
    uint8_t level;       /* enum doc_level */
    uint8_t unit;        /* enum doc_unit; fields and columns only */
    bool is_null;        /* fields only: unknown; JSON null, text "-" */
    bool is_spare;       /* fields only: a table wider than its window drops this column */
    bool is_whole;       /* notes only: never wrapped */
    uint8_t bar_columns; /* DOC_BAR only: width of ratio 1; 0: the rest of a window, else no bar */
    const char *key;
    const char *label; /* field label, or heading of an object or list */
    const char *words; /* text for people in place of the value, or NULL */
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

/* Creates a document for a reader of these levels. The root is an object; schema
 * ("gpumemtrace.peak/1") becomes its first key. Returns NULL if out of memory. */
struct doc *doc_new(const char *schema, enum doc_level reads);
void doc_free(struct doc *doc);
const struct doc_node *doc_root(const struct doc *doc);
/* Sets the key of the list that is the answer's table, wherever the list is in the document. A
 * format with one table, such as CSV, shows this list. If the key is not set (NULL), such a format
 * shows the first list whose rows are lines. */
void doc_set_table(struct doc *doc, const char *key);
const char *doc_table(const struct doc *doc);
/* Sets the header line of that table, such as "device,bytes,…", which is used if the table has no
 * rows. NULL: not set. */
void doc_set_columns(struct doc *doc, const char *columns);
const char *doc_columns(const struct doc *doc);
/* Returns 0, or -1 and *err if anything failed since doc_new. */
int doc_check(const struct doc *doc, struct err *err);
/* Keeps an error, unless there is an earlier one. `message` is copied. */
void doc_fail(struct doc *doc, int code, const char *message);

/* These mark the node that is added next, and return doc. */
struct doc *doc_detail(struct doc *doc);
struct doc *doc_summary(struct doc *doc);
struct doc *doc_frames(struct doc *doc);
struct doc *doc_series(struct doc *doc);
struct doc *doc_detail_if(struct doc *doc, bool is_detail);
/* Marks the next field: a table that is wider than its window drops this column. */
struct doc *doc_spare(struct doc *doc);
/* Returns whether the format reads a node of that level at this place. */
bool doc_takes(const struct doc *doc, enum doc_level level);

/* Returns the newest child of the innermost open node; NULL: it has none. */
struct doc_node *doc_last(const struct doc *doc);
/* Moves the nodes that were added after `last` up, so that they follow `above`, an earlier child.
 * This is for a node whose content is known only after the nodes below it. Both come from
 * doc_last. */
void doc_move_up(struct doc *doc, struct doc_node *last, struct doc_node *above);

void doc_object_begin(struct doc *doc, const char *key, const char *heading);
void doc_object_end(struct doc *doc);
void doc_list_begin(struct doc *doc, const char *key, const char *heading);
/* Returns the list, or NULL if no reader wants it. */
const struct doc_node *doc_list_end(struct doc *doc);
/* Begins a row of the innermost open list. */
void doc_row_begin(struct doc *doc);
void doc_row_end(struct doc *doc);

/* A NULL value means that the value is unknown, as with doc_null. */
void doc_text(struct doc *doc, const char *key, const char *label, const char *value);
void doc_textf(struct doc *doc, const char *key, const char *label, const char *format, ...)
    GMT_PRINTF(4, 5);
void doc_integer(struct doc *doc, const char *key, const char *label, enum doc_unit unit,
                 int64_t value);
void doc_known_integer(struct doc *doc, const char *key, const char *label, enum doc_unit unit,
                       bool known, int64_t value);
void doc_bytes(struct doc *doc, const char *key, const char *label, uint64_t value);
void doc_known_bytes(struct doc *doc, const char *key, const char *label, bool known,
                     uint64_t value);
void doc_count(struct doc *doc, const char *key, const char *label, uint64_t value);
void doc_known_count(struct doc *doc, const char *key, const char *label, bool known,
                     uint64_t value);
void doc_ratio(struct doc *doc, const char *key, const char *label, double value);
void doc_known_ratio(struct doc *doc, const char *key, const char *label, bool known, double value);
void doc_bool(struct doc *doc, const char *key, const char *label, bool value);
void doc_known_bool(struct doc *doc, const char *key, const char *label, bool known, bool value);
void doc_null(struct doc *doc, const char *key, const char *label, enum doc_unit unit);
/* Returns a column for the caller to fill; NULL: the format does not read the column, or there was
 * an error. */
int64_t *doc_column(struct doc *doc, const char *key, enum doc_unit unit, size_t count);
/* Draws the share as a bar beside the row's figures, so that rows can be compared. */
void doc_bar(struct doc *doc, double share, uint8_t columns);
/* Returns a column that text in a terminal shows as a graph; no other format reads it.
 * Returns NULL in the same cases as doc_column. */
int64_t *doc_graph(struct doc *doc, enum doc_unit unit, size_t count);
/* Sets a text that people read in place of the value of the field just added. */
void doc_words(struct doc *doc, const char *format, ...) GMT_PRINTF(2, 3);
/* Adds a sentence, for a summary only. */
void doc_note(struct doc *doc, const char *format, ...) GMT_PRINTF(2, 3);
/* Does the same as doc_note for a line that people copy, so the line is never wrapped. */
void doc_line(struct doc *doc, const char *format, ...) GMT_PRINTF(2, 3);
