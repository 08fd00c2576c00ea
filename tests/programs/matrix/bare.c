/* SPDX-License-Identifier: MIT */
/* Takes the place of linked.c in the program that is not linked to CUDA. */
#include "matrix.h"

bool matrix_linked_driver(struct driver_api *api, bool per_thread)
{
    (void)api;
    (void)per_thread;
    return false;
}

bool matrix_linked_runtime(struct runtime_api *api, bool per_thread)
{
    (void)api;
    (void)per_thread;
    return false;
}
