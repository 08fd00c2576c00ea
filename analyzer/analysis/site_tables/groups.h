/* SPDX-License-Identifier: MIT */
/*
 * Live memory at a moment, grouped by line, function, file, operator, module or stack. The own
 * bytes of a group are the bytes that the group is to blame for, so the own bytes of all groups add
 * up to the total. The inclusive bytes of a group are all bytes that were allocated through it. A
 * block counts once in each group.
 *
 *            own bytes: one group per stack     inclusive bytes: also these groups of the stack
 *   line     the line that labels its row       the program's other lines
 *   function the function of that line          the program's other functions
 *   file     the file of that line              the program's other files
 *            (in a backward, the function and
 *            file of its forward line)
 *   op       the outermost of PyTorch's         the operators that this one called
 *            operators, or backward's node
 *   module   the innermost of PyTorch's         the modules around it
 *            modules whose forward ran; in
 *            programs without Python the
 *            library that made the request
 *   stack    the stack                          -
 */
#pragma once

#include "site_rows.h"

enum groups_by {
    GROUPS_BY_LINE = 1,
    GROUPS_BY_FUNCTION,
    GROUPS_BY_FILE,
    GROUPS_BY_OP,
    GROUPS_BY_MODULE,
    GROUPS_BY_STACK,
    GROUPS_BY_CATEGORY /* no groups: the list of categories, which every page of peak has */
};

struct group {
    const char *name;
    const struct blamed
        *blamed; /* GROUPS_BY_STACK: the stack; else any stack blamed on the group, or NULL */
    uint64_t own_bytes, own_count, inclusive_bytes, inclusive_count;
    size_t first, last; /* 1 + the first and last site in the group */
};

struct groups {
    struct group *items; /* by own bytes, then inclusive bytes, descending */
    size_t count, capacity;
    struct text_set names;
};

/* blame: must contain the stacks of these sites, and must outlive the groups. */
int groups_find(struct groups *groups, enum groups_by by, struct symbols *symbols,
                const struct sites *sites, const struct blame *blame, struct err *err);
void groups_release(struct groups *groups);
