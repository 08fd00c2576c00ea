/* SPDX-License-Identifier: MIT */
/*
 * See modules.h. Reads the loader's list by dl_iterate_phdr.
 */
#include "modules.h"

#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <link.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <unistd.h>

#include "interpose/image/image_list.h"

#define MODULES_MAX 8192
#define NT_GNU_BUILD_ID_TYPE 3

/* The loader's count of objects ever added, when the list was last read; 0: never read. */
static _Atomic uint64_t seen_adds;

/* Protects written[] and its count. The lock is held while records are written, but never during a
 * call of a real function. */
static pthread_mutex_t modules_lock = PTHREAD_MUTEX_INITIALIZER;
static uint64_t written[MODULES_MAX]; /* start address of each module, at index module_id - 1 */
static uint32_t written_count;

struct span {
    uint64_t start, end;
};

static struct span own, libc;

static bool is_in(const struct span *span, const void *address)
{
    return (uintptr_t)address >= span->start && (uintptr_t)address < span->end;
}

static struct span mapped_span(const struct dl_phdr_info *info)
{
    struct span span = {UINT64_MAX, 0};
    for (int i = 0; i < info->dlpi_phnum; i++) {
        const ElfW(Phdr) *part = &info->dlpi_phdr[i];
        const uint64_t start = info->dlpi_addr + part->p_vaddr;
        if (part->p_type != PT_LOAD)
            continue;
        if (start < span.start)
            span.start = start;
        if (start + part->p_memsz > span.end)
            span.end = start + part->p_memsz;
    }
    return span;
}

/* Writes the build-id note as hex digits; "" if there is none. */
static void read_build_id(const struct dl_phdr_info *info, char *hex, size_t hex_bytes)
{
    hex[0] = '\0';
    for (int i = 0; i < info->dlpi_phnum; i++) {
        const ElfW(Phdr) *part = &info->dlpi_phdr[i];
        if (part->p_type != PT_NOTE)
            continue;
        const char *at = (const char *)(info->dlpi_addr + part->p_vaddr);
        const char *end = at + part->p_memsz;
        while (at + sizeof(ElfW(Nhdr)) <= end) {
            const ElfW(Nhdr) *note = (const ElfW(Nhdr) *)(const void *)at;
            const char *name = at + sizeof *note;
            const unsigned char *bytes = (const unsigned char *)name + ((note->n_namesz + 3) & ~3u);
            if (note->n_type == NT_GNU_BUILD_ID_TYPE && note->n_namesz == 4 &&
                memcmp(name, "GNU", 4) == 0) {
                for (size_t b = 0; b < note->n_descsz && 2 * b + 2 < hex_bytes; b++)
                    snprintf(hex + 2 * b, 3, "%02x", bytes[b]);
                return;
            }
            at = (const char *)bytes + ((note->n_descsz + 3) & ~3u);
        }
    }
}

struct map_line {
    size_t used;
    char text[PATH_MAX + 128];
};

/* Takes the next byte of /proc/self/maps, whose lines are "START-END … PATH". Returns true if the
 * byte ends the line that begins with the address `start`; *path then points to the path in that
 * line. */
static bool ends_line_of(struct map_line *line, char byte, uint64_t start, const char **path)
{
    if (byte != '\n' && line->used + 1 < sizeof line->text) {
        line->text[line->used++] = byte;
        return false;
    }
    char prefix[24];
    snprintf(prefix, sizeof prefix, "%" PRIx64 "-", start);
    line->text[line->used] = '\0';
    line->used = 0;
    *path = strchr(line->text, '/');
    /* The kernel pads addresses with zeros to eight digits, emulators to other widths. */
    return *path && strncmp(line->text + strspn(line->text, "0"), prefix, strlen(prefix)) == 0;
}

/* Finds the path of the file that is mapped at this address; -1: there is no file. */
static ssize_t mapped_path(uint64_t start, char *path, size_t path_bytes)
{
    static struct map_line line; /* protected by modules_lock */
    const int fd = open("/proc/self/maps", O_RDONLY | O_CLOEXEC);
    char bytes[512];
    const char *found = NULL;
    ssize_t length = -1, count;
    line.used = 0;
    while (fd >= 0 && length < 0 && (count = read(fd, bytes, sizeof bytes)) > 0)
        for (ssize_t i = 0; i < count && length < 0; i++)
            if (ends_line_of(&line, bytes[i], start, &found))
                length = snprintf(path, path_bytes, "%s", found);
    if (fd >= 0)
        close(fd);
    return length;
}

/* If a program was started as an argument of the loader, /proc/self/exe is the loader. */
static ssize_t executable_path(uint64_t start, char *path, size_t path_bytes)
{
    ssize_t length = -1;
    if (!getauxval(AT_BASE))
        length = mapped_path(start, path, path_bytes);
    return length >= 0 ? length : readlink("/proc/self/exe", path, path_bytes - 1);
}

static size_t path_of(const struct dl_phdr_info *info, uint64_t start, char *path,
                      size_t path_bytes)
{
    static char absolute[PATH_MAX]; /* protected by modules_lock */
    ssize_t length;
    const char *name = info->dlpi_name;
    if (name && strchr(name, '/') && name[0] != '/' && realpath(name, absolute))
        name = absolute;
    if (name && name[0])
        length = snprintf(path, path_bytes, "%s", name);
    else /* the first object without a name is the executable; the vDSO has a name */
        length = executable_path(start, path, path_bytes);
    if (length < 0)
        length = 0;
    if ((size_t)length >= path_bytes)
        length = (ssize_t)path_bytes - 1;
    path[length] = '\0';
    return (size_t)length;
}

static bool is_written(uint64_t start)
{
    for (uint32_t i = 0; i < written_count; i++)
        if (written[i] == start)
            return true;
    return false;
}

static void write_module(const struct dl_phdr_info *info, struct thread *thread)
{
    static char text[RECORD_TEXT_MAX]; /* protected by modules_lock; static, because a thread's
                                        * stack may be small */
    const struct span span = mapped_span(info);
    if (span.start >= span.end || is_written(span.start) || written_count == MODULES_MAX)
        return;
    written[written_count++] = span.start;
    const size_t path_bytes = path_of(info, span.start, text, sizeof text - 256);
    read_build_id(info, text + path_bytes + 1, 255);
    const struct ring_slot record = {
        .seq = written_count, .address = info->dlpi_addr, .object = span.start, .stream = span.end};
    thread_define(thread, SLOT_MODULE, &record, text,
                  path_bytes + 1 + strlen(text + path_bytes + 1));
}

/* dl_iterate_phdr calls this function with the loader's lock held, and this function takes
 * modules_lock. So no thread may take the loader's lock while it holds modules_lock. */
static int note_module(struct dl_phdr_info *info, size_t size, void *argument)
{
    (void)size;
    atomic_store_explicit(&seen_adds, info->dlpi_adds, memory_order_relaxed);
    pthread_mutex_lock(&modules_lock);
    write_module(info, argument);
    pthread_mutex_unlock(&modules_lock);
    return 0;
}

static int read_adds(struct dl_phdr_info *info, size_t size, void *argument)
{
    (void)size;
    *(uint64_t *)argument = info->dlpi_adds;
    return 1;
}

void modules_note(struct thread *thread)
{
    uint64_t adds = 0;
    image_list_iterate(read_adds, &adds);
    if (adds == atomic_load_explicit(&seen_adds, memory_order_relaxed))
        return;
    image_list_iterate(note_module, thread);
}

uint64_t modules_version(void)
{
    return atomic_load_explicit(&seen_adds, memory_order_relaxed);
}

struct find {
    uintptr_t address;
    struct span span;
};

static int find_span(struct dl_phdr_info *info, size_t size, void *argument)
{
    struct find *find = argument;
    const struct span span = mapped_span(info);
    (void)size;
    if (!is_in(&span, (const void *)find->address))
        return 0;
    find->span = span;
    return 1;
}

static struct span span_of(const void *address)
{
    struct find find = {.address = (uintptr_t)address};
    image_list_iterate(find_span, &find);
    return find.span;
}

void modules_setup(void)
{
    pthread_mutex_init(&modules_lock, NULL);
    atomic_store(&seen_adds, 0);
    written_count = 0;
    own = span_of(__extension__(const void *) modules_setup);
    libc = span_of(__extension__(const void *) qsort);
}

bool modules_is_own(const void *address)
{
    return is_in(&own, address);
}

bool modules_is_libc(const void *address)
{
    return is_in(&libc, address);
}
