/* SPDX-License-Identifier: MIT */
/*
 * Shared by preload_faults.c and the program that loops over its faults.
 */
#ifndef GPUMEMTRACE_TESTS_PROGRAMS_FAULTS_H
#define GPUMEMTRACE_TESTS_PROGRAMS_FAULTS_H

#include <stdbool.h>

enum fault_group { FAULT_MEMORY, FAULT_FILES, FAULT_THREADS, FAULT_SQLITE };

/* Makes the recorder's nth call from now on in this group fail; with and_the_rest, all later calls
 * too. *failed counts the failures. Found by its name, faults_plan. */
typedef void faults_plan_function(enum fault_group group, long nth, bool and_the_rest,
                                  _Atomic long *failed);
/* Whether the call that is about to be made must fail. Found by its name, faults_now. */
typedef bool faults_now_function(enum fault_group group);

#endif
