/* SPDX-License-Identifier: MIT */
/*
 * NVTX ranges become phases, whichever way they come:
 *
 *     header-only NVTX 3      loads what NVTX_INJECTION64_PATH names and hands it a table of
 *                             callbacks to fill in (nvtx_injection.c). Where that is another
 *                             tool's library, it fills in its own first, and ours forward
 *     libnvToolsExt.so.1      older callers link to it: its functions are exported here and forward
 *                             (nvtx_tools.c)
 *
 * Both end here. It must not record by itself: phases.c does. Numbers and layouts are NVTX 3's.
 */
#ifndef GPUMEMTRACE_INTERPOSE_REPORT_NVTX_H
#define GPUMEMTRACE_INTERPOSE_REPORT_NVTX_H

#include <stdbool.h>
#include <stdint.h>
#include <wchar.h>

#include "gpumemtrace/compiler.h"

#define NVTX_NO_TRACKING (-2) /* what a push or pop returns when no tool listens */
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

/* Inside a forwarded call: what comes back through the callbacks is the same range. */
extern _Thread_local bool nvtx_forwarding GMT_TLS_INITIAL_EXEC;

/* Each returns the depth that the range has, or had, on the thread's stack of this domain; -1: it
 * is empty. domain NULL: the default one. */
int nvtx_push(const void *domain, const char *name);
int nvtx_pop(const void *domain);
/* A range that any thread may end. range_id 0: nobody gave one; the result is the one to return. */
uint64_t nvtx_start(uint64_t range_id, const char *name);
void nvtx_end(uint64_t range_id);
void nvtx_mark(const char *text);

/* UTF-8 of a wide text in text[NVTX_NAME_BYTES], cut where that ends. */
const char *nvtx_narrow(const wchar_t *wide, char *text);
/* The message of attributes, perhaps in text. */
const char *nvtx_name_of(const struct nvtx_attributes *attributes, char *text);

/* A handle that nobody else gave, never NULL. */
void *nvtx_new_handle(void);
/* The name behind a handle for a registered string. Handles that are not told here mean nothing:
 * they are not looked into. */
void nvtx_register(const void *handle, const char *name);

/* What dlsym is to return for the entry point of the library that NVTX_INJECTION64_PATH names:
 * ours, which asks that one first. */
void *nvtx_stand_before(void *initialize);

#endif
