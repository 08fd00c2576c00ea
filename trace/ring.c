/* SPDX-License-Identifier: MIT */
/*
 * Creates, maps and grows the file of segments, and gives segments to threads. ring.h draws the
 * file.
 */
#include "ring.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "common/proc_stat.h"
#include "common/quiet_signal.h"

#define RING_FORMAT 1
#define GROW_RETRY_NS 50000000 /* 50 ms */

static const char ring_magic[8] = RING_MAGIC;

/* Returns the start time of the process; 0: the process does not exist or has ended. */
static uint64_t start_ticks_of(int64_t pid)
{
    struct proc_stat stat;
    if (proc_stat_read(&stat, pid) || stat.state == 'Z' || stat.state == 'X')
        return 0;
    return stat.start_ticks;
}

static int lock_file(int fd)
{
    struct flock lock = {.l_type = F_WRLCK, .l_whence = SEEK_SET};
    return fcntl(fd, F_SETLK, &lock);
}

static off_t segment_offset(uint32_t index)
{
    return (off_t)(RING_HEADER_BYTES + index * RING_SEGMENT_BYTES);
}

static void *map(const struct ring *ring, size_t length, off_t offset)
{
    const int protection = ring->writable || ring->private ? PROT_READ | PROT_WRITE : PROT_READ;
    const int sharing = ring->private ? MAP_PRIVATE : MAP_SHARED;
    void *memory = mmap(NULL, length, protection, sharing, ring->fd, offset);
    if (memory == MAP_FAILED)
        return NULL;
    /* A forked child must not write into its parent's ring. */
    madvise(memory, length, MADV_DONTFORK);
    return memory;
}

static void ring_init(struct ring *ring, const char *path, uint64_t max_bytes)
{
    memset(ring, 0, sizeof *ring);
    pthread_mutex_init(&ring->grow_lock, NULL);
    ring->fd = -1;
    ring->path = path;
    const uint64_t segments = max_bytes / RING_SEGMENT_BYTES;
    ring->segment_max = segments > RING_SEGMENT_LIMIT ? RING_SEGMENT_LIMIT : (uint32_t)segments;
    if (max_bytes && !ring->segment_max)
        ring->segment_max = 1;
}

static bool open_file(struct ring *ring, int flags)
{
    ring->fd = own_fd_open(ring->path, flags, 0600, &ring->file);
    ring->writable = ring->fd >= 0 && (flags & O_ACCMODE) == O_RDWR;
    return ring->fd >= 0;
}

int ring_create(struct ring *ring, const char *path, uint64_t max_bytes, struct err *err)
{
    ring_init(ring, path, max_bytes);
    if (!open_file(ring, O_RDWR | O_CREAT | O_EXCL))
        return err_set(err, ERR_SYSTEM, "cannot make %s: %s", path, strerror(errno));
    /* Allocate real blocks, because on a full disk a write to a hole would raise SIGBUS in the
     * program's thread. If the disk has no room for one segment, the recorder notices that now and
     * can choose another folder. */
    const int failed = posix_fallocate(ring->fd, 0, RING_HEADER_BYTES + RING_SEGMENT_BYTES);
    if (failed || lock_file(ring->fd) ||
        !(ring->header = (struct ring_header *)map(ring, RING_HEADER_BYTES, 0))) {
        err_set(err, ERR_SYSTEM, "cannot map %s: %s", path, strerror(failed ? failed : errno));
        unlink(path);
        ring_release(ring);
        return -1;
    }
    ring->header->format = RING_FORMAT;
    ring->header->segment_bytes = (uint32_t)RING_SEGMENT_BYTES;
    ring->header->pid = getpid();
    ring->header->pid_start_ticks = start_ticks_of(getpid());
    memcpy(ring->header->magic, ring_magic, sizeof ring_magic);
    return 0;
}

/* Does the recorder live? A dead recorder holds no lock. But a live recorder may have lost its
 * lock, because closing any descriptor of a file drops POSIX locks, and some programs close every
 * descriptor. So the function also looks for the process. The recorder's lock covers the whole
 * file; a folding process locks a byte far beyond its end. */
static bool recorder_lives(const struct ring *ring)
{
    struct flock lock = {.l_type = F_WRLCK, .l_whence = SEEK_SET, .l_len = 1};
    if (fcntl(ring->fd, F_GETLK, &lock) == 0 && lock.l_type != F_UNLCK)
        return true;
    const uint64_t started = start_ticks_of(ring->header->pid);
    return started != 0 && started == ring->header->pid_start_ticks;
}

int ring_open(struct ring *ring, const char *path, bool *recording, struct err *err)
{
    struct stat status;
    ring_init(ring, path, 0);
    if ((!open_file(ring, O_RDWR) && !open_file(ring, O_RDONLY)) || fstat(ring->fd, &status)) {
        err_set(err, ERR_SYSTEM, "cannot open %s: %s", path, strerror(errno));
        goto failed;
    }
    if (status.st_size < RING_HEADER_BYTES ||
        !(ring->header = (struct ring_header *)map(ring, RING_HEADER_BYTES, 0)) ||
        memcmp(ring->header->magic, ring_magic, sizeof ring_magic) != 0 ||
        ring->header->format != RING_FORMAT || ring->header->segment_bytes != RING_SEGMENT_BYTES ||
        ring_segment_count(ring) > RING_SEGMENT_LIMIT) {
        err_set(err, ERR_INPUT, "%s is not a ring of this version", path);
        goto failed;
    }
    *recording = recorder_lives(ring);
    return 0;
failed:
    ring_release(ring);
    return -1;
}

/* Opens the file again by its name if the program has closed our descriptor. Some programs close
 * every descriptor and open their own files under the same numbers. */
static bool has_file(struct ring *ring)
{
    struct own_file named;
    if (own_fd_is(ring->fd, &ring->file))
        return true;
    const int fd = own_fd_open(ring->path, O_RDWR, 0, &named);
    if (fd < 0)
        return false;
    if (!own_fd_is(fd, &ring->file)) {
        close(fd);
        return false;
    }
    ring->fd = fd;
    lock_file(fd);
    return true;
}

static void unmap_segments(struct ring *ring)
{
    for (uint32_t i = 0; i < RING_SEGMENT_LIMIT; i++) {
        struct ring_segment *segment = atomic_exchange(&ring->segments[i], NULL);
        if (!segment)
            break;
        munmap(segment, RING_SEGMENT_BYTES);
    }
}

void ring_release(struct ring *ring)
{
    unmap_segments(ring);
    if (ring->header)
        munmap(ring->header, RING_HEADER_BYTES);
    if (ring->fd >= 0 && own_fd_is(ring->fd, &ring->file))
        close(ring->fd);
    pthread_mutex_destroy(&ring->grow_lock);
    memset(ring, 0, sizeof *ring);
    ring->fd = -1;
}

struct ring_segment *ring_segment(struct ring *ring, uint32_t index)
{
    struct ring_segment *segment =
        atomic_load_explicit(&ring->segments[index], memory_order_acquire);
    struct stat status;
    if (segment)
        return segment;
    const bool known = own_fd_is(ring->fd, &ring->file) && fstat(ring->fd, &status) == 0;
    /* Pages beyond the end of a truncated file would raise SIGBUS. */
    if (known && status.st_size < segment_offset(index + 1))
        return NULL;
    if (known)
        segment = (struct ring_segment *)map(ring, RING_SEGMENT_BYTES, segment_offset(index));
    if (!segment) {
        /* Relaxed: only the draining thread reads it, and that thread runs this function. */
        atomic_store_explicit(&ring->map_failed, true, memory_order_relaxed);
        return NULL;
    }
    atomic_store_explicit(&ring->segments[index], segment, memory_order_release);
    return segment;
}

void ring_make_private(struct ring *ring)
{
    unmap_segments(ring);
    ring->private = true;
    for (uint32_t i = 0; i < ring_segment_count(ring); i++) {
        struct ring_segment *segment = ring_segment(ring, i);
        if (!segment)
            break;
        const uint64_t tail = atomic_load_explicit(&segment->tail, memory_order_acquire);
        atomic_store_explicit(&segment->tail, tail, memory_order_relaxed); /* copies the page */
    }
}

/* --- states of segments --- */

static void set_state(struct ring *ring, uint32_t index, enum segment_state state)
{
    atomic_store_explicit(&ring->states[index], (uint8_t)state, memory_order_release);
}

static bool take_if(struct ring *ring, uint32_t index, enum segment_state state)
{
    uint8_t expected = (uint8_t)state;
    return atomic_load_explicit(&ring->states[index], memory_order_relaxed) == expected &&
           atomic_compare_exchange_strong_explicit(&ring->states[index], &expected, SEGMENT_ACTIVE,
                                                   memory_order_acquire, memory_order_relaxed);
}

/* Makes all pages writable at once, because a fault at each page would cost the hooks more.
 * MAP_POPULATE is not enough: each page of a shared mapping would still have a write fault. Kernels
 * before 5.14 do nothing here. */
static void populate_pages(struct ring_segment *segment)
{
    madvise(segment, RING_SEGMENT_BYTES, MADV_POPULATE_WRITE);
}

/* Releases the pages from this process; the file keeps their contents. */
static void release_pages(struct ring_segment *segment)
{
    const int saved_errno = errno;
    if (segment->index >= RING_RESIDENT_SEGMENTS)
        madvise(segment, RING_SEGMENT_BYTES, MADV_DONTNEED);
    errno = saved_errno;
}

static void note_full(struct ring *ring, int reason)
{
    atomic_store_explicit(&ring->header->grow_errno, reason, memory_order_relaxed);
}

/* Makes the file longer. SIGXFSZ is held back, because the kernel sends it if the file would exceed
 * RLIMIT_FSIZE, and the signal would end the program. */
static bool make_room(struct ring *ring, uint32_t index)
{
    struct quiet_signal quiet;
    if (!has_file(ring))
        return false;
    quiet_signal_begin(&quiet, SIGXFSZ);
    const int failed = posix_fallocate(ring->fd, segment_offset(index), (off_t)RING_SEGMENT_BYTES);
    quiet_signal_end(&quiet);
    if (failed)
        note_full(ring, failed);
    return failed == 0;
}

static int64_t coarse_now_ns(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC_COARSE, &now);
    return now.tv_sec * INT64_C(1000000000) + now.tv_nsec;
}

/* After a failure, the function does not try again for GROW_RETRY_NS, because one attempt costs as
 * much as many events. */
static struct ring_segment *grow(struct ring *ring)
{
    struct ring_segment *segment = NULL;
    int cancel_state;
    const int64_t now_ns = coarse_now_ns();
    if (now_ns < atomic_load_explicit(&ring->full_until_ns, memory_order_relaxed))
        return NULL;
    pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &cancel_state);
    pthread_mutex_lock(&ring->grow_lock);
    const uint32_t count = ring_segment_count(ring);
    if (count >= ring->segment_max)
        note_full(ring, RING_AT_MAX);
    if (count < ring->segment_max && make_room(ring, count) &&
        (segment = ring_segment(ring, count))) {
        segment->index = count;
        set_state(ring, count, SEGMENT_ACTIVE);
        atomic_store_explicit(&ring->header->segment_count, count + 1, memory_order_release);
    } else {
        atomic_store_explicit(&ring->full_until_ns, now_ns + GROW_RETRY_NS, memory_order_relaxed);
    }
    pthread_mutex_unlock(&ring->grow_lock);
    pthread_setcancelstate(cancel_state, NULL);
    return segment;
}

/* Takes a segment that was used before. NULL: all segments are in use. */
static struct ring_segment *take_again(struct ring *ring)
{
    const uint32_t count = ring_segment_count(ring);
    for (uint32_t i = 0; i < count; i++)
        if (take_if(ring, i, SEGMENT_IDLE) || take_if(ring, i, SEGMENT_LEFT))
            return atomic_load_explicit(&ring->segments[i], memory_order_acquire);
    return NULL;
}

struct ring_segment *ring_take_segment(struct ring *ring)
{
    struct ring_segment *segment = take_again(ring);
    if (!segment)
        segment = grow(ring);
    if (segment)
        populate_pages(segment);
    return segment;
}

void ring_leave_segment(struct ring *ring, struct ring_segment *segment)
{
    set_state(ring, segment->index, SEGMENT_LEFT);
}

void ring_close_segment(struct ring *ring, struct ring_segment *segment)
{
    const uint32_t head = segment->head, index = segment->index;
    if (head < RING_SEGMENT_SLOTS) {
        segment->slots[head].type = SLOT_END;
        ring_publish(&segment->slots[head]);
    }
    ring->full_order[index] = atomic_fetch_add_explicit(&ring->full_count, 1, memory_order_relaxed);
    release_pages(segment);
    set_state(ring, index, SEGMENT_FULL);
}

void ring_segment_unload(const struct ring *ring, struct ring_segment *segment)
{
    /* The changes of a private mapping would be lost. */
    if (!ring->private)
        release_pages(segment);
}

void ring_segment_retire(struct ring *ring, uint32_t index)
{
    ring_segment_unload(ring, ring_segment(ring, index));
    set_state(ring, index, SEGMENT_DRAINED);
}

void ring_recycle(struct ring *ring, struct ring_segment *segment)
{
    const uint32_t index = segment->index;
    memset(segment->slots, 0, sizeof segment->slots);
    segment->head = 0;
    atomic_store_explicit(&segment->tail, 0, memory_order_relaxed);
    release_pages(segment);
    set_state(ring, index, SEGMENT_IDLE);
    atomic_fetch_add_explicit(&ring->recycled_count, 1, memory_order_relaxed);
}

const char *ring_loss_reason(const struct ring *ring)
{
    const int reason = atomic_load_explicit(&ring->header->grow_errno, memory_order_relaxed);
    if (!reason || !atomic_load_explicit(&ring->header->lost_events, memory_order_relaxed))
        return NULL;
    return reason == RING_AT_MAX ? RING_LOSS_AT_MAX : strerrordesc_np(reason);
}
