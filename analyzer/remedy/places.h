/* SPDX-License-Identifier: MIT */
/*
 * Places: what is left of a stack without its native frames. The native frames between two Python
 * frames differ from call to call of the same line, as the interpreter specialises its bytecode, so
 * blocks that a line allocates again and again have many stacks and one place. A stack without
 * Python frames is a place of its own. It must not know what a place is asked for.
 */
#ifndef GPUMEMTRACE_ANALYZER_REMEDY_PLACES_H
#define GPUMEMTRACE_ANALYZER_REMEDY_PLACES_H

#include "analyzer/load/trace.h"
#include "analyzer/util/pair_map.h"
#include "signs.h"

enum { PLACE_ROOT = 0, PLACE_NATIVE = 0 }; /* the root has no frame; location 0 is no line */
#define PLACE_NONE UINT32_MAX

struct place {
    uint32_t parent;   /* the caller; always a smaller number */
    uint32_t location; /* of the trace; PLACE_NATIVE: a stack without Python frames */
    uint16_t signs;    /* of remedies.def: bits of this frame and of its callers */
};

struct places {
    const struct trace *trace;
    struct place *items;
    size_t count, capacity;
    struct pair_map numbers; /* by location and caller; of native stacks by stack */
    uint32_t *of_frame;      /* by frame: its Python callers' place + 1; 0: not looked up */
    uint16_t *signs_of_location;
};

/* The trace must outlive the places. */
int places_init(struct places *places, const struct trace *trace, struct err *err);
void places_release(struct places *places);

/* PLACE_NONE: out of memory. */
uint32_t places_of(struct places *places, uint32_t stack_id, struct err *err);

/* Whether the place is a call from that line, or the line itself. */
bool place_is_under(const struct places *places, uint32_t place, uint32_t location);

/* Whether the place is that one, or a call from it. */
bool place_is_in(const struct places *places, uint32_t place, uint32_t around);

/* Whether the line is the program's own, not a framework's. */
bool places_line_is_of_program(const struct places *places, uint32_t location);

/* Whether any place that was looked up has it. */
bool places_have(const struct places *places, enum sign sign);

#endif
