/* SPDX-License-Identifier: MIT */
/* Makes a dry run one rank of many: sets the variables that torchrun would set. */
#pragma once

#include "gpumemtrace/err.h"

/* Reads "K/N" from text and sets the variables of rank K of N ranks, on machines with card_count
 * cards each. */
int run_rank_set(const char *text, int card_count, struct err *err);
/* Fails if the program is a launcher that starts ranks itself. argv ends with NULL. */
int run_rank_check(char *const *argv, struct err *err);
