/* SPDX-License-Identifier: MIT */
/* The page of `doctor`: the verdict, and the results of the checks of a machine. */
#pragma once

#include "analyzer/doctor/doctor.h"
#include "analyzer/render/doc.h"

/* Builds the document, which the caller frees. Returns NULL if there is no memory. */
struct doc *page_doctor(enum doc_level reads, const struct doctor *doctor);
