/* SPDX-License-Identifier: MIT */
/*
 * Stores the versions of the frameworks in the process, and the settings of their allocators. The
 * versions are read from files beside the frameworks' libraries. A program may change the settings
 * after the recording began. No function of a framework is called.
 */
#pragma once

#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>

#include "gpumemtrace/compiler.h"
#include "interpose/recording/thread.h"

/* The generation of the recording that has looked for frameworks. Relaxed, because looking twice
 * only costs time. */
extern _Atomic uint64_t frameworks_generation;

/* Does the work of frameworks_look, but only in the first thread that calls it. Keeps errno. */
void frameworks_look_once(struct thread *thread);

/* Call it at an event of a framework's allocator. By that time the framework's libraries are
 * mapped, and the framework has read its settings. */
static inline void frameworks_look(struct thread *thread)
{
    if (GMT_UNLIKELY(atomic_load_explicit(&frameworks_generation, memory_order_relaxed) !=
                     thread->generation))
        frameworks_look_once(thread);
}

/* Notes the settings that PyTorch's allocator has taken, from any source. It may be called before
 * the recording begins. Only the last settings are kept. Keeps errno. */
void frameworks_note_settings(const char *text, size_t text_bytes);
