/* SPDX-License-Identifier: MIT */
/*
 * The entry point of an NVTX tool, which header-only NVTX 3 calls. If another tool is set, our
 * entry point calls the entry point of that tool first.
 *
 *     NVTX_INJECTION64_PATH unset         the constructor sets it to this library
 *     set by another tool                 the value stays; NVTX looks up the tool's entry point by
 *                                         dlsym and gets our entry point. The tool fills in its
 *                                         callbacks. Then we fill in our callbacks, which call the
 *                                         tool's callbacks and return their results
 */
#include <link.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <wchar.h>

#include "interpose/image/image_list.h"
#include "nvtx.h"

#define NVTX_CALLBACK_TABLES 1

enum module { MODULE_CORE = 1, MODULE_CORE2 = 5, MODULE_COUNT };

#define NUMBERS 16 /* number of callbacks in a module */

typedef void nvtx_function(void);
typedef const struct nvtx_attributes *attributes_pointer;

/* The other tool's callbacks; NULL: the tool has no such callback, or there is no other tool. */
static _Atomic(nvtx_function *) next[MODULE_COUNT][NUMBERS];

#define NEXT(module, number)                                                                       \
    atomic_load_explicit(&next[MODULE_##module][number], memory_order_relaxed)

/* --- callbacks: call the other tool's first, and return its result --- */

#define CALLBACK(type, name, module, number, parameters, arguments, none, note)                    \
    static type name parameters                                                                    \
    {                                                                                              \
        char text[NVTX_NAME_BYTES];                                                                \
        nvtx_function *const tool = NEXT(module, number);                                          \
        const type answer = tool ? ((type(*) parameters)(uintptr_t)tool)arguments : (none);        \
        const type noted = note;                                                                   \
        (void)text;                                                                                \
        return tool ? answer : noted;                                                              \
    }

#define CALLBACK_NOTHING(name, module, number, parameters, arguments, note)                        \
    static void name parameters                                                                    \
    {                                                                                              \
        char text[NVTX_NAME_BYTES];                                                                \
        nvtx_function *const tool = NEXT(module, number);                                          \
        if (tool)                                                                                  \
            ((void(*) parameters)(uintptr_t)tool) arguments;                                       \
        (void)text;                                                                                \
        note;                                                                                      \
    }

static void *registered(void *handle, const char *name)
{
    if (!handle)
        handle = nvtx_new_handle();
    nvtx_register(handle, name);
    return handle;
}

static void *new_domain(void *handle, const char *name)
{
    if (!handle)
        handle = nvtx_new_handle();
    nvtx_register_domain(handle, name);
    return handle;
}

/* clang-format off */
CALLBACK_NOTHING(on_mark_ex, CORE, 1, (attributes_pointer a), (a), nvtx_mark(nvtx_name_of(a, text)))
CALLBACK_NOTHING(on_mark, CORE, 2, (const char *name), (name), nvtx_mark(name))
CALLBACK_NOTHING(on_mark_wide, CORE, 3, (const wchar_t *name), (name), nvtx_mark(nvtx_narrow(name, text)))
CALLBACK(uint64_t, on_start_ex, CORE, 4, (attributes_pointer a), (a), 0, nvtx_start(answer, NULL, nvtx_name_of(a, text)))
CALLBACK(uint64_t, on_start, CORE, 5, (const char *name), (name), 0, nvtx_start(answer, NULL, name))
CALLBACK(uint64_t, on_start_wide, CORE, 6, (const wchar_t *name), (name), 0, nvtx_start(answer, NULL, nvtx_narrow(name, text)))
CALLBACK_NOTHING(on_end, CORE, 7, (uint64_t id), (id), nvtx_end(id))
CALLBACK(int, on_push_ex, CORE, 8, (attributes_pointer a), (a), 0, nvtx_push(NULL, nvtx_name_of(a, text)))
CALLBACK(int, on_push, CORE, 9, (const char *name), (name), 0, nvtx_push(NULL, name))
CALLBACK(int, on_push_wide, CORE, 10, (const wchar_t *name), (name), 0, nvtx_push(NULL, nvtx_narrow(name, text)))
CALLBACK(int, on_pop, CORE, 11, (void), (), 0, nvtx_pop(NULL))
CALLBACK_NOTHING(on_domain_mark, CORE2, 1, (void *domain, attributes_pointer a), (domain, a), nvtx_mark(nvtx_name_of(a, text)))
CALLBACK(uint64_t, on_domain_start, CORE2, 2, (void *domain, attributes_pointer a), (domain, a), 0, nvtx_start(answer, domain, nvtx_name_of(a, text)))
CALLBACK_NOTHING(on_domain_end, CORE2, 3, (void *domain, uint64_t id), (domain, id), nvtx_end(id))
CALLBACK(int, on_domain_push, CORE2, 4, (void *domain, attributes_pointer a), (domain, a), 0, nvtx_push(domain, nvtx_name_of(a, text)))
CALLBACK(int, on_domain_pop, CORE2, 5, (void *domain), (domain), 0, nvtx_pop(domain))
typedef void *pointer;
CALLBACK(pointer, on_register, CORE2, 10, (void *domain, const char *name), (domain, name), NULL, registered(answer, name))
CALLBACK(pointer, on_register_wide, CORE2, 11, (void *domain, const wchar_t *name), (domain, name), NULL, registered(answer, nvtx_narrow(name, text)))
CALLBACK(pointer, on_domain_create, CORE2, 12, (const char *name), (name), NULL, new_domain(answer, name))
CALLBACK(pointer, on_domain_create_wide, CORE2, 13, (const wchar_t *name), (name), NULL, new_domain(answer, nvtx_narrow(name, text)))
/* clang-format on */

#define ROW(module, number, function)                                                              \
    {                                                                                              \
        MODULE_##module, number, (nvtx_function *)(function)                                       \
    }

static const struct row {
    enum module module;
    unsigned number;
    nvtx_function *function;
} rows[] = {
    ROW(CORE, 1, on_mark_ex),
    ROW(CORE, 2, on_mark),
    ROW(CORE, 3, on_mark_wide),
    ROW(CORE, 4, on_start_ex),
    ROW(CORE, 5, on_start),
    ROW(CORE, 6, on_start_wide),
    ROW(CORE, 7, on_end),
    ROW(CORE, 8, on_push_ex),
    ROW(CORE, 9, on_push),
    ROW(CORE, 10, on_push_wide),
    ROW(CORE, 11, on_pop),
    ROW(CORE2, 1, on_domain_mark),
    ROW(CORE2, 2, on_domain_start),
    ROW(CORE2, 3, on_domain_end),
    ROW(CORE2, 4, on_domain_push),
    ROW(CORE2, 5, on_domain_pop),
    ROW(CORE2, 10, on_register),
    ROW(CORE2, 11, on_register_wide),
    ROW(CORE2, 12, on_domain_create),
    ROW(CORE2, 13, on_domain_create_wide),
};

#define ROW_COUNT (sizeof rows / sizeof *rows)

/* --- filling in the callbacks --- */

struct callback_tables {
    size_t struct_size;
    int (*get_table)(int module, nvtx_function ****table, unsigned *size);
};

typedef const void *get_export_table_function(uint32_t table);
typedef int initialize_function(get_export_table_function *get_export_table);

/* Returns the place where NVTX stores the callback of a row; NULL: this version of NVTX lacks the
 * callback. */
static nvtx_function **callback_of(const struct callback_tables *tables, const struct row *row)
{
    nvtx_function ***table = NULL;
    unsigned size = 0;
    const bool has = tables->get_table(row->module, &table, &size) && table && row->number < size;
    return has ? table[row->number] : NULL;
}

/* Preloaded libraries come before libc in the loader's list; a library that NVTX has opened comes
 * after it. */
static bool is_preloaded(void)
{
    const struct link_map *own = image_list_own();
    for (const struct link_map *libc = image_list_find("libc.so.6", NULL); libc;
         libc = libc->l_prev)
        if (libc == own)
            return true;
    return false;
}

static bool takes_nvtx(void)
{
    const char *wanted = getenv("GPUMEMTRACE_NVTX");
    return is_preloaded() && !(wanted && strcmp(wanted, "0") == 0);
}

static _Atomic(initialize_function *) other_tool;

static void read_callbacks(const struct callback_tables *tables, nvtx_function **callbacks)
{
    for (size_t i = 0; i < ROW_COUNT; i++) {
        nvtx_function **callback = callback_of(tables, &rows[i]);
        callbacks[i] = callback ? *callback : NULL;
    }
}

/* Lets the other tool fill in its callbacks, and keeps only callbacks that the tool itself has set.
 * A callback that was in the table before is a function of NVTX, which would call the callback in
 * the table, and that one will be ours. */
static int let_other_tool_fill(const struct callback_tables *tables,
                               get_export_table_function *get_export_table)
{
    nvtx_function *before[ROW_COUNT] = {NULL};
    initialize_function *initialize = atomic_load(&other_tool);
    if (!initialize)
        return 0;
    read_callbacks(tables, before);
    const int result = initialize(get_export_table);
    for (size_t i = 0; i < ROW_COUNT; i++) {
        nvtx_function **callback = callback_of(tables, &rows[i]);
        if (result && callback && *callback != before[i])
            atomic_store(&next[rows[i].module][rows[i].number], *callback);
    }
    return result;
}

GMT_EXPORT initialize_function InitializeInjectionNvtx2;

int InitializeInjectionNvtx2(get_export_table_function *get_export_table)
{
    const struct callback_tables *tables =
        get_export_table && takes_nvtx() ? get_export_table(NVTX_CALLBACK_TABLES) : NULL;
    if (!tables)
        return 0;
    let_other_tool_fill(tables, get_export_table);
    for (size_t i = 0; i < ROW_COUNT; i++) {
        nvtx_function **callback = callback_of(tables, &rows[i]);
        if (callback)
            *callback = rows[i].function;
    }
    return 1;
}

void *nvtx_stand_before(void *initialize)
{
    if (initialize == __extension__(void *) InitializeInjectionNvtx2 || !takes_nvtx())
        return initialize;
    atomic_store(&other_tool, GMT_FUNCTION(initialize_function *, initialize));
    return __extension__(void *) InitializeInjectionNvtx2;
}

/* This is a constructor, because NVTX reads this variable only once, at its first call. */
__attribute__((constructor)) static void offer_injection(void)
{
    const struct link_map *own = image_list_own();
    if (own && takes_nvtx())
        setenv("NVTX_INJECTION64_PATH", own->l_name, 0);
}
