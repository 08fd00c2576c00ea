/* SPDX-License-Identifier: MIT */
/* Embeds the files of families.def, each as a string of its own; see families.h. */
    .section .rodata

#define FAMILY(name)                                                                               \
    .hidden family_##name; .globl family_##name; .type family_##name, %object; family_##name:      \
    .incbin FAMILY_FILE(name); .byte 0;
#define FAMILY_TEXT(text) #text
#define FAMILY_FILE(name) FAMILY_TEXT(analyzer/estimate/families/name.json)
#include "families.def"

    .section .note.GNU-stack, "", %progbits
