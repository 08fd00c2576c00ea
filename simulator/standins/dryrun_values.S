/* SPDX-License-Identifier: MIT */
/* Embeds the four Python files values*.py, so that they are found wherever the libraries are
 * installed. */
    .section .rodata
    .hidden dryrun_values
    .globl dryrun_values
    .type dryrun_values, %object
dryrun_values:
    .incbin "simulator/standins/values.py"
    .incbin "simulator/standins/values_mode.py"
    .incbin "simulator/standins/values_ranks.py"
    .incbin "simulator/standins/values_start.py"
    .byte 0
    .section .note.GNU-stack, "", %progbits
