/* SPDX-License-Identifier: MIT */
/* Embeds the Python files of the walk, so that they are found wherever the library is installed. */
    .section .rodata
    .hidden holders_source
    .globl holders_source
    .type holders_source, %object
holders_source:
    .incbin "interpose/holders/walk.py"
    .incbin "interpose/holders/walk_names.py"
    .incbin "interpose/holders/walk_places.py"
    .incbin "interpose/holders/walk_stacks.py"
    .incbin "interpose/holders/walk_start.py"
    .byte 0
    .section .note.GNU-stack, "", %progbits
