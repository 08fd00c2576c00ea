/* SPDX-License-Identifier: MIT */
/*
 * One frame of a stack, with its name and its role. The role says to whom the code belongs, by the
 * rules of frame_roles.def.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

enum frame_role {
#define ROLE(name, text) ROLE_##name,
#define RULE(role, where, pattern)
#define MEANT(role, meaning)
#include "frame_roles.def"
    ROLE_COUNT
};

struct symbol_frame {
    const char *kind;     /* python, native, inlined or label, as in the reports */
    const char *function; /* never NULL; "libfoo.so+0x1234" if unknown */
    const char *file;     /* NULL: unknown */
    uint32_t line;        /* 0: unknown */
    const char *module;   /* path of the library or program; NULL: not native, or in none */
    uint64_t means;       /* bits of enum torch_meaning */
    enum frame_role role;
    bool is_named; /* false: function is a module and an offset */
};

enum frame_role frame_role_of(const struct symbol_frame *frame);

/* The two names of a role: the key for machines, such as "interpreter", and the text for people. */
const char *frame_role_key(enum frame_role role);
const char *frame_role_text(enum frame_role role);
