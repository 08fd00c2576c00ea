/* SPDX-License-Identifier: MIT */
/* What a check gets, and how it says what it found. It must not know the checks. */
#ifndef GPUMEMTRACE_ANALYZER_DOCTOR_CHECK_H
#define GPUMEMTRACE_ANALYZER_DOCTOR_CHECK_H

#include <stdbool.h>

#include "analyzer/run/run_places.h"
#include "gpumemtrace/compiler.h"

enum finding_state {
    FINDING_FINE,
    FINDING_NOTE,  /* nothing that stands in the way, but to be known */
    FINDING_WRONG, /* with the command that mends it */
    FINDING_NONE,  /* there was nothing to look at */
};

/* A command may name a path twice, quoted. */
enum { FINDING_BYTES = 1024, FINDING_MEND_BYTES = 3 * PATH_MAX, FINDING_WORD_BYTES = 2 * PATH_MAX };

struct finding {
    const char *name;
    enum finding_state state;
    char what[FINDING_BYTES];      /* one sentence without a full stop */
    char mend[FINDING_MEND_BYTES]; /* a command, or several, for a shell; "": nothing to mend */
};

/* What is known before the checks; one tells the next what else it needs. */
struct checkup {
    const char *program;      /* that is to be recorded, as typed; NULL: none was named */
    struct run_places places; /* "": not found */
    bool has_driver;          /* a driver answered, and has a card */
    bool has_dry_run;         /* the simulator answered */
    const char *container;    /* which kind this process runs in; NULL: none */
};

void finding_fine(struct finding *finding, const char *format, ...) GMT_PRINTF(2, 3);
void finding_note(struct finding *finding, const char *format, ...) GMT_PRINTF(2, 3);
void finding_wrong(struct finding *finding, const char *format, ...) GMT_PRINTF(2, 3);
/* The command that mends what is wrong. */
void finding_mend(struct finding *finding, const char *format, ...) GMT_PRINTF(2, 3);
/* A path as a shell reads it as one word. */
const char *finding_word(char word[FINDING_WORD_BYTES], const char *path);
/* Says so, where nothing on the file's file system may be executed. */
bool finding_is_noexec(struct finding *finding, const char *path);
/* Says so, where a folder on the way to it may not be entered. */
bool finding_is_shut(struct finding *finding, const char *path);

#define CHECK(name) void check_##name(struct finding *finding, struct checkup *checkup);
#include "checks.def"

#endif
