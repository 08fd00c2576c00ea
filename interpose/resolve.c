/* SPDX-License-Identifier: MIT */
/*
 * Meets libcuda and the runtimes as they are loaded, and remembers their functions. See resolve.h.
 */
#include "resolve.h"

#include <dlfcn.h>
#include <link.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "elf_image.h"
#include "gpumemtrace/compiler.h"

#define RUNTIME_LIMIT 8
#define WRAP_SLOTS 512 /* power of two, more than twice the hooks */
#define CALLER_SLOTS 1024

static _Atomic(const struct link_map *) driver_image;
static _Atomic(const struct link_map *) runtime_images[RUNTIME_LIMIT];

/* Row 0: driver functions, or the first runtime's; row i: runtime i's. NULL: not looked up yet. */
static _Atomic(void *) real_functions[RUNTIME_LIMIT][HOOK_COUNT];

/* Real address -> hook + 1; filled once for libcuda and once for the first runtime. */
struct wrap_slot {
    _Atomic(void *) real;
    _Atomic unsigned hook_plus_1;
};
static struct wrap_slot wrap_slots[WRAP_SLOTS];

/* Protects meeting a library: the images, and adding to wrap_slots. Readers take no lock: a slot's
 * hook is stored before its address. */
static pthread_mutex_t meet_lock = PTHREAD_MUTEX_INITIALIZER;

_Static_assert(WRAP_SLOTS > 2 * HOOK_COUNT, "room for every hook without long probes");

/* --- address -> hook -----------------------------------------------------------------------------
 */

static size_t wrap_start(const void *real)
{
    return (size_t)(((uint64_t)(uintptr_t)real * 0x9e3779b97f4a7c15u) >> 32) & (WRAP_SLOTS - 1);
}

static void wrap_add(void *real, enum hook hook)
{
    for (size_t at = wrap_start(real);; at = (at + 1) & (WRAP_SLOTS - 1)) {
        void *taken = atomic_load_explicit(&wrap_slots[at].real, memory_order_relaxed);
        if (taken == real) /* two names for one function: the first row stands for both */
            return;
        if (!taken) {
            atomic_store_explicit(&wrap_slots[at].hook_plus_1, hook + 1u, memory_order_relaxed);
            atomic_store_explicit(&wrap_slots[at].real, real, memory_order_release);
            return;
        }
    }
}

static void *wrapped(void *real)
{
    for (size_t at = wrap_start(real);; at = (at + 1) & (WRAP_SLOTS - 1)) {
        void *taken = atomic_load_explicit(&wrap_slots[at].real, memory_order_acquire);
        if (!taken)
            return real;
        if (taken == real)
            return hook_functions[atomic_load_explicit(&wrap_slots[at].hook_plus_1,
                                                       memory_order_relaxed) -
                                  1];
    }
}

static void add_functions(const struct link_map *image, enum hook_api api)
{
    for (int hook = 0; hook < HOOK_COUNT; hook++) {
        void *real =
            hook_rows[hook].api == api ? elf_image_symbol(image, hook_rows[hook].name) : NULL;
        if (!real)
            continue;
        atomic_store_explicit(&real_functions[0][hook], real, memory_order_release);
        wrap_add(real, (enum hook)hook);
    }
}

/* --- meeting libraries ---------------------------------------------------------------------------
 */

static const struct link_map *driver(void)
{
    const struct link_map *image = atomic_load_explicit(&driver_image, memory_order_acquire);
    if (GMT_LIKELY(image != NULL))
        return image;
    pthread_mutex_lock(&meet_lock);
    image = atomic_load_explicit(&driver_image, memory_order_relaxed);
    if (!image && (image = elf_image_find("libcuda.so", NULL))) {
        add_functions(image, API_driver);
        atomic_store_explicit(&driver_image, image, memory_order_release);
    }
    pthread_mutex_unlock(&meet_lock);
    return image;
}

static void remember_runtime(const struct link_map *image)
{
    for (int i = 0; i < RUNTIME_LIMIT; i++) {
        const struct link_map *known =
            atomic_load_explicit(&runtime_images[i], memory_order_relaxed);
        if (known == image)
            return;
        if (known)
            continue;
        if (i == 0)
            add_functions(image, API_runtime);
        atomic_store_explicit(&runtime_images[i], image, memory_order_release);
        return;
    }
}

static void meet_runtimes(void)
{
    const struct link_map *image = NULL;
    pthread_mutex_lock(&meet_lock);
    while ((image = elf_image_find("libcudart.so", image)))
        remember_runtime(image);
    pthread_mutex_unlock(&meet_lock);
}

static const char *soname(const struct link_map *image)
{
    const char *slash = strrchr(image->l_name, '/');
    return slash ? slash + 1 : image->l_name;
}

/* The runtime that the caller was linked to; the first one for a caller linked to none. */
static int runtime_of(const void *caller)
{
    const struct link_map *image = elf_image_of(caller);
    for (int i = 0; image && i < RUNTIME_LIMIT; i++) {
        const struct link_map *runtime =
            atomic_load_explicit(&runtime_images[i], memory_order_acquire);
        if (runtime && (image == runtime || elf_image_needs(image, soname(runtime))))
            return i;
    }
    return 0;
}

/* Caller -> runtime, one word an entry: address << 8 | runtime + 1. A lost race costs a search. */
static int cached_runtime_of(const void *caller)
{
    static _Atomic uint64_t cache[CALLER_SLOTS];
    const uint64_t address = (uint64_t)(uintptr_t)caller;
    _Atomic uint64_t *entry = &cache[(address * 0x9e3779b97f4a7c15u) >> 54];
    const uint64_t found = atomic_load_explicit(entry, memory_order_relaxed);
    if (GMT_LIKELY(found >> 8 == address))
        return (int)(found & 0xff) - 1;
    meet_runtimes();
    const int runtime = runtime_of(caller);
    atomic_store_explicit(entry, address << 8 | (unsigned)(runtime + 1), memory_order_relaxed);
    return runtime;
}

_Static_assert(CALLER_SLOTS == 1 << 10, "the cache index takes the top 10 bits");

static void *resolve_runtime(enum hook hook, const void *caller)
{
    const int runtime = cached_runtime_of(caller);
    void *real = atomic_load_explicit(&real_functions[runtime][hook], memory_order_acquire);
    if (GMT_LIKELY(real != NULL))
        return real;
    const struct link_map *image =
        atomic_load_explicit(&runtime_images[runtime], memory_order_acquire);
    real = image ? elf_image_symbol(image, hook_rows[hook].name) : NULL;
    atomic_store_explicit(&real_functions[runtime][hook], real, memory_order_release);
    return real;
}

void *resolve_hook(enum hook hook, const void *caller)
{
    if (hook_rows[hook].api == API_runtime)
        return resolve_runtime(hook, caller);
    return driver() ? atomic_load_explicit(&real_functions[0][hook], memory_order_acquire) : NULL;
}

void *resolve_driver(const char *name)
{
    const struct link_map *image = driver();
    return image ? elf_image_symbol(image, name) : NULL;
}

void *resolve_libc(const char *name)
{
    const struct link_map *libc = elf_image_find("libc.so.6", NULL);
    void *real = libc ? elf_image_symbol(libc, name) : NULL;
    if (real)
        return real;
    const struct link_map *libdl = elf_image_find("libdl.so.2", NULL); /* before glibc 2.34 */
    return libdl ? elf_image_symbol(libdl, name) : NULL;
}

void *resolve_wrap(void *real)
{
    driver();
    return wrapped(real);
}

bool resolve_has_met(void)
{
    return atomic_load_explicit(&driver_image, memory_order_acquire) ||
           atomic_load_explicit(&runtime_images[0], memory_order_acquire);
}

void resolve_after_fork(void)
{
    pthread_mutex_init(&meet_lock, NULL);
}

/* --- dlsym: stubs.S asks what to jump to ---------------------------------------------------------
 */

typedef void *dlsym_function(void *handle, const char *name);

static dlsym_function *real_dlsym(void)
{
    static _Atomic(void *) cached;
    void *real = atomic_load_explicit(&cached, memory_order_relaxed);
    if (!real) {
        real = resolve_libc("dlsym");
        atomic_store_explicit(&cached, real, memory_order_relaxed);
    }
    return GMT_FUNCTION(dlsym_function *, real);
}

static void *dlsym_wrapped(void *handle, const char *name)
{
    void *real = real_dlsym()(handle, name);
    if (!real)
        return NULL;
    if (!atomic_load_explicit(&runtime_images[0], memory_order_acquire))
        meet_runtimes();
    return resolve_wrap(real);
}

/* cu[A-Z] or cuda[A-Z]: the driver's and the runtime's names, not cudnn's or cublas'. */
static bool is_cuda_name(const char *name)
{
    if (name[0] != 'c' || name[1] != 'u')
        return false;
    const char *rest = name[2] == 'd' && name[3] == 'a' ? name + 4 : name + 2;
    return *rest >= 'A' && *rest <= 'Z';
}

void *dlsym_choose(void *handle, const char *name);

/* Is the name one of ours that no library of the process defines? Our exports alone must not make a
 * program believe that CUDA is there. */
static bool is_ours_alone(const char *name)
{
    for (int hook = 0; hook < HOOK_COUNT; hook++) {
        const char *own = hook_rows[hook].name, *asked = name;
        while (*own && *own == *asked) {
            own++;
            asked++;
        }
        if (*own != *asked)
            continue;
        if (hook_rows[hook].api == API_driver)
            return driver() == NULL;
        meet_runtimes();
        return !atomic_load_explicit(&runtime_images[0], memory_order_acquire);
    }
    return false;
}

/* Fails as it would without us, with dlerror saying so: libc does not have it. */
static void *dlsym_in_libc(void *handle, const char *name)
{
    (void)handle;
    typedef void *dlopen_function(const char *path, int flags);
    dlopen_function *open = GMT_FUNCTION(dlopen_function *, resolve_libc("dlopen"));
    void *libc = open ? open("libc.so.6", RTLD_LAZY | RTLD_NOLOAD) : NULL;
    return libc ? real_dlsym()(libc, name) : NULL;
}

/*
 * What dlsym does for these arguments. RTLD_NEXT and RTLD_DEFAULT depend on who calls, and find our
 * exports anyway where they should: the real function takes over with the caller's own return
 * address. For a handle the caller does not matter.
 */
void *dlsym_choose(void *handle, const char *name)
{
    const bool everywhere =
        handle == RTLD_NEXT || handle == RTLD_DEFAULT || handle == (void *)_r_debug.r_map;
    if (!name || !is_cuda_name(name))
        return __extension__(void *) real_dlsym();
    if (!everywhere)
        return __extension__(void *) dlsym_wrapped;
    return is_ours_alone(name) ? __extension__(void *) dlsym_in_libc
                               : __extension__(void *) real_dlsym();
}
