/* SPDX-License-Identifier: MIT */
/*
 * The lines that grow, as a sentence names them. Call stacks of one line are added up, and lines of
 * one file that grow equally fast share a figure.
 *
 *     16.00 MiB per step by clip.py:13 SoftClip.forward
 *     21.99 MiB per step: 15.10 MiB by relax.py:35 and :36, 6.18 MiB by :21
 */
#pragma once

#include "analyzer/analysis/leaks.h"
#include "analyzer/render/units.h"
#include "analyzer/util/text.h"

/* The rows that a sentence is about. */
enum rows { ROWS_OF_CAUSE, ROWS_BESIDE, ROWS_ENLARGED };

/* The steepest of these rows; NULL: there is none. */
const struct leak_row *lines_steepest(const struct account_leak *found, enum rows rows);
/* Bytes per step. For the rows of a cause, bytes per found->rise_steps steps. */
double lines_slope(const struct account_leak *found, enum rows rows);

/* Growth of less than a twentieth of the whole is not worth a name. */
bool lines_worth_naming(double slope, double whole);

#define LINES_TEXT_BYTES (4 * BLAME_TEXT_BYTES + 4 * UNITS_TEXT_BYTES + 64)
/* Writes " by train.py:40 main" or ": 15.10 MiB by relax.py:35 and :36, 6.18 MiB by :21". Names at
 * most two figures, and only the first if both take more than `characters`. */
const char *lines_text(char out[LINES_TEXT_BYTES], const struct account_leak *found, enum rows rows,
                       size_t characters);
enum { LINES_UNLIMITED = LINES_TEXT_BYTES };

/* Adds "train.py:40", or " and :41" if `after` is the line that was added before. */
void lines_add_position(struct text *out, const struct blamed *blamed, const struct blamed *after);

/* The room that a first sentence leaves for a name. */
enum { NAME_CHARACTERS = 33 };

/* Writes a slope as text: "12.0 MiB". A slope may be below one byte. */
const char *slope_text(char out[UNITS_TEXT_BYTES], double bytes);
