/* SPDX-License-Identifier: MIT */
/*
 * See places.h.
 */
#include "places.h"

#include <pthread.h>
#include <stdatomic.h>

#include "code_cache.h"
#include "gpumemtrace/compiler.h"
#include "locations.h"
#include "interpose/recording/recording.h"

typedef void dealloc_function(void *object);

/* Protects the writing side of code_cache and everything in locations.c. It is taken when a hook
 * finds a new place, and when a code object in the cache dies. The thread holds the GIL at both
 * moments, so no code under this lock may wait for the GIL. */
static pthread_mutex_t places_lock = PTHREAD_MUTEX_INITIALIZER;

/* The tables of the running trace exist. Stored with release, so a reader that sees `ready` also
 * sees the complete tables. */
static _Atomic bool ready;

static dealloc_function *real_dealloc;
static _Atomic bool watch_lost;

void python_places_setup(void)
{
    pthread_mutex_init(&places_lock, NULL);
    atomic_store(&ready, false);
}

static bool make_ready(void)
{
    pthread_mutex_lock(&places_lock);
    if (!atomic_load_explicit(&ready, memory_order_relaxed) && code_cache_setup() &&
        python_locations_setup())
        atomic_store_explicit(&ready, true, memory_order_release);
    pthread_mutex_unlock(&places_lock);
    return atomic_load_explicit(&ready, memory_order_relaxed);
}

bool python_places_ready(void)
{
    return GMT_LIKELY(atomic_load_explicit(&ready, memory_order_acquire)) || make_ready();
}

/* --- code objects that die --- */

static void forget_and_dealloc(void *code)
{
    /* In a fork's child, cache and lock belong to the parent until the child starts its own
     * trace. */
    if (recording_generation() && atomic_load_explicit(&ready, memory_order_acquire) &&
        code_cache_knows(code)) {
        pthread_mutex_lock(&places_lock);
        code_cache_forget(code);
        pthread_mutex_unlock(&places_lock);
    }
    real_dealloc(code);
}

static _Atomic(void *) *dealloc_of(const struct python *python)
{
    return (_Atomic(void *) *)((char *)python->exports.code_type + python->layout.type_dealloc);
}

/* The cache is still empty, so it does no harm if a code object dies before the new function is
 * stored. */
void python_places_watch(const struct python *python)
{
    void *real = atomic_load_explicit(dealloc_of(python), memory_order_relaxed);
    real_dealloc = GMT_FUNCTION(dealloc_function *, real);
    atomic_store_explicit(dealloc_of(python), __extension__(void *) forget_and_dealloc,
                          memory_order_release);
}

/* If another function has replaced our function, we do not know whether it calls ours. So the
 * locations in the cache may be wrong from now on. */
bool python_places_watched(const struct python *python)
{
    void *now = atomic_load_explicit(dealloc_of(python), memory_order_relaxed);
    if (GMT_UNLIKELY(now != __extension__(void *) forget_and_dealloc))
        atomic_store_explicit(&watch_lost, true, memory_order_relaxed);
    return !atomic_load_explicit(&watch_lost, memory_order_relaxed);
}

/* --- looking up --- */

uint32_t python_places_look_up(struct thread *thread, const struct python *python, const void *code,
                               int64_t offset, uint64_t key, bool keep)
{
    pthread_mutex_lock(&places_lock);
    uint32_t id = keep && key ? code_cache_find(key) : 0; /* another thread may have added the
                                                           * place */
    if (!id) {
        id = python_locations_intern(thread, &python->layout, code, offset);
        if (keep && key)
            code_cache_add(key, id);
    }
    pthread_mutex_unlock(&places_lock);
    return id;
}

uint32_t python_places_add(struct thread *thread, uint32_t function_id, uint32_t file_id,
                           uint32_t line)
{
    pthread_mutex_lock(&places_lock);
    const uint32_t id = python_locations_add(thread, function_id, file_id, line);
    pthread_mutex_unlock(&places_lock);
    return id;
}
