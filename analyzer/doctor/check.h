/* SPDX-License-Identifier: MIT */
/* The interface of a check: the facts that the check gets, and the functions with which it reports
 * its finding. */
#pragma once

#include <stdbool.h>

#include "analyzer/run/run_places.h"
#include "gpumemtrace/compiler.h"

enum finding_state {
    FINDING_FINE,
    FINDING_NOTE,  /* worth knowing, but recording works */
    FINDING_WRONG, /* recording fails; `mend` has the command that helps */
    FINDING_NONE,  /* nothing to check */
};

/* Sizes of texts: a command may contain a quoted path twice. */
enum { FINDING_BYTES = 1024, FINDING_MEND_BYTES = 3 * PATH_MAX, FINDING_WORD_BYTES = 2 * PATH_MAX };

struct finding {
    const char *name;
    enum finding_state state;
    char what[FINDING_BYTES];      /* one sentence without a full stop */
    char mend[FINDING_MEND_BYTES]; /* one or more shell commands; "": nothing to mend */
};

/* Facts that the checks share: each check may fill in facts that later checks use. */
struct checkup {
    const char *program;      /* the program to record, as typed; NULL: none named */
    struct run_places places; /* "": not found */
    bool has_driver;          /* a driver works and has a card */
    bool has_dry_run;         /* the simulator works */
    const char *container;    /* kind of container that this process runs in; NULL: none */
};

void finding_fine(struct finding *finding, const char *format, ...) GMT_PRINTF(2, 3);
void finding_note(struct finding *finding, const char *format, ...) GMT_PRINTF(2, 3);
void finding_wrong(struct finding *finding, const char *format, ...) GMT_PRINTF(2, 3);
/* Sets the shell command that mends the problem. */
void finding_mend(struct finding *finding, const char *format, ...) GMT_PRINTF(2, 3);
/* Quotes a path so that a shell reads it as one word. */
const char *finding_word(char word[FINDING_WORD_BYTES], const char *path);
/* Returns true, and sets the finding, if the path's file system is mounted noexec. */
bool finding_is_noexec(struct finding *finding, const char *path);
/* Returns true, and sets the finding, if this user may not enter a folder of the path. */
bool finding_is_shut(struct finding *finding, const char *path);

#define CHECK(name) void check_##name(struct finding *finding, struct checkup *checkup);
#include "checks.def"
