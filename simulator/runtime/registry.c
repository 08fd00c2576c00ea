/* SPDX-License-Identifier: MIT */
/*
 * The list of registered images and kernels. See registry.h. To register a variable has no effect,
 * because the simulator does not read code.
 */
#include "registry.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdlib.h>

#include "gpumemtrace/compiler.h"
#include "driver_table.h"
#include "error.h"
#include "fatbin.h"
#include "only_here.h"

enum state { STATE_NEW, STATE_LOADING, STATE_LOADED };

struct image {
    struct image *next;
    void *wrapped;
    enum state state;
    CUlibrary library; /* LOADED */
};

struct kernel {
    struct kernel *next;
    struct image *image;
    const void *host_function;
    const char *name; /* the program's string */
    CUkernel handle;  /* NULL until first used */
};

/* Protects `images` and `kernels`. */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct image *images;
/* Hash table, keyed by host function, because a large library has about ten thousand kernels. */
static struct kernel *kernels[1 << 12];
/* The number of images that are not loaded yet. While it is 0, a call need not take the lock.
 * Relaxed, because the lock orders everything else. */
static atomic_int new_count;

static void count_new(int change)
{
    atomic_fetch_add_explicit(&new_count, change, memory_order_relaxed);
}

static struct kernel **bucket_of(const void *host_function)
{
    const uintptr_t number = (uintptr_t)host_function >> 4; /* functions are aligned to 16 bytes */
    return &kernels[(number ^ number >> 12) % (sizeof kernels / sizeof *kernels)];
}

/* --- registering --- */

GMT_EXPORT void **__cudaRegisterFatBinary(void *wrapped)
{
    struct image *image = calloc(1, sizeof *image);
    if (!image)
        return NULL;
    image->wrapped = wrapped;
    pthread_mutex_lock(&lock);
    image->next = images;
    images = image;
    count_new(1);
    pthread_mutex_unlock(&lock);
    return (void **)image;
}

GMT_EXPORT void __cudaRegisterFatBinaryEnd(GMT_UNUSED void **handle)
{
}

GMT_EXPORT void __cudaRegisterFunction(void **handle, const char *host_function,
                                       GMT_UNUSED char *device_function, const char *device_name)
{
    struct kernel *kernel = handle ? calloc(1, sizeof *kernel) : NULL;
    if (!kernel)
        return;
    kernel->image = (struct image *)handle;
    kernel->host_function = host_function;
    kernel->name = device_name;
    pthread_mutex_lock(&lock);
    struct kernel **bucket = bucket_of(host_function);
    kernel->next = *bucket;
    *bucket = kernel;
    pthread_mutex_unlock(&lock);
}

static void drop_kernels(struct kernel **place, const struct image *image)
{
    while (*place) {
        struct kernel *kernel = *place;
        if (kernel->image == image) {
            *place = kernel->next;
            free(kernel);
        } else {
            place = &kernel->next;
        }
    }
}

/* Call with the lock held. Removes the image and its kernels from the lists. */
static void image_remove(struct image *image)
{
    struct image **place = &images;
    while (*place && *place != image)
        place = &(*place)->next;
    if (*place)
        *place = image->next;
    if (image->state == STATE_NEW)
        count_new(-1);
    for (size_t i = 0; i < sizeof kernels / sizeof *kernels; i++)
        drop_kernels(&kernels[i], image);
}

GMT_EXPORT void __cudaUnregisterFatBinary(void **handle)
{
    struct image *image = (struct image *)handle;
    if (!image)
        return;
    pthread_mutex_lock(&lock);
    image_remove(image);
    const enum state state = image->state;
    pthread_mutex_unlock(&lock);
    if (state == STATE_LOADING)
        return; /* a thread is loading the image and still uses it */
    if (state == STATE_LOADED)
        driver_table()->cuLibraryUnload(image->library);
    free(image);
}

GMT_EXPORT void __cudaRegisterVar(GMT_UNUSED void **handle, GMT_UNUSED char *host_variable)
{
}

GMT_EXPORT void __cudaRegisterManagedVar(GMT_UNUSED void **handle, GMT_UNUSED void **host_pointer)
{
}

GMT_EXPORT void __cudaRegisterHostVar(GMT_UNUSED void **handle, GMT_UNUSED const char *device_name)
{
}

GMT_EXPORT char __cudaInitModule(GMT_UNUSED void **handle)
{
    return 1;
}

/* --- loading --- */

/* Returns an image to load, which is reserved for this thread. NULL: all images are loaded. */
static struct image *image_claim(void)
{
    pthread_mutex_lock(&lock);
    struct image *image = images;
    while (image && image->state != STATE_NEW)
        image = image->next;
    if (image) {
        image->state = STATE_LOADING;
        count_new(-1);
    }
    pthread_mutex_unlock(&lock);
    return image;
}

/* An image that cannot be loaded becomes new again, so that the next call retries. */
static CUresult image_load(struct image *image)
{
    CUlibrary library = NULL;
    const CUresult result =
        driver_table()->cuLibraryLoadData(&library, image->wrapped, NULL, NULL, 0, NULL, NULL, 0);
    pthread_mutex_lock(&lock);
    image->library = library;
    image->state = result ? STATE_NEW : STATE_LOADED;
    count_new(result ? 1 : 0);
    pthread_mutex_unlock(&lock);
    return result;
}

cudaError_t registry_load(void)
{
    CUresult result = CUDA_SUCCESS;
    while (!result && atomic_load_explicit(&new_count, memory_order_relaxed)) {
        struct image *image = image_claim();
        if (image)
            result = image_load(image);
    }
    return error_of_driver(result);
}

/* Call with the lock held. NULL: not registered, or its image is not loaded. */
static struct kernel *kernel_find(const void *host_function)
{
    struct kernel *kernel = *bucket_of(host_function);
    while (kernel && kernel->host_function != host_function)
        kernel = kernel->next;
    return kernel && kernel->image->state == STATE_LOADED ? kernel : NULL;
}

CUfunction registry_kernel(const void *host_function)
{
    CUkernel handle = NULL;
    CUlibrary library = NULL;
    const char *name = NULL;
    pthread_mutex_lock(&lock);
    struct kernel *kernel = kernel_find(host_function);
    if (kernel) {
        handle = kernel->handle;
        library = kernel->image->library;
        name = kernel->name;
    }
    pthread_mutex_unlock(&lock);
    if (handle || !library || driver_table()->cuLibraryGetKernel(&handle, library, name))
        return (CUfunction)(void *)handle;
    pthread_mutex_lock(&lock);
    kernel = kernel_find(host_function);
    if (kernel)
        kernel->handle = handle;
    pthread_mutex_unlock(&lock);
    return (CUfunction)(void *)handle;
}

int registry_architecture(const void *host_function, int capability)
{
    pthread_mutex_lock(&lock);
    const struct kernel *kernel = kernel_find(host_function);
    const void *wrapped = kernel ? kernel->image->wrapped : NULL;
    pthread_mutex_unlock(&lock);
    return wrapped ? fatbin_architecture(wrapped, capability) : 0;
}
