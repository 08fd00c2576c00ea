/* SPDX-License-Identifier: MIT */
/*
 * Hooks of the functions of libnvToolsExt.so.1, which forward each call to that library. A
 * forwarded call comes back through the callbacks of nvtx_injection.c, but is counted only once.
 */
#include <stdatomic.h>
#include <stddef.h>

#include "interpose/image/image_list.h"
#include "nvtx.h"

/* Calls the library's function, if there is one. */
#define CALL_REAL(name, call)                                                                      \
    do {                                                                                           \
        static _Atomic(void *) cached;                                                             \
        void *real = image_list_function(&cached, "libnvToolsExt.so", name);                       \
        if (real) {                                                                                \
            nvtx_forwarding = true;                                                                \
            call;                                                                                  \
            nvtx_forwarding = false;                                                               \
        }                                                                                          \
    } while (0)

#define FORWARD_DEPTH(name, parameters, arguments, note)                                           \
    GMT_EXPORT int name parameters;                                                                \
    int name parameters                                                                            \
    {                                                                                              \
        char text[NVTX_NAME_BYTES];                                                                \
        int result = NVTX_NO_TRACKING;                                                             \
        CALL_REAL(#name, result = GMT_FUNCTION(int(*) parameters, real) arguments);                \
        (void)text;                                                                                \
        note;                                                                                      \
        return result;                                                                             \
    }

#define FORWARD_NOTHING(name, parameters, arguments, note)                                         \
    GMT_EXPORT void name parameters;                                                               \
    void name parameters                                                                           \
    {                                                                                              \
        char text[NVTX_NAME_BYTES];                                                                \
        CALL_REAL(#name, GMT_FUNCTION(void(*) parameters, real) arguments);                        \
        (void)text;                                                                                \
        note;                                                                                      \
    }

/* The id comes from the library, or from nvtx_start if there is no library. */
#define FORWARD_START(name, parameters, arguments, domain_handle, name_text)                       \
    GMT_EXPORT uint64_t name parameters;                                                           \
    uint64_t name parameters                                                                       \
    {                                                                                              \
        char text[NVTX_NAME_BYTES];                                                                \
        uint64_t range_id = 0;                                                                     \
        CALL_REAL(#name, range_id = GMT_FUNCTION(uint64_t(*) parameters, real) arguments);         \
        (void)text;                                                                                \
        return nvtx_start(range_id, domain_handle, name_text);                                     \
    }

typedef const struct nvtx_attributes *attributes_pointer;

/* clang-format off */
FORWARD_DEPTH(nvtxRangePushA, (const char *name), (name), nvtx_push(NULL, name))
FORWARD_DEPTH(nvtxRangePushW, (const wchar_t *name), (name), nvtx_push(NULL, nvtx_narrow(name, text)))
FORWARD_DEPTH(nvtxRangePushEx, (attributes_pointer a), (a), nvtx_push(NULL, nvtx_name_of(a, text)))
FORWARD_DEPTH(nvtxRangePop, (void), (), nvtx_pop(NULL))
FORWARD_DEPTH(nvtxDomainRangePushEx, (void *domain, attributes_pointer a), (domain, a), nvtx_push(domain, nvtx_name_of(a, text)))
FORWARD_DEPTH(nvtxDomainRangePop, (void *domain), (domain), nvtx_pop(domain))
FORWARD_START(nvtxRangeStartA, (const char *name), (name), NULL, name)
FORWARD_START(nvtxRangeStartW, (const wchar_t *name), (name), NULL, nvtx_narrow(name, text))
FORWARD_START(nvtxRangeStartEx, (attributes_pointer a), (a), NULL, nvtx_name_of(a, text))
FORWARD_START(nvtxDomainRangeStartEx, (void *domain, attributes_pointer a), (domain, a), domain, nvtx_name_of(a, text))
FORWARD_NOTHING(nvtxRangeEnd, (uint64_t range_id), (range_id), nvtx_end(range_id))
FORWARD_NOTHING(nvtxDomainRangeEnd, (void *domain, uint64_t range_id), (domain, range_id), nvtx_end(range_id))
FORWARD_NOTHING(nvtxMarkA, (const char *message), (message), nvtx_mark(message))
FORWARD_NOTHING(nvtxMarkW, (const wchar_t *message), (message), nvtx_mark(nvtx_narrow(message, text)))
FORWARD_NOTHING(nvtxMarkEx, (attributes_pointer a), (a), nvtx_mark(nvtx_name_of(a, text)))
FORWARD_NOTHING(nvtxDomainMarkEx, (void *domain, attributes_pointer a), (domain, a), nvtx_mark(nvtx_name_of(a, text)))
/* clang-format on */
