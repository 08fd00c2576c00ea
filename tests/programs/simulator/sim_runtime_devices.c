/* SPDX-License-Identifier: MIT */
/* link: cudart13 */
/*
 * Tests devices, errors, streams and driver entry points of the simulated runtime. The argument
 * names a case. Exits 0, or prints a line with the failed check. test_simulated_runtime.py lists
 * the cases that need two devices, an injected failure or no driver.
 */
#include <dlfcn.h>

#include "sim_runtime.h"

static int version(void)
{
    int number;
    SUCCEEDS(cudaRuntimeGetVersion(&number));
    return number;
}

static void *driver_function(const char *name)
{
    enum cudaDriverEntryPointQueryResult status;
    void *function = NULL;
    SUCCEEDS(cudaGetDriverEntryPoint(name, &function, cudaEnableDefault, &status));
    GIVES(status, cudaDriverEntryPointSuccess);
    CHECK(function != NULL);
    return function;
}

typedef CUresult get_state(CUdevice device, unsigned int *flags, int *active);
typedef CUresult create_context(CUcontext *context, unsigned int flags, CUdevice device);
typedef CUresult set_current(CUcontext context);

static bool is_context_there(int device)
{
    get_state *get = GMT_FUNCTION(get_state *, driver_function("cuDevicePrimaryCtxGetState"));
    unsigned int flags;
    int active;
    GIVES(get(device, &flags, &active), CUDA_SUCCESS);
    return active;
}

/* --- contexts and devices --- */

CASE(asking_about_devices_makes_no_context)
{
    struct cudaDeviceProp properties[2]; /* large enough for any layout */
    int count, device, value;
    SUCCEEDS(cudaGetDeviceCount(&count));
    SUCCEEDS(cudaGetDevice(&device));
    SUCCEEDS(cudaDeviceGetAttribute(&value, cudaDevAttrWarpSize, 0));
    SUCCEEDS(cudaGetDeviceProperties(properties, 0));
    SUCCEEDS(cudaGetLastError());
    CHECK(!is_context_there(0));
    SUCCEEDS(cudaFree(NULL));
    CHECK(is_context_there(0));
}

static void *touch(void *go)
{
    pthread_barrier_wait(go);
    SUCCEEDS(cudaFree(NULL));
    return NULL;
}

CASE(threads_that_come_first_together_make_one_context)
{
    enum { THREADS = 8 };
    pthread_t threads[THREADS];
    pthread_barrier_t go;
    pthread_barrier_init(&go, NULL, THREADS);
    for (int i = 0; i < THREADS; i++)
        CHECK(pthread_create(&threads[i], NULL, touch, &go) == 0);
    for (int i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
    SUCCEEDS(cudaDeviceReset());
    CHECK(!is_context_there(0));
}

static void *look_at_device(void *result)
{
    SUCCEEDS(cudaGetDevice(result));
    return NULL;
}

CASE(each_thread_has_its_own_device)
{
    pthread_t other;
    int device;
    SUCCEEDS(cudaSetDevice(1));
    CHECK(is_context_there(1) && !is_context_there(0));
    CHECK(pthread_create(&other, NULL, look_at_device, &device) == 0);
    pthread_join(other, NULL);
    CHECK(device == 0);
    SUCCEEDS(cudaGetDevice(&device));
    CHECK(device == 1);
}

CASE(a_device_that_is_none_changes_nothing)
{
    int device, value;
    GIVES(cudaSetDevice(2), cudaErrorInvalidDevice);
    GIVES(cudaSetDevice(-1), cudaErrorInvalidDevice);
    GIVES(cudaDeviceGetAttribute(&value, cudaDevAttrWarpSize, 2), cudaErrorInvalidDevice);
    SUCCEEDS(cudaGetDevice(&device));
    CHECK(device == 0);
}

/* CUDA Runtime API, 6.1 Device Management, cudaDeviceReset. */
CASE(a_reset_takes_all_and_the_next_call_begins_anew)
{
    const size_t before_bytes = free_bytes_now();
    int device;
    void *block;
    SUCCEEDS(cudaSetDevice(1));
    SUCCEEDS(cudaMalloc(&block, 4 * MIB));
    SUCCEEDS(cudaDeviceReset());
    CHECK(!is_context_there(1));
    CHECK(is_context_there(0));
    SUCCEEDS(cudaGetDevice(&device));
    CHECK(device == 1);
    GIVES(cudaFree(block), cudaErrorInvalidValue);
    CHECK(free_bytes_now() == before_bytes);
}

static void *use_after_reset(void *barrier)
{
    void *block;
    SUCCEEDS(cudaMalloc(&block, MIB));
    pthread_barrier_wait(barrier);
    pthread_barrier_wait(barrier);
    SUCCEEDS(cudaMalloc(&block, MIB));
    SUCCEEDS(cudaFree(block));
    return NULL;
}

CASE(a_thread_outlives_the_reset_of_another)
{
    pthread_barrier_t barrier;
    pthread_t other;
    pthread_barrier_init(&barrier, NULL, 2);
    CHECK(pthread_create(&other, NULL, use_after_reset, &barrier) == 0);
    pthread_barrier_wait(&barrier);
    SUCCEEDS(cudaDeviceReset());
    pthread_barrier_wait(&barrier);
    pthread_join(other, NULL);
}

CASE(a_context_of_the_drivers_is_respected)
{
    enum cudaDriverEntryPointQueryResult status;
    void *function;
    CUcontext context;
    int device;
    size_t before_bytes;
    SUCCEEDS(cudaGetDriverEntryPointByVersion("cuCtxCreate", &function, 3020, 0, &status));
    GIVES(GMT_FUNCTION(create_context *, function)(&context, 0, 1), CUDA_SUCCESS);
    SUCCEEDS(cudaGetDevice(&device));
    CHECK(device == 1);
    before_bytes = free_bytes_now();
    SUCCEEDS(cudaMalloc(&function, 2 * MIB));
    SUCCEEDS(cudaDeviceReset());
    CHECK(before_bytes - free_bytes_now() == 2 * MIB);
    CHECK(!is_context_there(0) && !is_context_there(1));
    GIVES(GMT_FUNCTION(set_current *, driver_function("cuCtxSetCurrent"))(NULL), CUDA_SUCCESS);
    SUCCEEDS(cudaGetDevice(&device));
    CHECK(device == 0);
}

/* Has the offsets of members in the headers of CUDA 11.8, 12.8 and 13.0. */
struct layout {
    size_t size_bytes, total, major, multiprocessors, managed, reserved_shared;
};

static void check_layout(const unsigned char *properties, const struct layout *layout)
{
    int attribute, member;
    SUCCEEDS(cudaDeviceGetAttribute(&attribute, cudaDevAttrMultiProcessorCount, 0));
    memcpy(&member, properties + layout->multiprocessors, sizeof member);
    CHECK(member == attribute && member > 0);
    SUCCEEDS(cudaDeviceGetAttribute(&attribute, cudaDevAttrComputeCapabilityMajor, 0));
    memcpy(&member, properties + layout->major, sizeof member);
    CHECK(member == attribute && member > 0);
    SUCCEEDS(cudaDeviceGetAttribute(&attribute, cudaDevAttrManagedMemory, 0));
    memcpy(&member, properties + layout->managed, sizeof member);
    CHECK(member == attribute && member == 1);
    SUCCEEDS(cudaDeviceGetAttribute(&attribute, cudaDevAttrReservedSharedMemoryPerBlock, 0));
    memcpy(&member, properties + layout->reserved_shared, sizeof member);
    CHECK(member == attribute);
    for (size_t i = layout->size_bytes; i < layout->size_bytes + 64; i++)
        CHECK(properties[i] == 0xa5);
}

CASE(properties_have_the_layout_of_the_version)
{
    static const struct layout of_11 = {728, 288, 360, 388, 652, 720};
    static const struct layout of_13 = {1008, 288, 360, 384, 636, 696};
    const struct layout *layout = version() < 13000 ? &of_11 : &of_13;
    _Alignas(16) unsigned char properties[2048];
    size_t total_bytes, member;
    memset(properties, 0xa5, sizeof properties);
    SUCCEEDS(cudaGetDeviceProperties((struct cudaDeviceProp *)properties, 0));
    CHECK(strncmp((const char *)properties, "Simulated", 9) == 0);
    check_layout(properties, layout);
    SUCCEEDS(cudaMemGetInfo(&member, &total_bytes));
    memcpy(&member, properties + layout->total, sizeof member);
    CHECK(member == total_bytes);
    GIVES(cudaGetDeviceProperties((struct cudaDeviceProp *)properties, 1), cudaErrorInvalidDevice);
}

/* This form exists only in CUDA 12. */
CASE(the_second_form_of_properties_has_the_layout_of_12)
{
    static const struct layout of_12 = {1032, 288, 360, 388, 652, 720};
    void *symbol = dlsym(RTLD_DEFAULT, "cudaGetDeviceProperties_v2");
    _Alignas(16) unsigned char properties[2048];
    CHECK(symbol != NULL);
    memset(properties, 0xa5, sizeof properties);
    SUCCEEDS(GMT_FUNCTION(cudaError_t(*)(void *, int), symbol)(properties, 0));
    check_layout(properties, &of_12);
}

CASE(devices_are_found_by_their_bus_number)
{
    char text[32];
    int device;
    SUCCEEDS(cudaDeviceGetPCIBusId(text, sizeof text, 1));
    SUCCEEDS(cudaDeviceGetByPCIBusId(&device, text));
    CHECK(device == 1);
}

CASE(peers_are_reached_once_they_are_enabled)
{
    void *here, *there;
    int can;
    SUCCEEDS(cudaDeviceCanAccessPeer(&can, 0, 1));
    CHECK(can == 1);
    SUCCEEDS(cudaDeviceEnablePeerAccess(1, 0));
    GIVES(cudaDeviceEnablePeerAccess(1, 0), cudaErrorPeerAccessAlreadyEnabled);
    SUCCEEDS(cudaMalloc(&here, MIB));
    SUCCEEDS(cudaSetDevice(1));
    SUCCEEDS(cudaMalloc(&there, MIB));
    SUCCEEDS(cudaMemcpyPeer(there, 1, here, 0, MIB));
    GIVES(cudaMemcpyPeer(there, 2, here, 0, MIB), cudaErrorInvalidDevice);
    SUCCEEDS(cudaSetDevice(0));
    SUCCEEDS(cudaDeviceDisablePeerAccess(1));
    GIVES(cudaDeviceDisablePeerAccess(1), cudaErrorPeerAccessNotEnabled);
}

/* --- errors --- */

CASE(the_last_error_stays_until_it_is_taken)
{
    void *block;
    GIVES(cudaMalloc(NULL, 1), cudaErrorInvalidValue);
    SUCCEEDS(cudaMalloc(&block, 1));
    GIVES(cudaPeekAtLastError(), cudaErrorInvalidValue);
    GIVES(cudaGetLastError(), cudaErrorInvalidValue);
    SUCCEEDS(cudaGetLastError());
    SUCCEEDS(cudaPeekAtLastError());
}

static void *take_last_error(void *error)
{
    *(cudaError_t *)error = cudaGetLastError();
    return NULL;
}

CASE(the_last_error_is_the_threads_own)
{
    cudaError_t error = cudaErrorUnknown;
    pthread_t other;
    GIVES(cudaMalloc(NULL, 1), cudaErrorInvalidValue);
    CHECK(pthread_create(&other, NULL, take_last_error, &error) == 0);
    pthread_join(other, NULL);
    SUCCEEDS(error);
    GIVES(cudaGetLastError(), cudaErrorInvalidValue);
}

/* The test sets the fault cuMemsetD8_v2:1=700 for this case. */
CASE(an_illegal_access_is_the_end)
{
    void *block;
    SUCCEEDS(cudaMalloc(&block, MIB));
    GIVES(cudaMemset(block, 0, MIB), cudaErrorIllegalAddress);
    GIVES(cudaFree(block), cudaErrorIllegalAddress);
    GIVES(cudaGetLastError(), cudaErrorIllegalAddress);
    GIVES(cudaGetLastError(), cudaErrorIllegalAddress);
    GIVES(cudaDeviceSynchronize(), cudaErrorIllegalAddress);
}

/* The test sets the fault cudaMalloc:2=2 for this case. */
CASE(an_injected_failure_has_no_effect)
{
    const size_t before_bytes = free_bytes_now();
    void *first, *second = &second;
    SUCCEEDS(cudaMalloc(&first, 2 * MIB));
    GIVES(cudaMalloc(&second, 2 * MIB), cudaErrorMemoryAllocation);
    CHECK(second == (void *)&second);
    CHECK(before_bytes - free_bytes_now() == 2 * MIB);
    GIVES(cudaGetLastError(), cudaErrorMemoryAllocation);
    SUCCEEDS(cudaMalloc(&second, 2 * MIB));
}

CASE(errors_have_names_and_words)
{
    CHECK(strcmp(cudaGetErrorName(cudaErrorMemoryAllocation), "cudaErrorMemoryAllocation") == 0);
    CHECK(strcmp(cudaGetErrorString(cudaErrorMemoryAllocation), "out of memory") == 0);
    CHECK(strcmp(cudaGetErrorName((cudaError_t)12345), "unrecognized error code") == 0);
}

/* --- streams, events, launches --- */

CASE(streams_and_events_live_until_destroyed)
{
    enum cudaStreamCaptureStatus status;
    cudaStream_t stream;
    cudaEvent_t start, end;
    float milliseconds = -1;
    SUCCEEDS(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
    SUCCEEDS(cudaEventCreate(&start));
    SUCCEEDS(cudaEventCreateWithFlags(&end, cudaEventDefault));
    SUCCEEDS(cudaEventRecord(start, stream));
    SUCCEEDS(cudaEventRecord_ptsz(end, stream));
    SUCCEEDS(cudaEventSynchronize(end));
    SUCCEEDS(cudaEventElapsedTime(&milliseconds, start, end));
    CHECK(milliseconds >= 0);
    SUCCEEDS(cudaStreamIsCapturing(stream, &status));
    CHECK(status == cudaStreamCaptureStatusNone);
    SUCCEEDS(cudaStreamDestroy(stream));
    GIVES(cudaStreamSynchronize(stream), cudaErrorInvalidResourceHandle);
    SUCCEEDS(cudaEventDestroy(start));
    GIVES(cudaEventQuery(start), cudaErrorInvalidResourceHandle);
}

static int called;

static void note_call(cudaStream_t stream, cudaError_t status, void *user_data)
{
    CHECK(stream != NULL && status == cudaSuccess && user_data == &called);
    called++;
}

static void note_host_call(void *user_data)
{
    CHECK(user_data == &called);
    called++;
}

CASE(a_stream_calls_back)
{
    cudaStream_t stream;
    SUCCEEDS(cudaStreamCreate(&stream));
    SUCCEEDS(cudaStreamAddCallback(stream, note_call, &called, 0));
    SUCCEEDS(cudaLaunchHostFunc(stream, note_host_call, &called));
    SUCCEEDS(cudaStreamSynchronize(stream));
    CHECK(called == 2);
}

CASE(a_launch_is_checked_and_does_nothing)
{
    const dim3 one = {1, 1, 1}, none = {1, 0, 1}, many = {1024, 2, 1};
    const void *kernel = &called;
    cudaStream_t stream;
    SUCCEEDS(cudaStreamCreate(&stream));
    SUCCEEDS(cudaLaunchKernel(kernel, one, one, NULL, 0, stream));
    GIVES(cudaLaunchKernel(kernel, none, one, NULL, 0, 0), cudaErrorInvalidConfiguration);
    GIVES(cudaLaunchKernel(kernel, one, many, NULL, 0, 0), cudaErrorInvalidConfiguration);
    GIVES(cudaLaunchKernel(NULL, one, one, NULL, 0, 0), cudaErrorInvalidDeviceFunction);
    SUCCEEDS(cudaStreamDestroy(stream));
    GIVES(cudaLaunchKernel(kernel, one, one, NULL, 0, stream), cudaErrorInvalidResourceHandle);
}

/* --- driver entry points --- */

CASE(entry_points_follow_name_version_and_flags)
{
    enum cudaDriverEntryPointQueryResult status;
    void *old, *young, *legacy, *own, *none = &none;
    SUCCEEDS(cudaGetDriverEntryPointByVersion("cuMemAlloc", &old, 2000, 0, &status));
    SUCCEEDS(cudaGetDriverEntryPointByVersion("cuMemAlloc", &young, 3020, 0, &status));
    CHECK(old && young && old != young);
    SUCCEEDS(cudaGetDriverEntryPoint("cuMemAllocAsync", &legacy, cudaEnableDefault, NULL));
    SUCCEEDS(cudaGetDriverEntryPoint_ptsz("cuMemAllocAsync", &own, cudaEnableDefault, NULL));
    CHECK(legacy && own && legacy != own);
    SUCCEEDS(cudaGetDriverEntryPoint("cuNoSuchFunction", &none, cudaEnableDefault, &status));
    CHECK(none == NULL && status == cudaDriverEntryPointSymbolNotFound);
    SUCCEEDS(cudaGetDriverEntryPointByVersion("cuMemAllocAsync", &none, 11000, 0, &status));
    CHECK(none == NULL && status == cudaDriverEntryPointVersionNotSufficent);
    GIVES(cudaGetDriverEntryPoint("cuInit", &none, 77, &status), cudaErrorInvalidValue);
}

/* Not simulated, so no header declares it. */
cudaError_t cudaSetValidDevices(int *devices, int count);

CASE(what_has_no_body_is_not_supported)
{
    GIVES(cudaSetValidDevices(NULL, 0), cudaErrorNotSupported);
    GIVES(cudaGetLastError(), cudaErrorNotSupported);
}

/* The test runs this case without a driver. */
CASE(without_a_driver_there_are_no_devices)
{
    int count = 7, number = 7;
    void *block;
    GIVES(cudaGetDeviceCount(&count), cudaErrorInsufficientDriver);
    CHECK(count == 0);
    GIVES(cudaMalloc(&block, 1), cudaErrorInsufficientDriver);
    SUCCEEDS(cudaDriverGetVersion(&number));
    CHECK(number == 0);
    CHECK(version() >= 12000);
}

SIM_MAIN()
