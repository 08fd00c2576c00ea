/* SPDX-License-Identifier: MIT */
/*
 * Versions of the frameworks in the process, read from the files beside their libraries, and the
 * settings of their allocators, which a program may change after the recording began. No function
 * of a framework is called.
 */
#ifndef GPUMEMTRACE_INTERPOSE_LIFE_FRAMEWORKS_H
#define GPUMEMTRACE_INTERPOSE_LIFE_FRAMEWORKS_H

#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>

#include "gpumemtrace/compiler.h"
#include "interpose/recording/thread.h"

/* Generation of the recording that has looked for frameworks. Relaxed: looking twice only costs
 * time. */
extern _Atomic uint64_t frameworks_generation;

/* frameworks_look for the first thread that gets here. Keeps errno. */
void frameworks_look_once(struct thread *thread);

/* Called at an event of a framework's allocator, because by then the framework's libraries are
 * mapped and it has read its settings. */
static inline void frameworks_look(struct thread *thread)
{
    if (GMT_UNLIKELY(atomic_load_explicit(&frameworks_generation, memory_order_relaxed) !=
                     thread->generation))
        frameworks_look_once(thread);
}

/* PyTorch's allocator has taken these settings, whatever their source, now or before the recording
 * began. The last ones are kept. Keeps errno. */
void frameworks_note_settings(const char *text, size_t text_bytes);

#endif
