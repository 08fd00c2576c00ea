/* SPDX-License-Identifier: MIT */
/*
 * Keeps the table of the memory that each process holds. See shared.h.
 */
#include "shared.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "common/sim_spec.h"

#define MAGIC "gmtsim1"
#define SLOT_COUNT SHARED_SLOTS
#define SPEC_TEXT_BYTES 256

struct table {
    char magic[8];
    char spec_text[SPEC_TEXT_BYTES];
    uint64_t held_bytes[SLOT_COUNT][SIM_DEVICE_LIMIT]; /* by the card's index */
};

static int file = -1;
static struct table *table; /* NULL: not shared */
static int own_slot = -1;   /* -1: this process only reads */

/* Locks belong to the process, not to the open file, so that a forked child does not keep the locks
 * of its parent. */
static int change_lock(int command, short type, off_t byte)
{
    struct flock range = {.l_type = type, .l_whence = SEEK_SET, .l_start = byte, .l_len = 1};
    int result;
    do
        result = fcntl(file, command, &range);
    while (result && errno == EINTR);
    return result;
}

/* The pid of the live process that has the slot; 0: none. */
static int owner_of(int slot)
{
    struct flock range = {.l_type = F_WRLCK, .l_whence = SEEK_SET, .l_start = 1 + slot, .l_len = 1};
    if (fcntl(file, F_GETLK, &range))
        return -1;
    return range.l_type == F_UNLCK ? 0 : (int)range.l_pid;
}

static bool is_owned(int slot)
{
    return owner_of(slot) != 0;
}

void shared_lock(void)
{
    if (table)
        change_lock(F_SETLKW, F_WRLCK, 0);
}

void shared_unlock(void)
{
    if (table)
        change_lock(F_SETLK, F_UNLCK, 0);
}

uint64_t shared_other_bytes(int slot, int index, int *pid)
{
    *pid = 0;
    if (!table || slot == own_slot || !table->held_bytes[slot][index])
        return 0;
    *pid = owner_of(slot);
    return *pid ? table->held_bytes[slot][index] : 0;
}

uint64_t shared_others_bytes(int index)
{
    uint64_t sum_bytes = 0;
    int pid;
    for (int slot = 0; slot < SLOT_COUNT; slot++)
        sum_bytes += shared_other_bytes(slot, index, &pid);
    return sum_bytes;
}

void shared_hold(int index, uint64_t held_bytes)
{
    if (table)
        table->held_bytes[own_slot][index] = held_bytes;
}

static bool is_anyone_there(void)
{
    for (int slot = 0; slot < SLOT_COUNT; slot++)
        if (is_owned(slot))
            return true;
    return false;
}

/* Call with the table locked. The first live process sets the SPEC; the others must have the
 * same. */
static int spec_agree(const char *spec_text, struct err *err)
{
    if (!is_anyone_there()) {
        memset(table, 0, sizeof *table);
        memcpy(table->magic, MAGIC, sizeof table->magic);
        snprintf(table->spec_text, sizeof table->spec_text, "%s", spec_text);
        return 0;
    }
    if (!strncmp(table->spec_text, spec_text, sizeof table->spec_text))
        return 0;
    err_set(err, ERR_INPUT,
            "the file is in use with SPEC '%.*s', not '%s'; use that SPEC or another file",
            SPEC_TEXT_BYTES, table->spec_text, spec_text);
    return -1;
}

/* Call with the table locked. The figures of a process that has ended stay until another process
 * takes the slot. */
static int take_slot(struct err *err)
{
    for (own_slot = 0; own_slot < SLOT_COUNT; own_slot++)
        if (!is_owned(own_slot) && !change_lock(F_SETLK, F_WRLCK, 1 + own_slot)) {
            memset(table->held_bytes[own_slot], 0, sizeof table->held_bytes[own_slot]);
            return 0;
        }
    err_set(err, ERR_SYSTEM, "the file is full: %d processes share it already", SLOT_COUNT);
    return -1;
}

static bool has_magic(void)
{
    char begin[sizeof MAGIC];
    return pread(file, begin, sizeof begin, 0) == sizeof begin &&
           !memcmp(begin, MAGIC, sizeof begin);
}

static int map_file(const char *path, int flags, struct err *err)
{
    struct stat status;
    file = open(path, O_RDWR | O_CLOEXEC | flags, 0600);
    if (file < 0 || change_lock(F_SETLKW, F_WRLCK, 0) || fstat(file, &status))
        goto failed;
    /* A file of another kind is not overwritten. */
    if (status.st_size != 0 && (status.st_size != (off_t)sizeof *table || !has_magic())) {
        err_set(err, ERR_INPUT, "'%s' is not a file of shared cards; name a new or empty file",
                path);
        return -1;
    }
    if (ftruncate(file, sizeof *table))
        goto failed;
    void *place = mmap(NULL, sizeof *table, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
    if (place == MAP_FAILED)
        goto failed;
    table = place;
    return 0;
failed:
    err_set(err, ERR_SYSTEM, "'%s': %s", path, strerror(errno));
    return -1;
}

static void table_close(void)
{
    if (table)
        munmap(table, sizeof *table);
    table = NULL;
    if (file >= 0)
        close(file); /* also releases every lock on it */
    file = -1;
}

int shared_open(const char *spec_text, struct err *err)
{
    const char *path = getenv("GPUMEMTRACE_SIM_SHARED");
    if (!path || !*path)
        return 0;
    if ((table ? change_lock(F_SETLKW, F_WRLCK, 0) : map_file(path, O_CREAT, err)) ||
        spec_agree(spec_text, err) || take_slot(err)) {
        table_close();
        return -1;
    }
    shared_unlock();
    return 0;
}

void shared_look(void)
{
    const char *path = getenv("GPUMEMTRACE_SIM_SHARED");
    struct stat status;
    struct err err;
    if (table || !path || stat(path, &status) || status.st_size != (off_t)sizeof *table)
        return;
    if (map_file(path, 0, &err))
        table_close();
    shared_unlock();
}
