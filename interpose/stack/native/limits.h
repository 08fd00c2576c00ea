/* SPDX-License-Identifier: MIT */
/*
 * The limits of a stack's size.
 */
#pragma once

#include "gpumemtrace/limits.h"

#define STACK_DEPTH_MAX 512 /* most frames of the unwinder, and of each source */
#define STACK_SOURCES_MAX 2
#define STACK_OWN_MAX 8 /* most frames of this library from an unwinder */
/* All of these frames, and the labels. */
#define STACK_FRAMES_MAX ((1 + STACK_SOURCES_MAX) * STACK_DEPTH_MAX + 2 + STACK_SOURCES_MAX)

_Static_assert(STACK_FRAMES_MAX <= LIMIT_stack_frames, "a reader takes every stack whole");
