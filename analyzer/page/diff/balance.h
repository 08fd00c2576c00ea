/* SPDX-License-Identifier: MIT */
/* The balance of the devices of one process (analysis/balance.h) on a page. It must not know ranks. */
#ifndef GPUMEMTRACE_ANALYZER_PAGE_DIFF_BALANCE_H
#define GPUMEMTRACE_ANALYZER_PAGE_DIFF_BALANCE_H

#include "analyzer/page/page.h"

/* Says which device stands out, and what it holds more than the median of the others; 0: none does. */
page_answer balance_answer;
/* "balance" of a process that had memory on several devices. */
page_part balance_add;

#endif
