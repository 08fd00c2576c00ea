/* SPDX-License-Identifier: MIT */
/* link: cuda */
/*
 * Tests memory that host and device share in the simulated driver (pinned, registered, managed),
 * the attributes of pointers, and calls that copy or fill memory of all kinds.
 */
#include <setjmp.h>
#include <signal.h>
#include <stdint.h>

#include "sim_device.h"

static CUdeviceptr bits(const void *pointer)
{
    return (CUdeviceptr)(uintptr_t)pointer;
}

/* 6.13 Memory Management, cuMemHostAlloc, cuMemAllocHost, cuMemFreeHost. */
PART(pinned_memory_is_the_host_s)
{
    char *host, *other;
    CUdeviceptr device;
    unsigned flags = 7;
    begin_cuda();
    const size_t before = free_bytes();
    EXPECT(cuMemHostAlloc((void **)&host, 3 * MIB, CU_MEMHOSTALLOC_PORTABLE), 0);
    EXPECT(cuMemAllocHost_v2((void **)&other, 1), 0);
    EXPECT(free_bytes(), before);
    memset(host, 5, 3 * MIB);
    EXPECT(cuMemHostGetDevicePointer_v2(&device, host + 100, 0), 0);
    EXPECT(device, bits(host + 100));
    EXPECT(cuMemHostGetFlags(&flags, host), 0);
    EXPECT(flags, CU_MEMHOSTALLOC_PORTABLE);
    EXPECT(cuMemFree_v2(bits(host)), CUDA_ERROR_INVALID_VALUE);
    EXPECT(cuMemFreeHost(host + 1), CUDA_ERROR_INVALID_VALUE);
    EXPECT(cuMemFreeHost(host), 0);
    EXPECT(cuMemFreeHost(host), CUDA_ERROR_INVALID_VALUE);
    EXPECT(cuMemFreeHost(other), 0);
    EXPECT(cuMemHostAlloc((void **)&host, 0, 0), CUDA_ERROR_INVALID_VALUE);
    EXPECT(cuMemHostAlloc((void **)&host, 1, 0x100), CUDA_ERROR_INVALID_VALUE);
}

/* 6.13, cuMemHostRegister, cuMemHostUnregister. */
PART(registered_memory_is_the_program_s)
{
    static char room[10000], *own = room + 1000;
    CUdeviceptr device;
    begin_cuda();
    EXPECT(cuMemHostUnregister(own), CUDA_ERROR_HOST_MEMORY_NOT_REGISTERED);
    EXPECT(cuMemHostRegister_v2(own, 5000, 0), 0);
    EXPECT(cuMemHostRegister_v2(own + 100, 10, 0), CUDA_ERROR_HOST_MEMORY_ALREADY_REGISTERED);
    EXPECT(cuMemHostRegister_v2(own - 1, 10, 0), CUDA_ERROR_HOST_MEMORY_ALREADY_REGISTERED);
    EXPECT(cuMemHostGetDevicePointer_v2(&device, own, 0), 0);
    EXPECT(device, bits(own));
    EXPECT(cuMemFreeHost(own), CUDA_ERROR_INVALID_VALUE);
    EXPECT(cuMemHostUnregister(own), 0);
    EXPECT(cuMemHostGetDevicePointer_v2(&device, own, 0), CUDA_ERROR_INVALID_VALUE);
}

/* 6.13, cuMemAllocManaged. */
PART(managed_memory_is_both_s_and_not_charged)
{
    CUdeviceptr address;
    begin_cuda();
    const size_t before = free_bytes();
    EXPECT(cuMemAllocManaged(&address, 64 * GIB, CU_MEM_ATTACH_GLOBAL), 0);
    EXPECT(free_bytes(), before);
    ((char *)(uintptr_t)address)[63 * GIB] = 1;
    EXPECT(cuMemPrefetchAsync(address, GIB, 0, NULL), 0);
    EXPECT(cuMemAdvise(address, 65 * GIB, CU_MEM_ADVISE_SET_READ_MOSTLY, 0),
           CUDA_ERROR_INVALID_VALUE);
    EXPECT(cuStreamAttachMemAsync(NULL, address, 0, CU_MEM_ATTACH_GLOBAL), 0);
    EXPECT(cuMemFree_v2(address), 0);
    EXPECT(cuMemAllocManaged(&address, 1, 7), CUDA_ERROR_INVALID_VALUE);
}

/* --- pointers --- */

static unsigned memory_type(CUdeviceptr address)
{
    unsigned type = 77;
    EXPECT(cuPointerGetAttribute(&type, CU_POINTER_ATTRIBUTE_MEMORY_TYPE, address), 0);
    return type;
}

/* 6.17 Unified Addressing, cuPointerGetAttribute. */
PART(a_pointer_is_known_by_what_it_lies_in)
{
    CUdeviceptr device, managed, piece, start;
    void *pinned;
    unsigned flag = 7;
    size_t size = 0;
    int ordinal = 7;
    CUcontext owner;
    CUmemoryPool pool, told;
    begin_cuda();
    EXPECT(cuMemAlloc_v2(&device, 10000), 0);
    EXPECT(cuMemAllocManaged(&managed, 10000, CU_MEM_ATTACH_GLOBAL), 0);
    EXPECT(cuMemAllocAsync(&piece, 10000, NULL), 0);
    EXPECT(cuMemHostAlloc(&pinned, 10000, 0), 0);
    EXPECT(memory_type(device + 9999), CU_MEMORYTYPE_DEVICE);
    EXPECT(memory_type(managed), CU_MEMORYTYPE_DEVICE);
    EXPECT(memory_type(piece), CU_MEMORYTYPE_DEVICE);
    EXPECT(memory_type(bits(pinned)), CU_MEMORYTYPE_HOST);
    EXPECT(cuPointerGetAttribute(&flag, CU_POINTER_ATTRIBUTE_IS_MANAGED, managed), 0);
    EXPECT(flag, 1);
    EXPECT(cuPointerGetAttribute(&flag, CU_POINTER_ATTRIBUTE_IS_MANAGED, device), 0);
    EXPECT(flag, 0);
    EXPECT(cuPointerGetAttribute(&start, CU_POINTER_ATTRIBUTE_RANGE_START_ADDR, device + 5000), 0);
    EXPECT(start, device);
    EXPECT(cuPointerGetAttribute(&size, CU_POINTER_ATTRIBUTE_RANGE_SIZE, device), 0);
    EXPECT(size, 10000);
    EXPECT(cuPointerGetAttribute(&ordinal, CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL, device), 0);
    EXPECT(ordinal, 0);
    EXPECT(cuPointerGetAttribute(&owner, CU_POINTER_ATTRIBUTE_CONTEXT, device), 0);
    CHECK(owner == context);
    EXPECT(cuDeviceGetMemPool(&pool, 0), 0);
    EXPECT(cuPointerGetAttribute(&told, CU_POINTER_ATTRIBUTE_MEMPOOL_HANDLE, piece), 0);
    CHECK(told == pool);
}

/* 6.17, cuPointerGetAttributes. */
PART(a_pointer_the_driver_does_not_know_has_no_attributes)
{
    int own = 0, ordinal = 7;
    unsigned type = 77;
    CUdeviceptr freed;
    CUpointer_attribute asked[] = {CU_POINTER_ATTRIBUTE_MEMORY_TYPE,
                                   CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL};
    void *places[] = {&type, &ordinal};
    begin_cuda();
    EXPECT(cuPointerGetAttribute(&type, asked[0], bits(&own)), CUDA_ERROR_INVALID_VALUE);
    EXPECT(cuPointerGetAttributes(2, asked, places, bits(&own)), 0);
    EXPECT(type, 0);
    EXPECT((unsigned)ordinal, (unsigned)-2);
    EXPECT(cuMemAlloc_v2(&freed, 100), 0);
    EXPECT(cuMemFree_v2(freed), 0);
    EXPECT(cuPointerGetAttribute(&type, asked[0], freed), CUDA_ERROR_INVALID_VALUE);
}

PART(an_allocation_s_id_is_never_used_again)
{
    CUdeviceptr a, b;
    unsigned long long first = 0, second = 0;
    begin_cuda();
    EXPECT(cuMemAlloc_v2(&a, 100), 0);
    EXPECT(cuPointerGetAttribute(&first, CU_POINTER_ATTRIBUTE_BUFFER_ID, a), 0);
    EXPECT(cuMemFree_v2(a), 0);
    EXPECT(cuMemAlloc_v2(&b, 100), 0);
    EXPECT(b, a);
    EXPECT(cuPointerGetAttribute(&second, CU_POINTER_ATTRIBUTE_BUFFER_ID, b), 0);
    CHECK(first && second && first != second);
}

/* --- copies and fills --- */

PART(copies_between_host_sides_are_real)
{
    char plain[1000], *pinned;
    CUdeviceptr managed;
    begin_cuda();
    EXPECT(cuMemAllocManaged(&managed, 1000, CU_MEM_ATTACH_GLOBAL), 0);
    EXPECT(cuMemHostAlloc((void **)&pinned, 1000, 0), 0);
    for (int i = 0; i < 1000; i++)
        plain[i] = (char)(i * 7);
    EXPECT(cuMemcpyHtoD_v2(managed, plain, 1000), 0);
    EXPECT(cuMemcpy(bits(pinned), managed, 1000), 0);
    memset(plain, 0, sizeof plain);
    EXPECT(cuMemcpyAsync(bits(plain), bits(pinned), 1000, NULL), 0);
    for (int i = 0; i < 1000; i++)
        EXPECT(plain[i], (char)(i * 7));
}

PART(a_device_keeps_what_is_small)
{
    char host[100];
    CUdeviceptr device, other;
    begin_cuda();
    EXPECT(cuMemAlloc_v2(&device, 100), 0);
    EXPECT(cuMemAlloc_v2(&other, 100), 0);
    memset(host, 5, sizeof host);
    EXPECT(cuMemcpyHtoD_v2(device, host, 100), 0);
    EXPECT(cuMemsetD8_v2(device + 20, 7, 10), 0);
    EXPECT(cuMemcpyDtoD_v2(other + 10, device, 80), 0);
    memset(host, 0, sizeof host);
    EXPECT(cuMemcpyDtoH_v2(host, other, 100), 0);
    for (int i = 0; i < 100; i++)
        EXPECT(host[i], i < 10 || i >= 90 ? 0 : i >= 30 && i < 40 ? 7 : 5);
}

PART(a_device_forgets_what_is_freed_large_or_behind_a_kernel)
{
    static char host[(1 << 20) + 1];
    CUdeviceptr device, again;
    char read = 9;
    begin_cuda();
    memset(host, 5, sizeof host);
    EXPECT(cuMemAlloc_v2(&device, sizeof host), 0);
    EXPECT(cuMemcpyHtoD_v2(device, host, 100), 0);
    EXPECT(cuMemcpyHtoD_v2(device, host, sizeof host), 0);
    EXPECT(cuMemcpyDtoH_v2(&read, device + 50, 1), 0);
    EXPECT(read, 0);
    EXPECT(cuMemcpyHtoD_v2(device, host, 100), 0);
    EXPECT(cuMemFree_v2(device), 0);
    EXPECT(cuMemAlloc_v2(&again, sizeof host), 0);
    EXPECT(again, device);
    EXPECT(cuMemcpyDtoH_v2(&read, again + 50, 1), 0);
    EXPECT(read, 0);
}

PART(a_copy_stays_inside_its_allocations)
{
    static char host[5000];
    CUdeviceptr a, b, freed;
    void *pinned;
    begin_cuda();
    EXPECT(cuMemAlloc_v2(&a, 1000), 0);
    EXPECT(cuMemAlloc_v2(&b, 1000), 0);
    EXPECT(cuMemAlloc_v2(&freed, 1000), 0);
    EXPECT(cuMemFree_v2(freed), 0);
    EXPECT(cuMemHostAlloc(&pinned, 1000, 0), 0);
    EXPECT(cuMemcpyHtoD_v2(a, host, 1001), CUDA_ERROR_INVALID_VALUE);
    EXPECT(cuMemcpyHtoD_v2(a + 1, host, 1000), CUDA_ERROR_INVALID_VALUE);
    EXPECT(cuMemcpyDtoH_v2(host, b, 1001), CUDA_ERROR_INVALID_VALUE);
    EXPECT(cuMemcpyDtoD_v2(a, b, 1001), CUDA_ERROR_INVALID_VALUE);
    EXPECT(cuMemcpyDtoD_v2(a, b + 500, 500), 0);
    EXPECT(cuMemcpyHtoD_v2(freed, host, 1), CUDA_ERROR_INVALID_VALUE);
    EXPECT(cuMemcpyHtoD_v2(0, host, 1), CUDA_ERROR_INVALID_VALUE);
    EXPECT(cuMemcpyHtoD_v2(0, host, 0), 0);
    EXPECT(cuMemcpyHtoD_v2(bits(pinned), host, 1001), CUDA_ERROR_INVALID_VALUE);
    EXPECT(cuMemcpyHtoDAsync_v2(a, host, 10, (CUstream)&a), CUDA_ERROR_INVALID_HANDLE);
}

PART(boxes_are_copied_row_by_row)
{
    enum { WIDTH = 5, ROWS = 3, PITCH = 8 };
    char from[PITCH * ROWS], to[PITCH * ROWS];
    CUDA_MEMCPY2D copy = {.srcMemoryType = CU_MEMORYTYPE_HOST,
                          .srcHost = from,
                          .srcPitch = PITCH,
                          .dstMemoryType = CU_MEMORYTYPE_HOST,
                          .dstHost = to,
                          .dstPitch = PITCH,
                          .WidthInBytes = WIDTH,
                          .Height = ROWS};
    begin_cuda();
    memset(from, 1, sizeof from);
    memset(to, 0, sizeof to);
    EXPECT(cuMemcpy2D_v2(&copy), 0);
    for (int i = 0; i < PITCH * ROWS; i++)
        EXPECT(to[i], i % PITCH < WIDTH);
    copy.srcMemoryType = CU_MEMORYTYPE_DEVICE;
    EXPECT(cuMemAlloc_v2(&copy.srcDevice, PITCH * 2 + WIDTH), 0); /* just enough */
    EXPECT(cuMemcpy2D_v2(&copy), 0);
    for (int i = 0; i < PITCH * ROWS; i++)
        EXPECT(to[i], 0);
    copy.Height = ROWS + 1;
    copy.dstHost = NULL;
    EXPECT(cuMemcpy2D_v2(&copy), CUDA_ERROR_INVALID_VALUE);
}

PART(fills_reach_what_the_host_sees)
{
    CUdeviceptr managed, device;
    begin_cuda();
    EXPECT(cuMemAllocManaged(&managed, 4000, CU_MEM_ATTACH_GLOBAL), 0);
    EXPECT(cuMemAlloc_v2(&device, 4000), 0);
    EXPECT(cuMemsetD32_v2(managed, 0x01020304, 1000), 0);
    for (int i = 0; i < 1000; i++)
        EXPECT(((uint32_t *)(uintptr_t)managed)[i], 0x01020304);
    EXPECT(cuMemsetD2D8_v2(managed, 100, 9, 10, 40), 0);
    for (int i = 0; i < 4000; i++)
        EXPECT(((char *)(uintptr_t)managed)[i], i % 100 < 10 ? 9 : 4 - i % 4);
    EXPECT(cuMemsetD32_v2(device, 1, 1000), 0);
    EXPECT(cuMemsetD32_v2(device, 1, 1001), CUDA_ERROR_INVALID_VALUE);
    EXPECT(cuMemsetD32_v2(device + 2, 1, 10), CUDA_ERROR_INVALID_VALUE);
    EXPECT(cuMemsetD16Async(device, 1, 2001, NULL), CUDA_ERROR_INVALID_VALUE);
}

/* --- memory that the host cannot access --- */

static sigjmp_buf back;

static void jump_back(int signal_number)
{
    siglongjmp(back, signal_number);
}

PART(the_host_cannot_read_device_memory)
{
    CUdeviceptr device;
    begin_cuda();
    EXPECT(cuMemAlloc_v2(&device, 100), 0);
    signal(SIGSEGV, jump_back);
    const int caught = sigsetjmp(back, 1);
    if (!caught) {
        volatile char byte = *(volatile char *)(uintptr_t)device;
        (void)byte;
    }
    EXPECT(caught, SIGSEGV);
}

SIM_MAIN()
