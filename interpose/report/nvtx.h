/* SPDX-License-Identifier: MIT */
/*
 * Turns NVTX ranges into phases, which phases.c records. Programs use NVTX in one of two forms, and
 * both are covered. Numbers and layouts are those of NVTX 3.
 *
 *     header-only NVTX 3    opens the library that NVTX_INJECTION64_PATH names and gives it a table
 *                           of callbacks to fill in (nvtx_injection.c). If that is another tool's
 *                           library, it fills in its callbacks first, and ours forward to them
 *     libnvToolsExt.so.1    older callers link to it: its functions are exported here and forward
 *                           (nvtx_tools.c)
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>
#include <wchar.h>

#include "gpumemtrace/compiler.h"

#define NVTX_NO_TRACKING (-2) /* result of a push or pop if no tool listens */
#define NVTX_NAME_BYTES 1024

struct nvtx_attributes {
    uint16_t version, size;
    uint32_t category;
    int32_t color_type;
    uint32_t color;
    int32_t payload_type, reserved;
    uint64_t payload;
    int32_t message_type;
    const void *message;
};

/* true: this thread is inside a forwarded call, so a call of our callbacks concerns the range that
 * the hook has already recorded. */
extern _Thread_local bool nvtx_forwarding GMT_TLS_INITIAL_EXEC;

/* domain: NULL means the default domain. Returns the depth of the range on the thread's stack of
 * ranges of this domain; -1: the stack is empty. */
int nvtx_push(const void *domain, const char *name);
int nvtx_pop(const void *domain);
/* Starts a range that any thread may end. range_id: the id that another tool returned for the
 * range; 0: there is no other tool. Returns the id that the caller gets. */
uint64_t nvtx_start(uint64_t range_id, const void *domain, const char *name);
void nvtx_end(uint64_t range_id);
void nvtx_mark(const char *text);

/* Converts a wide text to UTF-8 in text[NVTX_NAME_BYTES], cut to that size. */
const char *nvtx_narrow(const wchar_t *wide, char *text);
/* Returns the message in the attributes. A wide message is converted into text[NVTX_NAME_BYTES]. */
const char *nvtx_name_of(const struct nvtx_attributes *attributes, char *text);

/* Returns a new handle, never NULL. This function never returns the same handle twice. */
void *nvtx_new_handle(void);
/* Remembers the name of a registered string or a domain by its handle. A handle that was not
 * registered here has no name, because handles are never dereferenced. */
void nvtx_register(const void *handle, const char *name);
void nvtx_register_domain(const void *handle, const char *name);

/* Returns the entry point that dlsym must return for the library that NVTX_INJECTION64_PATH names.
 * It is our entry point, which first calls the entry point of that library. */
void *nvtx_stand_before(void *initialize);
