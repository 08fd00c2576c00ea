/* SPDX-License-Identifier: MIT */
/*
 * The memory of this process's cgroup, version 1 or 2, as its files tell it. It must not know what
 * the memory is for. Safe on any thread of ours; not callable from a hook.
 *
 *     /proc/self/cgroup    0::/a/b         of /a/b and /a the one with the least limit counts: there
 *                          4:memory:/a/b   the kernel kills; without a limit, /a/b itself
 */
#ifndef GPUMEMTRACE_COMMON_CGROUP_H
#define GPUMEMTRACE_COMMON_CGROUP_H

#include <limits.h>
#include <stdbool.h>
#include <stdint.h>

#define CGROUP_UNKNOWN UINT64_MAX /* no such figure, or no limit */

struct cgroup {
    char folder[PATH_MAX], own_folder[PATH_MAX]; /* own: which counts the kernel's kills in it */
    bool is_first_version;
    uint64_t limit_bytes;
};

enum cgroup_figure {
    CGROUP_CURRENT_BYTES,
    CGROUP_PEAK_BYTES, /* the highest since the cgroup was made; kernels before 5.19 do not say */
    CGROUP_OOM_KILLS,  /* processes that the kernel killed because the limit was reached */
};

/* root: before the paths of /proc and /sys. false: there is no cgroup for memory. */
bool cgroup_find(struct cgroup *cgroup, const char *root);
/* CGROUP_UNKNOWN: the cgroup does not say. */
uint64_t cgroup_figure(const struct cgroup *cgroup, enum cgroup_figure figure);
/* The file of a figure that stands alone in it. */
void cgroup_file(const struct cgroup *cgroup, enum cgroup_figure figure, char path[PATH_MAX]);

#endif
