/* SPDX-License-Identifier: MIT */
/* The page of a machine's checks. It must not know how they look. */
#ifndef GPUMEMTRACE_ANALYZER_PAGE_DOCTOR_DOCTOR_H
#define GPUMEMTRACE_ANALYZER_PAGE_DOCTOR_DOCTOR_H

#include "analyzer/doctor/doctor.h"
#include "analyzer/render/doc.h"

/* NULL: out of memory. The caller frees it. */
struct doc *page_doctor(enum doc_level reads, const struct doctor *doctor);

#endif
