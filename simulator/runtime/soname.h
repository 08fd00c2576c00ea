/* SPDX-License-Identifier: MIT */
/*
 * The version of this runtime. All versions of libcudart.so are linked from the same objects, so
 * code tells versions apart at run time.
 */
#ifndef GPUMEMTRACE_SIMULATOR_RUNTIME_SONAME_H
#define GPUMEMTRACE_SIMULATOR_RUNTIME_SONAME_H

/* 11080, 12090 or 13000: major * 1000 + minor * 10 of the CUDA version that the library implements. */
int runtime_version(void);

#endif
