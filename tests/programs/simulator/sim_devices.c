/* SPDX-License-Identifier: MIT */
/* link: cuda */
/*
 * Prints one line about the driver and one for each device:
 *
 *     init RESULT count COUNT version VERSION
 *     ORDINAL total TOTAL free FREE capability MAJOR.MINOR bus BUS uuid UUID name NAME
 */
#include "gpumemtrace/cuda/abi.h"
#include "sim_check.h"

static void print_device(CUdevice device)
{
    size_t total, left, again;
    int major = 0, minor = 0, multiprocessors = 0;
    char name[100], bus[32];
    CUuuid uuid;
    CUcontext context;
    CUdevice told;
    EXPECT(cuDeviceTotalMem_v2(&total, device), 0);
    EXPECT(cuDeviceComputeCapability(&major, &minor, device), 0);
    EXPECT(cuDeviceGetAttribute(&multiprocessors, CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT, device),
           0);
    CHECK(multiprocessors > 0);
    EXPECT(cuDeviceGetName(name, sizeof name, device), 0);
    EXPECT(cuDeviceGetPCIBusId(bus, sizeof bus, device), 0);
    EXPECT(cuDeviceGetByPCIBusId(&told, bus), 0);
    EXPECT(told, device);
    EXPECT(cuDeviceGetUuid_v2(&uuid, device), 0);
    EXPECT(cuCtxCreate_v2(&context, 0, device), 0);
    EXPECT(cuMemGetInfo_v2(&left, &again), 0);
    EXPECT(again, total);
    printf("%d total %zu free %zu capability %d.%d bus %s uuid ", device, total, left, major, minor,
           bus);
    for (int i = 0; i < 16; i++)
        printf("%02x", (unsigned char)uuid.bytes[i]);
    printf(" name %s\n", name);
}

int main(void)
{
    int count = 0, version = 0;
    CUdevice device;
    EXPECT(cuDeviceGetCount(&count), CUDA_ERROR_NOT_INITIALIZED);
    EXPECT(cuDriverGetVersion(&version), 0);
    const int result = (int)cuInit(0);
    if (!result)
        EXPECT(cuDeviceGetCount(&count), 0);
    printf("init %d count %d version %d\n", result, count, version);
    for (int i = 0; i < count; i++)
        print_device(i);
    if (!result)
        EXPECT(cuDeviceGet(&device, count), CUDA_ERROR_INVALID_DEVICE);
    return 0;
}
