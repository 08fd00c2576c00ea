/* SPDX-License-Identifier: MIT */
/* The page of `compare`: measured beside estimated memory, for the leading layer of each device. */
#pragma once

#include "analyzer/page/estimate.h"
#include "analyzer/page/page.h"

/* The options that view->own points to. */
struct page_compare_options {
    const struct estimate *estimate;
    struct estimate_view estimate_view;
};

extern const struct page page_compare;
