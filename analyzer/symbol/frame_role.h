/* SPDX-License-Identifier: MIT */
/*
 * Whose code a frame is, by the rules of frame_roles.def. It must not know how frames are shown.
 */
#ifndef GPUMEMTRACE_ANALYZER_SYMBOL_FRAME_ROLE_H
#define GPUMEMTRACE_ANALYZER_SYMBOL_FRAME_ROLE_H

struct symbol_frame;

enum frame_role {
#define ROLE(name, text) ROLE_##name,
#define RULE(role, where, pattern)
#include "frame_roles.def"
    ROLE_COUNT
};

enum frame_role frame_role_of(const struct symbol_frame *frame);

/* "interpreter", for machines; the same for people. */
const char *frame_role_key(enum frame_role role);
const char *frame_role_text(enum frame_role role);

#endif
