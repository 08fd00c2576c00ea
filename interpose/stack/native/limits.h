/* SPDX-License-Identifier: MIT */
/*
 * How large a stack may be. It must not know how one is taken.
 */
#ifndef GPUMEMTRACE_INTERPOSE_STACK_NATIVE_LIMITS_H
#define GPUMEMTRACE_INTERPOSE_STACK_NATIVE_LIMITS_H

#define STACK_DEPTH_MAX 512                        /* frames of one kind */
#define STACK_FRAMES_MAX (2 * STACK_DEPTH_MAX + 2) /* native, Python, labels */
#define STACK_OWN_MAX 8                            /* frames of ours that an unwinder may give */

#endif
