/* SPDX-License-Identifier: MIT */
/*
 * See memory_limit.h. RLIMIT_DATA counts what malloc takes, here and in libraries, and nothing that is
 * mapped from a file. A library that ends the process when malloc fails says so itself.
 */
#include "memory_limit.h"

#include <inttypes.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "analyzer/render/units.h"

static uint64_t limit_bytes; /* 0: none is set */

/* The number at the start of a file; UINT64_MAX: there is none. */
static uint64_t read_number(const char *path)
{
    uint64_t number = UINT64_MAX;
    FILE *file = fopen(path, "re");
    if (!file)
        return UINT64_MAX;
    if (fscanf(file, "%" SCNu64, &number) != 1)
        number = UINT64_MAX;
    fclose(file);
    return number;
}

/* The least limit of a cgroup and those around it. In a container its path may be the host's, and only
 * the outermost folder exists. */
static uint64_t cgroup_limit(const char *mount, char *path, const char *file)
{
    uint64_t least = UINT64_MAX;
    for (;;) {
        char name[2 * PATH_MAX];
        snprintf(name, sizeof name, "%s%s/%s", mount, path, file);
        const uint64_t limit = read_number(name);
        least = limit < least ? limit : least;
        char *slash = strrchr(path, '/');
        if (!slash)
            return least;
        *slash = '\0';
    }
}

/* Whether a line of /proc/self/cgroup is the memory controller's: "4:memory:/path", or "0::/path" for
 * all controllers. */
static uint64_t limit_of_line(const char *root, char *line)
{
    char mount[PATH_MAX];
    char *controllers = strchr(line, ':'),
         *path = controllers ? strchr(controllers + 1, ':') : NULL;
    if (!path)
        return UINT64_MAX;
    *path++ = '\0';
    path[strcspn(path, "\n")] = '\0';
    if (controllers[1] == '\0') {
        snprintf(mount, sizeof mount, "%s/sys/fs/cgroup", root);
        return cgroup_limit(mount, path, "memory.max");
    }
    if (!strstr(controllers, "memory"))
        return UINT64_MAX;
    snprintf(mount, sizeof mount, "%s/sys/fs/cgroup/memory", root);
    return cgroup_limit(mount, path, "memory.limit_in_bytes");
}

uint64_t memory_limit_default(const char *root)
{
    uint64_t least = (uint64_t)sysconf(_SC_PHYS_PAGES) * (uint64_t)sysconf(_SC_PAGESIZE);
    char name[PATH_MAX], line[PATH_MAX];
    snprintf(name, sizeof name, "%s/proc/self/cgroup", root);
    FILE *file = fopen(name, "re");
    while (file && fgets(line, sizeof line, file)) {
        const uint64_t limit = limit_of_line(root, line);
        least = limit < least ? limit : least;
    }
    if (file)
        fclose(file);
    return least / 4;
}

/* What the process has taken already: a sanitizer's shadow memory counts, too. */
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
    char size[UNITS_TEXT_BYTES];
    const size_t length = strlen(err->message);
    if (limit_bytes && strstr(err->message, "out of memory"))
        snprintf(err->message + length, sizeof err->message - length,
                 "; the limit is %s: --memory-limit=SIZE changes it",
                 units_bytes(size, limit_bytes));
}
