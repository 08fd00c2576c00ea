/* SPDX-License-Identifier: MIT */
/*
 * The frames of a stack tell who owns its memory, by library (category_modules.def) or by a
 * framework's function (category_functions.def), and how an operator made a tensor. The innermost
 * frame that matches a row decides. Results are kept in struct categories.
 */
#pragma once

#include "category.h"

/* Only in category_functions.def, which explains them. */
enum {
    CATEGORY_cast = CATEGORY_COUNT + 1,
    CATEGORY_recomputed,
    CATEGORY_foreach,
    CATEGORY_parametrized,
    CATEGORY_loaded,
    CATEGORY_clipping
};

/* Prepares the look-ups. *categories has its history and symbols. */
int category_frames_init(struct categories *categories, struct err *err);

/* A category, or CATEGORY_COUNT: no row matches. */
uint8_t category_of_library(const struct categories *categories, uint32_t stack_id);
uint8_t category_of_function(const struct categories *categories, uint32_t stack_id);

/* How the program's line made a tensor, by the operator that it called. */
enum made { MADE_unknown, MADE_computed, MADE_values, MADE_empty, MADE_constant };
enum made category_made(const struct categories *categories, const struct block *block);

/* The place from which autocast is called for the stack's tensor: one for each argument of an
 * operator. 0: the stack is no cast. */
uint64_t category_casting_place(const struct categories *categories, uint32_t stack_id);
