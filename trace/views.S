/* SPDX-License-Identifier: MIT */
/* Embeds views.sql, which stays a file of its own that the sqlite3 shell can read. */
    .section .rodata
    .hidden schema_views_sql
    .globl schema_views_sql
    .type schema_views_sql, %object
schema_views_sql:
    .incbin "trace/views.sql"
    .byte 0
    .size schema_views_sql, . - schema_views_sql
    .section .note.GNU-stack, "", %progbits
