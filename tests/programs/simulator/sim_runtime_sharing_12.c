/* SPDX-License-Identifier: MIT */
/* link: cudart12 */
/*
 * sim_runtime_sharing.c on libcudart.so.12.
 */
#define RUNTIME 12
#include "sim_runtime_sharing.c"
