/* SPDX-License-Identifier: MIT */
/*
 * Computes expressions of a model file, as "num_heads * head_dim" or "hidden_act == 'silu' ? 'SiLU'
 * : 'GELU'". An expression may have C's operators on integers of at most 2^62 and on fractions
 * (which cannot be divided), comparisons of numbers and texts, list[i], object['name'], `x in
 * list`, and the functions min, max, ceil(a, b), int, len, ends(text, end), get(object, name,
 * other). The caller looks names up.
 *
 *     choice   = or ["?" choice ":" choice]     a branch that is not taken is only parsed
 *     or … product: || && == != < <= > >= in + - * / %   lowest precedence first; / rounds down
 *     unary    = ("!" | "-") unary | primary
 *     primary  = number | 'text' | name ["[" choice "]"] | name "(" choice {"," choice} ")"
 *              | "(" choice ")"
 */
#pragma once

#include "value.h"

#define EXPRESSION_MOST_BYTES 1000
#define EXPRESSION_DEPTH_MOST 40

/*
 * Looks names up. The function `find` fills the value. On failure, it sets *err ("'hiden' is
 * unknown …") and returns -1.
 */
struct names {
    int (*find)(struct names *names, const char *name, struct value *value, struct err *err);
};

#define NAME_MOST_BYTES 64

/* Computes the value. ERR_INPUT says what is wrong, and where in the expression. */
int expression_evaluate(const char *text, struct names *names, struct value *value,
                        struct err *err);
