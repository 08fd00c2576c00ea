/* SPDX-License-Identifier: MIT */
/*
 * NVTX ranges become phases, whichever way they come:
 *
 *     header-only NVTX 3   loads what NVTX_INJECTION64_PATH names (this library, if nothing else
 * was set) and hands it a table of callbacks to fill in libnvToolsExt.so.1   older callers link to
 * it: its functions are exported here and forward
 *
 * A forwarded call comes back through the callbacks; it counts once. It must not record by itself:
 * phases.c does. Numbers and layouts are NVTX 3's.
 */
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <wchar.h>

#include <link.h>

#include "elf_image.h"
#include "image_list.h"
#include "gpumemtrace/compiler.h"
#include "phases.h"

#define NVTX_NO_TRACKING (-2) /* what a push or pop returns when no tool listens */
#define NAME_BYTES 1024

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

enum { MESSAGE_ASCII = 1, MESSAGE_WIDE = 2, MESSAGE_REGISTERED = 3 };

_Static_assert(offsetof(struct nvtx_attributes, message_type) == 32, "as in NVTX 3");
_Static_assert(offsetof(struct nvtx_attributes, message) == 40, "as in NVTX 3");

/* Inside a forwarded call: its callbacks do not count. */
static _Thread_local bool forwarding GMT_TLS_INITIAL_EXEC;
static _Thread_local int push_depth GMT_TLS_INITIAL_EXEC;
static _Atomic uint64_t next_range_id = 1;

/* --- names
 * ----------------------------------------------------------------------------------------- */

/* UTF-8 of a wide text, cut where the buffer ends. */
static const char *narrow(const wchar_t *wide, char *text)
{
    size_t used = 0;
    for (; wide && *wide && used + 5 < NAME_BYTES; wide++) {
        const uint32_t c = (uint32_t)*wide;
        if (c < 0x80) {
            text[used++] = (char)c;
            continue;
        }
        const int more = c < 0x800 ? 1 : c < 0x10000 ? 2 : 3;
        text[used++] = (char)((0xf80 >> more & 0xff) | (c >> (6 * more)));
        for (int i = more - 1; i >= 0; i--)
            text[used++] = (char)(0x80 | (c >> (6 * i) & 0x3f));
    }
    text[used] = '\0';
    return text;
}

/* Handles given out by on_register: another tool's must not be read. */
#define REGISTERED_LIMIT 1024
static _Atomic(const char *) registered[REGISTERED_LIMIT];
static _Atomic unsigned registered_count;

static const char *registered_name(const void *handle)
{
    const uintptr_t number = (uintptr_t)handle - 1;
    const char *name = number < REGISTERED_LIMIT
                           ? atomic_load_explicit(&registered[number], memory_order_acquire)
                           : NULL;
    return name && !forwarding ? name : "";
}

static const char *name_of(const struct nvtx_attributes *attributes, char *text)
{
    if (!attributes || !attributes->message)
        return "";
    if (attributes->message_type == MESSAGE_ASCII)
        return attributes->message;
    if (attributes->message_type == MESSAGE_REGISTERED)
        return registered_name(attributes->message);
    return attributes->message_type == MESSAGE_WIDE ? narrow(attributes->message, text) : "";
}

/* --- what every way ends in
 * ------------------------------------------------------------------------ */

static int push(const char *name)
{
    if (!forwarding)
        phases_push(PHASE_SOURCE_NVTX, name, 0);
    return push_depth++;
}

static int pop(void)
{
    if (push_depth == 0)
        return -1;
    if (!forwarding)
        phases_pop(PHASE_SOURCE_NVTX, 0);
    return --push_depth;
}

static uint64_t start(const char *name)
{
    const uint64_t range_id = atomic_fetch_add_explicit(&next_range_id, 1, memory_order_relaxed);
    if (!forwarding)
        phases_push(PHASE_SOURCE_NVTX, name, range_id);
    return range_id;
}

static void end(uint64_t range_id)
{
    if (!forwarding && range_id)
        phases_pop(PHASE_SOURCE_NVTX, range_id);
}

static void mark(const char *text)
{
    if (!forwarding)
        phases_mark(PHASE_SOURCE_NVTX, text);
}

/* --- callbacks of header-only NVTX
 * ------------------------------------------------------------------ */

static int on_push_ex(const struct nvtx_attributes *attributes)
{
    char text[NAME_BYTES];
    return push(name_of(attributes, text));
}

static int on_push_wide(const wchar_t *name)
{
    char text[NAME_BYTES];
    return push(narrow(name, text));
}

static uint64_t on_start_ex(const struct nvtx_attributes *attributes)
{
    char text[NAME_BYTES];
    return start(name_of(attributes, text));
}

static uint64_t on_start_wide(const wchar_t *name)
{
    char text[NAME_BYTES];
    return start(narrow(name, text));
}

static void on_mark_ex(const struct nvtx_attributes *attributes)
{
    char text[NAME_BYTES];
    mark(name_of(attributes, text));
}

static void on_mark_wide(const wchar_t *name)
{
    char text[NAME_BYTES];
    mark(narrow(name, text));
}

static int on_domain_push(void *domain, const struct nvtx_attributes *attributes)
{
    (void)domain;
    return on_push_ex(attributes);
}

static int on_domain_pop(void *domain)
{
    (void)domain;
    return pop();
}

static uint64_t on_domain_start(void *domain, const struct nvtx_attributes *attributes)
{
    (void)domain;
    return on_start_ex(attributes);
}

static void on_domain_end(void *domain, uint64_t range_id)
{
    (void)domain;
    end(range_id);
}

static void on_domain_mark(void *domain, const struct nvtx_attributes *attributes)
{
    (void)domain;
    on_mark_ex(attributes);
}

/* The handle is a number, so that name_of can tell ours from another tool's. */
static void *on_register(void *domain, const char *text)
{
    (void)domain;
    const unsigned number = atomic_fetch_add(&registered_count, 1);
    char *copy = text && number < REGISTERED_LIMIT ? strdup(text) : NULL;
    if (!copy)
        return NULL;
    atomic_store_explicit(&registered[number], copy, memory_order_release);
    return (void *)(uintptr_t)(number + 1);
}

static void *on_register_wide(void *domain, const wchar_t *wide)
{
    char text[NAME_BYTES];
    return on_register(domain, narrow(wide, text));
}

/* --- injection
 * -------------------------------------------------------------------------------------- */

#define NVTX_CALLBACK_TABLES 1

enum nvtx_module { MODULE_CORE = 1, MODULE_CORE2 = 5 };

typedef void nvtx_function(void);

struct nvtx_callback_tables {
    size_t struct_size;
    int (*get_table)(int module, nvtx_function ****table, unsigned *size);
};

struct nvtx_callback {
    enum nvtx_module module;
    unsigned number;
    nvtx_function *function;
};

/* NVTX calls each with the arguments of the function it is numbered for. */
#define CALLBACK(module, number, function)                                                         \
    {                                                                                              \
        module, number, (nvtx_function *)(uintptr_t)(function)                                     \
    }

static void fill_table(const struct nvtx_callback_tables *tables,
                       const struct nvtx_callback *callback)
{
    nvtx_function ***table = NULL;
    unsigned size = 0;
    if (tables->get_table(callback->module, &table, &size) && table && callback->number < size &&
        table[callback->number])
        *table[callback->number] = callback->function;
}

/* Preloaded libraries stand before libc in the loader's list; one that NVTX opened stands behind.
 */
static bool is_preloaded(void)
{
    const struct link_map *own = image_list_own();
    for (const struct link_map *libc = image_list_find("libc.so.6", NULL); libc;
         libc = libc->l_prev)
        if (libc == own)
            return true;
    return false;
}

GMT_EXPORT int InitializeInjectionNvtx2(const void *(*get_export_table)(uint32_t table));

int InitializeInjectionNvtx2(const void *(*get_export_table)(uint32_t table))
{
    const struct nvtx_callback callbacks[] = {
        CALLBACK(MODULE_CORE, 1, on_mark_ex),
        CALLBACK(MODULE_CORE, 2, mark),
        CALLBACK(MODULE_CORE, 3, on_mark_wide),
        CALLBACK(MODULE_CORE, 4, on_start_ex),
        CALLBACK(MODULE_CORE, 5, start),
        CALLBACK(MODULE_CORE, 6, on_start_wide),
        CALLBACK(MODULE_CORE, 7, end),
        CALLBACK(MODULE_CORE, 8, on_push_ex),
        CALLBACK(MODULE_CORE, 9, push),
        CALLBACK(MODULE_CORE, 10, on_push_wide),
        CALLBACK(MODULE_CORE, 11, pop),
        CALLBACK(MODULE_CORE2, 1, on_domain_mark),
        CALLBACK(MODULE_CORE2, 2, on_domain_start),
        CALLBACK(MODULE_CORE2, 3, on_domain_end),
        CALLBACK(MODULE_CORE2, 4, on_domain_push),
        CALLBACK(MODULE_CORE2, 5, on_domain_pop),
        CALLBACK(MODULE_CORE2, 10, on_register),
        CALLBACK(MODULE_CORE2, 11, on_register_wide),
    };
    const struct nvtx_callback_tables *tables =
        get_export_table && is_preloaded() ? get_export_table(NVTX_CALLBACK_TABLES) : NULL;
    if (!tables)
        return 0;
    for (size_t i = 0; i < sizeof callbacks / sizeof *callbacks; i++)
        fill_table(tables, &callbacks[i]);
    return 1;
}

/* The one thing that happens when the library is loaded: NVTX looks at this variable once, at its
 * first call. */
__attribute__((constructor)) static void offer_injection(void)
{
    const char *wanted = getenv("GPUMEMTRACE_NVTX");
    const struct link_map *own = image_list_own();
    if (own && is_preloaded() && !(wanted && strcmp(wanted, "0") == 0))
        setenv("NVTX_INJECTION64_PATH", own->l_name, 0);
}

/* --- libnvToolsExt
 * ---------------------------------------------------------------------------------- */

static void *tools_function(const char *name)
{
    const struct link_map *library = image_list_find_anywhere("libnvToolsExt.so");
    return library ? elf_image_symbol(library, name) : NULL;
}

/* Calls the library's own function, if there is one; what comes back through the callbacks
 * meanwhile is the same range, and the depth is counted once. */
#define CALL_REAL(name, call)                                                                      \
    do {                                                                                           \
        static _Atomic(void *) cached;                                                             \
        void *real = atomic_load_explicit(&cached, memory_order_relaxed);                          \
        const int depth = push_depth;                                                              \
        if (!real)                                                                                 \
            atomic_store_explicit(&cached, real = tools_function(name), memory_order_relaxed);     \
        if (real) {                                                                                \
            forwarding = true;                                                                     \
            call;                                                                                  \
            forwarding = false;                                                                    \
        }                                                                                          \
        push_depth = depth;                                                                        \
    } while (0)

#define FORWARD_DEPTH(name, parameters, arguments, note)                                           \
    GMT_EXPORT int name parameters;                                                                \
    int name parameters                                                                            \
    {                                                                                              \
        int result = NVTX_NO_TRACKING;                                                             \
        CALL_REAL(#name, result = GMT_FUNCTION(int(*) parameters, real) arguments);                \
        note;                                                                                      \
        return result;                                                                             \
    }

#define FORWARD_NOTHING(name, parameters, arguments, note)                                         \
    GMT_EXPORT void name parameters;                                                               \
    void name parameters                                                                           \
    {                                                                                              \
        CALL_REAL(#name, GMT_FUNCTION(void(*) parameters, real) arguments);                        \
        note;                                                                                      \
    }

/* The id is the library's own, or ours where it has none. */
#define FORWARD_START(name, parameters, arguments, name_text)                                      \
    GMT_EXPORT uint64_t name parameters;                                                           \
    uint64_t name parameters                                                                       \
    {                                                                                              \
        char text[NAME_BYTES] = "";                                                                \
        uint64_t range_id = 0;                                                                     \
        CALL_REAL(#name, range_id = GMT_FUNCTION(uint64_t(*) parameters, real) arguments);         \
        if (!range_id)                                                                             \
            range_id = atomic_fetch_add_explicit(&next_range_id, 1, memory_order_relaxed);         \
        if (!forwarding)                                                                           \
            phases_push(PHASE_SOURCE_NVTX, name_text, range_id);                                   \
        return range_id;                                                                           \
    }

typedef const struct nvtx_attributes *attributes_pointer;

/* clang-format off */
FORWARD_DEPTH(nvtxRangePushA, (const char *name), (name), push(name))
FORWARD_DEPTH(nvtxRangePushW, (const wchar_t *name), (name), on_push_wide(name))
FORWARD_DEPTH(nvtxRangePushEx, (attributes_pointer attributes), (attributes), on_push_ex(attributes))
FORWARD_DEPTH(nvtxRangePop, (void), (), pop())
FORWARD_DEPTH(nvtxDomainRangePushEx, (void *domain, attributes_pointer attributes), (domain, attributes), on_push_ex(attributes))
FORWARD_DEPTH(nvtxDomainRangePop, (void *domain), (domain), pop())
FORWARD_START(nvtxRangeStartA, (const char *name), (name), name ? name : text)
FORWARD_START(nvtxRangeStartW, (const wchar_t *name), (name), narrow(name, text))
FORWARD_START(nvtxRangeStartEx, (attributes_pointer attributes), (attributes), name_of(attributes, text))
FORWARD_START(nvtxDomainRangeStartEx, (void *domain, attributes_pointer attributes), (domain, attributes), name_of(attributes, text))
FORWARD_NOTHING(nvtxRangeEnd, (uint64_t range_id), (range_id), end(range_id))
FORWARD_NOTHING(nvtxDomainRangeEnd, (void *domain, uint64_t range_id), (domain, range_id), end(range_id))
FORWARD_NOTHING(nvtxMarkA, (const char *text), (text), mark(text))
FORWARD_NOTHING(nvtxMarkW, (const wchar_t *text), (text), on_mark_wide(text))
FORWARD_NOTHING(nvtxMarkEx, (attributes_pointer attributes), (attributes), on_mark_ex(attributes))
FORWARD_NOTHING(nvtxDomainMarkEx, (void *domain, attributes_pointer attributes), (domain, attributes), on_mark_ex(attributes))
/* clang-format on */
