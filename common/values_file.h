/* SPDX-License-Identifier: MIT */
/*
 * The file name of the simulator's values.py in Python's tracebacks. Its frames are not part of the
 * program, so the recorder leaves them out of stacks.
 */
#ifndef GPUMEMTRACE_COMMON_VALUES_FILE_H
#define GPUMEMTRACE_COMMON_VALUES_FILE_H

#define VALUES_FILE "<gpumemtrace values>"

#endif
