/* SPDX-License-Identifier: MIT */
/*
 * Prototypes of the driver's functions, from driver_prototypes.def. driver.h includes it, and so
 * does abi.h after NVIDIA's header, where the compiler then compares the two.
 */
#pragma once

#ifdef __cplusplus
extern "C" {
#endif

#define PROTOTYPE(name, parameters) CUresult CUDAAPI name parameters;
#define PROTOTYPE_OLD(name, parameters) CUresult CUDAAPI name parameters;
#define PROTOTYPE_PTSZ(name, parameters)                                                           \
    CUresult CUDAAPI name parameters;                                                              \
    CUresult CUDAAPI name##_ptsz parameters;
#define PROTOTYPE_PTDS(name, parameters)                                                           \
    CUresult CUDAAPI name parameters;                                                              \
    CUresult CUDAAPI name##_ptds parameters;
#include "driver_prototypes.def"

#ifdef __cplusplus
}
#endif
