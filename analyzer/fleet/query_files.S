/* SPDX-License-Identifier: MIT */
/* Embeds the files of queries.def, each as a text of its own; see queries.h. */
    .section .rodata

#define QUERY(name, other, summary)                                                                \
    .hidden query_##name; .globl query_##name; .type query_##name, %object; query_##name:          \
    .incbin QUERY_FILE(name); .byte 0;
#define QUERY_TEXT(text) #text
#define QUERY_FILE(name) QUERY_TEXT(analyzer/fleet/queries/name.sql)
#include "queries.def"

    .section .note.GNU-stack, "", %progbits
