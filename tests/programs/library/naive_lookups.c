/* SPDX-License-Identifier: MIT */
/*
 * Makes the mistakes that other preloaded libraries made in lookups. The tests show that a program
 * notices each mistake, but notices nothing with our library. They build this file with one of
 * these macros:
 *
 *     NAIVE_TWICE    takes the second dlsym(RTLD_NEXT) of a name on a thread for a recursion
 *     NAIVE_CALLER   calls dlsym from C, so that RTLD_NEXT means the library after this one
 *     NAIVE_PREFIX   takes every name that begins with cu for a driver function
 *     NAIVE_SELF     calls itself if the handle is NULL
 *     NAIVE_HANDLE   answers with the driver's function, whatever the handle is
 *     NAIVE_OUT      writes to out-parameters that are NULL
 *     NAIVE_ONE_WAY  does not know cuGetProcAddress
 *     NAIVE_LIBC     needs a private function of old C libraries
 *     NAIVE_DLOPEN   calls dlopen from C, so that the caller's rpath is not searched
 */
#include <dlfcn.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "gpumemtrace/compiler.h"

typedef void *dlsym_function(void *handle, const char *name);
typedef int alloc_function(uint64_t *address, size_t bytes);

#ifdef __x86_64__
#define LIBC_VERSION "GLIBC_2.2.5"
#else
#define LIBC_VERSION "GLIBC_2.17"
#endif

static GMT_UNUSED void *real_dlsym(void *handle, const char *name)
{
    dlsym_function *real = GMT_FUNCTION(dlsym_function *, dlvsym(RTLD_NEXT, "dlsym", LIBC_VERSION));
    return real(handle, name);
}

static GMT_UNUSED void *driver(void)
{
    return dlopen("libcuda.so.1", RTLD_NOW);
}

#if defined(NAIVE_TWICE)
GMT_EXPORT void *dlsym(void *handle, const char *name)
{
    static _Thread_local const void *found_before;
    void *found = real_dlsym(handle, name);
    if (handle == RTLD_NEXT && found == found_before)
        return NULL;
    found_before = found;
    return found;
}
#elif defined(NAIVE_CALLER)
GMT_EXPORT void *dlsym(void *handle, const char *name)
{
    return real_dlsym(handle, name);
}
#elif defined(NAIVE_PREFIX)
GMT_EXPORT void *dlsym(void *handle, const char *name)
{
    return real_dlsym(strncmp(name, "cu", 2) == 0 ? driver() : handle, name);
}
#elif defined(NAIVE_SELF)
GMT_EXPORT void *dlsym(void *handle, const char *name)
{
    void *own = handle ? handle : dlopen(NULL, RTLD_LAZY);
    volatile int found = 0; /* prevents a tail call, so a recursion ends */
    void *symbol = handle ? real_dlsym(own, name) : dlsym(handle, name);
    found++;
    return symbol;
}
#elif defined(NAIVE_HANDLE)
GMT_EXPORT void *dlsym(void *handle, const char *name)
{
    return real_dlsym(strncmp(name, "cuM", 3) == 0 ? driver() : handle, name);
}
#elif defined(NAIVE_OUT)
GMT_EXPORT int cuGetProcAddress_v2(const char *name, void **function, int version, uint64_t flags,
                                   int *status)
{
    (void)version, (void)flags;
    *function = real_dlsym(driver(), name);
    *status = 0;
    return 0;
}
#elif defined(NAIVE_ONE_WAY)
static alloc_function *real_alloc;

static int alloc(uint64_t *address, size_t bytes)
{
    printf("an allocation was seen\n");
    return real_alloc(address, bytes);
}

GMT_EXPORT void *dlsym(void *handle, const char *name)
{
    void *found = real_dlsym(handle, name);
    if (!found || strcmp(name, "cuMemAlloc_v2") != 0)
        return found;
    real_alloc = GMT_FUNCTION(alloc_function *, found);
    return __extension__(void *) alloc;
}
#elif defined(NAIVE_LIBC)
void *__libc_dlsym(void *handle, const char *name);

GMT_EXPORT void *dlsym(void *handle, const char *name)
{
    return __libc_dlsym(handle, name);
}
#elif defined(NAIVE_DLOPEN)
GMT_EXPORT void *dlopen(const char *path, int flags)
{
    typedef void *dlopen_function(const char *path, int flags);
    dlopen_function *real = GMT_FUNCTION(dlopen_function *, real_dlsym(RTLD_NEXT, "dlopen"));
    void *library = real(path, flags);
    if (library)
        dlerror();
    return library;
}
#endif
