/* SPDX-License-Identifier: MIT */
/*
 * For lines on stderr that quote a setting, a path or a trace: no text in them may control the
 * terminal.
 */
#ifndef GPUMEMTRACE_COMMON_PRINTABLE_H
#define GPUMEMTRACE_COMMON_PRINTABLE_H

/* Replaces each control character by '?': C0, DEL, and C1 in UTF-8 (c2 80 to c2 9f). */
void printable_make(char *text);

#endif
