/* SPDX-License-Identifier: MIT */
/* link: cuda */
/*
 * Tests how much device memory code and limits take, and when. The numbers of sections are those of
 * the CUDA Driver API.
 */
#include <elf.h>
#include <stdint.h>
#include <unistd.h>

#include "sim_device.h"

#define PROCESSORS ((size_t)108) /* of a card whose SPEC is only a size */
#define STACKS (PROCESSORS * 2048)

/* A cubin header that gives this size. */
static const void *cubin_of(size_t size_bytes)
{
    static Elf64_Ehdr header;
    memset(&header, 0, sizeof header);
    memcpy(header.e_ident, ELFMAG, SELFMAG);
    header.e_shoff = size_bytes - 64;
    header.e_shentsize = 64;
    header.e_shnum = 1;
    return &header;
}

/* 6.10 Module Management, cuModuleLoadData: a cubin, a fatbin or PTX; CUDA_ERROR_OUT_OF_MEMORY. */
PART(a_module_takes_what_its_image_takes)
{
    const struct {
        int magic, version;
        const void *data;
        void *more;
    } wrapped = {0x466243b1, 1, cubin_of(5 * MIB), NULL};
    CUmodule first, second, third = NULL;
    CUdeviceptr most;
    begin_cuda();
    const size_t before = free_bytes();
    EXPECT(cuModuleLoadData(&first, ".version 8.0"), 0);
    EXPECT(free_bytes(), before - GRANULE);
    EXPECT(cuModuleLoadFatBinary(&second, &wrapped), 0);
    EXPECT(free_bytes(), before - 4 * GRANULE);
    EXPECT(cuModuleUnload(second), 0);
    EXPECT(cuModuleUnload(second), CUDA_ERROR_INVALID_HANDLE);
    EXPECT(free_bytes(), before - GRANULE);
    EXPECT(cuMemAlloc_v2(&most, free_bytes() - 2 * GRANULE), 0);
    EXPECT(cuModuleLoadData(&third, cubin_of(5 * MIB)), CUDA_ERROR_OUT_OF_MEMORY);
    EXPECT(cuModuleLoadData(&third, NULL), CUDA_ERROR_INVALID_VALUE);
    CHECK(!third);
    EXPECT(cuModuleLoadDataEx(&third, cubin_of(4 * MIB), 0, NULL, NULL), 0);
    EXPECT(cuCtxDestroy_v2(context), 0); /* modules end with their context */
    begin_cuda();
    EXPECT(free_bytes(), before);
}

/* 6.10, cuModuleLoad: CUDA_ERROR_FILE_NOT_FOUND. */
PART(a_module_is_loaded_from_its_file)
{
    char path[] = "/tmp/sim_code_XXXXXX";
    CUmodule module = NULL;
    CUlibrary library = NULL;
    begin_cuda();
    const size_t before = free_bytes();
    const int file = mkstemp(path);
    CHECK(file >= 0);
    EXPECT(ftruncate(file, 3 * (off_t)MIB), 0);
    EXPECT(cuModuleLoad(&module, path), 0);
    EXPECT(free_bytes(), before - 2 * GRANULE);
    EXPECT(cuLibraryLoadFromFile(&library, path, NULL, NULL, 0, NULL, NULL, 0), 0);
    EXPECT(unlink(path), 0);
    EXPECT(cuModuleLoad(&module, path), CUDA_ERROR_FILE_NOT_FOUND);
    EXPECT(cuLibraryLoadFromFile(&library, path, NULL, NULL, 0, NULL, NULL, 0),
           CUDA_ERROR_FILE_NOT_FOUND);
}

static CUlibrary load_library(size_t size_bytes)
{
    CUlibrary library;
    EXPECT(cuLibraryLoadData(&library, cubin_of(size_bytes), NULL, NULL, 0, NULL, NULL, 0), 0);
    return library;
}

/* 6.12 Library Management, cuLibraryLoadData: lazily, when a function is needed in a context. */
PART(a_library_is_loaded_where_it_is_used)
{
    CUlibrary library;
    CUkernel kernel;
    CUmodule module, again;
    CUcontext other;
    begin_cuda();
    const size_t before = free_bytes();
    library = load_library(3 * MIB);
    EXPECT(cuLibraryGetKernel(&kernel, library, "any"), 0);
    EXPECT(free_bytes(), before);
    for (int i = 0; i < 2; i++)
        EXPECT(cuLaunchKernel((CUfunction)(void *)kernel, 1, 1, 1, 1, 1, 1, 0, NULL, NULL, NULL),
               0);
    EXPECT(free_bytes(), before - 2 * GRANULE);
    EXPECT(cuLibraryGetModule(&module, library), 0);
    EXPECT(cuLibraryGetModule(&again, library), 0);
    CHECK(module == again);
    EXPECT(cuModuleUnload(module), CUDA_ERROR_INVALID_HANDLE); /* the library's module */
    EXPECT(cuCtxCreate_v2(&other, 0, 0), 0);
    EXPECT(cuKernelGetFunction((CUfunction *)(void *)&again, kernel), 0);
    EXPECT(free_bytes(), before - 4 * GRANULE); /* a module in each context */
    EXPECT(cuLibraryUnload(library), 0);
    EXPECT(free_bytes(), before);
    EXPECT(cuLibraryUnload(library), CUDA_ERROR_INVALID_HANDLE);
    EXPECT(cuLaunchKernel((CUfunction)(void *)kernel, 1, 1, 1, 1, 1, 1, 0, NULL, NULL, NULL),
           CUDA_ERROR_INVALID_HANDLE);
}

/* 6.12, cuLibraryLoadData: eager loading into all existing and future contexts. */
PART(an_eager_library_is_loaded_everywhere_at_once)
{
    CUmoduleLoadingMode mode;
    CUcontext other;
    EXPECT(setenv("CUDA_MODULE_LOADING", "EAGER", 1), 0);
    begin_cuda();
    EXPECT(cuModuleGetLoadingMode(&mode), 0);
    EXPECT(mode, CU_MODULE_EAGER_LOADING);
    const size_t before = free_bytes();
    const CUlibrary library = load_library(3 * MIB);
    EXPECT(free_bytes(), before - 2 * GRANULE);
    EXPECT(cuCtxCreate_v2(&other, 0, 0), 0);
    EXPECT(free_bytes(), before - 4 * GRANULE);
    EXPECT(cuCtxDestroy_v2(other), 0);
    EXPECT(cuCtxSetCurrent(context), 0);
    EXPECT(free_bytes(), before - 2 * GRANULE);
    EXPECT(cuLibraryUnload(library), 0);
    EXPECT(free_bytes(), before);
}

static size_t limit_of(CUlimit limit)
{
    size_t value = 0;
    EXPECT(cuCtxGetLimit(&value, limit), 0);
    return value;
}

/* 6.8 Context Management, cuCtxSetLimit: stack, heap and FIFO, taken at once and given back. */
PART(limits_take_memory_beyond_their_defaults)
{
    begin_cuda();
    const size_t before = free_bytes();
    EXPECT(cuCtxSetLimit(CU_LIMIT_STACK_SIZE, limit_of(CU_LIMIT_STACK_SIZE) + 4096), 0);
    const size_t stacks = (STACKS * 4096 + GRANULE - 1) / GRANULE * GRANULE;
    EXPECT(free_bytes(), before - stacks);
    EXPECT(cuCtxSetLimit(CU_LIMIT_MALLOC_HEAP_SIZE, 64 * MIB), 0);
    EXPECT(free_bytes(), before - stacks - 56 * MIB);
    EXPECT(cuCtxSetLimit(CU_LIMIT_PRINTF_FIFO_SIZE, 9 * MIB), 0);
    EXPECT(free_bytes(), before - stacks - 64 * MIB);
    EXPECT(cuCtxSetLimit(CU_LIMIT_STACK_SIZE, 512), 0);
    EXPECT(free_bytes(), before - 64 * MIB);
    EXPECT(cuCtxDestroy_v2(context), 0);
    begin_cuda();
    EXPECT(free_bytes(), before);
}

/* 6.8, cuCtxSetLimit: CUDA_ERROR_OUT_OF_MEMORY leaves the limit unchanged;
 * CUDA_ERROR_UNSUPPORTED_LIMIT. */
PART(a_limit_without_memory_stays_as_it_was)
{
    begin_cuda();
    const size_t before = free_bytes(), value = limit_of(CU_LIMIT_MALLOC_HEAP_SIZE);
    EXPECT(cuCtxSetLimit(CU_LIMIT_MALLOC_HEAP_SIZE, 100 * GIB), CUDA_ERROR_OUT_OF_MEMORY);
    EXPECT(cuCtxSetLimit(CU_LIMIT_STACK_SIZE, SIZE_MAX), CUDA_ERROR_OUT_OF_MEMORY);
    EXPECT(limit_of(CU_LIMIT_MALLOC_HEAP_SIZE), value);
    EXPECT(free_bytes(), before);
    EXPECT(cuCtxSetLimit((CUlimit)99, 1), CUDA_ERROR_UNSUPPORTED_LIMIT);
}

SIM_MAIN()
