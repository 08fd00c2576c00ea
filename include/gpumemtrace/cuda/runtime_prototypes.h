/* SPDX-License-Identifier: MIT */
/*
 * Prototypes of the runtime's functions, from runtime_prototypes.def; see driver_prototypes.h.
 */
#pragma once

#ifdef __cplusplus
extern "C" {
#endif

#define PROTOTYPE(name, parameters) cudaError_t name parameters;
#define PROTOTYPE_PTSZ(name, parameters)                                                           \
    cudaError_t name parameters;                                                                   \
    cudaError_t name##_ptsz parameters;
#define PROTOTYPE_PTDS(name, parameters)                                                           \
    cudaError_t name parameters;                                                                   \
    cudaError_t name##_ptds parameters;
#define PROTOTYPE_RETURNING(type, name, parameters) type name parameters;
#include "runtime_prototypes.def"

#ifdef __cplusplus
}
#endif
