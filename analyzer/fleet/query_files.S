/* SPDX-License-Identifier: MIT */
/* Embeds each file of queries.def as a text; see queries.h. */
    .section .rodata

#define QUERY(name, other, summary)                                                                \
    .hidden query_##name; .globl query_##name; .type query_##name, %object; query_##name:          \
    .incbin QUERY_FILE(name); .byte 0;
#define QUERY_TEXT(text) #text
#define QUERY_FILE(name) QUERY_TEXT(analyzer/fleet/queries/name.sql)
#include "queries.def"

    .section .note.GNU-stack, "", %progbits
