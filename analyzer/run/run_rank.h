/* SPDX-License-Identifier: MIT */
/* One rank of many that a dry run is: what torchrun would tell it. It must not know what a rank does. */
#ifndef GPUMEMTRACE_ANALYZER_RUN_RUN_RANK_H
#define GPUMEMTRACE_ANALYZER_RUN_RUN_RANK_H

#include "gpumemtrace/err.h"

/* Sets the variables of rank K of N on a machine with so many cards, from "K/N". */
int run_rank_set(const char *text, int card_count, struct err *err);
/* Fails where the program would start ranks itself. argv ends with NULL. */
int run_rank_check(char *const *argv, struct err *err);

#endif
