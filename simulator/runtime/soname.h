/* SPDX-License-Identifier: MIT */
/*
 * Which runtime this library is. libcudart.so.12 and libcudart.so.13 are linked from the same
 * objects, so what differs between them is decided when they run.
 */
#ifndef GPUMEMTRACE_SIMULATOR_RUNTIME_SONAME_H
#define GPUMEMTRACE_SIMULATOR_RUNTIME_SONAME_H

/* 12090 or 13000: major * 1000 + minor * 10, of the newest CUDA whose functions the library has. */
int runtime_version(void);

#endif
