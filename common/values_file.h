/* SPDX-License-Identifier: MIT */
/*
 * The file name of the simulator's values.py in Python's tracebacks. Its frames are not part of the
 * program, so the recorder leaves them out of stacks.
 */
#pragma once

#define VALUES_FILE "<gpumemtrace values>"
