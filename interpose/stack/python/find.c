/* SPDX-License-Identifier: MIT */
/*
 * See find.h.
 */
#include "find.h"

#include <link.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdio.h>

#include "interpose/image/elf_image.h"
#include "gpumemtrace/compiler.h"
#include "interpose/recording/log.h"
#include "places.h"

/* Protects candidates[] while a candidate is added or chosen. */
static pthread_mutex_t find_lock = PTHREAD_MUTEX_INITIALIZER;

#define CANDIDATES_MAX 4
static struct python candidates[CANDIDATES_MAX];
static _Atomic unsigned candidate_count; /* read without the lock to see whether candidates exist */

_Atomic(const struct python *) python_known;
static _Atomic bool refused;

void python_find_setup(void)
{
    pthread_mutex_init(&find_lock, NULL);
}

bool python_is_settled(void)
{
    return atomic_load_explicit(&python_known, memory_order_relaxed) ||
           atomic_load_explicit(&refused, memory_order_relaxed);
}

const struct code_ranges *python_loop(void)
{
    static const struct code_ranges none;
    const struct python *python = atomic_load_explicit(&python_known, memory_order_acquire);
    return python ? &python->loop : &none;
}

/* --- candidates --- */

static void *first_symbol(const struct link_map *image, const char *name, const char *other)
{
    void *symbol = elf_image_symbol(image, name);
    return symbol ? symbol : elf_image_symbol(image, other);
}

static bool read_exports(const struct link_map *image, struct python *python)
{
    void *thread_state = elf_image_symbol(image, "PyGILState_GetThisThreadState");
    void *version = thread_state ? elf_image_symbol(image, "Py_GetVersion") : NULL;
    if (!version)
        return false;
    void *initialized = elf_image_symbol(image, "Py_IsInitialized");
    void *finalizing = first_symbol(image, "Py_IsFinalizing", "_Py_IsFinalizing");
    void *holder_state =
        first_symbol(image, "PyThreadState_GetUnchecked", "_PyThreadState_UncheckedGet");
    *python =
        (struct python){.exports = {.version = GMT_FUNCTION(const char *(*)(void), version),
                                    .code_type = elf_image_symbol(image, "PyCode_Type"),
                                    .type_type = elf_image_symbol(image, "PyType_Type"),
                                    .text_type = elf_image_symbol(image, "PyUnicode_Type"),
                                    .runtime = elf_image_symbol(image, "_PyRuntime")},
                        .thread_state = GMT_FUNCTION(python_state_function *, thread_state),
                        .holder_state = GMT_FUNCTION(python_state_function *, holder_state),
                        .is_initialized = GMT_FUNCTION(python_question_function *, initialized),
                        .is_finalizing = GMT_FUNCTION(python_question_function *, finalizing)};
    return initialized && python->exports.code_type && python->exports.type_type &&
           python->exports.text_type;
}

static bool is_candidate(const struct python *python)
{
    for (unsigned i = 0; i < candidate_count; i++)
        if (candidates[i].exports.code_type == python->exports.code_type)
            return true;
    return false;
}

bool python_calls(uintptr_t start, uintptr_t end)
{
    bool inside = false;
    pthread_mutex_lock(&find_lock);
    for (unsigned i = 0; i < candidate_count; i++) {
        const uintptr_t type = (uintptr_t)candidates[i].exports.code_type;
        inside = inside || (type >= start && type < end);
    }
    pthread_mutex_unlock(&find_lock);
    return inside;
}

static bool is_pypy(const struct link_map *image)
{
    return elf_image_symbol(image, "PyPyGILState_Ensure") != NULL;
}

bool python_meet(const struct dl_phdr_info *info)
{
    struct link_map image;
    struct python python;
    bool fresh = false;
    if (atomic_load_explicit(&refused, memory_order_relaxed) || !elf_image_from(info, &image))
        return false;
    if (is_pypy(&image))
        log_once("PyPy: recording without its Python frames");
    if (!read_exports(&image, &python))
        return false;
    pthread_mutex_lock(&find_lock);
    if (candidate_count < CANDIDATES_MAX && !is_candidate(&python)) {
        code_ranges_add(&python.loop, info, "_PyEval_EvalFrameDefault");
        candidates[candidate_count++] = python;
        fresh = true;
    }
    pthread_mutex_unlock(&find_lock);
    return fresh;
}

/* --- choosing --- */

static bool is_readable(struct python *python, char *why, size_t why_bytes)
{
    if (!python_layout_choose(&python->layout, &python->exports, why, why_bytes))
        return false;
    snprintf(why, why_bytes, "it does not tell its threads apart, or whether it is finalizing");
    return python->holder_state && python->is_finalizing;
}

/* The caller holds find_lock. */
static const struct python *choose(struct python *python)
{
    char why[128];
    if (!is_readable(python, why, sizeof why)) {
        log_line("Python: %s; recording without its frames", why);
        atomic_store_explicit(&refused, true, memory_order_relaxed);
        return NULL;
    }
    if (python_layout_is_experimental(&python->layout))
        log_line("Python: reading a free-threaded 3.%u is experimental", python->layout.minor);
    python_places_watch(python);
    atomic_store_explicit(&python_known, python, memory_order_release);
    return python;
}

static const struct python *find_running(void)
{
    const struct python *python = NULL;
    if (atomic_load_explicit(&refused, memory_order_relaxed) || !candidate_count)
        return NULL;
    pthread_mutex_lock(&find_lock);
    python = atomic_load_explicit(&python_known, memory_order_relaxed);
    for (unsigned i = 0; !python && i < candidate_count; i++)
        if (candidates[i].is_initialized())
            python = choose(&candidates[i]);
    pthread_mutex_unlock(&find_lock);
    return python;
}

const struct python *python_find(void)
{
    const struct python *python = atomic_load_explicit(&python_known, memory_order_acquire);
    return GMT_LIKELY(python != NULL) ? python : find_running();
}
