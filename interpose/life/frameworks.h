/* SPDX-License-Identifier: MIT */
/*
 * What a trace says of the frameworks in the process: their versions, read from the files beside
 * their libraries, and the settings of their allocators, which a program may change after the
 * recording began. No framework is called. It must not know pools.
 */
#ifndef GPUMEMTRACE_INTERPOSE_LIFE_FRAMEWORKS_H
#define GPUMEMTRACE_INTERPOSE_LIFE_FRAMEWORKS_H

#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>

#include "gpumemtrace/compiler.h"
#include "interpose/recording/thread.h"

/* The recording that knows its frameworks. Relaxed: a second look costs time and nothing else. */
extern _Atomic uint64_t frameworks_generation;

/* frameworks_look, for the thread that is first. Keeps errno. */
void frameworks_look_once(struct thread *thread);

/* At an event of a framework's allocator: the framework's libraries are mapped, and it has read its
 * settings. */
static inline void frameworks_look(struct thread *thread)
{
    if (GMT_UNLIKELY(atomic_load_explicit(&frameworks_generation, memory_order_relaxed) !=
                     thread->generation))
        frameworks_look_once(thread);
}

/* PyTorch's allocator has taken these settings, from wherever they came; now, or before the recording
 * began. The last ones stay. Keeps errno. */
void frameworks_note_settings(const char *text, size_t text_bytes);

#endif
