/* SPDX-License-Identifier: MIT */
/*
 * See full_disk.h.
 */
#include "full_disk.h"

#include <stdbool.h>
#include <stdint.h>
#include <string.h>
#include <sys/statvfs.h>

/* The space that a trace needs to begin: a database without events, one segment of the ring and the
 * first batches. */
#define BEGINNING_BYTES ((uint64_t)1 << 20)

static bool is_full(const char *folder)
{
    struct statvfs disk;
    return statvfs(folder, &disk) == 0 && (uint64_t)disk.f_bavail * disk.f_frsize < BEGINNING_BYTES;
}

const char *full_disk_folder(const char *trace_path, char folder[PATH_MAX])
{
    const char *slash = strrchr(trace_path, '/');
    snprintf(folder, PATH_MAX, "%.*s", slash > trace_path ? (int)(slash - trace_path) : 1,
             trace_path);
    return folder;
}

void full_disk_explain(const char *trace_path, struct err *err)
{
    char folder[PATH_MAX];
    const struct err reason = *err;
    if (is_full(full_disk_folder(trace_path, folder)))
        err_set(err, reason.code, "the disk of %.250s is full (%.100s); " FULL_DISK_ADVICE, folder,
                reason.message);
    else
        err_set(err, reason.code, "cannot write %.250s: %.200s", trace_path, reason.message);
}
