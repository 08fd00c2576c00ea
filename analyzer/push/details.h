/* SPDX-License-Identifier: MIT */
/*
 * Writes the events of a process as rows while the events are replayed. After that, writes the
 * stacks that these events name.
 */
#pragma once

#include "analyzer/export/export.h"
#include "stream.h"

struct details {
    struct stream *events;
    int process;
    uint32_t changed;         /* account that the current event changed last; HISTORY_NONE: none */
    unsigned char *has_stack; /* by stack id: 1 if an event named the stack */
    size_t stack_limit;
};

void details_begin(struct details *details, struct stream *events, int process);
void details_release(struct details *details);
struct observer details_observer(struct details *details);

/* Call it after the replay. */
int details_add_stacks(struct details *details, const struct export *export, struct stream *stacks,
                       struct err *err);
