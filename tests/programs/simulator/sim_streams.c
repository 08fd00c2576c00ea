/* SPDX-License-Identifier: MIT */
/* link: cuda */
/*
 * Tests streams, events, code and launches of the simulated driver.
 */
#include "sim_device.h"

PART(a_stream_is_known_until_it_is_destroyed)
{
    CUstream stream;
    CUcontext owner;
    unsigned flags = 7;
    int priority = 7, least, greatest;
    unsigned long long id = 0, other = 0;
    begin_cuda();
    EXPECT(cuCtxGetStreamPriorityRange(&least, &greatest), 0);
    CHECK(greatest < least);
    EXPECT(cuStreamCreateWithPriority(&stream, CU_STREAM_NON_BLOCKING, greatest - 10), 0);
    EXPECT(cuStreamGetFlags(stream, &flags), 0);
    EXPECT(flags, CU_STREAM_NON_BLOCKING);
    EXPECT(cuStreamGetPriority(stream, &priority), 0);
    EXPECT((unsigned)priority, (unsigned)greatest);
    EXPECT(cuStreamGetCtx(stream, &owner), 0);
    CHECK(owner == context);
    EXPECT(cuStreamGetId(stream, &id), 0);
    EXPECT(cuStreamGetId(NULL, &other), 0);
    CHECK(id != other);
    EXPECT(cuStreamQuery(stream), 0);
    EXPECT(cuEventQuery((CUevent)stream), CUDA_ERROR_INVALID_HANDLE); /* a handle of another kind */
    EXPECT(cuStreamDestroy_v2(stream), 0);
    EXPECT(cuStreamQuery(stream), CUDA_ERROR_INVALID_HANDLE);
    EXPECT(cuStreamDestroy_v2(stream), CUDA_ERROR_INVALID_HANDLE);
    EXPECT(cuStreamDestroy_v2(NULL), CUDA_ERROR_INVALID_HANDLE);
    EXPECT(cuStreamCreate(&stream, 8), CUDA_ERROR_INVALID_VALUE);
}

PART(no_stream_is_capturing)
{
    CUstreamCaptureStatus status = CU_STREAM_CAPTURE_STATUS_ACTIVE;
    CUstreamCaptureMode mode = CU_STREAM_CAPTURE_MODE_RELAXED;
    begin_cuda();
    EXPECT(cuStreamIsCapturing(NULL, &status), 0);
    EXPECT(status, CU_STREAM_CAPTURE_STATUS_NONE);
    EXPECT(cuThreadExchangeStreamCaptureMode(&mode), 0);
    EXPECT(mode, CU_STREAM_CAPTURE_MODE_GLOBAL);
    EXPECT(cuThreadExchangeStreamCaptureMode(&mode), 0);
    EXPECT(mode, CU_STREAM_CAPTURE_MODE_RELAXED);
}

/* The same work takes the same simulated time in every run. */
PART(events_measure_the_work_between_them)
{
    static char host[1 << 20];
    CUevent start, end, untimed;
    CUdeviceptr device;
    float once = -1, twice = -1, back = -1;
    begin_cuda();
    EXPECT(cuMemAlloc_v2(&device, sizeof host), 0);
    EXPECT(cuEventCreate(&start, CU_EVENT_DEFAULT), 0);
    EXPECT(cuEventCreate(&end, CU_EVENT_DEFAULT), 0);
    EXPECT(cuEventElapsedTime(&once, start, end), CUDA_ERROR_INVALID_HANDLE);
    EXPECT(cuEventRecord(start, NULL), 0);
    EXPECT(cuMemcpyHtoD_v2(device, host, sizeof host), 0);
    EXPECT(cuEventRecord(end, NULL), 0);
    EXPECT(cuEventElapsedTime(&once, start, end), 0);
    CHECK(once > 0);
    EXPECT(cuEventElapsedTime(&back, end, start), 0);
    CHECK(back == -once);
    EXPECT(cuEventRecord(start, NULL), 0);
    EXPECT(cuMemcpyHtoD_v2(device, host, sizeof host), 0);
    EXPECT(cuMemcpyHtoD_v2(device, host, sizeof host), 0);
    EXPECT(cuEventRecord(end, NULL), 0);
    EXPECT(cuEventElapsedTime(&twice, start, end), 0);
    CHECK(twice > 1.9f * once - 0.01f && twice < 2 * once);
    EXPECT(cuEventQuery(end), 0);
    EXPECT(cuEventSynchronize(end), 0);
    EXPECT(cuStreamWaitEvent(NULL, end, 0), 0);
    EXPECT(cuEventCreate(&untimed, CU_EVENT_DISABLE_TIMING), 0);
    EXPECT(cuEventRecord(untimed, NULL), 0);
    EXPECT(cuEventElapsedTime(&once, untimed, end), CUDA_ERROR_INVALID_HANDLE);
    EXPECT(cuEventDestroy_v2(end), 0);
    EXPECT(cuEventRecord(end, NULL), CUDA_ERROR_INVALID_HANDLE);
    EXPECT(cuStreamWaitEvent(NULL, end, 0), CUDA_ERROR_INVALID_HANDLE);
}

static void note(void *place)
{
    CUcontext current;
    CUdeviceptr address;
    EXPECT(cuCtxGetCurrent(&current), 0);
    EXPECT(cuMemAlloc_v2(&address, 4096), CUDA_ERROR_NOT_PERMITTED);
    *(int *)place += 1;
}

static void CUDAAPI note_stream(CUstream stream, CUresult status, void *place)
{
    CHECK(!stream);
    EXPECT(status, 0);
    EXPECT(cuMemFreeHost(place), CUDA_ERROR_NOT_PERMITTED);
    *(int *)place += 10;
}

PART(host_functions_run_in_their_turn)
{
    int count = 0;
    begin_cuda();
    EXPECT(cuLaunchHostFunc(NULL, note, &count), 0);
    EXPECT(count, 1);
    EXPECT(cuStreamAddCallback(NULL, note_stream, &count, 0), 0);
    EXPECT(count, 11);
    EXPECT(cuLaunchHostFunc((CUstream)&count, note, &count), CUDA_ERROR_INVALID_HANDLE);
    EXPECT(count, 11);
    EXPECT(cuStreamSynchronize(NULL), 0);
}

PART(launches_of_known_kernels_do_nothing)
{
    CUmodule module, told;
    CUfunction function;
    CUdeviceptr address;
    size_t size;
    int value = 0;
    begin_cuda();
    EXPECT(cuModuleLoadData(&module, "code"), 0);
    EXPECT(cuModuleGetFunction(&function, module, "kernel"), 0);
    EXPECT(cuFuncGetAttribute(&value, CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK, function), 0);
    EXPECT(value, 1024);
    EXPECT(cuFuncGetModule(&told, function), 0);
    CHECK(told == module);
    EXPECT(cuLaunchKernel(function, 1, 1, 1, 32, 1, 1, 0, NULL, NULL, NULL), 0);
    EXPECT(cuLaunchKernel(function, 1, 0, 1, 32, 1, 1, 0, NULL, NULL, NULL),
           CUDA_ERROR_INVALID_VALUE);
    EXPECT(cuLaunchKernel((CUfunction)&value, 1, 1, 1, 32, 1, 1, 0, NULL, NULL, NULL),
           CUDA_ERROR_INVALID_HANDLE);
    EXPECT(cuModuleGetGlobal_v2(&address, &size, module, "variable"), CUDA_ERROR_NOT_FOUND);
    EXPECT(cuModuleUnload(module), 0);
    EXPECT(cuModuleUnload(module), CUDA_ERROR_INVALID_HANDLE);
    EXPECT(cuModuleGetFunction(&function, module, "kernel"), CUDA_ERROR_INVALID_HANDLE);
}

PART(a_library_s_kernel_is_a_function_too)
{
    CUlibrary library;
    CUkernel kernel;
    CUfunction function;
    int value = 0;
    begin_cuda();
    EXPECT(cuLibraryLoadData(&library, "code", NULL, NULL, 0, NULL, NULL, 0), 0);
    EXPECT(cuLibraryGetKernel(&kernel, library, "kernel"), 0);
    EXPECT(cuKernelGetAttribute(&value, CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK, kernel, 0), 0);
    EXPECT(value, 1024);
    EXPECT(cuKernelGetAttribute(&value, CU_FUNC_ATTRIBUTE_NUM_REGS, kernel, 64),
           CUDA_ERROR_INVALID_DEVICE);
    EXPECT(cuKernelGetFunction(&function, kernel), 0);
    EXPECT(cuLaunchKernel_ptsz(function, 1, 1, 1, 32, 1, 1, 0, NULL, NULL, NULL), 0);
    EXPECT(cuLibraryUnload(library), 0);
    EXPECT(cuLibraryGetKernel(&kernel, library, "kernel"), CUDA_ERROR_INVALID_HANDLE);
}

SIM_MAIN()
