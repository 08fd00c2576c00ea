/* SPDX-License-Identifier: MIT */
/* link: cudart12 */
/*
 * sim_runtime_graphs.c on libcudart.so.12.
 */
#define RUNTIME 12
#include "sim_runtime_graphs.c"
