/* SPDX-License-Identifier: MIT */
/*
 * Chooses the function that answers a dlsym, dlvsym or dlopen of the program. See dlsym.h.
 *
 * Other preloaded libraries look up libc's functions here while they start. A string function of
 * libc may be one that such a library replaces and cannot serve yet. So no string function of libc
 * is called for a name that is not CUDA's.
 */
#include "dlsym.h"

#include <dlfcn.h>
#include <link.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "deepbind.h"
#include "gpumemtrace/compiler.h"
#include "interpose/image/libc_function.h"
#include "interpose/image/scope.h"
#include "interpose/lookup/coverage.h"
#include "interpose/lookup/resolve.h"
#include "interpose/report/nvml.h"
#include "interpose/report/nvtx.h"

typedef void *dlsym_function(void *handle, const char *name);
typedef void *dlvsym_function(void *handle, const char *name, const char *version);
typedef void *dlopen_function(const char *path, int flags);

static void *next_function(_Atomic(void *) *cached, const char *name)
{
    void *next = atomic_load_explicit(cached, memory_order_relaxed);
    if (!next) {
        next = scope_next(name);
        atomic_store_explicit(cached, next, memory_order_relaxed);
    }
    return next;
}

static void *next_dlsym(void)
{
    static _Atomic(void *) cached;
    return next_function(&cached, "dlsym");
}

static void *next_dlvsym(void)
{
    static _Atomic(void *) cached;
    return next_function(&cached, "dlvsym");
}

static void *next_dlopen(void)
{
    static _Atomic(void *) cached;
    return next_function(&cached, "dlopen");
}

/* --- dlsym and dlvsym --- */

/* cu[A-Z] or cuda[A-Z]: names of the driver and the runtime, but not of cuDNN or cuBLAS. */
static bool is_cuda_name(const char *name)
{
    if (name[0] != 'c' || name[1] != 'u')
        return false;
    const char *rest = name[2] == 'd' && name[3] == 'a' ? name + 4 : name + 2;
    return *rest >= 'A' && *rest <= 'Z';
}

static bool is_same(const char *name, const char *asked)
{
    while (*name && *name == *asked) {
        name++;
        asked++;
    }
    return *name == *asked;
}

static bool is_hook(const char *name)
{
    for (int hook = 0; hook < HOOK_COUNT; hook++)
        if (is_same(hook_rows[hook].name, name))
            return true;
    return false;
}

static void *hand_out_symbol(void *real, const char *name, const void *caller)
{
    bool hooked = true;
    void *function = real ? resolve_hand_out(real, caller, &hooked) : NULL;
    coverage_lookup_end(hooked ? NULL : name);
    return function;
}

/* The stub has jumped to this function, so the return address is the program's. */
static void *dlsym_by_handle(void *handle, const char *name)
{
    coverage_lookup_begin();
    void *real = GMT_FUNCTION(dlsym_function *, next_dlsym())(handle, name);
    return hand_out_symbol(real, name, GMT_CALLER_ADDRESS());
}

static void *dlvsym_by_handle(void *handle, const char *name, const char *version)
{
    coverage_lookup_begin();
    void *real = GMT_FUNCTION(dlvsym_function *, next_dlvsym())(handle, name, version);
    return hand_out_symbol(real, name, GMT_CALLER_ADDRESS());
}

/* Looks the name up in libc, which does not define it, so that the lookup fails and dlerror tells
 * why, as without the recorder. */
static void *dlsym_in_libc(void *handle, const char *name)
{
    (void)handle;
    dlopen_function *open = GMT_FUNCTION(dlopen_function *, libc_function("dlopen"));
    void *libc = open ? open("libc.so.6", RTLD_LAZY | RTLD_NOLOAD) : NULL;
    return libc ? GMT_FUNCTION(dlsym_function *, next_dlsym())(libc, name) : NULL;
}

/* NVTX looks up InitializeInjectionNvtx2 in the library of another tool that it has opened. */
static void *dlsym_of_injection(void *handle, const char *name)
{
    void *real = GMT_FUNCTION(dlsym_function *, next_dlsym())(handle, name);
    return real ? nvtx_stand_before(real) : NULL;
}

static void *dlsym_of_nvml(void *handle, const char *name)
{
    void *real = GMT_FUNCTION(dlsym_function *, next_dlsym())(handle, name);
    return real ? nvml_stand_before(real, name) : NULL;
}

/* Returns our function for a lookup in a library that the program has opened; NULL: there is
 * none. */
static void *lookup_of_its_own(const char *name)
{
    if (is_same("InitializeInjectionNvtx2", name))
        return __extension__(void *) dlsym_of_injection;
    return nvml_stands_before(name) ? __extension__(void *) dlsym_of_nvml : NULL;
}

/* Lookups with RTLD_NEXT and RTLD_DEFAULT depend on the caller, and find our exports where they
 * should. So the stub jumps to the real function, which sees the caller's return address. But our
 * exports alone must not make a program believe that CUDA is installed. */
static struct stub_choice choose_lookup(void *real, void *by_handle, void *handle, const char *name,
                                        const void *caller)
{
    const bool everywhere =
        handle == RTLD_NEXT || handle == RTLD_DEFAULT || handle == (void *)_r_debug.r_map;
    struct stub_choice choice = {real, (uintptr_t)name};
    if (name && is_cuda_name(name)) {
        if (!everywhere)
            choice.function = by_handle;
        else if (is_hook(name) && !scope_has(name, handle == RTLD_NEXT ? caller : NULL))
            choice.function = __extension__(void *) dlsym_in_libc;
    }
    return choice;
}

struct stub_choice dlsym_choose(void *handle, const char *name, const void *third,
                                const void *caller)
{
    (void)third;
    void *const own =
        name && handle != RTLD_NEXT && handle != RTLD_DEFAULT ? lookup_of_its_own(name) : NULL;
    if (own)
        return (struct stub_choice){own, (uintptr_t)name};
    return choose_lookup(next_dlsym(), __extension__(void *) dlsym_by_handle, handle, name, caller);
}

struct stub_choice dlvsym_choose(void *handle, const char *name, const void *third,
                                 const void *caller)
{
    (void)third;
    return choose_lookup(next_dlvsym(), __extension__(void *) dlvsym_by_handle, handle, name,
                         caller);
}

/* --- dlopen --- */

static int flags_without_deepbind(int flags)
{
    const char *leave = getenv("GPUMEMTRACE_DEEPBIND");
    if (!leave || strcmp(leave, "1") != 0)
        return flags & ~RTLD_DEEPBIND;
    coverage_count("dlopen(RTLD_DEEPBIND)");
    return flags;
}

struct stub_choice dlopen_choose(const char *path, int flags)
{
    if (flags & RTLD_DEEPBIND && path && deepbind_hides_cuda(path))
        flags = flags_without_deepbind(flags);
    return (struct stub_choice){next_dlopen(), (uintptr_t)flags};
}
