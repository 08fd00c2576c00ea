/* SPDX-License-Identifier: MIT */
/* The page of `fleet`; see README.md. */
#pragma once

#include "analyzer/fleet/fleet.h"
#include "analyzer/render/doc.h"

/* Builds the page. The caller frees *doc. */
int page_fleet(struct doc **doc, enum doc_level reads, const struct fleet *fleet, struct err *err);
