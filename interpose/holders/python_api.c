/* SPDX-License-Identifier: MIT */
/*
 * See python_api.h.
 */
#include "python_api.h"

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <string.h>

#include "gpumemtrace/compiler.h"
#include "interpose/image/elf_image.h"
#include "interpose/image/image_list.h"
#include "interpose/stack/python/find.h"

/* The walk reads frames, which each version lays out in its own way. These versions are tested. The
 * lock of a free-threaded build does not stop other threads. */
static bool is_tested(const char *version)
{
    static const char *const tested[] = {"3.8.", "3.9.", "3.10.", "3.11.", "3.12.", "3.13."};
    for (size_t i = 0; i < sizeof tested / sizeof *tested; i++)
        if (!strncmp(version, tested[i], strlen(tested[i])))
            return !strstr(version, "free-threading");
    return false;
}

static bool find(struct python_api *api, const struct python *python)
{
    static const struct {
        const char *name;
        size_t offset;
    } rows[] = {
#define PYTHON_FUNCTION(result, name, parameters) {#name, offsetof(struct python_api, name)},
#include "python_api.def"
    };
    struct image_span span;
    if (!image_list_of(python->exports.code_type, &span))
        return false;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        void *function = elf_image_symbol(span.image, rows[i].name);
        if (!function)
            return false;
        memcpy((char *)api + rows[i].offset, &function, sizeof function);
    }
    api->is_initialized = python->is_initialized;
    api->is_finalizing = python->is_finalizing;
    api->thread_state = python->thread_state;
    api->holder_state = python->holder_state;
    void *enter = elf_image_symbol(span.image, "PyThreadState_EnterTracing");
    void *leave = elf_image_symbol(span.image, "PyThreadState_LeaveTracing");
    if (enter && leave) {
        api->enter_tracing = GMT_FUNCTION(void (*)(void *), enter);
        api->leave_tracing = GMT_FUNCTION(void (*)(void *), leave);
    }
    return is_tested(api->Py_GetVersion());
}

const struct python_api *python_api(void)
{
    static struct python_api api;
    static _Atomic bool is_found; /* stored with release, so a reader sees the complete api */
    static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER; /* protects api while it is filled */
    const struct python *python = python_find();
    if (!python)
        return NULL;
    if (!atomic_load_explicit(&is_found, memory_order_acquire)) {
        pthread_mutex_lock(&lock);
        if (find(&api, python))
            atomic_store_explicit(&is_found, true, memory_order_release);
        pthread_mutex_unlock(&lock);
    }
    return atomic_load_explicit(&is_found, memory_order_acquire) ? &api : NULL;
}
