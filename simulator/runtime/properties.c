/* SPDX-License-Identifier: MIT */
/*
 * cudaGetDeviceProperties in the three layouts that programs are compiled with. All members are
 * collected once, then copied by name to the requested layout. The unversioned function has the
 * layout of CUDA 11 in the runtime of CUDA 12, and the layout of CUDA 13 in that of CUDA 13.
 */
#include <stddef.h>
#include <string.h>

#include "call.h"
#include "context.h"
#include "only_here.h"
#include "soname.h"

#define MEMBER(type, name, dimension) type name dimension;
#define NO_MEMBER(type, name, dimension)

/* The members of all versions. The layout of this struct is not that of any version. */
struct all_properties {
#define PROPERTY MEMBER
#define PROPERTY_OF_12 MEMBER
#define PROPERTY_OF_13 MEMBER
#include "gpumemtrace/cuda/device_prop.def"
};

struct properties_of_12 {
#define PROPERTY MEMBER
#define PROPERTY_OF_12 MEMBER
#define PROPERTY_OF_13 NO_MEMBER
#include "gpumemtrace/cuda/device_prop.def"
    int reserved[63];
};

/* CUDA 11 has the first members of CUDA 12's layout, without padding after them. */
enum { SIZE_OF_11 = offsetof(struct properties_of_12, hostRegisterSupported) };

/* The sizes in the headers of CUDA 11.8, 12.8 and 13.0. */
_Static_assert(SIZE_OF_11 == 728, "the layout of CUDA 11");
_Static_assert(sizeof(struct properties_of_12) == 1032, "the layout of CUDA 12");
_Static_assert(sizeof(struct cudaDeviceProp) == 1008, "the layout of CUDA 13");

#define COPY(type, name, dimension) memcpy(&to->name, &from->name, sizeof to->name);
#define NO_COPY(type, name, dimension)

static void copy_to_12(struct properties_of_12 *to, const struct all_properties *from)
{
#define PROPERTY COPY
#define PROPERTY_OF_12 COPY
#define PROPERTY_OF_13 NO_COPY
#include "gpumemtrace/cuda/device_prop.def"
}

static void copy_to_13(struct cudaDeviceProp *to, const struct all_properties *from)
{
#define PROPERTY COPY
#define PROPERTY_OF_12 NO_COPY
#define PROPERTY_OF_13 COPY
#include "gpumemtrace/cuda/device_prop.def"
}

/* The attribute's value; 0 if the driver does not know the attribute. */
static int attribute_of(CUdevice device, CUdevice_attribute attribute)
{
    int value = 0;
    return call_driver()->cuDeviceGetAttribute(&value, attribute, device) ? 0 : value;
}

static void gather_attributes(struct all_properties *all, CUdevice device)
{
#define REPEATS(member, attribute)                                                                 \
    all->member = attribute_of(device, CU_DEVICE_ATTRIBUTE_##attribute);
#include "properties.def"
}

static cudaError_t properties_gather(struct all_properties *all, int ordinal)
{
    const struct driver_table *driver = call_driver();
    CUdevice device;
    cudaError_t error = context_device(ordinal, &device);
    memset(all, 0, sizeof *all);
    if (error == cudaSuccess)
        error = error_of_driver(driver->cuDeviceGetName(all->name, sizeof all->name, device));
    if (error == cudaSuccess)
        error = error_of_driver(driver->cuDeviceGetUuid_v2(&all->uuid, device));
    if (error == cudaSuccess)
        error = error_of_driver(driver->cuDeviceTotalMem_v2(&all->totalGlobalMem, device));
    if (error == cudaSuccess)
        gather_attributes(all, device);
    return error;
}

static cudaError_t get_properties_of_12(void *properties, size_t size_bytes, int ordinal)
{
    struct properties_of_12 layout = {.major = 0};
    struct all_properties all;
    const cudaError_t error = properties_gather(&all, ordinal);
    if (error)
        return error;
    copy_to_12(&layout, &all);
    memcpy(properties, &layout, size_bytes);
    return cudaSuccess;
}

static cudaError_t get_properties_of_13(struct cudaDeviceProp *properties, int ordinal)
{
    struct cudaDeviceProp layout = {.major = 0};
    struct all_properties all;
    const cudaError_t error = properties_gather(&all, ordinal);
    if (error)
        return error;
    copy_to_13(&layout, &all);
    memcpy(properties, &layout, sizeof layout);
    return cudaSuccess;
}

static cudaError_t get_properties(struct cudaDeviceProp *properties, int ordinal)
{
    if (runtime_version() < 13000)
        return get_properties_of_12(properties, SIZE_OF_11, ordinal);
    return get_properties_of_13(properties, ordinal);
}

GMT_EXPORT cudaError_t cudaGetDeviceProperties(struct cudaDeviceProp *properties, int device)
{
    return CALL(NEEDS_DEVICES, CALL_UNLESS_NULL(properties, get_properties(properties, device)));
}

GMT_EXPORT cudaError_t cudaGetDeviceProperties_v2(void *properties, int device)
{
    return CALL(
        NEEDS_DEVICES,
        CALL_UNLESS_NULL(
            properties, get_properties_of_12(properties, sizeof(struct properties_of_12), device)));
}
