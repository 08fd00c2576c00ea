/* SPDX-License-Identifier: MIT */
/*
 * The version of this runtime. All versions of libcudart.so are linked from the same objects, so
 * code tells versions apart at run time.
 */
#pragma once

/* 11080, 12090 or 13000: the CUDA version of this library as major * 1000 + minor * 10. */
int runtime_version(void);
