/* SPDX-License-Identifier: MIT */
/*
 * Which names are those of NVIDIA's libraries and functions. It must not know what is loaded.
 */
#ifndef GPUMEMTRACE_SIMULATOR_STANDINS_DRYRUN_FAMILIES_H
#define GPUMEMTRACE_SIMULATOR_STANDINS_DRYRUN_FAMILIES_H

#include <stdbool.h>

/*
 * The library of the simulator that stands in for one of this name, or NULL. Any version has one, and
 * a name with a hash ("libcudart-e409450e.so.11.0"), as wheels give to what they bundle, and a part of
 * a library ("libcudnn_ops_infer.so.8").
 */
const char *family_standin(const char *soname);

/* Is this a function of NVIDIA's, by its name? *not_supported is then what it returns. */
bool family_has_function(const char *name, int *not_supported);

#endif
