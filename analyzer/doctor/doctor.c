/* SPDX-License-Identifier: MIT */
/* See doctor.h. */
#include "doctor.h"

static const struct {
    const char *name;
    void (*look)(struct finding *finding, struct checkup *checkup);
} checks[] = {
#define CHECK(name) {#name, check_##name},
#include "checks.def"
};

void doctor_look(struct doctor *doctor, const char *program)
{
    *doctor = (struct doctor){.checkup.program = program};
    for (int i = 0; i < DOCTOR_CHECKS; i++) {
        struct finding *finding = &doctor->findings[i];
        *finding = (struct finding){.name = checks[i].name, .state = FINDING_NONE};
        checks[i].look(finding, &doctor->checkup);
        doctor->wrong_count += finding->state == FINDING_WRONG;
    }
}
