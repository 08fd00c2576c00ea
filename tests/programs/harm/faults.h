/* SPDX-License-Identifier: MIT */
/*
 * Declares what preload_faults.c shares with the program that loops over the faults.
 */
#pragma once

#include <stdbool.h>

enum fault_group { FAULT_MEMORY, FAULT_FILES, FAULT_THREADS, FAULT_SQLITE };

/* Makes the recorder's nth call of this group, counted from now on, fail. With and_the_rest, all
   calls after it fail as well. *failed counts the failures. A program finds the function by the
   name faults_plan. */
typedef void faults_plan_function(enum fault_group group, long nth, bool and_the_rest,
                                  _Atomic long *failed);
/* Returns true if the call that is about to be made must fail. A program finds the function by
   the name faults_now. */
typedef bool faults_now_function(enum fault_group group);
