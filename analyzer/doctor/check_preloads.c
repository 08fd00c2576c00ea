/* SPDX-License-Identifier: MIT */
/* Checks which other libraries are preloaded, and in which order. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "analyzer/util/text.h"

#include "check.h"
#include "child.h"

#define OWN_NAME "libgpumemtrace.so"

enum { PRELOADS_BYTES = 4096 };

static bool is_own(const char *path)
{
    return !strcmp(path_name(path), OWN_NAME);
}

struct preloads {
    int count, own_at; /* own_at: position of the recorder; -1: not listed */
    char first[256];   /* the first other library; "": none */
};

static void read_preloads(struct preloads *preloads, char *listed)
{
    char *rest = NULL;
    for (char *path = strtok_r(listed, ": ", &rest); path; path = strtok_r(NULL, ": ", &rest)) {
        if (is_own(path)) {
            preloads->own_at = preloads->count;
        } else if (!*preloads->first) {
            snprintf(preloads->first, sizeof preloads->first, "%s", path);
        }
        preloads->count++;
    }
}

/* Starts a child with this LD_PRELOAD, because the loader reports refused libraries only when a
 * program starts. */
static bool are_refused(struct finding *finding, const char *variable, char *listed)
{
    char said[FINDING_BYTES], *rest = NULL;
    if (!*variable)
        return false;
    child_run("--version", variable, said, sizeof said);
    if (!strstr(said, "cannot be preloaded"))
        return false;
    for (char *path = strtok_r(listed, ": ", &rest); path; path = strtok_r(NULL, ": ", &rest))
        if (finding_is_noexec(finding, path))
            return true;
    finding_wrong(finding, "LD_PRELOAD: %s", child_reason(said));
    finding_mend(finding, "unset LD_PRELOAD");
    return true;
}

void check_preloads(struct finding *finding, struct checkup *checkup)
{
    const char *variable = getenv("LD_PRELOAD") ? getenv("LD_PRELOAD") : "";
    char listed[PRELOADS_BYTES], word[FINDING_WORD_BYTES];
    struct preloads preloads = {.own_at = -1};
    snprintf(listed, sizeof listed, "%s", variable);
    if (are_refused(finding, variable, listed))
        return;
    snprintf(listed, sizeof listed, "%s", variable);
    read_preloads(&preloads, listed);
    if (preloads.own_at > 0) {
        finding_wrong(finding,
                      "the recorder is not the first in LD_PRELOAD: %s before it may hide "
                      "calls from it",
                      preloads.first);
        finding_mend(finding, "export LD_PRELOAD=%s:\"$LD_PRELOAD\"",
                     finding_word(word, checkup->places.library));
    } else if (*preloads.first) {
        finding_note(finding,
                     "LD_PRELOAD also has %s; 'gpumemtrace run' puts the recorder before it",
                     preloads.first);
    } else if (!access("/etc/ld.so.preload", R_OK)) {
        finding_note(finding,
                     "/etc/ld.so.preload has libraries of the system, which come after the "
                     "recorder");
    } else {
        finding_fine(finding, "no other library is preloaded");
    }
}
