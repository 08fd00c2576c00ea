/* SPDX-License-Identifier: MIT */
/*
 * See fold_lock.h. The lock belongs to the open file description. Unlike a POSIX lock, it stays
 * when another descriptor of the file is closed.
 */
#include "fold_lock.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <limits.h>
#include <sys/stat.h>
#include <time.h>

#include "trace_file.h"

#define FOLD_LOCK_BYTE ((off_t)1 << 40) /* far beyond a ring's end */
#define POLL_NS 10000000                /* 10 ms */
#define STUCK_POLLS 200                 /* 2 s without a write */

static bool try_lock(const struct ring *ring)
{
    struct flock lock = {.l_type = ring->writable ? F_WRLCK : F_RDLCK,
                         .l_whence = SEEK_SET,
                         .l_start = FOLD_LOCK_BYTE,
                         .l_len = 1};
    return fcntl(ring->fd, F_OFD_SETLK, &lock) == 0;
}

static bool ring_is_gone(const struct ring *ring)
{
    struct stat named;
    return stat(ring->path, &named) != 0 || named.st_dev != ring->file.device ||
           named.st_ino != ring->file.inode;
}

/* Returns the time of the last write to the trace. */
static int64_t last_write_ns(const char *trace_path)
{
    static const char *const suffixes[] = {"", "-wal"};
    int64_t latest_ns = 0;
    for (int i = 0; i < 2; i++) {
        char name[PATH_MAX + TRACE_FILE_SUFFIX_BYTES];
        struct stat status;
        snprintf(name, sizeof name, "%s%s", trace_path, suffixes[i]);
        if (stat(name, &status))
            continue;
        const int64_t written_ns =
            status.st_mtim.tv_sec * INT64_C(1000000000) + status.st_mtim.tv_nsec;
        latest_ns = written_ns > latest_ns ? written_ns : latest_ns;
    }
    return latest_ns;
}

enum fold_lock fold_lock_take(const struct ring *ring, const char *trace_path)
{
    int64_t seen_ns = last_write_ns(trace_path);
    for (int idle = 0; idle < STUCK_POLLS; idle++) {
        if (ring_is_gone(ring))
            return FOLD_LOCK_GONE;
        if (try_lock(ring))
            return ring_is_gone(ring) ? FOLD_LOCK_GONE : FOLD_LOCK_TAKEN;
        if (errno != EAGAIN && errno != EACCES)
            break;
        nanosleep(&(struct timespec){.tv_nsec = POLL_NS}, NULL);
        const int64_t written_ns = last_write_ns(trace_path);
        if (written_ns != seen_ns)
            idle = 0;
        seen_ns = written_ns;
    }
    return FOLD_LOCK_STUCK;
}
