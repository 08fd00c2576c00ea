/* SPDX-License-Identifier: MIT */
/* link: cudart12 */
/*
 * sim_runtime_code.c on libcudart.so.12.
 */
#include "sim_runtime_code.c"
