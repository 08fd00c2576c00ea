/* SPDX-License-Identifier: MIT */
/* Checks the limits of this process, because a recorded program inherits them. */
#include <inttypes.h>
#include <sys/resource.h>

#include "check.h"
#include "analyzer/render/units.h"

#define GIB (UINT64_C(1) << 30)

enum { DESCRIPTORS_LEAST = 32 }; /* with fewer, the recorder opens no file */

static uint64_t limit_of(int resource)
{
    struct rlimit limit;
    return getrlimit((__rlimit_resource_t)resource, &limit) ? UINT64_MAX : limit.rlim_cur;
}

/* A shell can raise its soft limit up to the hard limit. Only root can raise the hard limit. */
static void mend(struct finding *finding, int resource, uint64_t needed, const char *raise,
                 const char *name)
{
    struct rlimit limit;
    if (!getrlimit((__rlimit_resource_t)resource, &limit) && limit.rlim_max < needed)
        finding_mend(finding, "sudo prlimit --pid $$ --%s", name);
    else
        finding_mend(finding, "ulimit %s", raise);
}

void check_limits(struct finding *finding, struct checkup *checkup)
{
    const uint64_t descriptors = limit_of(RLIMIT_NOFILE), file_bytes = limit_of(RLIMIT_FSIZE),
                   space_bytes = limit_of(RLIMIT_AS);
    (void)checkup;
    if (descriptors < DESCRIPTORS_LEAST) {
        finding_wrong(
            finding, "a process may open %" PRIu64 " files; with fewer than %d nothing is recorded",
            descriptors, DESCRIPTORS_LEAST);
        mend(finding, RLIMIT_NOFILE, 1024, "-n 1024", "nofile=1024:1024");
    } else if (file_bytes < GIB) {
        finding_wrong(finding, "a file may have %s; a trace is cut off there",
                      BYTES_TEXT(file_bytes));
        mend(finding, RLIMIT_FSIZE, RLIM_INFINITY, "-f unlimited", "fsize=unlimited");
    } else if (space_bytes != RLIM_INFINITY) {
        finding_wrong(finding,
                      "address space is limited to %s: CUDA reserves more than a card has, and "
                      "fails",
                      BYTES_TEXT(space_bytes));
        mend(finding, RLIMIT_AS, RLIM_INFINITY, "-v unlimited", "as=unlimited");
    } else {
        finding_fine(finding, "open files, size of a file and address space are not too limited");
    }
}
