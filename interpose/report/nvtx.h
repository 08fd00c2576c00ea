/* SPDX-License-Identifier: MIT */
/*
 * NVTX ranges, which become phases, whichever way they come. It must not record: phases.c does.
 * Numbers and layouts are NVTX 3's.
 *
 *     header-only NVTX 3    opens the library that NVTX_INJECTION64_PATH names and gives it a table
 *                           of callbacks to fill in (nvtx_injection.c). If that is another tool's,
 *                           it fills in its own first, and ours forward to them
 *     libnvToolsExt.so.1    older callers link to it: its functions are exported here and forward
 *                           (nvtx_tools.c)
 */
#ifndef GPUMEMTRACE_INTERPOSE_REPORT_NVTX_H
#define GPUMEMTRACE_INTERPOSE_REPORT_NVTX_H

#include <stdbool.h>
#include <stdint.h>
#include <wchar.h>

#include "gpumemtrace/compiler.h"

#define NVTX_NO_TRACKING (-2) /* what a push or pop returns if no tool listens */
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

/* This thread is inside a forwarded call: what comes back through the callbacks is the same
 * range. */
extern _Thread_local bool nvtx_forwarding GMT_TLS_INITIAL_EXEC;

/* domain NULL: the default one. A push or pop returns the depth of the range on the thread's stack of
 * this domain; -1: the stack is empty. */
int nvtx_push(const void *domain, const char *name);
int nvtx_pop(const void *domain);
/* A range that any thread may end. range_id: what another tool returned, 0: none did. Returns what
 * the caller is to get. */
uint64_t nvtx_start(uint64_t range_id, const void *domain, const char *name);
void nvtx_end(uint64_t range_id);
void nvtx_mark(const char *text);

/* A wide text as UTF-8 in text[NVTX_NAME_BYTES], cut to that. */
const char *nvtx_narrow(const wchar_t *wide, char *text);
/* The message of the attributes; text[NVTX_NAME_BYTES] may be used for it. */
const char *nvtx_name_of(const struct nvtx_attributes *attributes, char *text);

/* A handle that no other call returns; never NULL. */
void *nvtx_new_handle(void);
/* Each remembers the name of a handle: of a registered string, of a domain. A handle that was not
 * registered here has no name: it is never dereferenced. */
void nvtx_register(const void *handle, const char *name);
void nvtx_register_domain(const void *handle, const char *name);

/* What dlsym is to return for the entry point of the library that NVTX_INJECTION64_PATH names:
 * ours, which calls that one first. */
void *nvtx_stand_before(void *initialize);

#endif
