/* SPDX-License-Identifier: MIT */
/* All checks of this machine. It must not know who reads what they found. */
#ifndef GPUMEMTRACE_ANALYZER_DOCTOR_DOCTOR_H
#define GPUMEMTRACE_ANALYZER_DOCTOR_DOCTOR_H

#include "check.h"

enum {
#define CHECK(name) DOCTOR_##name,
#include "checks.def"
    DOCTOR_CHECKS
};

struct doctor {
    struct checkup checkup;
    struct finding findings[DOCTOR_CHECKS];
    int wrong_count;
};

/* program: that is to be recorded; NULL: any. */
void doctor_look(struct doctor *doctor, const char *program);

#endif
