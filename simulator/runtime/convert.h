/* SPDX-License-Identifier: MIT */
/*
 * Conversions between runtime and driver types that differ only in name.
 */
#pragma once

#include <stdint.h>

#include "gpumemtrace/cuda/abi.h"

static inline CUdeviceptr address_of(const void *pointer)
{
    return (CUdeviceptr)(uintptr_t)pointer;
}

static inline void *pointer_of(CUdeviceptr address)
{
    return (void *)(uintptr_t)address;
}

static inline CUmemLocation location_of(const struct cudaMemLocation *location)
{
    return (CUmemLocation){(CUmemLocationType)location->type, location->id};
}

static inline CUmemPoolProps pool_properties_of(const struct cudaMemPoolProps *properties)
{
    return (CUmemPoolProps){
        .allocType = (CUmemAllocationType)properties->allocType,
        .handleTypes = (CUmemAllocationHandleType)properties->handleTypes,
        .location = location_of(&properties->location),
        .win32SecurityAttributes = properties->win32SecurityAttributes,
        .maxSize = properties->maxSize,
        .usage = properties->usage,
    };
}
