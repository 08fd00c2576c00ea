/* SPDX-License-Identifier: MIT */
/*
 * Types of the driver's first forms, from before CUDA 3.2: device addresses and sizes have 32 bits.
 * NVIDIA's header does not declare them, so abi.h includes this file in addition to NVIDIA's
 * header. driver.h also includes this file.
 */
#pragma once

typedef unsigned int CUdeviceptr_v1;

typedef struct CUDA_ARRAY_DESCRIPTOR_v1_st {
    unsigned int Width, Height;
    CUarray_format Format;
    unsigned int NumChannels;
} CUDA_ARRAY_DESCRIPTOR_v1;

typedef struct CUDA_ARRAY3D_DESCRIPTOR_v1_st {
    unsigned int Width, Height, Depth;
    CUarray_format Format;
    unsigned int NumChannels;
    unsigned int Flags;
} CUDA_ARRAY3D_DESCRIPTOR_v1;
