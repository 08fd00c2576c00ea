/* SPDX-License-Identifier: MIT */
/*
 * What preload_faults.c and the program that loops over its faults share.
 */
#ifndef GPUMEMTRACE_TESTS_PROGRAMS_FAULTS_H
#define GPUMEMTRACE_TESTS_PROGRAMS_FAULTS_H

#include <stdbool.h>

enum fault_group { FAULT_MEMORY, FAULT_FILES, FAULT_THREADS, FAULT_SQLITE };

/* Makes the recorder's nth call in this group fail, counted from now, and with and_the_rest all calls
 * after it. *failed counts the failures. Found by its name, faults_plan. */
typedef void faults_plan_function(enum fault_group group, long nth, bool and_the_rest,
                                  _Atomic long *failed);
/* Must the call that is about to be made fail? Found by its name, faults_now. */
typedef bool faults_now_function(enum fault_group group);

#endif
