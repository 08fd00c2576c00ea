/* SPDX-License-Identifier: MIT */
/*
 * The unwinders: libunwind's unw_backtrace (its trace cache makes it 40 times faster than
 * stepping), libgcc's _Unwind_Backtrace, or none. Both libraries are opened by dlopen(RTLD_LOCAL).
 * If libunwind were a needed library of the recorder, it would take over the program's own C++
 * exceptions (measured: throws were 46 times slower). An unwinder is called only for a stack that
 * frame_walk has not learnt yet.
 */
#include "unwind.h"

#include <dlfcn.h>
#include <limits.h>
#include <link.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "interpose/image/elf_image.h"
#include "interpose/image/image_list.h"
#include "gpumemtrace/compiler.h"
#include "interpose/recording/log.h"
#include "interpose/image/libc_function.h"
#include "interpose/recording/thread.h"
#include "frame_walk.h"
#include "limits.h"
#include "unwind_memory.h"

/* --- frame_walk, before any unwinder --- */

static backtrace_function *slow_backtrace; /* the unwinder; frames[0] is in its caller */

/* `steps` is not cleared for a new thread, because walk.count tells how many steps are valid. */
struct unwind_thread {
    struct frame_walk walk;
    struct frame_steps steps;
};
static struct thread_part part =
    THREAD_PART(struct unwind_thread, offsetof(struct unwind_thread, steps));

_Static_assert(FRAME_STEPS_MAX > STACK_DEPTH_MAX + STACK_OWN_MAX, "a walk holds any stack");

/* Calls an unwinder only for a stack with places not seen before. */
static int backtrace_quickly(void **frames, int limit)
{
    struct unwind_thread *own = thread_self ? thread_part(thread_self, &part) : NULL;
    int count = own ? frame_walk(&own->walk, &own->steps, frames, limit) : 0;
    if (GMT_LIKELY(count > 0))
        return count;
    count = slow_backtrace(frames, limit);
    if (own && count > 0)
        frame_walk_learn(&own->walk, frames, count);
    return count;
}

/* --- libunwind --- */

#define LIBUNWIND_NAME "libunwind.so.8"

static backtrace_function *libunwind_backtrace;

typedef void *dlopen_function(const char *path, int flags);

/* Calls libc's own dlopen, even if the program or another preloaded library defines a dlopen. */
static void *open_library(const char *path)
{
    dlopen_function *open = GMT_FUNCTION(dlopen_function *, libc_function("dlopen"));
    return open ? open(path, RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE) : NULL;
}

/* Opens a library in the folder of this library, where an installation may have put it. */
static void *open_beside_us(const char *name)
{
    char path[PATH_MAX];
    const struct link_map *own = image_list_own();
    const char *slash = own ? strrchr(own->l_name, '/') : NULL;
    if (!slash)
        return NULL;
    const int length =
        snprintf(path, sizeof path, "%.*s/%s", (int)(slash - own->l_name), own->l_name, name);
    return length > 0 && (size_t)length < sizeof path ? open_library(path) : NULL;
}

static int load_libunwind(void)
{
    if (libunwind_backtrace)
        return 0;
    void *library = open_beside_us(LIBUNWIND_NAME);
    if (!library)
        library = open_library(LIBUNWIND_NAME);
    const struct link_map *image = library; /* a handle of glibc is the link map itself */
    libunwind_backtrace =
        image ? GMT_FUNCTION(backtrace_function *, elf_image_symbol(image, "unw_backtrace")) : NULL;
    if (!libunwind_backtrace)
        return -1;
    unwind_memory_install(image);
    return 0;
}

/* --- libgcc --- */

/* The two functions of the Itanium C++ ABI that are called here, and their result codes. */
struct _Unwind_Context;
typedef int trace_function(struct _Unwind_Context *context, void *argument);
typedef int unwind_backtrace_function(trace_function *trace, void *argument);
typedef uintptr_t get_ip_function(struct _Unwind_Context *context);
enum { URC_NO_REASON = 0, URC_END_OF_STACK = 5 };

static unwind_backtrace_function *libgcc_backtrace;
static get_ip_function *libgcc_get_ip;

struct collected {
    void **frames;
    int count, limit; /* count: -1 at the frame of backtrace_libgcc, which is skipped */
};

static int collect(struct _Unwind_Context *context, void *argument)
{
    struct collected *collected = argument;
    const uintptr_t address = libgcc_get_ip(context);
    if (!address || collected->count == collected->limit)
        return URC_END_OF_STACK;
    if (collected->count >= 0)
        collected->frames[collected->count] = (void *)address;
    collected->count++;
    return URC_NO_REASON;
}

static int backtrace_libgcc(void **frames, int limit)
{
    struct collected collected = {frames, -1, limit};
    libgcc_backtrace(collect, &collected);
    return collected.count > 0 ? collected.count : 0;
}

static int load_libgcc(void)
{
    const struct link_map *image = open_library("libgcc_s.so.1");
    if (!image)
        return -1;
    libgcc_backtrace =
        GMT_FUNCTION(unwind_backtrace_function *, elf_image_symbol(image, "_Unwind_Backtrace"));
    libgcc_get_ip = GMT_FUNCTION(get_ip_function *, elf_image_symbol(image, "_Unwind_GetIP"));
    return libgcc_backtrace && libgcc_get_ip ? 0 : -1;
}

/* --- choosing --- */

static const struct unwinder libunwind = {"libunwind", backtrace_quickly},
                             libgcc = {"libgcc", backtrace_quickly};
const struct unwinder unwind_none = {"none", NULL};

void unwind_load(void)
{
    if (load_libunwind() != 0)
        load_libgcc();
}

const struct unwinder *unwind_choose(void)
{
    slow_backtrace = libunwind_backtrace ? libunwind_backtrace : backtrace_libgcc;
    if (libunwind_backtrace)
        return &libunwind;
    if (libgcc_backtrace && libgcc_get_ip)
        return &libgcc;
    log_once("no %s and no libgcc_s.so.1 found; recording without native frames", LIBUNWIND_NAME);
    return &unwind_none;
}
