/* SPDX-License-Identifier: MIT */
/* See find_trace.h. The recorder maps its ring, FILE-ring.0, so /proc/PID/maps names the trace. */
#include "find_trace.h"

#include <glob.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "common/numbers.h"

static const char ring_ending[] = "-ring.0";

/* Cuts the ring's ending off the path, so that the path names the trace. Returns false if the path
 * names no ring. */
static bool cut_ring(char *path)
{
    const size_t length = strlen(path), ending = sizeof ring_ending - 1;
    if (length <= ending || strcmp(path + length - ending, ring_ending) != 0)
        return false;
    path[length - ending] = '\0';
    return true;
}

/* The process may have another root folder, for example in a container. */
static bool reach(char path[PATH_MAX], const char *named, uint64_t pid)
{
    snprintf(path, PATH_MAX, "%s", named);
    if (!access(path, R_OK))
        return true;
    const int length = snprintf(path, PATH_MAX, "/proc/%" PRIu64 "/root%s", pid, named);
    return length < PATH_MAX && !access(path, R_OK);
}

static bool maps_ring(char path[PATH_MAX], uint64_t pid)
{
    char name[64], line[PATH_MAX + 128];
    bool found = false;
    snprintf(name, sizeof name, "/proc/%" PRIu64 "/maps", pid);
    FILE *maps = fopen(name, "re");
    while (maps && !found && fgets(line, sizeof line, maps)) {
        char *named = strchr(line, '/');
        line[strcspn(line, "\n")] = '\0';
        found = named && cut_ring(named) && reach(path, named, pid);
    }
    if (maps)
        fclose(maps);
    return found;
}

/* Searches a process and its descendants, because a launcher itself may not be recorded. */
static bool find_in(char path[PATH_MAX], uint64_t pid, int depth)
{
    enum { DEPTH_MOST = 8 };
    char name[64];
    unsigned long long child;
    bool found = maps_ring(path, pid);
    snprintf(name, sizeof name, "/proc/%" PRIu64 "/task/%" PRIu64 "/children", pid, pid);
    FILE *children = found || depth == DEPTH_MOST ? NULL : fopen(name, "re");
    while (children && !found && fscanf(children, "%llu", &child) == 1)
        found = find_in(path, child, depth + 1);
    if (children)
        fclose(children);
    return found;
}

/* Returns -1 if the file is gone. */
static int64_t changed_ns(const char *path)
{
    struct stat status;
    return stat(path, &status) ? -1 : status.st_mtim.tv_sec * 1000000000 + status.st_mtim.tv_nsec;
}

/* Takes the newest ring, because the ring is created when the recording begins. */
static bool find_here(char path[PATH_MAX])
{
    glob_t rings = {0};
    int64_t last_ns = -1;
    if (glob("*-ring.0", 0, NULL, &rings) == 0)
        for (size_t i = 0; i < rings.gl_pathc; i++) {
            const int64_t own_ns = changed_ns(rings.gl_pathv[i]);
            if (own_ns <= last_ns || strlen(rings.gl_pathv[i]) >= PATH_MAX)
                continue;
            last_ns = own_ns;
            snprintf(path, PATH_MAX, "%s", rings.gl_pathv[i]);
        }
    globfree(&rings);
    return last_ns >= 0 && cut_ring(path);
}

int find_trace(char path[PATH_MAX], const char *operand, struct err *err)
{
    char process[64];
    uint64_t pid;
    if (!operand) {
        if (find_here(path))
            return 0;
        return err_set(err, ERR_USAGE,
                       "no trace is being written in this folder; name a process or a trace");
    }
    const bool is_number = *operand && !*digits_read(operand, &pid);
    if (!is_number || !access(operand, F_OK)) {
        snprintf(path, PATH_MAX, "%s", operand);
        return 0;
    }
    if (find_in(path, pid, 0))
        return 0;
    snprintf(process, sizeof process, "/proc/%" PRIu64 "/maps", pid);
    if (access(process, F_OK))
        err_set(err, ERR_USAGE, "there is no process %s", operand);
    else if (access(process, R_OK))
        err_set(err, ERR_USAGE, "process %s is another user's; name its trace", operand);
    else
        err_set(err, ERR_USAGE,
                "process %s is not recorded, or has made no CUDA call yet; start it with "
                "gpumemtrace run",
                operand);
    return -1;
}
