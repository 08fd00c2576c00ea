/* SPDX-License-Identifier: MIT */
/*
 * Writes to the ring which executables and libraries are mapped where, whenever the loader's list
 * has changed, so that each native frame finds its module in the trace. The analyzer resolves
 * symbols.
 */
#pragma once

#include <stdbool.h>

#include "interpose/recording/thread.h"

void modules_setup(void);
/* Call it for a new frame. It takes the lock of the loader's list for a moment. */
void modules_note(struct thread *thread);
/* Returns a number that changes whenever modules_note finds that the loader's list has changed; 0:
 * modules_note was never called. */
uint64_t modules_version(void);
/* Is this address in libgpumemtrace.so? */
bool modules_is_own(const void *address);
/* Is this address in the C library, where threads and main begin? */
bool modules_is_libc(const void *address);
