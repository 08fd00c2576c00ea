/* SPDX-License-Identifier: MIT */
/*
 * See memory_limit.h. RLIMIT_DATA limits malloc, here and in libraries, but not mapped files. A
 * library that ends the process when malloc fails prints its own message.
 */
#include "memory_limit.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "analyzer/render/units.h"
#include "common/cgroup.h"

static uint64_t limit_bytes; /* 0: none */

uint64_t memory_limit_default(const char *root)
{
    const uint64_t machine = (uint64_t)sysconf(_SC_PHYS_PAGES) * (uint64_t)sysconf(_SC_PAGESIZE);
    struct cgroup cgroup;
    cgroup_find(&cgroup, root);
    return (cgroup.limit_bytes < machine ? cgroup.limit_bytes : machine) / 4;
}

/* Returns the bytes that the process has already taken, for example as a sanitizer's shadow
 * memory. */
static uint64_t taken_bytes(void)
{
    uint64_t pages = 0;
    FILE *file = fopen("/proc/self/statm", "re");
    if (!file)
        return 0;
    if (fscanf(file, "%*u %*u %*u %*u %*u %" SCNu64, &pages) != 1)
        pages = 0;
    fclose(file);
    return pages * (uint64_t)sysconf(_SC_PAGESIZE);
}

void memory_limit_set(uint64_t bytes)
{
    struct rlimit limit;
    const uint64_t taken = taken_bytes();
    limit_bytes = bytes ? bytes : memory_limit_default("");
    const rlim_t wanted = limit_bytes < RLIM_INFINITY - taken ? limit_bytes + taken : RLIM_INFINITY;
    if (getrlimit(RLIMIT_DATA, &limit) || limit.rlim_cur <= wanted)
        return;
    limit.rlim_cur = wanted;
    setrlimit(RLIMIT_DATA, &limit);
}

void memory_limit_explain(struct err *err)
{
    const size_t length = strlen(err->message);
    if (limit_bytes && strstr(err->message, "out of memory"))
        snprintf(err->message + length, sizeof err->message - length,
                 "; the limit is %s: --memory-limit=SIZE changes it", BYTES_TEXT(limit_bytes));
}
