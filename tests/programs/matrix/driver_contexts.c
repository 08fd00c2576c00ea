/* SPDX-License-Identifier: MIT */
/* Families of the driver: contexts, the memory that ends with a context, limits, modules and
   libraries. */
#include "matrix.h"

#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

/* Allocates memory that ends with the context. The call before this one created the context. */
static void fill(CUcontext context)
{
    CUdeviceptr address = 0;
    void *pinned = NULL;
    book_event(EVENT_CONTEXT_CREATE, MEMORY_NONE, UNSAID, UNSAID, bits(context));
    DRIVER(cuMemAlloc_v2, (&address, 7 * MIB));
    book_alloc_of(MEMORY_LINEAR, address, 7 * MIB, bits(context));
    DRIVER(cuMemHostAlloc, (&pinned, 8 * MIB, 0));
    book_alloc_of(MEMORY_PINNED, bits(pinned), 8 * MIB, bits(context));
}

static void booked_end(uint64_t context)
{
    book_event(EVENT_CONTEXT_DESTROY, MEMORY_NONE, UNSAID, UNSAID, context);
    book_implicit(MEMORY_LINEAR, 7 * MIB);
    book_implicit(MEMORY_PINNED, 8 * MIB);
}

static void fill_and_destroy(CUcontext context)
{
    fill(context);
    DRIVER(cuCtxDestroy_v2, (context));
    booked_end(bits(context));
    DRIVER(cuCtxSetCurrent, (primary));
}

void driver_context(void)
{
    CUcontext context = NULL;
    DRIVER(cuCtxCreate_v4, (&context, NULL, 0, 0));
    fill_and_destroy(context);
}

void driver_context_v3(void)
{
    CUcontext context = NULL;
    DRIVER(cuCtxCreate_v3, (&context, NULL, 0, 0, 0));
    fill_and_destroy(context);
}

void driver_context_v2(void)
{
    CUcontext context = NULL;
    DRIVER(cuCtxCreate_v2, (&context, 0, 0));
    fill_and_destroy(context);
}

void driver_context_v1(void)
{
    CUcontext context = NULL;
    DRIVER(cuCtxCreate, (&context, 0, 0));
    fill(context);
    DRIVER(cuCtxDestroy, (context));
    booked_end(bits(context));
    DRIVER(cuCtxSetCurrent, (primary));
}

/* A context that counts its attachments ends with the last detach. */
void driver_context_attached(void)
{
    CUcontext context = NULL, same = NULL;
    DRIVER(cuCtxCreate_v2, (&context, 0, 0));
    fill(context);
    DRIVER(cuCtxAttach, (&same, 0));
    DRIVER(cuCtxDetach, (context));
    DRIVER(cuCtxDetach, (context));
    booked_end(bits(context));
    DRIVER(cuCtxSetCurrent, (primary));
}

void driver_limits(void)
{
    CUcontext current = NULL;
    size_t stack_bytes = 0, heap_bytes = 0;
    DRIVER(cuCtxGetCurrent, (&current));
    DRIVER(cuCtxGetLimit, (&stack_bytes, CU_LIMIT_STACK_SIZE));
    DRIVER(cuCtxGetLimit, (&heap_bytes, CU_LIMIT_MALLOC_HEAP_SIZE));
    DRIVER(cuCtxSetLimit, (CU_LIMIT_STACK_SIZE, 2 * stack_bytes));
    book_event(EVENT_LIMIT, MEMORY_LIMIT, CU_LIMIT_STACK_SIZE, 2 * stack_bytes, bits(current));
    DRIVER(cuCtxSetLimit, (CU_LIMIT_MALLOC_HEAP_SIZE, 2 * heap_bytes));
    book_event(EVENT_LIMIT, MEMORY_LIMIT, CU_LIMIT_MALLOC_HEAP_SIZE, 2 * heap_bytes, bits(current));
}

/* --- code --- */

/* Writes the text to a file that lives as long as the process, and returns its path. */
static const char *file_of(const char *text)
{
    static char path[40];
    const int descriptor = memfd_create("matrix", MFD_CLOEXEC);
    const size_t bytes = strlen(text);
    snprintf(path, sizeof path, "/proc/self/fd/%d", descriptor);
    family_needs(descriptor >= 0 && write(descriptor, text, bytes) == (ssize_t)bytes,
                 "no file can be written");
    return path;
}

static const char code[] = ".version 6.4\n.target sm_70\n.address_size 64\n"
                           ".visible .entry nothing()\n{\n ret;\n}\n";

static void booked_module(CUmodule module)
{
    book_event(EVENT_MODULE_LOAD, MEMORY_MODULE, UNSAID, UNSAID, bits(module));
    DRIVER(cuModuleUnload, (module));
    book_event(EVENT_MODULE_UNLOAD, MEMORY_MODULE, UNSAID, UNSAID, bits(module));
}

void driver_modules(void)
{
    CUmodule module = NULL;
    DRIVER(cuModuleLoadData, (&module, code));
    booked_module(module);
    DRIVER(cuModuleLoadDataEx, (&module, code, 0, NULL, NULL));
    booked_module(module);
    DRIVER(cuModuleLoad, (&module, file_of(code)));
    booked_module(module);
}

void driver_module_fat(void)
{
    CUmodule module = NULL;
    DRIVER(cuModuleLoadFatBinary, (&module, code));
    booked_module(module);
}

static void booked_library(CUlibrary library)
{
    book_event(EVENT_MODULE_LOAD, MEMORY_MODULE, UNSAID, UNSAID, bits(library));
    DRIVER(cuLibraryUnload, (library));
    book_event(EVENT_MODULE_UNLOAD, MEMORY_MODULE, UNSAID, UNSAID, bits(library));
}

void driver_libraries(void)
{
    CUlibrary library = NULL;
    DRIVER(cuLibraryLoadData, (&library, code, NULL, NULL, 0, NULL, NULL, 0));
    booked_library(library);
    DRIVER(cuLibraryLoadFromFile, (&library, file_of(code), NULL, NULL, 0, NULL, NULL, 0));
    booked_library(library);
}

/* --- the primary context: whatever is left in it goes too --- */

static void begin_again(void)
{
    unsigned flags;
    int active = 0;
    DRIVER(cuDevicePrimaryCtxGetState, (0, &flags, &active));
    family_needs(!active, "another part of the process holds the primary context");
    DRIVER(cuDevicePrimaryCtxRetain, (&primary, 0));
    book_event(EVENT_CONTEXT_CREATE, MEMORY_NONE, UNSAID, UNSAID, bits(primary));
    DRIVER(cuCtxSetCurrent, (primary));
}

static void fill_primary(void)
{
    CUdeviceptr address = 0;
    DRIVER(cuMemAlloc_v2, (&address, 5 * MIB));
    book_alloc(MEMORY_LINEAR, address, 5 * MIB);
}

static void booked_primary_end(void)
{
    book_event(EVENT_CONTEXT_DESTROY, MEMORY_NONE, UNSAID, UNSAID, UNSAID);
    book_all_implicit();
}

/* A second retain and its release are no events. The last release and a new retain are events. */
void driver_primary_released(void)
{
    CUcontext same = NULL;
    fill_primary();
    DRIVER(cuDevicePrimaryCtxRetain, (&same, 0));
    DRIVER(cuDevicePrimaryCtxRelease_v2, (0));
    DRIVER(cuDevicePrimaryCtxRelease_v2, (0));
    booked_primary_end();
    begin_again();
}

void driver_primary_released_v1(void)
{
    NEEDS_DRIVER(cuDevicePrimaryCtxRelease);
    fill_primary();
    DRIVER(cuDevicePrimaryCtxRelease, (0));
    booked_primary_end();
    begin_again();
}

void driver_primary_reset(void)
{
    fill_primary();
    DRIVER(cuDevicePrimaryCtxReset_v2, (0));
    booked_primary_end();
    begin_again();
}

void driver_primary_reset_v1(void)
{
    NEEDS_DRIVER(cuDevicePrimaryCtxReset);
    fill_primary();
    DRIVER(cuDevicePrimaryCtxReset, (0));
    booked_primary_end();
    begin_again();
}
