/* SPDX-License-Identifier: MIT */
/*
 * dlclose: closes a library as libc would. If the recorder keeps addresses of the library's code
 * (known_code.h), the library's address range is reserved, so that no other library gets that
 * range. Only a library whose functions the recorder calls stays mapped.
 */
#include <dlfcn.h>
#include <errno.h>
#include <limits.h>
#include <link.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/mman.h>
#include <unistd.h>

#include "gpumemtrace/compiler.h"
#include "interpose/image/image_list.h"
#include "interpose/image/known_code.h"
#include "interpose/image/libc_function.h"
#include "interpose/image/scope.h"
#include "interpose/lookup/resolve.h"
#include "interpose/recording/recording.h"
#include "interpose/stack/python/find.h"

#define SPANS_MAX 8192
#define KEPT_MAX 16

struct span {
    uintptr_t start, end;
    bool mapped;
};

/* The objects that were mapped before the call. The struct lies in pages of its own, because a
 * thread's stack may be small. */
struct loaded {
    size_t count, kept_count;
    struct span spans[SPANS_MAX];
    char kept[KEPT_MAX][PATH_MAX];
};

static struct span object_span(const struct dl_phdr_info *info)
{
    const uintptr_t page = (uintptr_t)sysconf(_SC_PAGESIZE) - 1;
    struct span span = {UINTPTR_MAX, 0, false};
    for (int i = 0; i < info->dlpi_phnum; i++) {
        const uintptr_t start = info->dlpi_addr + info->dlpi_phdr[i].p_vaddr;
        const uintptr_t end = start + info->dlpi_phdr[i].p_memsz;
        if (info->dlpi_phdr[i].p_type != PT_LOAD)
            continue;
        span.start = start < span.start ? start : span.start;
        span.end = end > span.end ? end : span.end;
    }
    span.start &= ~page;
    span.end = (span.end + page) & ~page;
    return span;
}

static int note_image(struct dl_phdr_info *info, size_t size, void *argument)
{
    struct loaded *loaded = argument;
    const struct span span = object_span(info);
    (void)size;
    if (span.start >= span.end || loaded->count == SPANS_MAX)
        return 0;
    loaded->spans[loaded->count++] = span;
    if ((resolve_remembers(span.start, span.end) || python_calls(span.start, span.end)) &&
        loaded->kept_count < KEPT_MAX)
        snprintf(loaded->kept[loaded->kept_count++], PATH_MAX, "%s", info->dlpi_name);
    return 0;
}

static int mark_mapped(struct dl_phdr_info *info, size_t size, void *argument)
{
    struct loaded *loaded = argument;
    const struct span span = object_span(info);
    (void)size;
    for (size_t i = 0; i < loaded->count; i++)
        if (loaded->spans[i].start == span.start)
            loaded->spans[i].mapped = true;
    return 0;
}

typedef void *dlopen_function(const char *path, int flags);

static void keep_mapped(const struct loaded *loaded)
{
    dlopen_function *open = GMT_FUNCTION(dlopen_function *, libc_function("dlopen"));
    for (size_t i = 0; open && i < loaded->kept_count; i++)
        if (loaded->kept[i][0])
            open(loaded->kept[i], RTLD_LAZY | RTLD_NOLOAD | RTLD_NODELETE);
}

/* The reserved pages take no memory, and the kernel joins neighbours into one mapping. If another
 * thread has already mapped a library in this range, the kept addresses will be shown as addresses
 * of that library. */
static void reserve_span(const struct span *span)
{
    const size_t bytes = span->end - span->start;
    void *wanted = (void *)span->start;
    void *got = mmap(wanted, bytes, PROT_NONE,
                     MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED_NOREPLACE, -1, 0);
    if (got != MAP_FAILED && got != wanted) /* kernels before 4.17 ignore the flag */
        munmap(got, bytes);
}

typedef int dlclose_function(void *handle);

static int close_and_reserve(dlclose_function *real, void *handle, struct loaded *loaded)
{
    image_list_iterate(note_image, loaded);
    keep_mapped(loaded);
    const int result = real(handle);
    const int saved_errno = errno;
    image_list_iterate(mark_mapped, loaded);
    for (size_t i = 0; i < loaded->count; i++)
        if (!loaded->spans[i].mapped && known_code_in(loaded->spans[i].start, loaded->spans[i].end))
            reserve_span(&loaded->spans[i]);
    errno = saved_errno;
    return result;
}

GMT_EXPORT dlclose_function dlclose;

int dlclose(void *handle)
{
    const int saved_errno = errno;
    dlclose_function *real = GMT_FUNCTION(dlclose_function *, scope_next("dlclose"));
    struct loaded *loaded = NULL;
    if (recording_generation() || resolve_has_met())
        loaded =
            mmap(NULL, sizeof *loaded, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    errno = saved_errno;
    if (!loaded || loaded == MAP_FAILED)
        return real ? real(handle) : -1;
    const int result = real ? close_and_reserve(real, handle, loaded) : -1;
    munmap(loaded, sizeof *loaded);
    return result;
}
