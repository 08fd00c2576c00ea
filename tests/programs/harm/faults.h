/* SPDX-License-Identifier: MIT */
/*
 * What preload_faults.c and the program that loops over its faults share.
 */
#ifndef GPUMEMTRACE_TESTS_PROGRAMS_FAULTS_H
#define GPUMEMTRACE_TESTS_PROGRAMS_FAULTS_H

#include <stdbool.h>

enum fault_group { FAULT_MEMORY, FAULT_FILES, FAULT_THREADS, FAULT_SQLITE };

/* From now on the nth call of the recorder in this group fails, and with and_the_rest all after it;
 * *failed counts them. Found by name: faults_plan. */
typedef void faults_plan_function(enum fault_group group, long nth, bool and_the_rest,
                                  _Atomic long *failed);
/* Is the call that is about to be made to fail? Found by name: faults_now. */
typedef bool faults_now_function(enum fault_group group);

#endif
