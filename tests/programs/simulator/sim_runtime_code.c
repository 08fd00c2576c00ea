/* SPDX-License-Identifier: MIT */
/* link: cudart13 */
/*
 * Tests the simulated runtime with code in the program, which is registered as nvcc's code
 * registers it. The argument names a case. Exits 0, or prints a line with the failed check. The
 * numbers of sections are those of the CUDA Runtime API; "Lazy Loading" is a section of the CUDA
 * Programming Guide.
 */
#include <elf.h>

#include "sim_runtime.h"

/* Called by nvcc's code; no header declares these functions. */
void **__cudaRegisterFatBinary(void *wrapped);
void __cudaRegisterFatBinaryEnd(void **handle);
void __cudaUnregisterFatBinary(void **handle);
void __cudaRegisterFunction(void **handle, const char *host_function, char *device_function,
                            const char *device_name, int thread_limit, void *thread, void *block,
                            dim3 *block_shape, dim3 *grid_shape, int *size);

struct wrapper {
    int magic, version;
    const void *data;
    void *more;
};

static Elf64_Ehdr cubin; /* an ELF header that gives a size of 3 MiB */
static struct wrapper wrapped = {0x466243b1, 1, &cubin, NULL};
static char kernel; /* its address is the kernel's host function */

static void **enroll(void)
{
    memcpy(cubin.e_ident, ELFMAG, SELFMAG);
    cubin.e_shoff = 3 * MIB;
    void **handle = __cudaRegisterFatBinary(&wrapped);
    __cudaRegisterFunction(handle, &kernel, &kernel, "kernel", -1, NULL, NULL, NULL, NULL, NULL);
    __cudaRegisterFatBinaryEnd(handle);
    return handle;
}

/* Lazy Loading: code is loaded by the first launch. */
CASE(code_takes_memory_when_it_is_first_launched)
{
    const dim3 one = {1, 1, 1}, none = {0, 1, 1};
    void **handle = enroll();
    const size_t before_bytes = free_bytes_now();
    GIVES(cudaLaunchKernel(&kernel, none, one, NULL, 0, 0), cudaErrorInvalidConfiguration);
    CHECK(free_bytes_now() == before_bytes);
    for (int i = 0; i < 2; i++)
        SUCCEEDS(cudaLaunchKernel(&kernel, one, one, NULL, 0, 0));
    CHECK(before_bytes - free_bytes_now() == 4 * MIB);
    SUCCEEDS(cudaDeviceReset());
    const size_t anew_bytes = free_bytes_now();
    SUCCEEDS(cudaLaunchKernel(&kernel, one, one, NULL, 0, 0)); /* into the new context */
    CHECK(anew_bytes == before_bytes && anew_bytes - free_bytes_now() == 4 * MIB);
    __cudaUnregisterFatBinary(handle);
    CHECK(free_bytes_now() == before_bytes);
    SUCCEEDS(cudaLaunchKernel(&kernel, one, one, NULL, 0, 0)); /* an unregistered kernel */
}

/* Lazy Loading, CUDA_MODULE_LOADING=EAGER: loaded by the first call that has a context. */
CASE(eager_code_is_loaded_by_the_first_call)
{
    CHECK(setenv("CUDA_MODULE_LOADING", "EAGER", 1) == 0);
    const size_t before_bytes = free_bytes_now();
    enroll();
    SUCCEEDS(cudaSetDevice(0));
    CHECK(before_bytes - free_bytes_now() == 4 * MIB);
    enroll(); /* as a library that is opened later does */
    CHECK(before_bytes - free_bytes_now() == 8 * MIB);
}

/* 6.7 Execution Control, cudaFuncGetAttributes: returns the version of the PTX or binary code
   that a device of capability 8.0 would run. CUB runs no other version. */
CASE(a_kernel_says_what_it_was_built_for)
{
    static struct {
        uint32_t magic;
        uint16_t version, header_bytes;
        uint64_t pieces_bytes;
        struct {
            uint16_t kind, version;
            uint32_t header_bytes;
            uint64_t body_bytes;
            uint32_t other[3], architecture, more[8];
        } pieces[3];
    } fat = {
        0xba55ed50,
        1,
        16,
        3 * 64,
        {{2, 0, 64, 0, {0}, 75, {0}}, {1, 0, 64, 0, {0}, 75, {0}}, {1, 0, 64, 0, {0}, 90, {0}}}};
    static const struct {
        uint32_t built[3];
        int taken;
    } cases[] = {{{75, 75, 90}, 75}, {{80, 75, 90}, 80}, {{86, 70, 80}, 80}, {{75, 86, 90}, 75}};
    static struct wrapper fat_wrapped = {0x466243b1, 1, &fat, NULL};
    struct cudaFuncAttributes attributes;
    void **handle = __cudaRegisterFatBinary(&fat_wrapped);
    __cudaRegisterFunction(handle, &kernel, &kernel, "kernel", -1, NULL, NULL, NULL, NULL, NULL);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        for (int piece = 0; piece < 3; piece++)
            fat.pieces[piece].architecture = cases[i].built[piece];
        SUCCEEDS(cudaFuncGetAttributes(&attributes, &kernel));
        CHECK(attributes.ptxVersion == cases[i].taken);
    }
    __cudaUnregisterFatBinary(handle);
    SUCCEEDS(cudaFuncGetAttributes(&attributes, &kernel));
    CHECK(attributes.ptxVersion == 80);
}

/* 6.4 Stream Management, cudaStreamBeginCapture; 6.30 Graph Management, cudaGraphAddKernelNode. */
CASE(a_captured_launch_is_a_kernel_node)
{
    const dim3 one = {1, 1, 1};
    struct cudaKernelNodeParams parameters = {.func = &kernel, .gridDim = one, .blockDim = one};
    enum cudaGraphNodeType type;
    cudaGraphNode_t nodes[3];
    cudaStream_t stream;
    cudaGraph_t graph;
    size_t count = 3;
    enroll();
    SUCCEEDS(cudaStreamCreate(&stream));
    SUCCEEDS(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal));
    SUCCEEDS(cudaLaunchKernel(&kernel, one, one, NULL, 0, stream));
    SUCCEEDS(cudaLaunchKernel(&one, one, one, NULL, 0, stream)); /* not registered */
    SUCCEEDS(cudaStreamEndCapture(stream, &graph));
    SUCCEEDS(cudaGraphAddKernelNode(&nodes[0], graph, NULL, 0, &parameters));
    SUCCEEDS(cudaGraphGetNodes(graph, nodes, &count));
    CHECK(count == 3);
    SUCCEEDS(cudaGraphNodeGetType(nodes[0], &type));
    CHECK(type == cudaGraphNodeTypeKernel);
    SUCCEEDS(cudaGraphNodeGetType(nodes[1], &type));
    CHECK(type == cudaGraphNodeTypeEmpty);
    SUCCEEDS(cudaGraphNodeGetType(nodes[2], &type));
    CHECK(type == cudaGraphNodeTypeKernel);
}

/* 6.32 Library Management. */
CASE(a_library_is_loaded_and_unloaded)
{
    cudaLibrary_t library;
    cudaKernel_t found;
    void *variable;
    const size_t before_bytes = free_bytes_now();
    GIVES(cudaLibraryLoadData(&library, NULL, NULL, NULL, 0, NULL, NULL, 0), cudaErrorInvalidValue);
    SUCCEEDS(cudaLibraryLoadData(&library, "ptx", NULL, NULL, 0, NULL, NULL, 0));
    SUCCEEDS(cudaLibraryGetKernel(&found, library, "kernel"));
    GIVES(cudaLibraryGetGlobal(&variable, NULL, library, "variable"), cudaErrorSymbolNotFound);
    SUCCEEDS(cudaLibraryUnload(library));
    GIVES(cudaLibraryUnload(library), cudaErrorInvalidResourceHandle);
    GIVES(cudaLibraryLoadFromFile(&library, "/nowhere", NULL, NULL, 0, NULL, NULL, 0),
          cudaErrorFileNotFound);
    CHECK(free_bytes_now() == before_bytes);
}

/* 6.1 Device Management, cudaDeviceSetLimit, cudaDeviceGetLimit, cudaInitDevice. */
CASE(limits_take_memory_of_the_device)
{
    size_t value = 0;
    SUCCEEDS(cudaInitDevice(0, 0, 0));
    const size_t before_bytes = free_bytes_now();
    SUCCEEDS(cudaDeviceSetLimit(cudaLimitMallocHeapSize, 32 * MIB));
    CHECK(before_bytes - free_bytes_now() == 24 * MIB); /* 8 MiB are the default */
    SUCCEEDS(cudaDeviceGetLimit(&value, cudaLimitMallocHeapSize));
    CHECK(value == 32 * MIB);
    GIVES(cudaDeviceSetLimit(cudaLimitStackSize, SIZE_MAX), cudaErrorMemoryAllocation);
    GIVES(cudaDeviceSetLimit((enum cudaLimit)99, 1), cudaErrorUnsupportedLimit);
}

/* 6.32, cudaLibraryLoadData, and 6.10 Memory Management: the call that loads the code returns
   the error. */
CASE(code_that_does_not_load_fails_the_call_and_is_tried_again)
{
    void *block;
    enroll();
    GIVES(cudaMalloc(&block, MIB), cudaErrorMemoryAllocation); /* the injected failure */
    SUCCEEDS(cudaMalloc(&block, MIB));
}

SIM_MAIN()
