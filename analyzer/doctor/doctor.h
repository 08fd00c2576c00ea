/* SPDX-License-Identifier: MIT */
/* Runs all checks of this machine and counts what is wrong. */
#pragma once

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

/* program: the program to record; NULL: any. */
void doctor_look(struct doctor *doctor, const char *program);
