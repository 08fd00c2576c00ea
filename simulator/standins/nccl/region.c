/* SPDX-License-Identifier: MIT */
/*
 * Files without a name that processes share. See region.h.
 */
#include "region.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/futex.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/random.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#define LOCKS_AT ((off_t)1 << 62)
#define FILE_BYTES ((off_t)1 << 61)
#define MAGIC "gmtnccl1"

enum { POLL_NS = 100000000 };

/* The members of a key. */
struct key_parts {
    char magic[8];
    int32_t pid, file;
    uint64_t random[2];
};

struct region_header {
    struct region_key key;
    _Atomic uint32_t rank_count, bell;
    _Alignas(64) struct region_rank ranks[];
};

/* Protects the list of regions and each region's users. */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct region *regions;

static size_t table_bytes(size_t rank_count)
{
    return sizeof(struct region_header) + rank_count * sizeof(struct region_rank) +
           (3 * rank_count * rank_count + rank_count) * sizeof(uint64_t);
}

/* Locks belong to the process, not to the open file. */
static int change_lock(int file, int command, struct flock *range, unsigned rank)
{
    int result;
    range->l_whence = SEEK_SET;
    range->l_start = LOCKS_AT + (off_t)rank;
    range->l_len = 1;
    do
        result = fcntl(file, command, range);
    while (result && errno == EINTR);
    return result;
}

/* --- keys --- */

static struct region *region_add(const struct region_key *key, int file)
{
    struct region *region = calloc(1, sizeof *region);
    if (!region)
        return NULL;
    region->key = *key;
    region->file = file;
    region->next = regions;
    regions = region;
    return region;
}

static void region_remove(struct region *region)
{
    struct region **at = &regions;
    while (*at != region)
        at = &(*at)->next;
    *at = region->next;
    if (region->header)
        munmap(region->header, table_bytes(region->rank_count));
    close(region->file);
    free(region);
}

static struct region *region_find(const struct region_key *key)
{
    struct region *region = regions;
    while (region && memcmp(&region->key, key, sizeof *key) != 0)
        region = region->next;
    return region;
}

int region_make_key(struct region_key *key, struct err *err)
{
    struct key_parts parts = {.magic = MAGIC, .pid = (int32_t)getpid()};
    struct region *made = NULL;
    parts.file = memfd_create("gpumemtrace-nccl", MFD_CLOEXEC);
    memset(key, 0, sizeof *key);
    if (parts.file >= 0 && !ftruncate(parts.file, FILE_BYTES) &&
        getrandom(parts.random, sizeof parts.random, 0) == (ssize_t)sizeof parts.random) {
        memcpy(key->bytes, &parts, sizeof parts);
        pthread_mutex_lock(&lock);
        if (pwrite(parts.file, key, sizeof *key, 0) == (ssize_t)sizeof *key)
            made = region_add(key, parts.file);
        pthread_mutex_unlock(&lock);
    }
    if (made)
        return 0;
    err_set(err, ERR_SYSTEM, "no memory to share between ranks: %s", strerror(errno));
    if (parts.file >= 0)
        close(parts.file);
    return -1;
}

void region_drop_key(const struct region_key *key)
{
    pthread_mutex_lock(&lock);
    struct region *region = region_find(key);
    if (region && !region->users)
        region_remove(region);
    pthread_mutex_unlock(&lock);
}

/* --- joining --- */

/* Opens the file of a key that another process created. */
static int key_open(const struct region_key *key, struct err *err)
{
    struct key_parts parts;
    struct region_key found;
    char path[64];
    memcpy(&parts, key, sizeof parts);
    if (memcmp(parts.magic, MAGIC, sizeof parts.magic) != 0) {
        err_set(err, ERR_INPUT, "the ncclUniqueId was not made by ncclGetUniqueId in a dry run");
        return -1;
    }
    snprintf(path, sizeof path, "/proc/%d/fd/%d", (int)parts.pid, (int)parts.file);
    const int file = open(path, O_RDWR | O_CLOEXEC);
    if (file >= 0 && pread(file, &found, sizeof found, 0) == (ssize_t)sizeof found &&
        !memcmp(&found, key, sizeof found))
        return file;
    if (file >= 0)
        close(file);
    err_set(err, ERR_SYSTEM,
            "process %d, which made the ncclUniqueId, has ended or is on another machine",
            (int)parts.pid);
    return -1;
}

/* Call with the lock held. Maps the tables for this number of ranks. */
static int region_map(struct region *region, unsigned rank_count, struct err *err)
{
    uint32_t none = 0;
    if (region->header)
        goto compare;
    void *place =
        mmap(NULL, table_bytes(rank_count), PROT_READ | PROT_WRITE, MAP_SHARED, region->file, 0);
    if (place == MAP_FAILED) {
        err_set(err, ERR_SYSTEM, "cannot map what ranks share: %s", strerror(errno));
        return -1;
    }
    region->header = place;
    region->rank_count = rank_count;
    region->ranks = region->header->ranks;
    region->written = (_Atomic uint64_t *)(void *)(region->ranks + rank_count);
    region->read = region->written + (size_t)rank_count * (rank_count + 1);
    /* The first rank to arrive sets the number of ranks. */
    atomic_compare_exchange_strong(&region->header->rank_count, &none, rank_count);
compare:
    none = atomic_load(&region->header->rank_count);
    if (none == rank_count)
        return 0;
    err_set(err, ERR_INPUT, "this rank says that there are %u ranks, another one %u", rank_count,
            (unsigned)none);
    return -1;
}

/* Call with the lock held. */
static int rank_take(struct region *region, unsigned rank, struct err *err)
{
    struct flock range = {.l_type = F_WRLCK};
    int32_t nobody = 0;
    if (!change_lock(region->file, F_SETLK, &range, rank) &&
        atomic_compare_exchange_strong(&region->ranks[rank].pid, &nobody, (int32_t)getpid()))
        return 0;
    err_set(err, ERR_INPUT, "there is a rank %u already, in process %d", rank,
            (int)atomic_load(&region->ranks[rank].pid));
    return -1;
}

static struct region *join_locked(const struct region_key *key, unsigned rank, unsigned rank_count,
                                  struct err *err)
{
    struct region *region = region_find(key);
    if (!region) {
        const int file = key_open(key, err);
        if (file < 0)
            return NULL;
        region = region_add(key, file);
        if (!region) {
            err_set(err, ERR_SYSTEM, "out of memory for a communicator");
            close(file);
            return NULL;
        }
    }
    if (!region_map(region, rank_count, err) && !rank_take(region, rank, err)) {
        region->users++;
        return region;
    }
    if (!region->users)
        region_remove(region);
    return NULL;
}

struct region *region_join(const struct region_key *key, unsigned rank, unsigned rank_count,
                           struct err *err)
{
    if (rank >= rank_count || rank_count > REGION_RANKS_MAX) {
        err_set(err, ERR_INPUT,
                "rank %u of %u: a dry run has at most %d ranks on a machine; more with run --rank",
                rank, rank_count, REGION_RANKS_MAX);
        return NULL;
    }
    pthread_mutex_lock(&lock);
    struct region *region = join_locked(key, rank, rank_count, err);
    pthread_mutex_unlock(&lock);
    if (region)
        region_ring(region);
    return region;
}

void region_leave(struct region *region, unsigned rank)
{
    atomic_store(&region->ranks[rank].has_left, 1);
    region_ring(region);
    pthread_mutex_lock(&lock);
    if (!--region->users)
        region_remove(region);
    pthread_mutex_unlock(&lock);
}

bool region_has(const struct region *region, unsigned rank)
{
    struct flock range = {.l_type = F_WRLCK};
    const int32_t pid = atomic_load(&region->ranks[rank].pid);
    if (!pid)
        return true;
    if (atomic_load(&region->ranks[rank].has_left))
        return false;
    return pid == (int32_t)getpid() || change_lock(region->file, F_GETLK, &range, rank) ||
           range.l_type != F_UNLCK;
}

/* --- the bell --- */

void region_ring(struct region *region)
{
    atomic_fetch_add(&region->header->bell, 1);
    syscall(SYS_futex, &region->header->bell, FUTEX_WAKE, INT_MAX, NULL, NULL, 0);
}

unsigned region_bell(const struct region *region)
{
    return atomic_load(&region->header->bell);
}

void region_wait(struct region *region, unsigned seen)
{
    const struct timespec most = {0, POLL_NS};
    syscall(SYS_futex, &region->header->bell, FUTEX_WAIT, seen, &most, NULL, 0);
}
