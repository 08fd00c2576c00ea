/* SPDX-License-Identifier: MIT */
/* The balance of the devices of one process (analysis/balance.h) on a page. */
#pragma once

#include "analyzer/page/page.h"

/* Says which device stands out, and how much more it holds than the median of the other devices.
 * Returns 0 if no device stands out. */
page_answer balance_answer;
/* Adds "balance" if the process had memory on several devices. */
page_part balance_add;
