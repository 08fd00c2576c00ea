/* SPDX-License-Identifier: MIT */
/*
 * The file name that Python knows the simulator's values.py by. Its frames are no part of the
 * program: the recorder leaves them out of stacks.
 */
#ifndef GPUMEMTRACE_COMMON_VALUES_FILE_H
#define GPUMEMTRACE_COMMON_VALUES_FILE_H

#define VALUES_FILE "<gpumemtrace values>"

#endif
