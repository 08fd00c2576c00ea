/* SPDX-License-Identifier: MIT */
/*
 * Tells which names belong to NVIDIA's libraries and functions.
 */
#pragma once

#include <stdbool.h>

/*
 * The library of the simulator that stands in for the library with this name; NULL: none. The name
 * may have any version, a hash as in wheels ("libcudart-e409450e.so.11.0"), or be a part of a
 * library ("libcudnn_ops_infer.so.8").
 */
const char *family_standin(const char *soname);

/* Whether NVIDIA's libraries have a function with this name. Sets *not_supported to the result that
 * it returns. */
bool family_has_function(const char *name, int *not_supported);
