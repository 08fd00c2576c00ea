/* SPDX-License-Identifier: MIT */
/*
 * Reads the memory figures of this process's cgroup (version 1 or 2) from the cgroup's files.
 * Thread-safe; not callable from a hook.
 *
 *     /proc/self/cgroup    0::/a/b         among /a/b and /a, the one with the lowest limit counts,
 *                          4:memory:/a/b   because the kernel kills there; without a limit, /a/b
 */
#pragma once

#include <limits.h>
#include <stdbool.h>
#include <stdint.h>

#define CGROUP_UNKNOWN UINT64_MAX /* unknown, or no limit */

struct cgroup {
    char folder[PATH_MAX], own_folder[PATH_MAX]; /* own_folder counts the kernel's kills in it */
    bool is_first_version;
    uint64_t limit_bytes;
};

enum cgroup_figure {
    CGROUP_CURRENT_BYTES,
    CGROUP_PEAK_BYTES, /* highest since the cgroup was made; kernels before 5.19 lack it */
    CGROUP_OOM_KILLS,  /* processes that the kernel killed because the limit was reached */
};

/* root: a prefix of the paths of /proc and /sys. false: there is no cgroup for memory. */
bool cgroup_find(struct cgroup *cgroup, const char *root);
/* Returns the figure, or CGROUP_UNKNOWN if the cgroup does not have it. */
uint64_t cgroup_figure(const struct cgroup *cgroup, enum cgroup_figure figure);
/* Writes the path of the file that has this figure; "" if the path is too long. */
void cgroup_file(const struct cgroup *cgroup, enum cgroup_figure figure, char path[PATH_MAX]);
